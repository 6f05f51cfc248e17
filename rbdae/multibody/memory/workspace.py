"""The memory that the kernels work on: that of a model, and the head of one selection.

`Memory` is laid out once for a model and its settings. A `Workspace` is that memory together with a selection: it owns
a head and the few arrays that a selection decides, and shares everything else. So another selection costs microseconds,
and the kernels of either find their own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from types import MappingProxyType, SimpleNamespace
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec, copied
from rbdae._frozen import refuse_copies
from rbdae.kernels import records as kb
from rbdae.kernels.entry import Entry
from rbdae.kernels.joint_rows import pivots_of_factors
from rbdae.kernels.memory import Content, named
from rbdae.kernels.symbolic import KernelMemory, objects
from rbdae.kernels.user_functions import raising
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.newton import elimination_order
from rbdae.multibody.memory.open_numbers import RECORDS, OpenNumbers
from rbdae.multibody.system.graph import eliminate

GRID = 2.0**20
"""Steps of the state and the selection to the unit, where pivots are chosen."""

_EXPONENT = 52
"""Bits of a float behind its exponent."""


Symbols: TypeAlias = Callable[["Workspace", Any], Mapping[str, Any]]
"""From a workspace and a recorder to arrays of records with symbols in place of some numbers, by name."""


@final
class _OnFloats:
    def __init__(self, workspace: Workspace, kernel: Entry) -> None:
        self._workspace, self._kernel = workspace, kernel

    def __call__(self, *arguments: Any) -> None:
        self._workspace.run_on_floats(self._kernel, *arguments)

    __reduce__ = refuse_copies


@final
class Workspace:
    """A `Memory`, whose model, settings and layout it has, with one selection. What it has in common with another one
    `like` it, of the same structure, it does not make again."""

    def __init__(self, memory: Memory, selection: Selection, like: Workspace | None = None) -> None:
        self.memory, self.selection = memory, selection
        self.model, self.settings, self.layout = memory.model, memory.settings, memory.layout
        self.arrays = dict(memory.arrays)  # all of them by name
        self.owned: dict[str, Any] = {}  # those in place of shared ones, but for primitives with dropped rows
        self._sizes: dict[str, int] = {}
        self._left: Any = None  # the memory on floats, as the last kernel has left it
        self.symbols: Symbols | None = None  # of parameters in recordings
        self.elements: list[Any] | None = None  # once recorded: `rbdae.multibody.elements.element_recording`
        self.orders: tuple[Any, ...] | None = None  # once asked for: `rbdae.multibody.memory.saddle_order`
        self.contexts: dict[Any, Any] = {}  # of code that has been tried, for its first caller
        self.inputs_at: list[Vec] = []  # all places where code of this workspace reads the values of inputs
        if like is not None and like.selection.rows.dropped != selection.rows.dropped:
            like = None
        if selection.rows.dropped:
            dropped = selection.rows.dropped
            self.arrays["primitives"] = like.arrays["primitives"] if like else _with_kept_rows(memory, dropped)
        if selection.rows.pivot_floor is not None:
            self.own("pivot_floor", np.ascontiguousarray(selection.rows.pivot_floor))
        if selection.references is not None:
            # a body moves by its place in y
            self.own("references", np.ascontiguousarray(selection.references[list(memory.layout.order)]))
        if selection.inputs is not None:
            self.own("inputs", np.array(selection.inputs, dtype=float))
            self.inputs_at.append(self.owned["inputs"])
        if selection.velocities is not None:
            self.own("velocity_selection", selection.velocities.S)
            measures = [1.0 / memory.metric.scale, 1.0 / selection.velocities.sizes, memory.metric.reach**2]
            self.own("velocity_metric", np.concatenate(measures))
            same = like is not None and like.selection.velocities is selection.velocities
            self._own_square(selection.velocities.S, like if same else None)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a head of their own; those that shared a memory share one again."""
        return Workspace, (self.memory, self.selection)

    def own(self, name: str, array: Any) -> None:
        """An array in place of the shared one, before numbers or code are asked for."""
        self.owned[name] = self.arrays[name] = array

    def write_inputs(self, values: Vec) -> None:
        """Write values of the inputs where all code of this workspace reads them: for workspaces that nobody shares."""
        for place in self.inputs_at:
            place[:] = values

    def _own_square(self, S: Mat, like: Workspace | None) -> None:
        """Own the pattern of [G; S]."""
        if like is None:
            primitives, bodies = self.arrays["primitives"], self.memory.arrays["bodies"]
            rows, known = _rows_of_selection(S, self.settings.spatial), self.memory.known
            key = "square", self.selection.rows.dropped, rows
            if key not in known:  # a run that selects velocities again often has those of the same bodies
                known[key] = _square_pattern(primitives, bodies, rows)
            pattern: Mapping[str, Ints] = known[key]
        else:
            pattern = {name: like.owned[name] for name in _SQUARE}
        for name, array in pattern.items():
            self.own(name, array)

    @property
    def head(self) -> Any:
        """A head for its kernels (`rbdae.kernels.memory.head`)."""
        referenced = int(self.selection.references is not None)
        return SimpleNamespace(**{**self.memory.sizes, **self._sizes, "referenced": referenced, "time": 0.0})

    # ------------------------------------------------------------ facts

    @property
    def n_equations(self) -> int:
        """The number of equations: more than unknowns for the overdetermined forms. Those that repeat a constraint do
        so for kept joint rows; where there are multipliers, the others say once more that theirs are zero."""
        settings, layout = self.settings, self.layout
        rows = layout.n_constraints
        if settings.reduced:
            rows = self.model.n * len(settings.chart.internal) + layout.n_rows - len(self.selection.rows.dropped)
        return layout.n + len(settings.formulation.further_levels) * rows

    # ------------------------------------------------------------ the selection's and the model's numbers

    @cached_property
    def selected(self) -> dict[str, Any]:
        """The arrays that the selection decides; R_ref = I is written out where charts can be centred."""
        out = {name: self.owned[name] for name in named(Content.SELECTION) if name in self.owned}
        if self.settings.chart.centre and "references" not in out:
            out["references"] = np.tile(np.eye(3), (self.model.n, 1, 1))
        return out

    @cached_property
    def numbers(self) -> Vec:
        """All numbers of the selection, the input ``"selection"``: all code of a workspace reads them at one place."""
        out: Vec = np.concatenate([np.zeros(1), *(array.ravel() for array in self.selected.values())])
        if "inputs" in self.owned:
            self.inputs_at.append(out[self.places_of("inputs")])
        return out

    @property
    def first_numbers(self) -> Vec:
        """The selection at which conditions are answered: that of the memory's first problem, if it is as long."""
        first = self.memory.numbers
        return first if len(first) == len(self.numbers) else self.numbers

    def places_of(self, wanted: str) -> slice:
        """The places of an array among the numbers of the selection; none if it is not there."""
        first = 1
        for name, array in self.selected.items():
            if name == wanted:
                return slice(first, first + array.size)
            first += array.size
        return slice(first, first)

    @cached_property
    def open_numbers(self) -> OpenNumbers:
        """The numbers of the model that are inputs of open code."""
        return OpenNumbers({name: self.arrays[name] for name in RECORDS})

    @cached_property
    def own_constants(self) -> tuple[tuple[str, bytes], ...]:
        """Further arrays that the workspace has in place of its memory's, such as other masses: they are constants of
        what is recorded, so code is not shared with workspaces in which they are different."""
        opened = self.memory.opened
        constant = named(Content.PATTERN) if opened else named(Content.NUMBERS, Content.STRUCTURE, Content.PATTERN)
        own = [(name, self.arrays[name].tobytes()) for name in sorted(self.owned.keys() & set(constant))]
        return (("open", self.open_numbers.digest), *own) if opened else tuple(own)

    @cached_property
    def structure(self) -> tuple[Any, ...]:
        """What code depends on beside kernel and memory: dropped rows, the selection's arrays, and own constants."""
        return self.selection.rows.dropped, tuple(self.selected), self.own_constants

    @cached_property
    def rounded(self) -> tuple[Vec, Vec, Vec]:
        """The numbers of the model, the state and the selection on which choices of pivots depend, so that problems
        alike share them: numbers are rounded to powers of two, the others to a grid. Multipliers are 0."""
        numbers = self.open_numbers.values if self.memory.opened else np.zeros(0)
        powers: Any = (np.sqrt(2.0) * numbers).view(np.int64) >> _EXPONENT << _EXPONENT
        y, regular = np.zeros(self.layout.n), self.memory.regular
        if len(regular) == len(y):
            y[: self.layout.n_differential] = regular[: self.layout.n_differential]
        y, selection = (np.rint(GRID * x) / GRID + 0.0 for x in (y, self.first_numbers))
        return powers.view(np.float64), y, selection

    @cached_property
    def point(self) -> bytes:
        """A name of these."""
        return b"".join(x.tobytes() for x in self.rounded)

    @cached_property
    def place(self) -> bytes:
        """A name of these for what depends on positions alone: velocities may follow from masses."""
        numbers, y, selection = self.rounded
        return b"".join(x.tobytes() for x in (numbers, y[self.layout.q], selection))

    # ------------------------------------------------------------ kernels

    @property
    def code_calls_python(self) -> bool:
        """Whether code of the model calls one: laws that are recorded it does not."""
        known = self.memory.known
        if "code calls" not in known:
            known["code calls"] = any(function.law is None for function in self.model.functions)
        return bool(known["code calls"])

    def raising(self, kernel: Callable[..., None]) -> Callable[..., None]:
        """The kernel, and then what the user's Python functions have raised in it."""
        return raising(kernel) if self.model.functions else kernel

    def plain(self, kernel: Entry) -> Callable[..., None]:
        """The kernel on floats, and then what the user's functions have raised in it: for single evaluations, which a
        recording would take longer for. Like machine code, it says nothing of numbers that are not finite."""
        return self.raising(_OnFloats(self, kernel))

    def kernel_memory(
        self, numbers: Any, records: Mapping[str, Any] = MappingProxyType({}), recorder: Any = None
    ) -> KernelMemory:
        """A memory for kernels with these numbers of the selection, floats or symbols; `records` replace arrays."""
        selected = {name: numbers[self.places_of(name)].reshape(own.shape) for name, own in self.selected.items()}
        m = KernelMemory(self.head, self.arrays, {**records, **selected}, recorder)
        m.head.referenced = int("references" in self.selected)
        return m

    def run_on_floats(self, kernel: Entry, *arguments: Any) -> None:
        """Run a kernel on floats, in a memory of its own."""
        m = self._left = KernelMemory(self.head, self.arrays, {})
        *given, out = (objects(x) if isinstance(x, np.ndarray) else x for x in arguments)
        found = np.zeros(out.shape, dtype=object)
        try:
            with np.errstate(all="ignore"):
                kernel(m, *given, found)
        except ArithmeticError:  # of Python's floats, where the result of machine code is not finite
            found[...] = np.nan
        arguments[-1][...] = found

    def with_selection(self, selection: Selection) -> Workspace:
        """The same memory with another selection."""
        if selection is self.selection:
            return self
        out = Workspace(self.memory, selection, self)
        if selection.rows.dropped == self.selection.rows.dropped and self.owned.keys().isdisjoint(
            {*RECORDS} - {"tree_velocities"}
        ):
            out.open_numbers = self.open_numbers
        return out

    def make_newton(self) -> None:
        """Have the order of elimination of steps (`rbdae.kernels.conserving.steps`)."""
        if "newton_order" not in self.owned:
            n, order = elimination_order(self.arrays, self.layout.n_internal)
            self._sizes.update(n_body_unknowns=n, n_newton=len(order))
            self.own("newton_order", order)

    def singular_row(self) -> int | None:
        """The joint row, in the order of the joints, at which the last factorisation on floats broke down, or None."""
        singular = 0 if self._left is None else int(self._left.head.singular)
        return None if singular == 0 else self.row_of_pivot(singular - 1)

    def pivots(self) -> Vec | None:
        """The pivots of the joint equations in it, (rows,) (`rbdae.kernels.joint_rows.pivots`); None if no kernel has
        run on floats."""
        return None if self._left is None else pivots_of_factors(self._left).astype(float)

    def row_of_pivot(self, place: int) -> int:
        """The joint row that is eliminated at this place."""
        return int(self.memory.arrays["eliminated"][place])


