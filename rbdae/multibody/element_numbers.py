"""The numbers that elements in runs load: what follows from those of a model, computed once for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.loaded import Loaded, LoadedNumbers, Tape


@final
class ElementNumbers:
    """The numbers that elements load, one after the other, and the tape that makes them of those of the model."""

    def __init__(self, n_inputs: int) -> None:
        self._n_inputs = n_inputs
        self._constants: list[float] = []
        self._rows: list[Ints] = []  # operands: constants are -1, -2, ..., then inputs, then rows
        self._n_rows = 0
        self._results: list[Ints] = []
        self.count = 0

    def places(self, loaded: LoadedNumbers, wanted: Sequence[Loaded], columns: Sequence[Ints], n: int) -> list[Ints]:
        """Where the numbers of n elements are. Those that all elements have in common are there once."""
        tape = loaded.tape(wanted)
        c, inputs = len(tape.constants), tape.n_inputs
        read = np.unique(np.append(tape.rows[:, 1:].ravel(), tape.results))
        common = all((columns[k] == columns[k][0]).all() for k in (read - c).tolist() if 0 <= k < inputs)
        m = 1 if common else n
        place = np.empty((m, c + inputs + len(tape.rows)), dtype=np.int64)
        place[:, :c] = -1 - len(self._constants) - np.arange(c)
        if inputs:
            place[:, c : c + inputs] = np.array(columns)[:, :m].T
        first = self._n_inputs + self._n_rows
        place[:, c + inputs :] = first + np.arange(m * len(tape.rows)).reshape(m, -1)
        rows = np.empty((m, len(tape.rows), 3), dtype=np.int64)
        rows[:, :, 0] = tape.rows[:, 0]
        rows[:, :, 1:] = place[:, tape.rows[:, 1:]]
        self._constants += tape.constants.tolist()
        self._rows.append(rows.reshape(-1, 3))
        self._n_rows += m * len(tape.rows)
        self._results.append(place[:, tape.results].ravel())
        at = self.count + np.arange(m * len(wanted)).reshape(m, -1)
        self.count += m * len(wanted)
        return [np.broadcast_to(at[:, k], (n,)) for k in range(len(wanted))]

    def tape(self) -> Tape:
        """All of them."""
        c = len(self._constants)

        def at(place: Ints) -> Ints:
            return np.where(place < 0, -1 - place, place + c)

        rows = np.concatenate([np.zeros((0, 3), dtype=np.int64), *self._rows])
        results = np.concatenate([np.zeros(0, dtype=np.int64), *self._results])
        rows[:, 1:] = at(rows[:, 1:])
        return Tape(np.array(self._constants), self._n_inputs, rows, at(results))
