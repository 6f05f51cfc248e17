"""Numbers that record operations: kernels run on them write a `Graph`.

`Symbol` behaves like a float, and has the methods that NumPy calls for functions of objects (for `floor`, Python's). If
a kernel asks for the truth of a condition (``if``, ``while``), the answer is the one at a point where the inputs have
values, and is noted as a *guard*: the recording holds wherever all guards have the same truth as there.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from typing import Any, Self, final

import numpy as np

from rbdae.graph.evaluate import computed
from rbdae.graph.graph import FUNCTIONS, Graph, operands


class NotStraight(Exception):
    """A kernel cannot be recorded: it is too long."""


@final
class Recorder:
    """A graph, a point for conditions, and the guards: conditions with their truth.

    Parameters
    ----------
    inputs : the values of the input vectors at the point, by name
    most_nodes : the number of nodes beyond which `NotStraight` is raised
    """

    def __init__(self, inputs: dict[str, Any], most_nodes: int) -> None:
        self.graph = Graph()
        self.guards: dict[int, bool] = {}
        self._inputs = inputs
        self.functions: list[Any] = []
        self._known: dict[int, Any] = {}
        self._most = most_nodes

    def copy(self) -> Recorder:
        """The same recorder with a graph and guards of its own."""
        out = copy.copy(self)
        out.graph, out.guards = self.graph.copy(), dict(self.guards)
        out.functions, out._known = [*self.functions], dict(self._known)
        return out

    def inputs(self, name: str) -> Any:
        """The symbols of an input vector, an array of objects."""
        out = np.empty(len(self._inputs[name]), dtype=object)
        for i in range(len(out)):
            out[i] = Symbol(self, self.graph.node("input", name, i))
        return out

    def with_inputs(self, name: str, values: Sequence[float]) -> Any:
        """The symbols of another input vector with these values at the point."""
        self._inputs = self._inputs | {name: values}
        return self.inputs(name)

    def number(self, value: Any) -> int:
        """The node of a symbol or a number."""
        return value.node if type(value) is Symbol else self.graph.const(float(value))

    def result(self, node: int) -> Symbol | float:
        """A symbol, or the value of a constant that is not loaded."""
        if node > self._most:
            raise NotStraight(f"more than {self._most} operations")
        content = self.graph.nodes[node]
        if content[0] == "const" and isinstance(content[1], float):
            return content[1]
        return Symbol(self, node)

    def call(self, function: Any, t: Any, x: Sequence[Any], out: Sequence[Any]) -> list[Any]:
        """The results of a user's function (in Python its attribute `plain`) that fills the vector `out`."""
        law = getattr(function, "law", None)
        if law is not None:
            nodes, regular = law.inlined(self.graph, self.number(t), [self.number(v) for v in x])
            if bool(self.value(regular)) and self.truth(regular):  # otherwise the function raises an exception
                return [self.result(node) for node in nodes]
        if function not in self.functions:
            self.functions.append(function)
        k = self.functions.index(function)
        slope = getattr(function, "slope", None)
        if slope is not None and k not in self.graph.slopes:
            self.functions.append(slope)
            self.graph.slopes[k] = len(self.functions) - 1
        call = self.graph.node("call", k, len(x), len(out), *(self.number(v) for v in (t, *x, *out)))
        return [Symbol(self, self.graph.node("result", call, i)) for i in range(len(out))]

    def truth(self, condition: int) -> bool:
        """The truth of a condition at the point; it becomes a guard."""
        value = self.graph.value(condition)
        if value is not None:
            return bool(value)
        node = self.graph.nodes[condition]
        if node[0] == "not":
            return not self.truth(node[1])
        fell = self.guards.get(condition)
        if fell is None:
            fell = self.guards[condition] = bool(self.value(condition))
        return fell

    def value(self, node: int) -> float:
        """The value of a node at the point."""
        values, nodes = self._known, self.graph.nodes
        todo = [node]
        with np.errstate(all="ignore"):
            while todo:
                k = todo[-1]
                missing = [j for j in operands(nodes[k]) if j not in values]
                if k in values or not missing:
                    todo.pop()
                    if k not in values:
                        values[k] = computed(nodes[k], values, self._inputs, [f.plain for f in self.functions])
                else:
                    todo.extend(missing)
        out: float = values[node]
        return out


