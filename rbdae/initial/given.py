"""The given and the unknown values of the start, in the user's coordinates: the origins of the body frames.

The equations refer to centres of mass (`BodyMotion` elsewhere). Here a `BodyMotion` is that of the origins, so that a
given position or velocity is kept by leaving its columns out, whatever the rotation does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, cross
from rbdae.body import INITIAL_VALUES
from rbdae.multibody.bodies import BodyMotion
from rbdae.multibody.model import Model
from rbdae.rotations.quaternions import from_rotation_vector, multiplied

Hold: TypeAlias = Sequence[str | tuple[str, str]]

_COLUMNS = {"x": [0], "y": [1], "z": [2], "position": [0, 1, 2], "orientation": [3, 4, 5]}
_TURNS = np.arange(6) >= 3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """The known part of a model's start; arrays (n, 6) bool of (x, rotation) of all bodies.

    Parameters
    ----------
    model : Model
    bodies : records of the bodies in the order of addition, of which masses are those of the metric
    arms : (n, 3); the points to which the equations refer, from the origins of the body frames
    free : what can move at all: not the position of a body with a pivot
    placed, moving : what the user gave of positions, and of velocities
    held : what keeps its place and velocity whatever happens
    """

    model: Model
    bodies: Any
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
            model.bodies[: model.n],
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
            return BodyMotion(motion.x, motion.p, v[:, :3], v[:, 3:])
        M = self.masses(motion.R)
        push = np.where(unknown, np.einsum("nij,nj->ni", M, v), 0.0)
        v -= np.linalg.solve(np.where(unknown[:, :, None] & unknown[:, None, :], M, np.eye(6)), push[:, :, None])[
            ..., 0
        ]
        return replace(motion, xd=v[:, :3], om=v[:, 3:])

    @property
    def jointed(self) -> Bools:
        """(n, 1), which bodies have joints."""
        out = np.zeros((self.model.n + 1, 1), dtype=bool)  # the ground, too, which is left out again
        out[[b for joint in self.model.joints for b in joint.bodies]] = True
        return out[:-1]

    def masses(self, R: Mat) -> Mat:
        """(n, 6, 6) mass matrices in the velocities of the origins, at rotations R (n, 3, 3)."""
        T = np.tile(np.eye(6), (self.model.n, 1, 1))  # velocities of the reference points are T times those
        T[:, :3, 3:] = R @ np.swapaxes(cross(np.eye(3), self.arms[:, None]), 1, 2)
        M = np.zeros((self.model.n, 6, 6))
        M[:, :3, :3] = self.bodies["mass"][:, None, None] * np.eye(3)
        M[:, 3:, 3:] = self.bodies["inertia"]
        return np.asarray(np.swapaxes(T, 1, 2) @ M @ T)

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
    out = multiplied(p, from_rotation_vector(turns))
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
