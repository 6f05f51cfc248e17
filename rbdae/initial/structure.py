"""The settings that lay a model out for the choices of a user, and the selection at the start."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from rbdae.initial.choices import Choices
from rbdae.initial.consistent import ConsistentState
from rbdae.multibody.layout import natural_coordinates
from rbdae.multibody.model import Model
from rbdae.multibody.references import centred
from rbdae.multibody.row_selection import closeness, redundant_rows, strength
from rbdae.multibody.selection import IndependentVelocities, KeptRows, Selection
from rbdae.multibody.settings import Settings, Structure
from rbdae.multibody.tree_velocities import tree_velocities
from rbdae.multibody.velocity_selection import DependentRows, metric, sparse_matrix, spatial_columns
from rbdae.rotations.euler_map import rotation_matrices

REMEDY = (
    "replace a joint by one with fewer equations, or ask for redundant='minimum-norm', which gives the same motion and "
    "reactions of least norm"
)


SPARSE_FROM = 60
"""Velocities from which the square system of loops is sparse (docs/decisions.md)."""


def bare_settings(choices: Choices, structure: Structure) -> Settings:
    """Settings by choices alone."""
    return Settings(choices.formulation, choices.chart, choices.kind, structure)


def settings_of(model: Model, choices: Choices, state: ConsistentState) -> tuple[Settings, Selection]:
    """The settings that lay the model out, and the selection at the start."""
    settings, selection = _structure(model, choices, state)
    if choices.reference == "space":
        return settings, selection
    return settings, selection.with_references(centred(choices.chart, rotation_matrices(state.motion.p)))


def _structure(model: Model, choices: Choices, state: ConsistentState) -> tuple[Settings, Selection]:
    """The structure by which velocities are found, the kept rows and the independent velocities."""
    rows = _kept_rows(model, state)
    if choices.formulation.unknowns != "quasi-velocities":
        return replace(bare_settings(choices, "any"), redundant=bool(state.dropped)), Selection(rows)
    if _is_spherical_tree(model):
        return bare_settings(choices, "spherical tree"), Selection(rows)
    tree = None if state.dropped else tree_velocities(model, natural_coordinates(state.motion), state.joint_matrix)
    if tree is not None:
        return replace(bare_settings(choices, "tree"), tree=tree), Selection(rows)
    n_v = int((model.bodies["nt"][: model.n] + 3).sum())
    sparse = not state.dropped and n_v >= SPARSE_FROM
    choose = _sparse_velocities if sparse else _independent_velocities
    velocities = choose(model, state, choices.kind.spatial)
    settings = replace(
        bare_settings(choices, "loops"),
        n_independent=len(velocities.S),
        sparse=sparse,
        redundant=bool(state.dropped),
    )
    return settings, Selection(rows, velocities)


def _kept_rows(model: Model, state: ConsistentState) -> KeptRows:
    if not state.dropped:
        return KeptRows()
    G = state.joint_matrix()
    return KeptRows(state.dropped, strength(model, G, state.dropped), float(closeness(model, G, len(state.dropped))))


def _independent_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    """From the null space at the start."""
    G = state.joint_matrix()
    loose = redundant_rows(model, np.delete(G, state.dropped, axis=0), prefer_trees=False)
    if loose:
        kept = np.delete(np.arange(len(G)), state.dropped)
        names = "; ".join(model.row_name(int(kept[k])) for k in loose)
        raise ValueError(f"the constraints are redundant or singular at the start: {names}; {REMEDY}")
    if spatial:
        G = spatial_columns(G, rotation_matrices(state.motion.p))
    measure = metric(model)
    return measure.select(G, len(measure.scale) - len(G) + len(state.dropped))


def _sparse_velocities(model: Model, state: ConsistentState, spatial: bool) -> IndependentVelocities:
    """The same of a large system, whose matrix is sparse."""
    measure, joints = metric(model), state.joints
    gradients = joints.gradients(state.motion)
    if spatial:
        R = np.concatenate([rotation_matrices(state.motion.p), np.eye(3)[None]])
        gradients[..., 3:] = np.einsum("rsk,rsjk->rsj", gradients[..., 3:], R[joints.bodies])
    G = sparse_matrix(gradients, joints.bodies, measure.moving)
    try:
        return measure.select(G, G.shape[1] - G.shape[0])
    except DependentRows as error:
        raise ValueError(
            f"the constraints are redundant or singular at the start: {model.row_name(error.row)}; {REMEDY}"
        ) from error


def _is_spherical_tree(model: Model) -> bool:
    """Whether T is known in closed form: spherical joints of free bodies, no loop, nothing that moves by itself."""
    tree = model.tree
    return (
        not tree.closing
        and not len(model.drives)
        and all(
            [bool(model.primitives[i]["linear"]) for i in model.joints[k].primitives] == [True]
            and model.bodies["nt"][b] == 3
            for b, k in enumerate(tree.joint)
            if k >= 0
        )
    )


__all__ = ["REMEDY", "bare_settings", "settings_of"]
