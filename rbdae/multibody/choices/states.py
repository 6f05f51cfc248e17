"""How a motion of the bodies is written into the unknowns y, by the charts of rotations.

R = R_ref R(a) with a constant R_ref for each body, at which its chart is centred. R^T Rdot does not contain R_ref, so
the material angular velocity, K(a), labels and n stay ([GR95] (159), (160)).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.multibody.choices.layout import Layout
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.choices.settings import Settings
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import Model
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.chart import NEAR_SINGULAR
from rbdae.rotations.vectors import rotation_matrices, unit_quaternion


def matrix(chart: Chart, a: Vec) -> Mat:
    """R(a), (3, 3)."""
    return np.asarray(chart.rotation(np.asarray(a, dtype=float)), dtype=float)


def centred(chart: Chart, R: Mat) -> Mat:
    """R_ref (n, 3, 3) with which the rotations R (n, 3, 3) have the parameters of the chart's centre.

    It is made from unit quaternions, so that it stays orthonormal however often a run repeats this.
    """
    p = np.array([unit_quaternion(each) for each in R])
    out: Mat = rotation_matrices(p) @ matrix(chart, np.array(chart.centre)).T
    return out


def _wrong(chart: Chart, R: Mat, a: Vec) -> str:
    """Why the parameters a are not those of R, but beyond the chart's singular set; empty if they are."""
    if not chart.centre:
        return chart.singular(a)
    with np.errstate(all="ignore"):  # what is not finite is what is asked for
        said = chart.singular(a)
        if said:
            return f"{said} (distance {chart.distance_to_singularity(a):.3g} rad)"
        off = np.abs(matrix(chart, a) - R).max() if np.isfinite(a).all() else np.inf
    if off < NEAR_SINGULAR:
        return ""
    return f"its orientation is beyond the singular set of {chart.name}, {chart.reach:.6g} rad from the centre"


def _usable(motion: BodyMotion) -> list[str]:
    """The charts that have parameters for all rotations, centred in space."""
    turns = [*zip(motion.p, motion.R, strict=True)]
    return [c.name for c in CHARTS.values() if not any(_wrong(c, R, c.parameters(p, R)) for p, R in turns)]


def write(
    model: Model, settings: Settings, layout: Layout, motion: BodyMotion, selection: Selection, t: float = 0.0
) -> Vec:
    """y (n,) of a state of the bodies at t in the unknowns of a selection, its multipliers zero.

    Raises
    ------
    ValueError
        where the chart is singular at the orientation of a body
    """
    y, bodies = np.zeros(layout.n), layout.order
    v = np.concatenate([part for b in bodies for part in _velocities(model, settings, motion, b)])
    y[layout.v] = v if selection.velocities is None else selection.velocities.S @ v
    if layout.n_states or model.forces.eliminated:
        y[layout.s] = model.forces.states_at(t, motion.natural, selection.inputs)
    p, R = motion.p, motion.R
    if selection.references is not None:
        R = np.swapaxes(selection.references, 1, 2) @ R
        p = np.array([unit_quaternion(each) for each in R])
    y[layout.q] = np.concatenate([part for b in bodies for part in _positions(model, settings, motion, p[b], R[b], b)])
    return y


def _velocities(model: Model, settings: Settings, motion: BodyMotion, b: int) -> Iterator[Vec]:
    body, momenta = model.bodies[b], settings.momenta
    by_tree = settings.structure in ("spherical tree", "tree") and model.tree.parent[b] >= 0
    if by_tree and settings.structure == "tree":
        yield settings.tree[b].S @ np.concatenate([motion.R[b].T @ motion.xd[b], motion.om[b]])
        return
    if body["nt"] == 3 and not by_tree:
        yield body["mass"] * motion.xd[b] if momenta else motion.xd[b]
    yield settings.kind.write(body, motion.p[b], motion.R[b], motion.om[b], momenta)


def _positions(model: Model, settings: Settings, motion: BodyMotion, p: Vec, R: Mat, b: int) -> Iterator[Vec]:
    a = settings.chart.parameters(p, R)
    if wrong := _wrong(settings.chart, R, a):
        raise ValueError(
            f"body {model.names[b]!r}: {wrong}; say reference='start', which centres the parameters of each body at "
            f"its start, or use another rotation; these can be used here: {', '.join(_usable(motion))}"
        )
    if model.bodies["nt"][b] == 3:
        yield motion.x[b]
    yield a


def put_parameters(model: Model, settings: Settings, layout: Layout, d: Mat, origins: Mat | None, y: Vec) -> None:
    """The rotation parameters of directors d (n, 9) into y, for reference rotations (n, 3, 3) or None."""
    for b, k in enumerate(layout.rank[: model.n]):
        first = layout.iq[k] + int(model.bodies["nt"][b])
        R = d[b].reshape(3, 3).T if origins is None else origins[b].T @ d[b].reshape(3, 3).T
        y[first : first + settings.chart.n] = settings.chart.parameters(unit_quaternion(R), R)


def with_nearest_parameters(settings: Settings, layout: Layout, y: Vec, other: Vec) -> Vec:
    """y with the parameters of its rotations that are nearest to those in another state: no jumps by full turns."""
    out = y.copy()
    for end in (*layout.iq[1:], layout.q.stop):
        at = slice(end - settings.chart.n, end)
        out[at] = settings.chart.nearest(y[at], other[at])
    return out