_SQUARE = "square_start", "square_column", "square_place"


def _with_kept_rows(memory: Memory, dropped: tuple[int, ...]) -> Any:
    """The primitives, with the rows marked that are kept."""
    primitives = copied(memory.arrays["primitives"])
    first = primitives["row"] - memory.layout.n_internal
    for row in dropped:
        k = int(np.searchsorted(first, row, side="right")) - 1
        primitives["keep"][k, row - int(first[k])] = 0
    return primitives


def with_unit_masses(workspace: Workspace) -> Workspace:
    """A workspace of the same memory and selection, but with unit mass, E = I, and J = I, or J of
    4 Q diag(J0, J) Q^T = I for unit quaternions."""
    number = workspace.settings.kind.number
    J = {kb.QUATERNION_RATE: 0.25, kb.DIRECTOR_RATE: 2.0}.get(number, 1.0)  # J = tr(E) I - E
    bodies = copied(workspace.memory.arrays["bodies"])
    bodies["mass"], bodies["radial"] = 1.0, J
    for name, value in (("inertia", J), ("inertia_inverse", 1.0 / J), ("euler", 1.0), ("euler_inverse", 1.0)):
        bodies[name] = value * np.eye(3)
    out = Workspace(workspace.memory, workspace.selection)
    out.symbols = workspace.symbols
    out.own("bodies", bodies)
    return out


