"""Kernels of a workspace as expression graphs, by running their plain twins on symbols.

Masses, geometry, index maps, loops and branches on structure disappear. What a run may choose again, the selection, is
an input: independent velocities, reference rotations, pivot floors. Which joint rows are dropped is structure.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.graph.graph import Graph
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.symbols import Recorder, Symbol
from rbdae.kernels.entry import Entry
from rbdae.machine.function import Shapes, names_of
from rbdae.multibody.memory.saddle_order import order_for
from rbdae.multibody.memory.workspace import Workspace

Point: TypeAlias = tuple[float, Any, Any, float]
"""(t, y, yd, c)."""

MOST_NODES = 2_000_000
"""What a recording may have where it is asked for: some hundred bytes, and ten microseconds, a node."""


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

    def groups(self, n: int) -> Ints:
        """The group of each of n columns: columns of a group share no row."""
        out = np.zeros(n, dtype=np.int64)
        taken: list[set[int]] = [set() for _ in range(self.rows.max(initial=-1) + 1)]  # groups with an entry in a row
        for j, rows in enumerate(np.split(self.rows, self.pointers(n)[1:-1])):
            near = [taken[i] for i in rows]
            out[j] = next(k for k in count() if not any(k in groups for groups in near))
            for groups in near:
                groups.add(int(out[j]))
        return out

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


@final
class Run:
    """Kernels on symbols; `point` is (t, y, yd, c) where conditions are answered.

    Attributes
    ----------
    recorder, loaded : of the symbols, and of the constants that are loaded
    m : the memory, as the last kernel has left it
    out : the results of the first kernel
    """

    out: Any

    def __init__(self, workspace: Workspace, point: Point, most_nodes: int) -> None:
        t, y, yd, c = point
        inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "selection": workspace.first_numbers}
        self._workspace = workspace
        self.recorder, self.loaded = Recorder(inputs, most_nodes), None
        records = dict[str, Any]()
        if workspace.memory.opened:
            numbers = workspace.open_numbers
            self.loaded = LoadedNumbers(numbers.values)
            constants = [self.recorder.graph.const(x) for x in self.loaded.inputs]
            records = numbers.records([Symbol(self.recorder, node) for node in constants])
        if workspace.symbols is not None:
            records |= workspace.symbols(workspace, self.recorder)
        self.m: Any = workspace.kernel_memory(self.recorder.inputs("selection"), records, self.recorder)

    def results(self, kernel: Entry, shape: tuple[int, ...]) -> Any:
        """The results, of this shape, of a kernel."""
        return called(self.recorder, self.m, kernel, shape)

    def nodes(self, values: Iterable[Any]) -> list[int]:
        """The nodes of symbols and numbers."""
        return [self.recorder.number(value) for value in values]

    def recording(self, outputs: list[int]) -> Recording:
        """The recording with these results."""
        return recording_of(self._workspace, self.recorder, self.loaded, outputs)


def recording_of(
    workspace: Workspace, recorder: Recorder, loaded: LoadedNumbers | None, outputs: list[int]
) -> Recording:
    """The recording of a recorder, with these results."""
    alike = _alike(workspace, recorder)
    return Recording(recorder.graph, outputs, recorder.guards, recorder.functions, alike, loaded)


def run(workspace: Workspace, kernel: Entry, shapes: Shapes, point: Point, most_nodes: int) -> Run:
    """Run a kernel on symbols; `shapes` has that of `out`.

    Raises
    ------
    NotStraight
        if the graph has more nodes than `most_nodes`
    """
    out = Run(workspace, point, most_nodes)
    out.m.order, out.m.square_order = order_for(workspace, kernel) or ((), ())
    out.out = out.results(kernel, shapes["out"])
    return out


def called(recorder: Recorder, m: Any, kernel: Entry, shape: tuple[int, ...]) -> Any:
    """The results, of this shape, of a kernel on the symbols of a recorder."""
    out = np.zeros(shape, dtype=object)
    given: dict[str, Any] = {name: recorder.inputs(name)[0] for name in ("t", "c")}
    given |= {"y": recorder.inputs("y"), "yd": recorder.inputs("yd"), "out": out}
    kernel(m, *(given[name] for name in names_of(kernel.signs[1:])))
    return out


def recording_point(workspace: Workspace, shapes: Shapes) -> Point:
    """The point where conditions are answered: near the problem's regular state, so that it is no special one."""
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
