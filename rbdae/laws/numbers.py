"""`Number` replaces floats when a law runs; `Truth` is the result of a comparison of symbols.

A number records its operations in a graph. Without a point on its tape it is a symbol, and refuses everything but
arithmetic and its truth. With one it has a value: it branches, is rounded and is printed by that, as a float is. Both
have the exact derivatives of the graph.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, Graph
from rbdae.graph.on_stacks import OPERATIONS

MOST_NODES = 4000
"""Most operations of a recorded law."""

_MOST_LIVE = 1_000_000
_POWERS = 8
"""Largest integer exponent for which a power is a product."""

_WITH_COMPARISONS = "it computes with comparisons, which Python and NumPy do in different ways"


class NotRecorded(BaseException):
    """A law cannot be run on numbers; the message is why. No ``except Exception`` of a law catches it."""


@final
class Tape:
    """A graph, and answers for the truth of conditions.

    Parameters
    ----------
    graph : receives the operations
    answers : truth of the first conditions; True for the others
    point : the values of the inputs by name, for numbers with values

    Attributes
    ----------
    asked : the conditions asked for, and their truth
    regular : a condition, as a node: 0 where a function of `math` raises an exception
    refused : why an operation was refused, even if the law caught the exception
    """

    def __init__(
        self, graph: Graph, answers: tuple[bool, ...] = (), point: Mapping[str, Sequence[float]] | None = None
    ) -> None:
        self.graph, self.live, self.regular, self.refused = graph, point is not None, graph.const(1.0), ""
        self.asked: dict[int, bool] = {}
        self._answers, self._point = answers, point or {}
        self._values: list[Any] = []

    def refuse(self, why: str) -> NoReturn:
        """End the run. Raises `NotRecorded`."""
        self.refused = self.refused or why
        raise NotRecorded(why)

    def value(self, node: int) -> Any:
        """The value of a node at the point, as NumPy computes it."""
        values, nodes = self._values, self.graph.nodes
        for kind, *of in nodes[len(values) : node + 1]:
            if kind == "const":
                values.append(np.float64(of[0]))
            elif kind == "input":
                values.append(np.float64(self._point[of[0]][of[1]]))
            else:
                values.append(OPERATIONS[kind](*(values[k] for k in of)))
        return values[node]

    def truth(self, condition: int) -> bool:
        """The truth of a condition at the point; without one, the answer for it, the same each time."""
        value = self.value(condition) if self.live else self.graph.value(condition)
        if value is not None:
            return bool(value)
        node = self.graph.nodes[condition]
        if node[0] == "not":
            return not self.truth(node[1])
        if condition not in self.asked:
            k = len(self.asked)
            self.asked[condition] = self._answers[k] if k < len(self._answers) else True
        return self.asked[condition]

    def result(self, node: int) -> Any:
        """A `Number`, or the number of a constant."""
        if node > (_MOST_LIVE if self.live else MOST_NODES):
            self.refuse(f"it has more than {MOST_NODES} operations")
        constant = self.graph.value(node)
        return Number(self, node) if constant is None else constant

    def of_two(self, make: Callable[[Graph, int, int], int], x: Any, y: Any) -> Any:
        """An operation on two numbers."""
        if type(x) in _TRUTHS and type(y) in _TRUTHS:
            self.refuse(_WITH_COMPARISONS)
        return self.result(make(self.graph, self.node(x), self.node(y)))

    def require(self, condition: int) -> None:
        """Require a condition; where it fails, the law itself is called."""
        self.regular = self.graph.select(condition, self.regular, self.graph.const(0.0))

    def finite(self, node: int) -> None:
        """Require a finite result, since functions of `math` raise an exception otherwise."""
        size = self.graph.function("abs", node)
        self.require(self.graph.condition("<=", size, self.graph.const(sys.float_info.max)))

    def truth_of(self, condition: int) -> Any:
        """A `Truth`, or the truth of a condition that is constant or has a value."""
        value = self.value(condition) if self.live else self.graph.value(condition)
        return Truth(self, condition) if value is None else bool(value)

    def node(self, value: Any) -> int:
        """The node of a `Number` or of a float."""
        kind = type(value)
        if kind is float:
            return self.graph.const(value)
        if kind is Number or kind is Truth:
            node: int = value.node
            return node
        if not isinstance(value, (float, int, np.number, np.bool_)) or isinstance(value, np.complexfloating):
            raise TypeError(f"a law gives {type(value).__name__} instead of a number")
        return self.graph.const(float(value))


def _asked(what: str, by_value: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A method that symbols refuse, and numbers with a value have only through `by_value`."""

    def ask(self: Number, *arguments: Any) -> Any:
        if self.tape.live and by_value is not None:
            return by_value(self.tape.value(self.node), *arguments)
        self.tape.refuse(what)

    return ask


