"""Points, frames and angular velocities of bodies from rows of Z."""

from __future__ import annotations

from math import copysign, nan, sqrt

from rbdae.machine.language.words import Ints, Vec


def points(
    m: int, first: int, total: int, n: int, width: int, places: Ints, x_at: int, d_at: int, arms: Vec, Z: Vec, out: Vec
) -> None:
    """out (n, total, 3): rows from `first` on get x + sum_i arm_i d_i of n bodies, whose 24 numbers have these places
    in rows of `width` numbers; x and the three d begin at x_at and d_at among them: positions, or with xdot and ddot
    velocities."""
    for b in range(n):
        u = arms[3 * b :]
        into = out[3 * (total * b + first) :]
        moved = u[0] != 0.0 or u[1] != 0.0 or u[2] != 0.0
        for i in range(m):
            z = Z[i * width + 24 * places[b] :]
            x = z[x_at:]
            d = z[d_at:]
            for k in range(3):
                if moved:
                    into[3 * i + k] = x[k] + (u[0] * d[k] + u[1] * d[3 + k] + u[2] * d[6 + k])
                else:
                    into[3 * i + k] = x[k]


def dot(a: Vec, b: Vec) -> float:
    """a . b of vectors in space."""
    return float(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def cross(a: Vec, b: Vec, out: Vec) -> None:
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


def turning(z: Vec, w: Vec) -> float:
    """w[:3] = Omega, the axial vector of W = R^-1 Rdot, and w[3] = tr W, from the 24 numbers z of a body; det R. `w`
    has memory for 12 numbers.

    With the inverse, not the transpose: then the angular velocity is the unknown Omega also where the frame has drifted
    from an orthonormal one (R^T Rdot is off by the fourth power of a quaternion's norm). The rows of det R R^-1 are
    d2 x d3, d3 x d1, d1 x d2.
    """
    d1 = z[3:]
    d2 = z[6:]
    d3 = z[9:]
    e1 = w[3:]
    e2 = w[6:]
    e3 = w[9:]
    cross(d2, d3, e1)
    cross(d3, d1, e2)
    cross(d1, d2, e3)
    det = dot(e1, d1)
    r1 = z[15:]
    r2 = z[18:]
    r3 = z[21:]
    trace = dot(e1, r1) + dot(e2, r2) + dot(e3, r3)
    w[0] = 0.5 * (dot(e3, r2) - dot(e2, r3)) / det
    w[1] = 0.5 * (dot(e1, r3) - dot(e3, r1)) / det
    w[2] = 0.5 * (dot(e2, r1) - dot(e1, r2)) / det
    w[3] = trace / det
    return det


def angular_velocities(
    m: int, first: int, total: int, n: int, width: int, places: Ints, Z: Vec, w: Vec, out: Vec
) -> None:
    """out (n, total, 3): rows from `first` on get Omega of n bodies; `w` is memory for 12 numbers."""
    for b in range(n):
        into = out[3 * (total * b + first) :]
        for i in range(m):
            det = turning(Z[i * width + 24 * places[b] :], w)
            for k in range(3):
                into[3 * i + k] = w[k] + 0.0 * det


STRAIGHT = 1e-12
"""Largest entry of R^T R / s^2 - I, with s^3 = det R, up to which R is a rotation times a number."""


def quaternions(m: int, width: int, at: int, Z: Vec, out: Vec) -> int:
    """out (m, 4) = unit quaternions, the scalar part last, of the frame that begins at `at` in each row; NaN where it
    is no rotation times a number, and how many rows are so. Shepperd's formulas, with the largest of the four squares;
    of equal ones the first, as in SciPy."""
    bad = 0
    for i in range(m):
        d1 = Z[i * width + at :]
        d2 = Z[i * width + at + 3 :]
        d3 = Z[i * width + at + 6 :]
        q = out[4 * i :]
        cross(d2, d3, q)
        det = dot(q, d1)
        s = copysign(abs(det) ** (1.0 / 3.0), det)
        square = s * s
        off = max(abs(dot(d1, d2)), abs(dot(d2, d3)), abs(dot(d3, d1)))
        size = max(abs(dot(d1, d1) - square), abs(dot(d2, d2) - square), abs(dot(d3, d3) - square))
        if not (s > 0.0 and max(off, size) <= STRAIGHT * square):
            bad += 1
            for k in range(4):
                q[k] = nan
            continue
        a = d1[0]
        b = d2[1]
        c = d3[2]
        trace = a + b + c
        most = max(a, b, c, trace)
        if a >= most:
            q[0] = s - trace + 2.0 * a
            q[1] = d1[1] + d2[0]
            q[2] = d1[2] + d3[0]
            q[3] = d2[2] - d3[1]
        elif b >= most:
            q[0] = d1[1] + d2[0]
            q[1] = s - trace + 2.0 * b
            q[2] = d2[2] + d3[1]
            q[3] = d3[0] - d1[2]
        elif c >= most:
            q[0] = d1[2] + d3[0]
            q[1] = d2[2] + d3[1]
            q[2] = s - trace + 2.0 * c
            q[3] = d1[1] - d2[0]
        else:
            q[0] = d2[2] - d3[1]
            q[1] = d3[0] - d1[2]
            q[2] = d1[1] - d2[0]
            q[3] = s + trace
        size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3])
        for k in range(4):
            q[k] = q[k] / size
    return bad
