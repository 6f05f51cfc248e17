"""The arrays behind the kernels' accessors, as a model, its settings and its layout fill them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Ints, copied
from rbdae.kernels import records as kb
from rbdae.multibody.joint_pattern import joint_pattern
from rbdae.multibody.layout import Layout
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings
from rbdae.multibody.square_pattern import empty_square_pattern

_LEAST = 24
"""Numbers of a scratch vector, at least: parameters of a body, and its internal constraints with their rates."""


def arrays_of(model: Model, settings: Settings, layout: Layout, scalar: Any) -> dict[str, Any]:
    """All arrays by the names of `rbdae.kernels.memory`, but for those that are made on demand."""
    bodies = _bodies(model, settings, layout)
    joints = joint_pattern(model, layout)
    bushings, elements, state_tangents = _forces(model, layout)
    arguments, results = _lengths(elements)
    loops, tree = settings.structure == "loops", settings.structure == "tree"
    n_v = layout.n_velocities if loops and not settings.sparse else 1
    return {
        "bodies": bodies,
        "references": np.zeros((1, 3, 3)),
        "states": fresh_states(settings, bodies, scalar),
        "primitives": joints.primitives,
        "rows": np.zeros(len(joints.primitives), dtype=kb.row_dtype(scalar)),
        "bushings": bushings,
        "drives": model.drives.copy(),
        "elements": elements,
        "element_bodies": layout.rank[model.forces.bodies],
        "element_inputs": model.forces.element_inputs,
        "inputs": np.zeros(max(len(model.forces.inputs), 1)),
        "algebraic": model.forces.algebraic,
        "entries": model.forces.entries,
        "formulation_parameters": np.array([*settings.formulation.parameters.values(), 0.0]),
        "element_memory": np.zeros(1, dtype=kb.element_memory_dtype(scalar)),
        "state_arguments": np.zeros(max(arguments.max(initial=0), 1), dtype=scalar),
        "state_results": np.zeros(max(results.max(initial=0), 1), dtype=scalar),
        "state_tangents": np.zeros(max(state_tangents, 1), dtype=scalar),
        "tangent_memory": np.zeros(1, dtype=kb.tangent_memory_dtype(scalar)),
        "pairs": joints.pairs,
        "pivot_floor": np.zeros(layout.n_rows),
        "velocity_selection": np.zeros((1, 1)),
        "velocity_metric": np.zeros(1),
        "block_starts": np.zeros(1, dtype=np.int64),
        "blocks": np.zeros((1, 4), dtype=np.int64),
        "factor_start": joints.row_start,
        "factor_column": joints.column,
        "factor": np.zeros((2, max(joints.n_factor, layout.n_rows)), dtype=scalar),
        "vectors": np.zeros((kb.N_VECTORS, row_length(layout, model)), dtype=scalar),
        "square_factors": np.zeros((6 * model.n, 6) if tree else (n_v, n_v), dtype=scalar),
        "row_exchanges": np.zeros(n_v, dtype=np.int64),
        **empty_square_pattern(scalar),
        "newton_matrix": np.zeros(1, dtype=scalar),
        "newton_operations": np.zeros(1, dtype=kb.NEWTON_OPERATION),
        "newton_bodies": np.zeros(model.n, dtype=kb.NEWTON_BODY),
        "newton_joints": np.zeros(len(joints.primitives), dtype=kb.NEWTON_JOINT),
        "newton_forces": np.zeros(len(elements) + len(bushings), dtype=kb.NEWTON_FORCE),
        "tree_velocities": _tree(model, settings, layout, joints.primitives)
        if tree
        else np.zeros(1, dtype=kb.TREE_VELOCITY),
    }


def renumbered(arrays: dict[str, Any], model: Model, settings: Settings, layout: Layout, scalar: Any) -> dict[str, Any]:
    """Arrays of their own for a model that differs in masses, inertias, gravity and numbers of forces alone."""
    bushings, elements, _ = _forces(model, layout)
    bodies = _bodies(model, settings, layout)
    new = {"bodies": bodies, "bushings": bushings, "elements": elements, "entries": model.forces.entries}
    return {name: new[name] if name in new else copied(array) for name, array in arrays.items()}


def _forces(model: Model, layout: Layout) -> tuple[Any, Any, int]:
    """Springs between points and other elements, with the memory of one problem alone, and the length of all Jacobians
    of internal states."""
    bushings, elements = copied(model.bushings), copied(model.forces.elements)
    state_tangents = _lay_out_state_tangents(elements)
    bushings["body"] = layout.rank[bushings["body"]]
    elements["body"] = layout.rank[elements["body"]]
    return bushings, elements, state_tangents


def _lengths(elements: Any) -> tuple[Ints, Ints]:
    """How many arguments and results the function of each element by functions with internal states has; 0 for
    others."""
    stateful = elements["shaping"] == kb.STATEFUL
    results = 12 * elements["n_bodies"] + elements["n_states"]
    arguments = results + 12 * elements["n_bodies"] + elements["n_inputs"]
    return np.where(stateful, arguments, 0), np.where(stateful, results, 0)


def _lay_out_state_tangents(elements: Any) -> int:
    """The place of the Jacobian of each force by functions with internal states, and the length of all."""
    arguments, results = _lengths(elements)
    ends = np.cumsum(arguments * results)
    elements["tangent_at"] = np.append(0, ends)[:-1]
    return int(ends[-1]) if len(ends) else 0


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
    states = np.zeros(len(bodies), dtype=kb.state_dtype(scalar))
    states["x"] = bodies["origin"]
    states["d"] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    if settings.kind.number == kb.DIRECTOR_RATE:
        states["B"] = np.eye(9)
    return states


def _tree(model: Model, settings: Settings, layout: Layout, primitives: Any) -> Any:
    """The joint equations and quasi-velocities of each body of a tree."""
    out = np.zeros(model.n, dtype=kb.TREE_VELOCITY)
    for k, b in enumerate(layout.order):
        if model.tree.parent[b] < 0:
            continue
        own = settings.tree[b]
        equations = [(p, i) for p in own.primitives for i in range(int(primitives["n"][p]))]
        out["n_rows"][k], out["n_free"][k] = len(equations), len(own.S)
        for e, (p, i) in enumerate(equations):
            out["primitive"][k, e], out["equation"][k, e], out["row"][k, e] = p, i, int(primitives["row"][p]) + i
            out["side"][k, e] = int(primitives["body"][p, 1] == k)
        out["S"][k, : len(own.S)] = own.S
    return out


__all__ = ["arrays_of", "fresh_states", "radial_factor", "renumbered", "row_length"]
