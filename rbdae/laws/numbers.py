"""`Number` replaces floats when a law runs; `Truth` is the result of a comparison of symbols.

A number records its operations in a graph. Without a point on its tape it is a symbol, and refuses everything but
arithmetic and its truth. With one it has a value: it branches, is rounded and is printed by that, as a float is. Both
have the exact derivatives of the graph.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import Any, NoReturn, TypeAlias, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rbdae.graph.evaluate import OPERATIONS
from rbdae.graph.graph import FUNCTIONS, Graph

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
    as_numpy : whether these divide by zero as NumPy's floats do, without an exception

    Attributes
    ----------
    raises : whether a division by zero raises an exception
    asked : the conditions asked for, and their truth
    regular : a condition, as a node: 0 where a function of `math` raises an exception
    refused : why an operation was refused, even if the law caught the exception
    """

    def __init__(
        self,
        graph: Graph,
        answers: tuple[bool, ...] = (),
        point: Mapping[str, Any] | None = None,
        *,
        as_numpy: bool = False,
    ) -> None:
        self.graph, self.live, self.regular, self.refused = graph, point is not None, graph.const(1.0), ""
        self.asked: dict[int, bool] = {}
        self._answers, self._point = answers, point or {}
        self.raises = self.live and not as_numpy
        self._values: list[Any] = []

    def refuse(self, why: str) -> NoReturn:
        """End the run. Raises `NotRecorded`."""
        self.refused = self.refused or why
        raise NotRecorded(why)

    def value(self, node: int) -> Any:
        """The value of a node at the point, as NumPy computes it; without a point, that of a constant, or None."""
        if not self.live:
            return self.graph.value(node)
        values = self._values
        for kind, *of in self.graph.nodes[len(values) : node + 1]:
            if kind in ("const", "input"):
                values.append(np.float64(of[0] if kind == "const" else self._point[of[0]][of[1]]))
            else:
                values.append(OPERATIONS[kind](*(values[k] for k in of)))
        return values[node]

    def truth(self, condition: int) -> bool:
        """The truth of a condition at the point; without one, the answer for it, the same each time."""
        value, node = self.value(condition), self.graph.nodes[condition]
        if value is not None:
            return bool(value)
        if node[0] == "not":
            return not self.truth(node[1])
        if condition not in self.asked:
            k = len(self.asked)
            self.asked[condition] = self._answers[k] if k < len(self._answers) else True
        return self.asked[condition]

    def truth_of(self, condition: int) -> Any:
        """A `Truth`, or the truth of a condition that is constant or has a value."""
        value = self.value(condition)
        return Truth(self, condition) if value is None else bool(value)

    def result(self, node: int) -> Any:
        """A `Number`, or the number of a constant."""
        if node > (_MOST_LIVE if self.live else MOST_NODES):
            self.refuse(f"it has more than {MOST_NODES} operations")
        constant = self.graph.value(node)
        return Number(self, node) if constant is None else constant

    def require(self, condition: int) -> None:
        """Require a condition; where it fails, the law itself is called."""
        self.regular = self.graph.select(condition, self.regular, self.graph.const(0.0))

    def node(self, value: Any) -> int:
        """The node of a `Number` or of a float."""
        if type(value) in (Number, Truth):
            node: int = value.node
            return node
        if not isinstance(value, (float, int, np.number, np.bool_)) or isinstance(value, np.complexfloating):
            raise TypeError(f"a law gives {type(value).__name__} instead of a number")
        return self.graph.const(float(value))


def _asked(what: str, by_value: Callable[..., Any] | None = None) -> Any:
    """A method that symbols refuse, and numbers with a value have only through `by_value`."""

    def ask(self: Number, *arguments: Any) -> Any:
        if self.tape.live and by_value is not None:
            return by_value(self.tape.value(self.node), *arguments)
        self.tape.refuse(what)

    return ask


class Number(NDArrayOperatorsMixin):
    """An unknown float, or one that carries its derivatives. Its operators are NumPy's functions (`arrays`)."""

    __slots__ = ("node", "tape")
    __array_ufunc__: Any = None  # of `arrays`
    __array_function__: Any = None

    def __init__(self, tape: Tape, node: int) -> None:
        self.tape, self.node = tape, node

    __float__ = _asked("it makes a float of a number, by float() or in a compiled function")
    __complex__ = _asked("it computes with complex numbers")
    __hash__ = _asked("it looks a number up")
    __int__ = __index__ = _asked("it makes a whole number", int)
    __round__, __trunc__ = _asked("it rounds a number", round), _asked("it rounds a number", math.trunc)
    __floor__, __ceil__ = _asked("it rounds a number", math.floor), _asked("it rounds a number", math.ceil)
    is_integer = _asked("it asks whether a number is whole", float.is_integer)

    def __format__(self, form: str) -> str:
        if self.tape.live:
            return f"{format(self.tape.value(self.node), form)}~"  # it is not a float
        self.tape.refused = self.tape.refused or "it makes a text of a number"  # unless for an exception
        return "x"

    def __str__(self) -> str:
        return format(self, "")

    __repr__ = __str__

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float if self.tape.live else Number

    def __bool__(self) -> bool:
        return not self.tape.truth(self.tape.graph.condition("==", self.node, self.tape.graph.const(0.0)))

    def function(self, name: str) -> Any:
        """A function of one number, by its name in the graph."""
        graph, own = self.tape.graph, {"sqrt": _root, "negative": Graph.neg}.get(name)
        return self.tape.result(graph.function(name, self.node) if own is None else own(graph, self.node))

    def conjugate(self) -> Any:
        """The number itself, for NumPy."""
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

    function = _asked(_WITH_COMPARISONS)


