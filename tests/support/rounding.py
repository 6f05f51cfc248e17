"""How much of a result rounding can change: kernels run on numbers that carry a sample of what other rounding makes.

Two programs for the same formulas differ by the rounding of their operations: each result v of an operation becomes
v (1 + d) with |d| <= 2^-53, and to first order a final result f moves by the sum of (df/dv) v d over all operations.
The root of the sum of the squares of (df/dv) v is the *size* of f here: f itself at least, and where large terms cancel
or an ill-conditioned system is solved, as much more as they bring in. It is measured: the plain kernel runs on numbers
in which each operation is off by its own random +-`OFF`, and the size is the spread of the results over `OFF`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, final

import numpy as np
from inside import SymbolicMemory, Vec, plain, value_of
from inside import opened as opened_records

OFF = 2.0**-30
"""How far operations are off: small enough for first order, large enough for the rounding of the sample itself."""

SAMPLES = 24
"""Their spread is good to a seventh."""

_POOL = 4093


def _drawn() -> Any:
    """Factors for many operations, one after the other; the first of each is 1."""
    out = 1.0 + OFF * np.random.default_rng(53).choice((-1.0, 1.0), (_POOL, 1 + SAMPLES))
    out[:, 0] = 1.0
    return out


@final
class _Source:
    """Hands out factors; and calls functions of the user for each of a sample."""

    def __init__(self) -> None:
        self._factors = [*_drawn()]
        self._next = 0

    def factors(self) -> Any:
        self._next = (self._next + 1) % _POOL
        return self._factors[self._next]

    def restart(self) -> None:
        """So that a size does not depend on what was measured before."""
        self._next = 0

    def call(self, function: Any, t: Any, x: Any, out: Any) -> list[Rounded]:
        """A function of the user (t, x, out)."""
        times, inputs = _values(t), np.array([_values(v) for v in x]).reshape(len(x), 1 + SAMPLES)
        results = np.array([_values(v) for v in out])
        for k in range(1 + SAMPLES):
            column = results[:, k].copy()
            function.plain(times[k], inputs[:, k].copy(), column)
            results[:, k] = column
        return [Rounded(row * self.factors()) for row in results]


_SOURCE = _Source()


def _values(x: Any) -> Any:
    return x.values if isinstance(x, Rounded) else np.full(1 + SAMPLES, float(x))


def _binary(name: str, itself: float = np.nan, zero: float = np.nan) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """An operation, as x op y and as y op x. It does nothing to x where y is `itself`; its result is 0 where y is
    `zero`: both without rounding."""
    act = getattr(np, name)

    def forward(self: Rounded, other: Any) -> Any:
        if isinstance(other, Rounded):
            return Rounded(act(self.values, other.values) * _SOURCE.factors())
        if other == itself:
            return self
        return 0.0 if other == zero else Rounded(act(self.values, float(other)) * _SOURCE.factors())

    def backward(self: Rounded, other: Any) -> Any:
        if other == zero:
            return 0.0
        if other == itself and name in ("add", "multiply"):
            return self
        return Rounded(act(float(other), self.values) * _SOURCE.factors())

    return forward, backward


def _function(name: str) -> Callable[[Rounded], Rounded]:
    act = getattr(np, name)
    return lambda self: Rounded(act(self.values) * _SOURCE.factors())


def _comparison(name: str) -> Callable[[Any, Any], bool]:
    act = getattr(np, name)
    return lambda self, other: bool(act(self.values[0], other.values[0] if isinstance(other, Rounded) else other))


@final
class Rounded:
    """A number as it is, first, and as a sample of other rounding has it. Conditions fall as they do for the first."""

    __slots__ = ("values",)
    recorder = _SOURCE

    def __init__(self, values: Vec) -> None:
        self.values = values

    __add__, __radd__ = _binary("add", itself=0.0)
    __sub__, __rsub__ = _binary("subtract", itself=0.0)
    __mul__, __rmul__ = _binary("multiply", itself=1.0, zero=0.0)
    __truediv__, __rtruediv__ = _binary("true_divide", itself=1.0)
    sqrt, sin, cos, tan = _function("sqrt"), _function("sin"), _function("cos"), _function("tan")
    arcsin, arctan, log = _function("arcsin"), _function("arctan"), _function("log")
    arctan2 = _binary("arctan2")[0]
    __lt__, __le__, __gt__ = _comparison("less"), _comparison("less_equal"), _comparison("greater")
    __ge__, __eq__, __ne__ = _comparison("greater_equal"), _comparison("equal"), _comparison("not_equal")  # type: ignore[assignment]
    __hash__ = None  # type: ignore[assignment]

    def __neg__(self) -> Rounded:
        return Rounded(-self.values)

    def __pos__(self) -> Rounded:
        return self

    def __abs__(self) -> Rounded:
        return -self if self.values[0] < 0.0 else self

    def __floor__(self) -> Rounded:
        return Rounded(np.full(1 + SAMPLES, np.floor(self.values[0])))

    def __pow__(self, n: Any) -> Rounded:
        return Rounded(self.values**n * _SOURCE.factors())

    def __bool__(self) -> bool:
        return bool(self.values[0] != 0.0)


_EXACT = frozenset({0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0})
"""Numbers whose products and sums among themselves are not rounded."""


def _number(x: Any) -> Any:
    return x if isinstance(x, int) or x in _EXACT else Rounded(np.full(1 + SAMPLES, float(x)))


def opened(value: Any) -> Any:
    """Records and arrays with `Rounded` numbers in place of floats, exact so far."""
    if isinstance(value, list):
        return [opened(x) for x in value]
    if isinstance(value, SimpleNamespace):
        return SimpleNamespace(**{name: opened(x) for name, x in vars(value).items()})
    if not isinstance(value, np.ndarray):
        return _number(value)
    out = value.astype(object)
    if value.dtype.kind != "i":
        out.ravel()[:] = [_number(x) for x in value.ravel()]
    return out


@final
class _Memory:
    """The arrays of a workspace for plain kernels."""

    def __init__(self, workspace: Any) -> None:
        self._arrays = workspace.arrays
        self.target: Any = None
        self.head = SymbolicMemory(workspace.head, {}, {}).head

    def __getattr__(self, name: str) -> Any:
        out = opened(opened_records(name, self._arrays[name]))
        setattr(self, name, out)
        return out


def size(workspace: Any, kernel: Any, arguments: tuple[Any, ...], shape: tuple[int, ...]) -> Any:
    """The size of the entries of a kernel's result, an array of this shape."""
    _SOURCE.restart()
    run = plain(kernel, workspace.memory.features)
    out = np.zeros(shape, dtype=object)
    with np.errstate(all="ignore"):
        run(_Memory(workspace), *(opened(np.asarray(a))[()] for a in arguments), out)
        sizes = [max(carried(x), abs(float(_values(x)[0]))) for x in out.ravel()]
    return np.array(sizes).reshape(shape)


