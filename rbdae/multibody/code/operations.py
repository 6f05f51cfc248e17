"""`Operations`: the arithmetic of one evaluation, counted in the graph that code of a model is written from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import final

from rbdae.formulations.base import ImplicitStep
from rbdae.graph.graph import FUNCTIONS, OF_TWO, Graph, Node
from rbdae.machine.pieces import is_long
from rbdae.multibody.code.code import Wanted, elements_for
from rbdae.multibody.code.code_text import shortened
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import recorded_kernel
from rbdae.multibody.recorded.recording import MOST_NODES, recording_point

_ARITHMETIC = {
    "add": "additions",
    "sub": "subtractions",
    "neg": "negations",
    "mul": "multiplications",
    "rcp": "reciprocals",
    "sqrt": "square_roots",
}
_CHOICES = frozenset({"<", "<=", "==", "not", "select"})
_PAIRED = frozenset(_ARITHMETIC)


@final
@dataclass(frozen=True, slots=True)
class Operations:
    """The operations on numbers in one evaluation of a callback.

    Terms that occur twice are counted once, sums with 0 and products with 0 and 1 not at all. Operations among numbers
    of the model are not counted: they are made once, when code is bound to the model. What two bodies have in common
    and the machine computes for two numbers at a time counts twice. A multiplication that the processor fuses with an
    addition is counted as both. Calls of user functions in Python are not counted.

    Attributes
    ----------
    additions, subtractions, negations, multiplications, square_roots : numbers of these
    reciprocals : divisions; quotients by one number share the reciprocal, and are multiplications
    functions : other functions by NumPy's names, such as ``{"sin": 2, "cos": 2}``
    choices : comparisons and choices between two numbers
    """

    additions: int
    subtractions: int
    negations: int
    multiplications: int
    reciprocals: int
    square_roots: int
    functions: Mapping[str, int]
    choices: int

    @property
    def total(self) -> int:
        """The number of all of them."""
        arithmetic: int = sum(getattr(self, name) for name in _ARITHMETIC.values())
        return arithmetic + sum(self.functions.values()) + self.choices

    def __str__(self) -> str:
        signs = (("+", self.additions), ("-", self.subtractions), ("*", self.multiplications), ("/", self.reciprocals))
        words = [f"{sign}{count}" for sign, count in signs if count]
        words += [f"{self.negations} neg"] if self.negations else []
        words += [f"{self.square_roots} sqrt"] if self.square_roots else []
        words += [f"{count} {name}" for name, count in self.functions.items()]
        words += [f"{self.choices} choices"] if self.choices else []
        return f"{' '.join(words)} ({self.total})"


def counted(workspace: Workspace, wanted: Wanted) -> Operations:
    """The operations of a kernel that has code of its own."""
    seen: Counter[str] = Counter()
    elements = elements_for(workspace, wanted)
    if elements is not None:
        for element in elements.kinds:
            one = _seen(element.graph, element.order)
            one["add"] += sum(result.adds for result in element.results)
            seen.update({kind: element.count * count for kind, count in one.items()})
        return _summed(seen)
    assert not isinstance(wanted.kernel, ImplicitStep), "a step has kernels that are counted"
    at = recording_point(workspace, wanted.shapes)
    recording = recorded_kernel(workspace, wanted.kernel, wanted.shapes, at, MOST_NODES, wanted.pattern)
    needed = recording.graph.needed([*recording.guards, *recording.outputs])
    stored = [k for k in recording.outputs if recording.graph.value(k) != 0.0]
    if is_long(needed, stored):
        return _summed(_seen(recording.graph, needed))
    of, order = shortened(recording, recording.outputs)
    return _summed(_seen(of.graph, order))


def _seen(graph: Graph, order: Iterable[int]) -> Counter[str]:
    """The kinds of nodes, those of pairs twice."""
    nodes, paired = graph.nodes, set[int]()
    out: Counter[str] = Counter()
    for k in order:
        node: Node = nodes[k]
        kind = node[0]
        if kind == "pair" or (kind in _PAIRED and any(j in paired for j in node[1:])):
            paired.add(k)
        if kind in _ARITHMETIC or kind in _CHOICES or kind in FUNCTIONS or kind in OF_TWO:
            out[kind] += 2 if k in paired else 1
    return out


def _summed(seen: Counter[str]) -> Operations:
    arithmetic = {name: seen[kind] for kind, name in _ARITHMETIC.items()}
    functions = {kind: seen[kind] for kind in (*FUNCTIONS, *OF_TWO) if seen[kind] and kind not in _ARITHMETIC}
    choices = sum(seen[kind] for kind in _CHOICES)
    return Operations(**arithmetic, functions=MappingProxyType(functions), choices=choices)
