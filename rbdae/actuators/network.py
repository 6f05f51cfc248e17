"""Blocks and actuators that read each other, as one element by a function.

The unknowns of an element are those of its blocks, one block after the other: first all states, among them the turns of
angles, then all algebraic unknowns. An output of a block is computed where it is read. So blocks that depend on each
other are one system of equations, whose algebraic unknowns an ODE form eliminates together.

The turn phi of an angle a has phidot = adot. Laws get the angle phi + atan2(sin(a - phi), cos(a - phi)), which is a but
for full turns, without drift.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae.actuators.actuator import Actuator
from rbdae.actuators.block import Block
from rbdae.actuators.evaluation import Evaluation, Motion
from rbdae.actuators.given import readable
from rbdae.actuators.placed import placed
from rbdae.actuators.recorded_values import RecordedValues
from rbdae.actuators.sources import Owners, held_by
from rbdae.body import Body
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement, StateElement
from rbdae.inputs import Input
from rbdae.laws.law import Filling, NotRecorded, Users, recorded_law
from rbdae.laws.recorded import Composed
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
class Network:
    """Blocks that belong together.

    Attributes
    ----------
    blocks : in the order of the system
    names : of the unknowns, with the block's name before them: "motor.current"
    """

    def __init__(self, blocks: Sequence[Block], systems: Owners, by_position: set[Block]) -> None:
        self.blocks = tuple(blocks)
        self.owner_of = systems
        self._by_position = by_position
        self._bodies: list[Body] = []
        self._motions: dict[tuple[int, str], Motion] = {}
        self._turns: list[tuple[str, Coordinate, tuple[Body, Body]]] = []
        self._inputs: list[Input] = []
        for block in self.blocks:
            self._collect(block)
        self._lay_out()

    def _collect(self, block: Block) -> None:
        if block.coordinate is not None:
            self._add_motion(block, block.coordinate, unwound=block in self._by_position)
        for given in block.sources.values():
            source = self.resolved(given)
            if isinstance(source, Input):
                if source not in self._inputs:
                    self._inputs.append(source)
            elif isinstance(source, Quantity) and source.aspect in ("value", "rate"):
                owner = self.owner_of(source)
                self._add_motion(owner, _coordinate(owner, source), unwound=source.aspect == "value")

    def resolved(self, source: Any) -> Any:
        """A source; the input of the system for what a sampled controller holds."""
        return held_by(source, self.owner_of)

    def _add_motion(self, owner: Any, coordinate: Coordinate, *, unwound: bool) -> None:
        carrier = _carrier(owner, coordinate.name)
        key = (id(carrier), coordinate.name)
        known = self._motions.get(key)
        turn = -1 if known is None else known.turn
        if unwound and turn < 0 and coordinate.shape == "angle":
            turn = len(self._turns)
            label = f"{getattr(carrier, 'name', None) or owner.name}.{_turn_name(carrier, coordinate)}"
            self._turns.append((label, coordinate, carrier.bodies))
        places = []
        for body in carrier.bodies:
            if body not in self._bodies:
                self._bodies.append(body)
            places.append(self._bodies.index(body))
        a, b = carrier.bodies
        self._motions[key] = Motion(coordinate.referred(a.reference, b.reference), (places[0], places[1]), turn)

    def _lay_out(self) -> None:
        names = [label for label, _, _ in self._turns]
        start = [placed(coordinate, bodies) for _, coordinate, bodies in self._turns]
        self.states: dict[int, list[int]] = {}
        for block in self.blocks:
            first = len(names)
            self.states[id(block)] = list(range(first, first + block.n_states))
            names += [f"{block.name}.{each}" for each in block.states]
            start += [block.start[each] for each in block.states]
        self.n_differential = len(names)
        for block in self.blocks:
            first = len(names)
            self.states[id(block)] += range(first, first + len(block.algebraic))
            names += [f"{block.name}.{each}" for each in block.algebraic]
            start += [block.start[each] for each in block.algebraic]
        self.names, self.start = tuple(names), np.array(start, dtype=float)
        self.constants: dict[str, Any] = {}
        self.constants_at: dict[int, int] = {}
        for block in self.blocks:
            self.constants_at[id(block)] = len(self.constants)
            self.constants |= {f"{block.name}.{name}": value for name, value in block.constants.items()}

    # ------------------------------------------------------------ on numbers of any kind

    def element(self) -> StateElement:
        """The element."""
        return StateElement(
            Composed([*self.users.values()], self.law),
            None,
            self.names,
            self.start,
            algebraic=len(self.names) - self.n_differential,
            inputs=tuple(self._inputs),
            bodies=tuple(self._bodies),
            labelled=True,
            constants=self.constants,
        )

    @cached_property
    def users(self) -> dict[tuple[Block, str], Any]:
        """The laws and outputs of the blocks, and their inputs by functions of the time."""
        out: dict[tuple[Block, str], Any] = {}
        for block in self.blocks:
            out[block, "law()"] = block.law
            if block.outputs:
                out[block, "observe()"] = block.observe
            given = {name: self.resolved(source) for name, source in block.sources.items()}
            out |= {(block, name): each for name, each in given.items() if callable(each)}
        return out

    def law(self, users: Users) -> Filling:
        """Makes (F, sdot, g) of the element at x = (Z, Zdot, s, z, u, p), where the constants p may be left out."""
        n, k, named = 12 * len(self._bodies), len(self.names), dict(zip(self.users, users, strict=True))

        def law(t: Any, x: Any, out: Any) -> None:
            at = Evaluation(self, named, t, x)
            for i in range(n + k):
                out[i] = 0.0
            for motion in self._motions.values():
                if motion.turn >= 0:
                    out[n + motion.turn] = at.motion(motion)[1]
            for block in self.blocks:
                effort, rates, residuals = at.results(block)
                if effort is not None:
                    motion = self.motion_of(block)
                    gradient = at.gradient(motion)
                    for side in range(2):
                        for i in range(12):
                            place = 12 * motion.bodies[side] + i
                            out[place] = out[place] + effort * gradient[12 * side + i]
                for place, value in zip(self.states[id(block)], [*rates, *residuals], strict=True):
                    out[n + place] = value

        return law

    def values(self, users: Users, t: Any, x: Any) -> dict[tuple[Block, str], Any]:
        """Efforts, outputs, inputs and unknowns of all blocks at x = (Z, Zdot, s, z, u), by block and name."""
        at = Evaluation(self, dict(zip(self.users, users, strict=True)), t, x)
        out: dict[tuple[Block, str], Any] = {}
        for block in self.blocks:
            out |= {(block, name): value for name, value in at.outputs(block).items()}
            out |= {(block, name): value for name, value in zip(block.unknown_names, at.unknowns(block), strict=True)}
            out |= {(block, name): value for name, value in zip(block.inputs, at.inputs(block), strict=True)}
            effort = at.results(block)[0]
            if effort is not None:
                out[block, "effort"] = effort
                out[block, "value"], out[block, "rate"] = at.motion(self.motion_of(block))
        return out

    @cached_property
    def recorded_values(self) -> RecordedValues[tuple[Block, str]]:
        """`values` at many rows x."""
        keys: list[tuple[Block, str]] = []
        for block in self.blocks:
            keys += [(block, name) for name in (*block.observed_names, *block.unknown_names, *block.inputs)]
            keys += [(block, name) for name in ("effort", "value", "rate") if block.coordinate is not None]
        n_in = 24 * len(self._bodies) + len(self.names) + len(self._inputs)
        owner = " and ".join(str(block.name) for block in self.blocks)
        return RecordedValues(owner, [*self.users.values()], self.values, keys, n_in)

    def motion_of(self, block: Any) -> Motion:
        """The coordinate of an actuator."""
        return self._motions[id(block.along), block.coordinate.name]

    def source_motion(self, source: Quantity) -> Motion:
        """The coordinate of a quantity that a block reads."""
        owner = self.owner_of(source)
        return self._motions[id(_carrier(owner, source.coordinate)), source.coordinate]

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies of the element."""
        return tuple(self._bodies)

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs of the system that it reads."""
        return tuple(self._inputs)


def networks(forces: Iterable[AbstractForce], joints: Iterable[Any]) -> list[Network]:
    """The networks of a system: blocks that read each other's unknowns and outputs are in one, and so are those that
    read the same angle, whose turns are one state."""
    forces = list(forces)
    blocks = [force for force in forces if isinstance(force, Block)]
    if not blocks:
        return []
    owner_of = Owners([*forces, *joints])
    by_position = {block for block in blocks if _reads_position(block)}
    group = {block: [block] for block in blocks}
    readers: dict[Any, Block] = {}
    for block in blocks:
        if block in by_position:
            _join(group, block, readers.setdefault(_angle_of(block, block.coordinate), block))
        for key, given in block.sources.items():
            source = held_by(given, owner_of)
            if not isinstance(source, Quantity):
                continue
            readable(str(block.name), key, source)
            owner = owner_of(source)
            if source.aspect == "own":
                if not isinstance(owner, Block):
                    raise ValueError(f"{block.name!r} cannot read {source!r}: only blocks and actuators have it")
                _join(group, block, owner)
            elif source.aspect == "value" and _coordinate(owner, source).shape == "angle":
                _join(group, block, readers.setdefault(_angle_of(owner, _coordinate(owner, source)), block))
    members = {id(each): each for each in group.values()}
    return [Network([each for each in blocks if each in mine], owner_of, by_position) for mine in members.values()]


def _join(group: dict[Block, list[Block]], one: Block, other: Block) -> None:
    """Make one group of those of two blocks."""
    if group[one] is not group[other]:
        group[one] += group[other]
        for each in group[other]:
            group[each] = group[one]


def _angle_of(owner: Any, coordinate: Any) -> tuple[int, str]:
    """The owner of an angle, and the angle's name there."""
    return id(_carrier(owner, coordinate.name)), coordinate.name


