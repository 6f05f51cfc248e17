"""diffrax: right-hand sides in JAX, `diffeqsolve` as one compiled function, in double precision on the processor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism, written
from .method import PIP, Method, Peer, needed

MOST_STEPS = 100_000


def rotation(p: Any) -> Any:
    """R(p), (..., 3, 3) from (..., 4) Euler parameters."""
    import jax.numpy as jnp

    p0, p1, p2, p3 = (p[..., k] for k in range(4))
    rows = (
        (p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3, 2 * (p1 * p2 - p0 * p3), 2 * (p1 * p3 + p0 * p2)),
        (2 * (p1 * p2 + p0 * p3), p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3, 2 * (p2 * p3 - p0 * p1)),
        (2 * (p1 * p3 - p0 * p2), 2 * (p2 * p3 + p0 * p1), p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3),
    )
    return jnp.stack([jnp.stack(row, -1) for row in rows], -2)


def rate(p: Any, om: Any) -> Any:
    """pdot = p o (0, Omega) / 2, for stacks."""
    import jax.numpy as jnp

    u = p[..., 1:]
    scalar = -jnp.sum(u * om, -1, keepdims=True)
    return 0.5 * jnp.concatenate((scalar, p[..., :1] * om + jnp.cross(u, om)), -1)


def skew(a: Array) -> Array:
    """[a x]"""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


def inverse(S: Any) -> Any:
    """Of a symmetric 3 x 3 matrix, by its adjoint: faster here than LAPACK."""
    import jax.numpy as jnp

    a, b, c, d, e, f = S[0, 0], S[1, 0], S[1, 1], S[2, 0], S[2, 1], S[2, 2]
    A = (c * f - e * e, e * d - b * f, a * f - d * d, b * e - c * d, b * d - a * e, a * c - b * b)
    return jnp.array(((A[0], A[1], A[3]), (A[1], A[2], A[4]), (A[3], A[4], A[5]))) / (a * A[0] + b * A[1] + d * A[3])


def heavy_top(m: HeavyTop) -> Callable[..., Any]:
    """Euler's equations."""
    import jax.numpy as jnp

    J, torque = m.inertia, m.mass * m.gravity * m.length

    def rhs(t: Any, y: Any, args: Any) -> Any:
        p, om = y[:4], y[4:]
        w = rotation(p)[2]
        moment = jnp.cross(J * om, om) + torque * jnp.stack((w[1], -w[0], jnp.zeros_like(w[0])))
        return jnp.concatenate((rate(p, om), moment / J))

    return rhs


def linked_bodies(m: LinkedBodies) -> Callable[..., Any]:
    """The joint's force from a system of three equations."""
    import jax.numpy as jnp

    J, rho, masses = np.array(m.inertias), np.array(m.points), m.masses
    across = np.array([skew(r) for r in rho])

    def rhs(t: Any, y: Any, args: Any) -> Any:
        q, v = y[:14].reshape(2, 7), y[14:].reshape(2, 6)
        p, om = q[:, 3:], v[:, 3:]
        R = rotation(p)
        Z = R @ across
        free = jnp.cross(J * om, om) / J
        point = jnp.einsum("bij,bj->bi", R, jnp.cross(om, jnp.cross(om, rho)) + jnp.cross(free, rho))
        held = -m.stiffness / masses[0] * q[0, :3]
        S = (1.0 / masses[0] + 1.0 / masses[1]) * np.eye(3) + jnp.einsum("bik,bk,bjk->ij", Z, 1.0 / J, Z)
        la = inverse(S) @ (held + point[0] - point[1])
        spin = free + jnp.einsum("i,bij->bj", la, Z) / J * np.array(((1.0,), (-1.0,)))
        rates = jnp.concatenate((v[:, :3], rate(p, om)), 1)
        return jnp.concatenate((rates.ravel(), held - la / masses[0], spin[0], la / masses[1], spin[1]))

    return rhs


