"""A spring and damper between two points."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractPairForce, near
from rbdae.forces.element import AnyElement, Load, TimeFunction, load, not_negative
from rbdae.forces.forms import distance
from rbdae.forces.motion_law import MotionLaw
from rbdae.forces.symbol import Symbol
from rbdae.inputs import Input
from rbdae.quantities import coordinate as coordinates
from rbdae.quantities.coordinate import Coordinate


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class SpringDamper(AbstractPairForce):
    """Spring, damper and actuator along the line between two points.

    With l the distance of the points, the tension (which pulls them together) is

        f = stiffness (l - length) + damping ldot + force(t).

    The potential is stiffness (l - length)^2 / 2, plus force l if that is constant. The points must not meet: the line
    would have no direction (`rbdae.forces.Bushing` has no such limit).

    Parameters
    ----------
    a : Body
    b : Body, optional
        Without it, the ground of the system to which the spring is added.
    stiffness, damping : float
        N/m and N s/m.
    length : float
        Free length, m.
    force : float, Input or callable, optional
        Tension of an actuator, N: a number, a function (t), or a law (t, length, rate) of the distance of the points
        (m) and its rate (m/s), as that of `rbdae.forces.Motor`.
    inputs : mapping, optional
        Names and inputs of the system that the law reads, as those of `rbdae.forces.Motor`.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "springdamper-1" and so on.
    """

    a: Body
    b: Body | None
    stiffness: float
    damping: float
    length: float
    force: TimeFunction | MotionLaw
    at_a: Vec
    at_b: Vec
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body | None = None,
        *,
        stiffness: float = 0.0,
        damping: float = 0.0,
        length: float = 0.0,
        force: Load = 0.0,
        inputs: Mapping[str, Input] | None = None,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> None:
        owner = describe("force", "SpringDamper", a, b, name)
        at_a, at_b = _check.vector(owner, "at_a", at_a), _check.vector(owner, "at_b", at_b)
        line = coordinates.distance("length", at_a, at_b)
        fill(
            self,
            a=a,
            b=b,
            stiffness=not_negative(owner, "stiffness", stiffness),
            damping=not_negative(owner, "damping", damping),
            length=not_negative(owner, "length", length),
            force=load(owner, "force", force, near(line, (a,) if b is None else (a, b)), ("length", "rate"), inputs),
            at_a=at_a,
            at_b=at_b,
            name=name,
        )

    def acts_along(self) -> tuple[Coordinate]:
        """The distance of the points; ``quantity("force")`` is the tension."""
        return (coordinates.distance("length", self.at_a, self.at_b),)

    @property
    def symbol(self) -> Symbol:
        """A spring between the points."""
        return Symbol("spring", tuple(zip(self.bodies, (self.at_a, self.at_b), strict=False)))

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (distance(self.at_a, self.at_b, self.stiffness, self.damping, self.length, self.force),)


__all__ = ["SpringDamper"]
