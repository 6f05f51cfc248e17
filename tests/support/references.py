"""The Examples A, B, C of [NS] with reference states, and errors that no chart has a part in.

Nothing is stored: a reference is computed at 1e-13 by two formulations that share no unknown but time (null-space in
quaternions and quasi-velocities, index-0 in directors and their rates; both explicit, by DOP853), and refused where
the two disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import final

import numpy as np
from inside import Vec

import rbdae

TOLERANCE = 1e-13
# Rounding in double precision alone costs 1e-13 on A, 3e-11 on B, 3e-12 on C, times a few (papers' README).
AGREEMENT = 1e-9
FORMS = (("null-space", "quaternion", "angular"), ("index-0", "directors", "coordinate"))


@final
@dataclass(frozen=True, slots=True)
class Example:
    """A mechanism, and until when solvers can be compared on it.

    Parameters
    ----------
    build : makes the system
    t_end : s
    """

    build: Callable[[], rbdae.System]
    t_end: float


EXAMPLES = {
    "A": Example(rbdae.models.heavy_top, 2.0),
    "B": Example(lambda: rbdae.models.tennis_racket(disturbance=1.0), 1.0),
    "C": Example(rbdae.models.linked_bodies, 0.5),
}


@final
@dataclass(frozen=True, slots=True)
class Motion:
    """What all bodies do at one time, one after the other: four vectors.

    Parameters
    ----------
    positions : centres of mass (body frames rest at pivots)
    orientations : entries of the rotation matrices
    velocities : of the body frames
    angular_velocities : in the body frames
    """

    positions: Vec
    orientations: Vec
    velocities: Vec
    angular_velocities: Vec

    @classmethod
    def of(cls, problem: rbdae.Problem, t: float, y: Vec) -> Motion:
        """The motion in a state of a problem."""
        states = problem.states(t, y).values()
        return cls(
            np.concatenate([s.center_of_mass for s in states]),
            np.concatenate([s.orientation.as_matrix().ravel() for s in states]),
            np.concatenate([s.velocity for s in states]),
            np.concatenate([s.angular_velocity for s in states]),
        )

    def errors(self, reference: Motion) -> dict[str, float]:
        """Norms of the differences over norms of the reference; where that rests at zero, the differences' norms."""
        found = {}
        for name in self.__slots__:
            mine, other = getattr(self, name), getattr(reference, name)
            found[name] = float(np.linalg.norm(mine - other)) / (float(np.linalg.norm(other)) or 1.0)
        return found


@cache
def compute(example: str, form: tuple[str, str, str], t_end: float) -> Motion:
    """The final motion of an example by DOP853 at 1e-13."""
    name, rotation, velocity = form
    problem = rbdae.formulate(EXAMPLES[example].build(), name, rotation=rotation, velocity=velocity)
    solution = rbdae.solve(problem, (0.0, t_end), solver="scipy:DOP853", rtol=TOLERANCE, atol=TOLERANCE)
    assert solution.success, solution.message
    return Motion.of(problem, solution.t[-1], solution.y[-1])


@cache
def reference(example: str, t_end: float | None = None) -> Motion:
    """Where an example is at `t_end` (its own, by default)."""
    end = EXAMPLES[example].t_end if t_end is None else t_end
    first, second = (compute(example, form, end) for form in FORMS)
    apart = second.errors(first)
    assert max(apart.values()) < AGREEMENT, f"the two references of {example} are apart by {apart}"
    return first
