"""The report of a consistent start: what was given, what was found, what had to change, and which joint says why."""

from __future__ import annotations

from typing import Final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.body import INITIAL_VALUES
from rbdae.joints.primitives import Coincidence, Distance, Dot1, Dot2
from rbdae.multibody.bodies import BodyMotion
from rbdae.multibody.model import Model
from rbdae.problem.start import Assembly, Change

ROUNDING: Final = 1e-8
"""Changes of given values up to here, over the lengths and rates of the model, are those of rounding."""

REMEDY: Final = (
    "correct them, leave them out to have them found, or say consistent='project' if these changes are wanted"
)

_SHOWN = 8
_GAPS = {
    Coincidence: "points are {:.3g} m apart",
    Dot1: "directions are {:.3g} deg off",
    Dot2: "points are {:.3g} m off",
    Distance: "points are not at the given distance",
}
_RATES = {
    Coincidence: "velocities of the points differ by {:.3g} m/s",
    Dot1: "angular velocities differ by {:.3g} rad/s",
    Dot2: "velocities of the points differ by {:.3g} m/s",
    Distance: "velocities along the rod differ",
}


class InitialValuesWarning(UserWarning):
    """Given initial values contradict the joints and were changed; `Problem.assembly` has all that changed."""


def listed(changes: tuple[Change, ...]) -> str:
    """Changes in a message."""
    more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    return "; ".join(map(str, changes[:_SHOWN])) + more


def report(model: Model, before: BodyMotion, motion: BodyMotion, gaps: tuple[float, float], steps: int) -> Assembly:
    """The report of what has moved from a motion of the reference points to another one; `gaps` are the largest of g
    and of gdot where the search began."""
    return Assembly(
        names=model.names,
        position=motion.x,
        orientation=motion.p,
        velocity=motion.xd,
        angular_velocity=motion.om,
        moved=_distances(before.x, motion.x),
        turned=_distances(before.p, motion.p),
        velocity_change=_distances(before.xd, motion.xd),
        spin_change=_distances(before.om, motion.om),
        gap=gaps[0],
        steps=steps,
        given=tuple(
            body.given if body.pivot is None else ("position", "velocity", *body.given) for body in model.system.bodies
        ),
        rate_gap=gaps[1],
    )


def _distances(x: Mat, y: Mat) -> Vec:
    """The distances between vectors (n, 3), or the angles of the rotations between unit quaternions (n, 4)."""
    apart = np.linalg.norm(y - x, axis=1)
    if x.shape[1] == 3:
        return np.asarray(apart)
    return np.asarray(4.0 * np.arcsin(0.5 * np.minimum(apart, np.linalg.norm(y + x, axis=1))))  # of p or -p


def changes_of(model: Model, given: BodyMotion, used: BodyMotion) -> tuple[Change, ...]:
    """The given values that another motion of the origins does not have."""
    scales = model.scales
    units = max(scales.length, 1e-6 * scales.reach), 1.0, scales.rate * scales.length, scales.rate
    before, after = (given.x, given.p, given.xd, given.om), (used.x, used.p, used.xd, used.om)
    sizes = [_distances(old, new) for old, new in zip(before, after, strict=True)]
    return tuple(
        Change(body.name, what, getattr(body, what), after[i][k].copy(), float(sizes[i][k]))
        for k, body in enumerate(model.system.bodies)
        for i, what in enumerate(INITIAL_VALUES)
        if what in body.given and not sizes[i][k] <= ROUNDING * units[i]
    )


def disagreement(model: Model, g: Vec, rates: Vec) -> str:
    """The joint that given values contradict most by its equations g (rows,), or else by their rates, and what
    disagrees there: all its equations of the same kind together."""
    over = model.scales.sizes(model.scales.length)
    placed = bool(np.max(np.abs(g / over), initial=0.0) > ROUNDING)
    gaps, words = (g, _GAPS) if placed else (rates, _RATES)
    at = int(np.argmax(np.abs(gaps / over)))
    ends = np.cumsum(model.primitives["n"])
    i = int(np.searchsorted(ends, at, side="right"))
    k = next(k for k, joint in enumerate(model.joints) if i in joint.primitives)
    own = dict(zip(model.joints[k].primitives, model.system.joints[k].primitives(), strict=True))
    kind = type(own[i])
    alike = [gaps[ends[j] - model.primitives["n"][j] : ends[j]] for j, each in own.items() if type(each) is kind]
    size = float(np.linalg.norm(np.concatenate(alike)))
    if placed and kind is Dot1:
        size = float(np.rad2deg(np.arcsin(min(1.0, size))))
    return f"joint {model.joints[k].name!r}: {words[kind].format(size)}"
