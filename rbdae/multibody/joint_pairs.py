"""Two joints of a body on symbols: the block of G M^-1 G^T between them, whatever the kinds of the joints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae.graph.graph import Graph
from rbdae.graph.loaded import Loaded
from rbdae.graph.symbols import Recorder, Symbol
from rbdae.multibody.rhs_recording import Joint, Matrix

_MOST_NODES = 10_000

Cell = Any
"""A constant, or a name and a number."""


@final
class PairOfJoints:
    """Two joints of a body, by their kinds and sides: A K^T, the block of S between them.

    Attributes
    ----------
    structure : what the block depends on beside numbers
    numbers : the numbers of the body in it
    n_first, n_other : how many numbers of the first joint, and of the other one, are read
    """

    def __init__(self, first: Joint, i: int, other: Joint, j: int) -> None:
        self.first, self.i, self.other, self.j = first, i, other, j
        self.numbers: list[Loaded] = []
        left = first.K[i] if first.of.angular else first.A[i]
        self._left, self.n_first = cells_of(first, left)
        self._right, self.n_other = cells_of(other, other.K[j])
        share, inverse = first.weights[i]
        self._share = self._cell(share)
        self._inverse = tuple(self._cell(value) for value in np.ravel(inverse)) if first.of.angular else ()
        self.structure = (left.shape, other.K[j].shape, self._left, self._right, self._share, self._inverse)

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
        sizes = {"first": self.n_first, "other": self.n_other, "number": len(self.numbers)}
        recorder = Recorder({name: np.ones(size) for name, size in sizes.items()}, _MOST_NODES)

        def matrix(name: str, cells: Sequence[Cell], shape: tuple[int, ...]) -> Matrix:
            out = np.empty(len(cells), dtype=object)
            for k, cell in enumerate(cells):
                if isinstance(cell, tuple):
                    out[k] = Symbol(recorder, recorder.graph.node("input", name, cell[1]))
                else:
                    out[k] = cell
            return out.reshape(shape)

        rows, width = self.first.K[self.i].shape
        left = matrix("first", self._left, (rows, width))
        right = matrix("other", self._right, self.other.K[self.j].shape)
        if self.first.of.angular:
            n = width - 3
            (share,) = matrix("number", [self._share], (1,))
            left = np.hstack([left[:, :n] * share, left[:, n:] @ matrix("number", self._inverse, (3, 3))])
        return recorder.graph, [recorder.number(value) for value in (left @ right.T).ravel()]


def cells_of(joint: Joint, matrix: Matrix) -> tuple[tuple[Cell, ...], int]:
    """For each entry a constant, or the number of a stored one; and how many are stored."""
    cells: list[Cell] = []
    n = 0
    for value in np.ravel(matrix):
        found = joint.of.graph.value(joint.of.recorder.number(value))
        if isinstance(found, float):
            cells.append(found)
        else:
            cells.append(("stored", n))
            n += 1
    return tuple(cells), n