class Number:
    """An unknown float, or one that carries its derivatives."""

    __slots__ = ("node", "tape")

    def __init__(self, tape: Tape, node: int) -> None:
        self.tape, self.node = tape, node

    __float__ = _asked("it makes a float of a number, by float() or in a compiled function")
    __complex__ = _asked("it computes with complex numbers")
    __hash__ = _asked("it looks a number up")
    __int__, __index__ = _asked("it makes a whole number", int), _asked("it makes a whole number", operator.index)
    __round__, __trunc__ = _asked("it rounds a number", round), _asked("it rounds a number", math.trunc)
    __floor__, __ceil__ = _asked("it rounds a number", math.floor), _asked("it rounds a number", math.ceil)

    def __format__(self, form: str) -> str:
        return f"{format(self.tape.value(self.node), form) if self.tape.live else 'x'}~"  # "~": it is not a float

    def __str__(self) -> str:
        return format(self, "")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        if not hasattr(float, name) or name.startswith("__"):
            raise AttributeError(name)
        if not self.tape.live:
            self.tape.refuse(f"it asks a number for {name}")
        return getattr(self.tape.value(self.node), name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float if self.tape.live else Number

    def __neg__(self) -> Any:
        return self.tape.result(self.tape.graph.neg(self.node))

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        return self.function("abs")

    def __bool__(self) -> bool:
        graph = self.tape.graph
        return not self.tape.truth(graph.condition("==", self.node, graph.const(0.0)))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def function(self, name: str) -> Any:
        """One of the graph's functions of one number."""
        graph = self.tape.graph
        return self.tape.result(root(graph, self.node) if name == "sqrt" else graph.function(name, self.node))

    @property
    def real(self) -> Any:
        return self

    def conjugate(self) -> Any:
        return self


for _name in FUNCTIONS:  # NumPy calls them by these names for arrays of objects
    if _name != "abs":
        setattr(Number, _name, lambda self, name=_name: self.function(name))


@final
class Truth(Number):
    """The result of a comparison of symbols. ``if`` asks for its truth; `&`, `|`, `~` and `numpy.where` do not."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return self.tape.truth(self.node)

    def __and__(self, other: Any) -> Any:
        graph = self.tape.graph
        return self.tape.truth_of(graph.select(self.node, self.tape.node(other), graph.const(0.0)))

    def __or__(self, other: Any) -> Any:
        graph = self.tape.graph
        return self.tape.truth_of(graph.select(self.node, graph.const(1.0), self.tape.node(other)))

    def __xor__(self, other: Any) -> Any:
        return self != other

    def __invert__(self) -> Any:
        return self.tape.truth_of(self.tape.graph.negation(self.node))

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__
    __neg__ = __abs__ = _asked(_WITH_COMPARISONS)


_TRUTHS = Truth, bool, np.bool_


# ---------------------------------------------------------------- operations of two


def _remainder(graph: Graph, a: int, b: int) -> int:
    """The exact remainder, with the sign of b."""
    zero, left = graph.const(0.0), graph.of_two("fmod", a, b)
    sides = graph.condition("<", left, zero), graph.condition("<", zero, left)
    wrong = graph.select(sides[1], graph.condition("<", b, zero), zero)
    wrong = graph.select(sides[0], graph.condition("<", zero, b), wrong)
    return graph.select(wrong, graph.add(left, b), left)


def _quotient(graph: Graph, a: int, b: int) -> int:
    """The integer quotient of a by b, from the exact remainder."""
    near = graph.div(graph.sub(a, _remainder(graph, a, b)), b)
    whole = graph.function("floor", graph.add(near, graph.const(0.5)))
    return graph.select(graph.condition("==", b, graph.const(0.0)), graph.div(a, b), whole)


def root(graph: Graph, a: int) -> int:
    """The square root, with derivative zero at zero, so that the length of a vector has a derivative there."""
    zero = graph.condition("==", a, graph.const(0.0))
    length = graph.function("sqrt", graph.select(zero, graph.const(1.0), a))
    return graph.select(zero, graph.const(0.0), length)


def _power(graph: Graph, a: int, b: int) -> int:
    """a^b; products for small integer exponents, exact where NumPy's are."""
    exponent = graph.value(b)
    if exponent == 0.5:
        return root(graph, a)
    if isinstance(exponent, float) and exponent == exponent // 1.0 and abs(exponent) <= _POWERS:
        return graph.power(a, int(exponent))
    return graph.of_two("power", a, b)


def value_of(value: Any) -> Any:
    """The value of a `Number` with a value, or the number itself."""
    return value.tape.value(value.node) if isinstance(value, Number) else value


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, not an array, for which NumPy does the operation."""
    kind = type(value)
    return kind is Number or kind is float or isinstance(value, (Number, float, int, np.number, np.bool_))


def _operation(name: str, make: Callable[[Graph, int, int], int]) -> None:
    divides = name in ("truediv", "mod", "floordiv")

    def forward(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        if divides and self.tape.live and value_of(other) == 0.0:
            raise ZeroDivisionError("division by zero")
        return self.tape.of_two(make, self, other)

    def backward(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        if divides and self.tape.live and value_of(self) == 0.0:
            raise ZeroDivisionError("division by zero")
        return self.tape.of_two(make, other, self)

    setattr(Number, f"__{name}__", forward)
    setattr(Number, f"__r{name}__", backward)


MAKERS: dict[str, Callable[[Graph, int, int], int]] = {
    "add": Graph.add,
    "subtract": Graph.sub,
    "multiply": Graph.mul,
    "divide": Graph.div,
    "remainder": _remainder,
    "floor_divide": _quotient,
    "power": _power,
    "arctan2": Graph.arctan2,
    "fmod": lambda graph, a, b: graph.of_two("fmod", a, b),
}
"""Operations on two nodes, by NumPy's names."""

for _name, _make in zip(("add", "sub", "mul", "truediv", "mod", "floordiv", "pow"), MAKERS.values(), strict=False):
    _operation(_name, _make)


def _comparison(name: str, kind: str, *, swapped: bool = False, negated: bool = False) -> None:
    def compare(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        tape = self.tape
        a, b = self.node, tape.node(other)
        condition = tape.graph.condition(kind, *((b, a) if swapped else (a, b)))
        return tape.truth_of(tape.graph.negation(condition) if negated else condition)

    setattr(Number, f"__{name}__", compare)


for _name, _kind in {"lt": "<", "le": "<=", "eq": "=="}.items():
    _comparison(_name, _kind)
_comparison("gt", "<", swapped=True)
_comparison("ge", "<=", swapped=True)
_comparison("ne", "==", negated=True)


def choice(condition: Any, one: Any, other: Any) -> Any:
    """`one` where a condition holds, else `other`; all may be known numbers."""
    if not isinstance(condition, Number) or condition.tape.live:
        return one if condition else other
    tape = condition.tape
    test = condition.node
    if not isinstance(condition, Truth):
        test = tape.graph.negation(tape.graph.condition("==", test, tape.graph.const(0.0)))
    return tape.result(tape.graph.select(test, tape.node(one), tape.node(other)))
