"""Accelerations of bodies from the forces on them, by Newton's and Euler's equations: for any unknowns the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.problem.quantities import angular_velocities


def frames(Z: Mat) -> Mat:
    """R (..., 3, 3) of bodies (..., 24)."""
    return np.swapaxes(Z[..., 3:12].reshape(*Z.shape[:-1], 3, 3), -1, -2)


def on_frame(R: Mat, v: Vec | Mat) -> Mat:
    """R v of vectors."""
    return np.asarray(np.sum(R * v[..., None, :], axis=-1))


def torques(Z: Mat, F: Mat) -> Mat:
    """Torques (..., 3) about the reference points, of natural forces (..., 12) on bodies (..., 24)."""
    d, f = (x.reshape(*x.shape[:-1], 3, 3) for x in (Z[..., 3:12], F[..., 3:12]))
    return np.asarray(cross(d, f).sum(axis=-2))


def accelerations(view: Any, Z: Mat, applied: Any, of_primitives: Any) -> Mat:
    """xddot and dddot at the places of x and d in rows Z (m, 24 bodies), zero elsewhere.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`
    Z : rows of natural coordinates, with the bodies as they are in memory; all three are numbers of any kind
    applied : (m, bodies, 12), applied forces on them as they are in memory
    of_primitives : (m, primitives, 2, 6), forces and torques of the joints' primitives about the reference points
    """
    model, n = view.model, view.model.n
    B, order, m = model.bodies, list(view.workspace.layout.order[:n]), len(Z)
    F = applied + np.concatenate([B["weight"], B["weight_d"]], axis=1)[order]
    loads = np.zeros((m, n + 1, 6), dtype=of_primitives.dtype)
    for k, pair in enumerate(model.primitives["body"]):
        for side, b in enumerate(pair):
            loads[:, b] += of_primitives[:, k, side]
    z, loads = Z.reshape(m, n, 24), loads[:, order]
    free, J = (B["nt"][order] == 3)[:, None], B["inertia"][order]
    R, Om = frames(z), angular_velocities(z)
    moment = on_frame(np.swapaxes(R, -1, -2), torques(z, F) + loads[..., 3:]) - cross(Om, on_frame(J, Om))
    W = _skew(Om)
    second = R @ (W @ W + _skew(on_frame(np.linalg.inv(J), moment)))
    out = np.zeros((m, n, 24), dtype=Z.dtype)
    out[..., :3] = np.where(free, (F[..., :3] + loads[..., :3]) / B["mass"][order][:, None], 0.0)
    out[..., 3:12] = np.swapaxes(second, -1, -2).reshape(m, n, 9)
    return out.reshape(m, 24 * n)


def _skew(v: Mat) -> Mat:
    out = np.zeros((*v.shape, 3), dtype=v.dtype)
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = np.moveaxis(v, -1, 0)
    return out - np.swapaxes(out, -1, -2)
