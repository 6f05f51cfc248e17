"""The given and the unknown values of the start, in the user's coordinates, the origins of the body frames; and the
report of what was found, what had to change, and which joint says why.

The equations refer to centres of mass (`BodyMotion` elsewhere). Here a `BodyMotion` is that of the origins, so that a
given position or velocity is kept by leaving its columns out, whatever the rotation does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec, cross
from rbdae.body import INITIAL_VALUES
from rbdae.joints.primitives import Coincidence, Combination, Distance, Dot1, Dot2
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import Model
from rbdae.problem.start import Change

Hold: TypeAlias = Sequence[str | tuple[str, str]]

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
    Combination: "its law is off by {:.3g}",
}
_RATES = {
    Coincidence: "velocities of the points differ by {:.3g} m/s",
    Dot1: "angular velocities differ by {:.3g} rad/s",
    Dot2: "velocities of the points differ by {:.3g} m/s",
    Distance: "velocities along the rod differ",
    Combination: "the rate of its law is {:.3g}",
}

_COLUMNS = {"x": [0], "y": [1], "z": [2], "position": [0, 1, 2], "orientation": [3, 4, 5]}
_TURNS = np.arange(6) >= 3


@final
@dataclass(frozen=True, eq=False)
class Known:
    """The known part of a model's start: (n, 6) bool of (x, rotation) of all bodies.

    `free` can move at all: not the position of a body with a pivot. The user gave positions that are `placed` and
    velocities that are `moving`; what is `held` keeps its place and velocity whatever happens. `arms` (n, 3) lead from
    the origins of the body frames to the points to which the equations refer.
    """

    model: Model
    arms: Mat
    free: Bools
    placed: Bools
    moving: Bools
    held: Bools

    @classmethod
    def of(cls, model: Model, hold: Hold) -> Known:
        """The known part of a start by what the bodies say, and what is held."""
        bodies = model.system.bodies
        free = np.repeat((model.bodies["nt"][: model.n] == 3)[:, None], 6, axis=1) | _TURNS
        given = np.array([[name in body.given for name in INITIAL_VALUES] for body in bodies])
        arms = np.array([body.reference for body in bodies])
        return cls(
            model,
            arms,
            free,
            np.repeat(given[:, :2], 3, axis=1),
            np.repeat(given[:, 2:], 3, axis=1),
            held_columns(model, hold),
        )

    def stated(self) -> BodyMotion:
        """The given values; positions that are unknown where the search for them begins, at rest: of a body that turns
        and whose velocity is unknown that is the centre of mass."""
        motion = BodyMotion.stated(self.model.system.bodies)
        unknown = self.free[:, 0] & ~self.moving[:, 0]
        if not unknown.any():
            return motion
        swing = np.einsum("bij,bj->bi", motion.R_rate, self.arms)
        return replace(motion, xd=np.where(unknown[:, None], -swing, motion.xd))

    def replaced(self, placed: BodyMotion) -> BodyMotion:
        """The same with the positions of another motion, and unknown velocities of the least kinetic energy."""
        return self.of_least_energy(replace(self.stated(), x=placed.x, p=placed.p))

    def of_least_energy(self, motion: BodyMotion) -> BodyMotion:
        """The motion with other unknown velocities, those of the least kinetic energy beside all others; without the
        joints, body by body: M_uu v_u = -M_uk v_k. What is held has the velocities of the motion, and so have bodies
        without joints, which move as they are told: without a given angular velocity they do not turn.

        The energy of unknown velocities v_u + d is that of v_u and d^T M_uu d / 2: of all velocities on the constraints
        those have the least energy that have the least mass-weighted distance from here.
        """
        unknown = self.free & ~self.moving & ~self.held & self.jointed
        if not unknown.any():
            return motion
        v = np.where(unknown, 0.0, np.hstack([motion.xd, motion.om]))
        if not self.arms.any():  # M_uk = 0
            return motion.moving(v)
        M = self.masses(motion.R)
        push = np.where(unknown, np.einsum("nij,nj->ni", M, v), 0.0)
        v -= np.linalg.solve(np.where(unknown[:, :, None] & unknown[:, None, :], M, np.eye(6)), push[:, :, None])[
            ..., 0
        ]
        return motion.moving(v)

    @cached_property
    def jointed(self) -> Bools:
        """(n, 1), which bodies have joints."""
        out = np.zeros((self.model.n + 1, 1), dtype=bool)  # the ground, too, which is left out again
        out[[b for joint in self.model.joints for b in joint.bodies]] = True
        return out[:-1]

    def masses(self, R: Mat) -> Mat:
        """(n, 6, 6) mass matrices in the velocities of the origins, at rotations R (n, 3, 3)."""
        bodies = self.model.bodies[: self.model.n]
        T = R @ np.swapaxes(cross(np.eye(3), self.arms[:, None]), 1, 2)  # these move with xd + T om
        M = np.empty((self.model.n, 6, 6))
        M[:, :3, :3], M[:, :3, 3:] = np.eye(3), T
        M[:, 3:, :3] = Tt = np.swapaxes(T, 1, 2)
        M[:, 3:, 3:] = Tt @ T
        M *= bodies["mass"][:, None, None]
        M[:, 3:, 3:] += bodies["inertia"]
        return M

    def position_moves(self) -> list[Bools]:
        """The coordinates that may move to close the joints, the cheapest first: unknown positions, unknown
        orientations, the given."""
        free = self.free & ~self.held
        unknown = free & ~self.placed
        return [moves for moves in (unknown & ~_TURNS, unknown & _TURNS, free & self.placed) if moves.any()]

    @property
    def alike(self) -> bool:
        """Whether all that may move is of one kind."""
        told = self.moving[self.free]
        return len(self.position_moves()) < 2 and bool(told.all() or not told.any())


def turned(p: Mat, turns: Mat) -> Mat:
    """Unit quaternions (n, 4) after turns by rotation vectors (n, 3) in the body frames."""
    angle = np.linalg.norm(turns, axis=1, keepdims=True)
    w, v = np.cos(0.5 * angle), 0.5 * np.sinc(0.5 * angle / np.pi) * turns
    a, u = p[:, :1], p[:, 1:]
    out = np.hstack([a * w - np.sum(u * v, axis=1, keepdims=True), a * v + w * u + cross(u, v)])
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))


def check_hold(hold: object) -> Hold:
    """Names of bodies, or pairs of a name and a part; refuses everything else."""

    def named(item: object) -> bool:
        pair = isinstance(item, (list, tuple)) and len(item) == 2 and all(isinstance(part, str) for part in item)
        return pair or isinstance(item, str)

    if not isinstance(hold, (list, tuple)) or not all(map(named, hold)):
        raise TypeError(
            f"hold must be a list of names of bodies, or of pairs such as ('crank', 'x'), got {_check.show(hold)}; "
            "pass e.g. hold=['crank']"
        )
    return hold


def held_columns(model: Model, hold: Hold) -> Bools:
    """Whether each displacement (x, rotation about the body's axes) is held, (n, 6)."""
    out = np.zeros((model.n, 6), dtype=bool)
    for item in check_hold(hold):
        name, part = (item, None) if isinstance(item, str) else item
        if name not in model.names:
            raise ValueError(f"hold: no body {name!r}; the bodies are {', '.join(map(repr, model.names))}")
        if part is not None and part not in _COLUMNS:
            raise ValueError(f"hold: body {name!r} has no {part!r}; choose from {', '.join(map(repr, _COLUMNS))}")
        out[model.names.index(name), slice(None) if part is None else _COLUMNS[part]] = True
    return out


# ------------------------------------------------------------ what became of them


class InitialValuesWarning(UserWarning):
    """Given initial values contradict the joints and were changed; `Problem.assembly` has all that changed."""


def listed(changes: tuple[Change, ...]) -> str:
    """Changes in a message."""
    more = f"; and {len(changes) - _SHOWN} more" if len(changes) > _SHOWN else ""
    return "; ".join(map(str, changes[:_SHOWN])) + more


def distances(x: Mat, y: Mat) -> Vec:
    """The distances between vectors (n, 3), or the angles of the rotations between unit quaternions (n, 4)."""
    if y is x:
        return np.zeros(len(x))
    apart = np.linalg.norm(y - x, axis=1)
    if x.shape[1] == 3:
        return np.asarray(apart)
    return np.asarray(4.0 * np.arcsin(0.5 * np.minimum(apart, np.linalg.norm(y + x, axis=1))))  # of p or -p


def changes_of(model: Model, given: BodyMotion, used: BodyMotion) -> tuple[Change, ...]:
    """The given values that another motion of the origins does not have."""
    scales = model.scales
    units = max(scales.length, 1e-6 * scales.reach), 1.0, scales.rate * scales.length, scales.rate
    before, after = (given.x, given.p, given.xd, given.om), (used.x, used.p, used.xd, used.om)
    sizes = [distances(old, new) for old, new in zip(before, after, strict=True)]
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
