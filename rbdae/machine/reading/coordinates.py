"""Coordinates of pairs of bodies, with rates and accelerations, from rows of Z (`rbdae.quantities.coordinate`).

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
    m: int, first: int, total: int, n: int, width: int, seconds: int, heads: Ints, at: Ints, c: Vec, Z: Vec, A: Vec,
    out: Vec, second: Vec,
) -> None:  # fmt: skip
    """out (n, 2, total): rows from `first` on get s and sdot of n coordinates. If `seconds` is 1, `second` (n, total)
    gets sddot: rows of A have xddot and dddot where those of Z have x and d. `at` (entries, 2) has the places in a row
    of u and v, -1 for 1."""
    for i in range(m):
        z = Z[i * width :]
        a = A[i * width :]
        for k in range(n):
            h = heads[HEAD * k :]
            q0 = 0.0
            q1 = 0.0
            r0 = 0.0
            r1 = 0.0
            b0 = 0.0
            b1 = 0.0
            for e in range(h[1], h[3]):
                p = at[2 * e]
                o = at[2 * e + 1]
                u = z[p] if p >= 0 else 1.0
                v = z[o] if o >= 0 else 1.0
                ud = z[p + 12] if p >= 0 else 0.0
                vd = z[o + 12] if o >= 0 else 0.0
                udd = a[p] if p >= 0 and seconds == 1 else 0.0
                vdd = a[o] if o >= 0 and seconds == 1 else 0.0
                q = c[e] * (u * v)
                r = c[e] * (ud * v + u * vd)
                b = c[e] * (udd * v + 2.0 * (ud * vd) + u * vdd)
                if e < h[2]:
                    q0 += q
                    r0 += r
                    b0 += b
                else:
                    q1 += q
                    r1 += r
                    b1 += b
            s = q0
            rate = r0
            acceleration = b0
            if h[0] == ROOT:
                s = sqrt(q0)
                rate = 0.5 * r0 / s
                acceleration = (0.5 * b0 - rate * rate) / s
            if h[0] == ANGLE:
                d = q0 * q0 + q1 * q1
                s = atan2(q0, q1)
                rate = (q1 * r0 - q0 * r1) / d
                acceleration = (q1 * b0 - q0 * b1 - 2.0 * rate * (q0 * r0 + q1 * r1)) / d
            out[(2 * k) * total + first + i] = s
            out[(2 * k + 1) * total + first + i] = rate
            if seconds == 1:
                second[k * total + first + i] = acceleration


__all__ = ["ANGLE", "HEAD", "IDENTITY", "ROOT", "coordinates"]
