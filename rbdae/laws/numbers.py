"""Numbers that replace floats when a law runs: `Number`, comparisons as `Truth`, arrays of both as `Numbers`.

A number records its operations in a graph. Without a point on its tape it is a symbol, and refuses everything but
arithmetic and its truth. With one it has a value: it branches, is rounded and is printed by that, as a float is. Both
have the exact derivatives of the graph. Python's operators are NumPy's functions, and these are one table (`NUMPY`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial, reduce
from typing import Any, NoReturn, final

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from rbdae._arrays import cross
from rbdae.graph.evaluate import computed
from rbdae.graph.graph import FUNCTIONS, OF_TWO, Graph
from rbdae.graph.replacing import made

MOST_NODES = 4000
"""Most operations of a recorded law."""


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
    raises : whether a division by zero raises an exception, as Python's floats do

    Attributes
    ----------
    asked : the conditions asked for, and their truth
    regular : a condition, as a node: 0 where a function of `math` raises an exception
    refused : why an operation was refused, even if the law caught the exception
    """

    def __init__(
        self, graph: Graph, answers: tuple[bool, ...] = (), point: Mapping[str, Any] | None = None, raises: bool = False
    ) -> None:
        self.graph, self.live, self.raises = graph, point is not None, raises
        self.regular, self.refused = graph.const(1.0), ""
        self.asked: dict[int, bool] = {}
        self._answers, self._point = answers, dict(point or {})
        self._values: list[Any] = []

    def refuse(self, why: str) -> NoReturn:
        """End the run. Raises `NotRecorded`."""
        self.refused = self.refused or why
        raise NotRecorded(why)

    def value(self, node: int) -> Any:
        """The value of a node at the point, as NumPy computes it; without a point, that of a constant, or None."""
        if not self.live:
            return self.graph.value(node)
        for each in self.graph.nodes[len(self._values) : node + 1]:
            self._values.append(computed(each, self._values, self._point, ()))
        return self._values[node]

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

    def result(self, node: int, of: Any = None) -> Any:
        """A `Number`, or the number of a constant; a `Truth`, or the truth of a condition that has a value."""
        if node > MOST_NODES and not self.live:
            self.refuse(f"it has more than {MOST_NODES} operations")
        value = self.value(node) if of is Truth else self.graph.value(node)
        return (of or Number)(self, node) if value is None else bool(value) if of is Truth else value

    def require(self, condition: Any) -> None:
        """Require a comparison; where it fails, the law itself is called."""
        self.regular = self.graph.select(self.node(condition), self.regular, self.graph.const(0.0))

    def node(self, value: Any) -> int:
        """The node of a `Number` or of a float."""
        if isinstance(value, Number):
            return value.node
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
    """An unknown float, or one that carries its derivatives."""

    __slots__ = ("node", "tape")

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

    def __repr__(self) -> str:
        return format(self, "")

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return float if self.tape.live else Number

    def __bool__(self) -> bool:
        return not self.tape.truth(self.tape.graph.condition("==", self.node, self.tape.graph.const(0.0)))

    def __array_ufunc__(self, ufunc: Any, method: str, *x: Any, out: Any = (), where: Any = True, **more: Any) -> Any:
        """One of NumPy's functions of numbers, element by element."""
        name, called = ufunc.__name__, method == "__call__" and where is True
        if called and name in NUMPY:
            arrays = any(isinstance(given, (np.ndarray, list, tuple)) for given in x)
            result = each(NUMPY[name], *x) if arrays else NUMPY[name](*x)
        elif (called and name in ("matmul", "vecdot", "matvec", "vecmat")) or (
            method == "reduce" and name in ("add", "multiply", "maximum", "minimum")
        ):  # by Python's operators
            result = again(getattr(ufunc, method)(*map(bare, x), **more))
        else:
            refuse(self, f"it calls numpy.{name}{'' if method == '__call__' else '.' + method}")
        for target in out:
            if not isinstance(target, Number):  # `+=` changes arrays, but makes new numbers
                bare(target)[...] = result
                return target
        return result

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        name = function.__name__
        if name in OF_ARRAYS:
            return OF_ARRAYS[name](*arguments, **options)
        if name not in _ON_OBJECTS:
            refuse(self, f"it calls {(function.__module__ or 'numpy')}.{name}")
        return again(function(*map(bare, arguments), **{key: bare(value) for key, value in options.items()}))


