"""Which velocities of a large system are independent: a sparse elimination of the joints' matrix, body by body.

Systems with many degrees of freedom need independent velocities of one body each, or [G; S] would not be sparse. They
are the columns that an elimination with pivoting leaves. In the order of minimum degree of the bodies' graph, the rows
at a body are eliminated by its columns; a row whose entries at the body are small against its others waits for another
body, and so do the columns that it needs.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.multibody.graph import eliminate

_SMALL = 0.1
"""A pivot is at least this fraction of the largest entry of its row."""

_TIE = 1e-6
"""Pivots that differ by less are equally good: the first one counts, whatever rounding says."""

DEPENDENT = 3e-7
"""Entries, in rows of size one, below which a row has nothing left: it follows from others."""


class DependentRows(ValueError):
    """A row of a matrix follows from others; `row` is its number."""

    def __init__(self, row: int) -> None:
        super().__init__(f"row {row} follows from others")
        self.row = row


class _Row(NamedTuple):
    columns: Ints
    values: Vec


def independent_columns(A: Any, body: Ints, first: Vec) -> Ints:
    """The columns, in their order, that depend on nothing in A x = 0: as many as there are more columns than rows.

    Parameters
    ----------
    A : sparse matrix by rows, of size one
    body : (columns,) the body of each column
    first : (columns,) weights of columns as pivots: large ones are eliminated first

    Raises
    ------
    DependentRows
        A row follows from others.
    """
    spans = zip(A.indptr[:-1], A.indptr[1:], strict=True)
    rows = {i: _Row(A.indices[s:e], A.data[s:e]) for i, (s, e) in enumerate(spans)}
    home, n = body.copy(), int(body.max()) + 1
    at: list[set[int]] = [set() for _ in range(n)]
    edges: set[tuple[int, int]] = set()
    for i, row in rows.items():
        met = np.unique(home[row.columns]).tolist()
        edges.update((a, b) for a in met for b in met if a < b)
        for b in met:
            at[b].add(i)
    place = np.array([int(p[0]) for p in eliminate([1] * n, sorted(edges)).place])
    found: list[Ints] = []
    for b in np.argsort(place).tolist():
        numbers = sorted(at[b])
        columns = np.unique(np.concatenate([np.flatnonzero(home == b), *(rows[i].columns for i in numbers)]))
        M = np.zeros((len(numbers), len(columns)))
        for k, i in enumerate(numbers):
            M[k, np.searchsorted(columns, rows[i].columns)] = rows[i].values
        own = home[columns] == b
        left, free = _eliminated(M, own, first[columns])
        waiting = free & np.any(np.abs(M[left]) > DEPENDENT, axis=0)  # the others are in no row that is left
        found.append(columns[free & ~waiting])
        kept = (~own | waiting) & np.any(M[left] != 0.0, axis=0)
        homes = [a for a in np.unique(home[columns[kept]]).tolist() if a != b]
        after = min(homes, key=lambda a: int(place[a])) if homes else b
        home[columns[waiting]] = after
        for k, i in enumerate(numbers):
            for a in np.unique(home[rows[i].columns]).tolist():
                at[a].discard(i)
            if not left[k]:
                continue
            there = kept & (M[k] != 0.0)
            if np.max(np.abs(M[k, there]), initial=0.0) <= DEPENDENT:
                raise DependentRows(i)
            rows[i] = _Row(columns[there], M[k, there])
            for a in np.unique(home[rows[i].columns]).tolist():
                at[a].add(i)
    return np.sort(np.concatenate(found))


def _eliminated(M: Mat, own: Bools, first: Vec) -> tuple[Bools, Bools]:
    """Eliminate rows of M by columns that are `own`; the rows that are left, and the own columns that are no pivots."""
    left, free = np.ones(len(M), dtype=bool), own.copy()
    while left.any() and free.any():
        sizes = np.abs(M)
        good = left[:, None] & free & (sizes >= _SMALL * sizes.max(axis=1)[:, None]) & (sizes > DEPENDENT)
        measure = np.where(good, sizes * first, 0.0)
        best = measure.max()
        if best == 0.0:
            break
        i, j = np.unravel_index(int(np.argmax(measure >= (1.0 - _TIE) * best)), M.shape)
        left[i], free[j] = False, False
        M[left] -= np.outer(M[left, j] / M[i, j], M[i])
        M[left, j] = 0.0
    return left, free
