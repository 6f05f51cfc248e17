"""What joints and forces give beside equations, by their kernels: constraint matrix, forces on the bodies, potentials.

All functions take natural coordinates Z of shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.kernels.forces import potentials as potential_kernels
from rbdae.kernels.joint_outputs import joint_forces as forces_kernel
from rbdae.kernels.joint_outputs import joint_matrix as matrix_kernel
from rbdae.multibody.bound import bound
from rbdae.multibody.workspace import Workspace


def joint_matrix(workspace: Workspace, t: Vec | float, Z: Mat) -> Mat:
    """G of all joint equations, dropped ones as well, with respect to (xdot, Omega) of all bodies, (..., rows, 6 n);
    zero columns for the x of bodies with a pivot."""
    n, rows = workspace.model.n, workspace.layout.n_rows
    kernel = bound(workspace, matrix_kernel)
    order = list(workspace.layout.order)

    def row(time: float, z: Mat, out: Vec) -> None:
        kernel(time, z[order].reshape(-1), out)

    if not rows:
        return np.zeros((*Z.shape[:-2], 0, 6 * n))
    G = _each(row, t, Z, rows * 6 * n).reshape(*Z.shape[:-2], rows, n, 6)
    return G[..., workspace.layout.rank[:n], :].reshape(*Z.shape[:-2], rows, 6 * n)


def joint_forces(workspace: Workspace, t: Vec | float, Z: Mat, la: Mat) -> Mat:
    """Force of each primitive constraint on its two bodies, and its torque about their reference points, spatial
    components, (..., primitives, 2, 6); `la` (..., rows) are the multipliers of all joint equations."""
    kernel = bound(workspace, forces_kernel)
    order = list(workspace.layout.order)
    multipliers = iter(np.ascontiguousarray(la).reshape(-1, workspace.layout.n_rows))

    def row(time: float, z: Mat, out: Vec) -> None:
        kernel(time, z[order].reshape(-1), next(multipliers), out)

    n = len(workspace.model.primitives)
    return _each(row, t, Z, 12 * n).reshape(*Z.shape[:-2], n, 2, 6)


def potentials(workspace: Workspace, t: Vec | float, Z: Mat, s: Mat) -> Mat:
    """Potentials of the bushings, then of the force elements, (..., bushings + elements), at internal states s (...,
    states) of the forces: windings select the branch of their angles."""
    kernel = bound(workspace, potential_kernels.potentials)
    order = list(workspace.layout.order)
    n = len(workspace.model.bushings) + len(workspace.model.forces.elements)
    states = iter(np.ascontiguousarray(s).reshape(math.prod(Z.shape[:-2]), workspace.layout.n_states))

    def row(time: float, z: Mat, out: Vec) -> None:
        kernel(time, z[order].reshape(-1), next(states), out)

    return _each(row, t, Z, n)


def _each(kernel: Callable[[float, Mat, Vec], None], t: Vec | float, Z: Mat, n: int) -> Mat:
    """kernel(t, z, out) for every state of Z, out of length n."""
    lead = Z.shape[:-2]
    times = np.broadcast_to(np.asarray(t, dtype=float), lead).reshape(-1)
    states = np.ascontiguousarray(Z).reshape(-1, *Z.shape[-2:])
    out = np.zeros((len(states), n))
    for time, z, result in zip(times, states, out, strict=True):
        kernel(float(time), z, result)
    return out.reshape(*lead, n)


__all__ = ["joint_forces", "joint_matrix", "potentials"]
