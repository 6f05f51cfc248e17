"""Contact of a point with a plane or a sphere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec, cross
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractPairForce, near
from rbdae.forces.dry import VELOCITY, checked_pressing, friction_over, pressing
from rbdae.forces.element import AnyElement, together
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.joints.frames import perpendicular
from rbdae.laws.law import Filling
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.forms import direction, point, product


@final
@attrs.frozen(eq=False, init=False, kw_only=True)
class Contact(AbstractPairForce):
    """A point of a body against a plane or a sphere on another one, with dry friction.

    With the depth d of the point behind the surface, its normal force is N = k d^n (1 + a ddot) by Hunt and Crossley
    [HC75], zero without contact and where it would pull. The friction is -mu N tanh(|v| / v0) v / |v|, with the
    velocity v of the point along the surface, relative to the body of that (`rbdae.forces.Coulomb` says what v0 does).
    Both act on `a` at its point, and the opposite ones on `b` at the same place in space, so that momentum is kept. The
    work is counted in ``solution.energy.work``; the contact has no part in the potential.

    Parameters
    ----------
    a : Body
        The body with the point.
    b : Body, optional
        That with the surface; without it, the ground of the system.
    normal : (3,) array_like, optional
        Of a plane, outwards, in the frame of `b`, of any length; the z axis if there is no radius.
    radius : float, optional
        Of a sphere in place of a plane, m.
    at_a, at_b : (3,) array_like
        The point in the frame of `a`; a point of the plane, or the centre of the sphere, in that of `b`.
    stiffness : float
        k, N/m^n.
    exponent : float
        n, at least 1; 1.5 is that of elastic spheres by Hertz.
    damping : float, optional
        a, s/m; 0 by default.
    restitution, impact_velocity : float, optional
        In place of the damping: which fraction, in (0, 1], of this velocity (m/s) comes back. It holds for any masses
        and any k and n; of slower impacts more comes back, of faster ones less.
    mu : float
        Coefficient of friction.
    velocity : float
        v0, m/s.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "contact-1" and so on.

    Attributes
    ----------
    axis_b : (3,) array or None
        The unit normal of a plane.
    """

    axis_b: Vec | None
    radius: float | None
    at_a: Vec
    at_b: Vec
    stiffness: float
    exponent: float
    damping: float
    mu: float
    velocity: float

    def __init__(
        self,
        a: Body,
        b: Body | None = None,
        *,
        normal: ArrayLike | None = None,
        radius: float | None = None,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        stiffness: float,
        exponent: float = 1.5,
        damping: float | None = None,
        restitution: float | None = None,
        impact_velocity: float | None = None,
        mu: float = 0.0,
        velocity: float = VELOCITY,
        name: str | None = None,
    ) -> None:
        owner = describe("force", "Contact", a, b, name)
        if normal is not None and radius is not None:
            raise ValueError(f"{owner}: it has the normal of a plane and the radius of a sphere; leave one out")
        n = None
        if radius is None:
            n = np.array(_check.axis(owner, "normal", (0.0, 0.0, 1.0) if normal is None else normal))
            n = _check.frozen(n / np.linalg.norm(n))
        self.__attrs_init__(
            a=a,
            b=b,
            axis_b=n,
            radius=None if radius is None else _check.positive(owner, "radius", radius, "give e.g. 0.1"),
            at_a=_check.vector(owner, "at_a", at_a),
            at_b=_check.vector(owner, "at_b", at_b),
            **checked_pressing(owner, stiffness, exponent, damping, restitution, impact_velocity),
            mu=_check.not_negative(owner, "mu", mu),
            velocity=_check.positive(owner, "velocity", velocity, "give e.g. 1e-3"),
            name=name,
        )

    @property
    def symbol(self) -> Symbol | None:
        """A piece of the plane, or the sphere."""
        if self.b is None:  # not in a system
            return None
        return Symbol("surface", ((self.b, self.at_b),), axis=self.axis_b, radius=self.radius or 0.0)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element, on the three displacements of the point in the frame of `b`."""
        of = [_displacement(axis, self.at_a, self.at_b) for axis in self._axes]
        p = [self.stiffness, self.exponent, self.damping, self.mu, self.velocity]
        place = np.concatenate([near(each, self.bodies) for each in of])
        if self.radius is None:
            return (together(of, MotionLaw("the force of its plane", (), _plane, place, np.array(p))),)
        return (together(of, MotionLaw("the force of its sphere", (), _sphere, place, np.array([*p, self.radius]))),)

    @property
    def _axes(self) -> Mat:
        """Two directions in the plane and its normal, by rows; of a sphere the axes of the frame."""
        if self.axis_b is None:
            return np.eye(3)
        first = perpendicular(self.axis_b)
        return np.array([first, cross(self.axis_b, first), self.axis_b])


def _displacement(axis: Vec, at_a: Vec, at_b: Vec) -> Coordinate:
    """The displacement of the point on the first body from that on the second, along an axis of the second."""
    P = point(at_a, 1.0, 0) + point(at_b, -1.0, 1)
    return Coordinate("displacement", "m", "identity", np.array([product(direction(axis, 1), P)]))


def _plane(users: Sequence[Callable[..., Any]]) -> Filling:
    """The law of displacements (x, y, z) from a plane with the normal z."""

    def law(t: float, x: Vec, out: Vec) -> None:
        v, mu, v0 = [x[3], x[4]], x[9], x[10]
        N = pressing(-x[2], -x[5], x[6], x[7], x[8])
        f = -mu * N * friction_over(v, v0)
        out[0] = f * v[0]
        out[1] = f * v[1]
        out[2] = N

    return law


def _sphere(users: Sequence[Callable[..., Any]]) -> Filling:
    """The law of displacements from the centre of a sphere."""

    def law(t: float, x: Vec, out: Vec) -> None:
        mu, v0, radius = x[9], x[10], x[11]
        r = np.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
        n = [x[k] / r for k in range(3)]
        rate = n[0] * x[3] + n[1] * x[4] + n[2] * x[5]
        v = [x[3 + k] - rate * n[k] for k in range(3)]
        N = pressing(radius - r, -rate, x[6], x[7], x[8])
        f = -mu * N * friction_over(v, v0)
        for k in range(3):
            out[k] = N * n[k] + f * v[k]

    return law
