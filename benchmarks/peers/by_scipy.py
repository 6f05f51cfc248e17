"""scipy with the right-hand sides as one would write them in NumPy, and compiled by numba."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp
from scipy.linalg import solveh_banded

from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism, written
from .method import Method, Peer

Rhs = Callable[[float, Array], Array]


def rotation(p: Array) -> Array:
    """R(p), (..., 3, 3) from (..., 4) Euler parameters."""
    p0, p1, p2, p3 = np.moveaxis(p, -1, 0)
    R = np.empty((*p.shape[:-1], 3, 3), p.dtype)
    R[..., 0, 0] = p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3
    R[..., 0, 1] = 2.0 * (p1 * p2 - p0 * p3)
    R[..., 0, 2] = 2.0 * (p1 * p3 + p0 * p2)
    R[..., 1, 0] = 2.0 * (p1 * p2 + p0 * p3)
    R[..., 1, 1] = p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3
    R[..., 1, 2] = 2.0 * (p2 * p3 - p0 * p1)
    R[..., 2, 0] = 2.0 * (p1 * p3 - p0 * p2)
    R[..., 2, 1] = 2.0 * (p2 * p3 + p0 * p1)
    R[..., 2, 2] = p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3
    return R


def rate(p: Array, om: Array) -> Array:
    """pdot = p o (0, Omega) / 2, for stacks."""
    pd = np.empty_like(p)
    pd[..., 0] = -0.5 * np.sum(p[..., 1:] * om, axis=-1)
    pd[..., 1:] = 0.5 * (p[..., :1] * om + np.cross(p[..., 1:], om))
    return pd


def skew(a: Array) -> Array:
    """[a x]"""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def heavy_top(m: HeavyTop) -> Rhs:
    """Euler's equations."""
    J, torque = m.inertia, m.mass * m.gravity * m.length

    def rhs(t: float, y: Array) -> Array:
        p, om = y[:4], y[4:]
        w = rotation(p)[2]
        return np.concatenate((rate(p, om), (np.cross(J * om, om) + torque * np.array((w[1], -w[0], 0.0))) / J))

    return rhs


def linked_bodies(m: LinkedBodies, solve: Callable[[Any, Any], Any] = np.linalg.solve) -> Rhs:
    """The joint's force from a system of three equations."""
    J, rho, masses = np.array(m.inertias), np.array(m.points), m.masses
    across = np.array([skew(r) for r in rho])
    share = (1.0 / masses[0] + 1.0 / masses[1]) * np.eye(3)

    def rhs(t: float, y: Array) -> Array:
        q, v = y[:14].reshape(2, 7), y[14:].reshape(2, 6)
        p, om = q[:, 3:], v[:, 3:]
        R = rotation(p)
        Z = R @ across
        free = np.cross(J * om, om) / J
        point = (R @ (np.cross(om, np.cross(om, rho)) + np.cross(free, rho))[..., None])[..., 0]
        held = -m.stiffness / masses[0] * q[0, :3]
        S = share + np.sum(Z / J[:, None, :] @ Z.transpose(0, 2, 1), axis=0)
        la = solve(S, held + point[0] - point[1])
        rates = np.empty_like(q)
        rates[:, :3], rates[:, 3:] = v[:, :3], rate(p, om)
        spin = free + (la @ Z) / J * np.array(((1.0,), (-1.0,)))
        return np.concatenate((rates.ravel(), held - la / masses[0], spin[0], la / masses[1], spin[1]))

    return rhs


def chain(m: Chain) -> Rhs:
    """The joints' forces from a banded system."""
    n, half, J, share = m.n, 0.5 * m.length, m.inertia, 1.0 / m.mass
    weight = np.array((0.0, 0.0, -m.gravity))
    columns = np.arange(3)

    def rhs(t: float, y: Array) -> Array:
        q, v = y[: 7 * n].reshape(n, 7), y[7 * n :].reshape(n, 6)
        p, om = q[:, 3:], v[:, 3:]
        R = rotation(p)
        Z = np.zeros((n, 3, 3))  # R [a e1 x]
        Z[:, :, 1], Z[:, :, 2] = half * R[:, :, 2], -half * R[:, :, 1]
        free = np.cross(J * om, om) / J
        w = half * np.stack(
            (-(om[:, 1] ** 2 + om[:, 2] ** 2), free[:, 2] + om[:, 0] * om[:, 1], om[:, 0] * om[:, 2] - free[:, 1])
        )
        end = np.einsum("kij,jk->ki", R, w)
        P = Z / J @ Z.transpose(0, 2, 1)
        own = P + share * np.eye(3)
        diagonal, beside = own.copy(), P - share * np.eye(3)
        diagonal[1:] += own[:-1]
        gamma = end.copy()
        gamma[1:] += end[:-1]
        gamma[0] -= weight
        band = np.zeros((6, n, 3))  # lower form: band[i - j, j]
        for j in columns:
            for i in range(j, 3):
                band[i - j, :, j] = diagonal[:, i, j]
            for i in range(3):
                band[3 + i - j, :-1, j] = beside[:-1, i, j]
        la = solveh_banded(band.reshape(6, 3 * n), gamma.ravel(), lower=True, check_finite=False).reshape(n, 3)
        after = np.zeros((n, 3))
        after[:-1] = la[1:]
        rates, accelerations = np.empty((n, 7)), np.empty((n, 6))
        rates[:, :3], rates[:, 3:] = v[:, :3], rate(p, om)
        accelerations[:, :3] = share * (la - after) + weight
        accelerations[:, 3:] = free + np.einsum("kij,ki->kj", Z, la + after) / J
        return np.concatenate((rates.ravel(), accelerations.ravel()))

    return rhs


def rhs_of(mechanism: Mechanism) -> Rhs:
    """The right-hand side in NumPy."""
    return written(mechanism, heavy_top, linked_bodies, chain)


def integrated(rhs: Rhs, mechanism: Mechanism, name: str, tolerance: float) -> Callable[[], Any]:
    """A run of `solve_ivp`; it returns the unknowns at the end."""

    def run() -> Array:
        found = solve_ivp(
            rhs,
            (0.0, mechanism.t_end),
            mechanism.y0,
            method=name,
            rtol=tolerance,
            atol=tolerance,
            t_eval=[mechanism.t_end],
        )
        if not found.success:
            raise ArithmeticError(found.message)
        return np.array(found.y[:, -1])

    return run


def methods_with(rhs: Rhs, mechanism: Mechanism) -> list[Method]:
    """DOP853, and LSODA where its full Jacobian by differences is small."""
    names = ("DOP853",) if isinstance(mechanism, Chain) and mechanism.n > 10 else ("DOP853", "LSODA")
    return [Method(name, functools.partial(integrated, rhs, mechanism, name), mechanism.centres) for name in names]


def methods(mechanism: Mechanism) -> list[Method]:
    """With NumPy."""
    return methods_with(rhs_of(mechanism), mechanism)


PEER = Peer("scipy, NumPy right-hand side", methods, packages=("scipy", "numpy"))
