"""An expression graph in which much repeats, as LLVM text: a loop for each repetition, straight code between them.

Values that are needed elsewhere go through memory: first the inputs, then of each stretch (`rbdae.graph.repeats`) those
values that others use, each as a vector over the stretch's turns. In a loop an operand is at a place that moves evenly
from turn to turn, or at one from a table. So the text, and the time that LLVM takes, do not grow with the number of
bodies in a chain; tables and numbers are data beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import LEAVES, Constant, Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.repeats import CONST, TIME, Stretch, listing, stretches
from rbdae.machine.data import Data, Table
from rbdae.machine.function import FIRST_FUNCTION, INDICES, NUMBERS, SCRATCH, SELECTION
from rbdae.machine.places import INPUTS, Plan
from rbdae.machine.straight import ARGUMENTS, LONGEST, PASSED, Part, agreement, instruction, real


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