@final
class Truth(Number):
    """The result of a comparison of symbols. ``if`` asks for its truth; `&`, `|`, `~` and `numpy.where` do not."""

    __slots__ = ()

    def __bool__(self) -> bool:
        return self.tape.truth(self.node)


@final
class Numbers(np.ndarray[Any, Any]):
    """An array of `Number` and floats."""

    __array_ufunc__: Any = Number.__array_ufunc__
    __array_function__: Any = Number.__array_function__


def numbers(values: Any) -> Numbers:
    """Values of any shape as an array of objects."""
    return np.array(values, dtype=object).view(Numbers)


def bare(value: Any) -> Any:
    """Arrays, and single numbers, as NumPy's own arrays."""
    if isinstance(value, (list, tuple)):
        return type(value)(bare(each) if isinstance(each, (Numbers, list, tuple)) else each for each in value)
    return np.asarray(value, dtype=object) if type(value) in (Numbers, Number, Truth) else value


def again(value: Any) -> Any:
    """Arrays of objects as `Numbers`; a single object unchanged."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return value.view(Numbers) if value.shape else value[()]
    return value


def each(apply: Callable[..., Any], *given: Any) -> Any:
    """Apply a function element by element."""
    return again(np.frompyfunc(apply, len(given), 1)(*(np.array(value, dtype=object) for value in given)))


def number_among(values: Any) -> Number | None:
    """The first number of a law among values."""
    for each in values:
        number = number_among(each) if isinstance(each, (list, tuple, Numbers)) else each
        if isinstance(number, Number):
            return number
    return None


def refuse(value: Any, why: str) -> NoReturn:
    """End the run of a law on a number or an array. Raises `NotRecorded`."""
    number = number_among([value])
    if number is not None:
        number.tape.refuse(why)
    raise NotRecorded(why)


def choice(condition: Any, one: Any, other: Any) -> Any:
    """`one` where a condition holds, else `other`; all may be known numbers."""
    if not isinstance(condition, Number) or condition.tape.live:
        return one if condition else other
    tape, test = condition.tape, condition if isinstance(condition, Truth) else condition != 0.0
    truth = type(one) in _TRUTHS and type(other) in _TRUTHS
    node = tape.graph.select(tape.node(test), tape.node(one), tape.node(other))
    return tape.result(node, Truth if truth else Number)


# ---------------------------------------------------------------- functions of numbers

_KINDS = {
    **{name: name for name in (*FUNCTIONS, *OF_TWO)}, "absolute": "abs", "fabs": "abs", "negative": "neg", "add": "add",
    "subtract": "sub", "multiply": "mul", "divide": "div", "less": "<", "less_equal": "<=", "equal": "==",
    "invert": "not",
}  # fmt: skip
"""NumPy's functions that are one node."""

_TRUTHS = Truth, bool, np.bool_


def _truth(x: Any) -> Any:
    if type(x) not in _TRUTHS:
        raise TypeError("&, |, ^ and ~ are for comparisons")
    return x


def _one_node(name: str) -> Callable[..., Any]:
    """One of NumPy's functions for numbers of laws; for known numbers NumPy's own."""
    plain, kind = getattr(np, name), _KINDS[name]
    arithmetic = kind not in ("<", "<=", "==", "not")

    def apply(*given: Any) -> Any:
        x, y = given[0], given[-1]
        number = x if isinstance(x, Number) else y
        if not isinstance(number, Number):
            return plain(*given)
        tape = number.tape
        if arithmetic and type(x) in _TRUTHS and type(y) in _TRUTHS:
            tape.refuse("it computes with comparisons, which Python and NumPy do in different ways")
        nodes = [*map(tape.node, given)]
        if tape.raises and name in ("divide", "fmod") and tape.value(nodes[1]) == 0.0:
            raise ZeroDivisionError("division by zero")
        node = tape.graph.div(*nodes) if kind == "div" else made(tape.graph, kind, nodes)
        return tape.result(node, Number if arithmetic else Truth)

    return apply


_ONE_NODE = {name: _one_node(name) for name in _KINDS}


def _root(x: Any) -> Any:
    """The square root, with derivative zero at zero, so that the length of a vector has a derivative there."""
    zero = x == 0.0
    return choice(zero, 0.0, _ONE_NODE["sqrt"](choice(zero, 1.0, x)))