def chain(m: Chain) -> Callable[..., Any]:
    """The joints' forces from a block-tridiagonal system, eliminated from the tip to the ground by scans."""
    import jax
    import jax.numpy as jnp

    n, share, J = m.n, 1.0 / m.mass, m.inertia
    arm = np.array((0.5 * m.length, 0.0, 0.0))
    across, weight = skew(arm), np.array((0.0, 0.0, -m.gravity))

    def rhs(t: Any, y: Any, args: Any) -> Any:
        q, v = y[: 7 * n].reshape(n, 7), y[7 * n :].reshape(n, 6)
        p, om = q[:, 3:], v[:, 3:]
        R = rotation(p)
        Z = R @ across
        free = jnp.cross(J * om, om) / J
        end = jnp.einsum("kij,kj->ki", R, jnp.cross(om, jnp.cross(om, arm)) + jnp.cross(free, arm))
        P = jnp.einsum("kil,l,kjl->kij", Z, 1.0 / J, Z)
        own, beside = P + share * np.eye(3), P - share * np.eye(3)
        D = own.at[1:].add(own[:-1])
        g = end.at[1:].add(end[:-1]).at[0].add(-weight)

        def eliminate(after: Any, joint: Any) -> Any:
            X, z = after
            D, g, E = joint
            X = inverse(D - E @ X @ E)
            z = X @ (g - E @ z)
            return (X, z), (X, z)

        nothing = (jnp.zeros((3, 3)), jnp.zeros(3))
        _, (X, z) = jax.lax.scan(eliminate, nothing, (D, g, beside), reverse=True)

        def substitute(before: Any, joint: Any) -> Any:
            X, z, E = joint
            la = z - X @ (E @ before)
            return la, la

        previous = jnp.concatenate((jnp.zeros((1, 3, 3)), beside[:-1]))
        _, la = jax.lax.scan(substitute, jnp.zeros(3), (X, z, previous))
        after = jnp.concatenate((la[1:], jnp.zeros((1, 3))))
        spin = free + jnp.einsum("kij,ki->kj", Z, la + after) / J
        rates = jnp.concatenate((v[:, :3], rate(p, om)), 1)
        accelerations = jnp.concatenate((share * (la - after) + weight, spin), 1)
        return jnp.concatenate((rates.ravel(), accelerations.ravel()))

    return rhs


def rhs_of(mechanism: Mechanism) -> Callable[..., Any]:
    """The right-hand side in JAX."""
    return written(mechanism, heavy_top, linked_bodies, chain)


def methods(mechanism: Mechanism) -> list[Method]:
    """Its methods of orders 5 and 8."""
    needed(PIP, ["jax", "diffrax"])
    import diffrax
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    term, y0 = diffrax.ODETerm(rhs_of(mechanism)), jnp.asarray(mechanism.y0)

    def solver_of(method: Any) -> Callable[[float], Callable[[], Array]]:
        @jax.jit
        def solve(y: Any, tolerance: Any) -> Any:
            control = diffrax.PIDController(rtol=tolerance, atol=tolerance)
            ends = {"t0": 0.0, "t1": mechanism.t_end, "dt0": None}
            found = diffrax.diffeqsolve(
                term, method, y0=y, stepsize_controller=control, max_steps=MOST_STEPS, throw=False, **ends
            )
            return found.ys[-1], found.result == diffrax.RESULTS.successful

        def prepare(tolerance: float) -> Callable[[], Array]:
            def run() -> Array:
                y, good = solve(y0, tolerance)
                if not good:
                    raise ArithmeticError("diffrax has stopped before the end")
                return np.asarray(y)

            return run

        return prepare

    offered = (diffrax.Tsit5(), diffrax.Dopri5(), diffrax.Dopri8())
    return [Method(type(method).__name__, solver_of(method), mechanism.centres) for method in offered]


PEER = Peer("diffrax", methods, packages=("diffrax", "jax"))
