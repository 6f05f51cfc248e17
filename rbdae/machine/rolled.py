"""An expression graph in which much repeats, as LLVM text: a loop for each repetition, straight code between them.

Values that are needed elsewhere go through memory: first the inputs, then of each stretch (`rbdae.graph.repeats`) those
values that others use, each as a vector over the stretch's turns. In a loop an operand is at a place that moves evenly
from turn to turn, or at one from a table. So the text, and the time that LLVM takes, do not grow with the number of
bodies in a chain; tables and numbers are data beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import LEAVES, Constant, Graph, Node
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.repeats import CONST, TIME, Listing, Stretch, listing, stretches
from rbdae.machine.data import Data, Table
from rbdae.machine.function import FIRST_FUNCTION, INDICES, NUMBERS, SCRATCH, SELECTION
from rbdae.machine.straight import ARGUMENTS, LONGEST, PASSED, Part, agreement, instruction, real

INPUTS = ("y", "yd", "selection")
"""Vectors that come first in memory, after t and c."""


@final
class Memory:
    """Places in memory: inputs first, then regions, which are used again when no later stretch needs them."""

    def __init__(self, first: int) -> None:
        self.size = first
        self._free: list[tuple[int, int]] = []

    def take(self, n: int) -> int:
        """The beginning of n places."""
        for i, (begin, length) in enumerate(self._free):
            if length >= n:
                self._free[i : i + 1] = [(begin + n, length - n)] if length > n else []
                return begin
        out = self.size
        self.size += n
        return out

    def give(self, begin: int, n: int) -> None:
        """They are free again."""
        merged = sorted([*self._free, (begin, n)])
        out: list[tuple[int, int]] = []
        for start, length in merged:
            if out and sum(out[-1]) == start:
                out[-1] = (out[-1][0], out[-1][1] + length)
            else:
                out.append((start, length))
        self._free = out


@final
class Plan:
    """The places of the values of a graph in memory; `inputs` are those that it needs."""

    def __init__(
        self,
        graph: Graph,
        found: Listing,
        cut: Sequence[Stretch],
        outputs: Sequence[int],
        inputs: Sequence[Node],
    ) -> None:
        self.graph, self.found, self.parts = graph, found, cut
        sizes = {name: 1 + max((node[2] for node in inputs if node[1] == name), default=-1) for name in INPUTS}
        self.inputs = {"t": 0, "c": 1, "y": 2, "yd": 2 + sizes["y"], "selection": 2 + sizes["y"] + sizes["yd"]}
        self.sizes = sizes
        n = len(found.nodes)
        self.part_of = np.empty(n, dtype=np.int64)
        turn_of = np.empty(n, dtype=np.int64)
        for k, part in enumerate(cut):
            span = slice(part.first, part.first + part.length * part.times)
            self.part_of[span] = k
            turn_of[span] = np.repeat(np.arange(part.times), part.length)
        self.place = np.full(n, -1, dtype=np.int64)
        self._lay_out(turn_of, outputs, 2 + sum(sizes.values()))
        self.by_node = dict(zip(found.nodes.tolist(), self.place.tolist(), strict=True))

    def _lay_out(self, turn_of: Ints, outputs: Sequence[int], first: int) -> None:
        found, parts = self.found, self.parts
        n = len(found.nodes)
        row, column = np.nonzero(found.operand >= 0)
        source = found.operand[row, column]
        outside = (self.part_of[row] != self.part_of[source]) | (turn_of[row] != turn_of[source])
        wanted = np.zeros(n, dtype=bool)
        wanted[source[outside]] = True
        last = np.arange(len(parts))  # the last stretch that needs values of each
        np.maximum.at(last, self.part_of[source[outside]], self.part_of[row[outside]])
        position = {k: i for i, k in enumerate(found.nodes.tolist())}
        for k in outputs:
            if k in position:
                wanted[position[k]] = True
                last[self.part_of[position[k]]] = len(parts)
        self._calls(position, wanted, last)
        memory = Memory(first)
        ending: list[list[tuple[int, int]]] = [[] for _ in range(len(parts) + 1)]
        self.left: list[Ints] = []
        for k, part in enumerate(parts):
            here = wanted[part.first : part.first + part.length * part.times].reshape(part.times, part.length)
            left = np.flatnonzero(here.any(axis=0))
            begin = memory.take(len(left) * part.times)
            for j, offset in enumerate(left.tolist()):
                places = begin + j * part.times + np.arange(part.times)
                self.place[part.first + offset + part.length * np.arange(part.times)] = places
            self.left.append(left)
            ending[last[k]].append((begin, len(left) * part.times))
            for region in ending[k]:
                memory.give(*region)
        self.size = memory.size

    def _calls(self, position: Mapping[int, int], wanted: Any, last: Any) -> None:
        """Operands of the user's functions, and their results."""
        for i in np.flatnonzero(self.found.single).tolist():
            node = self.graph.nodes[self.found.nodes[i]]
            for other in node[4:] if node[0] == "call" else node[1:2]:
                j = position.get(other)
                if j is not None and self.part_of[j] != self.part_of[i]:
                    wanted[j] = True
                    last[self.part_of[j]] = max(last[self.part_of[j]], self.part_of[i])

    def places(self, operand: Ints, number: Ints) -> Ints:
        """The places of operands: nodes of the list, or inputs."""
        out = np.where(operand >= 0, self.place[np.maximum(operand, 0)], -1)
        for i in np.flatnonzero(operand < 0).tolist():
            _, name, k = self.graph.nodes[number[i]]
            out[i] = self.inputs[name] + k
        return out


