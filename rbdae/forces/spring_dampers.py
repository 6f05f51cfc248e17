"""A spring with a damper and a load between two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.forces.base import AbstractPairForce, Symbol, law_along
from rbdae.forces.element import AnyElement, along
from rbdae.forces.motion_law import NONE, Load
from rbdae.inputs import Input
from rbdae.quantities.coordinate import Coordinate, distance


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class SpringDamper(AbstractPairForce):
    """Spring, damper and actuator along the line between two points.

    With l the distance of the points, the tension (which pulls them together) is

        f = stiffness (l - length) + damping ldot + force(t).

    The potential is stiffness (l - length)^2 / 2, plus force l if that is constant. The points must not meet: the line
    would have no direction (`rbdae.forces.Bushing` has no such limit).

    Parameters
    ----------
    a, b : Body
        Without b, the ground.
    stiffness, damping : float
        N/m and N s/m.
    length : float
        Free length, m.
    force : float, Input or callable, optional
        Tension of an actuator, N: a number, a function (t), or a law (t, length, rate) of the distance of the points
        (m) and its rate (m/s), with `inputs`, as of `rbdae.forces.Motor`.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    stiffness: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    damping: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    length: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    force: Load = attrs.field(default=NONE, converter=law_along, kw_only=True)

    def acts_along(self) -> tuple[Coordinate]:
        """The distance of the points; ``quantity("force")`` is the tension."""
        return (distance("length", self.at_a, self.at_b),)

    @property
    def symbol(self) -> Symbol:
        return Symbol("spring", tuple(zip(self.bodies, (self.at_a, self.at_b), strict=False)))

    def elements(self) -> tuple[AnyElement, ...]:
        numbers = {"stiffness": self.stiffness, "damping": self.damping, "rest": self.length}
        return (along(*self.acts_along(), load=self.force, sign=-1.0, **numbers),)
