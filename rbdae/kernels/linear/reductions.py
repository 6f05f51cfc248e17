"""A body's rotational velocities w without the internal constraints, and the way back: w = N beta + Pi s.

N beta (three numbers) respects the internal constraints, Pi s has the rates s of them; both are closed forms, exact for
any parameters, which no elimination of the graph finds:

* angular: nothing to split, N = I;
* quaternion: N = T_p(p), reduced mass |p|^4 J, Pi s = p s / |p|^2; [NS] (39), (40), here for every norm and radial
  inertia;
* directors: with Y of `rbdae.kernels.bodies.internal_constraints` and C = Y^-T, N beta = beta^ C, which respects Y Y^T,
  reduced mass tr(E') I - E' with E' = C E C^T, and Pi s = H C, H symmetric; no 15 x 15 factorisation, [NS] (23).
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.quaternion import QUATERNION
from rbdae.rotations.vectors import reciprocal

_BELOW = ([1, 2, 2], [0, 0, 1])
"""The places below the diagonal, in the order of the constraints."""


def mass_times(m: Memory, b: int, v: Array) -> Array:
    """M v for the rotational velocities of one body, v (nr,) or (nr, columns)."""
    if v.ndim == 2:
        return np.array([mass_times(m, b, column) for column in v.T]).reshape(v.T.shape).T
    out = np.zeros(len(v), dtype=m.states[b].a.dtype)
    apply_mass(m, b, v, out)
    return out


def reduction(m: Memory, b: int) -> tuple[Array, Array, Array]:
    """N (nr, 3), the reduced mass J = N^T M N (3, 3), and its inverse."""
    h, o, a = m.head, m.bodies[b], m.states[b].a
    if h.kind == ANGULAR:
        return np.eye(3), o.inertia, o.inertia_inverse
    if h.kind == QUATERNION_RATE:
        N, n = QUATERNION.kinematics(a[:4]), 1.0 if h.momenta == 1 else (a[:4] @ a[:4]) * (a[:4] @ a[:4])
        return N, o.inertia * n, o.inertia_inverse * (1.0 / n)
    C = _reciprocal(m, a)
    N = np.array([_matrix(m, np.cross(e, np.eye(3)).T @ C).ravel() for e in np.eye(3)]).T
    if h.columns == 1:
        mass = np.triu(N.T @ (o.euler @ N.reshape(3, 9)).reshape(9, 3))
        mass = mass + np.triu(mass, 1).T
    else:
        E = C @ o.euler @ C.T
        mass = np.eye(3) * np.trace(E) - E
    return N, mass, reciprocal(mass.T)


def particular(m: Memory, b: int, s: Array) -> Array:
    """Pi s (nr,), the velocities with G_int w = s (ni,) that the other ones leave; with momenta G_int pdot = s."""
    h, o, a = m.head, m.bodies[b], m.states[b].a
    if h.kind == QUATERNION_RATE:
        # of momenta the row is q . pdot = (4 J0 / |q|^2) q . w
        return a[:4] * (s[0] / (o.radial * 4.0) if h.momenta == 1 else s[0] / (a[:4] @ a[:4]))
    H = np.diag(s[:3])
    for i, j, t in zip(*_BELOW, s[3:] * 0.5, strict=True):
        H[i, j] = H[j, i] = t
    return _matrix(m, H @ _reciprocal(m, a)).ravel()


def internal_multipliers(m: Memory, b: int, F: Array) -> Array:
    """The multipliers (ni,) that balance the loads F (nr,): p . F / |p|^2, or the symmetric part of F Y^-1."""
    a = m.states[b].a
    if m.head.kind == QUATERNION_RATE:
        return np.array([a[:4] @ F / (a[:4] @ a[:4])])
    La = _matrix(m, F) @ _reciprocal(m, a).T
    return np.concatenate([np.diag(La), (La[_BELOW] + La.T[_BELOW]) * 0.5])


def _matrix(m: Memory, a: Array) -> Array:
    """Nine numbers of the directors as those of Y, the rows of R or its columns; or the way back."""
    return a.reshape(3, 3) if m.head.columns == 1 else a.reshape(3, 3).T


def _reciprocal(m: Memory, a: Array) -> Array:
    return reciprocal(_matrix(m, a))
