"""The applied forces in a step, on the mean natural coordinates: their work is the change of their potential.

A form q that is at most quadratic in Z has the discrete gradient g(Z_mean), g(Z_mean) . (Z1 - Z0) = q1 - q0. With the
displacement s(q) of an element and its potential V(s) the force is -f D, with the discrete gradient D . (Z1 - Z0) =
s1 - s0 of the displacement and, for all displacements,

    f = k ((s0 + s1) / 2 - s_rest) + d (s1 - s0) / h - u(t + h / 2, (s0 + s1) / 2, (s1 - s0) / h).

    s = q:                  D = g(Z_mean)
    s = sqrt(q):            D = g(Z_mean) / (s0 + s1)
    s = angle of (c, s):    D = kappa (c_mean g_s - s_mean g_c) / 2,   kappa = (phi1 - phi0) / X,
                            X = s1 c0 - c1 s0,   Y = c1 c0 + s1 s0,   phi1 - phi0 = 2 atan(p),   p = X / (|(X, Y)| + Y)

The last holds below half a turn in a step, whatever the lengths of (s, c) at both ends are; it is a gradient of
invariants: -f D has neither a resultant nor a moment on both bodies together. phi0 counts full turns: it is the angle
next to the winding of the start. Nothing is divided by a difference: kappa = 2 a / (|(X, Y)| + Y) with a = atan(p) / p,
for small p by its series.

The kinetic energy changes by the work of these forces. Parts with a potential give V0 - V1 of that, `work` the rest.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rbdae.graph.functions import Array, Memory, atan, select, sqrt
from rbdae.kernels.conserving.user_forces import user_force, user_work
from rbdae.kernels.forces.elements import angle_of, conserved, gradients, turns, unconserved
from rbdae.kernels.memory import bushings, elements, head
from rbdae.kernels.records import ANGLE, ROOT, USER

SMALL = 0.01
"""Of p^2: series below, in which the last term is below round-off."""


class Displacements(NamedTuple):
    """The means of displacements s at both ends of a step, their increments, and their discrete gradients, (n, 24)."""

    mean: Array
    increments: Array
    gradients: Array


def _forms(m: Memory, e: Any, Z: Array, D: Array) -> tuple[Array, Array, Array]:
    """The forms of an element: the means of q at both ends, g(Z_mean), and half of the increments, g . D. Z is the mean
    and D half of the increment of the natural coordinates."""
    g = gradients(m, e, Z.reshape(8, 3))
    return (g @ Z + gradients(m, e, D.reshape(8, 3)) @ D) * 0.5, g, g @ D


def _ratio(x: Any) -> Any:
    """atan(p) / p of x = p^2."""
    small = x < SMALL
    near, value = select(small, x, 0.0), 0.0 * x
    for k in range(8, -1, -1):
        value = 1.0 / (2.0 * k + 1.0) - near * value
    p = sqrt(select(small, 1.0, x))
    return select(small, value, atan(p) / p)


def displacements(m: Memory, e: Any, Z: Array, D: Array, states: Array) -> Displacements:
    """Those of an element, with the internal states of all forces at the start."""
    q, g, r = _forms(m, e, Z, D)
    if e.shaping == ROOT:
        before, after = sqrt(q - r), sqrt(q + r)
        n = 1.0 / (before + after)
        return Displacements((before + after) * 0.5, r * n * 2.0, g * n)
    if e.shaping != ANGLE:
        return Displacements(q, r * 2.0, g)
    (s, c), (ds, dc) = q, r
    X, Y = (c * ds - s * dc) * 2.0, s * s + c * c - ds * ds - dc * dc
    n = 1.0 / (sqrt(X * X + Y * Y) + Y)
    kappa = _ratio((n * X) * (n * X)) * n * 2.0
    phi = kappa * X
    mean = phi * 0.5
    if e.winding == 1:
        start = angle_of(s - ds, c - dc)
        mean = start + turns(start, states[e.state]) + mean
    return Displacements(np.array([mean]), np.array([phi]), (g[:1] * c - g[1:2] * s) * kappa)


def pair(z: list[Array], bodies: Any) -> Array:
    """Natural coordinates (24,) of two bodies."""
    return np.concatenate([z[b].ravel() for b in bodies])


def add_applied(m: Memory, t: Any, h: Any, z: list[Array], d: list[Array], states: Array, forces: list[Array]) -> None:
    """Add h^2 / 2 times all applied forces in a step to the natural forces (4, 3) of the bodies. `t` is the middle of
    the step, z the mean and d half of the increments of the natural coordinates."""
    half = h * h * 0.5
    for e in bushings(m)[: head(m).n_bushings]:
        A, (one, two) = e.A.reshape(2, 4), e.body
        f = e.stiffness @ (A[0] @ z[one] + A[1] @ z[two]) * half + e.damping @ (A[0] @ d[one] + A[1] @ d[two]) * h
        for side, b in enumerate(e.body):
            forces[b] = forces[b] - np.outer(A[side], f)
    for e in elements(m)[: head(m).n_elements]:
        Z, D = pair(z, e.body), pair(d, e.body)
        if e.shaping == USER:
            F = user_force(e, t, h, Z, D)
        else:
            of = displacements(m, e, Z, D, states)
            f = conserved(e, of.mean)[1] + unconserved(m, e, t, of.mean, of.increments / h)
            F = -f @ of.gradients
        for b, F_b in zip(e.body, (F * half).reshape(2, 4, 3), strict=True):
            forces[b] = forces[b] + F_b


def work(m: Memory, t: Any, h: Any, z: list[Array], d: list[Array], states: Array) -> Any:
    """The work in a step of dampers and loads, -(D ds / h - u) ds, and of the user's forces without a potential."""
    out = 0.0 * h
    for e in bushings(m)[: head(m).n_bushings]:
        A, (one, two) = e.A.reshape(2, 4), e.body
        ds = (A[0] @ d[one] + A[1] @ d[two]) * 2.0
        out -= ds @ e.damping @ ds / h
    for e in elements(m)[: head(m).n_elements]:
        Z, D = pair(z, e.body), pair(d, e.body)
        if e.shaping == USER:
            out += user_work(e, t, h, Z, D)
            continue
        of = displacements(m, e, Z, D, states)
        out -= unconserved(m, e, t, of.mean, of.increments / h) @ of.increments
    return out
