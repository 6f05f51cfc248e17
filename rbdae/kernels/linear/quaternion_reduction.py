"""A body with quaternion rates: its velocities without the internal constraint, and the way back.

See `rbdae.kernels.linear.saddle`.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.memory import bodies, head, states
from rbdae.rotations.quaternion_algebra import quaternion_tangents


def reduce(m: Memory, b: int) -> None:
    """N = T_p(p) and Ji = J^-1 / |p|^4, or J^-1 with momenta."""
    o = bodies(m)[b]
    s = states(m)[b]
    quaternion_tangents(s.a, s.N)
    t = 1.0 + 0.0 * s.a[0]
    if head(m).momenta == 0:
        t = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 1.0 / (t * t)
    for i in range(3):
        for j in range(3):
            s.Ji[i, j] = t * o.inertia_inverse[i, j]


def particular(m: Memory, b: int, s_int: Array, il: int, out: Array) -> None:
    """out = p s / |p|^2, or with momenta p s / (4 J0)."""
    s = states(m)[b]
    n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
    t = s_int[il] / n
    if head(m).momenta == 1:
        # the row is q . pdot = (4 J0 / |q|^2) q . w
        t *= n / (4.0 * bodies(m)[b].radial)
    for k in range(4):
        out[k] = t * s.a[k]
