"""Blocks and actuators that read each other, as one element by a function.

The unknowns of an element are those of its blocks, one block after the other: first all states, among them the turns of
angles, then all algebraic unknowns. An output of a block is computed where it is read. So blocks that depend on each
other are one system of equations, whose algebraic unknowns an ODE form eliminates together.

The turn phi of an angle a has phidot = adot. Laws get the angle phi + atan2(sin(a - phi), cos(a - phi)), which is a but
for full turns, without drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.actuators.actuator import Actuator
from rbdae.actuators.block import Block, is_number, readable
from rbdae.actuators.sampled import Sampled
from rbdae.body import Body
from rbdae.forces.base import AbstractForce, near
from rbdae.forces.element import AnyElement, StateElement
from rbdae.inputs import Input
from rbdae.laws.law import Filling, NotRecorded, Users, recorded_law
from rbdae.laws.recorded import Composed, Recorded
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
class Owners:
    """The joints, forces and blocks of a system, to which quantities belong; one that was given without a name has a
    named twin there."""

    def __init__(self, owners: Sequence[Any]) -> None:
        self._owners = owners
        self._sources: dict[Block, dict[str, Any]] = {}

    def sources(self, block: Block) -> dict[str, Any]:
        """The sources of the inputs of a block by name: numbers, functions of the time, quantities, or inputs of the
        system, which also stand for what a sampled controller holds."""
        if block not in self._sources:
            self._sources[block] = {name: self._resolved(source) for name, source in block.sources.items()}
        return self._sources[block]

    def _resolved(self, source: Any) -> Any:
        if isinstance(source, str):
            if source not in self._by_label:
                raise _check.unknown("quantity", source, self._by_label)
            source = self._by_label[source]
        if isinstance(source, Quantity) and source.aspect == "own" and isinstance(source.owner, Sampled):
            held: Input | None = self(source).held.get(source.name)
            return source if held is None else held
        return source

    def __call__(self, quantity: Quantity) -> Any:
        owner = quantity.owner
        for each in self._owners:
            if each is owner:
                return each
        named = [each for each in self._owners if type(each) is type(owner) and each.name == owner.name]
        if owner.name is not None and len(named) == 1:
            return named[0]
        if not isinstance(owner, Block) and owner.coordinates() and owner.name is not None:
            return owner  # a joint that is no constraint of the system
        raise ValueError(
            f"{quantity!r} belongs to a part that is not in the system; use what add_joint and add_force return"
        )

    @cached_property
    def _by_label(self) -> dict[str, Quantity]:
        return {f"{owner.name}.{name}": each for owner in self._owners for name, each in owner.quantities.items()}


@final
@dataclass(frozen=True, eq=False)
class Motion:
    """A coordinate of two bodies: `owner` has it, `first` is the place of its bodies in the element; `turn` that of its
    turn among the states, or -1."""

    coordinate: Coordinate
    bodies: tuple[int, int]
    turn: int


@final
class Evaluation:
    """The arguments of laws at one x, each computed once; `users` are the functions of users by their keys."""

    def __init__(self, of: Any, users: Mapping[Any, Callable[..., Any]], t: Any, x: Any) -> None:
        self._of, self._t, self._x = of, t, x.tolist() if type(x) is np.ndarray else x
        self._users = users
        self._known: dict[Any, Any] = {}
        self._asked: list[Block] = []

    def _coordinate(self, motion: Motion) -> Any:
        if motion not in self._known:
            n = 12 * len(self._of.bodies)
            at = [12 * b + i for b in motion.bodies for i in range(12)]
            picked = [self._x[i] for i in at] + [self._x[n + i] for i in at]
            self._known[motion] = motion.coordinate.at(picked)
        return self._known[motion]

    def motion(self, motion: Motion) -> tuple[Any, Any]:
        """A coordinate, unwound if it has a turn, and its rate."""
        s, rate, _ = self._coordinate(motion)
        if motion.turn < 0:
            return s, rate
        turn = self._x[24 * len(self._of.bodies) + motion.turn]
        return turn + np.arctan2(np.sin(s - turn), np.cos(s - turn)), rate

    def gradient(self, motion: Motion) -> Any:
        """ds/dZ of a coordinate."""
        return self._coordinate(motion)[2]

    def unknowns(self, block: Block) -> list[Any]:
        """The states and algebraic unknowns of a block."""
        first = 24 * len(self._of.bodies)
        return [self._x[first + k] for k in self._of.states[id(block)]]

    def inputs(self, block: Block) -> list[Any]:
        """The inputs of a block."""
        return [self._input(block, name) for name in block.inputs]

    def _constants(self, block: Block) -> dict[str, Any] | None:
        """Its constants among the last numbers of x; None if x has none."""
        first = 24 * len(self._of.bodies) + len(self._of.names) + len(self._of.inputs)
        if len(self._x) == first:
            return None
        at = first + self._of.constants_at[id(block)]
        names = block.constants
        return dict(zip(names, self._x[at : at + len(names)], strict=True))

    def _input(self, block: Block, name: str) -> Any:
        source = self._of.sources[block][name]
        if is_number(source):
            known = self._constants(block)
            return float(np.real(source)) if known is None else known[name]
        if isinstance(source, Input):
            return self._x[24 * len(self._of.bodies) + len(self._of.names) + self._of.inputs.index(source)]
        if isinstance(source, Quantity):
            owner = self._of.owner_of(source)
            if source.aspect == "own":
                return self._own(owner, source.name)
            return self.motion(self._of.motion_of(owner, source.coordinate))[source.aspect == "rate"]
        return self._users[block, name](self._t) if callable(source) else source

    def _own(self, block: Block, name: str) -> Any:
        if name in block.unknown_names:
            return self.unknowns(block)[block.unknown_names.index(name)]
        if name in block.inputs:
            return self._input(block, name)
        return self.outputs(block)[name]

    def arguments(self, block: Block) -> Any:
        """The arguments of its law."""
        if (block, "law") not in self._known:
            motion = None if block.coordinate is None else self.motion(self._of.motion_of(block, block.coordinate.name))
            known = self._constants(block)
            numbers = None if known is None else [known[name] for name in block.values]
            self._known[block, "law"] = block.arguments(
                self._t, motion, self.unknowns(block), self.inputs(block), numbers
            )
        return self._known[block, "law"]

    def results(self, block: Block) -> tuple[Any, list[Any], list[Any]]:
        """Effort, sdot and g of its law."""
        return block.results(self._users[block, "law()"](*self.arguments(block)))

    def outputs(self, block: Block) -> dict[str, Any]:
        """Its outputs; refuses those that depend on themselves."""
        if (block, "outputs") not in self._known:
            if block in self._asked:
                names = " -> ".join(str(each.name) for each in [*self._asked[self._asked.index(block) :], block])
                raise ValueError(
                    f"the outputs of {names} depend on each other; make one of them an algebraic unknown or a state"
                )
            self._asked.append(block)
            observe = self._users[block, "observe()"] if block.outputs else None
            self._known[block, "outputs"] = block.observed(self.arguments(block), observe)
            self._asked.pop()
        found: dict[str, Any] = self._known[block, "outputs"]
        return found


@final
class Network:
    """Blocks that belong together.

    Attributes
    ----------
    blocks : in the order of the system
    bodies, inputs : of the element
    sources : of the inputs of each block, by name
    names : of the unknowns, with the block's name before them: "motor.current"
    """

    def __init__(self, blocks: Sequence[Block], owner_of: Owners, by_position: set[Block]) -> None:
        self.blocks, self.owner_of = tuple(blocks), owner_of
        self.bodies: list[Body] = []
        self.inputs: list[Input] = []
        self.sources = {block: owner_of.sources(block) for block in blocks}
        self._motions: dict[tuple[int, str], Motion] = {}
        self._turns: list[tuple[str, Coordinate, tuple[Body, Body]]] = []
        for block in self.blocks:
            if block.coordinate is not None:
                self._add_motion(block, block.coordinate, unwound=block in by_position)
            for source in self.sources[block].values():
                if isinstance(source, Input):
                    if source not in self.inputs:
                        self.inputs.append(source)
                elif isinstance(source, Quantity) and source.aspect in ("value", "rate"):
                    owner = owner_of(source)
                    self._add_motion(owner, _coordinate(owner, source), unwound=source.aspect == "value")
        self._lay_out()

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
            if body not in self.bodies:
                self.bodies.append(body)
            places.append(self.bodies.index(body))
        a, b = carrier.bodies
        self._motions[key] = Motion(coordinate.referred(a.reference, b.reference), (places[0], places[1]), turn)

    def _lay_out(self) -> None:
        names = [label for label, _, _ in self._turns]
        start = [float(near(coordinate, bodies)[0]) for _, coordinate, bodies in self._turns]
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
            inputs=tuple(self.inputs),
            bodies=tuple(self.bodies),
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
            out |= {(block, name): each for name, each in self.sources[block].items() if callable(each)}
        return out

    def law(self, users: Users) -> Filling:
        """Makes (F, sdot, g) of the element at x = (Z, Zdot, s, z, u, p), where the constants p may be left out."""
        n, k, named = 12 * len(self.bodies), len(self.names), dict(zip(self.users, users, strict=True))

        def law(t: Any, x: Any, out: Any) -> None:
            at = Evaluation(self, named, t, x)
            for i in range(n + k):
                out[i] = 0.0
            for motion in self._motions.values():
                if motion.turn >= 0:
                    out[n + motion.turn] = at.motion(motion)[1]
            for block in self.blocks:
                effort, rates, residuals = at.results(block)
                if block.coordinate is not None:
                    motion = self.motion_of(block, block.coordinate.name)
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
            if block.coordinate is not None:
                out[block, "effort"] = effort
                out[block, "value"], out[block, "rate"] = at.motion(self.motion_of(block, block.coordinate.name))
        return out

    @cached_property
    def _recorded_values(self) -> tuple[list[tuple[Block, str]], Recorded]:
        keys: list[tuple[Block, str]] = []
        for block in self.blocks:
            keys += [(block, name) for name in (*block.observed_names, *block.unknown_names, *block.inputs)]
            keys += [(block, name) for name in ("effort", "value", "rate") if block.coordinate is not None]

        def fill(users: Users) -> Filling:
            def law(t: Any, x: Any, out: Any) -> None:
                found = self.values(users, t, x)
                for k, key in enumerate(keys):
                    out[k] = found[key]

            return law

        n_in = 24 * len(self.bodies) + len(self.names) + len(self.inputs)
        owner = " and ".join(str(block.name) for block in self.blocks)
        return keys, Recorded(owner, [*self.users.values()], fill, n_in, len(keys))

    def values_at(self, t: Vec, x: Mat) -> dict[tuple[Block, str], Vec]:
        """`values` at times (m,) and rows x, (m,) each; row after row in Python where they cannot be recorded."""
        keys, recorded = self._recorded_values
        law, out, called = recorded.law, np.zeros((len(t), len(keys))), np.arange(len(t))
        if law is not None:
            out, regular = law.at_rows(t, x)
            called = np.flatnonzero(~regular)
        for k in called:
            recorded(float(t[k]), x[k], out[k])
        return dict(zip(keys, out.T, strict=True))

    def motion_of(self, owner: Any, coordinate: str) -> Motion:
        """The coordinate of an actuator, or of what a block reads."""
        return self._motions[id(_carrier(owner, coordinate)), coordinate]


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
        for key, source in owner_of.sources(block).items():
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
        yield " and ".join(str(block.name) for block in network.blocks), network.element(), tuple(network.bodies)
