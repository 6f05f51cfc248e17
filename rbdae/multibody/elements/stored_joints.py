"""Joints of right-hand sides by elements, whose gradients are kept in the work vector, and the blocks between them.

Kinds of joints whose matrices have numbers, zeros and ones at the same places make one kind of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.loaded import Loaded
from rbdae.graph.symbols import NotStraight
from rbdae.machine.elements import Kind, Place, Result
from rbdae.multibody.elements.element_kinds import ElementNumbers, Written
from rbdae.multibody.elements.elimination_elements import Work
from rbdae.multibody.elements.rhs_recording import Joint, Matrix

Cell = Any
"""A constant, or a name and a number."""


@final
class StoredJoints:
    """The joints of a model, numbered kind by kind, and where their gradients are.

    Parameters
    ----------
    first : the first place in the work vector
    floored : whether equations may be suspended
    wide : whether the elimination is for NumPy

    Attributes
    ----------
    kinds : the joints of each kind
    numbers : what is loaded
    pairs : joints that have a body in common: (joint, side, other joint, its side)
    work : places of the blocks of G M^-1 G^T in the work vector
    """

    def __init__(
        self, kinds: Sequence[Joint], numbers: ElementNumbers, first: int, *, floored: bool, wide: bool = False
    ) -> None:
        self.kinds, self.numbers = kinds, numbers
        counts = [len(joint.of.group.bodies) for joint in kinds]
        self._firsts = np.cumsum([0, *counts])
        self.pairs = list(self._found())
        if len({(a, b) for a, _, b, _ in self.pairs}) < len(self.pairs):
            raise NotStraight("two elements have two bodies in common")
        rows = np.repeat(np.array([joint.rows for joint in kinds], dtype=np.int64), counts)
        order = self._order() if floored else None
        self.work = Work(rows, [(a, b) for a, _, b, _ in self.pairs], first, order, wide=wide)
        self._gradients = [[self._stored(joint, b) for b in range(len(joint.K))] for joint in kinds]

    def _order(self) -> list[int]:
        """The joints in the order in which kernels eliminate them.

        Raises NotStraight where they eliminate equations of others between those of a joint.
        """
        slots = [joint.slots for joint in self.kinds]
        if any((np.diff(of) != 1).any() for of in slots):
            raise NotStraight("equations of a joint are not eliminated one after the other")
        order: list[int] = np.argsort(np.concatenate([of[:, 0] for of in slots])).tolist()
        return order

    def which(self, k: int) -> Ints:
        """The joints of a kind."""
        return np.arange(self._firsts[k], self._firsts[k + 1])

    def _found(self) -> Iterator[tuple[int, int, int, int]]:
        at_body: dict[int, list[tuple[int, int]]] = {}
        for joint, first in zip(self.kinds, self._firsts.tolist(), strict=False):
            for side, k in enumerate(joint.of.moving):
                for e, body in enumerate(joint.of.group.bodies[:, k].tolist()):
                    at_body.setdefault(body, []).append((first + e, side))
        for at in map(sorted, at_body.values()):
            yield from ((a, i, b, j) for k, (a, i) in enumerate(at) for b, j in at[k + 1 :])

    def _stored(self, joint: Joint, b: int) -> tuple[list[dict[tuple[int, int], int]], int, int]:
        """Which entries of K of one side are stored, and of A if it is not K times a few numbers, with their places;
        where those of the first joint are, and how far they are from one joint to the next."""
        found, width = [], 0
        for matrix in (joint.K[b],) if joint.of.angular else (joint.K[b], joint.A[b]):
            entries = [at for at in np.ndindex(matrix.shape) if not joint.is_number(matrix[at])]
            found.append({at: width + k for k, at in enumerate(entries)})
            width += len(entries)
        return found, self.work.take(width * len(joint.of.group.bodies)), width

    def begin(self, k: int, b: int) -> Ints:
        """The places where the stored entries of a side of joints begin: those of K, then those of A."""
        _, first, width = self._gradients[k][b]
        begins: Ints = first + width * np.arange(len(self.which(k)))
        return begins

    def gradient(self, k: int, b: int) -> list[dict[tuple[int, int], Place]]:
        """The places of the stored entries of K of a side of joints of a kind, and of A."""
        begin = self.begin(k, b)
        return [
            {at: Place("work", f"K{b}", begin + i) for at, i in stored.items()} for stored in self._gradients[k][b][0]
        ]

    def results(self, k: int) -> list[Result]:
        """K and A of joints of a kind to where they are stored."""
        joint, out = self.kinds[k], list[Result]()
        for b in range(len(joint.K)):
            for matrix, places in zip((joint.K[b], joint.A[b]), self.gradient(k, b), strict=False):
                out += joint.of.results([matrix[at] for at in places], places.values())
        return out

    def between(self) -> list[Kind]:
        """The blocks of G M^-1 G^T between joints of a body, rows of the one that is eliminated earlier."""
        work = self.work
        sides: dict[tuple[int, int, int, int], list[tuple[int, int]]] = {}
        for a, i, b, j in self.pairs:
            if work.rank[a] > work.rank[b]:
                a, i, b, j = b, j, a, i
            k, l = (int(np.searchsorted(self._firsts, x, side="right")) - 1 for x in (a, b))
            sides.setdefault((k, i, l, j), []).append((a, b))
        kinds: dict[Any, list[tuple[_Pair, Sequence[Ints], dict[str, Ints]]]] = {}
        for (k, i, l, j), members in sides.items():
            pair = _Pair(self.kinds[k], i, self.kinds[l], j)
            one, other = np.array(members).T
            here, of = one - self._firsts[k], pair.first.of
            columns = [column[here] for column in of.columns]
            scales = self.numbers.places(of.loaded, pair.numbers, columns, len(here))
            stored, _, width = self._gradients[k][i]
            at = {
                "first": self.begin(k, i)[here] + (0 if pair.by_scales else width - len(stored[-1])),
                "other": self.begin(l, j)[other - self._firsts[l]],
                "E": np.array([work.edges[a, b] for a, b in members]),
            }
            kinds.setdefault(pair.structure, []).append((pair, scales, at))
        out = []
        for found in kinds.values():
            scales = [np.concatenate(at) for at in zip(*(scales for _, scales, _ in found), strict=True)]
            blocks = {name: ("work", np.concatenate([at[name] for *_, at in found])) for name in found[0][2]}
            written = Written({"scale": ("numbers", scales), **blocks})
            written.gives("E", found[0][0].block(written))
            out.append(written.kind(as_written=work.wide))
        return out


@final
class _Pair:
    """Two joints of a body, by their kinds and sides: A K^T, the block between them.

    Attributes
    ----------
    structure : what the block depends on beside numbers
    numbers : the numbers of the body in it
    by_scales : whether K of the first joint is read, and not A
    n_first, n_other : how many numbers of the first joint, and of the other one, are read
    """

    def __init__(self, first: Joint, i: int, other: Joint, j: int) -> None:
        self.first = first
        self.numbers: list[Loaded] = []
        self.by_scales = first.of.angular
        left, right = first.K[i] if self.by_scales else first.A[i], other.K[j]
        self._left, self.n_first = cells_of(first, left)
        self._right, self.n_other = cells_of(other, right)
        self._shapes = (left.shape, right.shape)
        self._share: tuple[Cell, ...] = ()
        if self.by_scales:
            share, inverse = first.weights[i]
            self._share = tuple(map(self._cell, [share, *np.ravel(inverse)]))
        self.structure = (self._shapes, self._left, self._right, self._share)

    def _cell(self, value: Any) -> Cell:
        """A constant, or which of the numbers it is."""
        found = self.first.of.graph.value(self.first.of.recorder.number(value))
        if not isinstance(found, Loaded):
            return found if found is not None else "state"
        if found not in self.numbers:
            self.numbers.append(found)
        return ("number", self.numbers.index(found))

    def block(self, of: Written) -> Matrix:
        """The block, which reads ``"first"``, ``"other"`` and ``"scale"``."""
        left = matrix(of.reads("first", self.n_first), self._left, self._shapes[0])
        right = matrix(of.reads("other", self.n_other), self._right, self._shapes[1])
        if self.by_scales:
            n = left.shape[1] - 3
            share, *inverse = matrix(of.reads("scale", len(self.numbers)), self._share, (len(self._share),))
            left = np.hstack([left[:, :n] * share, left[:, n:] @ np.reshape(inverse, (3, 3))])
        return left @ right.T


def cells_of(joint: Joint, values: Matrix) -> tuple[tuple[Cell, ...], int]:
    """For each entry a constant, or the number of a stored one; and how many are stored."""
    cells: list[Cell] = []
    n = 0
    for value in np.ravel(values):
        found = joint.of.graph.value(joint.of.recorder.number(value))
        if isinstance(found, float):
            cells.append(found)
        else:
            cells.append(("stored", n))
            n += 1
    return tuple(cells), n


def matrix(stored: Any, cells: Sequence[Cell], shape: tuple[int, ...]) -> Matrix:
    """A matrix from what is stored of it."""
    out = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        out[k] = stored[cell[1]] if isinstance(cell, tuple) else cell
    return out.reshape(shape)
