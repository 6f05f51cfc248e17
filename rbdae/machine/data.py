"""`Data`: the tables beside machine code, and those of its numbers that follow from the numbers of a model."""

from __future__ import annotations

import marshal
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Vec, address_of
from rbdae.graph.graph import Constant
from rbdae.graph.loaded import ADD, DIVIDE, MULTIPLY, ROOT, Loaded, LoadedNumbers, Tape
from rbdae.machine.language.program import Program, callables
from rbdae.machine.loops.following import follow


@final
class Table:
    """Rows of numbers or places, equal ones once. `first` is where the table begins in a context."""

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.entries: list[Any] = []
        self._known: dict[tuple[Any, ...], int] = {}

    def place(self, *values: Constant) -> int:
        """The place at which these values begin."""
        at = self._known.get(values)
        if at is None:
            at = self._known[values] = len(self.entries)
            self.entries += values
        return at


_NO_TAPE = Tape(np.zeros(0), 0, np.zeros((0, 3), dtype=np.int64), np.arange(0))


@final
@dataclass(frozen=True, eq=False)
class Data:
    """Tables of places and of numbers, and how many numbers of memory machine code needs.

    `tape` has what follows from the numbers of a model, which goes to the places `loaded` of the numbers.
    """

    indices: Ints
    numbers: Vec
    scratch: int
    tape: Tape
    loaded: Ints

    @classmethod
    def of(cls, numbers: Table, loaded: LoadedNumbers | None) -> Data:
        """The numbers that a text has collected."""
        places = [k for k, x in enumerate(numbers.entries) if isinstance(x, Loaded)]
        values = [0.0 if isinstance(x, Loaded) else x for x in numbers.entries]
        return cls(
            np.zeros(1, dtype=np.int32),
            np.array(values or [0.0]),
            1,
            _NO_TAPE if loaded is None else loaded.tape([numbers.entries[k] for k in places]),
            np.array(places, dtype=np.int64),
        )

    @classmethod
    def on_tape(cls, indices: Ints, tape: Tape, scratch: int) -> Data:
        """A table of places, numbers that a tape makes of those of a model, and memory."""
        n = len(tape.results)
        return cls(indices, np.zeros(n), scratch, tape, np.arange(n, dtype=np.int64))

    @classmethod
    def from_bytes(cls, contents: bytes) -> Data:
        """The data that `to_bytes` has written."""
        scratch, n_inputs, *arrays = marshal.loads(contents)
        indices, numbers, constants, rows, results, loaded = (
            np.frombuffer(bytearray(array), dtype=kind) for array, kind in zip(arrays, _KINDS, strict=True)
        )
        return cls(indices, numbers, scratch, Tape(constants, n_inputs, rows.reshape(-1, 3), results), loaded)

    def to_bytes(self) -> bytes:
        """The contents, for a file."""
        tape = self.tape
        arrays = (self.indices, self.numbers, tape.constants, tape.rows, tape.results, self.loaded)
        return marshal.dumps((self.scratch, tape.n_inputs, *(array.tobytes() for array in arrays)))

    def follow(self, values: int, numbers: int) -> bool:
        """Write what follows from constants and the numbers of a model, which begin at the address `values`, behind
        them and to its places among the `numbers`. Whether that is finite: a sum of numbers by which others are divided
        may vanish in one model alone."""
        first, n_rows, rows, results, loaded = self._tape
        finite: bool = _follow()(n_rows, first, rows, values, len(self.loaded), results, loaded, numbers)
        return finite

    @cached_property
    def place(self) -> int:
        """The address of the places."""
        return address_of(self.indices)

    @cached_property
    def always_finite(self) -> bool:
        """Whether nothing is divided, nor a root."""
        return not np.isin(self.tape.rows[:, 0], (DIVIDE, ROOT)).any()

    @cached_property
    def _tape(self) -> tuple[int, int, int, int, int]:
        """Where the numbers of the tape's rows begin, how many there are, and addresses: of the rows, of the places of
        results among all numbers, and of those to which they go."""
        tape = self.tape
        first = len(tape.constants) + tape.n_inputs
        return first, len(tape.rows), address_of(tape.rows), address_of(tape.results), address_of(self.loaded)


@cache
def _follow() -> Any:
    (found,) = callables(Program((follow,)), made_of=(ADD, DIVIDE, MULTIPLY))
    return found


_KINDS = (np.int32, np.float64, np.float64, np.int64, np.int64, np.int64)
