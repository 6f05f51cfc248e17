"""The model block: everything a kernel reads or writes beside `y`, as structured arrays behind one address.

A kernel gets the block as its first argument `m`, an integer address, and opens the parts that it needs with the
accessors below (a load or two each). One integer costs nothing to pass from Python or from a C solver's
``user_data``; a tuple of arrays would cost a microsecond a call. For plain kernels `m` is a `PlainMemory`, whose
numbers may be of any kind (complex-step derivatives).

======================== ======================================================================================
accessor                 what
======================== ======================================================================================
``head(m)``              sizes, kinds and offsets; the state of the Jacobian's target
``bodies(m)``            constants of the bodies; the last one is the ground
``references(m)``        per body: R_ref in R = R_ref R(a), if h.referenced
``states(m)``            per body: natural coordinates z, zdot, zddot, forces, and their tangents
``primitives(m)``        constants of the primitive constraints
``rows(m)``              per primitive: P, Q, multipliers and tangents
``bushings(m)``          constants of the bushings
``drives(m)``            the rheonomic primitives and the addresses of their laws
``elements(m)``          constants of the force elements; ``entries(m)`` the coefficients of their forms
``formulation_parameters(m)``
                         the parameters of the formulation, in the order of its fields
``element_memory(m)``    working memory of one force element
``element_bodies(m)``    bodies of the elements by functions with states; ``element_inputs(m)`` inputs of all elements
``inputs(m)``            values of the inputs; ``algebraic(m)`` 1 for states that are algebraic unknowns
``state_arguments(m)``    (Z, Zdot, s, u) of one force with states; ``state_results(m)`` its (F, sdot)
``state_tangents(m)``     d(F, sdot)/d(Z, Zdot, s) of every force with states, one after the other
``tangent_memory(m)``    working memory of the tangents of one primitive, bushing or body
``factor(m)``            L and D of the joint Schur complement
``pivot_floor(m)``       pivots of D below which a joint equation is suspended; 0 disables this
``factor_start(m)``      row pointers of L; ``factor_column(m)`` its columns, then the constraint row of each place
``pairs(m)``             pairs of primitives that share a body, with their places in the factor
``vectors(m)``           scratch vectors, by name in `rbdae.kernels.scratch`
``rhs_tangent(m)``       right-hand sides of the saddle-point system, for derivatives on symbols
``null_space(m)``        T of the null-space forms, nv x nnu
``tree_velocities(m)``   per body of a tree: its joint equations and quasi-velocities
``velocity_selection(m)``
                         S of the null-space form of loops: nu = S (xdot, Omega), nnu x nv
``velocity_metric(m)``   by what T is measured there: inverse scales of its rows, inverse sizes of its columns;
                         for sparse [G; S] the diagonal of W follows
``square_factors(m)``    the factors of [G; S], nv x nv; ``row_exchanges(m)`` its row exchanges
``square_rows(m)``       sparse [G; S], rows in the order of elimination: ``square_start(m)`` where they begin,
                         ``square_column(m)`` their columns, ``square_place(m)`` the place of each equation,
                         ``square_turning(m)`` the body whose rotation a column is, or -1
``square_factor(m)``     L, then D, of its normal equations, by ``square_factor_start(m)``, ``square_factor_column(m)``
``square_product_slot(m)``
                         the entries of L that are products of two rows, by rows from ``square_product_start(m)``
``tree_factors(m)``      the same memory for trees: the factors of one 6 x 6 matrix per body
``block_starts(m)``      where each column of each tangent block begins in the CSC data
``blocks(m)``            the tangent blocks in the order of their appearance (row, column, rows, columns)
``newton_matrix(m)``     blocks of the Newton equations of a step, and their right-hand side
``newton_operations(m)`` their elimination; ``newton_bodies(m)``, ``newton_joints(m)``,
                         ``newton_forces(m)`` where bodies, primitives and forces are
======================== ======================================================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.compiler.access import Array, Memory, accessor, as_pointer, carray
from rbdae.compiler.jit import jit, two_sided
from rbdae.kernels.records import (
    BODY,
    BUSHING,
    DRIVE,
    ELEMENT,
    ELEMENT_MEMORY,
    ENTRY,
    HEAD,
    N_TANGENT_ROWS,
    N_VECTORS,
    NEWTON_BODY,
    NEWTON_FORCE,
    NEWTON_JOINT,
    NEWTON_OPERATION,
    PAIR,
    PRIMITIVE,
    ROW,
    STATE,
    TANGENT_MEMORY,
    TREE_VELOCITY,
)


def _aim(m: Any, out: Any) -> None:
    m.head.row_stride = out.strides[0] // out.itemsize
    m.head.column_stride = out.strides[1] // out.itemsize
    span = (out.shape[0] - 1) * m.head.row_stride + (out.shape[1] - 1) * m.head.column_stride + 1
    m.target = np.lib.stride_tricks.as_strided(out, (int(span),), (out.itemsize,))


@accessor
def head(m: Memory) -> Any:
    return carray(as_pointer(m), 1, HEAD)[0]


@accessor
def bodies(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.bodies), h.n_bodies + 1, BODY)


@accessor
def references(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.references), (h.n_bodies, 3, 3), np.float64)


@accessor
def states(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.states), h.n_bodies + 1, STATE)


@accessor
def primitives(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.primitives), h.n_primitives, PRIMITIVE)


@accessor
def rows(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.rows), h.n_primitives, ROW)


@accessor
def bushings(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.bushings), h.n_bushings, BUSHING)


@accessor
def drives(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.drives), h.n_drives, DRIVE)


@accessor
def elements(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.elements), h.n_elements, ELEMENT)


@accessor
def element_bodies(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.element_bodies), h.n_element_bodies, np.int64)


@accessor
def element_inputs(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.element_inputs), h.n_element_inputs, np.int64)


@accessor
def inputs(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.inputs), h.n_inputs, np.float64)


@accessor
def algebraic(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.algebraic), h.n_states, np.int64)


@accessor
def entries(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.entries), h.n_entries, ENTRY)


@accessor
def formulation_parameters(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.formulation_parameters), h.n_parameters, np.float64)


@accessor
def element_memory(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.element_memory), 1, ELEMENT_MEMORY)[0]


@accessor
def state_arguments(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.state_arguments), h.most_arguments, np.float64)


@accessor
def state_results(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.state_results), h.most_results, np.float64)


@accessor
def state_tangents(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.state_tangents), h.n_state_tangents, np.float64)


@accessor
def tangent_memory(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.tangent_memory), 1, TANGENT_MEMORY)[0]


@accessor
def factor(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.factor), (2, h.n_factor), np.float64)


@accessor
def pivot_floor(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.pivot_floor), h.n_rows, np.float64)


@accessor
def factor_start(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.factor_start), h.n_rows + 1, np.int64)


@accessor
def factor_column(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.factor_column), h.n_factor + h.n_rows, np.int64)


@accessor
def pairs(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.pairs), h.n_pairs, PAIR)


@accessor
def vectors(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.vectors), (N_VECTORS, h.n_vector), np.float64)


@accessor
def rhs_tangent(m: Memory) -> Any:
    h = head(m)
    n_rows = h.n_v + h.n_la + h.n_states + N_TANGENT_ROWS
    return carray(as_pointer(h.rhs_tangent), (n_rows, h.rhs_tangent_width), np.float64)


@accessor
def block_starts(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.block_starts), h.n_starts, np.int64)


@accessor
def blocks(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.blocks), (h.n_blocks, 4), np.int64)


@accessor
def null_space(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.null_space), (h.n_v, h.n_nu), np.float64)


@accessor
def velocity_selection(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.velocity_selection), (h.n_nu, h.n_v), np.float64)


@accessor
def velocity_metric(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.velocity_metric), 2 * h.n_v + h.n_nu, np.float64)


@accessor
def square_factors(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_factors), (h.n_v, h.n_v), np.float64)


@accessor
def row_exchanges(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.row_exchanges), h.n_v, np.int64)


@accessor
def square_rows(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_rows), h.n_square_entries, np.float64)


@accessor
def square_start(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_start), h.n_v + 1, np.int64)


@accessor
def square_column(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_column), h.n_square_entries, np.int64)


@accessor
def square_place(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_place), h.n_v, np.int64)


@accessor
def square_turning(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_turning), h.n_v, np.int64)


@accessor
def square_factor(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_factor), h.n_square_factor + h.n_v, np.float64)


@accessor
def square_factor_start(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_factor_start), h.n_v + 1, np.int64)


@accessor
def square_factor_column(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_factor_column), h.n_square_factor, np.int64)


@accessor
def square_product_start(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_product_start), h.n_v + 1, np.int64)


@accessor
def square_product_slot(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_product_slot), h.n_square_products, np.int64)


@accessor
def tree_velocities(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.tree_velocities), h.n_bodies, TREE_VELOCITY)


@accessor
def newton_matrix(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.newton_matrix), h.n_newton, np.float64)


@accessor
def newton_operations(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.newton_operations), h.n_operations, NEWTON_OPERATION)


@accessor
def newton_bodies(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.newton_bodies), h.n_bodies, NEWTON_BODY)


@accessor
def newton_joints(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.newton_joints), h.n_primitives, NEWTON_JOINT)


@accessor
def newton_forces(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.newton_forces), h.n_elements + h.n_bushings, NEWTON_FORCE)


@two_sided(lambda m: m.square_factors)
@jit
def tree_factors(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.square_factors), (6 * h.n_bodies, 6), np.float64)


@accessor
def target(m: Memory) -> Any:
    h = head(m)
    return carray(as_pointer(h.target), h.n_target, np.float64)


@two_sided(_aim)
@jit
def aim(m: Memory, out: Array) -> None:
    """The memory that the strided matrix `out` spans becomes the target."""
    h = head(m)
    h.row_stride = out.strides[0] // 8
    h.column_stride = out.strides[1] // 8
    h.target = out.ctypes.data
    h.n_target = (out.shape[0] - 1) * h.row_stride + (out.shape[1] - 1) * h.column_stride + 1
