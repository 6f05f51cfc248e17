"""Invariants of the Hamiltonian form in quaternions, its masses, and its rates in the invariants; [BS09] section 4."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations.quaternions import left, right
from rbdae_papers.step_equations._arguments import inertia4, inverse4, quaternions, times, transposed


class Invariants(NamedTuple):
    """Numbers invariant under rotations of space, [BS09] (46), (47).

    Attributes
    ----------
    pi : (..., 4); pi_0 = q . p, which is 0 on the constraints (40), and Pi = G(q) p = 2 J Omega, kg m^2/s
    eta : (...); q . q, which is 1 on the constraints
    """

    pi: Vec
    eta: Vec


class Rates(NamedTuple):
    """The rates of q, 1/s, and of its momentum p, kg m^2/s^2, both (..., 4)."""

    q: Vec
    p: Vec


def invariants(q: ArrayLike, p: ArrayLike) -> Invariants:
    """pi = Q_l(q)^T p and eta = q . q, [BS09] (46), (47), of quaternions q (..., 4) and momenta p = M4(q) qdot."""
    q, p = quaternions("invariants", q=q, p=p)
    return Invariants(times(transposed(left(q)), p), (q * q).sum(-1))


def kinetic_energy(pi: ArrayLike, inertia: ArrayLike) -> Vec:
    """T = pi . J4^-1 pi / 8, (...), J, [BS09] (48), of pi (..., 4) and the moments of inertia (3,) or (3, 3), kg m^2.

    J4 has J0 = tr(J) / 2, which matters only off the constraint q . p = 0.
    """
    (pi,) = quaternions("kinetic_energy", pi=pi)
    out: Vec = 0.125 * (pi * times(inverse4("kinetic_energy", inertia), pi)).sum(-1)
    return out


def mass_matrix(q: ArrayLike, inertia: ArrayLike) -> Mat:
    """M4(q) = 4 Q_l(q) J4 Q_l(q)^T, (..., 4, 4), kg m^2: [BS09] (32), which is (30) and (31)."""
    (q,) = quaternions("mass_matrix", q=q)
    Q = left(q)
    out: Mat = 4.0 * Q @ inertia4("mass_matrix", inertia) @ transposed(Q)
    return out


def inverse_mass_matrix(q: ArrayLike, inertia: ArrayLike) -> Mat:
    """M4(q)^-1 = Q_l(q) J4^-1 Q_l(q)^T / 4, (..., 4, 4), on the unit sphere: [BS09] (33)."""
    (q,) = quaternions("inverse_mass_matrix", q=q)
    Q = left(q)
    out: Mat = 0.25 * Q @ inverse4("inverse_mass_matrix", inertia) @ transposed(Q)
    return out


def hamiltonian_rates(
    q: ArrayLike, p: ArrayLike, inertia: ArrayLike, gradient: ArrayLike = (0.0, 0.0, 0.0, 0.0)
) -> Rates:
    """The rates of (q, p) in the invariants, [BS09] (49), with la = -q . grad V of Remark 4.2, on the constraints.

    Parameters
    ----------
    q, p : (..., 4) array_like
        Unit quaternions and their momenta.
    inertia : (3,) or (3, 3) array_like
    gradient : (..., 4) array_like
        The gradient of V at q, J.
    """
    owner = "hamiltonian_rates"
    q, p, slope = quaternions(owner, q=q, p=p, gradient=gradient)
    x = 0.25 * times(inverse4(owner, inertia), times(transposed(left(q)), p))
    rest = -slope + (q * slope).sum(-1)[..., None] * q
    return Rates(times(left(q), x), -times(barred(p), x) + rest)


def weight_gradient(q: ArrayLike, force: ArrayLike, point: ArrayLike) -> Vec:
    """The gradient (..., 4), J, at any q (..., 4) of V(q) = -f . R(q) u with R(q) of [BS09] (8), quadratic in q.

    Parameters
    ----------
    q : (..., 4) array_like
    force : (3,) array_like
        f, constant in space, N; for a weight the mass times gravity.
    point : (3,) array_like
        u, its point of application, in the body's frame, m.
    """
    (q,) = quaternions("weight_gradient", q=q)
    f = _check.vector("weight_gradient", "force", force)
    u = _check.vector("weight_gradient", "point", point)
    # f . (q u conj(q)) as a quadratic form, with f q = Q_l(f) q and q u = Q_r(u) q
    A = transposed(left(np.array([0.0, *f]))) @ right(np.array([0.0, *u]))
    return -2.0 * times(A, q)  # A is symmetric, because both factors commute


def barred(q: Vec) -> Mat:
    """[q, -G(q)^T] of [BS09] (49) and Appendix D."""
    out: Mat = left(q) * np.array([1.0, -1.0, -1.0, -1.0])
    return out
