"""Gauges: which combinations nu = S (xdot, Omega) are the independent quasi-velocities of the null-space form.

S is constant, and good where T = [G; S]^-1 [0; I] is of moderate size. It is chosen from the null space of G, angular
velocities first: they are counted in the bodies' frames, so that a crank's S is as good after half a turn. A mechanism
can still leave the region of its S. `solve` therefore watches the size of T after every accepted step and, where it
has grown, starts the solver anew from there with another S: the same positions and velocities, other numbers for them.
For one-step methods this costs nothing but the choice of a first step, multistep codes begin at order one.

What nu means then depends on time. A problem keeps the gauges of its last run with the times since when they hold and
reads states by them; a `Solution` keeps its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.adapter import Outcome, Request
from rbdae.solving import segments as relay

if TYPE_CHECKING:
    from rbdae.problem.problem import Problem

LIMIT = 2.0
"""A gauge is worn where a column of T is so many times as large as when the gauge was chosen."""

# directions of motion of which less than this is rotation are measured by the velocities of points
_ROTATES = 0.01


@final
@dataclass(frozen=True, slots=True, eq=False)
class Gauge:
    """S (nnu, nv), and the sizes of the columns of T where it was chosen."""

    S: Mat
    sizes: Vec


@final
@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """How velocities are compared: `scale` (nv,) is a length for xdot and 1 for Omega; `turning` marks Omega,
    `moving` (6 n,) what is a velocity at all (not that of a pivot)."""

    scale: Vec
    turning: Bools
    moving: Bools

    def sizes(self, T: Mat) -> Vec:
        """Of the columns of T."""
        return np.asarray(np.linalg.norm(T / self.scale[:, None], axis=0))

    def null_space(self, G: Mat, n_nu: int) -> Mat:
        """Orthonormal basis (nv, nnu), in velocities over `scale`."""
        A = G * self.scale
        A = A / np.linalg.norm(A, axis=1, keepdims=True).clip(1e-300)
        return np.asarray(np.linalg.svd(A)[2][len(self.scale) - n_nu :].T)

    def columns(self, G: Mat) -> Mat:
        """Of `rbdae.multibody.constraint_matrix.gradient`, without those of points that are fixed."""
        return np.asarray(G[..., self.moving])

    def choose(self, G: Mat, n_nu: int) -> Gauge:
        """A good gauge for these constraints."""
        N = self.null_space(G, n_nu)
        S = np.zeros(N.shape[::-1])
        U, s, Vt = np.linalg.svd(N[self.turning], full_matrices=True)
        r = int(np.count_nonzero(s > _ROTATES))
        S[:r, self.turning] = U[:, :r].T
        if r < len(S):
            S[r:, ~self.turning] = np.linalg.qr(N[~self.turning] @ Vt[r:].T)[0].T
        T = self.scale[:, None] * N
        sizes = self.sizes(T @ np.linalg.inv(S @ T))
        S.flags.writeable = False
        return Gauge(S, sizes)


def measure(model: Any) -> Measure:
    """The length is that of the mechanism's largest arm or radius of gyration."""
    n = model.n
    bodies = model.bodies[:n]
    lengths = [np.sqrt(np.trace(b["inertia"]) / b["mass"]) for b in bodies]
    lengths += [
        float(np.linalg.norm(point))
        for joint in model.joints
        for body, point in zip(joint.bodies, joint.points, strict=True)
        if body < n
    ]
    turning = np.concatenate([[False] * int(nt) + [True] * 3 for nt in bodies["nt"]])
    moving = np.concatenate([[nt == 3] * 3 + [True] * 3 for nt in bodies["nt"]])
    return Measure(np.where(turning, 1.0, max(lengths)), turning, moving)


@final
class Gauges:
    """The gauges of a run: the k-th holds from the k-th time on, the first before."""

    def __init__(self, first: Gauge) -> None:
        self.times: list[float] = []
        self.gauges = [first]

    def at(self, t: float) -> Gauge:
        """The gauge by which a state at time t is read."""
        return self.gauges[bisect_right(self.times, t)]

    def append(self, t: float, gauge: Gauge) -> None:
        """Another one from now on."""
        self.times.append(t)
        self.gauges.append(gauge)

    def reset(self) -> None:
        """Back to the first alone."""
        self.times.clear()
        del self.gauges[1:]

    def copy(self) -> Gauges:
        """For another problem."""
        out = Gauges(self.gauges[0])
        out.times, out.gauges = self.times.copy(), self.gauges.copy()
        return out

    def arrays(self) -> dict[str, Any]:
        """For a file."""
        return {
            "gauge_t": np.array(self.times, dtype=float),
            "gauge_S": np.stack([g.S for g in self.gauges]),
            "gauge_sizes": np.stack([g.sizes for g in self.gauges]),
        }

    @classmethod
    def of(cls, arrays: Mapping[str, Any]) -> Gauges:
        """From a file."""
        gauges = [Gauge(S, sizes) for S, sizes in zip(arrays["gauge_S"], arrays["gauge_sizes"], strict=True)]
        out = cls(gauges[0])
        out.times, out.gauges = [float(t) for t in arrays["gauge_t"]], gauges
        return out


def run(problem: Problem, once: Callable[[Problem, Request], Outcome], request: Request) -> Outcome:
    """Run a solver, and anew with another gauge wherever the present one is worn.

    Rows at the time of a change are in the new gauge.
    """
    problem.begin_gauges()
    try:
        return relay.run(problem, once, request, problem.gauge_is_worn, problem.in_new_gauge)
    finally:
        problem.end_gauges()


__all__ = ["LIMIT", "Gauge", "Gauges", "Measure", "measure", "run"]
