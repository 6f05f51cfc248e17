"""Recorded elements as LLVM text: a body, or a joint with its bodies, is recorded once for its kind and computed for
many of them in a loop; a schedule says which elements of which kind come next.

Elements read and write named vectors: y, yd, the results, the numbers that they load, and a work vector, in which those
of one kind leave what others need. Kinds, and what an element computes, are text; places, schedule and numbers are data
beside it, so that the text does not depend on the number of elements. Places that keep their distance from each other
from element to element share an entry of a table; one that moves evenly needs none. A condition that an element relies
on is part of the status of the call.

With several lanes as many elements of a kind are computed at a time, one in each lane of a vector register; what they
add is added one after the other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.graph.evaluate import computed
from rbdae.graph.graph import Graph, operands
from rbdae.graph.loaded import Tape
from rbdae.machine.element_text import ARGUMENTS_OF_ELEMENTS, PASSED_TO_ELEMENTS, Turn, word
from rbdae.machine.function import INDICES, NUMBERS, SCRATCH, SELECTION
from rbdae.machine.loops.following import follow
from rbdae.machine.solving import Solving
from rbdae.machine.straight import ARGUMENTS


class Place(NamedTuple):
    """A number of each element.

    Parameters
    ----------
    vector : ``"y"``, ``"yd"``, ``"out"``, ``"work"``, ``"numbers"`` or ``"selection"``
    block : a name of what belongs together: places of one block whose distance is the same for all elements share an
        entry of the table; if it is empty, or in other vectors than work and numbers, only where they are near
    at : the places in the vector
    """

    vector: str
    block: str
    at: Ints


class Result(NamedTuple):
    """A result of an element: its node, its place, and whether it is added there."""

    node: int
    place: Place
    adds: bool = False


@final
@dataclass(frozen=True, eq=False)
class Kind:
    """Elements of one kind.

    Parameters
    ----------
    graph : what one of them computes
    order : its nodes, in an order in which they can be computed
    count : number of elements
    inputs : the places of nodes that are loaded
    results : the results
    guards : conditions, and how they have to fall
    lanes : elements that are computed at a time: runs have at least that number, and no element reads what another one
        of its run writes
    """

    graph: Graph
    order: Sequence[int]
    count: int
    inputs: Mapping[int, Place]
    results: Sequence[Result]
    guards: Mapping[int, bool] = field(default_factory=dict)
    lanes: int = 1

    @property
    def length(self) -> int:
        """Number of operations of one element."""
        return sum(bool(operands(self.graph.nodes[k])) for k in self.order if k not in self.inputs)


class Run(NamedTuple):
    """Elements `first` to `end` - 1 of a kind, by its number."""

    kind: int
    first: int
    end: int


class Elements(NamedTuple):
    """A function made of elements.

    Attributes
    ----------
    kinds, runs : what is computed, and in which order
    cleared : how many numbers of the work vector, and how many results, are zero at first
    size : of the work vector
    tape : makes the numbers that are loaded of those of a model
    solving : a sparse system that is solved between elements; its run has the number after those of the kinds
    """

    kinds: Sequence[Kind]
    runs: Sequence[Run]
    cleared: tuple[int, int]
    size: int
    tape: Tape
    solving: Solving | None = None


def numbers_of(elements: Elements, numbers: Vec) -> Vec:
    """The numbers that elements load, for those of a model."""
    tape, loaded = elements.tape, np.empty(len(elements.tape.results))
    values, n = np.concatenate([tape.constants, numbers, np.empty(len(tape.rows))]), len(loaded)
    first = len(values) - len(tape.rows)
    follow(len(tape.rows), first, tape.rows.ravel(), values, n, tape.results, np.arange(n), loaded)
    return loaded


def evaluated(elements: Elements, inputs: Mapping[str, Any], numbers: Vec, n_results: int) -> Vec | None:
    """The results by NumPy, on stacks of the elements of a run, of which none reads what another one writes; None if a
    condition does not hold. `inputs` are (t,), y, yd and the selection by name, `numbers` those of the model."""
    vectors = {**inputs, "numbers": numbers_of(elements, numbers)}
    vectors |= {"work": np.zeros(elements.size), "out": np.zeros(n_results)}
    for number, first, end in elements.runs:
        kind, there = elements.kinds[number], dict[int, Any]()
        for k in kind.order:
            if k in kind.inputs:
                place = kind.inputs[k]
                there[k] = vectors[place.vector][place.at[first:end]]
            else:
                there[k] = computed(kind.graph.nodes[k], there, vectors, ())
        if not all(np.all((there[k] != 0.0) == wanted) for k, wanted in kind.guards.items()):
            return None
        for node, place, adds in kind.results:
            at = place.at[first:end]
            if adds:
                np.add.at(vectors[place.vector], at, there[node])
            else:
                vectors[place.vector][at] = there[node]
    out: Vec = vectors["out"]
    return out


class Column(NamedTuple):
    """The entry that some places share, and how far they are from it."""

    group: int
    distance: int


NEAR = 32
"""Places that are nearer than this share an entry. Those of positions, velocities and multipliers do not: how far they
are from each other depends on the number of bodies."""


@final
class _Columns:
    """The places of one kind: for each group the first place and the step, or a column of a table."""

    def __init__(self) -> None:
        self.groups: list[Ints] = []
        self._known: dict[tuple[str, bytes], list[int]] = {}

    def column(self, place: Place) -> Column:
        """The entry of these places, which they share with those of the same block that are near."""
        near = math.inf if place.block and place.vector in ("work", "numbers") else NEAR
        alike = self._known.setdefault((place.block, (place.at - place.at[0]).tobytes()), [])
        for group in alike:
            distance = int(place.at[0] - self.groups[group][0])
            if abs(distance) < near:
                return Column(group, distance)
        alike.append(len(self.groups))
        self.groups.append(place.at)
        return Column(alike[-1], 0)

    def steps(self) -> list[int | None]:
        """The step of each group; None for those that are in the table."""
        found: list[int | None] = []
        for places in self.groups:
            steps = np.diff(places)
            found.append(0 if not len(steps) else int(steps[0]) if (steps == steps[0]).all() else None)
        return found

    def data(self) -> Ints:
        """The first place of each group, and the table, element by element."""
        tabled = [places for places, step in zip(self.groups, self.steps(), strict=True) if step is None]
        table = np.array(tabled, dtype=np.int32).T.ravel() if tabled else np.zeros(0, dtype=np.int32)
        return np.concatenate([np.array([places[0] for places in self.groups], dtype=np.int32), table])


@final
class _Function:
    """The text of the loop of one kind, and its data: the first place of each group, and the table."""

    def __init__(self, name: str, kind: Kind) -> None:
        self._name, self._kind, places = name, kind, _Columns()
        self._inputs = {k: (place.vector, *places.column(place)) for k, place in kind.inputs.items()}
        self._results: dict[int, list[tuple[int, str, Column, bool]]] = {}
        for number, (node, place, adds) in enumerate(kind.results):
            self._results.setdefault(node, []).append((number, place.vector, places.column(place), adds))
        self._steps = places.steps()
        self.data = places.data()

    def text(self) -> str:
        """A function of where its data begins, and of the first and the last element; whether all conditions hold."""
        firsts = [line for g, step in enumerate(self._steps) if step is not None for line in word(f"first{g}", g)]
        lanes, rest = self._kind.lanes > 1, self._kind.lanes == 1 or any(result.adds for result in self._kind.results)
        lines = [
            f"define internal i1 @{self._name}({ARGUMENTS_OF_ELEMENTS}) nounwind noinline {{",
            "entry:",
            *firsts,
            f"%table = add i64 %data, {len(self._steps)}",
        ]
        if self._kind.count == 1:
            turn = self._turn("one", 1)
            return "\n".join([*lines, *turn.lines, f"ret i1 {turn.holds()}", "}"])
        if lanes and not rest:  # those that are stored twice are the same
            lines += self._many("%to", "end")
            return "\n".join([*lines, "end:", "ret i1 %lanes.holds", "}"])
        if lanes:
            w = self._kind.lanes
            lines += [
                "%number = sub i64 %to, %from",
                f"%whole = and i64 %number, {-w}",
                "%many = add i64 %from, %whole",
            ]
            lines += self._many("%many", "then")
        else:
            lines.append("br label %then")
        lines += [
            "then:",
            f"%held = phi i1 {'[%lanes.holds, %lanes]' if lanes else '[true, %entry]'}",
            f"%start = phi i64 {'[%many, %lanes]' if lanes else '[%from, %entry]'}",
            "%some = icmp slt i64 %start, %to",
            "br i1 %some, label %one, label %end",
            *self._loop("one", 1, "%start", "%to", "%held", "then"),
            "end:",
            "%ok = phi i1 [%held, %then], [%one.holds, %one]",
            "ret i1 %ok",
            "}",
        ]
        return "\n".join(lines)

    def _many(self, end: str, after: str) -> list[str]:
        """The loop over as many elements at a time as there are lanes. The last of them are those before `end`."""
        w = self._kind.lanes
        last = [f"%last = sub i64 {end}, {w}", "br label %lanes"]
        return [*last, *self._loop("lanes", w, "%from", end, "true", "entry", after)]

    def _turn(self, label: str, width: int) -> Turn:
        turn = Turn(label, self._kind.graph, width, self._steps)
        for k in self._kind.order:
            turn.compute(k, self._inputs.get(k))
            for number, vector, column, adds in self._results.get(k, ()):
                turn.store(k, number, vector, *column, adds=adds)
            if k in self._kind.guards:
                turn.rely(k, self._kind.guards[k])
        return turn

    def _loop(
        self, label: str, width: int, first: str, end: str, held: str, before: str, after: str = "end"
    ) -> list[str]:
        turn = self._turn(label, width)
        step = f"%{label}.{'step' if width > 1 else 'next'}"
        lines = [
            f"{label}:",
            f"%{label}.e = phi i64 [{first}, %{before}], [%{label}.next, %{label}]",
            f"%{label}.held = phi i1 [{held}, %{before}], [%{label}.holds, %{label}]",
            *turn.lines,
            f"%{label}.holds = and i1 %{label}.held, {turn.holds()}",
            f"{step} = add nsw i64 %{label}.e, {width}",
            f"%{label}.more = icmp slt i64 {step}, {end}",
        ]
        if width > 1:
            lines += [f"%{label}.far = icmp slt i64 %last, {step}"]
            lines += [f"%{label}.next = select i1 %{label}.far, i64 %last, i64 {step}"]
        return [*lines, f"br i1 %{label}.more, label %{label}, label %{after}"]


def scheduled(name: str, elements: Elements) -> tuple[str, Ints]:
    """The text of a function that computes runs of elements in their order, and its table: number of runs, how many
    numbers of the work vector and of the results are set to zero before, where the data of each kind begins, then the
    runs, then the data of the kinds."""
    kinds, runs = elements.kinds, elements.runs
    functions = [_Function(f"{name}.{k}", kind) for k, kind in enumerate(kinds)]
    texts, data = [function.text() for function in functions], [function.data for function in functions]
    if elements.solving is not None:
        texts.append(elements.solving.text(f"{name}.{len(texts)}"))
        data.append(elements.solving.data)
    n, ran = len(data), np.array(runs, dtype=np.int32).ravel()
    first, tables = 3 + n, [_even(each) for each in data]  # whole numbers of 8 bytes may be among them
    begins = first + len(ran) + (first + len(ran)) % 2 + np.cumsum([0, *map(len, tables[:-1])])
    head = np.array([len(runs), *elements.cleared, *begins], dtype=np.int32)
    indices = np.concatenate([_even(np.concatenate([head, ran])), *tables])
    lines = [f"define internal i32 @{name}({ARGUMENTS}) nounwind {{", "entry:"]
    for label, slot in (("indices", INDICES), ("numbers", NUMBERS), ("work", SCRATCH), ("selection", SELECTION)):
        lines += [f"%{label}p = getelementptr ptr, ptr %context, i64 {slot}", f"%{label} = load ptr, ptr %{label}p"]
    lines += [
        "%data = add i64 0, 0",
        *word("count", 0),
        *_cleared("work", 1),
        *_cleared("out", 2),
        "br label %run",
        "run:",
        "%i = phi i64 [0, %entry], [%next, %ran]",
        "%held = phi i1 [true, %entry], [%all, %ran]",
        "%i3 = mul nsw i64 %i, 3",
        f"%at = add nsw i64 %i3, {first}",
    ]
    for j, what in enumerate(("kind", "from", "to")):
        lines += [
            f"%{what}p = getelementptr i32, ptr %indices, i64 %at",
            f"%{what}q = getelementptr i32, ptr %{what}p, i64 {j}",
            f"%{what}w = load i32, ptr %{what}q, align 4",
            f"%{what} = sext i32 %{what}w to i64",
        ]
    cases = " ".join(f"i64 {k}, label %kind{k}" for k in range(1, n))
    lines.append(f"switch i64 %kind, label %kind0 [{cases}]")
    for k in range(n):
        lines += [
            f"kind{k}:",
            *word(f"begin{k}", 3 + k),
            f"%ok{k} = call i1 @{name}.{k}({PASSED_TO_ELEMENTS}, i64 %begin{k}, i64 %from, i64 %to)",
            "br label %ran",
        ]
    lines += [
        "ran:",
        f"%ok = phi i1 {', '.join(f'[%ok{k}, %kind{k}]' for k in range(n))}",
        "%all = and i1 %held, %ok",
        "%next = add nsw i64 %i, 1",
        "%more = icmp slt i64 %next, %count",
        "br i1 %more, label %run, label %done",
        "done:",
        "%bad = xor i1 %all, true",
        "%status = zext i1 %bad to i32",
        "ret i32 %status",
        "}",
    ]
    return "\n".join([*texts, *lines]), indices


def _even(table: Ints) -> Ints:
    return np.append(table, np.zeros(len(table) % 2, dtype=np.int32))


def _cleared(vector: str, place: int) -> list[str]:
    """Lines that set numbers at the beginning of a vector to zero; how many is in the table."""
    return [
        *word(f"{vector}.n", place),
        f"%{vector}.bytes = mul i64 %{vector}.n, 8",
        f"call void @llvm.memset.p0.i64(ptr %{vector}, i8 0, i64 %{vector}.bytes, i1 false)",
    ]
