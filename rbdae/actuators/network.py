"""One element for blocks and actuators that read each other.

The element's unknowns are all states of its blocks, block by block and including the turns of angles, then all
algebraic unknowns. A block's outputs are computed where they are read. Blocks that depend on each other thus form one
system of equations, whose algebraic unknowns an ODE form eliminates together.

The turn phi of an angle a has phidot = adot. Laws get phi + atan2(sin(a - phi), cos(a - phi)), which equals a up to
full turns, without drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, at_point
from rbdae.actuators.block import Actuator, Block, Sampled, is_number, readable
from rbdae.body import Body
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement, Composed, StateElement
from rbdae.inputs import Input
from rbdae.laws.law import Filling, Recorded, Users, recorded_law
from rbdae.laws.numbers import NotRecorded
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
class Owners:
    """The joints, forces and blocks of a system as owners of quantities; a part passed in without a name is mapped to
    its named copy."""

    def __init__(self, owners: Sequence[Any]) -> None:
        self._owners = owners
        self._sources: dict[Block, dict[str, Any]] = {}

    def sources(self, block: Block) -> dict[str, Any]:
        """The sources of a block's inputs by name: numbers, functions of time, quantities, or inputs of the system,
        which also hold the outputs of sampled controllers."""
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
            return owner  # a joint that is not a constraint of the system
        raise ValueError(
            f"{quantity!r} belongs to a part that is not in the system; use what add_joint and add_force return"
        )

    @cached_property
    def _by_label(self) -> dict[str, Quantity]:
        return {f"{owner.name}.{name}": each for owner in self._owners for name, each in owner.quantities.items()}


@final
@dataclass(frozen=True, eq=False)
class Motion:
    """A coordinate of two bodies: `bodies` are their places in the element, `turn` the place of its turn among the
    unknowns, or -1."""

    coordinate: Coordinate
    bodies: tuple[int, int]
    turn: int


@final
class Evaluation:
    """Arguments of laws at one x = (Z, Zdot, unknowns, inputs, constants), each computed once; the constants may be
    omitted. `users` are the users' functions by key."""

    def __init__(self, of: Network, users: Mapping[Any, Callable[..., Any]], t: Any, x: Any) -> None:
        x = x.tolist() if type(x) is np.ndarray else x
        ends = np.cumsum([12 * len(of.bodies), 12 * len(of.bodies), len(of.names), len(of.inputs)])
        self._of, self._users, self._t = of, users, t
        self._Z, self._rates, self._s, self._u, self._p = (
            x[first:last] for first, last in zip([0, *ends], [*ends, len(x)], strict=True)
        )
        self._known: dict[Any, Any] = {}
        self._asked: list[Block] = []

    def _coordinate(self, motion: Motion) -> Any:
        if motion not in self._known:
            indices = [12 * b + i for b in motion.bodies for i in range(12)]
            x = [part[i] for part in (self._Z, self._rates) for i in indices]
            self._known[motion] = motion.coordinate.at(x)
        return self._known[motion]

    def motion(self, motion: Motion) -> tuple[Any, Any]:
        """A coordinate, with full turns if it has a turn, and its rate."""
        s, rate, _ = self._coordinate(motion)
        if motion.turn < 0:
            return s, rate
        turn = self._s[motion.turn]
        return turn + np.arctan2(np.sin(s - turn), np.cos(s - turn)), rate

    def gradient(self, motion: Motion) -> Any:
        """ds/dZ of a coordinate."""
        return self._coordinate(motion)[2]

    def _constants(self, block: Block) -> dict[str, Any]:
        if not len(self._p):
            return {name: float(np.real(value)) for name, value in block.constants.items()}
        return {name: self._p[self._of.places[f"{block.name}.{name}"]] for name in block.constants}

    def _input(self, block: Block, name: str) -> Any:
        source = self._of.sources[block][name]
        if is_number(source):
            return self._constants(block)[name]
        if isinstance(source, Input):
            return self._u[self._of.inputs.index(source)]
        if isinstance(source, Quantity):
            owner = self._of.owner_of(source)
            if source.aspect == "own":
                return self.value(owner, source.name)
            return self.motion(self._of.motion_of(owner, source.coordinate))[source.aspect == "rate"]
        return self._users[block, name](self._t) if callable(source) else source

    def value(self, block: Block, name: str) -> Any:
        """One of a block's unknowns, inputs or outputs."""
        if name in block.unknown_names:
            return self._s[self._of.unknowns[block][block.unknown_names.index(name)]]
        return self._input(block, name) if name in block.inputs else self.outputs(block)[name]

    def arguments(self, block: Block) -> Any:
        """The arguments of a block's law."""
        if (block, "law") not in self._known:
            unknowns = [self._s[k] for k in self._of.unknowns[block]]
            inputs = [self._input(block, name) for name in block.inputs]
            constants, along = self._constants(block), block.coordinate
            motion = None if along is None else self.motion(self._of.motion_of(block, along.name))
            values = [constants[name] for name in block.values]
            self._known[block, "law"] = block.arguments(self._t, motion, unknowns, inputs, values)
        return self._known[block, "law"]

    def results(self, block: Block) -> tuple[Any, list[Any], list[Any]]:
        """Effort, sdot and g of a block's law."""
        return block.results(self._users[block, "law()"](*self.arguments(block)))

    def outputs(self, block: Block) -> dict[str, Any]:
        """A block's outputs; refuses outputs that depend on themselves."""
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
        values: dict[str, Any] = self._known[block, "outputs"]
        return values