def rolled(
    name: str,
    graph: Graph,
    needed: Sequence[int],
    outputs: Sequence[int],
    guards: Mapping[int, bool],
    loaded: LoadedNumbers | None,
    n_functions: int,
) -> tuple[str, Data, int]:
    """The text and data of a function that computes the nodes `needed`, gives the `outputs` in their order, and says
    whether the conditions `guards` fall as they should; and the number of nodes in the text. `loaded` are the constants
    that are loaded, if there are any, and `n_functions` those of the user."""
    nodes = [k for k in needed if graph.nodes[k][0] not in LEAVES]
    inputs = [graph.nodes[k] for k in needed if graph.nodes[k][0] == "input"]
    found = listing(graph, nodes, {k: 1 + int(wanted) for k, wanted in guards.items()})
    parts = [piece for part in stretches(found) for piece in _cut(part, graph, found.nodes)]
    plan = Plan(graph, found, parts, outputs, inputs)
    length = sum(part.length for part in parts)
    indices, numbers = Table(), Table(FIRST_FUNCTION + n_functions)
    texts = []
    for k, part in enumerate(parts):
        if part.times == 1:
            texts.append(_once(f"{name}.{k}", plan, k, guards, numbers))
        else:
            texts.append(_loop(f"{name}.{k}", plan, k, guards, indices, numbers))
    texts.append(_whole(name, plan, outputs, indices, numbers))
    return "\n".join(texts), Data.of(indices, numbers, plan.size, loaded), length


def _cut(part: Stretch, graph: Graph, nodes: Ints) -> list[Stretch]:
    """A stretch that does not repeat in pieces for one function each; the results of a call stay with it."""
    if part.times > 1:
        return [part]
    end = part.first + part.length
    cuts = [part.first]
    while cuts[-1] + LONGEST < end:
        cut = cuts[-1] + LONGEST
        while graph.nodes[nodes[cut]][0] == "result":
            cut -= 1
        cuts.append(cut)
    return [Stretch(a, b - a, 1) for a, b in zip(cuts, [*cuts[1:], end], strict=True)]


_HEAD = f"{ARGUMENTS}, ptr %memory, ptr noalias %indices, ptr noalias %numbers"
_CALL = f"{PASSED}, ptr %memory, ptr %indices, ptr %numbers"


def _once(name: str, plan: Plan, k: int, guards: Mapping[int, bool], numbers: Table) -> str:
    """The function of a stretch that does not repeat."""
    part = plan.parts[k]
    span = slice(part.first, part.first + part.length)
    out = Part(plan.graph, plan.by_node, numbers)
    holds = "true"
    for node, place in zip(plan.found.nodes[span].tolist(), plan.place[span].tolist(), strict=True):
        out.compute(node)
        if place >= 0:
            out.store([node], "%memory", place, f"m{node}")
        if node in guards:
            holds = out.hold(node, guards[node], holds)
    head = f"define internal zeroext i1 @{name}({_HEAD}) nounwind noinline {{"
    return "\n".join([head, *out.lines, f"ret i1 {holds}", "}"])


