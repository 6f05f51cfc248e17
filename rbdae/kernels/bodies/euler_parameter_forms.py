"""The forms of [SNS15]: other gyroscopic terms and generalised forces of bodies with quaternion rates.

With L w = vect(conj(p) o w), L^T L = |p|^2 I - p p^T and the natural force fd on the directors, the dynamics are

    4 p o I (conj(p) o pddot) = gyroscopic + Q - W la - p la_norm

    gyroscopic: third order     g = 8 pdot o I (conj(pdot) o p)    (29), [NS] (33)
                fifth order     L^T L g                            (23)
    Q:          homogeneous     Dphi(p)^T fd                       2 H^T G^T f of (69), (75); linear in p
                moment          2 L^T n = L^T L Dphi(p)^T fd       (43), (59); cubic in p
                inhomogeneous   Dphi(p)^T fd + 2 p tr F            (62); F = [fd_1 fd_2 fd_3]

and W has the same Q of the joints' natural forces. The projected form (25) is L times (23) over |p|^2,

    4 J L pddot = L (g + Dphi(p)^T fd),

in which L Dphi(p)^T = 2 T_d(phi(p))^T for every p.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array
from rbdae.kernels.bodies.velocities import extended, gyroscopic
from rbdae.rotations.vectors import conjugate, euler_pull_back, frame, product


def _onto_tangents(p: Array, f: Array) -> Array:
    """L^T L f = |p|^2 f - p (p . f)."""
    return f * (p @ p) - p * (p @ f)


def generalised_force(form: str, p: Array, F: Array) -> Array:
    """Q of a force F = [fd_1 fd_2 fd_3] on the directors."""
    Q = euler_pull_back(p, F)
    if form == "moment":
        return _onto_tangents(p, Q)
    return Q + p * (2.0 * np.trace(F)) if form == "inhomogeneous" else Q


def gyroscopic_force(o: Any, s: Any, form: str) -> Array:
    """The gyroscopic term."""
    g = gyroscopic(o, s)
    return _onto_tangents(s.a[:4], g) if form == "fifth-order" else g


def projected_residual(o: Any, s: Any, level: int) -> Array:
    """4 J L pddot - L (g + Dphi^T fd), (25), and the unit norm at the level of velocities (1) or accelerations (2)."""
    p, w, wd = s.a[:4], s.w[:4], s.wd[:4]
    L, Lw = conjugate(p), conjugate(w)
    f = euler_pull_back(p, frame(s.fd)) + 8.0 * product(w, extended(0.0, o.inertia, product(Lw, p)))
    balance = 4.0 * extended(0.0, o.inertia, product(L, wd)) - product(L, f)
    return np.array([*balance[1:], p @ w if level == 1 else p @ wd + w @ w])
