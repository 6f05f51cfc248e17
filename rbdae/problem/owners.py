"""The joints and forces of a model as owners of quantities, and where these are found."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae.multibody.model import Model
from rbdae.problem.coordinate_reader import OnBodies
from rbdae.problem.measured import Units
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """A joint or a force.

    Attributes
    ----------
    name, quantities, units : of the joint or force, and of its quantities by name
    bodies : its two bodies by number, the ground is the last
    coordinates : the numbers of its coordinates by name
    joints : numbers of the joints whose reactions are among its efforts, of each coordinate by name: drives along it
    elements : numbers among bushings and elements, of the forces whose efforts are its own
    number : its own among joints, -1 for a force
    """

    name: str
    quantities: dict[str, Quantity]
    units: Units
    bodies: tuple[int, int]
    coordinates: dict[str, int]
    joints: dict[str, tuple[int, ...]]
    elements: tuple[int, ...]
    number: int = -1

    @property
    def kind(self) -> str:
        """The attribute of problems and runs that has it."""
        return "forces" if self.number < 0 else "joints"


@final
class Owners:
    """All of a model.

    Attributes
    ----------
    joints, forces : by name
    coordinates : of all of them
    """

    def __init__(self, model: Model) -> None:
        self._system = system = model.system
        self.coordinates: list[OnBodies] = []
        self.joints: dict[str, Owner] = {}
        self.forces: dict[str, Owner] = {}
        number = {id(body): k for k, body in enumerate((*system.bodies, system.ground))}
        elements = _elements(model)
        pairs = [packed.bodies for packed in model.joints]
        prescribed = [(k, joint.prescribed()) for k, joint in enumerate(system.joints)]
        for k, joint in enumerate(system.joints):
            own = [each for j, each in prescribed if j == k and each is not None]
            found = [*joint.coordinates(), *own]
            along = {
                c.name: tuple(j for j, each in prescribed if pairs[j] == pairs[k] and _same(each, c)) for c in found
            }
            acting = [n for force in system.forces if _acts_along(force, joint) for n in elements[force.name or ""]]
            self.joints[joint.name or ""] = self._owner(joint, pairs[k], found, along, acting, k)
        for force in system.forces:
            first, *rest = (number[id(body)] for body in force.bodies)
            pair = (first, rest[0] if rest else len(system.bodies))
            own = list(force.coordinates())
            mine = elements[force.name or ""]
            self.forces[force.name or ""] = self._owner(force, pair, own, {c.name: () for c in own}, mine)

    def _owner(
        self,
        of: Any,
        pair: tuple[int, int],
        found: list[Coordinate],
        along: dict[str, tuple[int, ...]],
        elements: Iterable[int],
        number: int = -1,
    ) -> Owner:
        first = len(self.coordinates)
        self.coordinates += [(c, pair) for c in found]
        places = {c.name: first + k for k, c in enumerate(found)}
        quantities = of.quantities
        units = {name: (each.unit, each.components) for name, each in quantities.items()}
        return Owner(of.name, quantities, units, pair, places, along, tuple(elements), number)

    def find(self, quantity: object) -> tuple[Owner, Quantity]:
        """The owner of a quantity here, and what it is called there; by the object or by its label, "pin.angle".

        Raises
        ------
        ValueError, TypeError
            for what this system has not
        """
        if isinstance(quantity, Quantity):
            name = self._system.name_of(quantity.owner)
            if name is None:
                raise ValueError(
                    f"{quantity.label}: its {type(quantity.owner).__name__} is not in the system of this problem; add "
                    "it with add_joint or add_force before rbdae.formulate, or give the label, such as 'pin.angle'"
                )
            table = self.joints if hasattr(quantity.owner, "primitives") else self.forces
            owner = table[name]
            return owner, owner.quantities[quantity.name]
        if not isinstance(quantity, str):
            raise TypeError(f"a quantity is e.g. pin.angle or 'pin.angle', got {_check.show(quantity)}")
        labels = {f"{o.name}.{q}": (o, each) for o in self._all() for q, each in o.quantities.items()}
        if quantity not in labels:
            raise _check.unknown("quantity", quantity, labels)
        return labels[quantity]

    def _all(self) -> list[Owner]:
        return [*self.forces.values(), *self.joints.values()]


def _same(one: Coordinate | None, other: Coordinate) -> bool:
    return one is not None and one.shape == other.shape and np.array_equal(one.forms, other.forms)


def _acts_along(force: Any, joint: Any) -> bool:
    return getattr(force, "joint", None) is joint


def _elements(model: Model) -> dict[str, list[int]]:
    """The numbers of the bushings and elements of each force by name, in the order of the kernels."""
    from rbdae.forces.element import PointSpring

    out: dict[str, list[int]] = {}
    bushings, others = 0, len(model.bushings)
    for force in model.system.forces:
        mine = out.setdefault(force.name or "", [])
        for element in force.elements():
            if isinstance(element, PointSpring):
                mine.append(bushings)
                bushings += 1
            else:
                mine.append(others)
                others += 1
    return out


__all__ = ["Owner", "Owners"]
