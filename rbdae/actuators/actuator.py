"""`Actuator`: a torque or force along a coordinate, by a law with states and algebraic unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.actuators.block import Block
from rbdae.body import Body
from rbdae.forces.joint_forces import coordinate_of
from rbdae.joints.base import AbstractJoint
from rbdae.quantities.coordinate import Coordinate, distance
from rbdae.quantities.quantity import Quantity, of_coordinates


def _another_body(b: Body, points: Any = None, field: Any = None) -> Body:
    """The second body; checks both."""
    for side, body in (("a", points.a), ("b", b)):
        if not isinstance(body, Body):
            raise TypeError(f"Points: {side} must be a body, got {_check.show(body)}")
    if points.a is b:
        raise ValueError(f"Points: both are on body {b.name!r}; take two different bodies")
    return b


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Points:
    """Two points on two bodies; an actuator acts along their distance.

    Parameters
    ----------
    a, b : Body
    at_a, at_b : (3,) array_like
        The points in the body frames.
    """

    a: Body
    b: Body = attrs.field(converter=_another_body)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    _owner: ClassVar = "Points"

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The two bodies."""
        return self.a, self.b

    def coordinates(self) -> tuple[Coordinate]:
        """The distance."""
        return (distance("length", self.at_a, self.at_b),)


@attrs.frozen(eq=False, slots=False, init=False, repr=False)
class Actuator(Block):
    """A torque or force along a coordinate, by a law with states s and algebraic unknowns z::

        class DCMotor(rbdae.Actuator):
            states = {"current": 0.0}
            inputs = ("voltage",)
            parameters = {"resistance": 1.0, "inductance": 1e-3, "constant": 0.05}

            def law(self, t, q, qd, s, z, u, p):
                rate = (u.voltage - p.resistance * s.current - p.constant * qd) / p.inductance
                return p.constant * s.current, [rate]

        motor = system.add_force(DCMotor(pin, voltage=24.0, name="motor"))

    The law returns the torque or force on the joint's `b` along the coordinate (the opposite acts on `a`; a positive
    force between two points drives them apart), then sdot and g if there are states and algebraic unknowns. Angles
    count full turns; if the law depends on the angle, the turns are an additional state, ``"pin.turn"``.

    Parameters
    ----------
    along : joint, `Points`, or the quantity of a coordinate of a joint
        For a joint with several coordinates pass one of them: ``slider.displacement``.
    name, start, **values
        As for `Block`.
    """

    along: Any = attrs.field(init=False)
    coordinate_name: str = attrs.field(init=False)

    def __init__(
        self, along: Any, *, name: str | None = None, start: Mapping[str, float] | None = None, **values: Any
    ) -> None:
        super().__init__(name=name, start=start, **values)
        owner, chosen = self._owner_of(name), ""
        if isinstance(along, Quantity):
            if along.aspect != "value" or not isinstance(along.owner, AbstractJoint):
                raise ValueError(f"{owner}: {along!r} is no coordinate of a joint; pass e.g. pin.angle")
            along, chosen = along.owner, along.coordinate
        if not isinstance(along, (AbstractJoint, Points)):
            raise TypeError(
                f"{owner}: it acts along a joint, Points(a, b, at_a, at_b) or a coordinate such as pin.angle, got "
                f"{_check.show(along)}"
            )
        self._set(along=along, coordinate_name=coordinate_of(owner, along, chosen or None).name)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint, or of the points."""
        out: tuple[Body, ...] = self.along.bodies
        return out

    @property
    def coordinate(self) -> Coordinate:
        """The coordinate along which it acts."""
        found: Coordinate = next(each for each in self.along.coordinates() if each.name == self.coordinate_name)
        return found

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its own quantities, and the coordinate, its rate, the torque or force, and the power."""
        derived = of_coordinates(self, (self.coordinate,))
        return {**{name: each for name, each in derived.items() if each.aspect != "acceleration"}, **super().quantities}