def _power(x: Any, y: Any) -> Any:
    """x^y; for integer exponents up to 8 products, exact where NumPy's are."""
    if isinstance(x, Number) and not isinstance(y, Number):
        if y == 0.5:
            return _root(x)
        if abs(y) <= 8 and y == y // 1:
            return x.tape.result(x.tape.graph.power(x.node, int(y)))
    return _ONE_NODE["power"](x, y)


def _remainder(x: Any, y: Any) -> Any:
    """The exact remainder, with the sign of y."""
    left = _ONE_NODE["fmod"](x, y)
    return choice(left * y < 0.0, left + y, left)


def _quotient(x: Any, y: Any) -> Any:
    """The integer quotient of x by y, from the exact remainder."""
    divide = _ONE_NODE["divide"]
    return choice(y == 0.0, divide(x, y), NUMPY["floor"](divide(x - _remainder(x, y), y) + 0.5))


def _with_sign(x: Any, y: Any) -> Any:
    """|x| with the sign of y; at zero the law is called, because a graph has one zero only."""
    if isinstance(y, Number):
        y.tape.require(y != 0.0)
    below: Any = y if isinstance(y, Number) else math.copysign(1.0, y)
    return choice(below < 0.0, -abs(x), abs(x))


NUMPY: dict[str, Callable[..., Any]] = {
    **_ONE_NODE,
    "greater": lambda x, y: _ONE_NODE["less"](y, x),
    "greater_equal": lambda x, y: _ONE_NODE["less_equal"](y, x),
    "not_equal": lambda x, y: NUMPY["logical_not"](_ONE_NODE["equal"](x, y)),
    **dict.fromkeys(("bitwise_and", "logical_and"), lambda x, y: choice(_truth(x), _truth(y), False)),
    **dict.fromkeys(("bitwise_or", "logical_or"), lambda x, y: choice(_truth(x), True, _truth(y))),
    "bitwise_xor": lambda x, y: _truth(x) != _truth(y),
    "invert": lambda x: _ONE_NODE["invert"](_truth(x)),
    "sqrt": _root,
    **dict.fromkeys(("positive", "conjugate"), lambda x: x),
    **dict.fromkeys(("deg2rad", "radians"), lambda x: x * (math.pi / 180.0)),
    **dict.fromkeys(("rad2deg", "degrees"), lambda x: x * (180.0 / math.pi)),
    "ceil": lambda x: -NUMPY["floor"](-x),
    "trunc": lambda x: choice(x < 0.0, -NUMPY["floor"](-x), NUMPY["floor"](x)),
    "square": lambda x: x * x,
    "reciprocal": lambda x: _ONE_NODE["divide"](1.0, x),
    "sign": lambda x: choice(x > 0.0, 1.0, choice(x < 0.0, -1.0, choice(x == 0.0, 0.0, x))),
    "exp2": lambda x: _power(2.0, x),
    "log2": lambda x: NUMPY["log"](x) / math.log(2.0),
    "log10": lambda x: NUMPY["log"](x) / math.log(10.0),
    "cbrt": lambda x: choice(x < 0.0, -_power(-x, 1.0 / 3.0), _power(x, 1.0 / 3.0)),
    "isnan": lambda x: x != x,
    "isfinite": lambda x: abs(x) < math.inf,
    "isinf": lambda x: abs(x) == math.inf,
    "logical_not": lambda x: ~x if isinstance(x, Truth) else x == 0.0,
    **dict.fromkeys(("power", "float_power"), _power),
    "remainder": _remainder,
    "floor_divide": _quotient,
    "divmod": lambda x, y: (_quotient(x, y), _remainder(x, y)),
    "hypot": lambda x, y: _root(x * x + y * y),
    "maximum": lambda x, y: choice(y != y, y, choice(x < y, y, x)),
    "minimum": lambda x, y: choice(y != y, y, choice(x > y, y, x)),
    "fmax": lambda x, y: choice(x >= y, x, choice(y != y, x, y)),
    "fmin": lambda x, y: choice(x <= y, x, choice(y != y, x, y)),
    "heaviside": lambda x, y: choice(x > 0.0, 1.0, choice(x < 0.0, 0.0, choice(x == 0.0, y, x))),
    "copysign": _with_sign,
}
"""Functions of one number and of two, by NumPy's names."""

for _name in (*FUNCTIONS, "conjugate"):  # NumPy calls them by these names for arrays of objects
    setattr(Number, _name, NUMPY.get(_name))


