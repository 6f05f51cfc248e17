"""The residual of the first element of a kind on symbols, and where the unknowns and the numbers of the others are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.compiler.plain import plain
from rbdae.graph.derivatives import tangents
from rbdae.graph.symbols import NotStraight, Recorder
from rbdae.kernels.symbolic import SymbolicMemory, opened
from rbdae.machine.elements import Output
from rbdae.multibody.element_groups import Group, groups_of, records_of, unknowns_of
from rbdae.multibody.open_numbers import OpenNumbers, records_with
from rbdae.multibody.recording import constants, first_numbers, opened_numbers, recording_point, symbolic_memory
from rbdae.multibody.workspace import Workspace

_MOST_NODES = 100_000


@final
class _Recorded:
    """The kernel for the first element of a kind, on symbols, and where the unknowns and numbers of the others are."""

    def __init__(self, workspace: Workspace, group: Group) -> None:
        self._workspace, self._group = workspace, group
        layout, n = workspace.layout, workspace.model.n
        kernel = workspace.settings.kernels.residual
        joint = group.primitives.shape[1] > 0
        t, y, yd, c = recording_point(workspace, {"y": (layout.n,), "yd": (layout.n,)})
        self._numbers = _Numbers(opened_numbers(workspace), group)
        inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "selection": first_numbers(workspace)}
        recorder = Recorder({**inputs, "numbers": self._numbers.values}, _MOST_NODES)
        m = _memory(workspace, recorder, group, self._numbers)
        out = np.zeros(layout.n, dtype=object)
        given = {"t": recorder.inputs("t")[0], "y": recorder.inputs("y"), "yd": recorder.inputs("yd")}
        vectors = iter((given["y"], given["yd"]))
        arguments = [given["t"] if sign == "t" else next(vectors) if sign == "y" else out for sign in kernel.signs[1:]]
        plain(kernel, workspace.memory.features)(m, *arguments)
        if recorder.guards:
            raise NotStraight("an element has guards")
        self.graph = recorder.graph
        self._of_bodies, self._of_rows = unknowns_of(workspace, group, n)
        self._unknowns = np.hstack([self._of_bodies, self._of_rows])
        own = self._of_rows[0] if joint else self._unknowns[0]
        nodes = {int(i): recorder.number(out[i]) for i in self._unknowns[0]}
        if joint:
            g = self.graph
            multipliers = [g.node("input", name, int(i)) for name in ("y", "yd") for i in own]
            along = {node: {0: node} for node in multipliers}
            others = [i for i in nodes if i not in set(own.tolist())]
            shares = tangents(g, [nodes[i] for i in others], along)
            nodes |= {i: share.get(0, g.const(0.0)) for i, share in zip(others, shares, strict=True)}
        self._column = {int(i): k for k, i in enumerate(self._unknowns[0])}
        self._nodes = {i: node for i, node in nodes.items() if self.graph.value(node) != 0.0}
        self._entries: list[tuple[int, Ints]] | None = None

    def rows(self) -> list[tuple[int, Ints]]:
        """The rows to which the elements add: node, and place for each element."""
        return [(node, self._unknowns[:, self._column[i]]) for i, node in self._nodes.items()]

    def entries(self) -> list[tuple[int, Ints]]:
        """The entries of dF/dy + c dF/dyd that are not 0: node, and column n + row for each element."""
        if self._entries is None:
            self._entries = self._differentiated()
        return self._entries

    def _differentiated(self) -> list[tuple[int, Ints]]:
        g, n = self.graph, self._workspace.layout.n
        c, one = g.node("input", "c", 0), g.const(1.0)
        seeds = {g.node("input", "y", i): {k: one} for i, k in self._column.items()}
        seeds |= {g.node("input", "yd", i): {k: c} for i, k in self._column.items()}
        found = tangents(g, list(self._nodes.values()), seeds)
        out = []
        for i, row in zip(self._nodes, found, strict=True):
            rows = self._unknowns[:, self._column[i]]
            out += [(node, self._unknowns[:, k] * n + rows) for k, node in row.items()]
        return out

    def inputs(self, outputs: Sequence[Output]) -> dict[int, tuple[str, Ints]]:
        """The vector and the places of every input.

        Raises NotStraight for an input that is none of the elements'.
        """
        found: dict[int, tuple[str, Ints]] = {}
        for k in self.graph.needed([output.node for output in outputs]):
            kind, *rest = self.graph.nodes[k]
            if kind != "input" or rest[0] in ("t", "c"):
                continue
            name, i = rest
            if name in ("y", "yd") and i in self._column:
                found[k] = name, self._unknowns[:, self._column[i]]
            elif name == "numbers":
                found[k] = name, self._numbers.columns[i]
            else:
                raise NotStraight(f"an element reads {name}[{i}]")
        return found


@final
class _Numbers:
    """The loaded numbers of the elements of a kind: `columns` has for each symbol the places of all elements among the
    numbers of the model, `values` those of the first element. Numbers that are one in all elements are one symbol."""

    def __init__(self, numbers: OpenNumbers, group: Group) -> None:
        self.columns: list[Ints] = []
        self._places: dict[str, Ints] = {}
        first, known = {}, dict[bytes, int]()
        count = 0
        for name, part in numbers.arrays.items():
            first[name], count = count, count + len(part.values)
        for name, records in records_of(group.bodies, group.primitives):
            places = numbers.arrays[name].structure.places[records]  # (elements, records, floats)
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
        return records_with(name, array, self._places[name], symbols)


def _memory(workspace: Workspace, recorder: Recorder, group: Group, numbers: _Numbers) -> SymbolicMemory:
    """The memory with the bodies of the first element, the ground, and its primitives alone."""
    n, own = workspace.model.n, constants(workspace, ["bodies", "states", "primitives"])
    bodies, primitives = group.bodies[0], group.primitives[0]
    symbols = recorder.inputs("numbers")
    records: dict[str, Any] = {"primitives": []}
    for name, of in records_of(bodies, primitives):
        records[name] = numbers.records(name, own[name][of], symbols)
    named = [b for b in bodies.tolist() if b != n]
    for name in ("bodies", "states"):
        ground = opened(name, own[name][[n]])
        kept = [record for record, b in zip(records[name], bodies.tolist(), strict=True) if b != n]
        records[name] = [*kept, *ground]
    m: SymbolicMemory = symbolic_memory(workspace, recorder, records)
    m.head.n_bodies, m.head.n_primitives = len(named), len(primitives)
    place = {b: k for k, b in enumerate(named)} | {n: len(named)}
    for primitive in m.primitives:
        primitive.body = [place[int(b)] for b in primitive.body]
    return m


def recorded_elements(workspace: Workspace) -> list[_Recorded]:
    """The kernel for the first element of each kind; recorded once for a workspace.

    Raises NotStraight where a condition on the state has to fall as it does there.
    """
    if workspace.elements is None:
        workspace.elements = [_Recorded(workspace, group) for group in groups_of(workspace)]
    return workspace.elements


__all__ = ["recorded_elements"]
