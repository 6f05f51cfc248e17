"""Pivots for sparse matrices with one pattern, chosen once on numbers: the order of an elimination.

P A Q = L U, with the rows and columns of A in the order of the pivots. They are SuperLU's for one of several samples,
and must also serve the others: entries of dF/dy + c dF/dyd change with c.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae import _process
from rbdae._arrays import Ints, Vec

SOUND = 1e6
"""Largest multiplier for which an order serves a sample."""

_THRESHOLD = 0.1
"""Least size of a diagonal pivot that SuperLU keeps, relative to the largest entry of its column."""

_ORDERS = ("COLAMD", "MMD_AT_PLUS_A", "MMD_ATA")
_SMALL = 400
"""Most unknowns for which all three orderings are tried; in large systems minimum degree may fill L and U."""

Place = tuple[int, int]


class SingularPattern(ArithmeticError):
    """No order serves all samples: the matrix is singular at one."""


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """An order of elimination of an (n, n) matrix.

    Parameters
    ----------
    pivots : row and column of each
    lower : for each pivot, the rows from which its row is subtracted
    upper : for each pivot, the other columns of its row
    products : multiplications of the factorisation
    """

    pivots: list[Place]
    lower: list[list[int]]
    upper: list[list[int]]
    products: int


def plan(n: int, samples: Sequence[Mapping[Place, float]]) -> Plan:
    """The elimination order with the fewest products among those that serve all samples.

    Parameters
    ----------
    samples : entries at several states, all at the same places (the structure)

    Raises
    ------
    SingularPattern
        if no order serves all samples, even badly
    """
    places = list(samples[0])
    rows, columns = np.array(places, dtype=np.int64).reshape(-1, 2).T
    values = [np.array(list(sample.values()), dtype=float) for sample in samples]
    plans: list[Plan] = []
    least, worse = np.inf, None
    for name in _ORDERS if n <= _SMALL else _ORDERS[:1]:
        for own in values:
            _process.check()
            order = _order(n, rows, columns, own, name)
            if order is None:
                continue
            size = max(_largest(n, rows, columns, another, order) for another in values) if len(values) > 1 else 1.0
            if size <= SOUND:
                plans.append(with_pivots(n, _pairs(order), places))
                break
            if size < least:
                least, worse = size, order
    if plans:
        return min(plans, key=lambda plan: plan.products)
    if worse is None:
        raise SingularPattern(f"no pivots serve {n} unknowns: the matrix is singular")
    return with_pivots(n, _pairs(worse), places)


def _pairs(order: tuple[Ints, Ints]) -> list[Place]:
    return list(zip(order[0].tolist(), order[1].tolist(), strict=True))


def with_pivots(n: int, pivots: Iterable[Place], places: Iterable[Place]) -> Plan:
    """The plan with these pivots for a matrix with entries at these places, by one symbolic pass."""
    rows: list[set[int]] = [set() for _ in range(n)]
    columns: list[set[int]] = [set() for _ in range(n)]
    for i, j in places:
        rows[i].add(j)
        columns[j].add(i)
    order, lower, upper, products = list[Place](), list[list[int]](), list[list[int]](), 0
    for i, j in pivots:
        right, below = rows[i], columns[j]
        right.remove(j)
        below.remove(i)
        for r in below:
            rows[r].discard(j)
            rows[r] |= right
        for k in right:
            columns[k].discard(i)
            columns[k] |= below
        order.append((i, j))
        lower.append(sorted(below))
        upper.append(sorted(right))
        products += len(below) * (1 + len(right))
    return Plan(order, lower, upper, products)


def _factors(n: int, rows: Ints, columns: Ints, values: Vec, name: str, threshold: float) -> Any:
    from scipy.sparse import csc_matrix  # slow imports, which runs without factors do not need
    from scipy.sparse.linalg import splu

    try:
        return splu(csc_matrix((values, (rows, columns)), (n, n)), permc_spec=name, diag_pivot_thresh=threshold)
    except RuntimeError:
        return None


def _order(n: int, rows: Ints, columns: Ints, values: Vec, name: str) -> tuple[Ints, Ints] | None:
    """The rows and the columns of SuperLU's pivots; None if the matrix is singular."""
    factors = _factors(n, rows, columns, values, name, _THRESHOLD)
    return None if factors is None else (np.argsort(factors.perm_r), np.argsort(factors.perm_c))


def _largest(n: int, rows: Ints, columns: Ints, values: Vec, order: tuple[Ints, Ints]) -> float:
    """The largest multiplier of an elimination in this order."""
    row, column = np.argsort(order[0]), np.argsort(order[1])
    factors = _factors(n, row[rows], column[columns], values, "NATURAL", 0.0)
    if factors is None or not np.array_equal(factors.perm_r, factors.perm_c):
        return np.inf  # a pivot is zero
    return float(np.abs(factors.L.data).max())
