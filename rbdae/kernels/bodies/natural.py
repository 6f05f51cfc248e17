"""Natural coordinates z = (x, d) of the bodies with their rates.

For each body z = Phi(q), zdot = B(q) w and zddot = B wdot + b(q, w), with the velocity w of a kind (`velocities`); with
spatial angular velocities as unknowns Omega = R^T omega comes first (`spatial`).

A natural force (fx, fd) in R^12 does the work fx . xdot + fd . ddot; B^T pulls it back to w.
"""

from __future__ import annotations

from rbdae.graph.functions import Memory
from rbdae.kernels.bodies import euler_parameter_forms, spatial
from rbdae.kernels.bodies.velocities import (
    acceleration_of_momentum,
    basis,
    natural_acceleration,
    natural_velocity,
    velocity_of_momentum,
)
from rbdae.kernels.memory import bodies, head, references, states
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import stacked


def place(m: Memory) -> None:
    """Natural positions of all bodies, R = R_ref R(a). Reads a; writes d; the natural forces become the weight."""
    chart = numbered(head(m).chart)
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        R = chart.rotation(s.a[: chart.n])
        s.d[:] = stacked(references(m)[b] @ R if head(m).referenced == 1 else R)
    weigh(m)


def weigh(m: Memory) -> None:
    """The natural forces become the weight."""
    for b in range(head(m).n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        s.fx[:] = o.weight
        s.fd[:] = o.weight_d


def move(m: Memory) -> None:
    """Natural velocities of all bodies; of momenta first w = dH/dp, [BS09] (39). Reads a, d and w, or px and p;
    writes om and dd, with momenta xd and w, too, with spatial velocities w."""
    h = head(m)
    if h.spatial == SPATIAL_VELOCITIES:
        spatial.velocities(m)
    for b in range(h.n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        if h.momenta == 1:
            s.xd[:] = s.px / o.mass
            s.w[: o.nr] = velocity_of_momentum(h.kind, o, s)
        if h.kind == ANGULAR:
            s.om[:] = s.w[:3]
        s.dd[:] = natural_velocity(h.kind, s, s.w)


def accelerate(m: Memory) -> None:
    """Natural accelerations of all bodies. Reads a, d, dd and the rates of the velocities, wd, or of the momenta,
    pxd and pd; writes ddd, with momenta xdd and wd, too, with spatial velocities wd."""
    h = head(m)
    if h.spatial == SPATIAL_VELOCITIES:
        spatial.accelerations(m)
    for b in range(h.n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        if h.momenta == 1:
            s.xdd[:] = s.pxd / o.mass
            s.wd[: o.nr] = acceleration_of_momentum(h.kind, o, s)
        s.ddd[:] = natural_acceleration(h.kind, s)


def velocity_basis(m: Memory) -> None:
    """B = d(ddot)/dw, and with the forms of [SNS15] the row basis U, if there are joints. Reads a and d."""
    h = head(m)
    if h.kind == DIRECTOR_RATE or h.n_primitives == 0:
        return
    for b in range(h.n_bodies):
        o, s = bodies(m)[b], states(m)[b]
        s.B[:, : o.nr] = basis(h.kind, s)
        if h.forms == 1:
            s.U[:, :4] = euler_parameter_forms.row_basis(h.pull_back, s.a[:4])
