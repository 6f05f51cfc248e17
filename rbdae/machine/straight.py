"""An expression graph as LLVM text: straight code, cut into functions of bounded size.

LLVM's passes take longer than in proportion to a function's length. So a long graph is cut, in the order of its nodes,
into functions that LLVM optimises one by one; values that a later one needs go through memory on the stack, whose
places are used again when no later function needs them.

The function is ``i32 name(context, t, y, yd, c, out)``: 0 says that `out` is complete, 1 that a guard does not hold,
and that `out` means nothing. `context` is an array of addresses, see `rbdae.machine.function`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np

from rbdae.graph.graph import Graph, operands
from rbdae.machine.function import FIRST_FUNCTION, SELECTION

LONGEST = 4000
"""Nodes in one function; a number that goes to memory counts as `_STORE` of them, because LLVM's time grows with the
square of their number in one piece of straight code."""

_STORE = 6

ARGUMENTS = "ptr %context, double %t, ptr noalias %y, ptr noalias %yd, double %c, ptr noalias %out"
PASSED = "ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out"

_INTRINSICS = {"sqrt": "llvm.sqrt.f64", "abs": "llvm.fabs.f64", "floor": "llvm.floor.f64"}
_LIBRARY = {
    "sin": "sin",
    "cos": "cos",
    "tan": "tan",
    "arcsin": "asin",
    "arctan": "atan",
    "log": "log",
    "arctan2": "atan2",
}
_ARITHMETIC = {"add": "fadd contract", "sub": "fsub contract", "mul": "fmul contract"}
_COMPARISONS = {"<": "olt", "<=": "ole", "==": "oeq"}

DECLARATIONS = "\n".join(
    [
        "declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)",
        "declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)",
        *(f"declare double @{name}(double)" for name in _INTRINSICS.values()),
        *(
            f"declare double @{name}({'double, double' if name == 'atan2' else 'double'}) memory(none) nounwind"
            for name in _LIBRARY.values()
        ),
    ]
)


def real(x: float) -> str:
    """A number as LLVM writes it, to the last bit."""
    return f"0x{int(np.float64(x).view(np.uint64)):016x}"


@final
class Part:
    """The text of one function: its lines, and where values are."""

    def __init__(self, graph: Graph, places: Mapping[int, int]) -> None:
        self.lines: list[str] = []
        self._graph = graph
        self._places = places
        self._there: set[int] = set()
        self._pointers: set[str] = set()

    def name(self, k: int) -> str:
        """How a value is written: a constant, an argument, or what holds it; loaded first if it is in memory."""
        node = self._graph.nodes[k]
        if node[0] == "const":
            return real(node[1])
        if node[0] == "input" and node[1] in ("t", "c"):
            return f"%{node[1]}"
        if k not in self._there:
            self._there.add(k)
            if node[0] == "input":
                self._load(k, f"%{node[1]}" if node[1] != "selection" else self._pointer(SELECTION), node[2])
            else:
                self._load(k, "%memory", self._places[k])
        return f"%v{k}"

    def _load(self, k: int, base: str, place: int) -> None:
        self.lines += [
            f"%p{k} = getelementptr double, ptr {base}, i64 {place}",
            f"%v{k} = load double, ptr %p{k}",
        ]

    def store(self, k: int, base: str, place: int, label: str) -> None:
        """A value to memory."""
        value = self.name(k)
        self.lines += [
            f"%{label} = getelementptr double, ptr {base}, i64 {place}",
            f"store double {value}, ptr %{label}",
        ]

    def _pointer(self, place: int) -> str:
        """An address from the context."""
        name = f"%x{place}"
        if name not in self._pointers:
            self._pointers.add(name)
            self.lines += [
                f"{name}p = getelementptr ptr, ptr %context, i64 {place}",
                f"{name} = load ptr, ptr {name}p",
            ]
        return name

    def hold(self, k: int, wanted: bool, holds: str) -> str:
        """The conditions so far, and that one falls as it should."""
        self.lines += agreement(f"%g{k}", self.name(k), wanted, holds)
        return f"%g{k}"

    def compute(self, k: int) -> None:
        """The lines of one node."""
        node = self._graph.nodes[k]
        kind = node[0]
        if kind in ("input", "const"):
            return
        if kind == "call":
            self._call(k)
            return
        if kind == "result":
            return  # loaded with its call
        self.lines += instruction(kind, f"%v{k}", [self.name(j) for j in operands(node)])
        self._there.add(k)

    def _call(self, k: int) -> None:
        """A function of the user: operands to memory, results from memory."""
        _, number, n_in, n_out, *values = self._graph.nodes[k]
        time, *numbers = [self.name(j) for j in values]
        function = self._pointer(FIRST_FUNCTION + number)
        self.lines.append(f"%u{k} = alloca [{max(len(numbers), 1)} x double]")
        for i, value in enumerate(numbers):
            self.lines.append(f"%u{k}.{i} = getelementptr double, ptr %u{k}, i64 {i}")
            self.lines.append(f"store double {value}, ptr %u{k}.{i}")
        self.lines.append(f"%u{k}.o = getelementptr double, ptr %u{k}, i64 {n_in}")
        self.lines.append(f"call void {function}(double {time}, ptr %u{k}, ptr %u{k}.o)")
        for i in range(n_out):
            result = self._graph.node("result", k, i)
            self.lines.append(f"%v{result} = load double, ptr %u{k}.{n_in + i}")
            self._there.add(result)


def instruction(kind: str, target: str, names: Sequence[str]) -> list[str]:
    """The lines that compute one node; conditions are numbers, 1 or 0."""
    if kind == "select":
        test = f"{target}b = fcmp one double {names[0]}, 0.0"
        return [test, f"{target} = select i1 {target}b, double {names[1]}, double {names[2]}"]
    if kind in _COMPARISONS:
        test = f"{target}b = fcmp {_COMPARISONS[kind]} double {names[0]}, {names[1]}"
        return [test, f"{target} = uitofp i1 {target}b to double"]
    return [f"{target} = {_expression(kind, names)}"]


def agreement(target: str, condition: str, wanted: bool, holds: str) -> list[str]:
    """The lines that join a condition, a number that should be 1 where `wanted`, to others."""
    test = "one" if wanted else "oeq"
    return [f"{target}x = fcmp {test} double {condition}, 0.0", f"{target} = and i1 {holds}, {target}x"]


def _expression(kind: str, names: Sequence[str]) -> str:
    if kind in _ARITHMETIC:
        return f"{_ARITHMETIC[kind]} double {names[0]}, {names[1]}"
    if kind == "neg":
        return f"fneg double {names[0]}"
    if kind == "rcp":
        return f"fdiv double 1.0, {names[0]}"
    if kind == "not":
        return f"fsub double 1.0, {names[0]}"
    function = _INTRINSICS.get(kind) or _LIBRARY[kind]
    return f"call double @{function}({', '.join(f'double {name}' for name in names)})"


def _cut(graph: Graph, needed: Sequence[int], wanted: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The nodes in sections of bounded length; the results of a call stay with it."""
    out: list[list[int]] = [[]]
    length = 0
    for k in needed:
        if length >= LONGEST and graph.nodes[k][0] != "result":
            out.append([])
            length = 0
        out[-1].append(k)
        length += 1 + _STORE * len(wanted.get(k, ()))
    return out


