"""Dry friction of a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Literal, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.base import near
from rbdae.forces.dry_friction import VELOCITY, friction_along, friction_over
from rbdae.forces.element import AnyElement, Element, TimeFunction, UnderReaction, time_function
from rbdae.forces.forms import along, together
from rbdae.forces.joint_force import AbstractJointForce, coordinate_of, describe_force, describe_joint, with_axis
from rbdae.forces.motion_law import MotionLaw
from rbdae.inputs import Input
from rbdae.joints.base import AbstractJoint
from rbdae.laws.law import Filling
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity

_FLOOR = 1e-6
_ONE = TimeFunction(_check.frozen(np.ones(1)))


@final
@attrs.frozen(eq=False, init=False, kw_only=True)
class Coulomb(AbstractJointForce):
    """Coulomb friction on a free motion of a joint under a normal force N, regularised.

    On `b`, and the opposite on `a`, with the rate v of the displacement, or omega of the angle:

        force along the axis    -mu N tanh(v / v0)
        in a plane              -mu N tanh(|v| / v0) v / |v|
        torque about the axis   -mu N r tanh(r omega / v0)

    v0 is the velocity up to which friction is viscous: at v0 it has 0.76 of its size, at 3 v0 0.995. In place of
    sticking under a load F < mu N a joint creeps, with v0 artanh(F / (mu N)). The smaller v0 is, the stiffer are the
    equations: mu N / (m v0) is the rate of the fastest motion. [PRSV16] compares such laws with others.

    N is given, or the size of the joint's own constraint force R(q, la), which the friction changes in turn. Two
    bearings at a distance `length` along the axis take the moment M about the joint's point of `b`, too, with
    c = M x axis / length:

        N = |R|,    or with a length    N = |R / 2 + c| + |R / 2 - c|

    after [HWY86]. Forms with multipliers have R(q, la) in their equations; others solve for N at every state. If
    friction is so large that N or the accelerations do not exist or are not unique (Painleve's paradox), formulating
    raises ValueError, and a run ends with the names of the joints.

    Parameters
    ----------
    joint : AbstractJoint
        With coordinates: revolute and prismatic have one; in a planar joint it slides in the plane if no coordinate is
        named.
    mu : float
        Coefficient of friction.
    normal : float, Input, callable or ``"reaction"``
        N, the normal force: a number that is not negative, an input of the system, or a function of the time (plain
        Python), whose values must not be negative; or that of the joint's own reaction, which then has to be unique.
    radius : float, optional
        r of the bearing, m; needed for turning.
    velocity : float
        v0 in m/s, where the surfaces slide.
    length : float, optional
        The distance of the bearings along the axis, m; without it moments do not count. Of reactions only.
    floor : float
        Smooths the size of a reaction where it vanishes: |h| is the root of h . h + (floor / 2)^2, of a whole reaction
        that of h . h + floor^2, N. Of reactions only.
    coordinate : str, optional
        The name of the coordinate, if the joint has several: "angle", "displacement", ...
    name : str, optional
        Unique among the forces of the system; without it the system chooses "coulomb-1" and so on.
    """

    mu: float
    normal: TimeFunction | str
    radius: float | None
    velocity: float
    length: float | None
    floor: float | None
    along: tuple[str, ...]

    def __init__(
        self,
        joint: AbstractJoint,
        mu: float,
        *,
        normal: float | Input | Callable[[float], Any] | Literal["reaction"],
        radius: float | None = None,
        velocity: float = VELOCITY,
        length: float | None = None,
        floor: float | None = None,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Coulomb", joint, name)
        law = _normal(owner, normal)
        if isinstance(law, TimeFunction):
            for what, value in (("length", length), ("floor", floor)):
                if value is not None:
                    raise ValueError(f"{owner}: {what} belongs to normal='reaction'; leave it out")
        else:
            floor = _FLOOR if floor is None else _check.positive(owner, "floor", floor, "give e.g. 1e-6")
        if length is not None:
            with_axis(owner, joint)
            length = _check.positive(owner, "length", length, "give e.g. 0.1")
        if coordinate is None and "plane" in joint.free_motions:
            of = [each for each in joint.coordinates() if each.unit == "m"]
        else:
            of = [coordinate_of(owner, joint, coordinate)]
        turns = of[0].unit == "rad"
        if turns and radius is None:
            raise ValueError(f"{owner}: {describe_joint(joint)} turns; give radius=, that of its bearing, e.g. 0.01")
        if not turns and radius is not None:
            raise ValueError(f"{owner}: {describe_joint(joint)} slides, without a radius; leave it out")
        self.__attrs_init__(
            joint=joint,
            mu=_check.not_negative(owner, "mu", mu),
            normal=law,
            radius=None if radius is None else _check.positive(owner, "radius", radius, "give e.g. 0.01"),
            velocity=_check.positive(owner, "velocity", velocity, "give e.g. 1e-3"),
            length=length,
            floor=floor,
            along=tuple(each.name for each in of),
            name=name,
        )

    def acts_along(self) -> tuple[Coordinate, ...]:
        """The coordinates along which it slides."""
        return tuple(each for each in self.joint.coordinates() if each.name in self.along)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The quantities of its coordinates, and ``normal``, N, of a reaction."""
        found = super().quantities
        if isinstance(self.normal, TimeFunction):
            return found
        return found | {"normal": Quantity(self, "normal", "N", aspect="normal")}

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        of = self.acts_along()
        given, reaction = self.normal, None
        if not isinstance(given, TimeFunction):
            assert self.floor is not None
            given, reaction = _ONE, UnderReaction(self.joint, self.length, self.floor)
        users = () if given.function is None else (given.function,)
        constant = [] if users or given.inputs else [given.constant[0]]
        p = np.array([self.mu, self.velocity, 1.0 if self.radius is None else self.radius, *constant])
        place = np.concatenate([near(each, self.joint.bodies) for each in of])
        law = MotionLaw("normal", users, _in_a_plane if len(of) == 2 else _along, place, p, inputs=given.inputs)
        return (replace(_element(of, law), reaction=reaction),)


def _normal(owner: str, normal: Any) -> TimeFunction | str:
    """A given normal force, or "reaction"."""
    if isinstance(normal, str):
        if normal != "reaction":
            raise ValueError(
                f"{owner}: normal must be a number, a function of the time, or 'reaction', got {_check.show(normal)}"
            )
        return normal
    law = time_function(owner, "normal", normal)
    if law.function is None:
        _check.not_negative(owner, "normal", law.inputs[0].value if law.inputs else float(law.constant[0]))
    return law


def _element(of: Sequence[Coordinate], law: MotionLaw) -> Element:
    return along(of[0], u=law) if len(of) == 1 else together(of, law)


def _along(users: Sequence[Callable[..., Any]]) -> Filling:
    """The law on one coordinate. N, without a function, is the number after the constants or the input."""

    def law(t: float, x: Vec, out: Vec) -> None:
        mu, v0, radius = x[2], x[3], x[4]
        normal = users[0](t) if users else x[5]
        out[0] = -mu * normal * radius * friction_along(radius * x[1], v0)

    return law


def _in_a_plane(users: Sequence[Callable[..., Any]]) -> Filling:
    """The law on two displacements."""

    def law(t: float, x: Vec, out: Vec) -> None:
        v, mu, v0 = [x[2], x[3]], x[4], x[5]
        normal = users[0](t) if users else x[7]
        f = -mu * normal * friction_over(v, v0)
        out[0] = f * v[0]
        out[1] = f * v[1]

    return law


__all__ = ["Coulomb"]
