"""The arrays behind the kernels' accessors, as a model, its settings and its layout fill them, the joint graph laid out
for an elimination among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from rbdae._arrays import copied
from rbdae.joints.frames import joint_frame
from rbdae.kernels import records as kb
from rbdae.kernels.memory import of_scalars
from rbdae.multibody.choices.layout import Layout
from rbdae.multibody.choices.settings import Settings
from rbdae.multibody.system.graph import eliminate
from rbdae.multibody.system.model import Model

_LEAST = 24
"""Numbers of a scratch vector, at least: parameters of a body, and its internal constraints with their rates."""


def arrays_of(model: Model, settings: Settings, layout: Layout) -> dict[str, Any]:
    """The arrays that a model fills, by the names of `rbdae.kernels.memory`; no pivot is too small."""
    pattern, bodies = joint_order(model, layout), _bodies(model, settings, layout)
    return {
        "bodies": bodies,
        "states": fresh_states(bodies),
        **_forces(model, layout),
        "joints": _joints(model, layout),
        "drives": model.drives,
        "element_bodies": layout.rank[model.forces.bodies],
        "inputs": model.forces.input_values,
        "element_inputs": model.forces.element_inputs,
        "algebraic": model.forces.algebraic,
        "tree_velocities": _tree(model, settings, layout, pattern["primitives"]),
        "formulation_parameters": np.array([*settings.formulation.parameters.values()], dtype=float),
        "pivot_floor": np.zeros(layout.n_rows),
        **pattern,
    }


def renumbered(
    arrays: Mapping[str, Any], old: Model, model: Model, settings: Settings, layout: Layout
) -> dict[str, Any]:
    """The arrays of a model that differs from an old one in masses, inertias, gravity and numbers of forces alone."""
    forces = {} if model.forces is old.forces else _forces(model, layout)
    return {**arrays, "bodies": _bodies(model, settings, layout), **forces}


def _forces(model: Model, layout: Layout) -> dict[str, Any]:
    """The numbers of forces, whose bodies are in the order of y."""
    placed = {"elements": copied(model.forces.elements), "frictions": copied(model.frictions)}
    for records in placed.values():
        records["body"] = layout.rank[records["body"]]
    return {**placed, "entries": model.forces.entries, "element_constants": model.forces.constants}


def _joints(model: Model, layout: Layout) -> Any:
    """The joints, their bodies as they are in memory."""
    out = np.zeros(len(model.joints), dtype=_as_in(model.bodies, kb.JOINT))
    if len(out):
        out["first"] = [joint.primitives.start for joint in model.joints]
        out["last"] = [joint.primitives.stop for joint in model.joints]
        out["body"] = layout.rank[[joint.bodies for joint in model.joints]]
        out["points"] = [joint.points for joint in model.joints]
        out["frame"] = [joint_frame(joint) for joint in model.system.joints]
    return out


def head_of(model: Model, settings: Settings, layout: Layout) -> dict[str, Any]:
    """The head of a memory: sizes and kinds of a model, and 0 for what a selection and steps decide. `chained` is 1
    where other velocities than (xdot, w) are unknowns: momenta, or spatial ones; s, la and mu begin in y at
    `states_at`, `multipliers_at` and `corrections_at`."""
    unknowns = layout.q.stop + layout.n_velocities + layout.n_constraints + layout.n_states
    head: dict[str, Any] = {
        "n_bodies": model.n,
        "n_primitives": len(model.primitives),
        "n_drives": len(model.drives),
        "n_elements": len(model.forces.elements),
        "n_frictions": len(model.frictions),
        "n_rows": layout.n_rows,
        "n_q": layout.q.stop,
        "n_v": layout.n_velocities,
        "n_nu": layout.v.stop - layout.v.start if settings.reduced else 0,
        "n_internal": layout.n_internal,
        "n_la": layout.n_constraints,
        "n_states": layout.n_states,
        "states_at": layout.s.start,
        "multipliers_at": layout.la.start,
        "corrections_at": layout.mu.start,
        # long enough for the unknowns, and for (g, gdot)
        "n_vector": max(unknowns, 2 * (6 * model.n + layout.n_rows), _LEAST) + 1,
        "chart": settings.chart.number,
        "chart_internal": len(settings.chart.internal),
        "kind": settings.kind.number,
        "momenta": settings.momenta,
        "chained": settings.momenta or settings.spatial == kb.SPATIAL_VELOCITIES,
        "spatial": settings.spatial,
        "forms": settings.forms,
        "gyroscopic": settings.formulation.choice("gyroscopic"),
        "pull_back": settings.formulation.choice("pull_back"),
        "unit_norm": settings.unit_norm,
        "columns": settings.columns,
        "structure": settings.structure,
        "level": settings.formulation.levels[0] if settings.formulation.levels else 2,
        "integral": settings.formulation.unknown_multipliers == "integrals",
        "stabilised": settings.formulation.stabilised,
        **dict.fromkeys(("referenced", "singular", "n_body_unknowns", "n_newton"), 0),
    }
    return {name: each if isinstance(each, str) else int(each) for name, each in head.items()}


def _bodies(model: Model, settings: Settings, layout: Layout) -> Any:
    n = model.n
    bodies = model.bodies[[*layout.order, n]]
    bodies["radial"] *= 1.0 if settings.momenta else settings.radial
    bodies["na"] = settings.chart.n
    bodies["nr"] = settings.kind.size
    bodies["ni"] = settings.kind.internal
    for name in ("na", "nr", "ni", "nt"):
        bodies[name][n] = 0
    moving = bodies[:n]
    moving["iq"], moving["iv"], moving["il"] = layout.iq, layout.iv, layout.il
    if settings.structure in ("spherical tree", "tree"):
        moving["inu"] = layout.inu
        _hang(model, settings, layout, moving)
    return bodies


def _hang(model: Model, settings: Settings, layout: Layout, moving: Any) -> None:
    """Parents of the bodies of a tree; of a tree of spherical joints their points, too."""
    for k, b in enumerate(layout.order):
        parent = model.tree.parent[b]
        if parent < 0:
            continue
        moving["parent"][k] = layout.rank[parent]
        if settings.structure == "spherical tree":
            joint = model.joints[model.tree.joint[b]]
            side = joint.bodies.index(b)
            moving["arm"][k] = joint.points[side]
            moving["parent_arm"][k] = joint.points[1 - side]


def _as_in(records: Any, dtype: Any) -> Any:
    """The dtype of records whose numbers are complex if those of others are."""
    return of_scalars(dtype, records["mass"].dtype.type)


def fresh_states(bodies: Any) -> Any:
    """The memory of each body as it is before any evaluation."""
    states = np.zeros(len(bodies), dtype=_as_in(bodies, kb.STATE))
    states["x"] = bodies["origin"]
    states["d"] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    return states


def _tree(model: Model, settings: Settings, layout: Layout, primitives: Any) -> Any:
    if settings.structure != "tree":
        return np.zeros(0, dtype=kb.TREE_VELOCITY)
    out = np.zeros(model.n, dtype=kb.TREE_VELOCITY)
    out["parent"], out["nu"] = -1, layout.n_velocities - (layout.v.stop - layout.v.start) + layout.inu
    for k, b in enumerate(layout.order):
        own = settings.tree[b]
        if not own.primitives:
            continue
        equations = [(p, i) for p in own.primitives for i in range(int(primitives["n"][p]))]
        out["parent"][k] = layout.rank[model.tree.parent[b]]
        out["n_rows"][k], out["n_free"][k] = len(equations), len(own.S)
        for e, (p, i) in enumerate(equations):
            out["primitive"][k, e], out["equation"][k, e], out["row"][k, e] = p, i, primitives["row"][p] + i
            out["side"][k, e] = int(model.primitives["body"][p, 1] == b)
        out["S"][k, : len(own.S)] = own.S
        out["place"][k] = own.places(model, b)
    return out


def joint_order(model: Model, layout: Layout) -> dict[str, Any]:
    """The primitives with bodies by place, constraint rows and slots, their places in an elimination of the joints
    after the bodies, in an order of minimum degree; and the constraint row of each place."""
    primitives = copied(model.primitives)
    primitives["body"] = layout.rank[primitives["body"]]
    sizes = primitives["n"]
    primitives["row"] = layout.n_internal + np.cumsum(sizes) - sizes
    primitives["keep"] = 1
    at: list[list[int]] = [[] for _ in range(model.n + 1)]
    for k, pair in enumerate(primitives["body"].tolist()):
        for body in pair:
            at[body].append(k)
    edges = {(p, r) for those in at[:-1] for i, p in enumerate(those) for r in those[i + 1 :]}
    places = np.zeros(int(sizes.sum()) if len(sizes) else 0, dtype=np.int64)
    for k, place in enumerate(eliminate([int(s) for s in sizes], edges)):
        primitives["slot"][k, : len(place)] = place
        places[place] = primitives["row"][k] - layout.n_internal + np.arange(len(place))
    return {"primitives": primitives, "eliminated": places}
