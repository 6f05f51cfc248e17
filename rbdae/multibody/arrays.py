"""The arrays behind the kernels' accessors, as a model, its settings and its layout fill them, the joint graph laid out
for an elimination among them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Ints, copied
from rbdae.joints.frames import joint_frame
from rbdae.kernels import records as kb
from rbdae.kernels.memory import ARRAYS, Content, named, of_scalars
from rbdae.multibody.graph import eliminate
from rbdae.multibody.layout import Layout
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings
from rbdae.multibody.tree_velocities import SpanningTree, spanning_velocities

_LEAST = 24
"""Numbers of a scratch vector, at least: parameters of a body, and its internal constraints with their rates."""


def arrays_of(model: Model, settings: Settings, layout: Layout, scalar: Any) -> dict[str, Any]:
    """The arrays that a model fills, by the names of `rbdae.kernels.memory`; no pivot is too small."""
    bodies = _bodies(model, settings, layout)
    primitives, eliminated = joint_order(model, layout)
    bushings, elements = _forces(model, layout)
    return {
        "bodies": bodies,
        "states": fresh_states(settings, bodies, scalar),
        "primitives": primitives,
        "joints": _joints(model, layout, scalar),
        "bushings": bushings,
        "drives": model.drives.copy(),
        "elements": elements,
        "frictions": _frictions(model, layout),
        "element_bodies": layout.rank[model.forces.bodies],
        "element_inputs": model.forces.element_inputs,
        "algebraic": model.forces.algebraic,
        "entries": model.forces.entries,
        "element_constants": model.forces.constants,
        "tree_velocities": _tree(model, settings, layout, primitives),
        "formulation_parameters": np.array([*settings.formulation.parameters.values()], dtype=float),
        "eliminated": eliminated,
        "pivot_floor": np.zeros(layout.n_rows),
    }


def with_room(arrays: dict[str, Any], head: Any, scalar: Any) -> dict[str, Any]:
    """All arrays: with the scratch of kernels, and nothing for what is not filled."""
    made = {name: a.room(head, scalar) if a.content is Content.SCRATCH else a.nothing() for name, a in ARRAYS.items()}
    return made | arrays


def renumbered(arrays: dict[str, Any], model: Model, settings: Settings, layout: Layout, scalar: Any) -> dict[str, Any]:
    """Arrays of their own for a model that differs in masses, inertias, gravity and numbers of forces alone."""
    bushings, elements = _forces(model, layout)
    bodies = _bodies(model, settings, layout)
    new = {"bodies": bodies, "bushings": bushings, "elements": elements, "entries": model.forces.entries}
    new["element_constants"] = model.forces.constants
    new["frictions"] = _frictions(model, layout)
    out = {name: new[name] if name in new else copied(array) for name, array in arrays.items()}
    return out | {name: ARRAYS[name].nothing() for name in named(Content.DEMAND)}


def _forces(model: Model, layout: Layout) -> tuple[Any, Any]:
    """Springs between points and other elements, with the memory of one problem alone."""
    bushings, elements = copied(model.bushings), copied(model.forces.elements)
    bushings["body"] = layout.rank[bushings["body"]]
    elements["body"] = layout.rank[elements["body"]]
    return bushings, elements


def _frictions(model: Model, layout: Layout) -> Any:
    """The joints whose reactions have friction."""
    out = copied(model.frictions)
    out["body"] = layout.rank[out["body"]]
    return out


def _joints(model: Model, layout: Layout, scalar: Any) -> Any:
    """The joints, their bodies as they are in memory."""
    out = np.zeros(len(model.joints), dtype=of_scalars(kb.JOINT, scalar))
    if len(out):
        out["first"] = [joint.primitives.start for joint in model.joints]
        out["last"] = [joint.primitives.stop for joint in model.joints]
        out["body"] = layout.rank[[joint.bodies for joint in model.joints]]
        out["points"] = [joint.points for joint in model.joints]
        out["frame"] = [joint_frame(joint) for joint in model.system.joints]
    return out


def row_length(layout: Layout, model: Model) -> int:
    """The length of the scratch vectors: long enough for the unknowns, and for (g, gdot)."""
    unknowns = layout.q.stop + layout.n_velocities + layout.n_constraints + layout.n_states
    return int(max(unknowns, 2 * (6 * model.n + layout.n_rows), _LEAST)) + 1


def _bodies(model: Model, settings: Settings, layout: Layout) -> Any:
    n = model.n
    bodies = model.bodies[[*layout.order, n]]
    bodies["radial"] *= radial_factor(settings)
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


def radial_factor(settings: Settings) -> float:
    """What the radial inertia is multiplied by."""
    return 1.0 if settings.momenta else settings.radial


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


def fresh_states(settings: Settings, bodies: Any, scalar: Any) -> Any:
    """The memory of each body as it is before any evaluation."""
    states = np.zeros(len(bodies), dtype=of_scalars(kb.STATE, scalar))
    states["x"] = bodies["origin"]
    states["d"] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if settings.kind.number == kb.DIRECTOR_RATE:
        states["B"] = np.eye(9)
    return states


def _tree(model: Model, settings: Settings, layout: Layout, primitives: Any) -> Any:
    """The joint equations and quasi-velocities of each body of a tree."""
    if settings.structure != "tree":
        return np.zeros(0, dtype=kb.TREE_VELOCITY)
    rows = primitives["row"][:, None] + np.arange(3)
    first = layout.n_velocities - (layout.v.stop - layout.v.start)
    tree = SpanningTree(tuple(range(model.n)), tuple(model.tree.parent), settings.tree)
    return _tree_records(model, tree, layout, rows, first + layout.inu)


def _tree_records(model: Model, tree: SpanningTree, layout: Layout, rows: Ints, nu: Ints) -> Any:
    """The records of bodies that hang from others, in the order of y.

    Parameters
    ----------
    tree : its `order` has places in y
    rows : the number of each equation of each primitive, (primitives, 3)
    nu : where the quasi-velocities of each body begin, (n,)
    """
    out = np.zeros(model.n, dtype=kb.TREE_VELOCITY)
    out["visit"], out["parent"], out["nu"] = tree.order, -1, nu
    for k, b in enumerate(layout.order):
        own = tree.velocities[b]
        if not own.primitives:
            continue
        equations = [(p, i) for p in own.primitives for i in range(int(model.primitives["n"][p]))]
        out["parent"][k] = layout.rank[tree.parent[b]]
        out["n_rows"][k], out["n_free"][k] = len(equations), len(own.S)
        for e, (p, i) in enumerate(equations):
            out["primitive"][k, e], out["equation"][k, e], out["row"][k, e] = p, i, rows[p, i]
            out["side"][k, e] = int(model.primitives["body"][p, 1] == b)
        out["S"][k, : len(own.S)] = own.S
        out["place"][k] = own.places(model, b)
    return out


class LoopRecords(NamedTuple):
    """The spanning tree of loops, and (primitive, equation of it, number among the kept ones) of each joint equation
    that closes them, (rows, 3)."""

    tree: Any
    closing: Ints


def loop_records(model: Model, layout: Layout, dropped: Collection[int]) -> LoopRecords:
    """The records of loops (`rbdae.kernels.null_space.loops`) without some joint rows."""
    tree = spanning_velocities(model, dropped)
    equations = [(p, i) for p, size in enumerate(model.primitives["n"].tolist()) for i in range(size)]
    kept = [equation for row, equation in enumerate(equations) if row not in dropped]
    rows = np.zeros((len(model.primitives), 3), dtype=np.int64)
    for n, equation in enumerate(kept):
        rows[equation] = n
    hanging = {p for own in tree.velocities for p in own.primitives}
    closing = [(p, i, n) for n, (p, i) in enumerate(kept) if p not in hanging]
    free = tree.freedoms(model)
    nu = len(kept) + np.cumsum(free) - free
    records = _tree_records(model, tree, layout, rows, nu)
    return LoopRecords(records, np.array(closing, dtype=np.int64).reshape(-1, 3))


Incident = list[list[tuple[int, int]]]
"""For each body the primitives at it, with the side (0 or 1) that it is on."""


def joint_order(model: Model, layout: Layout) -> tuple[Any, Ints]:
    """The primitives with bodies by place, constraint rows and slots, their places in an elimination of the joints
    after the bodies, in an order of minimum degree; and the constraint row of each place."""
    primitives = copied(model.primitives)
    primitives["body"] = layout.rank[primitives["body"]]
    sizes = primitives["n"]
    primitives["row"] = layout.n_internal + np.cumsum(sizes) - sizes
    primitives["keep"] = 1
    incident = _incident(model.n, primitives["body"])
    edges = {(p, r) if p <= r else (r, p) for at in incident for i, (p, _) in enumerate(at) for r, _ in at[i:]}
    places = np.zeros(int(sizes.sum()) if len(sizes) else 0, dtype=np.int64)
    for k, place in enumerate(eliminate([int(s) for s in sizes], sorted(edges))):
        primitives["slot"][k, : len(place)] = place
        places[place] = primitives["row"][k] - layout.n_internal + np.arange(len(place))
    return primitives, places


def _incident(n: int, bodies: Any) -> Incident:
    out: Incident = [[] for _ in range(n)]
    for k, pair in enumerate(bodies.tolist()):
        for side, body in enumerate(pair):
            if body < n:
                out[body].append((k, side))
    return out
