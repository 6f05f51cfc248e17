"""Kernels of a workspace as expression graphs, by running their plain twins on symbols.

Masses, geometry, index maps, loops and branches on structure disappear. What a run may choose again, the selection, is
an input: independent velocities, reference rotations, pivot floors. Which joint rows are dropped is structure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.symbols import Recorder, Symbol
from rbdae.kernels.entry import Entry
from rbdae.kernels.memory import Content, named
from rbdae.kernels.symbolic import KernelMemory, opened
from rbdae.multibody.memory.open_numbers import RECORDS, OpenNumbers
from rbdae.multibody.memory.saddle_order import Order, orders
from rbdae.multibody.memory.workspace import Workspace

MOST_NODES = 2_000_000
"""What a recording may have where it is asked for: some hundred bytes, and ten microseconds, a node."""

_SELECTED, _PATTERNS = named(Content.SELECTION), frozenset(named(Content.PATTERN))
_ALL_CONSTANT = frozenset(named(Content.NUMBERS, Content.STRUCTURE, Content.PATTERN))

GRID = 2.0**20
"""Steps of the state and the selection to the unit, where pivots are chosen."""

_OF_FORCES = ("elements", "entries", "element_constants", "frictions")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """The places of the entries of a Jacobian's data: their rows and columns."""

    rows: Ints
    columns: Ints

    @property
    def places(self) -> list[tuple[int, int]]:
        """Row and column of each."""
        return list(zip(self.rows.tolist(), self.columns.tolist(), strict=True))

    def pointers(self, n: int) -> Ints:
        """Where each of n columns begins, for entries column by column: a CSC matrix."""
        return np.searchsorted(self.columns, np.arange(n + 1))

    @classmethod
    def from_bytes(cls, contents: bytes) -> Pattern:
        """The pattern that `to_bytes` has written."""
        return cls(*np.frombuffer(contents, dtype=np.int64).reshape(2, -1))

    def to_bytes(self) -> bytes:
        """The contents, for a file."""
        return self.rows.tobytes() + self.columns.tobytes()


@final
@dataclass(frozen=True, eq=False)
class Recording:
    """The computation of a kernel: the nodes `outputs` of a graph, where the conditions `guards` fall as they say.
    Inputs of one body are the keys of `alike`, those of another that correspond its values; `loaded` are the constants
    that are loaded."""

    graph: Graph
    outputs: list[int]
    guards: dict[int, bool]
    functions: list[Any]
    alike: dict[int, int] = field(default_factory=dict)
    loaded: LoadedNumbers | None = None


def selected(workspace: Workspace) -> dict[str, Any]:
    """The arrays that the selection decides; R_ref = I is written out where charts can be centred."""
    owned = workspace.owned
    out = {name: owned[name] for name in _SELECTED if name in owned}
    if workspace.settings.chart.centre and "references" not in out:
        out["references"] = np.tile(np.eye(3), (workspace.model.n, 1, 1))
    return out


def selection_numbers(workspace: Workspace) -> Vec:
    """All numbers of the selection, one after the other: the input ``"selection"``. All code of a workspace reads them
    at one place."""
    if workspace.numbers is None:
        workspace.numbers = np.concatenate([np.zeros(1), *(array.ravel() for array in selected(workspace).values())])
        if "inputs" in workspace.owned:
            workspace.inputs_at.append(workspace.numbers[places_of_selected(workspace, "inputs")])
    return workspace.numbers


def places_of_selected(workspace: Workspace, wanted: str) -> slice:
    """The places of an array among the numbers of the selection; none if it is not there."""
    first = 1
    for name, array in selected(workspace).items():
        if name == wanted:
            return slice(first, first + array.size)
        first += array.size
    return slice(first, first)


def opened_numbers(workspace: Workspace) -> OpenNumbers:
    """The numbers of the model that are inputs of open code, those of this selection."""
    if workspace.open_numbers is None:
        same = workspace.of_same_records
        workspace.open_numbers = OpenNumbers.of(constants(workspace)) if same is None else opened_numbers(same)
    return workspace.open_numbers


def changed_numbers(first: Workspace, other: Workspace, *, forces_too: bool) -> OpenNumbers:
    """Those of a workspace with other masses, inertias and gravity, and numbers of forces if `forces_too`."""
    new = {"bodies": other.arrays["bodies"]}
    if forces_too:
        new |= constants(other, _OF_FORCES)
    return opened_numbers(first).changed(new)


def constants(workspace: Workspace, names: Sequence[str] = RECORDS) -> dict[str, Any]:
    """The records with numbers of the model."""
    arrays = workspace.arrays
    return {name: arrays[name] for name in names}


def own_constants(workspace: Workspace) -> tuple[tuple[str, bytes], ...]:
    """Further arrays that the workspace has in place of its memory's, such as other masses: they are constants of what
    is recorded, so code is not shared with workspaces in which they are different."""
    if workspace.memory.opened:
        return (("open", opened_numbers(workspace).digest), *_constants(workspace, _PATTERNS))
    return _constants(workspace, _ALL_CONSTANT)


