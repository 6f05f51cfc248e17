"""The work in a step of what has no potential: what the energy changes by, exactly, in a scheme that keeps it.

The kinetic energy changes by F . (Z1 - Z0), with the forces F of the step (`rbdae.kernels.conserving.forces`). Parts
with a potential give V0 - V1 of that. The rest, with increments ds of displacements and dg of what drives prescribe, is

    dampers, loads      -(D ds / h - u(t + h / 2)) ds
    drives              -la dg, with dg = G(Z_mean) (Z1 - Z0), in which a prescribed angle has the direction half way
    the user's forces   F . dZ; with a potential (F - F without rates) . dZ, and what V changes by at rest in the time
                        from the middle of the step, where its gradient is taken, to both ends
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, sqrt
from rbdae.kernels.conserving.angles import angle_increment, start_angle
from rbdae.kernels.conserving.bodies import begin, take
from rbdae.kernels.conserving.drives import set_drives
from rbdae.kernels.conserving.forms import step_forms
from rbdae.kernels.constraints.primitives import combine, primitive_vectors
from rbdae.kernels.forces.elements import gather, n_displacements
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.forces.power import bushing_work, element_work
from rbdae.kernels.memory import drives, element_memory, elements, head, multipliers, primitives, rows, states
from rbdae.kernels.records import ANGLE, ROOT, USER
from rbdae.kernels.user_functions import call_user_function


def work(m: Memory, t: float, y: Array, u: Array, h: float, out: Array, scheme: int) -> None:
    """out[0] = the work in the step of size h from (t, y) with the unknowns u."""
    begin(m, t, y, h)
    set_drives(m, t + h)
    take(m, u, scheme, 0.0)
    head(m).time = t + 0.5 * h
    gather_force_states(m, y)
    out[0] = 0.0 * h
    _bushings(m, h, out)
    _elements(m, h, out)
    if head(m).n_drives > 0:
        primitive_vectors(m, 0)
        _drives(m, h, out)


def _bushings(m: Memory, h: float, out: Array) -> None:
    for i in range(head(m).n_bushings):
        out[0] += 4.0 * bushing_work(m, i, 1.0 / h)  # of half of the increments


def _elements(m: Memory, h: float, out: Array) -> None:
    c = element_memory(m)
    for i in range(head(m).n_elements):
        e = elements(m)[i]
        if e.shaping == USER:
            _user_work(m, i, h, out)
            continue
        step_forms(m, i)
        n = n_displacements(e)
        for a in range(3):
            c.s[a] = 2.0 * c.r[a]
            c.x[a] = c.q[a]
        if e.shaping == ROOT:
            length = sqrt(c.q[0] - c.r[0]) + sqrt(c.q[0] + c.r[0])
            c.s[0] = 2.0 * c.r[0] / length
            c.x[0] = 0.5 * length
        elif e.shaping == ANGLE:
            c.s[0] = angle_increment(m)
            c.x[0] = 0.5 * c.s[0]
            if e.winding == 1:
                c.x[0] += start_angle(m, i)
        for k in range(n):
            c.x[n + k] = c.s[k] / h
        out[0] += element_work(m, i, 1.0 / h)


def _force_along(m: Memory, i: int) -> Any:
    """F . dZ of a user's force at Z, with the increments in h[1]."""
    c = element_memory(m)
    for k in range(24):
        c.F[k] = 0.0
    call_user_function(elements(m)[i].force, head(m).time, c.Z, c.F)
    done = 0.0 * c.Z[0]
    for k in range(24):
        done += c.F[k] * c.h[1, k]
    return done


def _potential_at(m: Memory, i: int, t: float, along: float) -> Any:
    """The user's potential at t, at Z_mean + along dZ."""
    c = element_memory(m)
    for k in range(24):
        c.Z[k] = c.h[2, k] + along * c.h[1, k]
        c.Z[24 + k] = 0.0
    c.s[0] = 0.0
    call_user_function(elements(m)[i].potential, t, c.Z, c.s)
    return c.s[0] + 0.0


def _user_work(m: Memory, i: int, h: float, out: Array) -> None:
    c = element_memory(m)
    gather(m, i)
    for k in range(24):
        c.h[1, k] = 2.0 * c.Z[24 + k]
        c.h[2, k] = c.Z[k] + 0.0
        c.Z[24 + k] = c.h[1, k] / h
    done = _force_along(m, i)
    if elements(m)[i].potential != 0:
        for k in range(24):
            c.Z[24 + k] = 0.0
        done -= _force_along(m, i)
        t = head(m).time
        done += _potential_at(m, i, t + 0.5 * h, 0.5) - _potential_at(m, i, t, 0.5)
        done -= _potential_at(m, i, t - 0.5 * h, -0.5) - _potential_at(m, i, t, -0.5)
    out[0] += done


def _drives(m: Memory, h: float, out: Array) -> None:
    """Reads P and Q at the mean, and the multipliers mu = h^2 la / 2; half of the increments of P and Q are made here,
    because those of `primitive_vectors` have the directions' own motion in them."""
    la = multipliers(m)
    D = drives(m)
    for i in range(head(m).n_drives):
        p = primitives(m)[D[i].primitive]
        r = rows(m)[D[i].primitive]
        s1 = states(m)[p.body[0]]
        s2 = states(m)[p.body[1]]
        combine(p.A, s1.xd, s1.dd, s2.xd, s2.dd, r.Pd)
        f = -4.0 / (h * h)
        if p.linear == 1:
            for k in range(3):
                if p.keep[k] == 1:
                    out[0] += f * la[p.row + k] * r.Pd[k]
        elif p.keep[0] == 1:
            combine(p.B, s1.xd, s1.dd, s2.xd, s2.dd, r.Qd)
            for k in range(3):
                out[0] += f * la[p.row] * p.scale * (r.P[k] * r.Qd[k] + r.Pd[k] * r.Q[k])
