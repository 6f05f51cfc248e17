"""Jacobians of rates that a sparse linear system has, as C functions.

They are loops of `rbdae.machine.loops.blocks` over tables. The results of the function r(t, y, z) are followed by the
entries of [dr/dy, dr/dz]. It reads two vectors of the same length, a state and its rates: y and z are numbers of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.machine.function import PROTOTYPE, MachineFunction, machine_text, trampoline
from rbdae.machine.language.program import Program, module_of
from rbdae.machine.loops import blocks as at
from rbdae.machine.module import Module


@cache
def _code() -> Module:
    return module_of(Program((at.rates_jacobian, at.jacobian)), 3, machine_text("jacobian", at.jacobian))


def tables_of(system: System) -> Tables:
    """The tables of a system. Raises OtherSystem where it has other entries than the blocks say."""
    return _Tables(system).made()


@final
@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The structure of such a Jacobian: `head`, `tables` of `rbdae.machine.loops.blocks`, and the size of memory."""

    head: Ints
    tables: Ints
    size: int


class Block(NamedTuple):
    """Equations, and as many unknowns, which are eliminated together: rows of r, and columns of [state, rates]."""

    rows: list[int]
    unknowns: list[int]


class System(NamedTuple):
    """The system r.

    Attributes
    ----------
    length : of the state, and of its rates, whose columns follow
    given : where y is in the state
    rates : the columns of the rates of y
    places : of each row, its place among the results
    entries : (row, column, place among the results)
    blocks : in the order of elimination. Rows that are in none give the rate that is named after them, `direct`
    direct : for these rows, the number of this rate
    of_bodies : how many of the blocks, the first ones, belong to single bodies: their rows may be exchanged
    parts : where the results of each function begin, and at last their number
    steps : of Newton's method
    """

    length: int
    given: list[int]
    rates: list[int]
    places: dict[int, int]
    entries: list[tuple[int, int, int]]
    blocks: list[Block]
    direct: dict[int, int]
    of_bodies: int
    parts: list[int]
    steps: int = 1


class OtherSystem(Exception):
    """A system with entries that its blocks do not have."""


