"""Forces that push and do not pull: contact of a point with a plane or a sphere, and end stops of a joint.

What is pressed in by the depth d pushes back with k d^n (1 + a ddot), by [HC75]. Along a line, with the reduced mass m
of both sides and no other force, m v dv/dd = -k d^n (1 + a v) has the integral

    a v - ln(1 + a v) + a^2 k / m  d^(n + 1) / (n + 1) = constant,

so that the velocities v before and -e v after have a e v + ln(1 - a e v) + a v - ln(1 + a v) = 0: the restitution e
depends on a v alone, not on the masses, on k or on n. `_damping_of` solves this for a; [HC75] have its beginning,
e = 1 - 2 a v / 3.
"""

from __future__ import annotations

import math
from typing import Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec, cross
from rbdae.forces.base import AbstractPairForce, Symbol
from rbdae.forces.element import AnyElement, along, law_of, of_numbers
from rbdae.forces.friction import VELOCITY, friction_over
from rbdae.forces.joint_forces import AbstractJointForce, coordinate_of
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.frames import perpendicular
from rbdae.laws.numbers import choice
from rbdae.quantities.coordinate import Coordinate, direction, point

# ---------------------------------------------------------------- what presses


def _pressing(depth: Any, rate: Any, stiffness: Any, exponent: Any, damping: Any) -> Any:
    """The force; zero without contact. Its numbers may be symbols."""
    inside = depth > 0.0
    force = stiffness * choice(inside, depth, 1.0) ** exponent  # a power of what is not negative has derivatives
    factor = 1.0 + damping * rate
    return choice(inside, choice(factor > 0.0, force * factor, 0.0), 0.0)


def _damping_of(restitution: float, velocity: float) -> float:
    """a (s/m) with which a contact returns this fraction, in (0, 1], of an approach with this velocity."""
    e = restitution
    if e == 1.0:
        return 0.0

    def lost(x: float) -> float:
        return x * (1.0 + e) - math.log1p(x) + math.log1p(-e * x)

    low, high = 0.0, 1.0 / e  # lost begins positive, (1 - e^2) x^2 / 2, and ends below any number
    while True:
        x = 0.5 * (low + high)
        if not low < x < high:
            return low / velocity
        low, high = (x, high) if lost(x) > 0.0 else (low, x)


def _exponent(value: float, force: Any = None, field: Any = None) -> float:
    n = _check.number(force._owner, "exponent", value)
    if n < 1.0:
        raise ValueError(
            f"{force._owner}: exponent must be at least 1, got {_check.show(value)}; give 1.5 for round surfaces, 1 "
            "for a spring"
        )
    return n


def _restitution(value: float | None, force: Any = None, field: Any = None) -> float | None:
    if value is not None and not 0.0 < _check.number(force._owner, "restitution", value) <= 1.0:
        raise ValueError(
            f"{force._owner}: restitution must be above 0 and at most 1, got {_check.show(value)}; give damping= for "
            "less"
        )
    return value


def _damping(value: float | None, force: Any = None, field: Any = None) -> float:
    owner, e, v = force._owner, force.restitution, force.impact_velocity
    if value is not None and e is not None:
        raise ValueError(f"{owner}: it has a damping and a restitution; leave one out")
    if (e is None) != (v is None):
        raise ValueError(f"{owner}: restitution= and impact_velocity= go together: it falls with the velocity")
    if e is None or v is None:
        return 0.0 if value is None else _check.amount(value, force, field)
    return _damping_of(e, v)


# ---------------------------------------------------------------- contact


def _normal(value: ArrayLike | None, contact: Any = None, field: Any = None) -> Vec | None:
    """The unit normal of a plane; none of a sphere."""
    if contact.radius is None:
        n = np.array(_check.axis(contact._owner, "normal", (0.0, 0.0, 1.0) if value is None else value))
        return _check.frozen(n / np.linalg.norm(n))
    if value is not None:
        raise ValueError(f"{contact._owner}: it has the normal of a plane and the radius of a sphere; leave one out")
    return None


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
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

    Attributes
    ----------
    axis_b : (3,) array or None
        The unit normal of a plane.
    """

    radius: float | None = attrs.field(default=None, converter=_check.optional_size, kw_only=True)
    axis_b: Vec | None = attrs.field(default=None, alias="normal", converter=_normal, kw_only=True)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    stiffness: float = attrs.field(converter=_check.size, kw_only=True)
    exponent: float = attrs.field(default=1.5, converter=_exponent, kw_only=True)
    restitution: float | None = attrs.field(default=None, converter=_restitution, kw_only=True)
    impact_velocity: float | None = attrs.field(default=None, converter=_check.optional_size, kw_only=True)
    damping: float = attrs.field(default=None, converter=_damping, kw_only=True)
    mu: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    velocity: float = attrs.field(default=VELOCITY, converter=_check.size, kw_only=True)

    @property
    def symbol(self) -> Symbol | None:
        if self.b is None:  # not in a system
            return None
        return Symbol("surface", ((self.b, self.at_b),), axis=self.axis_b, radius=self.radius or 0.0)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element, on the three displacements of the point in the frame of `b`."""
        axes = np.eye(3)
        if self.axis_b is not None:  # two directions in the plane and its normal
            first = perpendicular(self.axis_b)
            axes = np.array([first, cross(self.axis_b, first), self.axis_b])
        P = point(self.at_a, 1.0, 0) + point(self.at_b, -1.0, 1)
        of = [Coordinate("displacement", "m", "identity", ((direction(axis, 1), P),)) for axis in axes]
        p = self.stiffness, self.exponent, self.damping, self.mu, self.velocity
        if self.radius is None:
            return (along(*of, load=law_of(3, "the force of its plane", _plane, *p)),)
        return (along(*of, load=law_of(3, "the force of its sphere", _sphere, *p, self.radius)),)