def _carrier(owner: Any, name: str) -> Any:
    """The owner of a coordinate of an actuator, a force or a joint: the joint, if it is one of a joint."""
    if isinstance(owner, Actuator):
        return owner.along
    joint = getattr(owner, "joint", None) if isinstance(owner, AbstractForce) else None
    return joint if joint is not None and any(each.name == name for each in joint.coordinates()) else owner


def _coordinate(owner: Any, source: Quantity) -> Coordinate:
    """The coordinate of a quantity that a block reads."""
    if isinstance(owner, Block):
        found = [owner.coordinate]
    elif isinstance(owner, AbstractForce):
        found = [*owner.acts_along()]
    else:
        found = [*owner.coordinates(), owner.prescribed()]
    return next(each for each in found if each is not None and each.name == source.coordinate)


def _turn_name(carrier: Any, coordinate: Coordinate) -> str:
    return "turn" if len(carrier.coordinates()) < 2 else f"{coordinate.name}_turn"


def _reads_position(block: Block) -> bool:
    """Whether the law or the outputs of an actuator depend on its coordinate."""
    if block.coordinate is None or block.coordinate.shape != "angle":
        return False
    n = len(block.unknown_names) + len(block.inputs)
    size = 1 + block.n_states + len(block.algebraic) + len(block.outputs)

    def fill(users: Users) -> Filling:
        def call(t: Any, x: Any, out: Any) -> None:
            k = len(block.unknown_names)
            arguments = block.arguments(t, (x[0], x[1]), x[2 : 2 + k], x[2 + k :])
            effort, rates, residuals = block.results(users[0](*arguments))
            for i, value in enumerate([effort, *rates, *residuals, *block.observed(arguments, users[-1]).values()]):
                out[i] = value

        return call

    try:
        law = recorded_law([block.law, *([block.observe] if block.outputs else [])], fill, 2 + n, size)
    except NotRecorded:
        return True
    return law.reads(range(1))


def elements_of(
    forces: Sequence[AbstractForce], joints: Sequence[Any]
) -> Iterator[tuple[str, AnyElement, tuple[Body, ...]]]:
    """All elements of a system with the name of their force and their bodies; networks last."""
    for force in forces:
        for element in force.elements():
            yield force.name or "", element, force.bodies
    for network in networks(forces, joints):
        yield " and ".join(str(block.name) for block in network.blocks), network.element(), network.bodies


__all__ = ["Network", "elements_of", "networks"]