@final
class _Tables:
    """The tables while they are made. Unknowns that are solved for are numbered in the order of the blocks."""

    def __init__(self, of: System) -> None:
        self._of = of
        self._unknowns = [j for block in of.blocks for j in block.unknowns]
        self._rows = [i for block in of.blocks for i in block.rows]
        sizes = [len(block.rows) for block in of.blocks]
        self._block = np.repeat(np.arange(len(sizes)), sizes).tolist()
        self._first = np.cumsum([0, *sizes]).tolist()
        rows = {i: k for k, i in enumerate(self._rows)}
        unknowns = {j: k for k, j in enumerate(self._unknowns)}
        given = {j: k for k, j in enumerate(of.given)}
        self._matrix: dict[tuple[int, int], int] = {}
        self._columns: dict[int, list[tuple[int, int]]] = {}
        self._direct: list[list[int]] = [[] for _ in of.given]  # by rows: column, place
        for row, column, place in of.entries:
            if row in rows and column in unknowns:
                self._matrix[rows[row], unknowns[column]] = place
            elif row in rows and column in given:
                self._columns.setdefault(given[column], []).append((rows[row], place))
            elif row in of.direct and column in given:
                self._direct[of.direct[row]] += [given[column], place]
            elif row not in of.direct or column != of.rates[of.direct[row]]:
                raise OtherSystem

    def made(self) -> Tables:
        of, below, right = self._of, *self._filled_in()
        slots = self._slots(below, right)
        infos, streams, floats = list[int](), list[int](), [0, 0, 0]
        for k, block in enumerate(of.blocks):
            s, rows, columns = len(block.rows), sorted(below[k]), sorted(right[k])
            own = range(self._first[k], self._first[k] + s)
            infos += [s, len(rows), len(columns), self._first[k], len(streams), *floats]
            floats = [floats[0] + s * s, floats[1] + s * len(columns), floats[2] + s * len(rows)]
            streams += [slots[i, j] for i in own for j in own] + columns
            streams += [slots[i, c] for i in own for c in columns]
            for r in rows:
                streams += [r, *(slots[r, j] for j in own), *(slots[r, c] for c in columns)]
        filled = [x for place, result in self._matrix.items() for x in (slots[place], result)]
        panels, columns = self._panels(below)
        n_panels, solved, n = -(-len(columns) // at.WIDTH), len(self._unknowns), len(of.given)
        rate = {j: i for i, j in enumerate(of.rates)}
        solved_rates = [rate[j] for j in self._unknowns if j in rate]
        compact = {i: k for k, i in enumerate(solved_rates)}
        direct = [x for i, found in enumerate(self._direct) for x in (compact.get(i, -1), len(found) // 2, *found)]
        back = [
            x for i, j in zip(self._rows, self._unknowns, strict=True)
            for x in (of.places[i], int(j < of.length), j % of.length)
        ]  # fmt: skip
        out = [compact[rate[j]] if j in rate else -1 for j in self._unknowns]
        parts = [filled, infos, direct, panels, out, columns, of.given, of.parts[:-1]]
        parts += [[*back, *range(len(of.blocks))], streams]
        begins = np.cumsum([0, *map(len, parts)]).tolist()
        for k in range(len(of.blocks)):
            infos[at.BLOCK * k + 4] += begins[-2]
        tables = np.array([x for part in parts for x in part], dtype=np.int64)
        sizes = [of.length, of.length, of.parts[-1], len(slots), solved, solved, *floats]
        sizes += [at.WIDTH * solved, len(solved_rates) * at.WIDTH * n_panels]
        places = np.cumsum([0, *(-(-size // 4) * 4 for size in sizes)])
        head = np.zeros(at.HEAD, dtype=np.int64)
        head[: at.FILLED] = [
            n, of.length, len(of.blocks), of.of_bodies, solved, len(slots), len(self._matrix), len(columns), n_panels,
            len(of.parts) - 1, of.steps,
        ]  # fmt: skip
        head[at.FILLED : at.BACK + 1] = begins[:9]
        head[at.STATE : at.FREE + 1] = places
        most = max((len(block.rows) for block in of.blocks), default=1)
        return Tables(head, tables, int(places[-1]) + 2 * most * max(most, at.WIDTH))

    def _filled_in(self) -> tuple[list[set[int]], list[set[int]]]:
        """For each block the rows below and the columns to the right that it has when its turn comes."""
        block = self._block
        below: list[set[int]] = [set() for _ in self._of.blocks]
        right: list[set[int]] = [set() for _ in self._of.blocks]
        for i, j in self._matrix:
            if block[i] < block[j]:
                right[block[i]].add(j)
            elif block[i] > block[j]:
                below[block[j]].add(i)
        for k in range(len(below)):
            for b in {block[r] for r in below[k]}:
                right[b] |= {c for c in right[k] if block[c] > b}
            for b in {block[c] for c in right[k]}:
                below[b] |= {r for r in below[k] if block[r] > b}
        return below, right

    def _slots(self, below: list[set[int]], right: list[set[int]]) -> dict[tuple[int, int], int]:
        slots: dict[tuple[int, int], int] = {}
        for k, (rows, columns) in enumerate(zip(below, right, strict=True)):
            own = range(self._first[k], self._first[k + 1])
            for i in own:
                for j in (*own, *columns):
                    slots[i, j] = len(slots)
            for i in rows:
                for j in own:
                    slots[i, j] = len(slots)
        return slots

    def _panels(self, below: list[set[int]]) -> tuple[list[int], list[int]]:
        """Groups of columns, each with its entries and the blocks that it reaches; and the columns."""
        after = [sorted({self._block[r] for r in rows}) for rows in below]

        def begins(column: int) -> tuple[int, ...]:
            return tuple(sorted({self._block[row] for row, _ in self._columns[column]}))

        out: list[int] = []
        ordered = sorted(self._columns, key=lambda column: (begins(column), column))
        groups = [ordered[k : k + at.WIDTH] for k in range(0, len(ordered), at.WIDTH)]
        for group in groups:
            reached: set[int] = set()
            new = {block for column in group for block in begins(column)}
            while new:
                reached |= new
                new = {b for block in new for b in after[block]} - reached
            entries = [
                x for lane, column in enumerate(group) for row, place in self._columns[column]
                for x in (at.WIDTH * row + lane, place)
            ]  # fmt: skip
            out += [len(entries) // 2, len(reached), *entries, *sorted(reached)]
        return out, ordered


@final
class RatesJacobian:
    """The Jacobian of one problem, for Python and for loops in machine code; each has memory of its own.

    Parameters
    ----------
    tables : the structure
    parts : the functions that r and its entries are made of, ``f(context, t, state, rates, 0, out)``
    elsewhere : ``f(t, y, out)`` for states where r fails or a block is singular
    floor : sizes of pivots below which the last equations, as many as there are, are suspended
    """

    def __init__(
        self,
        tables: Tables,
        parts: Sequence[MachineFunction],
        elsewhere: Callable[[float, Vec, Mat], None],
        floor: Vec | None = None,
    ) -> None:
        self.n, self._floor = int(tables.head[at.N]), floor
        self._tables, self._parts, self._elsewhere = tables, parts, elsewhere
        self._bare = self._bound(0, 0)
        self._run = PROTOTYPE(self._bare.address)

    def _bound(self, elsewhere: int, its_context: int, *owners: Any) -> MachineFunction:
        head, memory, code = self._tables.head, np.zeros(self._tables.size), _code()
        if self._floor is not None:
            end = head[at.FLOOR] + head[at.SOLVED]
            memory[end - len(self._floor) : end] = self._floor
        functions = np.array([x for part in self._parts for x in (part.address, part.context)], dtype=np.int64)
        places = (functions, head, self._tables.tables, memory)
        context = np.array([*(a.ctypes.data for a in places), elsewhere, its_context], dtype=np.int64)
        owner = (code, self._parts, places, context, owners)
        return MachineFunction(code["jacobian"], context.ctypes.data, owner, [])

    def fill(self, t: float, y: Vec, out: Mat) -> None:
        """The Jacobian to a matrix of any positive strides."""
        rows = out if out.flags.c_contiguous else np.empty((self.n, self.n))
        if self._run(self._bare.context, t, y.ctypes.data, None, 0.0, rows.ctypes.data):
            self._elsewhere(t, y, out)
        elif rows is not out:
            out[:] = rows

    def guarded(self) -> MachineFunction:
        """The C function, for a matrix row after row."""
        n = self.n
        other = trampoline(self._elsewhere, "tyM", {"y": (n,), "out": (n, n)})
        function = self._bound(other.address, other.context, other)
        function.errors = other.errors
        return function
