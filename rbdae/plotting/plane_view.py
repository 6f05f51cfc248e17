"""The quantities of a mechanism that moves in a plane: two components of vectors, an angle in place of a quaternion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec
from rbdae.plotting.placed import placed
from rbdae.plotting.plane import departure, plane_of_motion
from rbdae.problem.observables import MOMENTUM, REACTIONS, STATES, TABLE, Observable, Part
from rbdae.problem.problem import Problem

PlaneName: TypeAlias = Literal["xy", "yz", "zx", "yx", "zy", "xz"]
PlaneChoice: TypeAlias = PlaneName | bool | None
"""A plane by its two axes, whose order is that of a positive turn; True for the one that the motion has, None for the
same if it has one, False for none."""

Reactions: TypeAlias = Mapping[str, Mapping[str, Any]]
"""`Reaction` s by the names of joints and their bodies."""

_NAMES: Final = ("xy", "yz", "zx", "yx", "zy", "xz")
_TIMES: Final = 200  # at which a run is looked at
_LEAVES: Final = 1e-3  # of the motion, out of a plane that was asked for
_PER_TOLERANCE: Final = 10.0  # of the relative tolerance of a run: what leaves a plane by more is motion, no error
_LIMITS: Final = (1e-8, 1e-4)
_ALONG: Final = 1.0 - 1e-6  # the component of a normal that is an axis of space
_ZERO: Final = 1e-9  # of the largest force, and of this force on an arm of the size of the mechanism
_NO_TWIST: Final = 1e-3


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane of motion.

    Attributes
    ----------
    letters : of its two axes and of its normal: those of space, or u, v, n
    frame : their directions in space, rows of (3, 3)
    """

    letters: tuple[str, str, str]
    frame: Mat

    @property
    def said(self) -> str:
        """A sentence on what is shown."""
        first, second, normal = self.letters
        if normal != "n":
            return f"The motion is in the {first}{second} plane; angles are about {normal}."
        u, v = (f"({', '.join(f'{x:.3g}' for x in row)})" for row in self.frame[:2])
        return f"The motion is in the plane of u = {u} and v = {v}; angles are about n = u x v."

    @property
    def reaction_names(self) -> list[str]:
        """The components of a reaction that belong to the plane, such as Fx, Fy, Mz."""
        first, second, normal = self.letters
        return [f"F{first}", f"F{second}", f"M{normal}"]

    def table(self, t: Vec) -> Mapping[str, Observable]:
        """The observables at times (m,) of a run as they are in this plane, by name."""
        return {**TABLE, "states": self._states(t), "momentum": self._momentum(), "reactions": self._reactions()}

    # ------------------------------------------------------------ the lines of the table

    def _flat(self, part: Part) -> Part:
        """A vector in space by its two components."""
        return replace(part, components=self.letters[:2], of=lambda value: getattr(value, part.name) @ self.frame[:2].T)

    def _about(self, part: Part, heading: str) -> Part:
        """A vector in space by its component along the normal."""
        return replace(
            part, components="", heading=f"{heading} about {self.letters[2]}", symbol="{}",
            of=lambda value: getattr(value, part.name) @ self.frame[2],
        )  # fmt: skip

    def _states(self, t: Vec) -> Observable:
        known = {part.name: part for part in STATES.parts}
        normal = self.letters[2]
        turned = replace(
            known["orientation"], unit="rad", components="", heading=f"angle about {normal}", symbol="{}",
            column="angle", of=lambda state: self.angle(t, state), anchor="angles", limits=None,
            caption=f"Angles of the bodies' frames about {normal}, without jumps.",
        )  # fmt: skip
        spin = replace(
            self._about(known["angular_velocity"], "angular velocity"), of=self.spin,
            caption=f"Angular velocities about {normal}.",
        )  # fmt: skip
        flat = {name: self._flat(part) for name, part in known.items()}
        return replace(STATES, parts=tuple((flat | {"orientation": turned, "angular_velocity": spin}).values()))

    def _momentum(self) -> Observable:
        linear, angular = MOMENTUM.parts
        return replace(MOMENTUM, parts=(self._flat(linear), self._about(angular, "angular momentum")))

    def _reactions(self) -> Observable:
        force, torque = REACTIONS.parts
        return replace(REACTIONS, parts=(self._flat(force), self._about(torque, "reaction torque")))

    def reaction_parts(self, reactions: Reactions, size: float) -> tuple[tuple[Part, ...], list[str]]:
        """The components of reactions that are more than rounding, those of the plane first, and the names of the
        others; `size` is that of the mechanism, m."""
        force, torque = self._reactions().parts
        floors = zero_floors(reactions, size)
        further = [part for part in (torque, *self._across()) if _beyond(part, reactions, floors)]
        left = [part.heading for part in (torque, *self._across()) if part.heading not in [p.heading for p in further]]
        return (force, *further), left

    def _across(self) -> tuple[Part, Part]:
        """The components of reactions that do not belong to the plane: the force along the normal, and the torques
        about its two axes."""
        force, torque = REACTIONS.parts
        normal = self.letters[2]
        along = replace(
            force, components=normal, heading=f"reaction force along {normal}", column=f"force along {normal}",
            of=lambda r: (r.force @ self.frame[2])[:, None], anchor="reaction-forces-across",
        )  # fmt: skip
        tilting = replace(
            self._flat(torque), heading="reaction torque across the normal", column="torque across the normal",
            anchor="reaction-torques-across",
        )  # fmt: skip
        return along, tilting

    # ------------------------------------------------------------ values

    def spin(self, state: Any) -> Vec:
        """Angular velocities about the normal, (m,)."""
        omega: Vec = state.orientation.apply(np.array(state.angular_velocity)) @ self.frame[2]
        return omega

    def angle(self, t: Vec, state: Any) -> Vec:
        """Angles of a body's frame about the normal at times (m,), rad; the first one in (-pi, pi].

        R = R_n(angle) R_0, where R_0 has no part about n: the twist of R. A frame that is turned upside down has none;
        its angle is that since the first time. Turns between the times are counted by the angular velocity.
        """
        q = np.atleast_2d(state.orientation.as_quat())
        sine, cosine = q[:, :3] @ self.frame[2], q[:, 3]
        if np.hypot(sine, cosine).min() < _NO_TWIST:
            since = state.orientation * state.orientation[0].inv()
            q = np.atleast_2d(since.as_quat())
            sine, cosine = q[:, :3] @ self.frame[2], q[:, 3]
        raw = 2.0 * np.arctan2(sine, cosine)
        raw -= 2.0 * np.pi * np.ceil((raw - np.pi) / (2.0 * np.pi))
        spin = self.spin(state)
        expected = 0.5 * (spin[1:] + spin[:-1]) * np.diff(t)
        steps = np.diff(raw)
        steps += 2.0 * np.pi * np.round((expected - steps) / (2.0 * np.pi))
        return np.concatenate([raw[:1], raw[0] + np.cumsum(steps)])

    def unique(self, reaction: Any) -> Bools:
        """Whether the two forces in the plane and the torque about the normal are unique, (3,)."""
        if self.letters[2] != "n":
            first, second, normal = ("xyz".index(letter) for letter in self.letters)
            force, torque = reaction.unique_force_in_space, reaction.unique_torque_in_space
            return np.array([force[first], force[second], torque[normal]])
        axis = np.reshape(reaction.frame, (-1, 3, 3))[:, :, 2] @ self.frame[2]
        along = bool((np.abs(axis) > _ALONG).all())  # the joint's own frame is one of the plane
        force = reaction.unique_force[:2].all() if along else reaction.unique
        return np.array([force, force, reaction.unique_torque[2] if along else reaction.unique], dtype=bool)