def structure_of(workspace: Workspace) -> tuple[Any, ...]:
    """What code depends on, beside its kernel and its memory: dropped joint rows, the arrays of the selection, and own
    constants."""
    if workspace.structure is None:
        rows = workspace.selection.rows
        workspace.structure = (rows.dropped, tuple(selected(workspace)), own_constants(workspace))
    return workspace.structure


def _constants(workspace: Workspace, names: frozenset[str]) -> tuple[tuple[str, bytes], ...]:
    own = sorted(workspace.owned.keys() & names)
    return tuple((name, workspace.arrays[name].tobytes()) for name in own)


def recorded(
    workspace: Workspace,
    kernel: Entry,
    shapes: dict[str, tuple[int, ...]],
    point: tuple[float, Vec, Vec, float],
    most_nodes: int = MOST_NODES,
) -> Recording:
    """Run a kernel on symbols. `shapes` has that of `out`, `point` is (t, y, yd, c) where conditions are answered.

    Raises
    ------
    NotStraight
        if the graph has more nodes than `most_nodes`
    """
    ran = run(workspace, kernel, shapes, point, most_nodes)
    return finished(workspace, ran, [ran.recorder.number(value) for value in ran.out.ravel()])


class Run(NamedTuple):
    """A kernel that has run on symbols: the recorder, the memory as the kernel has left it, what it has written, and
    the constants that are loaded."""

    recorder: Recorder
    m: Any
    out: Any
    loaded: LoadedNumbers | None


def run(
    workspace: Workspace,
    kernel: Entry,
    shapes: dict[str, tuple[int, ...]],
    point: tuple[float, Vec, Vec, float],
    most_nodes: int,
) -> Run:
    """Run a kernel on symbols, as `recorded` does."""
    recorder, m, loaded = started(workspace, point, most_nodes)
    m.order, m.square_order = order_for(workspace, kernel) or ((), ())
    return Run(recorder, m, called(workspace, recorder, m, kernel, shapes["out"]), loaded)


def started(
    workspace: Workspace, point: tuple[float, Vec, Vec, float], most_nodes: int
) -> tuple[Recorder, Any, LoadedNumbers | None]:
    """A recorder, the memory on its symbols, and the constants that are loaded."""
    t, y, yd, c = point
    inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "selection": first_numbers(workspace), "parameter": [0.0]}
    recorder = Recorder(inputs, most_nodes)
    loaded = LoadedNumbers(opened_numbers(workspace).values) if workspace.memory.opened else None
    records = _records(workspace, recorder, loaded) if loaded is not None else {}
    for name, slopes in workspace.slopes.items():
        records[name] = _along(opened(workspace.arrays[name]), slopes, recorder.inputs("parameter")[0])
    return recorder, symbolic_memory(workspace, recorder, records), loaded


def _along(records: list[Any], slopes: Mapping[str, Any], parameter: Any) -> list[Any]:
    """Records for kernels on symbols that follow a parameter."""
    for name, slope in slopes.items():
        for record, change in zip(records, slope, strict=True):
            if change.any():
                setattr(record, name, getattr(record, name) + change.astype(object) * parameter)
    return records


def called(workspace: Workspace, recorder: Recorder, m: Any, kernel: Entry, shape: tuple[int, ...]) -> Any:
    """The results, of this shape, of a kernel on the symbols of a recorder."""
    numbers = iter((recorder.inputs("t")[0], recorder.inputs("c")[0]))
    vectors = iter((recorder.inputs("y"), recorder.inputs("yd")))
    out = np.zeros(shape, dtype=object)
    given = {"t": lambda: next(numbers), "y": lambda: next(vectors)}
    arguments = [given[sign]() if sign in given else out for sign in kernel.signs[1:]]
    function: Callable[..., None] = kernel
    function(m, *arguments)
    return out


def rounded(workspace: Workspace) -> tuple[Vec, Vec, Vec]:
    """The numbers of the model, the state and the selection that choices of pivots depend on: problems alike share
    them."""
    numbers = opened_numbers(workspace).values if workspace.memory.opened else np.zeros(0)
    regular, n = workspace.memory.regular, workspace.layout.n
    y = np.zeros(n)
    if len(regular) == n:
        moves = workspace.layout.n_differential  # multipliers are not known before
        y[:moves] = regular[:moves]
    exponents = np.rint(np.log2(np.abs(numbers)))
    y, selection = (np.rint(GRID * x) / GRID + 0.0 for x in (y, first_numbers(workspace)))
    return np.copysign(np.exp2(exponents), numbers), y, selection


