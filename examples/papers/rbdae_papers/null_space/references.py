"""References for errors, each computed by other means than the runs.

Example A uses the Taylor series of Euler's equations, Example B the closed form, Example C, which has neither, a run in
directors with the smallest tolerance that rounding allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

import rbdae
from rbdae._arrays import Mat, Vec
from rbdae_papers import closed_form
from rbdae_papers.null_space.equations import problem


class Motion(NamedTuple):
    """A state, or states at m times (m, k), in numbers common to all forms: the entries of all R, and for several
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
    """Errors at the end of a run; NaN if it did not reach it."""
    if not solution.success:
        return Errors(np.nan, np.nan)
    reached = motion(solution)
    position, velocity = (
        float(np.abs(values[-1] - exact[-1]).max()) for values, exact in zip(reached, wanted, strict=True)
    )
    return Errors(position, velocity)


@lru_cache(maxsize=32)
def reference(example: str, t_end: float, disturbance: float = 1e-3) -> Motion:
    """The motion at t_end of Example A with the paper's start, of B with this disturbance, or of C."""
    if example == "A":
        return heavy_top((t_end,))
    if example == "B":
        return tennis_racket((t_end,), disturbance)
    run = rbdae.solve(problem("C", "d25"), (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
    return motion(run)


_PRODUCTS: Final = (
    *((i, j) for i in range(4) for j in range(4, 7)),  # a component of p times one of Omega
    (5, 6), (6, 4), (4, 5),
    (1, 3), (0, 2), (2, 3), (0, 1),
)  # fmt: skip
_OMEGA: Final = (
    ((-1, 1, 4), (-1, 2, 5), (-1, 3, 6)),
    ((1, 0, 4), (1, 2, 6), (-1, 3, 5)),
    ((1, 0, 5), (1, 3, 4), (-1, 1, 6)),
    ((1, 0, 6), (1, 1, 5), (-1, 2, 4)),
)
"""The signs and products of the components of p Omega."""

_ORDER = 28


def _rates_of_products() -> Mat:
    """The matrix C of Example A: ydot = C times the products of y = (p, Omega).

    pdot = p Omega / 2; J Omegadot = J Omega x Omega + m g L u x e3 with u = R^T e3, quadratic in p.
    """
    C = np.zeros((7, len(_PRODUCTS)))
    places = {pair: k for k, pair in enumerate(_PRODUCTS)}
    for row, terms in enumerate(_OMEGA):
        for sign, k, m in terms:
            C[row, places[k, m]] = 0.5 * sign
    J, weight = (50.0, 42.0, 10.0), 11.09 * 9.81
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        C[4 + k, places[4 + i, 4 + j]] = (J[i] - J[j]) / J[k]
    C[4, places[2, 3]] = C[4, places[0, 1]] = 2.0 * weight / J[0]
    C[5, places[1, 3]], C[5, places[0, 2]] = -2.0 * weight / J[1], 2.0 * weight / J[1]
    return C


def heavy_top(times: Sequence[float], spin: float = 20.0) -> Motion:
    """Example A by the Taylor series of Euler's equations, without equations or solvers of rbdae.

    All rates are quadratic, so each coefficient of the series is a sum of products of earlier ones.
    """
    from scipy.spatial.transform import Rotation

    C, (left, right) = _rates_of_products(), np.array(_PRODUCTS).T
    y = np.array([np.cos(np.pi / 6.0), np.sin(np.pi / 6.0), 0.0, 0.0, 0.0, 0.0, spin])
    wanted, step, begin = np.array(times), 2.0 / spin, 0.0
    states = np.empty((len(wanted), 7))
    while True:
        series = np.zeros((7, _ORDER + 1))
        series[:, 0] = y
        for k in range(_ORDER):
            products = np.einsum("ik,ik->i", series[left, : k + 1], series[right, k::-1])
            series[:, k + 1] = C @ products / (k + 1)
        here = (wanted >= begin) & (wanted <= begin + step)
        powers = np.vander(wanted[here] - begin, _ORDER + 1, increasing=True)
        states[here] = powers @ series.T
        if begin + step >= wanted.max():
            break
        y = series @ step ** np.arange(_ORDER + 1)
        begin += step
    R = Rotation.from_quat(np.roll(states[:, :4], -1, axis=1)).as_matrix()
    return Motion(R.reshape(-1, 9), states[:, 4:])


def tennis_racket(times: Sequence[float], disturbance: float = 1e-3) -> Motion:
    """Example B by Jacobi's elliptic functions."""
    start = problem("B", "q42", disturbance=disturbance)
    state = start.states(0.0, start.y0)["racket"]
    body = closed_form.FreeBody((41.6, 11.6, 50.0), state.angular_velocity, state.orientation)
    t = np.array(times)
    return Motion(body.orientation(t).as_matrix().reshape(-1, 9), body.angular_velocity(t))
