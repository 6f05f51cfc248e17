"""scipy with right-hand sides compiled by numba: loops on numbers, as in C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .by_scipy import Rhs, methods_with
from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism
from .method import PIP, Method, Peer, needed


def heavy_top(m: HeavyTop, jit: Any) -> Rhs:
    """Euler's equations."""
    J1, J2, J3 = (float(j) for j in m.inertia)
    torque = 2.0 * m.mass * m.gravity * m.length

    @jit
    def rhs(t: float, y: Array) -> Array:
        p0, p1, p2, p3, o1, o2, o3 = y
        out = np.empty(7)
        out[0] = -0.5 * (p1 * o1 + p2 * o2 + p3 * o3)
        out[1] = 0.5 * (p0 * o1 - p3 * o2 + p2 * o3)
        out[2] = 0.5 * (p3 * o1 + p0 * o2 - p1 * o3)
        out[3] = 0.5 * (-p2 * o1 + p1 * o2 + p0 * o3)
        out[4] = (J2 - J3) / J1 * o2 * o3 + torque / J1 * (p2 * p3 + p0 * p1)
        out[5] = (J3 - J1) / J2 * o3 * o1 - torque / J2 * (p1 * p3 - p0 * p2)
        out[6] = (J1 - J2) / J3 * o1 * o2
        return out

    return rhs


def helpers(jit: Any) -> tuple[Any, Any, Any]:
    """R(p), pdot, and the solution of three symmetric equations."""

    @jit
    def rotation(p: Array, R: Array) -> None:
        p0, p1, p2, p3 = p
        R[0, 0] = p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3
        R[0, 1] = 2.0 * (p1 * p2 - p0 * p3)
        R[0, 2] = 2.0 * (p1 * p3 + p0 * p2)
        R[1, 0] = 2.0 * (p1 * p2 + p0 * p3)
        R[1, 1] = p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3
        R[1, 2] = 2.0 * (p2 * p3 - p0 * p1)
        R[2, 0] = 2.0 * (p1 * p3 - p0 * p2)
        R[2, 1] = 2.0 * (p2 * p3 + p0 * p1)
        R[2, 2] = p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3

    @jit
    def rate(p: Array, om: Array, out: Array) -> None:
        out[0] = -0.5 * (p[1] * om[0] + p[2] * om[1] + p[3] * om[2])
        out[1] = 0.5 * (p[0] * om[0] - p[3] * om[1] + p[2] * om[2])
        out[2] = 0.5 * (p[3] * om[0] + p[0] * om[1] - p[1] * om[2])
        out[3] = 0.5 * (-p[2] * om[0] + p[1] * om[1] + p[0] * om[2])

    @jit
    def inverse(S: Array, X: Array) -> None:
        X[0, 0] = S[1, 1] * S[2, 2] - S[2, 1] * S[2, 1]
        X[1, 0] = X[0, 1] = S[2, 1] * S[2, 0] - S[1, 0] * S[2, 2]
        X[1, 1] = S[0, 0] * S[2, 2] - S[2, 0] * S[2, 0]
        X[2, 0] = X[0, 2] = S[1, 0] * S[2, 1] - S[1, 1] * S[2, 0]
        X[2, 1] = X[1, 2] = S[1, 0] * S[2, 0] - S[0, 0] * S[2, 1]
        X[2, 2] = S[0, 0] * S[1, 1] - S[1, 0] * S[1, 0]
        scale = 1.0 / (S[0, 0] * X[0, 0] + S[1, 0] * X[1, 0] + S[2, 0] * X[2, 0])
        for i in range(3):
            for j in range(3):
                X[i, j] *= scale

    return rotation, rate, inverse


