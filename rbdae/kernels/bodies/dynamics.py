"""The rows of the dynamics, M vdot - psi + G^T la, body by body."""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.euler_parameter_forms import generalised_force, gyroscopic_force
from rbdae.kernels.bodies.gather import moving, write_body
from rbdae.kernels.bodies.internal_constraints import gradient
from rbdae.kernels.bodies.natural import material_rates
from rbdae.kernels.bodies.velocities import mass, momentum_force, pulled_back, turning
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.vectors import frame


def pull_back(m: Memory, s: Any) -> Array:
    """The part of psi of the rotation of one body that is linear in the natural forces on the directors."""
    h = m.head
    return generalised_force(h.pull_back, s.a[:4], frame(s.fd)) if h.forms == 1 else pulled_back(h.kind, s, s.fd)


def forces(m: Memory, o: Any, s: Any) -> Array:
    """psi of the rotation of one body without the constraint forces of internal constraints, [NS] (2), (25), (33); with
    momenta -dH/dq, [BS09] (39). Reads the natural forces fd, which may contain those of the joints."""
    h, psi = m.head, pull_back(m, s)
    if h.kind == ANGULAR:
        return psi + turning(o, s)
    if h.kind == QUATERNION_RATE:
        return psi + (momentum_force(o, s) if h.momenta == 1 else gyroscopic_force(o, s, h.gyroscopic))
    return psi


def collect_forces(m: Memory, out: Array) -> None:
    """out[:nv] = psi of all bodies, see `forces`."""
    for o, s in moving(m):
        write_body(o, s.fx, forces(m, o, s), out, o.iv)


def collect_pulled_back(m: Memory, out: Array) -> None:
    """out[:nv] = the part of psi of all bodies that is linear in the natural forces."""
    for o, s in moving(m):
        write_body(o, s.fx, pull_back(m, s), out, o.iv)


def dynamics_residual(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nv] = M vdot - psi + G^T la. Reads the multipliers of the internal constraints, the rates of v
    or of the momenta, and the natural forces, which contain -G^T la of the joints."""
    h, la = m.head, m.multipliers
    material_rates(m)
    for o, s in moving(m):
        x = s.pxd if h.momenta == 1 else s.xdd * o.mass
        w = s.pd[: o.nr] if h.momenta == 1 else mass(h.kind, o, s, s.wd)
        w = w - forces(m, o, s)
        if h.kind != ANGULAR:
            w = w + gradient(m, s).T @ la[o.il : o.il + o.ni]
        write_body(o, x - s.fx, w, out, row + o.iv)


def apply_mass(m: Memory, b: int, v: Array, out: Array) -> None:
    """out[:nr] = M v for the rotational velocities of one body. With momenta of quaternions M is the inverse of the
    closed form of dw/dp on the tangent space, 4 Q I Q^T / |q|^4."""
    h, o, s = m.head, m.bodies[b], m.states[b]
    q = s.a[:4]
    Mv = mass(h.kind, o, s, v)
    out[: o.nr] = Mv / ((q @ q) * (q @ q)) if h.momenta == 1 and h.kind == QUATERNION_RATE else Mv


def apply_mass_matrix(m: Memory, v: Array, out: Array, scale: float) -> None:
    """out = scale M v for the velocities of all bodies; `out` may be `v`."""
    for b, o in enumerate(m.bodies[:-1]):
        i = o.iv + o.nt
        out[o.iv : i] = v[o.iv : i] * (scale * o.mass)
        apply_mass(m, b, v[i : i + o.nr], out[i : i + o.nr])
        out[i : i + o.nr] *= scale
