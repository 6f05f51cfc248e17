"""The joints and forces of a model as owners of quantities, and where these are found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae import _check
from rbdae.actuators.block import Actuator, Block
from rbdae.actuators.network import Network, elements_of
from rbdae.multibody.system.model import Model
from rbdae.problem.quantities import Units
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity
from rbdae.system import name_in


@final
@dataclass(frozen=True, slots=True, eq=False)
class Owner:
    """A joint or a force with its quantities, and coordinates of its two bodies (by number, the ground is the last), by
    name.

    Among its efforts are the reactions of `joints`, of drives along each coordinate, those of force `elements`, and of
    the `blocks`: actuators along it with the names of their coordinates, or the block that it is itself. All are
    numbers in the model; its own among joints is -1 for a force.
    """

    name: str
    quantities: dict[str, Quantity]
    bodies: tuple[int, int]
    coordinates: dict[str, Coordinate]
    joints: dict[str, tuple[int, ...]]
    elements: tuple[int, ...]
    number: int = -1
    blocks: tuple[tuple[Block, str], ...] = ()

    @property
    def kind(self) -> str:
        """The attribute of problems and runs that has it."""
        return "forces" if self.number < 0 else "joints"

    @property
    def units(self) -> Units:
        """Unit and components of each quantity by name."""
        return {name: (each.unit, each.components) for name, each in self.quantities.items()}


@final
class Owners:
    """All of a model: joints and forces by name, and networks with the number of the element of each."""

    def __init__(self, model: Model) -> None:
        self._system = system = model.system
        self.joints: dict[str, Owner] = {}
        self.forces: dict[str, Owner] = {}
        number = {id(body): k for k, body in enumerate((*system.bodies, system.ground))}
        elements: dict[str, list[int]] = {force.name or "": [] for force in system.forces}
        self.networks: list[tuple[Network, int]] = []
        for n, (of, _, _) in enumerate(elements_of(system.forces, system.joints)):  # in the order of the kernels
            if isinstance(of, Network):
                self.networks.append((of, n))
            else:
                elements[of.name or ""].append(n)
        actuators = [each for network, _ in self.networks for each in network.blocks if isinstance(each, Actuator)]
        pairs = [packed.bodies for packed in model.joints]
        prescribed = [(k, joint.prescribed()) for k, joint in enumerate(system.joints)]
        for k, joint in enumerate(system.joints):
            drives = [(j, each) for j, each in prescribed if pairs[j] == pairs[k] and each is not None]
            own = [each for j, each in drives if j == k]
            found = {c.name: c for c in (*joint.coordinates(), *own)}
            along = {
                name: tuple(j for j, d in drives if d.shape == c.shape and np.array_equal(d.products, c.products))
                for name, c in found.items()
            }
            acting = [
                n
                for force in system.forces
                if getattr(force, "joint", None) is joint
                for n in elements[force.name or ""]
            ]
            driving = tuple((each, each.coordinate_name) for each in actuators if each.along is joint)
            name = joint.name or ""
            self.joints[name] = Owner(name, joint.quantities, pairs[k], found, along, tuple(acting), k, driving)
        for force in system.forces:
            a, b = [*(number[id(body)] for body in force.bodies), len(system.bodies), len(system.bodies)][:2]
            of_block = [force.coordinate] if isinstance(force, Block) and force.coordinate is not None else []
            found = {c.name: c for c in (*force.acts_along(), *of_block)}
            mine = ((force, of_block[0].name if of_block else ""),) if isinstance(force, Block) else ()
            name = force.name or ""
            along = dict.fromkeys(found, ())
            self.forces[name] = Owner(name, force.quantities, (a, b), found, along, tuple(elements[name]), -1, mine)

    def find(self, quantity: object) -> tuple[Owner, Quantity]:
        """The owner of a quantity here, and what it is called there; by the object or by its label, "pin.angle". Raises
        ValueError and TypeError for what this system has not."""
        if isinstance(quantity, Quantity):
            name = name_in(self._system, quantity.owner)
            if name is None:
                raise ValueError(
                    f"{quantity.label}: its {type(quantity.owner).__name__} is not in the system of this problem; add "
                    "it with add_joint or add_force before rbdae.formulate, or give the label, such as 'pin.angle'"
                )
            table = self.joints if hasattr(quantity.owner, "primitives") else self.forces
            owner = table[name]
            return owner, owner.quantities[quantity.name]
        if not isinstance(quantity, str):
            raise TypeError(
                f"quantity must be one of a joint or force, got {_check.show(quantity)}; pass e.g. pin.angle or "
                "'pin.angle'"
            )
        part, _, name = quantity.rpartition(".")
        for table in (self.joints, self.forces):
            if part in table and name in table[part].quantities:
                return table[part], table[part].quantities[name]
        owners = (*self.forces.values(), *self.joints.values())
        raise _check.unknown("quantity", quantity, [f"{o.name}.{name}" for o in owners for name in o.quantities])
