"""`Filled`: a model in arrays, as kernels read them.

Code of a structure has the numbers of a model in its own context. So the arrays of a model that differs from another in
masses and inertias alone are made when somebody reads them, and so is its system: a run does without both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, Self, final

import numpy as np

from rbdae._arrays import copied
from rbdae.body import Body
from rbdae.kernels import records as kb
from rbdae.kernels.memory import HEAD
from rbdae.multibody.arrays import arrays_of, radial_factor, renumbered, row_length, with_room
from rbdae.multibody.bodies import body_row, set_inertia, set_mass
from rbdae.multibody.layout import Layout
from rbdae.multibody.model import Model, with_numbers
from rbdae.multibody.settings import Settings
from rbdae.multibody.velocity_selection import Metric, metric
from rbdae.system import System


class Store(NamedTuple):
    """A model, its arrays by the names of `rbdae.kernels.memory`, sizes and kinds, and the metric of its velocities."""

    model: Model
    arrays: dict[str, Any]
    head: Any
    metric: Metric


@final
class Filled:
    """A store that is there, or is made when it is first read.

    In any case there are `bodies`, the records of bodies, and `like`, a model that differs in these numbers at most: it
    has the same names, tree, joints and functions.
    """

    def __init__(
        self,
        settings: Settings,
        layout: Layout,
        scalar: Any,
        like: Model,
        bodies: Any,
        system: System | Callable[[], System],
    ) -> None:
        self.like = like
        self.bodies = bodies
        self._settings, self._layout, self._scalar = settings, layout, scalar
        self._made: dict[str, Any] = {}
        self._make: Callable[[System], Store] | None = None
        self._system = system

    @classmethod
    def of(cls, model: Model, settings: Settings, layout: Layout, scalar: Any) -> Self:
        """A model with all of it."""
        arrays = arrays_of(model, settings, layout, scalar)
        head = _head(model, settings, layout, arrays)
        return cls._there(settings, layout, scalar, Store(model, with_room(arrays, head, scalar), head, metric(model)))

    @classmethod
    def _there(cls, settings: Settings, layout: Layout, scalar: Any, store: Store) -> Self:
        out = cls(settings, layout, scalar, store.model, store.arrays["bodies"], store.model.system)
        out._made["store"] = store
        return out

    @property
    def store(self) -> Store:
        """The store."""
        found: Store | None = self._made.get("store")
        if found is None:
            make = self._make
            # of two threads the first that is done counts; then nobody needs what they are made of
            found = self._made["store"] if make is None else self._made.setdefault("store", make(self.system))
            self._make = None
        return found

    @property
    def system(self) -> System:
        """The system of the model."""
        found: System | None = self._made.get("system")
        if found is None:
            made = self._system if isinstance(self._system, System) else self._system()
            found = self._system = self._made.setdefault("system", made)
        return found

    def with_bodies(self, bodies: Mapping[int, Body], system: Callable[[], System]) -> Self:
        """The same with other masses and inertias of some bodies, by number."""
        records, old, rank = copied(self.bodies), self.system.bodies, self._layout.rank
        gravity, radial = self.system.gravity, radial_factor(self._settings)
        for k, body in bodies.items():
            if body.inertia is old[k].inertia:
                set_mass(records, int(rank[k]), body, gravity)
            else:
                set_inertia(records, int(rank[k]), body_row(body, gravity), radial)
        out = type(self)(self._settings, self._layout, self._scalar, self.like, records, system)
        out._make = self._make or partial(self._filled, self.store, forces_too=False)
        return out

    def with_numbers(self, system: System, *, forces_too: bool) -> Self:
        """The same with the masses, inertias and gravity of another system, and its numbers of forces if `forces_too`;
        made at once."""
        store = self._filled(self.store, system, forces_too=forces_too)
        return type(self)._there(self._settings, self._layout, self._scalar, store)

    def with_constants(self, system: System, values: Mapping[str, float]) -> Self:
        """The same with other numbers of the laws of blocks, by the names of parameters; made at once."""
        store = self.store
        model = replace(store.model, system=copy.copy(system), forces=store.model.forces.with_constants(values))
        arrays = renumbered(store.arrays, model, self._settings, self._layout, self._scalar)
        new = Store(model, arrays, copied(store.head), store.metric)
        return type(self)._there(self._settings, self._layout, self._scalar, new)

    def _filled(self, store: Store, system: System, *, forces_too: bool) -> Store:
        model = with_numbers(store.model, system, forces_too=forces_too)
        arrays = renumbered(store.arrays, model, self._settings, self._layout, self._scalar)
        return Store(model, arrays, copied(store.head), metric(model))


def _head(model: Model, settings: Settings, layout: Layout, arrays: dict[str, Any]) -> Any:
    """Sizes and kinds of a model."""
    head = np.zeros(1, dtype=HEAD)
    counts = {
        "n_bodies": model.n,
        "n_primitives": len(model.primitives),
        "n_joints": len(model.joints),
        "n_bushings": len(model.bushings),
        "n_drives": len(model.drives),
        "n_elements": len(model.forces.elements),
        "n_frictions": len(model.frictions),
        "n_entries": len(model.forces.entries),
        "n_element_bodies": len(arrays["element_bodies"]),
        "n_element_inputs": len(arrays["element_inputs"]),
        "n_element_constants": len(arrays["element_constants"]),
        "n_inputs": len(model.forces.inputs),
        "n_rows": layout.n_rows,
        "n_tree": len(arrays["tree_velocities"]),
        "n_q": layout.q.stop,
        "n_v": layout.n_velocities,
        "n_nu": layout.v.stop - layout.v.start if settings.reduced else 0,
        "n_internal": layout.n_internal,
        "n_la": layout.n_constraints,
        "n_states": layout.n_states,
        "states_at": layout.s.start,
        "multipliers_at": layout.la.start,
        "corrections_at": layout.mu.start,
        "n_vector": row_length(layout, model),
        "chart": settings.chart.number,
        "chart_internal": len(settings.chart.internal),
        "kind": settings.kind.number,
        "momenta": settings.momenta,
        "chained": settings.momenta or settings.spatial == kb.SPATIAL_VELOCITIES,
        "spatial": settings.spatial,
        "forms": settings.forms,
        "gyroscopic": settings.gyroscopic,
        "pull_back": settings.pull_back,
        "unit_norm": settings.unit_norm,
        "projected": settings.formulation.projected and settings.formulation.kind == "dae",
        "columns": settings.columns,
        "structure": settings.reduction,
        "sparse": settings.sparse,
        "level": settings.formulation.levels[0] if settings.formulation.levels else 2,
        "integral": settings.formulation.unknown_multipliers == "integrals",
        "stabilised": settings.formulation.stabilised,
        "n_parameters": len(settings.formulation.parameters),
    }
    for name, number in counts.items():
        head[name] = number
    return head
