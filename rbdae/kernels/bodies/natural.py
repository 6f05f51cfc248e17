"""Natural coordinates z = (x, d) of the bodies with their rates, and the kinematic rows.

For each body z = Phi(q), zdot = B(q) w and zddot = B wdot + b(q, w), with the velocity w of a kind (`velocities`). A
natural force (fx, fd) in R^12 does the work fx . xdot + fd . ddot; B^T pulls it back to w.

With the spatial angular velocity omega as unknown, w is the material one:

    Omega = R^T omega,    Omegadot = R^T omegadot,

because Rdot^T omega = -Omega x Omega = 0; so [NS] (1) in omega has M = R J R^T, G R^T and R psi (Remark 4.6). Here
omega (the field p of a state) and its rate (pd) become w and wd, and rates of w become those of omega. The way back has
the inverse, R^-T, so that it is exact off the internal constraints of quaternions and directors, too.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import moving, write_body
from rbdae.kernels.bodies.velocities import (
    acceleration_of_momentum,
    basis,
    natural_acceleration,
    natural_velocity,
    velocity_of_momentum,
)
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import frame, reciprocal, stacked


def place(m: Memory) -> None:
    """Natural positions of all bodies, R = R_ref R(a). Reads a; writes d; the natural forces become the weight."""
    chart = numbered(m.head.chart)
    for b, s in enumerate(m.states[:-1]):
        R = chart.rotation(s.a[: chart.n])
        s.d[:] = stacked(m.references[b] @ R if m.head.referenced == 1 else R)
    weigh(m)


def weigh(m: Memory) -> None:
    """The natural forces become the weight."""
    for o, s in moving(m):
        s.fx[:] = o.weight
        s.fd[:] = o.weight_d


def move(m: Memory) -> None:
    """Natural velocities of all bodies; of momenta first w = dH/dp, [BS09] (39). Reads a, d and w, or px and p;
    writes dd, with momenta xd and w, too, with spatial velocities w."""
    h = m.head
    for o, s in moving(m):
        if h.spatial == SPATIAL_VELOCITIES:
            s.w[:3] = frame(s.d).T @ s.p[:3]
        if h.momenta == 1:
            s.xd[:] = s.px / o.mass
            s.w[: o.nr] = velocity_of_momentum(h.kind, o, s)
        s.dd[:] = natural_velocity(h.kind, s, s.w)


def accelerate(m: Memory) -> None:
    """Natural accelerations of all bodies. Reads a, d, dd and the rates of the velocities, wd, or of the momenta,
    pxd and pd; writes ddd, with momenta xdd and wd, too, with spatial velocities wd."""
    h = m.head
    material_rates(m)
    for o, s in moving(m):
        if h.momenta == 1:
            s.xdd[:] = s.pxd / o.mass
            s.wd[: o.nr] = acceleration_of_momentum(h.kind, o, s)
        s.ddd[:] = natural_acceleration(h.kind, s)


def material_rates(m: Memory) -> None:
    """wdot of spatial velocities."""
    if m.head.spatial == SPATIAL_VELOCITIES:
        for s in m.states[:-1]:
            s.wd[:3] = frame(s.d).T @ s.pd[:3]


def to_spatial(s: Any, w: Array) -> Array:
    """R^-T w: omega of Omega, or their rates."""
    return reciprocal(frame(s.d)) @ w


def velocity_basis(m: Memory) -> None:
    """B = d(ddot)/dw, if there are joints. Reads a and d."""
    h = m.head
    if h.kind != DIRECTOR_RATE and h.n_primitives > 0:
        for o, s in moving(m):
            s.B[:, : o.nr] = basis(h.kind, s)


def kinematics_rate(m: Memory, out: Array) -> None:
    """out[:nq] = qdot as a function of (q, v): xdot, and adot = K(a) Omega, or w. Reads xd and w."""
    for o, s in moving(m):
        write_body(o, s.xd, parameter_rates(m, s), out, o.iq)


def kinematics_residual(m: Memory, yd: Array, out: Array) -> None:
    """out[:nq] = qdot - v, or adot - K(a) Omega for the rotations of the angular kind."""
    n = m.head.n_q
    kinematics_rate(m, out)
    out[:n] = yd[:n] - out[:n]


def parameter_rates(m: Memory, s: Any) -> Array:
    """adot of one body. Reads w."""
    chart = numbered(m.head.chart)
    return chart.rate(s.a[: chart.n], s.w[:3]) if m.head.kind == ANGULAR else s.w[: chart.n]
