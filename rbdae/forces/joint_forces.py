"""Forces along the motions that a joint leaves free: their common part, motors, and springs with dampers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import attrs

from rbdae import _check
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce, Symbol, law_along
from rbdae.forces.element import NONE, AnyElement, Load, along, load
from rbdae.inputs import Input
from rbdae.joints.base import AbstractJoint
from rbdae.quantities.coordinate import Coordinate


def _joint(joint: AbstractJoint, force: Any = None, field: Any = None) -> AbstractJoint:
    describe_force(type(force).__name__, joint, force.name)
    return joint


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractJointForce(AbstractForce):
    """A force between the bodies of a joint."""

    joint: AbstractJoint = attrs.field(converter=_joint)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the joint."""
        return self.joint.bodies


def describe_force(kind: str, joint: object, name: str | None) -> str:
    """The name in error messages of a force along a joint. Raises unless it is a joint."""
    if not isinstance(joint, AbstractJoint):
        raise TypeError(
            f"force {kind}: it takes a joint such as rbdae.joints.Revolute(a, b), got {_check.show(joint)} of type "
            f"{type(joint).__name__}"
        )
    return describe("force", kind, joint.a, joint.b, name)


def coordinate_of(owner: str, joint: Any, name: str | None, unit: str | None = None) -> Coordinate:
    """The coordinate of a joint by its name, or its only one, in this unit if one is wanted. Raises ValueError if there
    is none, or several."""
    known: dict[str, Coordinate] = {each.name: each for each in joint.coordinates() if unit in (None, each.unit)}
    if not known:
        able = {"rad": "revolute", "m": "prismatic"}.get(unit or "", "revolute and prismatic")
        in_unit = "" if unit is None else f" in {unit}"
        raise ValueError(f"{owner}: {describe_joint(joint)} has no coordinate{in_unit} to act on; {able} ones do")
    if name is None and len(known) > 1:
        raise ValueError(f"{owner}: {describe_joint(joint)} has the coordinates {', '.join(known)}; name one of them")
    if name is not None and not (isinstance(name, str) and name in known):
        raise ValueError(f"{owner}: {_check.unknown('coordinate', name, known)}")
    return known[name or next(iter(known))]


def describe_joint(joint: Any) -> str:
    """A joint in messages."""
    return f"joint {joint.name!r}" if joint.name is not None else f"joint {type(joint).__name__}"


