"""Constants that code loads: numbers of a model, and results that depend only on them.

A graph folds, collects and shares constants. A `Loaded` takes part in this like a number, but without its value: it is
a product of atoms, which are inputs, sums and square roots of others,

    c  =  x  a_1^p_1 ... a_n^p_n,    sums  1 a + x b.

So results that depend only on numbers are computed once for a model (`tape`), and models in which the same numbers are
0, 1, -1 or equal share code. Products of atoms cancel, and are equal, by construction; two numbers that are equal by
chance stay two. The sign is the sign of x: atoms are treated as positive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Vec

Factors: TypeAlias = tuple[tuple[int, int], ...]
"""Atoms with their powers, in order."""

Key: TypeAlias = tuple[float, Factors]
"""A number, and the atoms by which it is multiplied."""

ADD, MULTIPLY, DIVIDE, ROOT = range(4)
"""Operations of a tape."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tape:
    """Numbers computed in sequence: constants, inputs, and one for each row (operation, i, j) from the numbers at i and
    j. `results` are the places of the results."""

    constants: Vec
    n_inputs: int
    rows: Ints
    results: Ints


@final
class LoadedNumbers:
    """The atoms of a recording. `inputs` are the model's numbers, for which conditions are evaluated."""

    def __init__(self, inputs: Vec) -> None:
        self._atoms: list[tuple[Any, ...]] = []
        self._values: list[float] = []
        self._known: dict[tuple[Any, ...], int] = {}
        self._made: dict[Key, Loaded] = {}
        self.inputs = [self._atom(("input", i), x) for i, x in enumerate(inputs.tolist())]

    def _atom(self, content: tuple[Any, ...], value: float) -> Loaded:
        k = self._known.get(content)
        if k is None:
            k = self._known[content] = len(self._atoms)
            self._atoms.append(content)
            self._values.append(value)
        return self._loaded(1.0, ((k, 1),))

    def product(self, x: float, factors: Factors) -> Loaded | float:
        """x a^p b^q ...; a number if no factor is left."""
        return self._loaded(x, factors) if factors and x != 0.0 else x + 0.0

    def _loaded(self, x: float, factors: Factors) -> Loaded:
        key = (x, factors)
        constant = self._made.get(key)
        if constant is None:
            value = x
            for k, p in factors:
                value *= self._values[k] ** p if self._values[k] or p > 0 else math.inf
            constant = self._made[key] = Loaded(self, x, factors, value, len(self._made))
        return constant

    def sum(self, a: Loaded | float, b: Loaded | float) -> Loaded | float:
        """a + b. Both are split into a common number and the rest, so that multiples of a sum share an atom."""
        x, p = _key(a)
        y, q = _key(b)
        if p == q:
            return self.product(x + y, p)
        if (p, x) > (q, y):
            x, p, y, q = y, q, x, p
        value = value_of(self.product(1.0, p)) + value_of(self.product(y / x, q))
        return self.product(x, self._atom(("sum", (1.0, p), (y / x, q)), value).factors)

    def root(self, a: Loaded) -> Loaded:
        return self._atom(("sqrt", a.key), math.sqrt(a.value) if a.value >= 0.0 else math.nan)

    def contents(self) -> object:
        """The constants of a recording, for comparisons, with their values: the text depends on which sums vanish."""
        return self._atoms, list(self._made), self._values

    def tape(self, wanted: Iterable[Loaded | float]) -> Tape:
        """The tape that computes some of them; numbers are results as they are."""
        return _Taping(self._atoms, len(self.inputs)).tape(list(map(_key, wanted)))


