"""The scratch of the kernels by name: what each vector holds.

Vectors are rows of `vectors(m)`, long enough for the unknowns and for (g, gdot). A stage says in its docstring which of
them it reads and writes.
"""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Memory
from rbdae.compiler.jit import jit
from rbdae.kernels.memory import head, rhs_tangent, vectors


@jit
def multipliers(m: Memory) -> Any:
    """la: those of the internal constraints body by body, then those of the joints."""
    return vectors(m)[0]


@jit
def corrections(m: Memory) -> Any:
    """mu: the multipliers of the kinematic correction, in the same order."""
    return vectors(m)[1]


@jit
def right_hand_side(m: Memory) -> Any:
    """f of the saddle-point system: forces in the rows of the dynamics."""
    return vectors(m)[2]


@jit
def constraint_side(m: Memory) -> Any:
    """s of the saddle-point system: the right-hand side of the constraint rows."""
    return vectors(m)[3]


@jit
def solution(m: Memory) -> Any:
    """vdot of the saddle-point system, or a displacement of the projection."""
    return vectors(m)[4]


@jit
def constraint_values(m: Memory) -> Any:
    """g, or (g, gdot): what the constraints are at the present state."""
    return vectors(m)[5]


@jit
def unbalanced(m: Memory) -> Any:
    """The loads that the internal constraints have to balance: forces in the rows of the dynamics."""
    return vectors(m)[6]


@jit
def quasi_forces(m: Memory) -> Any:
    """h = M wdot - psi of the null-space form, or (zeta, T^T h) = [G; S]^-T h."""
    return vectors(m)[7]


@jit
def square_side(m: Memory) -> Any:
    """Right-hand side and solution of the square system: (-g_I, nu), then w."""
    return vectors(m)[8]


@jit
def kept_positions(m: Memory) -> Any:
    """The positions before a Newton step of the projection."""
    return vectors(m)[9]


@jit
def displacement(m: Memory) -> Any:
    """The sum of the Newton steps of the projection."""
    return vectors(m)[10]


@jit
def work(m: Memory) -> Any:
    """A vector of the stage that asks for it: no other stage relies on it."""
    return vectors(m)[11]


@jit
def tangent_rows(m: Memory) -> Any:
    """Three rows of tangents below those of `rhs_tangent`, for sums of its rows."""
    h = head(m)
    return rhs_tangent(m)[h.n_v + h.n_la + h.n_states :]


@jit
def force_states(m: Memory) -> Any:
    """s: the internal states of the forces."""
    return vectors(m)[12]


@jit
def force_state_rates(m: Memory) -> Any:
    """sdot = f(t, q, v, s)."""
    return vectors(m)[13]


@jit
def turned_row(m: Memory) -> Any:
    """A row of S P of the null-space form of loops with spatial velocities."""
    return vectors(m)[14]


@jit
def square_known(m: Memory) -> Any:
    """The right-hand side of the sparse square system, or the solution of the transposed one, in the order of
    elimination."""
    return vectors(m)[15]


@jit
def square_rest(m: Memory) -> Any:
    """What the factors of the sparse square system are solved for, in the order of elimination."""
    return vectors(m)[16]