@final
class _Turn:
    """The text of one turn of a loop."""

    def __init__(self, plan: Plan, part: Stretch, indices: Table, numbers: Table) -> None:
        self.lines: list[str] = []
        self._plan = plan
        self._indices, self._numbers = indices, numbers
        span = slice(part.first, part.first + part.length * part.times)
        self._part = part
        self._operand = plan.found.operand[span].reshape(part.times, part.length, 3)
        self._number = plan.found.number[span].reshape(part.times, part.length, 3)
        self._loaded: dict[object, str] = {}

    def operand(self, i: int, j: int) -> str:
        """How the j-th operand of the i-th node is written; loaded first if it is not of this turn."""
        operand, number, part = self._operand[:, i, j], self._number[:, i, j], self._part
        if operand[0] >= part.first:
            return f"%v{int(operand[0]) - part.first}"
        nodes = self._plan.graph.nodes
        if operand[0] == TIME:
            return f"%{nodes[int(number[0])][1]}"
        if operand[0] == CONST:
            return self._constant([nodes[k][1] for k in number.tolist()])
        return self._load("%memory", "double", self._plan.places(operand, number), "")

    def _constant(self, values: list[Constant]) -> str:
        same = all(x == values[0] for x in values)
        if same and isinstance(values[0], float):
            return real(values[0])
        key = ("number", *values)
        if key not in self._loaded:
            begin, step = self._numbers.place(*(values[:1] if same else values)), int(not same)
            self._loaded[key] = self._load("%numbers", "double", begin + step * np.arange(len(values)), "n")
        return self._loaded[key]

    def _load(self, base: str, kind: str, places: Ints, mark: str) -> str:
        """The number at a place that depends on the turn."""
        key = base, places.tobytes()
        if key not in self._loaded:
            name = f"%l{len(self._loaded)}{mark}"
            self._loaded[key] = name
            self.lines += [*self._address(f"{name}p", base, kind, places), f"{name} = load {kind}, ptr {name}p"]
        return self._loaded[key]

    def _address(self, name: str, base: str, kind: str, places: Ints) -> list[str]:
        first, step = int(places[0]), int(places[1] - places[0])
        if (np.diff(places) == step).all():
            return [
                f"{name}s = mul nsw i64 %m, {step}",
                f"{name}a = add nsw i64 {name}s, {first}",
                f"{name} = getelementptr double, ptr {base}, i64 {name}a",
            ]
        begin = self._indices.place(*places.tolist())
        return [
            f"{name}s = add nsw i64 %m, {begin}",
            f"{name}t = getelementptr i32, ptr %indices, i64 {name}s",
            f"{name}i = load i32, ptr {name}t",
            f"{name}a = sext i32 {name}i to i64",
            f"{name} = getelementptr double, ptr {base}, i64 {name}a",
        ]

    def store(self, i: int, places: Ints) -> None:
        """The i-th value to its place."""
        self.lines += [*self._address(f"%s{i}", "%memory", "double", places), f"store double %v{i}, ptr %s{i}"]


def _loop(name: str, plan: Plan, k: int, guards: Mapping[int, bool], indices: Table, numbers: Table) -> str:
    """The function of a stretch that repeats."""
    part, graph = plan.parts[k], plan.graph
    turn = _Turn(plan, part, indices, numbers)
    holds = "%holds"
    for i, node in enumerate(plan.found.nodes[part.first : part.first + part.length].tolist()):
        kind, *rest = graph.nodes[node]
        names = [turn.operand(i, j) for j in range(len(rest))]
        turn.lines += instruction(kind, f"%v{i}", names)
        if node in guards:
            turn.lines += agreement(f"%g{i}", f"%v{i}", guards[node], holds)
            holds = f"%g{i}"
    for offset in plan.left[k].tolist():
        turn.store(offset, plan.place[part.first + offset + part.length * np.arange(part.times)])
    return "\n".join(
        [
            f"define internal zeroext i1 @{name}({_HEAD}) nounwind noinline {{",
            "entry:",
            "br label %turn",
            "turn:",
            "%m = phi i64 [0, %entry], [%m1, %turn]",
            f"%holds = phi i1 [true, %entry], [{holds if holds != '%holds' else 'true'}, %turn]",
            *turn.lines,
            "%m1 = add nsw i64 %m, 1",
            f"%more = icmp slt i64 %m1, {part.times}",
            "br i1 %more, label %turn, label %done",
            "done:",
            f"ret i1 {holds if holds != '%holds' else 'true'}",
            "}",
        ]
    )


