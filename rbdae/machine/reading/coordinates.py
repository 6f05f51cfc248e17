"""Coordinates of pairs of bodies, with rates, from rows of Z (`rbdae.quantities.coordinate`).

The forms of a coordinate are sums of entries c u v, where u and v are numbers of a row or 1: of a form the bodies that
do not move are in c.
"""

from __future__ import annotations

from math import atan2, sqrt

from rbdae.machine.language.words import Ints, Vec

IDENTITY, ROOT, ANGLE = range(3)
HEAD = 4
"""Whole numbers of a coordinate: its shape, its first entry, the first one of its second form, the one after its last.
"""


def coordinates(
    m: int, first: int, total: int, n: int, width: int, heads: Ints, at: Ints, c: Vec, Z: Vec, out: Vec
) -> None:
    """out (n, 2, total): rows from `first` on get s and sdot of n coordinates. `at` (entries, 2) has the places in rows
    of u and v, -1 for 1."""
    for i in range(m):
        z = Z[i * width :]
        for k in range(n):
            h = heads[HEAD * k :]
            q0 = 0.0
            q1 = 0.0
            r0 = 0.0
            r1 = 0.0
            for e in range(h[1], h[3]):
                p = at[2 * e]
                o = at[2 * e + 1]
                u = z[p] if p >= 0 else 1.0
                v = z[o] if o >= 0 else 1.0
                ud = z[p + 12] if p >= 0 else 0.0
                vd = z[o + 12] if o >= 0 else 0.0
                q = c[e] * (u * v)
                r = c[e] * (ud * v + u * vd)
                if e < h[2]:
                    q0 += q
                    r0 += r
                else:
                    q1 += q
                    r1 += r
            s = q0
            rate = r0
            if h[0] == ROOT:
                s = sqrt(q0)
                rate = 0.5 * r0 / s
            if h[0] == ANGLE:
                s = atan2(q0, q1)
                rate = (q1 * r0 - q0 * r1) / (q0 * q0 + q1 * q1)
            out[(2 * k) * total + first + i] = s
            out[(2 * k + 1) * total + first + i] = rate
