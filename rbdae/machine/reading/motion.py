"""Points and angular velocities of one body from rows of Z. The body's numbers begin at `at` in a row."""

from __future__ import annotations

from rbdae.machine.native.words import Vec


def points(m: int, width: int, x_at: int, d_at: int, arm: Vec, Z: Vec, out: Vec) -> None:
    """out (m, 3) = x + sum_i arm_i d_i, from rows of `width` numbers in which x and the three d begin at these places:
    positions, or with xdot and ddot velocities."""
    for i in range(m):
        x = Z[i * width + x_at :]
        d = Z[i * width + d_at :]
        for k in range(3):
            out[3 * i + k] = x[k] + (arm[0] * d[k] + arm[1] * d[3 + k] + arm[2] * d[6 + k])


def frames(m: int, width: int, d_at: int, axes: Vec, Z: Vec, out: Vec) -> None:
    """out (m, 3, 3) = R A, with the matrix A of nine numbers `axes`; the columns of R are d."""
    for i in range(m):
        d = Z[i * width + d_at :]
        for j in range(3):
            for k in range(3):
                out[9 * i + 3 * j + k] = d[j] * axes[k] + d[3 + j] * axes[3 + k] + d[6 + j] * axes[6 + k]


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


def angular_velocities(m: int, width: int, at: int, Z: Vec, w: Vec, out: Vec) -> None:
    """out (m, 3) = Omega of the body whose numbers begin at `at`; `w` is memory for 12 numbers."""
    for i in range(m):
        det = turning(Z[i * width + at :], w)
        for k in range(3):
            out[3 * i + k] = w[k] + 0.0 * det
