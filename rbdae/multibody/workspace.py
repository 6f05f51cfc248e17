"""The memory that the kernels work on: constants and scratch of a model, and the head of one selection.

`Memory` is laid out once for a model and its settings. A `Workspace` is that memory together with a selection: it owns
a head (sizes, addresses, the state of the Jacobian's target) and the few arrays that a selection decides, and shares
everything else. So another selection costs microseconds, and the kernels of either find their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, Self, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae._frozen import KeptAlive
from rbdae.compiler.declared import Features
from rbdae.compiler.jit import Entry
from rbdae.compiler.options import ENABLED
from rbdae.compiler.plain import plain
from rbdae.compiler.user_functions import raising
from rbdae.kernels import records as kb
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.memory import PlainMemory
from rbdae.multibody.arrays import arrays_of, in_cache_lines, row_length
from rbdae.multibody.layout import Layout, lay_out
from rbdae.multibody.model import Model
from rbdae.multibody.selection import Selection
from rbdae.multibody.settings import Settings, features
from rbdae.multibody.velocity_selection import Metric, metric

Code = Literal["generic", "traced", "plain"]
"""How kernels run: compiled once for all models; recorded and compiled for this one; as plain Python."""


_NOWHERE = np.empty(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Everything of a model in memory that no selection decides.

    With a `scalar` other than float64 it is for plain kernels alone, for example complex for complex-step derivatives.
    The scratch matrices of dense Jacobians are made when the first of them is asked for. `head` is the one that each
    workspace copies: sizes, kinds, and the addresses of `arrays`. `recorded` has the machine code of recorded kernels
    (`rbdae.multibody.traced`).
    """

    model: Model
    settings: Settings
    layout: Layout
    features: Features
    scalar: Any
    arrays: dict[str, Any]
    head: Any
    metric: Metric
    code: Code
    regular: Vec
    recorded: dict[Any, Any]

    @classmethod
    def of(
        cls, model: Model, settings: Settings, scalar: Any = np.float64, code: Code = "generic", regular: Vec = _NOWHERE
    ) -> Self:
        """The memory of a model; `regular` is a state of the problem, for recordings."""
        layout = lay_out(model, settings)
        arrays = arrays_of(model, settings, layout, scalar)
        arrays["rhs_tangent"], arrays["planes"] = np.zeros((1, 1), dtype=scalar), np.zeros((1, 1, 1), dtype=scalar)
        head = _head(model, settings, layout, arrays)
        have = features(model, settings)
        return cls(model, settings, layout, have, scalar, arrays, head, metric(model), code, regular, {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are memories of their own: the kernels know them by their addresses."""
        return Memory.of, (self.model, self.settings, self.scalar, self.code, self.regular)

    def with_code(self, code: Code, regular: Vec) -> Self:
        """The same memory for kernels that run in another way."""
        return replace(self, code=code, regular=regular, recorded={})

    def rhs_tangent(self) -> Mat:
        """Room for the Jacobians of the explicit and null-space forms; made once, on demand (it is dense)."""
        if self.arrays["rhs_tangent"].size == 1:
            l = self.layout
            n_columns = l.q.stop + l.n_velocities + l.n_states
            n_rows = l.n_velocities + l.n_constraints + l.n_states + kb.N_TANGENT_ROWS
            self.arrays["rhs_tangent"] = in_cache_lines(n_rows, n_columns, self.scalar)
            if self.settings.reduced:
                rows = max(l.n_velocities, 9)  # those of the parameters of one body, too
                self.arrays["planes"] = np.zeros((kb.N_PLANES, rows, n_columns), dtype=self.scalar)
        out: Mat = self.arrays["rhs_tangent"]
        return out


@final
class Workspace:
    """A `Memory` with one selection; kernels take its `m`."""

    def __init__(self, memory: Memory, selection: Selection) -> None:
        self.memory = memory
        self.selection = selection
        self.head = memory.head.copy()
        self._arrays: dict[str, Any] = {}
        self._plain: PlainMemory | None = None
        self._has_tangent = False
        if selection.rows.dropped:
            self.own("primitives", _with_kept_rows(memory, selection.rows.dropped))
        if selection.rows.pivot_floor is not None:
            self.own("pivot_floor", np.ascontiguousarray(selection.rows.pivot_floor))
        if selection.references is not None:
            # a body moves by its place in y
            self.own("references", np.ascontiguousarray(selection.references[list(memory.layout.order)]))
            self.head["referenced"] = 1
        if selection.velocities is not None:
            self.own("velocity_selection", selection.velocities.S)
            inverse = [1.0 / memory.metric.scale, 1.0 / selection.velocities.sizes]
            self.own("velocity_metric", np.concatenate(inverse))

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles have a head of their own; those that shared a memory share one again."""
        return Workspace, (self.memory, self.selection)

    def own(self, name: str, array: Any) -> None:
        """An array in place of the shared one."""
        self._arrays[name] = array
        self.head[name] = array.ctypes.data
        if self._plain is not None:
            self._plain.own(name, array)

    @property
    def plain_memory(self) -> PlainMemory:
        """What plain kernels take as `m`: the arrays themselves."""
        if self._plain is None:
            self._plain = PlainMemory(self.head)
            for name, array in self.arrays.items():
                self._plain.own(name, array)
        return self._plain

    # ------------------------------------------------------------ facts

    @property
    def model(self) -> Model:
        """The model in it."""
        return self.memory.model

    @property
    def settings(self) -> Settings:
        """What laid it out."""
        return self.memory.settings

    @property
    def layout(self) -> Layout:
        """Where the unknowns are."""
        return self.memory.layout

    @property
    def arrays(self) -> dict[str, Any]:
        """All arrays by name."""
        return self.memory.arrays | self._arrays

    @property
    def owned(self) -> frozenset[str]:
        """The names of the arrays that are not shared."""
        return frozenset(self._arrays)

    @property
    def n_bytes(self) -> int:
        """The size of all arrays."""
        return sum(array.nbytes for array in self.arrays.values())

    # ------------------------------------------------------------ kernels

    @property
    def m(self) -> Any:
        """What compiled kernels take as `m`: the address of the head, or with the JIT off the arrays themselves."""
        return int(self.head.ctypes.data) if ENABLED else self.plain_memory

    def compiled(self, kernel: Entry) -> Callable[..., None]:
        """The kernel, compiled for what this model needs and bound to this workspace."""
        bound = partial(kernel.compiled(self.memory.features), self.m)
        bound.workspace = KeptAlive(self)  # type: ignore[attr-defined]
        return self.raising(bound)

    @property
    def user_functions(self) -> tuple[Any, ...]:
        """The user's functions that kernels call."""
        return (*self.model.user_functions, *self.model.forces.functions)

    def raising(self, kernel: Callable[..., None]) -> Callable[..., None]:
        """The kernel, and then what the user's Python functions have raised in it."""
        return raising(kernel) if any(function.python for function in self.user_functions) else kernel

    def plain(self, kernel: Entry) -> Callable[..., None]:
        """The kernel as plain Python, which takes numbers of any kind, bound to this workspace.

        With complex or other numbers it needs a memory with this `scalar`. With floats it does to the memory what
        machine code does.
        """
        return partial(plain(kernel, self.memory.features), self.plain_memory)

    def with_selection(self, selection: Selection) -> Workspace:
        """The same memory with another selection."""
        return self if selection is self.selection else Workspace(self.memory, selection)

    def make_rhs_tangent(self) -> None:
        """Have room for the Jacobians of the explicit and null-space forms."""
        if self._has_tangent:
            return
        tangent = self.memory.rhs_tangent()
        self.head["rhs_tangent_width"] = tangent.shape[1]
        self.own("rhs_tangent", tangent)
        if self.settings.reduced:
            tree = self.memory.arrays["planes"]
            self.head["n_plane_rows"] = tree.shape[1]
            self.own("planes", tree)
        self._has_tangent = True

    def record(self, kernel: Entry, *arguments: Any) -> Any:
        """The blocks (row, column, rows, columns) of a kernel that fills a matrix, by running it with these arguments
        and a matrix."""
        generic = self.memory.code == "generic"
        fill = self.compiled(kernel) if generic else self.raising(self.plain(kernel))
        unused = np.zeros((1, 1), dtype=self.memory.scalar)
        self.head["mode"] = kb.RECORD
        try:
            self.head["n_blocks"] = 0
            fill(*arguments, unused)
            n = int(self.head["cursor"][0])
            self.head["n_blocks"] = n
            self.own("blocks", np.zeros((max(n, 1), 4), dtype=np.int64))
            fill(*arguments, unused)
        finally:
            self.head["mode"] = kb.STRIDED
        return self._arrays["blocks"][:n]

    def set_starts(self, starts: Ints) -> None:
        """Where each column of each block begins in the CSC data."""
        self.head["n_starts"] = len(starts)
        self.own("block_starts", np.ascontiguousarray(starts, dtype=np.int64))

    # ------------------------------------------------------------ the last factorisation

    @property
    def pivots(self) -> Vec:
        """Of the joint equations in the last factorisation, in the order of elimination; 0 for suspended ones."""
        values = np.abs(self.memory.arrays["factor"][1, : self.layout.n_rows])
        return np.where(values >= SUSPENDED, 0.0, values)

    @property
    def kept(self) -> Any:
        """Which joint equations are kept, (rows,) bool in the order of elimination."""
        out = np.zeros(self.layout.n_rows, dtype=bool)
        for p in self.arrays["primitives"]:
            out[p["slot"][: p["n"]]] = p["keep"][: p["n"]] == 1
        return out

    def singular_row(self) -> int | None:
        """The joint row (in the order of the joints) at which the last factorisation broke down; None if it did not."""
        place = int(self.head["singular"][0])
        if place == 0:
            return None
        return int(self.memory.arrays["factor_column"][int(self.head["n_factor"][0]) + place - 1])


def _with_kept_rows(memory: Memory, dropped: tuple[int, ...]) -> Any:
    """The primitives, with the rows marked that are kept."""
    primitives = memory.arrays["primitives"].copy()
    first = primitives["row"] - memory.layout.n_internal
    for row in dropped:
        k = int(np.searchsorted(first, row, side="right")) - 1
        primitives["keep"][k, row - int(first[k])] = 0
        primitives["whole"][k] = 0
    return primitives


def _head(model: Model, settings: Settings, layout: Layout, arrays: dict[str, Any]) -> Any:
    """Sizes and kinds of a model, and the addresses of its arrays."""
    head = np.zeros(1, dtype=kb.HEAD)
    counts = {
        "n_bodies": model.n,
        "n_primitives": len(model.primitives),
        "n_bushings": len(model.bushings),
        "n_drives": len(model.drives),
        "n_elements": len(model.forces.elements),
        "n_entries": len(model.forces.entries),
        "n_rows": layout.n_rows,
        "n_pairs": len(arrays["pairs"]),
        "n_factor": arrays["factor"].shape[1] if layout.n_rows else 0,
        "n_q": layout.q.stop,
        "n_v": layout.n_velocities,
        "n_nu": layout.v.stop - layout.v.start if settings.reduced else 0,
        "n_internal": layout.n_internal,
        "n_la": layout.n_constraints,
        "n_states": layout.n_states,
        "most_states": len(arrays["state_results"]) - 24,
        "n_state_tangents": len(arrays["state_tangents"]),
        "n_columns": layout.q.stop + layout.n_velocities + layout.n_states,
        "states_at": layout.s.start,
        "multipliers_at": layout.la.start,
        "corrections_at": layout.mu.start,
        "n_vector": row_length(layout, model),
        "chart": settings.chart.number,
        "chart_internal": len(settings.chart.internal),
        "chart_linear": settings.chart.linear,
        "kind": settings.kind.number,
        "momenta": settings.momenta,
        "chained": settings.momenta or settings.spatial == kb.SPATIAL_VELOCITIES,
        "spatial": settings.spatial,
        "forms": settings.forms,
        "gyroscopic": settings.gyroscopic,
        "pull_back": settings.pull_back,
        "projected": settings.formulation.projected and settings.formulation.kind == "dae",
        "columns": settings.columns,
        "structure": settings.reduction,
        "level": settings.formulation.levels[0] if settings.formulation.levels else 2,
        "integral": settings.formulation.multipliers == "integrals",
    }
    for name, value in counts.items():
        head[name] = value
    if settings.gains is not None:
        alpha, beta = settings.gains
        head["damping"] = 2.0 * alpha
        head["stiffness"] = beta * beta
    for name, array in arrays.items():
        head[name] = array.ctypes.data
    return head


__all__ = ["Memory", "Workspace"]