def _whole(name: str, plan: Plan, outputs: Sequence[int], indices: Table, numbers: Table) -> str:
    """The function that copies the inputs, calls all parts, and gathers the outputs."""
    lines = [f"define internal i32 @{name}({ARGUMENTS}) nounwind {{", "entry:"]
    for label, slot in (("memory", SCRATCH), ("indices", INDICES), ("numbers", NUMBERS), ("selection", SELECTION)):
        lines += [f"%{label}p = getelementptr ptr, ptr %context, i64 {slot}", f"%{label} = load ptr, ptr %{label}p"]
    lines += [
        "store double %t, ptr %memory",
        "%toc = getelementptr double, ptr %memory, i64 1",
        "store double %c, ptr %toc",
    ]
    for source in INPUTS:
        if size := 8 * plan.sizes[source]:
            lines += [
                f"%to{source} = getelementptr double, ptr %memory, i64 {plan.inputs[source]}",
                f"call void @llvm.memcpy.p0.p0.i64(ptr %to{source}, ptr %{source}, i64 {size}, i1 false)",
            ]
    holds = "true"
    for k in range(len(plan.parts)):
        lines += [f"%h{k} = call zeroext i1 @{name}.{k}({_CALL})", f"%a{k} = and i1 {holds}, %h{k}"]
        holds = f"%a{k}"
    lines += _gathered(plan, outputs, indices, numbers)
    return "\n".join([*lines, f"%bad = xor i1 {holds}, true", "%status = zext i1 %bad to i32", "ret i32 %status", "}"])


def _gathered(plan: Plan, outputs: Sequence[int], indices: Table, numbers: Table) -> list[str]:
    """Lines that bring the outputs from memory; constants among them follow."""
    nodes = plan.graph.nodes
    constant = [(i, nodes[k][1]) for i, k in enumerate(outputs) if nodes[k][0] == "const"]
    places = np.zeros(len(outputs), dtype=np.int64)
    for i, k in enumerate(outputs):
        node = nodes[k]
        if node[0] == "input":
            places[i] = plan.inputs[node[1]] + node[2]
        elif node[0] != "const":
            places[i] = plan.by_node[k]
    lines = _copies("o", len(outputs), "%memory", indices.place(*places.tolist()), None)
    if constant:
        where = indices.place(*(i for i, _ in constant))
        lines += _copies("k", len(constant), "%numbers", numbers.place(*(x for _, x in constant)), where)
    return lines


def _copies(mark: str, n: int, base: str, begin: int, target: int | None) -> list[str]:
    """A loop: out[i] = base[indices[begin + i]], or out[indices[target + i]] = base[begin + i]."""
    table = begin if target is None else target
    looked, other = ("source", "target") if target is None else ("target", "source")
    lines = [
        f"br label %{mark}0",
        f"{mark}0:",
        f"br label %{mark}1",
        f"{mark}1:",
        f"%{mark}i = phi i64 [0, %{mark}0], [%{mark}n, %{mark}1]",
        f"%{mark}t = add i64 %{mark}i, {table}",
        f"%{mark}p = getelementptr i32, ptr %indices, i64 %{mark}t",
        f"%{mark}x = load i32, ptr %{mark}p",
        f"%{mark}{looked} = sext i32 %{mark}x to i64",
        f"%{mark}{other} = add i64 %{mark}i, {0 if target is None else begin}",
        f"%{mark}f = getelementptr double, ptr {base}, i64 %{mark}source",
        f"%{mark}v = load double, ptr %{mark}f",
        f"%{mark}o = getelementptr double, ptr %out, i64 %{mark}target",
        f"store double %{mark}v, ptr %{mark}o",
        f"%{mark}n = add i64 %{mark}i, 1",
        f"%{mark}c = icmp slt i64 %{mark}n, {n}",
        f"br i1 %{mark}c, label %{mark}1, label %{mark}2",
        f"{mark}2:",
    ]
    return lines
