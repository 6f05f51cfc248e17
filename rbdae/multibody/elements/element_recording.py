"""The residual of the first element of a kind on symbols, and where the unknowns and the numbers of the others are.

Natural forces are linear in the rows of a body. So a pair adds what its applied forces F make of them,

    share of row i = sum_k dF_i/dla_k la_k + sum_k dF_i/dw_k F_k,

where w are the natural forces with which the bodies begin, their weight. F is what is among the natural forces of
bodies without any weight.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import tangents
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.kernels.symbolic import opened
from rbdae.machine.elements import Place, Result
from rbdae.multibody.elements.element_groups import OF_FORCES, Group, further_rows, groups_of, inputs_of, unknowns_of
from rbdae.multibody.memory.open_numbers import OpenNumbers, records_with
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import (
    recording_point,
)

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

_COUNTED = ("primitives", "drives", *OF_FORCES)
"""The arrays of which the head has the number."""

NATURAL = 12
"""Natural coordinates of a body, and forces along them."""


@final
class _Recorded:
    """The kernel for the first element of a kind, on symbols, and where the unknowns and numbers of the others are."""

    def __init__(self, workspace: Workspace, group: Group, own: Mapping[str, Any]) -> None:
        self._workspace, self._group, self._own = workspace, group, own
        self._numbers = Numbers(workspace.open_numbers, group)
        of_bodies, of_states, of_rows = unknowns_of(workspace, group)
        self._unknowns = np.hstack([of_bodies, of_states, of_rows])
        more_of_bodies, more_of_rows = (further_rows(workspace, of) for of in (of_bodies, of_rows))
        self._rows = np.hstack([self._unknowns, more_of_bodies, more_of_rows])
        self._row = {int(i): k for k, i in enumerate(self._rows[0])}
        self._column = {int(i): k for k, i in enumerate(self._unknowns[0])}
        self._entries: list[tuple[int, Ints]] | None = None
        recorder = _recorder(workspace, self._numbers)
        self.graph = recorder.graph
        if group.pair:
            mine = (of_bodies, of_states, of_rows, more_of_rows)
            nodes = self._pair(recorder, *(rows[0].tolist() for rows in mine))
        else:
            out = self._run(recorder, self._memory(recorder, group))
            nodes = {i: recorder.number(out[i]) for i in self._row}
        if recorder.guards or recorder.functions:
            raise NotStraight("an element has guards, or calls a function")
        self._nodes = {i: node for i, node in nodes.items() if self.graph.value(node) != 0.0}

    def _pair(
        self, recorder: Recorder, bodies: list[int], states: list[int], rows: list[int], further: list[int]
    ) -> dict[int, int]:
        """The rows of a pair: what it adds to those of its bodies, and its own."""
        group, g = self._group, self.graph
        forces = group.forces
        seeds = {g.node("input", name, i): g.node("input", name, i) for name in ("y", "yd") for i in rows}
        nodes: dict[int, int] = {}
        weights: Any = None
        if forces:
            m = self._memory(recorder, group._replace(records=forces), np.zeros(2 * NATURAL))
            out = self._run(recorder, m)
            nodes |= {i: recorder.number(out[i]) for i in states}
            weights = recorder.with_inputs("weight", [1.0] * (2 * NATURAL))
            moving = [force for of in m.states[: m.head.n_bodies] for force in (*of.fx, *of.fd)]
            seeds |= {w.node: recorder.number(force) for w, force in zip(weights, moving, strict=False)}
        joints = {name: own for name, own in group.records.items() if name not in forces}
        out = self._run(recorder, self._memory(recorder, group._replace(records=joints), weights))
        nodes |= {i: recorder.number(out[i]) for i in (*rows, *further)}
        along = {node: {0: change} for node, change in seeds.items()}
        shares = tangents(g, [recorder.number(out[i]) for i in bodies], along)
        return nodes | {i: share.get(0, g.const(0.0)) for i, share in zip(bodies, shares, strict=True)}

    def _run(self, recorder: Recorder, m: Any) -> Any:
        """The rows that the kernel fills; unknowns of others are 0."""
        kernel, n = self._workspace.settings.kernels.residual, self._workspace.layout.n
        out = np.zeros(self._workspace.n_equations, dtype=object)
        vectors = []
        for name in ("y", "yd"):
            vector = np.zeros(n, dtype=object)
            for i in self._column:
                vector[i] = Symbol(recorder, self.graph.node("input", name, i))
            vectors.append(vector)
        given = iter(vectors)
        t = recorder.inputs("t")[0]
        arguments = [t if sign == "t" else next(given) if sign == "y" else out for sign in kernel.signs[1:]]
        kernel(m, *arguments)
        return out

    def _memory(self, recorder: Recorder, group: Group, weights: Any = None) -> Any:
        """The memory of the first element; `weights` take the place of those of the bodies, (x, d) of one after the
        other."""
        m = memory_of_first(self._workspace, recorder, group, self._own, self._numbers, recorder.inputs("numbers"))
        if weights is not None:
            for body, begin in zip(m.bodies[: m.head.n_bodies], range(0, len(weights), NATURAL), strict=False):
                body.weight, body.weight_d = weights[begin : begin + 3], weights[begin + 3 : begin + NATURAL]
        return m

    def rows(self) -> list[tuple[int, Ints]]:
        """The rows to which the elements add: node, and place for each element."""
        return [(node, self._rows[:, self._row[i]]) for i, node in self._nodes.items()]

    def entries(self) -> list[tuple[int, Ints]]:
        """The entries of dF/dy + c dF/dyd that are not 0: node, and place column by column for each element."""
        if self._entries is None:
            self._entries = self._differentiated()
        return self._entries

    def entries_apart(self) -> list[tuple[int, Ints]]:
        """The same of [dF/dy, dF/dyd], which has twice as many columns."""
        return self._differentiated(apart=True)

    def _differentiated(self, *, apart: bool = False) -> list[tuple[int, Ints]]:
        g, n = self.graph, self._workspace.n_equations
        one = g.const(1.0)
        c, first = (one, len(self._column)) if apart else (g.node("input", "c", 0), 0)
        columns = self._unknowns
        if apart:
            columns = np.hstack([columns, self._workspace.layout.n + columns])
        seeds = {g.node("input", "y", i): {k: one} for i, k in self._column.items()}
        seeds |= {g.node("input", "yd", i): {first + k: c} for i, k in self._column.items()}
        found = tangents(g, list(self._nodes.values()), seeds)
        out = []
        for i, row in zip(self._nodes, found, strict=True):
            rows = self._rows[:, self._row[i]]
            out += [(node, columns[:, k] * n + rows) for k, node in row.items()]
        return out

    def inputs(self, results: Sequence[Result]) -> dict[tuple[str, int], Place]:
        """The place of every input.

        Raises NotStraight for an input that is none of the elements'.
        """
        found: dict[tuple[str, int], Place] = {}
        for k in self.graph.needed([result.node for result in results]):
            kind, *rest = self.graph.nodes[k]
            if kind != "input" or rest[0] in ("t", "c"):
                continue
            name, i = rest
            if name in ("y", "yd") and i in self._column:
                at = self._unknowns[:, self._column[i]]
            elif name == "numbers":
                at = self._numbers.columns[i]
            elif name == "selection":
                found[name, i] = places_of_selection(self._workspace, self._group, i)
                continue
            else:
                raise NotStraight(f"an element reads {name}[{i}]")
            found[name, i] = Place(name, "", at)
        return found


@final
class Numbers:
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


def memory_of_first(
    workspace: Workspace,
    recorder: Recorder,
    group: Group,
    own: Mapping[str, Any],
    numbers: Numbers,
    symbols: Sequence[Any],
    others: Mapping[str, Any] = MappingProxyType({}),
) -> Any:
    """The memory with the bodies of the first element of a group, the ground, and its records, as those of a model.

    Parameters
    ----------
    own : the records of the model
    symbols : of the loaded `numbers`
    others : take the place of further arrays
    """
    n = workspace.model.n
    first = {name: of[0] for name, of in group.numbered.items()}
    records: dict[str, Any] = {name: [] for name in _COUNTED}
    records |= {name: numbers.records(name, own[name][of], symbols) for name, of in first.items()}
    moving = [k for k, b in enumerate(first["bodies"].tolist()) if b != n]
    named = first["bodies"][moving].tolist()
    for name in ("bodies", "states"):
        records[name] = [*(records[name][k] for k in moving), *opened(own[name][[n]])]
    m: Any = workspace.kernel_memory(recorder.inputs("selection"), records | dict(others), recorder)
    if "references" in vars(m):
        m.references = m.references[named]
    m.head.n_bodies = len(named)
    for name in _COUNTED:
        setattr(m.head, f"n_{name}", len(records[name]))
    place = {b: k for k, b in enumerate(named)} | {n: len(named)}
    for record in (*m.primitives, *m.elements):
        record.body = [place[int(b)] for b in record.body]
    for drive in m.drives:
        drive.primitive = first["primitives"].tolist().index(drive.primitive)
    at, of_law = 0, 0
    m.element_bodies = []
    for force in m.elements:
        force.first_parameter, of_law = of_law, of_law + force.n_parameters
        force.first, force.last = at, at + force.last - force.first
        at = force.last
        force.first_body = len(m.element_bodies)
        m.element_bodies += force.body
    return m


def _recorder(workspace: Workspace, numbers: Numbers) -> Recorder:
    n = workspace.layout.n
    t, y, yd, c = recording_point(workspace, {"y": (n,), "yd": (n,)})
    inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "selection": workspace.first_numbers, "numbers": numbers.values}
    return Recorder(inputs, _MOST_NODES)


def recorded_elements(workspace: Workspace) -> list[_Recorded]:
    """The kernel for the first element of each kind; recorded once for a workspace.

    Raises NotStraight where a condition on the state has to fall as it does there.
    """
    if workspace.elements is None:
        own = workspace.open_numbers.arrays
        workspace.elements = [_Recorded(workspace, group, own) for group in groups_of(workspace)]
    return workspace.elements
