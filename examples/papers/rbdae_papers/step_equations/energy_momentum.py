"""The energy-momentum step QUAT.EM of [BS09]: residuals, multiplier and tangent."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks
from rbdae.rotations.quaternions import left, right
from rbdae_papers.step_equations._arguments import inverse4, quaternions, step_size, times, transposed
from rbdae_papers.step_equations.invariants import barred


class StepResidual(NamedTuple):
    """Residuals of the two lines of [BS09] (52), both (..., 4): of q, and of p in kg m^2/s."""

    q: Vec
    p: Vec


def energy_momentum_residual(
    q0: ArrayLike,
    p0: ArrayLike,
    q1: ArrayLike,
    p1: ArrayLike,
    *,
    inertia: ArrayLike,
    step: float,
    gradient: ArrayLike = (0.0, 0.0, 0.0, 0.0),
    multiplier: ArrayLike = 0.0,
) -> StepResidual:
    """The residual of a step from (q0, p0) to (q1, p1), [BS09] (51) in the form (52).

    Without `multiplier` it is R_q and R_p of Appendix D; G(q_mean) R_p is (53), the rows without a multiplier.

    Parameters
    ----------
    q0, p0, q1, p1 : (..., 4) array_like
    inertia : (3,) or (3, 3) array_like
    step : float
        s
    gradient : (..., 4) array_like
        The gradient of V at (q0 + q1) / 2, J.
    multiplier : (...) array_like
        The multiplier of the step, J: `step_multiplier`.
    """
    owner = "energy_momentum_residual"
    q0, p0, q1, p1, slope = quaternions(owner, q0=q0, p0=p0, q1=q1, p1=p1, gradient=gradient)
    la = checks.numbers(owner, "multiplier", multiplier)
    h, inverse = step_size(owner, step), inverse4(owner, inertia)
    qh, ph = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    pi = times(transposed(left(q0)), p0) + times(transposed(left(q1)), p1)
    turned = times(transposed(left(p0)), q0) + times(transposed(left(p1)), q1)
    of_q = q1 - q0 - 0.125 * h * times(left(qh), times(inverse, pi))
    of_p = p1 - p0 + 0.125 * h * times(left(ph), times(inverse, turned)) + h * (slope + la[..., None] * qh)
    return StepResidual(of_q, of_p)


def step_multiplier(q0: ArrayLike, q1: ArrayLike, gradient: ArrayLike) -> Vec:
    """The multiplier of a step from q0 to q1, la = -q_mean . grad V / |q_mean|^2, (...), J: [BS09] Remark 4.3.

    It belongs to the step, not to a time; for small steps it tends to the multiplier of Remark 4.2. `gradient` (..., 4)
    is the gradient of V at q_mean = (q0 + q1) / 2.
    """
    q0, q1, slope = quaternions("step_multiplier", q0=q0, q1=q1, gradient=gradient)
    qh = 0.5 * (q0 + q1)
    out: Vec = -(qh * slope).sum(-1) / (qh * qh).sum(-1)
    return out


def energy_momentum_tangent(
    q0: ArrayLike,
    p0: ArrayLike,
    theta: ArrayLike,
    p1: ArrayLike,
    *,
    inertia: ArrayLike,
    step: float,
    gradient: ArrayLike = (0.0, 0.0, 0.0, 0.0),
    hessian: ArrayLike = 0.0,
) -> Mat:
    """The derivatives (7, 7) of (R_q, G(q_mean) R_p) by (theta, p1), [BS09] (D1), with q1 = exp(0, theta / 2) q0 (54).

    The last term of K_pq is -G(R_p) / 2; the paper prints G(p_p).

    Parameters
    ----------
    q0, p0, p1 : (4,) array_like
    theta : (3,) array_like
        The rotation vector of the increment, in space; nonzero.
    inertia : (3,) or (3, 3) array_like
    step : float
        s
    gradient : (4,) array_like
        The gradient of V at (q0 + q1) / 2, J.
    hessian : (4, 4) array_like, or 0
        Its second derivatives there, J.
    """
    owner = "energy_momentum_tangent"
    q0, p0, p1 = (_check.array(owner, name, x, (4,)) for name, x in (("q0", q0), ("p0", p0), ("p1", p1)))
    v = _check.axis(owner, "theta", theta)
    V2 = _check.array(owner, "hessian", hessian, (4, 4), ())
    h, inverse = step_size(owner, step), inverse4(owner, inertia)
    size = np.linalg.norm(v)
    q1 = left(np.array([np.cos(0.5 * size), *(np.sin(0.5 * size) / size * v)])) @ q0
    qh, ph = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
    Rp = energy_momentum_residual(q0, p0, q1, p1, inertia=inertia, step=step, gradient=gradient).p
    omega = 0.5 * inverse @ (left(q0).T @ p0 + left(q1).T @ p1)
    kappa = 0.5 * inverse @ (left(p0).T @ q0 + left(p1).T @ q1)
    moved = 0.5 * right(q1)[:, 1:] @ _turned(v)  # (D2)
    a = 0.125 * h
    Gh = left(qh)[:, 1:].T
    Kqq = np.eye(4) - a * (right(omega) + left(qh) @ inverse @ barred(p1).T)
    Kqp = -a * left(qh) @ inverse @ left(q1).T
    Kpq = Gh @ (a * left(ph) @ inverse @ left(p1).T + 0.5 * h * (V2 + np.zeros((4, 4)))) - 0.5 * left(Rp)[:, 1:].T
    Kpp = Gh @ (np.eye(4) + a * (right(kappa) + left(ph) @ inverse @ barred(q1).T))
    out: Mat = np.block([[Kqq @ moved, Kqp], [Kpq @ moved, Kpp]])
    return out


def _turned(v: Vec) -> Mat:
    """H(theta) of [BS09] (D4), with H dtheta the variation of the increment in space."""
    size = np.linalg.norm(v)
    hat = np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])
    out: Mat = (
        np.sin(size) / size * np.eye(3)
        + (1.0 - np.cos(size)) / size**2 * hat
        + (1.0 - np.sin(size) / size) / size**2 * np.outer(v, v)
    )
    return out