@final
class Network:
    """Connected blocks, in the order of the system, with the bodies and inputs of their element, the sources of each
    block's inputs by name, and the numbers of laws (`constants`) by label with their places.

    The unknowns have names with the block's in front ("motor.current") and initial values (`start`); the first
    `n_differential` are states. `unknowns` are the indices of each block's own.
    """

    def __init__(self, blocks: Sequence[Block], owner_of: Owners, by_position: set[Block]) -> None:
        self.blocks, self.owner_of = tuple(blocks), owner_of
        self.bodies: list[Body] = []
        self.inputs: list[Input] = []
        self.sources = {block: owner_of.sources(block) for block in blocks}
        self._motions: dict[tuple[int, str], Motion] = {}
        unknowns: list[tuple[str, float]] = []
        for block in self.blocks:
            if block.coordinate is not None:
                self._add_motion(block, block.coordinate, unknowns, unwound=block in by_position)
            for source in self.sources[block].values():
                if isinstance(source, Input):
                    if source not in self.inputs:
                        self.inputs.append(source)
                elif isinstance(source, Quantity) and source.aspect in ("value", "rate"):
                    owner = owner_of(source)
                    self._add_motion(owner, _coordinate(owner, source), unknowns, unwound=source.aspect == "value")
        unknowns += [(f"{block.name}.{each}", block.start[each]) for block in blocks for each in block.states]
        self.n_differential = len(unknowns)
        unknowns += [(f"{block.name}.{each}", block.start[each]) for block in blocks for each in block.algebraic]
        self.names = tuple(label for label, _ in unknowns)
        self.start = np.array([value for _, value in unknowns], dtype=float)
        self.unknowns = {
            block: [self.names.index(f"{block.name}.{each}") for each in block.unknown_names] for block in blocks
        }
        self.constants = {f"{block.name}.{name}": each for block in blocks for name, each in block.constants.items()}
        self.places = {label: k for k, label in enumerate(self.constants)}

    def _add_motion(
        self, owner: Any, coordinate: Coordinate, unknowns: list[tuple[str, float]], *, unwound: bool
    ) -> None:
        carrier = _carrier(owner, coordinate.name)
        key = (id(carrier), coordinate.name)
        motion = self._motions.get(key)
        turn = -1 if motion is None else motion.turn
        if unwound and turn < 0 and coordinate.shape == "angle":
            turn = len(unknowns)
            name = "turn" if len(carrier.coordinates()) < 2 else f"{coordinate.name}_turn"
            label = f"{getattr(carrier, 'name', None) or owner.name}.{name}"
            unknowns.append((label, _placed(coordinate, carrier.bodies)))
        self.bodies += [body for body in carrier.bodies if body not in self.bodies]
        a, b = carrier.bodies
        places = self.bodies.index(a), self.bodies.index(b)
        self._motions[key] = Motion(coordinate.referred(a.reference, b.reference), places, turn)

    @property
    def name(self) -> str:
        """The names of its blocks."""
        return " and ".join(str(block.name) for block in self.blocks)

    # ------------------------------------------------------------ on numbers of any kind

    def element(self) -> StateElement:
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
        """The laws and outputs of the blocks, and their inputs by functions of time."""
        out: dict[tuple[Block, str], Any] = {}
        for block in self.blocks:
            out[block, "law()"] = block.law
            if block.outputs:
                out[block, "observe()"] = block.observe
            out |= {(block, name): each for name, each in self.sources[block].items() if callable(each)}
        return out

    def law(self, users: Users) -> Filling:
        """(F, sdot, g) of the element at x = (Z, Zdot, s, z, u, p); the constants p may be omitted."""
        n, k = 12 * len(self.bodies), len(self.names)

        def law(evaluation: Evaluation, out: Any) -> None:
            for i in range(n + k):
                out[i] = 0.0
            for motion in self._motions.values():
                if motion.turn >= 0:
                    out[n + motion.turn] = evaluation.motion(motion)[1]
            for block in self.blocks:
                effort, rates, residuals = evaluation.results(block)
                if block.coordinate is not None:
                    motion = self.motion_of(block, block.coordinate.name)
                    gradient = evaluation.gradient(motion)
                    for side in range(2):
                        for i in range(12):
                            place = 12 * motion.bodies[side] + i
                            out[place] = out[place] + effort * gradient[12 * side + i]
                for place, value in zip(self.unknowns[block], [*rates, *residuals], strict=True):
                    out[n + place] = value

        return self._filling(users, law)

    def _filling(self, users: Users, law: Callable[[Evaluation, Any], None]) -> Filling:
        """f(t, x, out) of a law that fills `out` by what has been evaluated at (t, x)."""
        named = dict(zip(self.users, users, strict=True))
        return lambda t, x, out: law(Evaluation(self, named, t, x), out)

    @cached_property
    def _values(self) -> tuple[list[tuple[Block, str]], Recorded]:
        """Values of all blocks as keys (block, name), and a law that computes them."""
        own = [(b, name) for b in self.blocks for name in (*b.unknown_names, *b.inputs)]
        own += [(b, name) for b in self.blocks if not isinstance(b, Sampled) for name in b.outputs]
        acting = [block for block in self.blocks if block.coordinate is not None]

        def law(evaluation: Evaluation, out: Any) -> None:
            for k, key in enumerate(own):
                out[k] = evaluation.value(*key)
            for k, block in enumerate(acting, len(own)):
                out[k] = evaluation.results(block)[0]

        n_in = 24 * len(self.bodies) + len(self.names) + len(self.inputs)
        owner, keys = self.name, [*own, *((block, "effort") for block in acting)]
        return keys, Recorded(owner, [*self.users.values()], lambda users: self._filling(users, law), n_in, len(keys))

    def values_at(self, t: Vec, x: Mat) -> dict[tuple[Block, str], Vec]:
        """Efforts, outputs, inputs and unknowns of all blocks at times (m,) and rows x = (Z, Zdot, s, z, u), (m,) each;
        row by row in Python if they cannot be recorded."""
        keys, recorded = self._values
        law, out, called = recorded.law, np.zeros((len(t), len(keys))), np.arange(len(t))
        if law is not None:
            out, regular = law.at_rows(t, x)
            called = np.flatnonzero(~regular)
        for k in called:
            recorded(float(t[k]), x[k], out[k])
        return dict(zip(keys, out.T, strict=True))

    def motion_of(self, owner: Any, coordinate: str) -> Motion:
        """The coordinate of an actuator, or one that a block reads."""
        return self._motions[id(_carrier(owner, coordinate)), coordinate]