def linked_bodies(m: LinkedBodies, jit: Any) -> Rhs:
    """The joint's force from a system of three equations."""
    rotation, rate, inverse = helpers(jit)
    J, rho, masses = np.array(m.inertias), np.array(m.points), np.array(m.masses)
    stiffness = m.stiffness

    @jit
    def rhs(t: float, y: Array) -> Array:
        R, X = np.empty((3, 3)), np.empty((3, 3))
        Z, free, gamma, la, out = np.empty((2, 3, 3)), np.empty((2, 3)), np.zeros(3), np.zeros(3), np.empty(26)
        S = (1.0 / masses[0] + 1.0 / masses[1]) * np.eye(3)
        for b in range(2):
            sign = 1.0 - 2.0 * b
            p, om = y[7 * b + 3 : 7 * b + 7], y[6 * b + 17 : 6 * b + 20]
            a1, a2, a3 = rho[b]
            o1, o2, o3 = om
            rotation(p, R)
            rate(p, om, out[7 * b + 3 : 7 * b + 7])
            f1 = (J[b, 1] - J[b, 2]) / J[b, 0] * o2 * o3
            f2 = (J[b, 2] - J[b, 0]) / J[b, 1] * o3 * o1
            f3 = (J[b, 0] - J[b, 1]) / J[b, 2] * o1 * o2
            free[b, 0], free[b, 1], free[b, 2] = f1, f2, f3
            w1, w2, w3 = o2 * a3 - o3 * a2, o3 * a1 - o1 * a3, o1 * a2 - o2 * a1
            u1 = o2 * w3 - o3 * w2 + f2 * a3 - f3 * a2
            u2 = o3 * w1 - o1 * w3 + f3 * a1 - f1 * a3
            u3 = o1 * w2 - o2 * w1 + f1 * a2 - f2 * a1
            for i in range(3):
                Z[b, i, 0] = a3 * R[i, 1] - a2 * R[i, 2]
                Z[b, i, 1] = a1 * R[i, 2] - a3 * R[i, 0]
                Z[b, i, 2] = a2 * R[i, 0] - a1 * R[i, 1]
                gamma[i] += sign * (R[i, 0] * u1 + R[i, 1] * u2 + R[i, 2] * u3)
            for i in range(3):
                for j in range(i + 1):
                    for k in range(3):
                        S[i, j] += Z[b, i, k] * Z[b, j, k] / J[b, k]
        for i in range(3):
            out[14 + i] = -stiffness / masses[0] * y[i]
            gamma[i] += out[14 + i]
        inverse(S, X)
        for i in range(3):
            la[i] = X[i, 0] * gamma[0] + X[i, 1] * gamma[1] + X[i, 2] * gamma[2]
            out[i], out[7 + i] = y[14 + i], y[20 + i]
        for i in range(3):
            out[14 + i] -= la[i] / masses[0]
            out[20 + i] = la[i] / masses[1]
            for b in range(2):
                moment = Z[b, 0, i] * la[0] + Z[b, 1, i] * la[1] + Z[b, 2, i] * la[2]
                out[17 + 6 * b + i] = free[b, i] + (1.0 - 2.0 * b) * moment / J[b, i]
        return out

    return rhs