# ---------------------------------------------------------------- operations of two


def _remainder(graph: Graph, a: int, b: int) -> int:
    """The exact remainder, with the sign of b."""
    left = graph.of_two("fmod", a, b)
    wrong = graph.condition("<", graph.mul(left, b), graph.const(0.0))
    return graph.select(wrong, graph.add(left, b), left)


def _quotient(graph: Graph, a: int, b: int) -> int:
    """The integer quotient of a by b, from the exact remainder."""
    near = graph.div(graph.sub(a, _remainder(graph, a, b)), b)
    whole = graph.function("floor", graph.add(near, graph.const(0.5)))
    return graph.select(graph.condition("==", b, graph.const(0.0)), graph.div(a, b), whole)


def _root(graph: Graph, a: int) -> int:
    """The square root, with derivative zero at zero, so that the length of a vector has a derivative there."""
    zero = graph.condition("==", a, graph.const(0.0))
    length = graph.function("sqrt", graph.select(zero, graph.const(1.0), a))
    return graph.select(zero, graph.const(0.0), length)


def _power(graph: Graph, a: int, b: int) -> int:
    """a^b; products for small integer exponents, exact where NumPy's are."""
    exponent = graph.value(b)
    if exponent == 0.5:
        return _root(graph, a)
    if isinstance(exponent, float) and exponent == exponent // 1.0 and abs(exponent) <= _POWERS:
        return graph.power(a, int(exponent))
    return graph.of_two("power", a, b)


_OnNodes: TypeAlias = Callable[[Graph, int, int], int]

_ARITHMETIC: dict[str, _OnNodes] = {
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
_COMPARISONS: dict[str, _OnNodes] = {
    "less": lambda graph, a, b: graph.condition("<", a, b),
    "less_equal": lambda graph, a, b: graph.condition("<=", a, b),
    "greater": lambda graph, a, b: graph.condition("<", b, a),
    "greater_equal": lambda graph, a, b: graph.condition("<=", b, a),
    "equal": lambda graph, a, b: graph.condition("==", a, b),
    "not_equal": lambda graph, a, b: graph.negation(graph.condition("==", a, b)),
}
_OF_TRUTHS: dict[str, _OnNodes] = {
    "bitwise_and": lambda graph, a, b: graph.select(a, b, graph.const(0.0)),
    "bitwise_or": lambda graph, a, b: graph.select(a, graph.const(1.0), b),
    "bitwise_xor": _COMPARISONS["not_equal"],
}


def _of_two(name: str, on_nodes: _OnNodes) -> Callable[[Any, Any], Any]:
    plain, truths = getattr(np, name), (Truth, bool, np.bool_)

    def apply(x: Any, y: Any) -> Any:
        number = x if isinstance(x, Number) else y
        if not isinstance(number, Number):
            return plain(x, y)
        tape, of_truths = number.tape, type(x) in truths and type(y) in truths
        if name in _OF_TRUTHS and not of_truths:
            raise TypeError(f"{name} of numbers")
        if name in _ARITHMETIC and of_truths:
            tape.refuse(_WITH_COMPARISONS)
        node = on_nodes(tape.graph, tape.node(x), tape.node(y))
        return tape.result(node) if name in _ARITHMETIC else tape.truth_of(node)

    return apply


OF_TWO = {name: _of_two(name, on_nodes) for name, on_nodes in (_ARITHMETIC | _COMPARISONS | _OF_TRUTHS).items()}
"""Operations on two numbers, as NumPy does them and by its names."""


def value_of(value: Any) -> Any:
    """The value of a `Number` with a value, or the number itself."""
    return value.tape.value(value.node) if isinstance(value, Number) else value


def _division(name: str) -> Callable[[Any, Any], Any]:
    """One of Python's divisions, which raise an exception where NumPy's do not."""
    divide = getattr(NDArrayOperatorsMixin, name)

    def call(self: Number, other: Any) -> Any:
        divisor = self if name.startswith("__r") else other
        if self.tape.raises and not isinstance(divisor, np.ndarray) and value_of(divisor) == 0.0:
            raise ZeroDivisionError("division by zero")
        return divide(self, other)

    return call


for _name in ("truediv", "floordiv", "mod", "divmod"):
    for _side in (f"__{_name}__", f"__r{_name}__"):
        setattr(Number, _side, _division(_side))


def choice(condition: Any, one: Any, other: Any) -> Any:
    """`one` where a condition holds, else `other`; all may be known numbers."""
    if not isinstance(condition, Number) or condition.tape.live:
        return one if condition else other
    tape, test = condition.tape, condition if isinstance(condition, Truth) else operator.ne(condition, 0.0)
    return tape.result(tape.graph.select(tape.node(test), tape.node(one), tape.node(other)))
