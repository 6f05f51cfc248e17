"""The outputs of joints and forces beside equations, by their kernels: constraint matrix, forces on the bodies,
potentials.

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
    out = np.empty((*Z.shape[:-2], rows * 6 * n))
    joint_matrix_rows(workspace)(_times(t, Z), _in_memory(workspace, Z), out=out.reshape(-1, rows * 6 * n))
    G = out.reshape(*Z.shape[:-2], rows, n, 6)
    return G[..., workspace.layout.rank[:n], :].reshape(*Z.shape[:-2], rows, 6 * n)


def potentials(workspace: Workspace, t: Vec | float, Z: Mat, s: Mat) -> Mat:
    """Potentials of the bushings, then of the force elements, (..., bushings + elements), at internal states s (...,
    states) of the forces: windings select the branch of their angles."""
    n = len(workspace.model.bushings) + len(workspace.model.forces.elements)
    out = np.empty((*Z.shape[:-2], n))
    states = np.ascontiguousarray(s, dtype=float).reshape(math.prod(Z.shape[:-2]), workspace.layout.n_states)
    potential_rows(workspace)(_times(t, Z), _in_memory(workspace, Z), states, out=out.reshape(-1, n))
    return out


Rows = Callable[..., None]
"""f(t, Z, ..., out=out) for times (m,) and rows of natural coordinates (m, 24 n), bodies as they are in memory."""


def joint_matrix_rows(workspace: Workspace) -> Rows:
    """G of all joint equations, (m, rows * n * 6)."""
    return _rows(workspace, matrix_kernel)


def potential_rows(workspace: Workspace) -> Rows:
    """Potentials (m, bushings + elements), see `potentials`; after Z come internal states (m, states)."""
    return _rows(workspace, potential_kernel)


def _rows(workspace: Workspace, entry: Entry) -> Rows:
    kernel = bound(workspace, entry)

    def rows(t: Vec, *inputs: Mat, out: Mat) -> None:
        evaluate_each(kernel, t, inputs, out)

    return rows


def _in_memory(workspace: Workspace, Z: Mat) -> Mat:
    """Rows of Z with the bodies as they are in memory."""
    return np.ascontiguousarray(Z[..., list(workspace.layout.order), :]).reshape(-1, 24 * workspace.model.n)


def _times(t: Vec | float, Z: Mat) -> Vec:
    return np.array(np.broadcast_to(np.asarray(t, dtype=float), Z.shape[:-2]).reshape(-1))