def _rows_of_selection(S: Mat, spatial: int) -> tuple[tuple[int, ...], ...]:
    """The columns of each row of S: one where it picks components, else the three of a body, or its rotations."""
    used = S != 0.0
    if spatial or not ((used.sum(axis=1) == 1).all() and (S.max(axis=1, initial=0.0) == 1.0).all()):
        used = np.repeat(used.reshape(len(S), S.shape[1] // 3, 3).any(axis=2), 3, axis=1)
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in used)


def _square_pattern(primitives: Any, bodies: Any, selected: tuple[tuple[int, ...], ...]) -> dict[str, Ints]:
    """The pattern of the square system [G; S] of loops, without the rows that are dropped, by the names of
    `rbdae.kernels.memory`: its rows, in an order of elimination of its normal equations.

    S says which bodies have independent velocities. An order of minimum degree is that of the graph of primitive
    constraints and independent velocities, which are neighbours where they share a body.
    """
    n_bodies = len(bodies) - 1
    columns = [np.arange(iv, iv + nt + 3) for iv, nt in zip(bodies["iv"], bodies["nt"][:n_bodies], strict=False)]
    blocks: list[tuple[int, Ints]] = []  # rows and columns of each primitive, then of each row of S
    for p in primitives:
        moving = [columns[b] for b in p["body"] if b < n_bodies]
        blocks.append((int(np.count_nonzero(p["keep"][: p["n"]])), np.concatenate(moving)))
    blocks += [(1, np.array(row, dtype=np.int64)) for row in selected]
    blocks = [block for block in blocks if block[0]]
    sizes = np.array([size for size, _ in blocks])
    near: set[tuple[int, int]] = set()
    at_third: dict[int, list[int]] = {}
    for k, (_, at) in enumerate(blocks):
        for others in [at_third.setdefault(third, []) for third in {*(at // 3).tolist()}]:
            near.update((other, k) for other in others)
            others.append(k)
    place = np.concatenate(eliminate(sizes.tolist(), sorted(near)))
    of = np.repeat(np.arange(len(blocks)), sizes)[np.argsort(place)]  # the block of each place
    rows = [blocks[k][1] for k in of]
    start = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
    column = np.concatenate(rows)
    arrays = zip(_SQUARE, (start, column, place), strict=True)
    return {name: np.ascontiguousarray(x, dtype=np.int64) for name, x in arrays}