def plane_of(run: Any, asked: PlaneChoice, owner: str) -> Plane | None:
    """The plane of a run that was asked for, or that it has; None if there is none, or if none is wanted.

    Raises
    ------
    TypeError, ValueError
        for what is no plane, and if a plane was asked for and the motion leaves it
    """
    if asked is False:
        return None
    if asked is not None and asked is not True and (not isinstance(asked, str) or asked not in _NAMES):
        raise _check.unknown(f"plane of {owner}", asked, (*map(repr, _NAMES), "True", "False", "None"))
    problem = getattr(run, "problem", None)
    if not isinstance(problem, Problem) or not len(run.t):
        if asked is None:
            return None
        raise ValueError(
            f"{owner}: plane={asked!r} needs a run of a rbdae.Problem with at least one time; leave it out"
        )
    rows = np.unique(np.linspace(0, len(run.t) - 1, _TIMES).astype(int))
    rows = rows[np.isfinite(run.y[rows]).all(axis=1)]
    if not len(rows):
        return None
    here = placed(problem, run.t[rows], run.y[rows])
    size = problem.model.scales.length
    if isinstance(asked, str):
        plane = _named(asked)
        out = departure(here, plane.frame[2], size)
        if out > _LEAVES:
            raise ValueError(
                f"{owner}: plane={asked!r}, but {out:.2g} of the motion leaves this plane; leave plane out, or name "
                "another one"
            )
        return plane
    frame = plane_of_motion(here, size)
    limit = float(np.clip(_PER_TOLERANCE * getattr(run, "rtol", 1e-6), *_LIMITS))
    if frame is not None and departure(here, frame[2], size) > limit:
        frame = None
    if frame is None:
        if asked:
            raise ValueError(f"{owner}: plane=True, but the motion is in no plane; leave plane out")
        return None
    k = int(np.argmax(np.abs(frame[2])))
    return _named(("yz", "zx", "xy")[k]) if abs(frame[2, k]) > _ALONG else Plane(("u", "v", "n"), frame)


def _named(name: str) -> Plane:
    rows = np.eye(3)[["xyz".index(letter) for letter in name]]
    normal = np.cross(*rows)
    return Plane((name[0], name[1], "xyz"[int(np.argmax(np.abs(normal)))]), np.stack([*rows, normal]))


def zero_floors(reactions: Reactions, size: float) -> tuple[float, float]:
    """The largest force, N, and torque, N m, that count as zero beside the largest force of all reactions."""
    forces = [np.asarray(r.force) for sides in reactions.values() for r in sides.values()]
    largest = max((float(np.abs(f[np.isfinite(f)]).max(initial=0.0)) for f in forces), default=0.0)
    return _ZERO * largest, _ZERO * largest * size


def _beyond(part: Part, reactions: Reactions, floors: tuple[float, float]) -> bool:
    """Whether a component of reactions is more than zero somewhere."""
    floor = floors[part.name == "torque"]
    values = (part.values(r) for sides in reactions.values() for r in sides.values())
    return any(float(np.abs(v[np.isfinite(v)]).max(initial=0.0)) > floor for v in values)


__all__ = ["Plane", "PlaneChoice", "PlaneName", "plane_of", "zero_floors"]
