"""Accelerations of bodies with quaternion rates where |p| = 1 is taken for granted.

Euler's equations give the material angular acceleration, which is mapped back. With conj(p) o pdot = (W0, W), the
inertia I = diag(J0, J) and the moment n about the body's axes,

    pddot = -(pdot . pdot) p + p o (0, b),
    b     = J^-1 n / 2 - 2 J^-1 (W x J W) - 2 W0 W + 2 J0 W0 J^-1 W.

On the unit sphere that is [NS] (40) for every pdot, W0 = p . pdot = 0 or not. Off the sphere it is another
continuation: p . pddot + pdot . pdot = (pdot . pdot) (1 - |p|^2), so that |p| swings about 1 where (40) lets it drift.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.rotations.vectors import axial, conjugate, frame, product, pure


def free_accelerations(m: Memory, *, moved: bool = True) -> None:
    """Accelerations of all bodies without joints to `solution`, or only what natural forces do to them. Reads d, fd,
    `right_hand_side` (of xdot) and `constraint_side`."""
    f, vd, side = m.right_hand_side, m.solution, m.constraint_side
    for o, s in zip(m.bodies[:-1], m.states[:-1], strict=True):
        i = o.iv + o.nt
        vd[o.iv : i] = f[o.iv : i] / o.mass
        vd[i : i + 4] = s.a[:4] * side[o.il] if moved else 0.0
        b = _half_rate(o, s) if moved else _half_moment(o, s)
        vd[i : i + 4] += product(s.a[:4], pure(b))


def _half_moment(o: Array, s: Array) -> Array:
    return (o.inertia_inverse * 0.5) @ axial(frame(s.d).T @ frame(s.fd))


def _half_rate(o: Array, s: Array) -> Array:
    """b of one body. J^-1 (W x J W) is linear in products of two of W, by numbers of the model: in principal axes three
    are not 0, half of the operations."""
    J, Ji = o.inertia, o.inertia_inverse
    w0, x, y, z = product(conjugate(s.a), s.w[:4])
    cross = np.array(
        [
            [J[2, 2] - J[1, 1], -J[0, 1], J[0, 2], 0.0, J[1, 2], -J[1, 2]],
            [J[0, 1], J[0, 0] - J[2, 2], -J[1, 2], -J[0, 2], 0.0, J[0, 2]],
            [-J[0, 2], J[1, 2], J[1, 1] - J[0, 0], J[0, 1], -J[0, 1], 0.0],
        ]
    )
    W = np.array([x, y, z])
    products = np.array([y * z, z * x, x * y, x * x, y * y, z * z])
    turned = (Ji @ cross * -2.0) @ products - W * (2.0 * w0)
    return turned + (Ji @ W) * (2.0 * o.radial * w0) + _half_moment(o, s)


def balance(m: Memory, out: Array, row: int) -> None:
    """The equations that these accelerations solve. out[row:]: the dynamics, for the rotation J (w' / 2 - b) and a 0;
    the unit norm divided by |p|^2 at its place among the constraints. Reads the natural forces, which contain those of
    the joints."""
    for o, s in zip(m.bodies[:-1], m.states[:-1], strict=True):
        i = row + o.iv + o.nt
        out[row + o.iv : i] = (s.xdd * o.mass - s.fx)[: o.nt]
        n = 1.0 / (s.a[:4] @ s.a[:4])
        along, *across = product(conjugate(s.a), s.wd[:4]) * n
        out[row + m.head.n_v + o.il] = along + s.w[:4] @ s.w[:4]
        out[i : i + 3] = (o.inertia * 2.0) @ (np.array(across) - _half_rate(o, s))
        out[i + 3] = 0.0
