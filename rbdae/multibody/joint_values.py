"""Constraint matrices and potentials of forces at natural coordinates, by their kernels.

All functions take natural coordinates Z of shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels.entry import Entry
from rbdae.kernels.forces.readings import potentials as potential_kernel
from rbdae.kernels.joint_outputs import joint_matrix as matrix_kernel
from rbdae.multibody.bound import bound, evaluate_each
from rbdae.multibody.workspace import Workspace


def joint_matrix(workspace: Workspace, t: Vec | float, Z: Mat) -> Mat:
    """G of all joint equations, dropped ones as well, with respect to (xdot, Omega) of all bodies, (..., rows, 6 n);
    zero columns for the x of bodies with a pivot."""
    n, rows = workspace.model.n, workspace.layout.n_rows
    if not rows:
        return np.zeros((*Z.shape[:-2], 0, 6 * n))
    G = _values(workspace, matrix_kernel, t, Z, rows * 6 * n).reshape(*Z.shape[:-2], rows, n, 6)
    return G[..., workspace.layout.rank[:n], :].reshape(*Z.shape[:-2], rows, 6 * n)


def potentials(workspace: Workspace, t: Vec | float, Z: Mat, s: Mat) -> Mat:
    """Potentials of the bushings, then of the force elements, (..., bushings + elements), at internal states s (...,
    states) of the forces: windings select the branch of their angles."""
    n = len(workspace.model.bushings) + len(workspace.model.forces.elements)
    states = np.ascontiguousarray(s, dtype=float).reshape(math.prod(Z.shape[:-2]), workspace.layout.n_states)
    return _values(workspace, potential_kernel, t, Z, n, states)


def potential_rows(workspace: Workspace) -> Callable[..., None]:
    """f(t, Z, s, out=out) for times (m,), natural coordinates (m, 24 n) of bodies as they are in memory, and internal
    states (m, states): potentials (m, bushings + elements)."""
    kernel = bound(workspace, potential_kernel)
    return lambda t, *inputs, out: evaluate_each(kernel, t, inputs, out)


def _values(workspace: Workspace, kernel: Entry, t: Vec | float, Z: Mat, n: int, *others: Mat) -> Mat:
    """The results (..., n) of a kernel of times, natural coordinates and other rows."""
    times = np.array(np.broadcast_to(np.asarray(t, dtype=float), Z.shape[:-2]).reshape(-1))
    in_memory = np.ascontiguousarray(Z[..., list(workspace.layout.order), :]).reshape(-1, 24 * workspace.model.n)
    out = np.empty((*Z.shape[:-2], n))
    evaluate_each(bound(workspace, kernel), times, (in_memory, *others), out.reshape(-1, n))
    return out