def size_of_derivative(recording: Any, inputs: dict[str, Any], shape: tuple[int, ...]) -> Any:
    """The same of the results of a recording, for which the inputs have these numbers."""
    _SOURCE.restart()
    graph, known = recording.graph, {}
    with np.errstate(all="ignore"):
        for k in graph.needed(recording.outputs):
            known[k] = _of_node(graph.nodes[k], known, inputs, recording.functions)
        sizes = [max(carried(known[k]), abs(float(_values(known[k])[0]))) for k in recording.outputs]
    return np.array(sizes).reshape(shape)


def _of_node(node: Any, known: Any, inputs: dict[str, Any], functions: Any) -> Any:
    kind, *rest = node
    if kind == "const":
        return _number(value_of(rest[0]))
    if kind == "input":
        return _number(float(inputs[rest[0]][rest[1]]))
    if kind == "call":
        number, n_in, _, *operands = rest
        t, *others = (known[k] for k in operands)
        return _SOURCE.call(functions[number], t, others[:n_in], others[n_in:])
    if kind == "result":
        return known[rest[0]][rest[1]]
    x, *others = (known[k] for k in rest)
    if kind == "select":
        return others[0] if x else others[1]
    if kind == "not":
        return not x
    if kind == "rcp":
        return 1.0 / x if isinstance(x, Rounded) else np.float64(1.0) / x  # of the side that is not chosen
    if kind in _OPERATORS:
        return _OPERATORS[kind](x, *others)
    return Rounded(getattr(np, kind)(_values(x), *map(_values, others)) * _SOURCE.factors())


_OPERATORS = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "neg": operator.neg, "abs": abs,
    "<": operator.lt, "<=": operator.le, "==": operator.eq,
}  # fmt: skip


def carried(x: Any) -> float:
    """The root of the sum of squares of what roundings make of a number, over one of them."""
    values = _values(x)
    return float(np.sqrt(np.mean((values[1:] - values[0]) ** 2)) / OFF)
