"""`Quantity`: a number of a mechanism by its owner and name, for events, outputs, laws and tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, final

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
"""Meaning of a quantity. With a coordinate: s, sdot, sddot, the torque or force along it, its power. Without one:
angle, axis and angular velocity of the relative rotation, torque on the second body, force on the first body, power of
everything, normal force of friction; "own" for an output of an actuator."""


@final
@dataclass(frozen=True, slots=True)
class Quantity:
    """The name of a number of a mechanism, such as ``pin.angle``; a problem or a run gives its values.

    Attributes
    ----------
    owner : its joint, force or actuator
    name : "angle"
    unit : "rad"
    coordinate : name of the owner's coordinate from which it follows; "" if it belongs to no coordinate
    aspect : its meaning for this coordinate
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
    """Quantities by name that follow from an owner's coordinates.

    For one coordinate: its name, ``rate``, ``acceleration``, ``torque`` (or ``force``), ``power``. For several, rates,
    accelerations and powers are prefixed with its name (``angle_rate``), and so are torques or forces if there are
    several (``x_force``).
    """
    efforts = Counter(each.effort_unit for each in coordinates)
    out: dict[str, Quantity] = {}
    for each in coordinates:
        front = "" if len(coordinates) == 1 else f"{each.name}_"
        effort = "torque" if each.unit == "rad" else "force"
        rows: tuple[tuple[str, str, Aspect], ...] = (
            (each.name, each.unit, "value"),
            (f"{front}rate", f"{each.unit}/s", "rate"),
            (f"{front}acceleration", f"{each.unit}/s^2", "acceleration"),
            (effort if efforts[each.effort_unit] == 1 else f"{each.name}_{effort}", each.effort_unit, "effort"),
            (f"{front}power", "W", "power"),
        )
        out |= {name: Quantity(owner, name, unit, each.name, aspect) for name, unit, aspect in rows}
    return out


def of_rotation(owner: Any) -> dict[str, Quantity]:
    """The quantities of a free relative rotation, by name."""
    rows: tuple[tuple[str, str, Aspect, str], ...] = (
        ("angle", "rad", "turn", ""),
        ("axis", "", "axis", "123"),
        ("angular_velocity", "rad/s", "spin", "123"),
        ("torque", "N m", "moment", "123"),
        ("power", "W", "work", ""),
    )
    return {name: Quantity(owner, name, unit, "", aspect, more) for name, unit, aspect, more in rows}


def named(owner: Any, name: str) -> Quantity:
    """One of an owner's quantities. Raises ValueError for an unknown name."""
    quantities: dict[str, Quantity] = owner.quantities
    if name not in quantities:
        kind = type(owner).__name__
        if not quantities:
            raise ValueError(f"{kind} has no quantities, got the name {_check.show(name)}; see problem.reactions")
        raise _check.unknown(f"quantity of {kind}", name, quantities)
    return quantities[name]
