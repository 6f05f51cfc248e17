"""The bodies of a system on arrays: records of mass and inertia, with what follows from them, and motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, final

import numpy as np

from rbdae._arrays import Mat, Vec, at_point, copied, cross
from rbdae.body import Body
from rbdae.rotations.vectors import rotation_matrices
from rbdae.system import System

_EYE = np.eye(3)


def body_rows(system: System, dtype: Any) -> Any:
    """One row a body, the ground last."""
    bodies, out = system.bodies, np.zeros(len(system.bodies) + 1, dtype=dtype)
    rows, ground = out[:-1], out[-1]
    out["parent"] = -1
    ground["fixed"], ground["mass"] = 1, 1.0  # divided by in places that do not count for the ground
    _fill_inertia(rows, bodies)
    rows["center"] = [body.center_of_mass for body in bodies]
    rows["nt"] = [3 if body.pivot is None else 0 for body in bodies]
    for row, body in zip(rows, bodies, strict=True):
        _fill_mass(row, body, system.gravity)
        if body.pivot is not None:
            row["origin"] = body.pivot
    return out


def renumbered(rows: Any, old: System, new: System) -> Any:
    """The rows of a system with other masses, inertias and gravity."""
    out = copied(rows)
    heavier = new.gravity is not old.gravity
    for k, (body, before) in enumerate(zip(new.bodies, old.bodies, strict=True)):
        if body.inertia is not before.inertia:
            _fill_inertia(out[k : k + 1], [body])
        if heavier or body is not before:
            _fill_mass(out[k], body, new.gravity)
    return out


def _fill_inertia(rows: Any, bodies: Sequence[Body]) -> None:
    """All at once: of a matrix alone a function of numpy.linalg takes longer."""
    inertia = np.array([body.inertia for body in bodies])
    trace = inertia.trace(axis1=1, axis2=2)
    rows["inertia"], rows["radial"] = inertia, 0.5 * trace
    rows["euler"] = euler = rows["radial"][:, None, None] * _EYE - inertia
    # a flat body has a singular Euler tensor: the forms that need the inverse refuse it by name
    size = at_point(trace)
    flat = ~(np.abs(np.linalg.det(at_point(euler))) > 1e-12 * (size * size * size))
    euler[flat] = _EYE
    rows["inertia_inverse"], rows["euler_inverse"] = _inverses(np.array([inertia, euler]))
    rows["euler_inverse"][flat] = np.nan


def _inverses(A: Any) -> Any:
    """A^-1 of matrices (..., 3, 3); those of symbols by cofactors."""
    if A.dtype != object:
        return np.linalg.inv(A)
    a, b, c = np.moveaxis(A, -2, 0)
    adjugate = np.stack([cross(b, c), cross(c, a), cross(a, b)], axis=-1)
    return adjugate / (a * adjugate[..., 0]).sum(axis=-1)[..., None, None]


def _fill_mass(row: Any, body: Body, gravity: Vec) -> None:
    row["mass"] = body.mass
    if body.pivot is None:
        row["weight"] = body.mass * gravity
    else:
        row["weight_d"] = (body.center_of_mass[:, None] * (body.mass * gravity)).ravel()


# ---------------------------------------------------------------- motion


@final
@dataclass(frozen=True)
class BodyMotion:
    """Motion of all bodies in the order of addition: points x and their velocities xd (n, 3), unit quaternions p
    (n, 4), material angular velocities om (n, 3). The points are the reference points, where nothing else is said."""

    x: Mat
    p: Mat
    xd: Mat
    om: Mat

    @classmethod
    def stated(cls, bodies: Sequence[Body]) -> Self:
        """The initial values that bodies have, of the origins of their frames."""
        return cls(
            np.array([body.position for body in bodies]),
            np.array([body.orientation for body in bodies]),
            np.array([body.velocity for body in bodies]),
            np.array([body.angular_velocity for body in bodies]),
        )

    @cached_property
    def R(self) -> Mat:
        """The rotation matrices, (n, 3, 3)."""
        return rotation_matrices(self.p)

    @cached_property
    def R_rate(self) -> Mat:
        """Their rates R [Omega]x, (n, 3, 3)."""
        skew, om = np.zeros((len(self.om), 3, 3)), self.om
        skew[:, 0, 1], skew[:, 0, 2], skew[:, 1, 2] = -om[:, 2], om[:, 1], -om[:, 0]
        return self.R @ (skew - np.swapaxes(skew, 1, 2))

    @cached_property
    def places(self) -> Mat:
        """(x, d1, d2, d3) of each body and of the ground, (n + 1, 12)."""
        return self._coordinates(self.x, self.R, np.eye(3))

    @cached_property
    def rates(self) -> Mat:
        """(xdot, d1dot, d2dot, d3dot) of the same, (n + 1, 12)."""
        return self._coordinates(self.xd, self.R_rate, np.zeros((3, 3)))

    @property
    def natural(self) -> Mat:
        """Both, (n + 1, 24)."""
        return np.hstack([self.places, self.rates])

    @staticmethod
    def _coordinates(x: Mat, R: Mat, ground: Mat) -> Mat:
        Z = np.zeros((len(x) + 1, 4, 3))
        Z[:-1, 0], Z[:-1, 1:], Z[-1, 1:] = x, np.swapaxes(R, 1, 2), ground
        return Z.reshape(-1, 12)

    def moving(self, v: Mat) -> Self:
        """The same places with other velocities (xd, om), (n, 6)."""
        out: Self = replace(self, xd=v[:, :3], om=v[:, 3:])
        vars(out).update({name: vars(self)[name] for name in ("R", "places") if name in vars(self)})
        return out

    def at(self, arms: Mat) -> Self:
        """The motion of other points of the bodies, by their arms (n, 3) from these ones in the body frames."""
        if not arms.any():
            return self
        out: Self = replace(
            self,
            x=self.x + np.einsum("bij,bj->bi", self.R, arms),
            xd=self.xd + np.einsum("bij,bj->bi", self.R_rate, arms),
        )
        vars(out).update(R=self.R, R_rate=self.R_rate)
        return out
