"""The first element of a kind on symbols, and where the unknowns and the numbers of the others are.

A kernel runs on a memory that has no other bodies, forces and joints, with unknowns and rows of its own: (q, v) of the
bodies, s of the forces, then the multipliers of the bodies' internal constraints and of the joints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.kernels.memory import VECTORS
from rbdae.kernels.records import ANGULAR
from rbdae.kernels.symbolic import opened
from rbdae.machine.elements import Place, Result
from rbdae.multibody.elements.element_groups import OF_FORCES, Group, inputs_of
from rbdae.multibody.memory.open_numbers import OpenNumbers, records_with
from rbdae.multibody.memory.workspace import Workspace
from rbdae.rotations.chart import CHARTS

DIRECTORS = 9
"""Coordinates of the directors of a body."""


def places_of_selection(workspace: Workspace, group: Group, number: int) -> Place:
    """The places of a number of the selection for each element: of an input that its forces and drives read, or of a
    reference rotation.

    Raises NotStraight if it is neither.
    """
    first = workspace.places_of("inputs").start
    for read in inputs_of(workspace.arrays, len(group.bodies), group.records).T:
        if number == first + read[0]:
            return Place("selection", "", first + read)
    first = workspace.places_of("references").start
    for bodies in group.bodies.T:
        at = number - first - DIRECTORS * int(bodies[0])
        if 0 <= at < DIRECTORS and bodies[0] < workspace.model.n:
            return Place("selection", "", first + DIRECTORS * bodies + at)
    raise NotStraight(f"an element reads number {number} of the selection")


_MOST_NODES = 100_000
_NONE = np.zeros((1, 0), dtype=np.int64)

_COUNTED = ("primitives", "drives", *OF_FORCES)
"""The arrays of which the head has the number."""

NATURAL = 12
"""Natural coordinates of a body, and forces along them."""


class Motion(NamedTuple):
    """The vectors of all velocities and of their rates, with the places where they begin: unknowns and results, or
    ``"work"`` where those are others."""

    velocities: tuple[str, int]
    rates: tuple[str, int]


@final
class _Numbers:
    """The loaded numbers of the elements of a kind: `columns` has for each symbol the places of all elements among the
    numbers of the model, `values` those of the first element. Numbers that are one in all elements are one symbol."""

    def __init__(self, numbers: OpenNumbers, group: Group) -> None:
        self.columns: list[Ints] = []
        self._places: dict[str, Ints] = {}
        first, known = {}, dict[bytes, int]()
        count = 0
        for name, part in numbers.parts.items():
            first[name], count = count, count + len(part.values)
        for name, records in group.numbered.items():
            places = numbers.parts[name].places[records]  # (elements, records, floats)
            mine = np.zeros(places.shape[1:], dtype=np.int64)
            for record, column in np.argwhere(places[0] != 0).tolist():
                at = np.abs(places[:, record, column]) - 1 + first[name]
                k = known.setdefault(at.tobytes(), len(self.columns))
                if k == len(self.columns):
                    self.columns.append(at)
                mine[record, column] = (k + 1) * np.sign(places[0, record, column])
            self._places[name] = mine
        self.values = numbers.values[[at[0] for at in self.columns]] if self.columns else np.zeros(0)

    def records(self, name: str, array: Any, symbols: Sequence[Any]) -> list[Any]:
        """The records of the first element, with symbols for its numbers."""
        return records_with(array, self._places[name], symbols)


@final
class Recorded:
    """The first element of a kind.

    Attributes
    ----------
    group : the elements
    recorder, m : on whose symbols the memory is
    loaded : the numbers that it loads; `columns` has for each of them the places of those of all elements among the
        numbers of the model
    moving : the bodies among those of the group that are not the ground
    q, s : the places of their positions, and of the internal states of their forces
    v : those of their velocities among all velocities
    internal, rows : those of their internal constraints, and of the joint equations, among all constraints

    Parameters
    ----------
    turned : whether the directors of its bodies are given in the work vector (`keeps_directors`), in place of the
        parameters of their rotations
    """

    def __init__(self, workspace: Workspace, group: Group, *, turned: bool = False) -> None:
        self.workspace, self.group, self._turned = workspace, group, turned
        n, arrays, layout = workspace.model.n, workspace.arrays, workspace.layout
        B, E, P = arrays["bodies"], arrays["elements"], arrays["primitives"]
        self.moving = [k for k in range(group.bodies.shape[1]) if group.bodies[0, k] != n]
        self.q, self.v, self.internal = list[Place](), list[Ints](), list[Ints]()
        self._sizes: list[tuple[int, int, int]] = []  # of each body
        for bodies in (group.bodies[:, k] for k in self.moving):
            body = B[bodies[0]]
            n_v, ni = int(body["nt"] + body["nr"]), int(body["ni"])
            given = int(body["nt"] if turned else body["nt"] + body["na"])
            places = [Place("y", "q", B["iq"][bodies] + i) for i in range(given)]
            places += kept_directors(bodies) if turned else []
            self._sizes.append((len(places), n_v, ni))
            self.q += places
            self.v += [B["iv"][bodies] + i for i in range(n_v)]
            self.internal += [B["il"][bodies] + i for i in range(ni)]
        forces = group.records.get("elements", _NONE).T
        states = [E["state"][own] + i for own in forces for i in range(E["n_states"][own[0]])]
        self.s = [Place("y", "s", layout.s.start + at) for at in states]
        self.rows = [P["row"][own] + i for own in group.primitives.T for i in range(P["n"][own[0]])]
        self.n_v, n_own = len(self.v), len(self.q) + len(self.v) + len(self.s)
        self._numbers = _Numbers(workspace.open_numbers, group)
        self.columns, self.loaded = self._numbers.columns, LoadedNumbers(self._numbers.values)
        at = {"t": [0.1234], "c": [1.5], "y": np.linspace(0.2, 0.8, n_own), "free": np.linspace(0.3, 0.7, self.n_v)}
        self.recorder = Recorder(at | {"selection": workspace.first_numbers}, _MOST_NODES)
        self._symbols = [Symbol(self.recorder, self.graph.const(x)) for x in self.loaded.inputs]
        self.m = self.memory(group.records)

    @property
    def graph(self) -> Graph:
        """What has been recorded."""
        return self.recorder.graph

    def place(self, motion: Motion, name: str, i: int) -> Place:
        """The place of an input: an unknown (``"y"``), or a free acceleration (``"free"``)."""
        n_q = len(self.q)
        if name == "y" and i < n_q:
            return self.q[i]
        if name == "y" and i >= n_q + self.n_v:
            return self.s[i - n_q - self.n_v]
        vector, start = motion.velocities if name == "y" else motion.rates
        # unknowns and results share entries of a table
        block = ("velocity" if name == "y" else "rate") if vector == "work" else "v"
        return Place(vector, block, start + self.v[i - n_q if name == "y" else i])

    def first_velocity(self, b: int) -> int:
        """The place at which the velocities of one of the moving bodies begin among those of all of them."""
        return sum(n_v for _, n_v, _ in self._sizes[:b])

    def rates(self, motion: Motion) -> list[Place]:
        """The places of (qdot, vdot)."""
        return [at._replace(vector="out") for at in self.q] + [self.place(motion, "free", i) for i in range(self.n_v)]

    def unknown_rates(self) -> list[Place]:
        """The places of the rates of their velocities, or momenta, among the results."""
        return [Place("out", "v", self.workspace.layout.v.start + at) for at in self.v]

    def memory(self, records: Mapping[str, Ints]) -> Any:
        """The memory of the first element with these records and the ground, as a model's; unknowns are its own."""
        n, arrays, n_internal = self.workspace.model.n, self.workspace.arrays, len(self.internal)
        first = {name: of[0] for name, of in self.group._replace(records=records).numbered.items()}
        found: dict[str, Any] = {name: [] for name in _COUNTED}
        found |= {name: self._numbers.records(name, arrays[name][of], self._symbols) for name, of in first.items()}
        named = first["bodies"][self.moving].tolist()
        for name in ("bodies", "states"):
            found[name] = [*(found[name][k] for k in self.moving), *opened(arrays[name][[n]])]
        n_q, n_v, n_s, n_la = len(self.q), self.n_v, len(self.s), n_internal + len(self.rows)
        length = n_q + n_v + n_s + n_la + 1
        vectors = {name: np.zeros(length, dtype=object) for name in VECTORS}
        m: Any = self.workspace.kernel_memory(self.recorder.inputs("selection"), found | vectors, self.recorder)
        if "references" in vars(m):
            m.references = m.references[named]
        self._number(m, named, first)
        h = m.head
        h.n_bodies, h.n_rows, h.n_vector = len(named), 0, length
        for name in _COUNTED:
            setattr(h, f"n_{name}", len(found[name]))
        if self._turned:
            h.chart, h.referenced = CHARTS["directors"].number, 0
        h.n_q, h.n_v, h.n_internal, h.n_la = n_q, n_v, n_internal, n_la
        h.n_states, h.states_at, h.multipliers_at = n_s, n_q + n_v, n_q + n_v + n_s
        h.corrections_at = h.multipliers_at + n_la - (n_internal if self.workspace.layout.n_hidden else 0)
        return m

    def _number(self, m: Any, named: list[int], first: Mapping[str, Ints]) -> None:
        """Number the records of a memory as those of a model of these bodies."""
        starts = [0, 0, 0]
        for body, sizes in zip(m.bodies, self._sizes, strict=False):
            body.na = sizes[0] - body.nt
            body.iq, body.iv, body.il = starts
            starts = [a + b for a, b in zip(starts, sizes, strict=True)]
        place = {b: k for k, b in enumerate(named)} | {self.workspace.model.n: len(named)}
        for record in (*m.primitives, *m.elements):
            record.body = [place[int(b)] for b in record.body]
        row = 0
        for primitive in m.primitives:
            primitive.row, primitive.slot = len(self.internal) + row, list(range(row, row + 3))
            row += primitive.n
        for drive in m.drives:
            drive.primitive = first["primitives"].tolist().index(drive.primitive)
        entry, of_law, state = 0, 0, 0
        m.element_bodies = []
        for force in m.elements:
            force.first_parameter, of_law = of_law, of_law + force.n_parameters
            force.first, force.last = entry, entry + force.last - force.first
            force.state, state = state, state + force.n_states
            entry = force.last
            force.first_body = len(m.element_bodies)
            m.element_bodies += force.body

    def run(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on symbols.

        Raises NotStraight where a condition on the state has to fall as it does there.
        """
        kernel(self.m, *arguments)
        self.sound()

    def at_state(self, kernel: Any, *arguments: Any) -> None:
        """Run a kernel on the symbols of t and y, and on others."""
        self.run(kernel, self.recorder.inputs("t")[0], self.recorder.inputs("y"), *arguments)

    def sound(self) -> None:
        """Raise NotStraight if the recording has guards, or calls a function."""
        if self.recorder.guards or self.recorder.functions:
            raise NotStraight("an element has guards, or calls a function")

    @property
    def angular(self) -> bool:
        """Whether velocities are angular: then H Ji has a few products with constants."""
        return bool(self.workspace.settings.kind.number == ANGULAR)

    def nodes(self, values: Any) -> list[int]:
        """The nodes of symbols and numbers."""
        return [self.recorder.number(value) for value in np.ravel(values)]

    def results(self, values: Any, places: Iterable[Place], *, adds: bool = False) -> list[Result]:
        """Symbols and numbers at these places, or what is added there."""
        return [Result(node, place, adds) for node, place in zip(self.nodes(values), places, strict=True)]


def keeps_directors(workspace: Workspace) -> bool:
    """Whether bodies write their directors for others: in charts where R(a) is expensive."""
    return workspace.settings.chart.distance is not None


def kept_directors(bodies: Ints) -> list[Place]:
    """The places of the directors of bodies in the work vector."""
    return [Place("work", "d", DIRECTORS * bodies + i) for i in range(DIRECTORS)]
