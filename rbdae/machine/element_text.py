"""One turn of a loop over elements as LLVM text: one element, or one in each lane of vector registers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

from rbdae.graph.graph import Graph, operands
from rbdae.machine.straight import COMPARISONS, OF_VECTORS, called, everywhere, instruction, real, register

ARGUMENTS_OF_ELEMENTS = (
    "ptr %context, double %t, double %c, ptr noalias %y, ptr noalias %yd, ptr noalias %out, ptr noalias %work, "
    "ptr noalias %indices, ptr noalias %numbers, ptr noalias %selection, i64 %data, i64 %from, i64 %to"
)
PASSED_TO_ELEMENTS = (
    "ptr %context, double %t, double %c, ptr %y, ptr %yd, ptr %out, ptr %work, ptr %indices, ptr %numbers, "
    "ptr %selection"
)
IN_LANES = frozenset({*OF_VECTORS, "const", "input"})
"""The kinds of nodes that lanes compute."""


def word(name: str, place: int) -> list[str]:
    """A number from the data of a kind."""
    return [
        f"%{name}a = add i64 %data, {place}",
        f"%{name}p = getelementptr i32, ptr %indices, i64 %{name}a",
        f"%{name}w = load i32, ptr %{name}p, align 4",
        f"%{name} = sext i32 %{name}w to i64",
    ]


def declarations(lanes: int) -> str:
    """The intrinsics of vectors with this number of lanes."""
    kind, mark = register(lanes), f"v{lanes}f64"
    return "\n".join(
        [
            f"declare i1 @llvm.vector.reduce.and.v{lanes}i1(<{lanes} x i1>)",
            f"declare {kind} @llvm.fabs.{mark}({kind})",
            *([f"declare {kind} @llvm.sqrt.{mark}({kind})"] if lanes != 2 else []),
        ]
    )


@final
class Turn:
    """The lines of one turn. `steps` are those of the groups of places, None for those that a table has."""

    def __init__(self, label: str, graph: Graph, width: int, steps: Sequence[int | None]) -> None:
        self.lines: list[str] = []
        self._label, self._graph, self._width, self._steps = label, graph, width, steps
        self._kind = register(width)
        self._bases: dict[tuple[str, int, int], str] = {}
        self._names: dict[int, str] = {}  # not the numbers of nodes, which depend on the number of inputs
        self._tests: dict[int, str] = {}
        self._conditions: list[str] = []

    def compute(self, k: int, place: tuple[str, int, int] | None) -> None:
        """A node: loaded from a place (vector, group, distance), or computed."""
        node = self._graph.nodes[k]
        name = f"%{self._label}.v{len(self._names)}"
        if place is not None:
            self._names[k] = name
            self._load(name, *place)
            return
        if node[0] == "const":
            self._names[k] = everywhere(real(node[1]), self._width)
            return
        if node[0] == "input" and node[1] in ("t", "c"):
            self._names[k] = f"%{node[1]}" if self._width == 1 else name
            if self._width > 1:
                self._spread(name, f"%{node[1]}")
            return
        if node[0] == "result":
            return
        self._names[k] = name
        if node[0] == "call":
            _, number, n_in, n_out, *values = node
            results = {self._graph.node("result", k, i): f"{name}r{i}" for i in range(n_out)}
            self.lines += called(name, number, n_in, [self._names[j] for j in values], list(results.values()))
            self._names |= results
            return
        self.lines += instruction(node[0], name, [self._names[j] for j in operands(node)], self._width)
        if node[0] in COMPARISONS:
            self._tests[k] = f"{name}b"

    def rely(self, k: int, wanted: bool) -> None:
        """A condition that has to fall so."""
        kind, test = "i1" if self._width == 1 else f"<{self._width} x i1>", self._tests.get(k)
        if test is None:
            test = f"{self._names[k]}t"  # a choice has a test of its own
            self.lines.append(f"{test} = fcmp one double {self._names[k]}, 0.0")
        if not wanted:
            self.lines.append(f"{test}n = xor {kind} {test}, {everywhere('true', self._width, 'i1')}")
            test = f"{test}n"
        if self._width > 1:
            reduce = f"@llvm.vector.reduce.and.v{self._width}i1"
            self.lines.append(f"{test}r = call i1 {reduce}({kind} {test})")
            test = f"{test}r"
        joined = self._conditions[-1] if self._conditions else "true"
        self.lines.append(f"{test}h = and i1 {joined}, {test}")
        self._conditions.append(f"{test}h")

    def holds(self) -> str:
        """Whether all conditions hold."""
        return self._conditions[-1] if self._conditions else "true"

    def _load(self, name: str, vector: str, group: int, distance: int) -> None:
        step = self._steps[group]
        if self._width == 1 or step == 1:
            at = self._pointer(f"{name}p", vector, group, distance, 0)
            self.lines.append(f"{name} = load {self._kind}, ptr {at}, align 8")
        elif step == 0:
            at = self._pointer(f"{name}p", vector, group, distance, 0)
            self.lines.append(f"{name}s = load double, ptr {at}, align 8")
            self._spread(name, f"{name}s")
        else:
            last = "poison"
            for lane in range(self._width):
                at = self._pointer(f"{name}p{lane}", vector, group, distance, lane)
                target = name if lane == self._width - 1 else f"{name}i{lane}"
                self.lines += [
                    f"{name}s{lane} = load double, ptr {at}, align 8",
                    f"{target} = insertelement {self._kind} {last}, double {name}s{lane}, i32 {lane}",
                ]
                last = target

    def _spread(self, name: str, value: str) -> None:
        kind = self._kind
        self.lines += [
            f"{name}i = insertelement {kind} poison, double {value}, i32 0",
            f"{name} = shufflevector {kind} {name}i, {kind} poison, <{self._width} x i32> zeroinitializer",
        ]

    def store(self, k: int, number: int, vector: str, group: int, distance: int, *, adds: bool) -> None:
        """A result to its place."""
        value, name = self._names[k], f"%{self._label}.o{number}"
        step = self._steps[group]
        if self._width == 1 or (step == 1 and not adds):
            self._write(name, self._kind, value, self._pointer(f"{name}p", vector, group, distance, 0), adds)
            return
        for lane in range(self._width):
            at = self._pointer(f"{name}p{lane}", vector, group, distance, lane)
            one = f"{name}x{lane}"
            self.lines.append(f"{one} = extractelement {self._kind} {value}, i32 {lane}")
            self._write(one, "double", one, at, adds)

    def _write(self, name: str, kind: str, value: str, at: str, adds: bool) -> None:
        if adds:
            self.lines += [f"{name}b = load {kind}, ptr {at}, align 8", f"{name}s = fadd {kind} {name}b, {value}"]
        self.lines.append(f"store {kind} {name + 's' if adds else value}, ptr {at}, align 8")

    def _pointer(self, name: str, vector: str, group: int, distance: int, lane: int) -> str:
        step = self._steps[group]
        base = self._base(vector, group, 0 if step is not None else lane)
        distance += lane * step if step is not None else 0
        if not distance:
            return base
        self.lines.append(f"{name} = getelementptr double, ptr {base}, i64 {distance}")
        return name

    def _base(self, vector: str, group: int, lane: int) -> str:
        """The address of a group's first entry in a vector, for the element in a lane."""
        if (vector, group, lane) in self._bases:
            return self._bases[vector, group, lane]
        base, step = f"%{self._label}.{vector}{group}.{lane}", self._steps[group]
        at = f"%first{group}"
        if step is not None and step:
            at = f"{base}a"
            self.lines += [
                f"{base}m = mul nsw i64 %{self._label}.e, {step}",
                f"{at} = add nsw i64 {base}m, %first{group}",
            ]
        elif step is None:
            at = f"{base}a"
            width = sum(step is None for step in self._steps)
            column = sum(step is None for step in self._steps[:group]) + lane * width
            self.lines += [
                f"{base}m = mul nsw i64 %{self._label}.e, {width}",
                f"{base}t = add nsw i64 {base}m, %table",
                f"{base}p = getelementptr i32, ptr %indices, i64 {base}t",
                f"{base}q = getelementptr i32, ptr {base}p, i64 {column}",
                f"{base}i = load i32, ptr {base}q, align 4",
                f"{at} = sext i32 {base}i to i64",
            ]
        self.lines.append(f"{base} = getelementptr double, ptr %{vector}, i64 {at}")
        self._bases[vector, group, lane] = base
        return base