def chain(m: Chain, jit: Any) -> Rhs:
    """The joints' forces from a block-tridiagonal system, eliminated from the tip to the ground."""
    rotation, rate, inverse = helpers(jit)
    n, a, gravity, share = m.n, 0.5 * m.length, m.gravity, 1.0 / m.mass
    spin, beta = float(m.inertia[0] / m.inertia[1]), 1.0 - float(m.inertia[0] / m.inertia[1])
    root, turn = a / math.sqrt(m.inertia[1]), a / float(m.inertia[1])

    @jit
    def rhs(t: float, y: Array) -> Array:
        out, la = np.empty(13 * n), np.zeros((n + 1, 3))
        R, w, X, z = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3, 3)), np.empty((n, 3))
        s, e = np.empty((n, 3)), np.empty(n)
        for k in range(n):
            p, om = y[7 * k + 3 : 7 * k + 7], y[7 * n + 6 * k + 3 : 7 * n + 6 * k + 6]
            rotation(p, R[k])
            rate(p, om, out[7 * k + 3 : 7 * k + 7])
            norm = p[0] * p[0] + p[1] * p[1] + p[2] * p[2] + p[3] * p[3]
            e[k] = root * root * norm * norm - share
            c1, c2, c3 = -a * (om[1] * om[1] + om[2] * om[2]), a * spin * om[0] * om[1], a * spin * om[0] * om[2]
            for i in range(3):
                s[k, i] = root * R[k, i, 0]
                w[k, i] = c1 * R[k, i, 0] + c2 * R[k, i, 1] + c3 * R[k, i, 2]
        D, g, h = np.empty((3, 3)), np.zeros(3), np.empty(3)
        for k in range(n - 1, -1, -1):  # joint k: the links k - 1 and k
            for i in range(3):
                for j in range(i + 1):
                    D[i, j] = -s[k, i] * s[k, j]
                D[i, i] += e[k] + 2.0 * share
                g[i] = w[k, i]
            if k + 1 < n:  # what is left of the joint after it
                along = 0.0
                for i in range(3):
                    h[i] = X[k + 1, i, 0] * s[k, 0] + X[k + 1, i, 1] * s[k, 1] + X[k + 1, i, 2] * s[k, 2]
                    along += s[k, i] * z[k + 1, i]
                half = 0.5 * (s[k, 0] * h[0] + s[k, 1] * h[1] + s[k, 2] * h[2])
                for i in range(3):
                    h[i] = e[k] * h[i] - half * s[k, i]
                    g[i] += along * s[k, i] - e[k] * z[k + 1, i]
                for i in range(3):
                    for j in range(i + 1):
                        D[i, j] += h[i] * s[k, j] + s[k, i] * h[j] - e[k] * e[k] * X[k + 1, i, j]
            if k > 0:
                for i in range(3):
                    for j in range(i + 1):
                        D[i, j] -= s[k - 1, i] * s[k - 1, j]
                    D[i, i] += e[k - 1] + 2.0 * share
                    g[i] += w[k - 1, i]
            else:
                g[2] += gravity
            inverse(D, X[k])
            for i in range(3):
                z[k, i] = X[k, i, 0] * g[0] + X[k, i, 1] * g[1] + X[k, i, 2] * g[2]
        for i in range(3):
            la[0, i] = z[0, i]
        for k in range(1, n):
            along = s[k - 1, 0] * la[k - 1, 0] + s[k - 1, 1] * la[k - 1, 1] + s[k - 1, 2] * la[k - 1, 2]
            for i in range(3):
                h[i] = e[k - 1] * la[k - 1, i] - along * s[k - 1, i]
            for i in range(3):
                la[k, i] = z[k, i] - X[k, i, 0] * h[0] - X[k, i, 1] * h[1] - X[k, i, 2] * h[2]
        for k in range(n):
            v, at = y[7 * n + 6 * k : 7 * n + 6 * k + 6], 7 * n + 6 * k
            moment2 = moment3 = 0.0
            for i in range(3):
                out[7 * k + i] = v[i]
                out[at + i] = share * (la[k, i] - la[k + 1, i])
                moment2 += R[k, i, 2] * (la[k, i] + la[k + 1, i])
                moment3 += R[k, i, 1] * (la[k, i] + la[k + 1, i])
            out[at + 2] -= gravity
            out[at + 3] = 0.0
            out[at + 4] = beta * v[5] * v[3] + turn * moment2
            out[at + 5] = -beta * v[3] * v[4] - turn * moment3
        return out

    return rhs


def rhs_of(mechanism: Mechanism) -> Rhs:
    """The compiled right-hand side."""
    needed(PIP, ["numba"])
    import numba

    match mechanism:
        case HeavyTop():
            return heavy_top(mechanism, numba.njit)
        case LinkedBodies():
            return linked_bodies(mechanism, numba.njit)
        case Chain():
            return chain(mechanism, numba.njit)
    raise ValueError(mechanism.name)


def methods(mechanism: Mechanism) -> list[Method]:
    """The same solvers as with NumPy."""
    return methods_with(rhs_of(mechanism), mechanism)


PEER = Peer("scipy, numba right-hand side", methods, packages=("scipy", "numba"))
