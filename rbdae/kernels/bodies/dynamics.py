"""The rows of the dynamics, M vdot - psi + G^T la, body by body."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies import (
    angular,
    director_rates,
    euler_parameter_forms,
    quaternion_momenta,
    quaternion_rates,
    spatial,
)
from rbdae.kernels.bodies.gather import write_body
from rbdae.kernels.bodies.internal_constraints import add_internal_forces
from rbdae.kernels.bodies.natural import to_velocities
from rbdae.kernels.memory import bodies, head, multipliers, states
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE, SPATIAL_VELOCITIES


def pull_back(m: Memory, b: int) -> None:
    """t (nr) = the part of psi of one body that is linear in the natural forces on the directors."""
    s = states(m)[b]
    if head(m).forms == 1:
        euler_parameter_forms.pull_back(m, b)
    else:
        to_velocities(m, b, s.fd, s.t)


def forces(m: Memory, b: int) -> None:
    """t (nr) = psi of the rotation of one body without the constraint forces of internal constraints, [NS] (2), (25),
    (33); with momenta -dH/dq, [BS09] (39). Reads the natural forces fd, which may contain those of the joints."""
    h = head(m)
    pull_back(m, b)
    if h.kind == ANGULAR:
        angular.add_gyroscopic(m, b)
    elif h.kind == QUATERNION_RATE:
        if h.momenta == 1:
            quaternion_momenta.add_forces(m, b)
        else:
            euler_parameter_forms.add_gyroscopic(m, b)


def collect_forces(m: Memory, out: Array) -> None:
    """out[:nv] = psi of all bodies, see `forces`."""
    _collect(m, out, 0)


def collect_pulled_back(m: Memory, out: Array) -> None:
    """out[:nv] = the part of psi of all bodies that is linear in the natural forces."""
    _collect(m, out, 1)


def _collect(m: Memory, out: Array, linear: int) -> None:
    for b in range(head(m).n_bodies):
        if linear == 1:
            pull_back(m, b)
        else:
            forces(m, b)
        o = bodies(m)[b]
        write_body(m, b, states(m)[b].fx, states(m)[b].t, o.nr, out, o.iv)


def dynamics_residual(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nv] = M vdot - psi + G^T la. Reads the multipliers of the internal constraints, the rates of v
    or of the momenta, and the natural forces, which contain -G^T la of the joints."""
    h = head(m)
    if h.spatial == SPATIAL_VELOCITIES:
        spatial.accelerations(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        r = row + o.iv
        forces(m, b)
        for k in range(o.nt):
            out[r + k] = (s.pxd[k] if h.momenta == 1 else o.mass * s.xdd[k]) - s.fx[k]
        r += o.nt
        if h.momenta == 0:
            apply_mass(m, b, s.wd, s.ad)
        for k in range(o.nr):
            out[r + k] = (s.pd[k] if h.momenta == 1 else s.ad[k]) - s.t[k]
        if h.kind != ANGULAR:
            add_internal_forces(m, b, multipliers(m), out, r)


def apply_mass(m: Memory, b: int, v: Array, out: Array) -> None:
    """out = M v for the rotational velocities of one body. With momenta M is the inverse of the closed form of dw/dp
    on the tangent space, 4 Q J4 Q^T / |q|^4."""
    kind = head(m).kind
    if kind == ANGULAR:
        angular.mass(m, b, v, out)
    elif kind == QUATERNION_RATE:
        quaternion_rates.mass(m, b, v, out)
    else:
        director_rates.mass(m, b, v, out)


def apply_mass_matrix(m: Memory, v: Array, out: Array, scale: float) -> None:
    """out = scale M v for the velocities of all bodies; `out` may be `v`."""
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                out[i + k] = scale * o.mass * v[i + k]
            i += 3
        for k in range(o.nr):
            s.ad[k] = v[i + k]
        apply_mass(m, b, s.ad, s.t)
        for k in range(o.nr):
            out[i + k] = scale * s.t[k]