def networks(forces: Iterable[AbstractForce], joints: Iterable[Any]) -> list[Network]:
    """The networks of a system. Blocks are in one network if they read each other's unknowns or outputs, or the same
    angle, whose turns are one state."""
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
    if group[one] is not group[other]:
        group[one] += group[other]
        for each in group[other]:
            group[each] = group[one]


def _angle_of(owner: Any, coordinate: Any) -> tuple[int, str]:
    """The owner of an angle, and its name there."""
    return id(_carrier(owner, coordinate.name)), coordinate.name


def _carrier(owner: Any, name: str) -> Any:
    """The owner of a coordinate of an actuator, a force or a joint: the joint if it has this coordinate."""
    if isinstance(owner, Actuator):
        return owner.along
    joint = getattr(owner, "joint", None) if isinstance(owner, AbstractForce) else None
    return joint if joint is not None and any(each.name == name for each in joint.coordinates()) else owner


def _coordinate(owner: Any, source: Quantity) -> Coordinate:
    """The coordinate of a quantity that a block reads."""
    if isinstance(owner, Block):
        candidates = [owner.coordinate]
    elif isinstance(owner, AbstractForce):
        candidates = [*owner.acts_along()]
    else:
        candidates = [*owner.coordinates(), owner.prescribed()]
    return next(each for each in candidates if each is not None and each.name == source.coordinate)


def _placed(coordinate: Coordinate, bodies: Sequence[Body]) -> float:
    Z = [part.real for body in bodies for part in (body.position, body.rotation.T.reshape(9))]
    return float(coordinate.at(np.concatenate([*Z, np.zeros(24)]))[0])


def _reads_position(block: Block) -> bool:
    """Whether the law or the outputs of an actuator depend on its coordinate."""
    if block.coordinate is None or block.coordinate.shape != "angle":
        return False
    n = len(block.unknown_names) + len(block.inputs)
    size = 1 + len(block.states) + len(block.algebraic) + len(block.outputs)
    constants = [float(at_point(value)) for value in block.values.values()]

    def fill(users: Users) -> Filling:
        def call(t: Any, x: Any, out: Any) -> None:
            k = len(block.unknown_names)
            arguments = block.arguments(t, (x[0], x[1]), x[2 : 2 + k], x[2 + k :], constants)
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
) -> Iterator[tuple[AbstractForce | Network, AnyElement, tuple[Body, ...]]]:
    """All elements of a system with their force and their bodies; networks last."""
    for force in forces:
        for element in force.elements():
            yield force, element, force.bodies
    for network in networks(forces, joints):
        yield network, network.element(), tuple(network.bodies)