# ---------------------------------------------------------------- functions of arrays

_ON_OBJECTS = frozenset({
    "amax", "amin", "atleast_1d", "atleast_2d", "broadcast_to", "column_stack", "concatenate", "copy", "cumsum", "diag",
    "diff", "dot", "einsum", "expand_dims", "flip", "full_like", "hstack", "inner", "max", "mean", "min", "moveaxis",
    "ndim", "norm", "ones_like", "outer", "polyval", "prod", "ravel", "repeat", "reshape", "roll", "shape", "size",
    "squeeze", "stack", "sum", "swapaxes", "tensordot", "tile", "trace", "transpose", "vdot", "vstack", "zeros_like",
})  # fmt: skip
"""Functions that NumPy also has for arrays of objects."""


def clip(a: Any, a_min: Any = None, a_max: Any = None, **options: Any) -> Any:
    low, high = options.get("min", a_min), options.get("max", a_max)
    out = a if low is None else np.maximum(a, low)
    return out if high is None else np.minimum(out, high)


def select(conditions: Any, choices: Any, default: Any = 0) -> Any:
    pairs = zip(reversed(conditions), reversed(choices), strict=True)
    return reduce(lambda out, pair: each(choice, *pair, out), pairs, default)


def vector_product(a: Any, b: Any, **options: Any) -> Any:
    """`numpy.cross`; our own for numbers, in space, since NumPy 1 converts constants among them to floats."""
    if number_among([a, b]) is None:
        return np.cross(bare(a), bare(b), **options)
    return again(cross(*(np.array(x, dtype=object) for x in (a, b)), **options))


def _polynomial(x: Any, places: Any, rows: Any) -> Any:
    """The polynomial of x's segment between rising places, found by bisection, at its distance from their first; rows
    of coefficients by segments, the highest power first."""

    def chosen(values: Any, first: int = 0, last: int = len(places) - 1) -> Any:
        if last - first == 1:
            return float(values[first])
        middle = (first + last) // 2
        return choice(x < places[middle], chosen(values, first, middle), chosen(values, middle, last))

    s: Any = x - chosen(places)
    value: Any = 0.0
    for row in rows:
        value = value * s + chosen(row)
    return value


def interp(x: Any, xp: Any, fp: Any) -> Any:
    """`numpy.interp` in a table of known numbers, at least two, constant beyond its ends."""
    places, values = np.asarray(xp, dtype=float), np.asarray(fp, dtype=float)
    slopes = np.diff(values) / np.diff(places)

    def one(s: Any) -> Any:
        if not isinstance(s, Number):
            return float(np.interp(s, places, values))
        inside = _polynomial(s, places, (slopes, values))
        out = choice(s < places[0], values[0], choice(s >= places[-1], values[-1], inside))
        return choice(s == s, out, s) if slopes[-1] == 0.0 else out

    return each(one, x)


def piecewise(spline: Any) -> Callable[..., Any]:
    """A scipy spline as a function of a symbol: its coefficients are selected, and one polynomial is evaluated."""

    def call(x: Any, *others: Any, **options: Any) -> Any:
        if not isinstance(x, Number):
            return spline(x, *others, **options)
        from scipy.interpolate import PPoly

        polynomial = spline if isinstance(spline, PPoly) else PPoly.from_spline(spline)
        polynomial = polynomial.derivative(int(others[0] if others else options.get("nu", 0)))
        if polynomial.extrapolate is not True and polynomial.extrapolate != 1:
            x.tape.refuse(f"it calls a spline with extrapolate={spline.extrapolate!r}")
        columns = np.moveaxis(polynomial.c.reshape(*polynomial.c.shape[:2], -1), 2, 0)
        out = [_polynomial(x, polynomial.x, rows) for rows in columns]
        return out[0] if polynomial.c.ndim == 2 else numbers(out).reshape(polynomial.c.shape[2:])

    return call


OF_ARRAYS: dict[str, Callable[..., Any]] = {
    "where": partial(each, choice), "clip": clip, "select": select, "cross": vector_product, "interp": interp
}  # fmt: skip
"""Functions of arrays that are written with `choice`."""

OF_NUMPY = frozenset({*NUMPY, *OF_ARRAYS, *_ON_OBJECTS, "linspace", "arange"})
"""NumPy's functions that laws on symbols may call."""