def _binary(
    make: Callable[[Graph, int, int], int], neutral: float, zero: bool = False
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    """The operator and its reflection. A number that is `neutral` on the right changes nothing; `zero`: with 0 the
    result is 0. Many numbers of a model are so, and an operator is called a million times in a long recording."""

    def forward(self: Symbol, other: Any) -> Any:
        recorder = self.recorder
        graph = recorder.graph
        if type(other) is Symbol:
            return recorder.result(make(graph, self.node, other.node))
        if type(other) is np.ndarray:
            return NotImplemented  # NumPy goes through its entries
        if other == neutral:
            return self
        if zero and other == 0.0:
            return 0.0
        return recorder.result(make(graph, self.node, graph.const(float(other))))

    def backward(self: Symbol, other: Any) -> Any:
        if type(other) is np.ndarray:
            return NotImplemented
        if zero:
            if other == neutral:
                return self
            if other == 0.0:
                return 0.0
        recorder = self.recorder
        return recorder.result(make(recorder.graph, recorder.number(other), self.node))

    return forward, backward


def _quotient(graph: Graph, a: int, b: int) -> int:
    """a / b, and a / a = 1: an inverse by cofactors keeps its zeros where one of them is the determinant. In laws of
    users a / a stays what it is, NaN at 0."""
    return graph.const(1.0) if a == b else graph.div(a, b)


def _function(name: str) -> Callable[[Any], Any]:
    def apply(self: Symbol) -> Any:
        return self.recorder.result(self.recorder.graph.function(name, self.node))

    return apply


def _condition(kind: str, *, swapped: bool = False, negated: bool = False) -> Callable[[Any, Any], Any]:
    def compare(self: Symbol, other: Any) -> Any:
        recorder = self.recorder
        a, b = self.node, recorder.number(other)
        condition = recorder.graph.condition(kind, *((b, a) if swapped else (a, b)))
        if negated:
            condition = recorder.graph.negation(condition)
        value = recorder.graph.value(condition)
        return Condition(recorder, condition) if value is None else bool(value)

    return compare


@final
class Symbol:
    """An unknown number: a node of a recorder's graph."""

    __slots__ = ("node", "recorder")

    def __init__(self, recorder: Recorder, node: int) -> None:
        self.recorder = recorder
        self.node = node

    __add__, __radd__ = _binary(Graph.add, 0.0)
    __sub__, __rsub__ = _binary(Graph.sub, 0.0)
    __mul__, __rmul__ = _binary(Graph.mul, 1.0, zero=True)
    __truediv__, __rtruediv__ = _binary(_quotient, 1.0)
    sqrt, sin, cos, tan = _function("sqrt"), _function("sin"), _function("cos"), _function("tan")
    arcsin, arctan, __abs__ = _function("arcsin"), _function("arctan"), _function("abs")
    __floor__, log, arctan2 = _function("floor"), _function("log"), _binary(Graph.arctan2, math.nan)[0]
    __lt__, __gt__ = _condition("<"), _condition("<", swapped=True)
    __le__, __ge__ = _condition("<="), _condition("<=", swapped=True)
    __eq__, __ne__ = _condition("=="), _condition("==", negated=True)
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Any:
        return self.recorder.result(self.recorder.graph.neg(self.node))

    def __pos__(self) -> Self:
        return self

    @property
    def real(self) -> float:
        """Its value at the point, as that of a complex number with a derivative."""
        return self.recorder.value(self.node)

    def __pow__(self, n: Any) -> Any:
        if n == 0.5:
            return self.sqrt()
        if n != int(n):
            raise NotStraight(f"a power of {n!r}")
        return self.recorder.result(self.recorder.graph.power(self.node, int(n)))

    def __bool__(self) -> bool:
        return not self.recorder.truth(self.recorder.graph.condition("==", self.node, self.recorder.number(0.0)))


for _name in FUNCTIONS:  # NumPy calls them by these names
    if _name not in ("abs", "floor") and not hasattr(Symbol, _name):
        setattr(Symbol, _name, _function(_name))


@final
class Condition:
    """A condition on symbols. Its truth is the one at the recorder's point; `select` does not need it."""

    __slots__ = ("node", "recorder")

    def __init__(self, recorder: Recorder, node: int) -> None:
        self.recorder = recorder
        self.node = node

    def __bool__(self) -> bool:
        return self.recorder.truth(self.node)

    def select(self, one: Any, other: Any) -> Any:
        """`one` where the condition holds, else `other`."""
        r = self.recorder
        return r.result(r.graph.select(self.node, r.number(one), r.number(other)))
