"""A mechanism that moves in a plane: which one, how to look at it, and its quantities there: two components of vectors,
an angle in place of a quaternion."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec
from rbdae.problem.observables import MOMENTUM, REACTIONS, STATES, TABLE, Observable, Part
from rbdae.problem.problem import Problem
from rbdae.show.placed import Placed, placed
from rbdae.show.symbols import unit

PlaneName: TypeAlias = Literal["xy", "yz", "zx", "yx", "zy", "xz"]
PlaneChoice: TypeAlias = PlaneName | bool | None
"""A plane by its two axes, whose order is that of a positive turn; True for the one that the motion has, None for the
same if it has one, False for none."""

Reactions: TypeAlias = Mapping[str, Mapping[str, Any]]
"""`Reaction` s by the names of joints and their bodies."""

_AXES: Final = "xyz"
_NAMES: Final = ("xy", "yz", "zx", "yx", "zy", "xz")
_SAMPLES: Final = 200  # times at which a run is looked at
_LEAVES: Final = 1e-3  # of all motion, out of a plane that was asked for
_PER_TOLERANCE: Final = 10.0  # of the relative tolerance of a run: what leaves a plane by more is motion, no error
_NO_TWIST: Final = 1e-3
_ROUNDING: Final = 1e-9  # of the largest force, and of this force on an arm of the size of the mechanism


def _rates(here: Placed, size: float) -> tuple[Mat, Mat]:
    """Angular velocities, and velocities over the size of the mechanism, of all bodies at all times, in space."""
    turns = [state.orientation.apply(state.angular_velocity).reshape(-1, 3) for state in here.states.values()]
    slides = [np.asarray(state.velocity).reshape(-1, 3) for state in here.states.values()]
    return np.concatenate(turns), np.concatenate(slides) / size


def plane_of_motion(here: Placed, size: float, limit: float = 1e-4) -> Plane | None:
    """The plane along two axes of space that holds all velocities; None if there is none, and at rest.

    Parameters
    ----------
    here : at the times of a run
    size : of the mechanism, m, by which velocities are measured against angular velocities
    limit : of the part of all motion that leaves the plane
    """
    turns, slides = _rates(here, size)
    if not 0.0 < max(np.abs(turns).max(initial=0.0), np.abs(slides).max(initial=0.0)) < np.inf:
        return None
    gravity = np.abs(here.system.gravity) / (np.linalg.norm(here.system.gravity) or 1.0)
    # a motion along a line leaves a choice: the plane that gravity is in, and then xy
    out = {name: _departure(turns, slides, _named(name).frame[2]) for name in ("xy", "zx", "yz")}
    name = min(out, key=lambda name: (max(out[name], 1e-7), gravity[_AXES.index(_named(name).letters[2])]))
    return _named(name) if out[name] <= limit else None


def _departure(turns: Mat, slides: Mat, normal: Vec) -> float:
    """The largest velocity along a normal, or turn across it, as a part of all motion; 0 at rest."""
    largest = max(np.abs(turns).max(initial=0.0), np.abs(slides).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 0.0
    across = turns - np.outer(turns @ normal, normal)
    return float(max(np.abs(across).max(initial=0.0), np.abs(slides @ normal).max(initial=0.0)) / largest)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Plane:
    """A plane of motion along two axes of space.

    Attributes
    ----------
    letters : of its two axes and of its normal
    frame : their directions in space, rows of (3, 3)
    """

    letters: tuple[str, str, str]
    frame: Mat

    @property
    def said(self) -> str:
        """A sentence on what is shown."""
        first, second, normal = self.letters
        return f"The motion is in the {first}{second} plane; angles are about {normal}."

    def upright(self, gravity: Vec) -> Mat:
        """Right, up and towards the eye, rows of (3, 3): up is against gravity, or y or z if gravity is normal."""
        normal = self.frame[2]
        up = -(gravity - (gravity @ normal) * normal)
        if np.linalg.norm(up) <= 1e-3 * np.linalg.norm(gravity):
            up = np.eye(3)[2 if abs(normal[1]) > 0.5 else 1]
        up = unit(up)
        right = np.cross(up, normal)
        sign = -1.0 if right[np.argmax(np.abs(right))] < 0.0 else 1.0
        return np.stack([sign * right, up, sign * normal])

    @property
    def reaction_names(self) -> list[str]:
        """The components of a reaction that belong to the plane, such as Fx, Fy, Mz."""
        first, second, normal = self.letters
        return [f"F{first}", f"F{second}", f"M{normal}"]

    def table(self, t: Vec) -> Mapping[str, Observable]:
        """The observables at times (m,) of a run as they are in this plane, by name."""
        known, normal = {part.name: part for part in STATES.parts}, self.letters[2]
        turned = replace(
            known["orientation"], unit="rad", components="", heading=f"angle about {normal}", symbol="{}",
            column="angle", of=lambda state: self.angle(t, state), anchor="angles", limits=None,
            caption=f"Angles of the bodies' frames about {normal}, without jumps.",
        )  # fmt: skip
        spin = replace(
            self._about(known["angular_velocity"], "angular velocity"), of=self.spin,
            caption=f"Angular velocities about {normal}.",
        )  # fmt: skip
        states = {name: self._flat(part) for name, part in known.items()}
        states |= {"orientation": turned, "angular_velocity": spin}
        (linear, angular), (force, torque) = MOMENTUM.parts, REACTIONS.parts
        momentum = (self._flat(linear), self._about(angular, "angular momentum"))
        reactions = (self._flat(force), self._about(torque, "reaction torque"))
        return {
            **TABLE,
            "states": replace(STATES, parts=tuple(states.values())),
            "momentum": replace(MOMENTUM, parts=momentum),
            "reactions": replace(REACTIONS, parts=reactions),
        }

    def _flat(self, part: Part) -> Part:
        """A vector in space by its two components."""
        return replace(part, components=self.letters[:2], of=lambda value: getattr(value, part.name) @ self.frame[:2].T)

    def _about(self, part: Part, heading: str) -> Part:
        """A vector in space by its component along the normal."""
        return replace(
            part, components="", heading=f"{heading} about {self.letters[2]}", symbol="{}",
            of=lambda value: getattr(value, part.name) @ self.frame[2],
        )  # fmt: skip

    def spin(self, state: Any) -> Vec:
        """Angular velocities about the normal, (m,)."""
        omega: Vec = state.orientation.apply(np.array(state.angular_velocity)) @ self.frame[2]
        return omega

    def angle(self, t: Vec, state: Any) -> Vec:
        """Angles of a body's frame about the normal at times (m,), rad; the first one in (-pi, pi].

        R = R_n(angle) R_0, where R_0 has no part about n: the twist of R. A frame that is turned upside down has none;
        its angle is that since the first time. Turns between the times are counted by the angular velocity.
        """
        turn = state.orientation
        for since in (turn, turn * turn[0].inv()):
            q = np.atleast_2d(since.as_quat())
            sine, cosine = q[:, :3] @ self.frame[2], q[:, 3]
            if np.hypot(sine, cosine).min() >= _NO_TWIST:
                break
        raw = 2.0 * np.arctan2(sine, cosine)
        raw -= 2.0 * np.pi * np.ceil((raw - np.pi) / (2.0 * np.pi))
        spin = self.spin(state)
        expected = 0.5 * (spin[1:] + spin[:-1]) * np.diff(t)
        steps = np.diff(raw)
        steps += 2.0 * np.pi * np.round((expected - steps) / (2.0 * np.pi))
        return np.concatenate([raw[:1], raw[0] + np.cumsum(steps)])

    def unique(self, reaction: Any) -> Bools:
        """Whether the two forces in the plane and the torque about the normal are unique, (3,)."""
        first, second, normal = (_AXES.index(letter) for letter in self.letters)
        force, torque = reaction.unique_force_in_space, reaction.unique_torque_in_space
        return np.array([force[first], force[second], torque[normal]])

    def holds(self, reactions: Reactions, size: float) -> bool:
        """Whether no reaction has more than rounding along the normal, or about the axes of the plane; `size` is that
        of the mechanism, m."""
        least_force, least_torque = reaction_floors(reactions, size)
        every = [reaction for sides in reactions.values() for reaction in sides.values()]
        along = max((largest(np.asarray(r.force) @ self.frame[2]) for r in every), default=0.0)
        tilting = max((largest(np.asarray(r.torque) @ self.frame[:2].T) for r in every), default=0.0)
        return along <= least_force and tilting <= least_torque


def reaction_floors(reactions: Reactions, size: float) -> tuple[float, float]:
    """The largest force, N, and torque, N m, that count as zero beside the largest force of all reactions."""
    force = max((largest(r.force) for sides in reactions.values() for r in sides.values()), default=0.0)
    return _ROUNDING * force, _ROUNDING * force * size


def largest(values: Any) -> float:
    """The largest magnitude of the finite values; reactions are not finite in singular positions."""
    return float(np.max(np.abs(values), where=np.isfinite(values), initial=0.0))


def plane_of(run: Any, asked: PlaneChoice, owner: str) -> Plane | None:
    """The plane of a run that was asked for, or that it has along two axes of space; None if there is none, or if none
    is wanted.

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
    rows = np.unique(np.linspace(0, len(run.t) - 1, _SAMPLES).astype(int))
    rows = rows[np.isfinite(run.y[rows]).all(axis=1)]
    if not len(rows):
        return None
    here, size = placed(problem, run.t[rows], run.y[rows]), problem.model.scales.length
    if not isinstance(asked, str):
        plane = plane_of_motion(here, size, float(np.clip(_PER_TOLERANCE * getattr(run, "rtol", 1e-6), 1e-8, 1e-4)))
        if plane is None and asked:
            raise ValueError(f"{owner}: plane=True, but the motion is in no plane of two axes; leave plane out")
        return plane
    out = _departure(*_rates(here, size), _named(asked).frame[2])
    if out > _LEAVES:
        raise ValueError(
            f"{owner}: plane={asked!r}, but {out:.2g} of the motion leaves this plane; leave plane out, or name another"
        )
    return _named(asked)


def _named(name: str) -> Plane:
    rows = np.eye(3)[[_AXES.index(letter) for letter in name]]
    normal = np.cross(*rows)
    return Plane((name[0], name[1], _AXES[int(np.argmax(np.abs(normal)))]), np.stack([*rows, normal]))
