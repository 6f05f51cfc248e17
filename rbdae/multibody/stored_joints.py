"""Joints of right-hand sides by elements, whose gradients are kept in the work vector, and the blocks between them.

Kinds of joints whose matrices have numbers, zeros and ones at the same places make one kind of pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import Loaded
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.machine.elements import Kind, Place, Result
from rbdae.multibody.element_kinds import ElementNumbers, kind_of
from rbdae.multibody.elimination_elements import Work
from rbdae.multibody.rhs_recording import Joint, Matrix

_MOST_NODES = 20_000

Cell = Any
"""A constant, or a name and a number."""


@final
class StoredJoints:
    """The joints of a model, numbered kind by kind, and where their gradients are.

    Attributes
    ----------
    kinds : the joints of each kind
    numbers : what is loaded
    work : places of the blocks of G M^-1 G^T
    """

    def __init__(self, kinds: Sequence[Joint], numbers: ElementNumbers) -> None:
        self.kinds, self.numbers = kinds, numbers
        counts = [len(joint.of.group.bodies) for joint in kinds]
        self._firsts = np.cumsum([0, *counts])
        self._pairs = list(self._found())
        pairs = [(a, b) for a, _, b, _ in self._pairs]
        if len({*pairs}) < len(pairs):
            raise NotStraight("two elements have two bodies in common")
        self.work = Work(np.repeat([joint.rows for joint in kinds], counts), pairs)
        self._gradients = [[self._stored(joint, b) for b in range(len(joint.K))] for joint in kinds]

    def which(self, k: int) -> Ints:
        """The joints of a kind."""
        return np.arange(self._firsts[k], self._firsts[k + 1])

    def _found(self) -> Iterator[tuple[int, int, int, int]]:
        """Joints that have a body in common: (joint, side, other joint, its side)."""
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

    def gradient(self, k: int, b: int) -> list[dict[tuple[int, int], Place]]:
        """Where the stored entries of K of a side of joints of a kind, and of A, are."""
        found, first, width = self._gradients[k][b]
        elements = first + width * np.arange(len(self.which(k)))
        return [{at: Place("work", f"K{b}", elements + i) for at, i in stored.items()} for stored in found]

    def results(self, k: int) -> list[Result]:
        """K of joints of a kind, and A, to where they are stored."""
        joint = self.kinds[k]
        out = []
        for b in range(len(joint.K)):
            for matrix, places in zip((joint.K[b], joint.A[b]), self.gradient(k, b), strict=False):
                out += [Result(joint.of.recorder.number(matrix[at]), place) for at, place in places.items()]
        return out

    def between(self) -> list[Kind]:
        """The blocks of G M^-1 G^T between joints of a body, rows of the one that is eliminated earlier."""
        work, sides = self.work, dict[tuple[int, int, int, int], list[tuple[int, int]]]()
        for a, i, b, j in self._pairs:
            if work.rank[a] > work.rank[b]:
                a, i, b, j = b, j, a, i
            k, l = (int(np.searchsorted(self._firsts, x, side="right")) - 1 for x in (a, b))
            sides.setdefault((k, i, l, j), []).append((a, b))
        kinds: dict[Any, list[tuple[_Pair, dict[tuple[str, int], Ints]]]] = {}
        for (k, i, l, j), members in sides.items():
            pair = _Pair(self.kinds[k], i, self.kinds[l], j)
            one, other = np.array(members).T
            here, columns = one - self._firsts[k], pair.first.of.columns
            scales: list[Ints] = []
            if pair.numbers:
                given = [column[here] for column in columns]
                scales = self.numbers.places(pair.first.of.loaded, pair.numbers, given, len(here))
            at = {("number", n): place for n, place in enumerate(scales)}
            stored, first, width = self._gradients[k][i]
            start = first + width * here + (0 if pair.angular else width - len(stored[-1]))
            at |= {("first", n): start + n for n in range(pair.n_first)}
            _, first, width = self._gradients[l][j]
            at |= {("other", n): first + width * (other - self._firsts[l]) + n for n in range(pair.n_other)}
            at["E", 0] = np.array([work.edges[a, b] for a, b in members])
            kinds.setdefault(pair.structure, []).append((pair, at))
        return [self._kind(members) for members in kinds.values()]

    def _kind(self, members: list[tuple[_Pair, dict[tuple[str, int], Ints]]]) -> Kind:
        graph, nodes = members[0][0].recorded()
        places = {key: np.concatenate([at[key] for _, at in members]) for key in members[0][1]}
        E = places.pop(("E", 0))
        inputs = {key: Place("numbers" if key[0] == "number" else "work", key[0], at) for key, at in places.items()}
        return kind_of(graph, [Result(node, Place("work", "E", E + n)) for n, node in enumerate(nodes)], inputs, len(E))


@final
class _Pair:
    """Two joints of a body, by their kinds and sides: A K^T, the block of S between them.

    Attributes
    ----------
    structure : what the block depends on beside numbers
    numbers : the numbers of the body in it
    angular : whether A is K of the first joint times these
    n_first, n_other : how many numbers of the first joint, and of the other one, are read
    """

    def __init__(self, first: Joint, i: int, other: Joint, j: int) -> None:
        self.first, self.angular = first, first.of.angular
        self.numbers: list[Loaded] = []
        left, right = first.K[i] if self.angular else first.A[i], other.K[j]
        self._left, self.n_first = _cells(first, left)
        self._right, self.n_other = _cells(other, right)
        self._shapes = (left.shape, right.shape)
        share, inverse = first.weights[i]
        self._share = tuple(map(self._cell, [share, *np.ravel(inverse)])) if self.angular else ()
        self.structure = (self._shapes, self._left, self._right, self._share)

    def _cell(self, value: Any) -> Cell:
        """A constant, or which of the numbers it is."""
        found = self.first.of.graph.value(self.first.of.recorder.number(value))
        if not isinstance(found, Loaded):
            return found if found is not None else "state"
        if found not in self.numbers:
            self.numbers.append(found)
        return ("number", self.numbers.index(found))

    def recorded(self) -> tuple[Graph, list[int]]:
        """The block by rows: inputs are ``"first"``, ``"other"`` and ``"number"``."""
        recorder = Recorder({}, _MOST_NODES)
        left = _matrix(recorder, "first", self._left, self._shapes[0])
        right = _matrix(recorder, "other", self._right, self._shapes[1])
        if self.angular:
            n = left.shape[1] - 3
            share, *inverse = _matrix(recorder, "number", self._share, (len(self._share),))
            left = np.hstack([left[:, :n] * share, left[:, n:] @ np.reshape(inverse, (3, 3))])
        return recorder.graph, [recorder.number(value) for value in (left @ right.T).ravel()]


def _cells(joint: Joint, values: Matrix) -> tuple[tuple[Cell, ...], int]:
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


def _matrix(recorder: Recorder, name: str, cells: Sequence[Cell], shape: tuple[int, ...]) -> Matrix:
    """A matrix from what is stored of it, the inputs of this name."""
    out = np.empty(len(cells), dtype=object)
    for k, cell in enumerate(cells):
        out[k] = Symbol(recorder, recorder.graph.node("input", name, cell[1])) if isinstance(cell, tuple) else cell
    return out.reshape(shape)
