"""Loops over recorded elements as LLVM text: a body, or a joint with its bodies, is recorded once for its kind, and
computed for all elements of the kind one after the other.

Where an element finds its inputs and puts its results is data, so that the text does not depend on the number of
elements. Places that keep their distance from each other from element to element share an entry of the table; one that
moves evenly needs none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph, operands
from rbdae.machine.columns import Column, Columns
from rbdae.machine.element_text import word
from rbdae.machine.function import INDICES, NUMBERS, SCRATCH, SELECTION
from rbdae.machine.straight import ARGUMENTS, PASSED, instruction, real


class Output(NamedTuple):
    """A result of an element: its node, its places for all elements, and whether it is the first one there; and whether
    it is one of the results, or a value that later elements read."""

    node: int
    places: Ints
    how: Literal["store", "add"]
    vector: Literal["out", "work"] = "out"


@final
@dataclass(frozen=True, eq=False)
class Element:
    """A kind of elements.

    Parameters
    ----------
    graph : what one of them computes
    order : its nodes, in an order in which they can be computed
    inputs : of each node that is an input the vector, ``"y"``, ``"yd"``, ``"numbers"``, ``"selection"`` or ``"work"``,
        and the places of all elements there
    outputs : the results
    """

    graph: Graph
    order: Sequence[int]
    inputs: Mapping[int, tuple[str, Ints]]
    outputs: Sequence[Output]

    @property
    def length(self) -> int:
        """Number of operations of one element."""
        return sum(self.graph.nodes[k][0] not in ("const", "input") for k in self.order)


_VECTORS = {"indices": INDICES, "numbers": NUMBERS, "selection": SELECTION, "work": SCRATCH}
"""The vectors of a context."""

_HEAD = ", ".join([ARGUMENTS, *(f"ptr noalias %{name}" for name in _VECTORS)])
_CALL = ", ".join([PASSED, *(f"ptr %{name}" for name in _VECTORS)])
_COUNT, _FIRST = 0, 1
"""What stands at the beginning of the data of a kind: the number of elements, and the first place of each group."""


@final
class _Loop:
    """The text of the loop of one kind, and its data."""

    def __init__(self, name: str, element: Element) -> None:
        self._element = element
        self._places = Columns()
        self._lines: list[str] = []
        self._bases: dict[int, str] = {}
        self._columns = {k: (vector, self._places.column(at)) for k, (vector, at) in element.inputs.items()}
        self._results: dict[int, list[tuple[int, Column]]] = {}
        for number, output in enumerate(element.outputs):
            self._results.setdefault(output.node, []).append((number, self._places.column(output.places)))
        self._steps = self._places.steps()
        self._name = name
        # not the numbers of nodes, which depend on the number of inputs
        self._names = {k: f"%v{i}" for i, k in enumerate(element.order)}

    def data(self) -> Ints:
        """The number of elements, the first places, and the table, element by element."""
        count = len(self._element.outputs[0].places)
        return np.append(np.int32(count), self._places.data())

    def text(self) -> str:
        """A function of where its data begins."""
        for k in self._element.order:
            self._compute(k)
            for number, column in self._results.get(k, ()):
                self._store(k, number, column)
        firsts = [line for g in range(len(self._steps)) for line in word(f"first{g}", _FIRST + g)]
        return "\n".join(
            [
                f"define internal void @{self._name}({_HEAD}, i64 %data) nounwind noinline {{",
                "entry:",
                *word("count", _COUNT),
                *firsts,
                f"%table = add i64 %data, {_FIRST + len(self._steps)}",
                "br label %turn",
                "turn:",
                "%e = phi i64 [0, %entry], [%next, %turn]",
                *self._lines,
                "%next = add nsw i64 %e, 1",
                "%more = icmp slt i64 %next, %count",
                "br i1 %more, label %turn, label %done",
                "done:",
                "ret void",
                "}",
            ]
        )

    def _compute(self, k: int) -> None:
        node = self._element.graph.nodes[k]
        if k in self._columns:
            vector, column = self._columns[k]
            at = self._names[k].replace("v", "p")
            self._lines += self._address(at, vector, column)
            self._lines.append(f"{self._names[k]} = load double, ptr {at}, align 8")
        elif node[0] not in ("const", "input"):
            self._lines += instruction(node[0], self._names[k], [self._operand(j) for j in operands(node)])

    def _operand(self, k: int) -> str:
        node = self._element.graph.nodes[k]
        if node[0] == "const":
            return real(node[1])
        return f"%{node[1]}" if node[0] == "input" and node[1] in ("t", "c") else self._names[k]

    def _store(self, k: int, number: int, column: Column) -> None:
        output = self._element.outputs[number]
        self._lines += self._address(f"%o{number}", output.vector, column)
        value = self._operand(k)
        if output.how == "add":
            self._lines += [
                f"%o{number}b = load double, ptr %o{number}, align 8",
                f"%o{number}s = fadd double %o{number}b, {value}",
            ]
            value = f"%o{number}s"
        self._lines.append(f"store double {value}, ptr %o{number}, align 8")

    def _address(self, name: str, vector: str, column: Column) -> list[str]:
        group, distance = column
        lines: list[str] = []
        if group not in self._bases:
            base, step = f"%b{group}", self._steps[group]
            if step is not None:
                lines += [f"{base}m = mul nsw i64 %e, {step}", f"{base} = add nsw i64 {base}m, %first{group}"]
            else:
                width = sum(step is None for step in self._steps)
                at = sum(step is None for step in self._steps[:group])
                lines += [
                    f"{base}m = mul nsw i64 %e, {width}",
                    f"{base}t = add nsw i64 {base}m, %table",
                    f"{base}p = getelementptr i32, ptr %indices, i64 {base}t",
                    f"{base}q = getelementptr i32, ptr {base}p, i64 {at}",
                    f"{base}i = load i32, ptr {base}q, align 4",
                    f"{base} = sext i32 {base}i to i64",
                ]
            self._bases[group] = base
        return [
            *lines,
            f"{name}q = getelementptr double, ptr %{vector}, i64 {self._bases[group]}",
            f"{name} = getelementptr double, ptr {name}q, i64 {distance}",
        ]


def looped(name: str, elements: Sequence[Element], size: int) -> tuple[str, Ints]:
    """The text of a function that computes all elements of all kinds in their order, `size` results, and its table of
    places."""
    loops = [_Loop(f"{name}.{k}", element) for k, element in enumerate(elements)]
    lines = [f"define internal i32 @{name}({ARGUMENTS}) nounwind {{"]
    for label, slot in _VECTORS.items():
        lines += [f"%{label}p = getelementptr ptr, ptr %context, i64 {slot}", f"%{label} = load ptr, ptr %{label}p"]
    # the table begins with the number of results, and where the data of each kind begins
    lines += ["%data = add i64 0, 0", *word("size", 0)]
    if _begin_as_zeros(elements, size):
        lines += [
            "%bytes = mul i64 %size, 8",
            "call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 %bytes, i1 false)",
        ]
    for k in range(len(loops)):
        lines += [*word(f"begin{k}", 1 + k), f"call void @{name}.{k}({_CALL}, i64 %begin{k})"]
    text = "\n".join([*(loop.text() for loop in loops), *lines, "ret i32 0", "}"])
    data = [loop.data() for loop in loops]
    begins = 1 + len(loops) + np.cumsum([0, *map(len, data[:-1])])
    return text, np.concatenate([np.array([size, *begins], dtype=np.int32), *data])


def length_of_work(elements: Sequence[Element]) -> int:
    """The numbers that elements keep for later ones."""
    places = [output.places for element in elements for output in element.outputs if output.vector == "work"]
    return 1 + max((int(at.max()) for at in places), default=0)


def _begin_as_zeros(elements: Sequence[Element], size: int) -> bool:
    """Whether some result is added to before it is written, or nobody writes it."""
    written = np.zeros(size, dtype=bool)
    for element in elements:
        for output in element.outputs:
            if output.vector == "work":
                continue
            if output.how == "add" and not written[output.places].all():
                return True
            written[output.places] = True
    return not written.all()
