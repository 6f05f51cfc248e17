"""What depends on the kind of the rotational velocity w of a body: motion of the directors, mass, forces.

* ANGULAR: w = Omega, the material angular velocity; [NS] (2), (24);
* QUATERNION_RATE: w = pdot; [NS] (33), (48);
* DIRECTOR_RATE: w = ddot; [NS] (18).

With momenta p = dT/dw, [BS09] (36), (39). Numbers of the body are those of a record o, a state is a record s.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.directors import DIRECTORS
from rbdae.rotations.vectors import (
    axial,
    conjugate,
    euler_differential,
    euler_map,
    euler_pull_back,
    frame,
    product,
    stacked,
)


def basis(kind: int, s: Any) -> Array:
    """B = d(ddot)/dw, (9, n), of ANGULAR T_d(d), [NS] (24), of QUATERNION_RATE Dphi(p), (48)."""
    return DIRECTORS.kinematics(s.d) if kind == ANGULAR else euler_differential(s.a)


def natural_velocity(kind: int, s: Any, w: Array) -> Array:
    """ddot = B w."""
    if kind == ANGULAR:
        return DIRECTORS.rate(s.d, w)
    return euler_differential(s.a) @ w[:4] if kind == QUATERNION_RATE else w


def natural_acceleration(kind: int, s: Any) -> Array:
    """dddot = B wdot + Bdot w. phi is quadratic: its second rate is 2 phi(pdot)."""
    if kind == ANGULAR:
        return DIRECTORS.rate(s.d, s.wd) + DIRECTORS.rate(s.dd, s.w)
    if kind == QUATERNION_RATE:
        return natural_velocity(kind, s, s.wd) + 2.0 * stacked(euler_map(s.w[:4]))
    return s.wd


def pulled_back(kind: int, s: Any, f: Array) -> Array:
    """B^T f of forces f on the directors."""
    if kind == ANGULAR:
        return axial(frame(s.d).T @ frame(f))
    return euler_pull_back(s.a[:4], frame(f)) if kind == QUATERNION_RATE else f


def mass(kind: int, o: Any, s: Any, v: Array) -> Array:
    """M v: J v, 4 p o I (conj(p) o v), or E v on each component of the directors."""
    if kind == ANGULAR:
        return o.inertia @ v[:3]
    if kind == QUATERNION_RATE:
        return 4.0 * product(s.a[:4], extended(o.radial, o.inertia, product(conjugate(s.a), v[:4])))
    return stacked(frame(v) @ o.euler)


def gyroscopic(o: Any, s: Any) -> Array:
    """8 pdot o I (conj(pdot) o p), [NS] (33)."""
    w = s.w[:4]
    return 8.0 * product(w, extended(o.radial, o.inertia, product(conjugate(w), s.a[:4])))


def turning(o: Any, s: Any) -> Array:
    """J Omega x Omega, [NS] (2)."""
    w = s.w[:3]
    return -cross(w, o.inertia @ w)


def extended(radial: Any, J: Array, x: Array) -> Array:
    """diag(radial, J) x, the extended inertia times a quaternion."""
    return np.array([x[0] * radial, *(J @ x[1:])])


# ---------------------------------------------------------------- momenta


def velocity_of_momentum(kind: int, o: Any, s: Any) -> Array:
    """w = dT/dp: q o I^-1 (conj(q) o p) / 4, or E^-1 p."""
    if kind == QUATERNION_RATE:
        q = s.a[:4]
        return 0.25 * product(q, _unextended(o, product(conjugate(q), s.p[:4])))
    return stacked(frame(s.p) @ o.euler_inverse)


def acceleration_of_momentum(kind: int, o: Any, s: Any) -> Array:
    """wdot: [w o I^-1 (conj(q) o p) + q o I^-1 (conj(w) o p + conj(q) o pdot)] / 4, or E^-1 pdot."""
    if kind == QUATERNION_RATE:
        q, w, p = s.a[:4], s.w[:4], s.p[:4]
        inner = product(conjugate(w), p) + product(conjugate(q), s.pd[:4])
        return 0.25 * product(w, _unextended(o, product(conjugate(q), p))) + 0.25 * product(q, _unextended(o, inner))
    return stacked(frame(s.pd) @ o.euler_inverse)


def momentum_force(o: Any, s: Any) -> Array:
    """-dT/dq = -p o I^-1 (conj(p) o q) / 4."""
    p = s.p[:4]
    return -0.25 * product(p, _unextended(o, product(conjugate(p), s.a[:4])))


def _unextended(o: Any, x: Array) -> Array:
    """I^-1 x."""
    return extended(1.0 / o.radial, o.inertia_inverse, x)
