"""`Number`: a float that is not known yet; `Truth`: whether a comparison of two holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, Graph

MOST_NODES = 4000
"""Operations that a law may have; a longer one is called back."""

_POWERS = 8
"""Whole exponents up to which a power is a product."""


class NotRecorded(Exception):
    """A law cannot be recorded; the message is why."""


class Tape:
    """A graph, and the answers to questions about the truth of conditions.

    Parameters
    ----------
    graph : gets the operations
    answers : how the first questions are answered; the others are answered with yes
    """

    def __init__(self, graph: Graph, answers: tuple[bool, ...] = ()) -> None:
        self.graph = graph
        self.asked: list[tuple[int, bool]] = []
        self._answers = answers
        self._known: dict[int, bool] = {}

    def truth(self, condition: int) -> bool:
        """An answer: the same one to the same question."""
        value = self.graph.value(condition)
        if value is not None:
            return bool(value)
        node = self.graph.nodes[condition]
        if node[0] == "not":
            return not self.truth(node[1])
        if condition not in self._known:
            k = len(self.asked)
            answer = self._answers[k] if k < len(self._answers) else True
            self._known[condition] = answer
            self.asked.append((condition, answer))
        return self._known[condition]

    def result(self, node: int) -> Any:
        """The number of a constant, or a `Number`."""
        if node > MOST_NODES:
            raise NotRecorded(f"it has more than {MOST_NODES} operations")
        value = self.graph.value(node)
        return Number(self, node) if value is None else value

    def node(self, value: Any) -> int:
        """The node of a `Number` or of a float."""
        if type(value) is Number:
            return value.node
        if type(value) is Truth:
            return value.node
        if not isinstance(value, (float, int, np.number, np.bool_)):
            raise TypeError(f"a law gives {type(value).__name__}, where a number is wanted")
        return self.graph.const(float(value))


def _plain(value: Any) -> bool:
    """Whether this is a number and no array: with arrays NumPy does the operation."""
    return isinstance(value, (Number, Truth, float, int, np.number, np.bool_))


def _binary(
    make: Callable[[Graph, int, int], int],
) -> tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]:
    def forward(self: Number, other: Any) -> Any:
        if not _plain(other):
            return NotImplemented
        tape = self.tape
        return tape.result(make(tape.graph, self.node, tape.node(other)))

    def backward(self: Number, other: Any) -> Any:
        if not _plain(other):
            return NotImplemented
        tape = self.tape
        return tape.result(make(tape.graph, tape.node(other), self.node))

    return forward, backward


def _remainder(graph: Graph, a: int, b: int) -> int:
    """a - floor(a / b) b, which has the sign of b."""
    return graph.sub(a, graph.mul(graph.function("floor", graph.div(a, b)), b))


def _quotient(graph: Graph, a: int, b: int) -> int:
    return graph.function("floor", graph.div(a, b))


def root(graph: Graph, a: int) -> int:
    """The square root, whose derivative at zero is taken to be zero: so the length of a vector has one there."""
    zero = graph.condition("==", a, graph.const(0.0))
    found = graph.function("sqrt", graph.select(zero, graph.const(1.0), a))
    return graph.select(zero, graph.const(0.0), found)


def power(graph: Graph, a: int, b: int) -> int:
    """a^b; products for small whole exponents, as they are exact where NumPy's are."""
    exponent = graph.value(b)
    if exponent == 0.5:
        return root(graph, a)
    if isinstance(exponent, float) and exponent == int(exponent) and abs(exponent) <= _POWERS:
        return graph.power(a, int(exponent))
    return graph.of_two("power", a, b)


def _condition(kind: str, *, swapped: bool = False, negated: bool = False) -> Callable[[Any, Any], Any]:
    def compare(self: Number, other: Any) -> Any:
        if not _plain(other):
            return NotImplemented
        tape = self.tape
        a, b = self.node, tape.node(other)
        found = tape.graph.condition(kind, *((b, a) if swapped else (a, b)))
        return truth(tape, tape.graph.negation(found) if negated else found)

    return compare


def truth(tape: Tape, condition: int) -> Any:
    """A `Truth`, or what a condition is."""
    value = tape.graph.value(condition)
    return Truth(tape, condition) if value is None else bool(value)


def _refused(what: str) -> Callable[..., Any]:
    def refuse(self: Number, *_: Any) -> Any:
        raise NotRecorded(what)

    return refuse


