"""The gradients of the primitive constraints with respect to (xdot, w) of their bodies, along the velocity basis
D = d(ddot)/dw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.directors import DIRECTORS


def moving_sides(m: Memory, p: Array) -> Iterator[tuple[int, int, Any]]:
    """Side, number and record of the bodies of a primitive that are not fixed."""
    for side, b in enumerate(p.body):
        if m.bodies[b].fixed == 0:
            yield side, b, m.bodies[b]


def gradients(m: Memory, *, dropped: bool = False) -> None:
    """Gx and Gw of both sides of each primitive, 0 in dropped rows unless `dropped`. Reads P, Q and the B of bodies."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        keep = np.array(p.keep[: p.n])[:, None]
        for side, b, o in moving_sides(m, p):
            D = np.eye(9) if m.head.kind == DIRECTOR_RATE else m.states[b].B[:, : o.nr]
            for out, G in zip((r.Gx, r.Gw), gradient(p, r, side, D), strict=True):
                out[side, : p.n, : G.shape[1]] = G if dropped else G * keep


def twist_gradients(m: Memory) -> None:
    """G with respect to (xdot, Omega), whatever the velocities of the formulation are, dropped rows included. Reads P,
    Q and the directors; writes as `gradients` does."""
    for p, r in zip(m.primitives, m.rows, strict=True):
        for side, b, _ in moving_sides(m, p):
            found = gradient(p, r, side, DIRECTORS.kinematics(m.states[b].d))
            for out, G in zip((r.Gx, r.Gw), found, strict=True):
                out[side, : p.n, : G.shape[1]] = G


def gradient(p: Array, r: Array, side: int, D: Array) -> tuple[Array, Array]:
    """Gx and Gw of one side of a primitive: A and dP, or scale (Q^T dP + P^T dQ), or F . dZ."""
    if p.law != 0:
        return r.F[4 * side][None], (r.F[4 * side + 1 : 4 * side + 4].ravel() @ D)[None]
    A, B, dP = p.A[4 * side], p.B[4 * side], _along(p.A, side, D)
    if p.linear == 1:
        return np.eye(3) * A, dP
    return (r.Q * A + r.P * B)[None] * p.scale, ((r.Q @ dP + r.P @ _along(p.B, side, D)) * p.scale)[None]


def _along(c: Array, side: int, D: Array) -> Array:
    """sum_i c_i D[3 i:3 i + 3] over the directors of one side, (3, n): rates of c Z along the columns of D (9, n)."""
    return (c[4 * side + 1 : 4 * side + 4] @ D.reshape(3, -1)).reshape(3, -1)


def velocities_at(o: Any) -> slice:
    """The places of (xdot, w) of a body among all velocities."""
    return slice(o.iv, o.iv + o.nt + o.nr)


def side_rows(r: Array, side: int, n: int, o: Any) -> Array:
    """[Gx Gw] of n rows of one side, along the velocities of its body."""
    return np.hstack([r.Gx[side, :n, : o.nt], r.Gw[side, :n, : o.nr]])