def _last_uses(graph: Graph, sections: Sequence[Sequence[int]]) -> dict[int, int]:
    """The last section that needs the value of a node from another one."""
    home = {k: i for i, section in enumerate(sections) for k in section}
    out: dict[int, int] = {}
    for i, section in enumerate(sections):
        for k in section:
            for j in operands(graph.nodes[k]):
                if home.get(j, i) < i and graph.nodes[j][0] != "input":
                    out[j] = i
    return out


def _places(sections: Sequence[Sequence[int]], last: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Where in memory values go, and how many places there are; a place is free after the last use."""
    places: dict[int, int] = {}
    free: list[int] = []
    ending: list[list[int]] = [[] for _ in sections]
    n = 0
    for i, section in enumerate(sections):
        for k in section:
            if k in last:
                if free:
                    places[k] = free.pop()
                else:
                    places[k], n = n, n + 1
                ending[last[k]].append(places[k])
        free += ending[i]
    return places, n


def straight(name: str, graph: Graph, outputs: Sequence[int], guards: Mapping[int, bool]) -> str:
    """The text of a function that computes the nodes `outputs`, in their order, and whether the conditions `guards`
    fall as they say."""
    wanted: dict[int, list[int]] = {}
    for place, k in enumerate(outputs):
        wanted.setdefault(k, []).append(place)
    sections = _cut(graph, graph.needed([*guards, *outputs]), wanted)
    last = _last_uses(graph, sections)
    places, n_places = _places(sections, last)
    texts = []
    for i, section in enumerate(sections):
        part = Part(graph, places)
        holds = "true"
        for k in section:
            part.compute(k)
            if k in last:
                part.store(k, "%memory", places[k], f"m{k}")
            for place in wanted.get(k, ()):
                part.store(k, "%out", place, f"o{place}")
            if k in guards:
                holds = part.hold(k, guards[k], holds)
        head = f"define internal i1 @{name}.{i}({ARGUMENTS}, ptr noalias %memory) nounwind noinline {{"
        texts += [head, *part.lines, f"ret i1 {holds}", "}"]
    texts.append(_joined(name, len(sections), n_places))
    return "\n".join(texts)


def _joined(name: str, n: int, n_places: int) -> str:
    """The function that calls all parts."""
    lines = [f"define internal i32 @{name}({ARGUMENTS}) nounwind {{", f"%memory = alloca [{max(n_places, 1)} x double]"]
    holds = "true"
    for i in range(n):
        lines.append(f"%s{i} = call i1 @{name}.{i}({PASSED}, ptr %memory)")
        lines.append(f"%a{i} = and i1 {holds}, %s{i}")
        holds = f"%a{i}"
    return "\n".join([*lines, f"%bad = xor i1 {holds}, true", "%status = zext i1 %bad to i32", "ret i32 %status", "}"])


__all__ = ["ARGUMENTS", "DECLARATIONS", "LONGEST", "PASSED", "Part", "agreement", "instruction", "real", "straight"]