@final
class Number:
    """A float that is not known yet."""

    __slots__ = ("node", "tape")

    def __init__(self, tape: Tape, node: int) -> None:
        self.tape, self.node = tape, node

    __add__, __radd__ = _binary(Graph.add)
    __sub__, __rsub__ = _binary(Graph.sub)
    __mul__, __rmul__ = _binary(Graph.mul)
    __truediv__, __rtruediv__ = _binary(Graph.div)
    __mod__, __rmod__ = _binary(_remainder)
    __floordiv__, __rfloordiv__ = _binary(_quotient)
    __pow__, __rpow__ = _binary(power)
    __lt__, __gt__ = _condition("<"), _condition("<", swapped=True)
    __le__, __ge__ = _condition("<="), _condition("<=", swapped=True)
    __eq__, __ne__ = _condition("=="), _condition("==", negated=True)
    __hash__ = None  # type: ignore[assignment]
    __float__ = _refused(
        "it makes a float of a symbol: by float(), by math (np.sin takes symbols, math.sin does not), or in an array "
        "that is not made of its arguments"
    )
    __int__ = __index__ = __round__ = _refused("it makes a whole number of a symbol")
    __complex__ = _refused("it computes with complex numbers")
    __str__ = __repr__ = __format__ = _refused("it writes a number as text")

    def __neg__(self) -> Any:
        return self.tape.result(self.tape.graph.neg(self.node))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.function("abs")

    def __floor__(self) -> Any:
        return self.function("floor")

    def __ceil__(self) -> Any:
        return -((-self).__floor__())

    def __trunc__(self) -> Any:
        tape, graph = self.tape, self.tape.graph
        below = graph.condition("<", self.node, graph.const(0.0))
        return tape.result(graph.select(below, tape.node(self.__ceil__()), tape.node(self.__floor__())))

    def __bool__(self) -> bool:
        graph = self.tape.graph
        return not self.tape.truth(graph.condition("==", self.node, graph.const(0.0)))

    def function(self, name: str) -> Any:
        """One of the graph's functions of one number."""
        graph = self.tape.graph
        return self.tape.result(root(graph, self.node) if name == "sqrt" else graph.function(name, self.node))

    @property
    def real(self) -> Any:
        """Itself."""
        return self

    @property
    def imag(self) -> float:
        """Nothing."""
        return 0.0

    def conjugate(self) -> Any:
        """Itself."""
        return self

    def item(self) -> Any:
        """Itself."""
        return self


for _name in FUNCTIONS:  # NumPy calls them by these names for arrays of objects
    if _name not in ("abs", "floor"):
        setattr(Number, _name, lambda self, name=_name: self.function(name))


@final
class Truth:
    """Whether a comparison holds. Python asks for it in ``if``; `&`, `|`, `~` and `numpy.where` do not."""

    __slots__ = ("node", "tape")

    def __init__(self, tape: Tape, node: int) -> None:
        self.tape, self.node = tape, node

    def __bool__(self) -> bool:
        return self.tape.truth(self.node)

    def __and__(self, other: Any) -> Any:
        graph = self.tape.graph
        return truth(self.tape, graph.select(self.node, self.tape.node(other), graph.const(0.0)))

    def __or__(self, other: Any) -> Any:
        graph = self.tape.graph
        return truth(self.tape, graph.select(self.node, graph.const(1.0), self.tape.node(other)))

    def __xor__(self, other: Any) -> Any:
        graph, node = self.tape.graph, self.tape.node(other)
        return truth(self.tape, graph.select(self.node, graph.sub(graph.const(1.0), node), node))

    def __invert__(self) -> Any:
        return truth(self.tape, self.tape.graph.negation(self.node))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def _number(self) -> Any:
        return self.tape.result(self.node)

    def __mul__(self, other: Any) -> Any:
        return self._number() * other

    def __rmul__(self, other: Any) -> Any:
        return other * self._number()

    def __add__(self, other: Any) -> Any:
        return self._number() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._number()

    def __sub__(self, other: Any) -> Any:
        return self._number() - other

    def __rsub__(self, other: Any) -> Any:
        return other - self._number()


def choice(condition: Any, one: Any, other: Any) -> Any:
    """`one` where a condition holds, else `other`; all may be numbers that are known."""
    if not isinstance(condition, (Truth, Number)):
        return one if condition else other
    tape = condition.tape
    test = condition.node
    if isinstance(condition, Number):
        test = tape.graph.negation(tape.graph.condition("==", test, tape.graph.const(0.0)))
    return tape.result(tape.graph.select(test, tape.node(one), tape.node(other)))


__all__ = ["MOST_NODES", "NotRecorded", "Number", "Tape", "Truth", "choice", "power", "truth"]