def _load(value: Any, motor: Any = None, field: Any = None) -> Load | None:
    if value is None:
        return None
    of = coordinate_of(motor._owner, motor.joint, motor.coordinate, "rad" if field.name == "torque" else "m")
    return load(motor._owner, field.name, value, of, motor.inputs)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Motor(AbstractJointForce):
    """Torque about, or force along, the axis or another coordinate of a joint: on its `b`, and the opposite on `a`.

    Parameters
    ----------
    joint : AbstractJoint
        With an angle (revolute, cylindrical, planar, screw) for a torque, with a displacement (prismatic, cylindrical)
        for a force.
    torque : float, Input or callable
        N m: a number, an input of the system, a function (t), or a law (t, angle, rate) of the joint's angle (rad) and
        its rate (rad/s), such as ``lambda t, angle, rate: -2.0 * rate + sin(angle)``; plain Python, or compiled by
        numba.
    force : float, Input or callable
        N, as the torque, of the joint's displacement (m) and its rate (m/s). Exactly one of the two.
    inputs : mapping, optional
        Names and inputs of the system that the law reads: with ``inputs={"gain": system.add_input("gain")}`` the law is
        one of (t, angle, rate, u), such as ``lambda t, angle, rate, u: -u.gain * rate``.
    coordinate : str, optional
        The name of the coordinate on which it acts, if the joint has several: "x" or "y" of a planar joint (force),
        "angle_a" or "angle_b" of a universal one (torque).

    Notes
    -----
    A law of the motion is recorded or called, with exact derivatives (`rbdae.laws`); for one that makes floats of its
    arguments see `rbdae.forces.CalledBack`. The angle counts full turns: a law that depends on it has an internal
    state, the winding, by the name "motor-1.phi", as that of `rbdae.forces.TorsionalSpringDamper`.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    coordinate: str | None = attrs.field(default=None, kw_only=True)
    torque: Load | None = attrs.field(default=None, converter=_load, kw_only=True)
    force: Load | None = attrs.field(default=None, converter=_load, kw_only=True)

    def __attrs_post_init__(self) -> None:
        if (self.torque is None) == (self.force is None):
            raise ValueError(f"{self._owner}: give either torque= (about the axis) or force= (along it)")

    def acts_along(self) -> tuple[Coordinate]:
        unit = "rad" if self.force is None else "m"
        return (coordinate_of(self._owner, self.joint, self.coordinate, unit),)

    @property
    def symbol(self) -> Symbol | None:
        (of,), joint = self.acts_along(), self.joint
        if self.coordinate is not None:
            return None
        points = ((joint.a, joint.at_a), (joint.b, joint.at_b))
        return Symbol("arrow", points) if of.unit == "m" else Symbol("turn", points[:1], axis=of.axis)

    def elements(self) -> tuple[AnyElement, ...]:
        return (along(*self.acts_along(), load=self.torque or self.force or NONE),)


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractAxisSpring(AbstractJointForce):
    """A spring, a damper and a load along the angle or the displacement of a joint."""

    unit: ClassVar[str]

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    stiffness: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    damping: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)

    def __attrs_post_init__(self) -> None:
        self.acts_along()  # refuses joints without such a coordinate, or with several

    def acts_along(self) -> tuple[Coordinate]:
        return (coordinate_of(self._owner, self.joint, None, self.unit),)

    def _element(self, rest: float, load: Load) -> AnyElement:
        return along(*self.acts_along(), load=load, stiffness=self.stiffness, damping=self.damping, rest=rest)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class TorsionalSpringDamper(AbstractAxisSpring):
    """Torsional spring and damper about the axis of a joint.

    With phi the angle from the joint's `normal_a` to its `normal_b` about its axis, the torque on `b` about the axis is

        -stiffness (phi - angle) - damping phidot + torque(t),

    and the opposite one acts on `a`. The potential is stiffness (phi - angle)^2 / 2. With a stiffness full turns count.

    Parameters
    ----------
    joint : AbstractJoint
        With one angle: revolute, cylindrical, planar, screw.
    stiffness, damping : float
        N m/rad and N m s/rad.
    angle : float
        Of rest, rad.
    torque : float, Input or callable, optional
        N m: a number, a function (t), or a law (t, angle, rate), with `inputs`, as of `rbdae.forces.Motor`.

    Notes
    -----
    If the stiffness is not zero, or the law depends on the angle, the force has an internal state, the winding, an
    unknown of the problem by the name "torsion-1.phi". Its rate is that of the angle: the relative angular velocity
    about the axis. It selects the branch alone: the angle in the torque is that of the position, plus the full turns
    that bring it next to the winding. So the torque has no drift, and a state is everything that the next steps depend
    on.

    The winding starts as the angle in (-pi, pi]. For a spring that has been wound up by n turns at the start, lower
    `angle` by 2 pi n.
    """

    default_name: ClassVar = "torsion"

    unit: ClassVar[str] = "rad"

    angle: float = attrs.field(default=0.0, converter=_check.quantity, kw_only=True)
    torque: Load = attrs.field(default=NONE, converter=law_along, kw_only=True)

    @property
    def symbol(self) -> Symbol:
        return Symbol("coil", ((self.joint.a, self.joint.at_a),), axis=self.acts_along()[0].axis)

    def elements(self) -> tuple[AnyElement, ...]:
        return (self._element(self.angle, self.torque),)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class TranslationalSpringDamper(AbstractAxisSpring):
    """Spring and damper along the axis of a joint.

    With u = axis . (P_b - P_a), the displacement of the joint's point on `b` from that on `a`, the force on `b` along
    the axis is

        -stiffness (u - displacement) - damping udot + force(t),

    and the opposite one acts on `a`. The potential is stiffness (u - displacement)^2 / 2, minus force u if that is
    constant.

    Parameters
    ----------
    joint : AbstractJoint
        With one displacement: prismatic, cylindrical, point on line, screw.
    stiffness, damping : float
        N/m and N s/m.
    displacement : float
        Of rest, m.
    force : float, Input or callable, optional
        N: a number, a function (t), or a law (t, displacement, rate), with `inputs`, as of `rbdae.forces.Motor`.
    """

    default_name: ClassVar = "slide"

    unit: ClassVar[str] = "m"

    displacement: float = attrs.field(default=0.0, converter=_check.quantity, kw_only=True)
    force: Load = attrs.field(default=NONE, converter=law_along, kw_only=True)

    @property
    def symbol(self) -> Symbol:
        return Symbol("spring", ((self.joint.a, self.joint.at_a), (self.joint.b, self.joint.at_b)))

    def elements(self) -> tuple[AnyElement, ...]:
        return (self._element(self.displacement, self.force),)
