"""Energy-momentum steps, slowly: the equations as they are printed, in all their unknowns.

One step in quaternions solves, for every body, [BS09] (51) in (q1, p1, mu), x1 - x0 = h (P0 + P1) / (2 M),
P1 - P0 = h F, and g(z1) = 0 with one multiplier for each equation, by Newton's method with a dense matrix of complex
steps. Forces act on natural coordinates z = (x, d1, d2, d3). QUAT.EM-R has alpha h for h in the kinetic terms of (51),
and the moment of the forces on the mean directors in place of the pull-back of those on R(q_mean).

One step of DIR.EM solves, for every body, in (d1, p1, La) with the multipliers La of d_i . d_j = delta_ij,
E (d1 - d0) = h (p0 + p1) / 2 and p1 - p0 = h f - h G_int(d_mean)^T La, with the same equations of x and g.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import CFUNCTYPE, c_double, c_int32, c_void_p
from dataclasses import dataclass
from typing import Any

import numpy as np

import rbdae

Z = Any
"""Natural coordinates of all bodies, (n, 4, 3): x, d1, d2, d3."""


def left(q: Any) -> Any:
    """Q_l(q): x -> q o x."""
    a, b, c, d = q
    return np.array([[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]])


def right(q: Any) -> Any:
    """Q_r(q): x -> x o q."""
    a, b, c, d = q
    return np.array([[a, -b, -c, -d], [b, a, d, -c], [c, -d, a, b], [d, c, -b, a]])


def rotation(q: Any) -> Any:
    """R(q) of any length, quadratic in q."""
    return (left(q) @ right(q * np.array([1, -1, -1, -1])))[1:, 1:]


@dataclass(frozen=True)
class Body:
    mass: float
    inertia: Any
    weight: Any = (0.0, 0.0, 0.0)
    pivot: bool = False


@dataclass(frozen=True)
class Oracle:
    """Bodies, equations g(Z), and forces (Z0, Z1) -> (n, 4, 3)."""

    bodies: Sequence[Body]
    g: Callable[[Z], Any]
    n_rows: int
    forces: Callable[[Z, Z], Any]
    rodrigues: bool

    def natural(self, y: Any) -> Z:
        return np.array([[x, *rotation(q).T] for x, q, _, _ in self.split(y)])

    def split(self, y: Any) -> list[tuple[Any, Any, Any, Any]]:
        """(x, q, P, p) of each body; y has one after the other."""
        rows = np.reshape(y[: 14 * len(self.bodies)], (-1, 14))
        return [(r[:3], r[3:7], r[7:10], r[10:]) for r in rows]

    def residual(self, y0: Any, u: Any, h: float) -> Any:
        n = len(self.bodies)
        y1, mu, la = u[: 14 * n], u[14 * n : 15 * n], u[15 * n :]
        Z0, Z1 = self.natural(y0), self.natural(y1)
        mean = 0.5 * (Z0 + Z1)
        f = self.forces(Z0, Z1) - pulled(self.g, mean, la)
        out = [self.g(Z1)] if self.n_rows else []
        for k, (body, before, after) in enumerate(zip(self.bodies, self.split(y0), self.split(y1), strict=True)):
            (x0, q0, P0, p0), (x1, q1, P1, p1) = before, after
            J4 = np.diag([7.0, *np.asarray(body.inertia)])  # the radial inertia has no influence
            qh, ph = 0.5 * (q0 + q1), 0.5 * (p0 + p1)
            pi = np.linalg.solve(J4, left(q0).T @ p0 + left(q1).T @ p1)
            alpha = (q0 @ q1) / (qh @ qh) if self.rodrigues else 1.0
            minus = left(ph) * np.array([1, -1, -1, -1])
            if self.rodrigues:
                m = np.cross(mean[k, 1:], f[k, 1:]).sum(0)
                load = 2.0 / (qh @ qh) * right(qh)[:, 1:] @ m
            else:
                slopes = np.array([(rotation(qh + e) - rotation(qh - e)) / 2.0 for e in np.eye(4)])  # quadratic
                load = np.einsum("aik,ki->a", slopes, f[k, 1:])
            out.append(q1 - q0 - alpha * h / 8.0 * left(qh) @ pi)
            out.append(p1 - p0 + alpha * h / 8.0 * minus @ pi - h * load + h * mu[k] * qh)
            out.append([0.5 * (q1 @ q1 - 1.0)])
            out.append(x1 - x0 - (0.0 if body.pivot else 0.5 * h / body.mass * (P0 + P1)))
            out.append(P1 - P0 - (0.0 if body.pivot else h * (f[k, 0] + np.asarray(body.weight))))
        return np.concatenate(out)

    def step(self, y0: Any, h: float) -> Any:
        """y1."""
        n = len(self.bodies)
        u = np.concatenate([y0, np.zeros(n + self.n_rows)])
        return solved(lambda v: self.residual(y0, v, h), u)[: 14 * n]


def pulled(g: Callable[[Z], Any], Z: Z, la: Any) -> Z:
    """G(Z)^T la; g is at most quadratic, so differences are exact."""
    out = np.zeros(Z.shape, dtype=Z.dtype)
    for i in np.ndindex(Z.shape) if len(la) else ():
        e = np.zeros(Z.shape)
        e[i] = 1.0
        out[i] = 0.5 * (g(Z + e) - g(Z - e)) @ la
    return out


def solved(residual: Callable[[Any], Any], u: Any) -> Any:
    """A root by Newton's method with the derivatives at u, where it begins."""
    inverse = np.linalg.pinv(np.array([residual(u + 1e-30j * e).imag / 1e-30 for e in np.eye(len(u))]).T)
    for _ in range(20):
        before, u = u, u - inverse @ residual(u)
        if np.abs(u - before).max() < 1e-13 * np.abs(u).max():
            break
    return u


