"""Dry friction of a joint."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import fill
from rbdae.forces.base import near
from rbdae.forces.dry_friction import VELOCITY, friction_along, friction_over
from rbdae.forces.element import AnyElement, Element, TimeFunction, not_negative, time_function
from rbdae.forces.forms import along, together
from rbdae.forces.joint_force import AbstractJointForce, coordinate_of, describe_force, describe_joint
from rbdae.forces.motion_law import MotionLaw
from rbdae.inputs import Input
from rbdae.joints.base import AbstractJoint
from rbdae.laws.law import Filling
from rbdae.quantities.coordinate import Coordinate


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Coulomb(AbstractJointForce):
    """Coulomb friction on a free motion of a joint under a given normal force N, regularised.

    On `b`, and the opposite on `a`, with the rate v of the displacement, or omega of the angle:

        force along the axis    -mu N tanh(v / v0)
        in a plane              -mu N tanh(|v| / v0) v / |v|
        torque about the axis   -mu N r tanh(r omega / v0)

    v0 is the velocity up to which friction is viscous: at v0 it has 0.76 of its size, at 3 v0 0.995. In place of
    sticking under a load F < mu N a joint creeps, with v0 artanh(F / (mu N)). The smaller v0 is, the stiffer are the
    equations: mu N / (m v0) is the rate of the fastest motion. [PRSV16] compares such laws with others.

    Parameters
    ----------
    joint : AbstractJoint
        With coordinates: revolute and prismatic have one; in a planar joint it slides in the plane if no coordinate is
        named.
    mu : float
        Coefficient of friction.
    normal : float, Input or callable
        N, the normal force: a number that is not negative, an input of the system, or a function of the time (plain
        Python), whose values must not be negative.
    radius : float, optional
        r of the bearing, m; needed for turning.
    velocity : float
        v0 in m/s, where the surfaces slide.
    coordinate : str, optional
        The name of the coordinate, if the joint has several: "angle", "displacement", ...
    name : str, optional
        Unique among the forces of the system; without it the system chooses "coulomb-1" and so on.
    """

    joint: AbstractJoint
    mu: float
    normal: TimeFunction
    radius: float | None
    velocity: float
    along: tuple[str, ...]
    name: str | None

    def __init__(
        self,
        joint: AbstractJoint,
        mu: float,
        *,
        normal: float | Input | Callable[[float], Any],
        radius: float | None = None,
        velocity: float = VELOCITY,
        coordinate: str | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Coulomb", joint, name)
        law = time_function(owner, "normal", normal)
        if law.function is None:
            not_negative(owner, "normal", law.inputs[0].value if law.inputs else float(law.constant[0]))
        if coordinate is None and "plane" in joint.free_motions:
            of = [each for each in joint.coordinates() if each.unit == "m"]
        else:
            of = [coordinate_of(owner, joint, coordinate)]
        turns = of[0].unit == "rad"
        if turns and radius is None:
            raise ValueError(f"{owner}: {describe_joint(joint)} turns; give radius=, that of its bearing, e.g. 0.01")
        if not turns and radius is not None:
            raise ValueError(f"{owner}: {describe_joint(joint)} slides, without a radius; leave it out")
        fill(
            self,
            joint=joint,
            mu=not_negative(owner, "mu", mu),
            normal=law,
            radius=None if radius is None else _check.positive(owner, "radius", radius, "give e.g. 0.01"),
            velocity=_check.positive(owner, "velocity", velocity, "give e.g. 1e-3"),
            along=tuple(each.name for each in of),
            name=name,
        )

    def acts_along(self) -> tuple[Coordinate, ...]:
        """The coordinates along which it slides."""
        return tuple(each for each in self.joint.coordinates() if each.name in self.along)

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        of = self.acts_along()
        users = () if self.normal.function is None else (self.normal.function,)
        constant = [] if users or self.normal.inputs else [self.normal.constant[0]]
        p = np.array([self.mu, self.velocity, 1.0 if self.radius is None else self.radius, *constant])
        place = np.concatenate([near(each, self.joint.bodies) for each in of])
        law = MotionLaw("normal", users, _in_a_plane if len(of) == 2 else _along, place, p, inputs=self.normal.inputs)
        return (_element(of, law),)


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