@of_numbers
def _plane(s: Any, v: Any, k: Any, n: Any, a: Any, mu: Any, v0: Any) -> tuple[Any, ...]:
    """The force at displacements (x, y, z) from a plane with the normal z."""
    N = _pressing(-s[2], -v[2], k, n, a)
    f = -mu * N * friction_over([v[0], v[1]], v0)
    return f * v[0], f * v[1], N


@of_numbers
def _sphere(s: Any, v: Any, k: Any, n: Any, a: Any, mu: Any, v0: Any, radius: Any) -> list[Any]:
    r = np.sqrt(s[0] * s[0] + s[1] * s[1] + s[2] * s[2])
    normal = [each / r for each in s]
    rate = normal[0] * v[0] + normal[1] * v[1] + normal[2] * v[2]
    along = [v[i] - rate * normal[i] for i in range(3)]
    N = _pressing(radius - r, -rate, k, n, a)
    f = -mu * N * friction_over(along, v0)
    return [N * normal[i] + f * along[i] for i in range(3)]


# ---------------------------------------------------------------- end stops


def _low(value: float | None, limit: Any = None, field: Any = None) -> float | None:
    return None if value is None else _check.quantity(value, limit, field)


def _high(value: float | None, limit: Any = None, field: Any = None) -> float | None:
    """The upper stop, if there is one: then it is above the lower one."""
    high, low = _low(value, limit, field), limit.low
    if high is None and low is None:
        raise ValueError(f"{limit._owner}: it has no stop; give low= or high=, or both")
    if high is not None and low is not None and not low < high:
        raise ValueError(f"{limit._owner}: low must be below high, got {low:g} and {high:g}; exchange them")
    return high


def _coordinate(name: str | None, limit: Any = None, field: Any = None) -> str:
    return coordinate_of(limit._owner, limit.joint, name).name


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Limit(AbstractJointForce):
    """End stops on a coordinate of a joint: a force, or torque, that pushes back where it is below `low`, above `high`.

    With the depth d behind the stop it is k d^n (1 + a ddot) on `b`, and the opposite one on `a`, by Hunt and Crossley
    [HC75], and zero where that would pull. With n = 1 and no damping the stop is a linear spring; with n > 1 the law
    has a continuous derivative at the stop, too, which implicit solvers with large steps like better. Its work is
    counted in ``solution.energy.work``; it has no part in the potential.

    Parameters
    ----------
    joint : AbstractJoint
        With coordinates: revolute (`angle`), prismatic (`displacement`), cylindrical, planar, universal.
    low, high : float, optional
        rad or m; one of them or both. The angle counts full turns, by the internal state "limit-1.phi".
    stiffness : float
        k, N m/rad^n or N/m^n.
    exponent, damping, restitution, impact_velocity : float
        n, a, e and its velocity as of `Contact`, in rad or m; by default n = 1 and a = 0.
    coordinate : str, optional
        The name of the coordinate, if the joint has several: "angle", "displacement", "x", ...
    """

    low: float | None = attrs.field(default=None, converter=_low)
    high: float | None = attrs.field(default=None, converter=_high)
    stiffness: float = attrs.field(converter=_check.size, kw_only=True)
    exponent: float = attrs.field(default=1.0, converter=_exponent, kw_only=True)
    restitution: float | None = attrs.field(default=None, converter=_restitution, kw_only=True)
    impact_velocity: float | None = attrs.field(default=None, converter=_check.optional_size, kw_only=True)
    damping: float = attrs.field(default=None, converter=_damping, kw_only=True)
    coordinate: str = attrs.field(default=None, converter=_coordinate, kw_only=True)

    @property
    def symbol(self) -> Symbol | None:
        joint, stops = self.joint, [end for end in (self.low, self.high) if end is not None]
        if self.coordinate != "displacement" or not isinstance(joint, AbstractAxialJoint):
            return None
        return Symbol("stops", tuple((joint.a, joint.at_a + end * joint.axis_a) for end in stops), axis=joint.axis_a)

    def acts_along(self) -> tuple[Coordinate]:
        return (coordinate_of(self._owner, self.joint, self.coordinate),)

    def elements(self) -> tuple[AnyElement, ...]:
        (of,) = self.acts_along()
        ends = [end for end in (self.low, self.high) if end is not None]
        p = [self.stiffness, self.exponent, self.damping, *ends]
        maker = _above if self.low is None else _below if self.high is None else _between
        return (along(of, load=law_of(1, "the force of its stops", maker, *p)),)


@of_numbers
def _below(s: Any, v: Any, k: Any, n: Any, a: Any, low: Any) -> tuple[Any]:
    return (_pressing(low - s[0], -v[0], k, n, a),)


@of_numbers
def _above(s: Any, v: Any, k: Any, n: Any, a: Any, high: Any) -> tuple[Any]:
    return (-_pressing(s[0] - high, v[0], k, n, a),)


@of_numbers
def _between(s: Any, v: Any, k: Any, n: Any, a: Any, low: Any, high: Any) -> tuple[Any]:
    return (_pressing(low - s[0], -v[0], k, n, a) - _pressing(s[0] - high, v[0], k, n, a),)
