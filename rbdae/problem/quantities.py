"""What a state means, whatever the unknowns: states of bodies, energy, momentum; from natural
coordinates.

All functions take natural coordinates Z of shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE
from rbdae.multibody.joint_values import potentials
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings
from rbdae.multibody.workspace import Workspace

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@final
@dataclass(frozen=True, slots=True)
class BodyState:
    """Motion of one body, (3,) or (m, 3) arrays.

    Attributes
    ----------
    position, velocity : of the origin of the body frame (the pivot, where there is one), in space, m and m/s
    orientation : `scipy.spatial.transform.Rotation`, from body to space
    angular_velocity : in the body frame, rad/s
    center_of_mass : position of the centre of mass, in space
    """

    position: Vec
    orientation: Rotation
    velocity: Vec
    angular_velocity: Vec
    center_of_mass: Vec


@final
@dataclass(frozen=True, slots=True)
class Energy:
    """Kinetic, potential (weight and forces that have one) and total energy, J."""

    kinetic: Vec
    potential: Vec
    total: Vec


@final
@dataclass(frozen=True, slots=True)
class Momentum:
    """Linear momentum, and angular momentum about the origin of space; spatial components."""

    linear: Vec
    angular: Vec


@final
@dataclass(frozen=True, slots=True)
class Constraints:
    """Constraint violations g and gdot (internal ones of the chart body by body, then the joints)."""

    position: Vec
    velocity: Vec


def _split(Z: Mat) -> tuple[Mat, Mat, Mat, Mat]:
    """x, directors (..., n, 3, 3) with d_i = D[..., i, :], and their rates."""
    shape = (*Z.shape[:-1], 3, 3)
    return Z[..., :3], Z[..., 3:12].reshape(shape), Z[..., 12:15], Z[..., 15:24].reshape(shape)


def _turning(D: Mat, Dd: Mat) -> tuple[Mat, Mat]:
    """R^-1 Rdot and det R.

    With the inverse, not the transpose: then the angular velocity is the unknown Omega also where the frame has
    drifted from an orthonormal one (R^T Rdot is off by the fourth power of a quaternion's norm).
    """
    d1, d2, d3 = (D[..., i, :] for i in range(3))
    dual = np.stack([np.cross(d2, d3), np.cross(d3, d1), np.cross(d1, d2)], axis=-2)
    det = np.einsum("...k,...k->...", dual[..., 0, :], d1)
    return np.einsum("...ik,...jk->...ij", dual, Dd) / det[..., None, None], det


def _axial(W: Mat) -> Mat:
    return 0.5 * np.stack(
        [W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], axis=-1
    )


def angular_velocities(Z: Mat) -> Mat:
    """Material angular velocities (..., n, 3): the skew part of R^-1 Rdot."""
    _, D, _, Dd = _split(Z)
    return _axial(_turning(D, Dd)[0])


def states(model: Model, Z: Mat) -> dict[str, BodyState]:
    """States by the names of the bodies."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    x, D, xd, Dd = _split(Z)
    Om = angular_velocities(Z)
    out = {}
    for k, name in enumerate(model.names):
        body = model.bodies[k]
        c = body["center"]
        arm = np.einsum("...ik,i->...k", D[..., k, :, :], c)
        arm_rate = np.einsum("...ik,i->...k", Dd[..., k, :, :], c)
        free = body["nt"] == 3
        out[name] = BodyState(
            position=x[..., k, :] - arm if free else x[..., k, :].copy(),
            orientation=Rotation.from_matrix(np.swapaxes(D[..., k, :, :], -1, -2)),
            velocity=xd[..., k, :] - arm_rate if free else xd[..., k, :].copy(),
            angular_velocity=Om[..., k, :],
            center_of_mass=x[..., k, :].copy() if free else x[..., k, :] + arm,
        )
    return out


def rotations(model: Model, R: Mat | None) -> dict[str, Rotation]:
    """Rotations (n, 3, 3) by the names of the bodies; None stands for the identity."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    known = np.tile(np.eye(3), (model.n, 1, 1)) if R is None else R
    return {name: Rotation.from_matrix(each) for name, each in zip(model.names, known, strict=True)}


def _rotational(model: Model, D: Mat, Dd: Mat, settings: Settings) -> Mat:
    """Kinetic energy of the rotations, v^T M v / 2 in the velocities v of the formulation, or H of its momenta, (...,).

    On the constraint manifold all kinds agree. Off it, each has its own; it is this one that shows how a formulation
    keeps the energy ([NS], (32) and Figure 10).
    """
    B = model.bodies[: model.n]
    if settings.kind.number == DIRECTOR_RATE:
        return np.asarray(0.5 * np.einsum("...nik,nij,...njk->...", Dd, B["euler"], Dd))
    W, det = _turning(D, Dd)
    Om = _axial(W)
    if settings.kind.number == ANGULAR:
        return np.asarray(0.5 * np.einsum("...ni,nij,...nj->...", Om, B["inertia"], Om))
    # det R = |p|^6, and 2 conj(p) pdot = |p|^2 (trace(R^-1 Rdot)/3, Omega); M4^-1 of the momenta takes the |p|^2 away
    size = np.ones_like(det) if settings.momenta else np.cbrt(det)
    stretch = size * np.einsum("...ii->...", W) / 3.0
    Om = size[..., None] * Om
    J0 = B["radial"] * (1.0 if settings.momenta else settings.radial)
    out = np.einsum("...ni,nij,...nj->...", Om, B["inertia"], Om)
    return np.asarray(0.5 * (out + np.einsum("n,...n,...n->...", J0, stretch, stretch)))


def energy(workspace: Workspace, t: ArrayLike, Z: Mat, s: Mat) -> Energy:
    """Energies at the times t and internal states s of the forces; the weight's potential is zero at the origin of
    space. The settings of the workspace matter off the manifold alone."""
    model = workspace.model
    x, D, xd, Dd = _split(Z)
    B = model.bodies[: model.n]
    kinetic = 0.5 * np.einsum("n,...nk,...nk->...", np.where(B["nt"] == 3, B["mass"], 0.0), xd, xd)
    kinetic = kinetic + _rotational(model, D, Dd, workspace.settings)
    potential = -np.einsum("nk,...nk->...", B["weight"], x)
    potential = potential - np.einsum("nk,...nk->...", B["weight_d"], D.reshape(*D.shape[:-2], 9))
    pivots = B["nt"] == 0
    if pivots.any():
        gravity = model.system.gravity
        potential = potential - float(np.sum(B["mass"][pivots][:, None] * B["origin"][pivots] * gravity))
    if len(model.bushings) or len(model.forces.elements):
        potential = potential + potentials(workspace, np.asarray(t, dtype=float), Z, s).sum(axis=-1)
    return Energy(kinetic, potential, kinetic + potential)


def momentum(model: Model, Z: Mat, settings: Settings) -> Momentum:
    """Momenta of the whole system; of director rates or momenta sum_i d_i x p_i, which is R J Omega on the constraint
    manifold, and off it what their equations keep."""
    x, D, xd, Dd = _split(Z)
    Om = angular_velocities(Z)
    linear: Mat = np.zeros((*Z.shape[:-2], 3))
    angular: Mat = np.zeros_like(linear)
    for k in range(model.n):
        body = model.bodies[k]
        v = xd[..., k, :]
        if body["nt"] == 0:
            v = np.einsum("...ik,i->...k", Dd[..., k, :, :], body["center"])
        p = body["mass"] * v
        linear = linear + p
        if settings.kind.number == DIRECTOR_RATE:
            spin = np.cross(D[..., k, :, :], body["euler"] @ Dd[..., k, :, :]).sum(-2)
        else:
            spin = np.einsum(
                "...i,...ik->...k", np.einsum("ij,...j->...i", body["inertia"], Om[..., k, :]), D[..., k, :, :]
            )
        angular = angular + np.cross(x[..., k, :], p) + spin
    return Momentum(linear, angular)