def products(Z: Z) -> Any:
    """d_i . d_j - delta_ij of one body, six of them."""
    D = Z[1:]
    return (D @ D.T - np.eye(3))[np.triu_indices(3)]


@dataclass(frozen=True)
class DirectorOracle:
    """The same in directors; y has (x, d, P, p) of one body after the other."""

    bodies: Sequence[Body]
    g: Callable[[Z], Any]
    n_rows: int
    forces: Callable[[Z, Z], Any]

    def residual(self, y0: Any, u: Any, h: float) -> Any:
        n = len(self.bodies)
        before, after = np.reshape(y0, (n, 2, 4, 3)), np.reshape(u[: 24 * n], (n, 2, 4, 3))
        La, la = np.reshape(u[24 * n : 30 * n], (n, 6)), u[30 * n :]
        Z0, Z1 = before[:, 0], after[:, 0]
        mean = 0.5 * (Z0 + Z1)
        f = self.forces(Z0, Z1) - pulled(self.g, mean, la)
        out = [self.g(Z1)] if self.n_rows else []
        for k, body in enumerate(self.bodies):
            J = np.asarray(body.inertia)
            M = np.diag([body.mass, *(0.5 * J.sum() - J)])
            f[k, 0] += np.asarray(body.weight)
            out.append((M @ (Z1[k] - Z0[k]) - 0.5 * h * (before[k, 1] + after[k, 1])).ravel())
            out.append((after[k, 1] - before[k, 1] - h * (f[k] - pulled(products, mean[k], La[k]))).ravel())
            out.append(products(Z1[k]))
        return np.concatenate(out)

    def step(self, y0: Any, h: float) -> Any:
        """y1."""
        n = len(self.bodies)
        u = np.concatenate([y0, np.zeros(6 * n + self.n_rows)])
        return solved(lambda v: self.residual(y0, v, h), u)[: 24 * n]


def called(function: Any, problem: rbdae.Problem, t: float, y: Any, u: Any, h: float, n: int) -> Any:
    """n numbers that a C function of a step gives."""
    run, out = (
        CFUNCTYPE(c_int32, c_void_p, c_double, c_void_p, c_void_p, c_double, c_void_p)(function.address),
        np.zeros(n),
    )
    assert run(function.context, t, y.ctypes.data, u.ctypes.data, h, out.ctypes.data) == 0
    return out


def taken(problem: rbdae.Problem, scheme: str, h: float, n: int) -> tuple[Any, Any, Any]:
    """Times and states of n steps, and the multipliers of each: the loop of the steps, in Python."""
    functions = problem.callbacks.steps(scheme)
    k, rows = functions.n_unknowns, problem.layout.n_rows
    t, states, multipliers = h * np.arange(n + 1), [problem.y0], []
    for start in t[:-1]:
        u = called(functions.predict, problem, start, states[-1], np.zeros(k + 1), h, k + 1)
        u[k] = 1.0
        while u[k] > 1e-8:
            u = called(functions.newton, problem, start, states[-1], u, h, k + 1)
        u[k] = 1.0
        states.append(called(functions.advance, problem, start, states[-1], u, h, problem.n))
        multipliers.append(2.0 / h**2 * u[k - rows : k])
    return t, np.array(states), np.array(multipliers)


def newton_slopes(problem: rbdae.Problem, scheme: str, h: float) -> Any:
    """The derivatives of u - A(u)^-1 r(u) where r = 0, bodies' rows only, by differences of fourth order, for the first
    step: along eight random directions, all of which a wrong entry of A changes."""
    functions = problem.callbacks.steps(scheme)
    n = functions.n_unknowns

    def newton(u: Any, function: Any = functions.newton) -> Any:
        return called(function, problem, 0.0, problem.y0, u, h, n + 1)

    u = newton(np.zeros(n + 1), functions.predict)
    for _ in range(12):
        u = newton(u)
    along = 1e-4 * np.random.default_rng(3).standard_normal((8, n + 1))
    apart = [[newton(u + k * step) - newton(u - k * step) for k in (1, 2)] for step in along]
    near, far = np.array(apart).swapaxes(0, 1)[..., : n - functions.n_rows]
    return (8.0 * near - far) / 12e-4
