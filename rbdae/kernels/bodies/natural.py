"""Natural coordinates z = (x, d) of the bodies with their rates.

For each body z = Phi(q), zdot = B(q) w and zddot = B wdot + b(q, w). The rotational velocity w depends on the kind:

* ANGULAR: the material angular velocity Omega; B = T_d(d), [NS] (24); with the spatial one as unknown Omega = R^T
  omega comes first (`spatial`);
* QUATERNION_RATE: pdot; B = Dphi(p), [NS] (48);
* DIRECTOR_RATE: ddot; B = I.

A natural force (fx, fd) in R^12 does the work fx . xdot + fd . ddot; B^T pulls it back to w.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies import (
    director_rates,
    euler_parameter_forms,
    quaternion_momenta,
    quaternion_rates,
    spatial,
)
from rbdae.kernels.memory import bodies, head, references, states
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.algebra import add_spin, director_tangents, spin, spin_transposed, turn
from rbdae.rotations.chart import rotation


def place(m: Memory) -> None:
    """Natural positions of all bodies, R = R_ref R(a). Reads a; writes d; the natural forces become the weight."""
    h = head(m)
    for b in range(h.n_bodies):
        s = states(m)[b]
        rotation(h.chart, s.a, s.d)
        if h.referenced == 1:
            _turn(m, b)
    weigh(m)


def weigh(m: Memory) -> None:
    """The natural forces become the weight."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        for k in range(3):
            s.fx[k] = o.weight[k]
        for k in range(9):
            s.fd[k] = o.weight_d[k]


def _turn(m: Memory, b: int) -> None:
    """d = R_ref R(a). Reads R(a) in d."""
    turn(references(m)[b], states(m)[b].d)


def move(m: Memory) -> None:
    """Natural velocities of all bodies; of momenta first w = dH/dp, [BS09] (39). Reads a, d and w, or px and p;
    writes om and dd, with momenta xd and w, too, with spatial velocities w."""
    h = head(m)
    if h.spatial == SPATIAL_VELOCITIES:
        spatial.velocities(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        if h.momenta == 1:
            for k in range(3):
                s.xd[k] = s.px[k] / B[b].mass
            if h.kind == QUATERNION_RATE:
                quaternion_momenta.velocity(m, b)
            else:
                director_rates.velocity_of_momentum(m, b)
        if h.kind == ANGULAR:
            for k in range(3):
                s.om[k] = s.w[k]
            spin(s.d, s.w, s.dd)
        elif h.kind == QUATERNION_RATE:
            # phi is quadratic: ddot = Dphi(p) pdot = 2 phi(p, pdot)
            quaternion_rates.natural_velocity(s.a, s.w, s.dd)
        else:
            for k in range(9):
                s.dd[k] = s.w[k]


def accelerate(m: Memory) -> None:
    """Natural accelerations of all bodies. Reads a, d, dd and the rates of the velocities, wd, or of the momenta,
    pxd and pd; writes ddd, with momenta xdd and wd, too, with spatial velocities wd."""
    h = head(m)
    if h.spatial == SPATIAL_VELOCITIES:
        spatial.accelerations(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        if h.momenta == 1:
            for k in range(3):
                s.xdd[k] = s.pxd[k] / B[b].mass
            if h.kind == QUATERNION_RATE:
                quaternion_momenta.acceleration(m, b)
            else:
                director_rates.acceleration_of_momentum(m, b)
        if h.kind == ANGULAR:
            spin(s.d, s.wd, s.ddd)
            add_spin(s.dd, s.w, s.ddd)
        elif h.kind == QUATERNION_RATE:
            quaternion_rates.natural_acceleration(m, b)
        else:
            for k in range(9):
                s.ddd[k] = s.wd[k]


def velocity_basis(m: Memory) -> None:
    """B = d(ddot)/dw, and with the forms of [SNS15] the row basis U, if there are joints. Reads a and d."""
    h = head(m)
    S = states(m)
    if h.kind == DIRECTOR_RATE or h.n_primitives == 0:
        return
    for b in range(h.n_bodies):
        s = S[b]
        if h.kind == ANGULAR:
            director_tangents(s.d, s.B)
        else:
            quaternion_rates.natural_tangent(s.a, s.B)
            if h.forms == 1:
                euler_parameter_forms.row_basis(m, b)


def to_velocities(m: Memory, b: int, f: Array, out: Array) -> None:
    """out = B^T f of one body. Reads a and d."""
    s = states(m)[b]
    if head(m).kind == ANGULAR:
        spin_transposed(s.d, f, out)
    elif head(m).kind == QUATERNION_RATE:
        quaternion_rates.pull_back(s.a, f, out)
    else:
        for k in range(9):
            out[k] = f[k]
