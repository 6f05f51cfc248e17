"""What errors are measured against, each found in another way than the runs that are measured.

Example A: Euler's equations in plain Python. Example B: the closed form. Example C, which has neither: a run in
directors with the smallest tolerance that rounding allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import closed_form
from rbdae._arrays import Vec
from rbdae.papers.null_space.equations import problem

_SMALLEST = 3e-14
"""A smaller tolerance has no effect in double precision."""


class Motion(NamedTuple):
    """A state in numbers that all forms share, or states of m times (m, k): the entries of all R, and for several
    bodies their centres of mass; the components of all Omega, and the velocities of the centres."""

    position: Vec
    velocity: Vec


class Errors(NamedTuple):
    """The largest error of an entry of R (and of a centre, m), and of Omega (and of a velocity, m/s)."""

    position: float
    velocity: float


def motion(solution: rbdae.Solution) -> Motion:
    """The motion of a run at its times."""
    bodies = list(solution.states.values())
    position = [body.orientation.as_matrix().reshape(-1, 9) for body in bodies]
    velocity = [body.angular_velocity for body in bodies]
    if len(bodies) > 1:
        position += [body.center_of_mass for body in bodies]
        velocity += [body.velocity for body in bodies]
    return Motion(np.hstack(position), np.hstack(velocity))


def errors(solution: rbdae.Solution, wanted: Motion) -> Errors:
    """The errors at the end of a run; nan where it has not reached it."""
    if not solution.success:
        return Errors(np.nan, np.nan)
    found = motion(solution)
    position, velocity = (
        float(np.abs(values[-1] - exact[-1]).max()) for values, exact in zip(found, wanted, strict=True)
    )
    return Errors(position, velocity)


@lru_cache(maxsize=32)
def reference(example: str, t_end: float, disturbance: float = 1e-3) -> Motion:
    """The motion at t_end: of Example A as the paper starts it, of B with this disturbance, of C."""
    if example == "A":
        return heavy_top((t_end,))
    if example == "B":
        return tennis_racket((t_end,), disturbance)
    run = rbdae.solve(problem("C", "d25"), (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
    return motion(run)


def heavy_top(times: Sequence[float], spin: float = 20.0) -> Motion:
    """Example A by Euler's equations and pdot = p Omega / 2, in plain Python: nothing of rbdae is in it.

    The moment of the weight is m g L (R^T e3) x e3, with L along the third axis of the body.
    """
    I1, I2, I3 = 50.0, 42.0, 10.0
    weight = 11.09 * 9.81

    def rates(t: float, y: Vec) -> list[float]:
        p0, p1, p2, p3, a, b, c = y.tolist()
        up1, up2 = 2.0 * (p1 * p3 - p0 * p2), 2.0 * (p2 * p3 + p0 * p1)
        return [
            -0.5 * (p1 * a + p2 * b + p3 * c),
            0.5 * (p0 * a + p2 * c - p3 * b),
            0.5 * (p0 * b + p3 * a - p1 * c),
            0.5 * (p0 * c + p1 * b - p2 * a),
            ((I2 - I3) * b * c + weight * up2) / I1,
            ((I3 - I1) * c * a - weight * up1) / I2,
            (I1 - I2) * a * b / I3,
        ]

    start = [np.cos(np.pi / 6.0), np.sin(np.pi / 6.0), 0.0, 0.0, 0.0, 0.0, spin]
    run = solve_ivp(
        rates, (0.0, times[-1]), start, method="DOP853", rtol=_SMALLEST, atol=_SMALLEST, t_eval=np.array(times)
    )
    p = run.y[:4].T
    return Motion(Rotation.from_quat(np.roll(p, -1, axis=1)).as_matrix().reshape(-1, 9), run.y[4:].T)


def tennis_racket(times: Sequence[float], disturbance: float = 1e-3) -> Motion:
    """Example B by Jacobi's elliptic functions."""
    start = problem("B", "q42", disturbance=disturbance)
    state = start.states(0.0, start.y0)["racket"]
    body = closed_form.FreeBody((41.6, 11.6, 50.0), state.angular_velocity, state.orientation)
    t = np.array(times)
    return Motion(body.orientation(t).as_matrix().reshape(-1, 9), body.angular_velocity(t))


__all__ = ["Errors", "Motion", "errors", "heavy_top", "motion", "reference", "tennis_racket"]