@final
class Loaded:
    """A loaded constant. Conditions are evaluated at `value`."""

    __slots__ = ("_number", "_of", "factors", "value", "x")

    def __init__(self, of: LoadedNumbers, x: float, factors: Factors, value: float, number: int) -> None:
        self._of, self._number = of, number
        self.x, self.factors, self.value = x, factors, value

    @property
    def key(self) -> Key:
        return self.x, self.factors

    def __repr__(self) -> str:
        return f"#{self._number}"

    def __reduce__(self) -> Any:
        raise TypeError("loaded constants belong to a recording")

    def __add__(self, other: Any) -> Any:
        if not isinstance(other, (float, Loaded)):
            return NotImplemented
        return self if other == 0.0 else self._of.sum(self, other)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return self._of.product(-self.x, self.factors)

    def __sub__(self, other: Any) -> Any:
        return self + -other if isinstance(other, (float, Loaded)) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if not isinstance(other, (float, Loaded)):
            return NotImplemented
        y, q = _key(other)
        return self._of.product(self.x * y, _joined(self.factors, q, 1))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if not isinstance(other, (float, Loaded)):
            return NotImplemented
        y, q = _key(other)
        return self._of.product(self.x / y, _joined(self.factors, q, -1))

    def __rtruediv__(self, other: Any) -> Any:
        return self._of.product(other / self.x, _joined((), self.factors, -1))

    def __lt__(self, zero: float) -> bool:
        """Whether its written sign is negative: loaded constants have no order."""
        assert zero == 0.0
        return self.x < 0.0

    def __gt__(self, zero: float) -> bool:
        assert zero == 0.0
        return self.x > 0.0

    def sqrt(self) -> Loaded:
        return self._of.root(self)


def value_of(c: Loaded | float) -> float:
    """The value of a constant for conditions."""
    return c.value if isinstance(c, Loaded) else c


def _key(c: Loaded | float) -> Key:
    return c.key if isinstance(c, Loaded) else (c, ())


def _joined(one: Factors, other: Factors, sign: int) -> Factors:
    """The product of powers, or their quotient."""
    powers = dict(one)
    for k, p in other:
        powers[k] = powers.get(k, 0) + sign * p
    return tuple(sorted((k, p) for k, p in powers.items() if p))


_Place: TypeAlias = tuple[int, int]
"""Kind (constants, inputs or rows of a tape), and place there."""


@final
class _Taping:
    def __init__(self, atoms: list[tuple[Any, ...]], n_inputs: int) -> None:
        self._atoms, self._n_inputs = atoms, n_inputs
        self._constants: dict[float, _Place] = {}
        self._rows: dict[tuple[int, _Place, _Place], _Place] = {}
        self._there: dict[int, _Place] = {}

    def tape(self, wanted: list[Key]) -> Tape:
        for k in self._needed(wanted):
            self._there[k] = self._atom(*self._atoms[k])
        places = [self._product(key) for key in wanted]
        first = (0, len(self._constants), len(self._constants) + self._n_inputs)

        def at(place: _Place) -> int:
            return first[place[0]] + place[1]

        rows = [(operation, at(a), at(b)) for operation, a, b in self._rows]
        return Tape(
            np.array(list(self._constants), dtype=float),
            self._n_inputs,
            np.array(rows, dtype=np.int64).reshape(-1, 3),
            np.array([at(place) for place in places], dtype=np.int64),
        )

    def _needed(self, wanted: list[Key]) -> list[int]:
        """The atoms of some products, in an order in which they can be computed."""
        atoms: set[int] = set()
        todo = [k for _, factors in wanted for k, _ in factors]
        while todo:
            k = todo.pop()
            if k not in atoms:
                atoms.add(k)
                kind, *arguments = self._atoms[k]
                if kind != "input":
                    todo += [j for _, factors in arguments for j, _ in factors]
        return sorted(atoms)

    def _atom(self, kind: str, *of: Any) -> _Place:
        if kind == "input":
            return 1, of[0]
        first, *others = map(self._product, of)
        return self._row(ADD, first, *others) if others else self._row(ROOT, first, first)

    def _product(self, key: Key) -> _Place:
        x, factors = key
        above = [k for k, p in factors for _ in range(p)]
        below = [k for k, p in factors for _ in range(-p)]
        out = self._there[above.pop(0)] if x == 1.0 and above else self._constant(x)
        for k in above:
            out = self._row(MULTIPLY, out, self._there[k])
        for k in below:
            out = self._row(DIVIDE, out, self._there[k])
        return out

    def _constant(self, x: float) -> _Place:
        return self._constants.setdefault(x, (0, len(self._constants)))

    def _row(self, operation: int, a: _Place, b: _Place) -> _Place:
        return self._rows.setdefault((operation, a, b), (2, len(self._rows)))
