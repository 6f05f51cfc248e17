"""The Examples A, B, C of [NS] with reference states, and errors that no chart has a part in.

Nothing is stored: a reference is computed at 1e-13 by two formulations that share no unknown but time (null-space in
quaternions and quasi-velocities, index-0 in directors and their rates; both explicit, by DOP853), and refused where
the two disagree.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np
from inside import Vec

import rbdae

TOLERANCE = 1e-13
# Rounding in double precision alone costs 1e-13 on A, 3e-11 on B, 3e-12 on C, times a few (papers' README).
AGREEMENT = 1e-9
FORMS = (("null-space", "quaternion", "angular"), ("index-0", "directors", "coordinate"))


class Example(NamedTuple):
    """A mechanism, and until when solvers can be compared on it, in s."""

    build: Callable[[], rbdae.System]
    t_end: float


EXAMPLES = {
    "A": Example(rbdae.models.heavy_top, 2.0),
    "B": Example(lambda: rbdae.models.tennis_racket(disturbance=1.0), 1.0),
    "C": Example(rbdae.models.linked_bodies, 0.5),
}


class Motion(NamedTuple):
    """What all bodies do at one time, one after the other: centres of mass (body frames rest at pivots), entries of
    rotation matrices, velocities of the body frames, angular velocities in them."""

    positions: Vec
    orientations: Vec
    velocities: Vec
    angular_velocities: Vec

    @classmethod
    def of(cls, problem: rbdae.Problem, t: float, y: Vec) -> Motion:
        """The motion in a state of a problem."""
        states = problem.states(t, y).values()
        rows = [(s.center_of_mass, s.orientation.as_matrix().ravel(), s.velocity, s.angular_velocity) for s in states]
        return cls(*(np.concatenate(parts) for parts in zip(*rows, strict=True)))

    def errors(self, reference: Motion) -> dict[str, float]:
        """Norms of the differences over norms of the reference; where that rests at zero, the differences' norms."""
        pairs = zip(self._fields, self, reference, strict=True)
        return {name: float(np.linalg.norm(a - b)) / (float(np.linalg.norm(b)) or 1.0) for name, a, b in pairs}


@cache
def reference(example: str, t_end: float | None = None) -> Motion:
    """Where an example is at `t_end` (its own, by default)."""
    build, end = EXAMPLES[example]
    end = end if t_end is None else t_end
    motions = []
    for name, rotation, velocity in FORMS:
        problem = rbdae.formulate(build(), name, rotation=rotation, velocity=velocity)
        run = rbdae.solve(problem, (0.0, end), solver="scipy:DOP853", rtol=TOLERANCE, atol=TOLERANCE)
        assert run.success, run.message
        motions.append(Motion.of(problem, run.t[-1], run.y[-1]))
    apart = motions[1].errors(motions[0])
    assert max(apart.values()) < AGREEMENT, f"the two references of {example} are apart by {apart}"
    return motions[0]
