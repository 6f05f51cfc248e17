"""`Quantity`: a number of a mechanism by its owner and name, for events, outputs, laws and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final, overload

from rbdae import _check
from rbdae.quantities.coordinate import Coordinate

Aspect: TypeAlias = Literal[
    "value",
    "rate",
    "acceleration",
    "effort",
    "power",
    "turn",
    "axis",
    "spin",
    "moment",
    "pull",
    "work",
    "normal",
    "own",
]
"""What a quantity is of its coordinate: s, sdot, sddot, the torque or force along it, the power of that. Without a
coordinate: the angle, the axis and the angular velocity of the relative rotation, the torque on the second body, the
force on the first one, the power of everything, the normal force of friction; "own" for an output of an actuator."""


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """A number that a mechanism has at a state, such as ``pin.angle``. It is a name; a problem or a run has the value.

    Attributes
    ----------
    owner : the joint, force or actuator that has it
    name : "angle"
    unit : "rad"
    coordinate : the name of the coordinate of its owner from which it follows; "" for one that belongs to none
    aspect : what it is of that coordinate
    components : names of the components of a vector; "" for a number
    """

    owner: Any
    name: str
    unit: str
    coordinate: str = ""
    aspect: Aspect = "own"
    components: str = ""

    @property
    def label(self) -> str:
        """ "pin.angle"; "Revolute.angle" while its owner has no name."""
        return f"{self.owner.name or type(self.owner).__name__}.{self.name}"

    def __repr__(self) -> str:
        return f"Quantity({self.label} [{self.unit}])"


def of_coordinates(owner: Any, coordinates: Sequence[Coordinate]) -> dict[str, Quantity]:
    """The quantities that follow from coordinates of one owner, by name.

    Of one coordinate: its name, ``rate``, ``acceleration``, ``torque`` (or ``force``), ``power``. Of several, rates,
    accelerations and powers have its name in front (``angle_rate``), torques and forces if there are more of them
    (``x_force``).
    """
    efforts = Counter(each.effort_unit for each in coordinates)
    out: dict[str, Quantity] = {}
    for each in coordinates:
        front = "" if len(coordinates) == 1 else f"{each.name}_"
        effort = "torque" if each.unit == "rad" else "force"
        known: tuple[tuple[str, str, Aspect], ...] = (
            (each.name, each.unit, "value"),
            (f"{front}rate", each.rate_unit, "rate"),
            (f"{front}acceleration", f"{each.unit}/s^2", "acceleration"),
            (effort if efforts[each.effort_unit] == 1 else f"{each.name}_{effort}", each.effort_unit, "effort"),
            (f"{front}power", "W", "power"),
        )
        out |= {name: Quantity(owner, name, unit, each.name, aspect) for name, unit, aspect in known}
    return out


def of_rotation(owner: Any) -> dict[str, Quantity]:
    """The quantities of a free relative rotation, by name."""
    known: tuple[tuple[str, str, Aspect, str], ...] = (
        ("angle", "rad", "turn", ""),
        ("axis", "", "axis", "123"),
        ("angular_velocity", "rad/s", "spin", "123"),
        ("torque", "N m", "moment", "123"),
        ("power", "W", "work", ""),
    )
    return {name: Quantity(owner, name, unit, "", aspect, more) for name, unit, aspect, more in known}


def named(owner: Any, name: str) -> Quantity:
    """One of the quantities of an owner. Raises ValueError for a name that it has not."""
    known: dict[str, Quantity] = owner.quantities
    if name not in known:
        kind = type(owner).__name__
        if not known:
            raise ValueError(f"{kind} has no quantities, got the name {_check.show(name)}; see problem.reactions")
        raise _check.unknown(f"quantity of {kind}", name, known)
    return known[name]


@final
class Named:
    """An attribute of a class whose value is the quantity of this name: ``angle = Named()``."""

    def __init__(self, doc: str = "") -> None:
        self.__doc__ = doc

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, instance: None, owner: type) -> Named: ...
    @overload
    def __get__(self, instance: object, owner: type) -> Quantity: ...
    def __get__(self, instance: Any, owner: type) -> Named | Quantity:
        """The quantity; the attribute itself of the class."""
        return self if instance is None else instance.quantity(self.name)
