"""Bodies with the momentum that belongs to pdot: p = 4 Q J4 Q^T qdot, [BS09].

q is the quaternion, p its momentum, w = qdot.
"""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.memory import bodies, states
from rbdae.rotations.quaternion_algebra import (
    add_product,
    conjugate_product,
    extended,
)


def velocity(m: Memory, b: int) -> None:
    """w = q o J^-1 (conj(q) o p) / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.a, s.p, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    for k in range(4):
        s.w[k] = 0.0
    add_product(s.a, s.s, 0.25, s.w)


def acceleration(m: Memory, b: int) -> None:
    """wdot = [w o J^-1(conj(q) o p) + q o J^-1(conj(w) o p + conj(q) o pdot)] / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    conjugate_product(s.a, s.p, s.s)
    extended(r, o.inertia_inverse, s.s, s.s)
    for k in range(4):
        s.wd[k] = 0.0
    add_product(s.w, s.s, 0.25, s.wd)
    conjugate_product(s.w, s.p, s.s)
    conjugate_product(s.a, s.pd, s.t)
    for k in range(4):
        s.s[k] += s.t[k]
    extended(r, o.inertia_inverse, s.s, s.s)
    add_product(s.a, s.s, 0.25, s.wd)


def add_forces(m: Memory, b: int) -> None:
    """t -= dT/dq = p o J^-1 (conj(p) o q) / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.p, s.a, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    add_product(s.p, s.s, -0.25, s.t)
