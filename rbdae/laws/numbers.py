"""`Number` replaces floats when a law runs; `Truth` is the result of a comparison.

A number without a value is a symbol, and refuses everything but arithmetic and its truth. A number with a value (the
tape is `live`) behaves like a float: it branches, raises and is rounded by its value, and records its operations. So
both have the exact derivatives of the graph.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable
from typing import Any, NoReturn, final

import numpy as np

from rbdae.graph.graph import FUNCTIONS, Graph

MOST_NODES = 4000
"""Most operations of a recorded law."""

_MOST_LIVE = 1_000_000
_POWERS = 8
"""Largest integer exponent for which a power is a product."""


_WITH_COMPARISONS = "it computes with comparisons, which Python and NumPy do in different ways"


class NotRecorded(Exception):
    """A law cannot be recorded; the message is why."""


class Refusal(BaseException):
    """An operation that a number does not have. No ``except Exception`` of a law may catch it."""


@final
class Tape:
    """A graph, and answers for the truth of conditions.

    Parameters
    ----------
    graph : receives the operations
    answers : truth of the first conditions; True for the others
    live : whether numbers have values

    Attributes
    ----------
    regular : a condition, as a node: 0 where a function of `math` raises an exception
    refused : why an operation was refused, even if the law caught the exception
    """

    def __init__(self, graph: Graph, answers: tuple[bool, ...] = (), *, live: bool = False) -> None:
        self.graph, self.live, self.regular, self.refused = graph, live, graph.const(1.0), ""
        self.asked: list[tuple[int, bool]] = []
        self._answers = answers
        self._known: dict[int, bool] = {}

    def refuse(self, why: str) -> NoReturn:
        """End the run. Raises `Refusal`."""
        self.refused = self.refused or why
        raise Refusal(why)

    def truth(self, condition: int) -> bool:
        """The answer for a condition, the same each time."""
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

    def result(self, node: int, value: Any = None) -> Any:
        """A `Number`, or the number of a constant."""
        if node > (_MOST_LIVE if self.live else MOST_NODES):
            self.refuse(f"it has more than {MOST_NODES} operations")
        constant = self.graph.value(node)
        if not self.live:
            return Number(self, node) if constant is None else constant
        if isinstance(value, complex):
            self.refuse("it computes with complex numbers")
        return Number(self, node, value) if constant is None else value

    def require(self, condition: int) -> None:
        """Require a condition; where it fails, the law itself is called."""
        self.regular = self.graph.select(condition, self.regular, self.graph.const(0.0))

    def finite(self, node: int) -> None:
        """Require a finite result, since functions of `math` raise an exception otherwise."""
        size = self.graph.function("abs", node)
        self.require(self.graph.condition("<=", size, self.graph.const(sys.float_info.max)))

    def truth_of(self, condition: int) -> Any:
        """A `Truth`, or the truth of a constant condition."""
        value = self.graph.value(condition)
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
            return by_value(self.value, *arguments)
        self.tape.refuse(what)

    return ask


class Number:
    """An unknown float, or one that carries its derivatives.

    Attributes
    ----------
    value : None for a symbol
    """

    __slots__ = ("node", "tape", "value")

    def __init__(self, tape: Tape, node: int, value: Any = None) -> None:
        self.tape, self.node, self.value = tape, node, value

    __float__ = _asked("it makes a float of a number, by float() or in a compiled function")
    __complex__ = _asked("it computes with complex numbers")
    __hash__ = _asked("it looks a number up")
    __int__, __index__ = _asked("it makes a whole number", int), _asked("it makes a whole number", operator.index)
    __round__, __trunc__ = _asked("it rounds a number", round), _asked("it rounds a number", math.trunc)
    __floor__, __ceil__ = _asked("it rounds a number", math.floor), _asked("it rounds a number", math.ceil)

    def __format__(self, form: str) -> str:
        return f"{format(self.value, form) if self.tape.live else 'x'}~"  # "~" marks that it is not a float

    def __str__(self) -> str:
        return format(self, "")

    __repr__ = __str__

    def __getattr__(self, name: str) -> Any:
        if not hasattr(float, name) or name.startswith("__"):
            raise AttributeError(name)
        if not self.tape.live:
            self.tape.refuse(f"it asks a number for {name}")
        return getattr(self.value, name)

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float if self.tape.live else Number

    def __neg__(self) -> Any:
        return self.tape.result(self.tape.graph.neg(self.node), -self.value if self.tape.live else None)

    def __pos__(self) -> Any:
        return self

    def __abs__(self) -> Any:
        value = abs(self.value) if self.tape.live else None
        return self.tape.result(self.tape.graph.function("abs", self.node), value)

    def __bool__(self) -> bool:
        if self.tape.live:
            return bool(self.value)
        graph = self.tape.graph
        return not self.tape.truth(graph.condition("==", self.node, graph.const(0.0)))

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def function(self, name: str) -> Any:
        """One of the graph's functions of one number."""
        graph, value = self.tape.graph, None
        if self.tape.live:
            with np.errstate(all="ignore"):
                value = getattr(np, name)(self.value)
        return self.tape.result(root(graph, self.node) if name == "sqrt" else graph.function(name, self.node), value)

    @property
    def real(self) -> Any:
        return self

    @property
    def imag(self) -> float:
        return 0.0

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


def power(graph: Graph, a: int, b: int) -> int:
    """a^b; products for small integer exponents, exact where NumPy's are."""
    exponent = graph.value(b)
    if exponent == 0.5:
        return root(graph, a)
    if isinstance(exponent, float) and exponent == exponent // 1.0 and abs(exponent) <= _POWERS:
        return graph.power(a, int(exponent))
    return graph.of_two("power", a, b)


def value_of(value: Any) -> Any:
    """The value of a `Number` with a value, or the number itself."""
    return value.value if isinstance(value, Number) else value


def _is_plain(value: Any) -> bool:
    """Whether a value is a number, not an array, for which NumPy does the operation."""
    kind = type(value)
    return kind is Number or kind is float or isinstance(value, (Number, float, int, np.number, np.bool_))


def _operation(name: str, make: Callable[[Graph, int, int], int]) -> None:
    plain = getattr(operator, name)

    def forward(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        tape = self.tape
        node = make(tape.graph, self.node, tape.node(other))
        return tape.result(node, plain(self.value, value_of(other)) if tape.live else None)

    def backward(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        tape = self.tape
        node = make(tape.graph, tape.node(other), self.node)
        return tape.result(node, plain(value_of(other), self.value) if tape.live else None)

    for method, call in ((f"__{name}__", forward), (f"__r{name}__", backward)):
        setattr(Number, method, call)
        setattr(Truth, method, _of_truth(call))


def _of_truth(call: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """A binary operation that refuses comparisons as operands."""

    def of_truth(self: Truth, other: Any) -> Any:
        if type(other) in (Truth, bool, np.bool_):
            self.tape.refuse(_WITH_COMPARISONS)
        return call(self, other)

    return of_truth


for _name, _make in {
    "add": Graph.add,
    "sub": Graph.sub,
    "mul": Graph.mul,
    "truediv": Graph.div,
    "mod": _remainder,
    "floordiv": _quotient,
    "pow": power,
}.items():
    _operation(_name, _make)


def _comparison(name: str, kind: str, *, swapped: bool = False, negated: bool = False) -> None:
    plain = getattr(operator, name)

    def compare(self: Number, other: Any) -> Any:
        if not _is_plain(other):
            return NotImplemented
        tape = self.tape
        if tape.live:
            return plain(self.value, value_of(other))
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