def order_for(workspace: Workspace, kernel: Any) -> tuple[Order, ...]:
    """The orders in which a kernel, or the derivative of one, eliminates the saddle-point system and [G; S] of loops;
    empty where those that serve any position are taken (`rbdae.multibody.memory.saddle_order`)."""
    entry = getattr(kernel, "of", kernel)
    if not getattr(entry, "squared", False) or len(workspace.memory.regular) != workspace.layout.n:
        return ()
    square = workspace.settings.structure == "loops"
    if not square and not (entry.ordered and workspace.model.tree.closing):
        return ()
    if workspace.orders is None:
        numbers, y, selection = rounded(workspace)
        known, digits = workspace.memory.known, (x.tobytes() for x in (numbers, y, selection))
        key = ("order", structure_of(workspace), *digits)
        if key not in known:
            memory, saddle = partial(_on_floats, workspace, numbers, selection), bool(workspace.model.tree.closing)
            known[key] = orders(memory, y, saddle=saddle, square=square)
        workspace.orders = known[key]
    found = (workspace.orders[0] if entry.ordered else (), workspace.orders[1])
    return found if any(found) else ()


def _on_floats(workspace: Workspace, numbers: Vec, selection: Vec) -> Any:
    """A memory of floats with these numbers of the model and the selection."""
    chosen, first = {}, 1
    if workspace.memory.opened:
        chosen.update(opened_numbers(workspace).records(constants(workspace), numbers.tolist()))
    for name, array in selected(workspace).items():
        chosen[name] = selection[first : first + array.size].reshape(array.shape).astype(object)
        first += array.size
    m = KernelMemory(workspace.head, workspace.arrays, chosen)
    if "references" in chosen:
        m.head.referenced = 1
    return m


def finished(workspace: Workspace, ran: Run, outputs: list[int]) -> Recording:
    """What has been recorded, with its results."""
    recorder = ran.recorder
    alike = _alike(workspace, recorder)
    return Recording(recorder.graph, outputs, recorder.guards, recorder.functions, alike, ran.loaded)


def _records(workspace: Workspace, recorder: Recorder, loaded: LoadedNumbers) -> dict[str, Any]:
    """The records of the model with constants that are loaded."""
    inputs = [Symbol(recorder, recorder.graph.const(x)) for x in loaded.inputs]
    return opened_numbers(workspace).records(constants(workspace), inputs)


def recording_point(workspace: Workspace, shapes: Mapping[str, tuple[int, ...]]) -> tuple[float, Vec, Vec, float]:
    """The point where conditions are answered: the problem's regular state, moved a little, so that it is no special
    one."""
    y, yd = _beside(*(shapes.get(name, (0,))[0] for name in ("y", "yd")))
    regular = workspace.memory.regular
    return 0.1234, regular + 1e-4 * y if len(regular) == len(y) else y, yd, 1.5


@lru_cache(maxsize=64)
def _beside(n: int, m: int) -> tuple[Vec, Vec]:
    rng = np.random.default_rng(12)
    y, yd = rng.standard_normal(n), rng.standard_normal(m)
    y.flags.writeable = yd.flags.writeable = False
    return y, yd


def _alike(workspace: Workspace, recorder: Recorder) -> dict[int, int]:
    """The inputs of every other body, with those of the body after it in the order of y. They are a hint: what is
    computed from them in another way is computed alone."""
    layout, settings = workspace.layout, workspace.settings
    parts = [(layout.q, layout.iq)]
    if not settings.reduced:
        parts.append((layout.v, layout.iv))
    elif settings.structure != "loops":
        parts.append((layout.v, layout.inu))
    if not layout.n_hidden:
        parts += [
            (slice(m.start, m.start + layout.n_internal), layout.il) for m in (layout.la, layout.mu) if m.stop > m.start
        ]
    bodies = [np.split(np.arange(part.start, part.stop), begins[1:]) for part, begins in parts]
    out: dict[int, int] = {}
    for name in ("y", "yd"):
        nodes = [symbol.node for symbol in recorder.inputs(name)]
        for blocks in bodies:
            for one, other in zip(blocks[::2], blocks[1::2], strict=False):
                if len(one) == len(other) and all(i < len(nodes) for i in other):
                    out.update(zip((nodes[i] for i in one), (nodes[i] for i in other), strict=True))
    return out


def first_numbers(workspace: Workspace) -> Vec:
    """The selection at which conditions are answered: that of the memory's first problem, if it is as long."""
    mine, first = selection_numbers(workspace), workspace.memory.numbers
    return first if len(first) == len(mine) else mine


def symbolic_memory(workspace: Workspace, recorder: Recorder, records: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """The memory of a workspace for kernels on symbols, with the numbers of the selection as inputs; `records` take the
    place of arrays."""
    numbers, first = recorder.inputs("selection"), 1
    chosen = dict(records)
    for name, array in selected(workspace).items():
        chosen[name] = numbers[first : first + array.size].reshape(array.shape)
        first += array.size
    m = KernelMemory(workspace.head, workspace.arrays, chosen, recorder)
    if "references" in chosen:
        m.head.referenced = 1
    return m
