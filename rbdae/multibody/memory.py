"""The memory of a model in one formulation: constants and scratch of its kernels, laid out once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal, Self, final

import numpy as np

from rbdae._arrays import Mat, Vec, copied
from rbdae.compiler.declared import Features
from rbdae.kernels import records as kb
from rbdae.multibody.arrays import arrays_of, in_cache_lines, renumbered, row_length
from rbdae.multibody.layout import Layout, lay_out
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings, features
from rbdae.multibody.velocity_selection import Metric, metric

Code = Literal["auto", "folded", "generic", "plain", "traced"]
"""How kernels run: recorded and compiled for all models of a structure, where that is quickly done; the same with the
numbers of one model as constants; compiled once for all models; as plain Python; recorded and compiled in any case."""


_NOWHERE = np.empty(0)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Memory:
    """Everything of a model in memory that no selection decides.

    With a `scalar` other than float64 it is for plain kernels alone, for example complex for complex-step derivatives.
    The scratch matrices of dense Jacobians are made when the first of them is asked for. `head` is the one that each
    workspace copies: sizes, kinds, and the addresses of `arrays`. `recorded` has the machine code of recorded kernels
    (`rbdae.multibody.traced`), which is recorded at the state `regular` with the selection's numbers `numbers`,
    whatever the selection of the problem is that asks first: so it is the same in copies, and after switches. `known`
    has facts that are found once, such as its digest (`rbdae.multibody.contents`), also for those of other numbers.
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
    numbers: Vec
    recorded: dict[Any, Any]
    known: dict[str, Any]

    @classmethod
    def of(
        cls,
        model: Model,
        settings: Settings,
        scalar: Any = np.float64,
        code: Code = "generic",
        regular: Vec = _NOWHERE,
        numbers: Vec = _NOWHERE,
    ) -> Self:
        """The memory of a model; `regular` is a state of the problem and `numbers` are those of its selection, for
        recordings."""
        layout = lay_out(model, settings)
        arrays = arrays_of(model, settings, layout, scalar)
        arrays["rhs_tangent"], arrays["planes"] = np.zeros((1, 1), dtype=scalar), np.zeros((1, 1, 1), dtype=scalar)
        head = _head(model, settings, layout, arrays)
        have = features(model, settings)
        return cls(model, settings, layout, have, scalar, arrays, head, metric(model), code, regular, numbers, {}, {})

    def __reduce__(self) -> tuple[Any, ...]:
        """Copies and pickles are memories of their own: the kernels know them by their addresses."""
        return Memory.of, (self.model, self.settings, self.scalar, self.code, self.regular, self.numbers)

    @property
    def traced(self) -> bool:
        """Whether kernels are recorded."""
        return self.code in ("auto", "folded", "traced")

    @property
    def name(self) -> Literal["traced", "folded"]:
        """The public name of recorded code."""
        return "folded" if self.code == "folded" else "traced"

    @property
    def opened(self) -> bool:
        """Whether they load the numbers of the model."""
        return self.code in ("auto", "traced")

    def with_code(self, code: Code, regular: Vec, numbers: Vec) -> Self:
        """The same memory for kernels that run in another way."""
        return replace(self, code=code, regular=regular, numbers=numbers, recorded={}, known={})

    def renumbered(self, model: Model) -> Self:
        """A memory of its own for a model that differs in masses, inertias, gravity and numbers of forces alone; its
        code is that of the structure."""
        arrays = renumbered(self.arrays, model, self.settings, self.layout, self.scalar)
        arrays["rhs_tangent"] = np.zeros((1, 1), dtype=self.scalar)
        arrays["planes"] = np.zeros((1, 1, 1), dtype=self.scalar)
        head = copied(self.head)
        _set_addresses(head, arrays)
        return replace(self, model=model, arrays=arrays, head=head, metric=metric(model), recorded={}, known=self.known)

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
        "stabilised": settings.formulation.stabilised,
        "n_parameters": len(settings.formulation.parameters),
    }
    for name, value in counts.items():
        head[name] = value
    _set_addresses(head, arrays)
    return head


def _set_addresses(head: Any, arrays: dict[str, Any]) -> None:
    for name, array in arrays.items():
        head[name] = array.ctypes.data


__all__ = ["Code", "Memory"]
