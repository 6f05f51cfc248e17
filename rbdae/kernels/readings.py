"""What is read at a state beside equations: energies and momenta, the joints' matrix and their forces on the bodies,
applied forces with their powers, potentials, and the power of what has none."""

from __future__ import annotations

from functools import cache

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass
from rbdae.kernels.bodies.gather import gather_force_states, moving
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradient, moving_sides
from rbdae.kernels.constraints.primitives import gradient_times, partial_rates, primitive_vectors
from rbdae.kernels.entry import Entry, entry
from rbdae.kernels.forces.elements import ByFunction, all_forces
from rbdae.kernels.linear.accelerations import eliminated_normals, friction_margins
from rbdae.kernels.outputs import locate, natural
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.directors import DIRECTORS
from rbdae.rotations.vectors import angular_velocity

WIDTH = 25
"""Numbers of each: F on x and d of its first two bodies, and its power F : zdot."""


@entry("ityo")
def energies(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = T and V. T = (m xdot . xdot + w . M w) / 2 with the formulation's own velocities w, p . w / 2 with momenta;
    a body with a pivot turns about it. V has the weight, without that of pivots themselves, and the forces."""
    momenta = m.head.momenta == 1
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    T, V = 0.0, sum((force.potential() for force in all_forces(m)), 0.0)
    for b, (o, s) in enumerate(moving(m)):
        p = s.p if momenta else np.zeros(9, dtype=object)
        if not momenta:
            apply_mass(m, b, s.w, p)
        if o.nt == 3:
            T += (s.xd @ s.xd) * (0.5 * o.mass)
        T += 0.5 * (s.w[: o.nr] @ p[: o.nr])
        V -= s.x @ o.weight + s.d @ o.weight_d
    out[:2] = T, V


@entry("ityo")
def momenta(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = linear momentum, then angular momentum about the origin of space; its part from the rotation is R J Omega,
    with rates of directors the sum of d_i x E_ij d/dt d_j."""
    set_time(m, t)
    locate(m, y)
    p, L = np.zeros((2, 3))
    for o, s in moving(m):
        D, rates = s.d.reshape(3, 3), s.dd.reshape(3, 3)  # the directors in rows
        impulse = (s.xd if o.nt == 3 else o.center @ rates) * o.mass
        if m.head.kind == DIRECTOR_RATE:
            spin = cross(D, o.euler @ rates).sum(axis=0)
        else:
            spin = (o.inertia @ angular_velocity(D, rates)) @ D
        p = p + impulse
        L = L + cross(s.x, impulse) + spin
    out[:6] = np.concatenate([p, L])


@entry("ityo")
def joint_matrix(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[i, b, :] = row i of G with respect to (xdot, Omega) of body b, zero for the x of a body with a pivot. All
    joint equations count, dropped ones as well, in the order of the joints."""
    h = m.head
    set_time(m, t)
    locate(m, y)
    primitive_vectors(m, 0)
    out[:] = 0.0
    G = out.reshape(h.n_rows, h.n_bodies, 6)
    for p, r in zip(m.primitives, m.rows, strict=True):
        mine = slice(p.row - h.n_internal, p.row - h.n_internal + p.n)
        for side, b, o in moving_sides(m, p):
            Gx, G[mine, b, 3:] = gradient(p, r, side, DIRECTORS.kinematics(m.states[b].d))
            G[mine, b, : o.nt] = Gx[:, : o.nt]


@entry("ityyo")
def joint_loads(m: Memory, t: float, y: Array, la: Array, out: Array) -> None:
    """out = of each joint, 21 numbers: on both bodies the force -G^T la and the torque about the joint's point there,
    then the joint's frame, in space. la are the multipliers of all joint equations, dropped rows included."""
    set_time(m, t)
    locate(m, y)
    primitive_vectors(m, 0)
    for j, joint in enumerate(m.joints):
        F = np.zeros((2, 12), dtype=object)
        for i in range(joint.first, joint.last):
            p = m.primitives[i]
            first = p.row - m.head.n_internal
            F = F + np.array(gradient_times(p, m.rows[i], -la[first : first + p.n]))
        arms = [m.states[b].d.reshape(3, 3) for b in joint.body]
        for side, (f, point) in enumerate(zip(F, joint.points, strict=True)):
            moment = cross(arms[side], f[3:].reshape(3, 3)).sum(axis=0) - cross(arms[side].T @ point, f[:3])
            out[21 * j + 6 * side :][:6] = np.concatenate([f[:3], moment])
        out[21 * j + 12 : 21 * j + 21] = (arms[0].T @ joint.frame).ravel()


def _at(m: Memory, t: float, y: Array) -> None:
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    if m.head.n_frictions:
        eliminated_normals(m)


@entry("ityo")
def by_force(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[12 b:12 b + 12] = applied forces on x and d of every body, without its weight; then 25 numbers of each
    element: natural forces on its first two bodies, and power; at y."""
    n = m.head.n_bodies
    _at(m, t, y)
    out[:] = 0.0 * t
    for k, force in enumerate(all_forces(m)):
        F = force.natural().reshape(-1, 12)
        for b, of_body in zip(force.bodies, F, strict=True):
            if b < n:
                out[12 * b : 12 * b + 12] = out[12 * b : 12 * b + 12] + of_body
        if k >= m.head.n_elements:  # what is beyond them belongs to the whole model
            continue
        at = 12 * n + WIDTH * k
        two = F[:2].ravel()
        out[at : at + len(two)] = two
        out[at + 24] = np.sum(F.reshape(-1, 3) * force.zd)


READINGS = natural, by_force, joint_loads, friction_margins
"""What quantities are functions of."""


@cache
def together(rates: Entry, wanted: tuple[bool, ...], read: tuple[int, ...] | None = None) -> Entry:
    """One kernel of what is wanted of `rates` with multipliers, and of `READINGS`, whose results stand one after the
    other, zero where they are not wanted, or not `read`: what these have in common is computed once."""

    def all_of_them(m: Memory, t: float, y: Array, out: Array) -> None:
        h = m.head
        sizes = 24 * h.n_bodies, 12 * h.n_bodies + WIDTH * h.n_elements, 21 * len(m.joints), 2 * h.n_frictions
        parts = np.split(out, len(out) - np.cumsum(sizes[::-1])[::-1])
        out[:] = 0.0 * t
        for kernel, part, asked in zip((rates, *READINGS), parts, wanted, strict=True):
            la = (parts[0][len(parts[0]) - h.n_rows :],) if kernel is joint_loads else ()
            if asked:
                kernel(m, t, y, *la, part)
        if read is not None:
            out[np.setdiff1d(np.arange(len(out)), read)] = 0.0 * t

    parts_wanted = "".join(str(int(each)) for each in wanted)
    all_of_them.__qualname__ = f"together.{rates.name}.{parts_wanted}.{hash(read or ()):x}"
    return Entry(all_of_them, "ityo", rates.ordered)


@entry("ityo")
def power(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = the power of applied forces without what has a potential; out[1] = that of the user's forces with a
    potential, without rates; out[2:] = the partial derivatives g_t of the joint equations with respect to time. Forces
    of joints -G^T la have the power la . g_t."""
    h = m.head
    _at(m, t, y)
    out[:] = 0.0 * t
    for force in all_forces(m):
        out[0] = out[0] + force.unconserved()
        if isinstance(force, ByFunction):
            out[1] = out[1] + force.at_rest()
    if h.n_drives > 0:
        primitive_vectors(m, 0)
        partial_rates(m, out, 2 - h.n_internal, 1.0)


@entry("ityyo")
def power_at(m: Memory, t: float, Z: Array, s: Array, out: Array) -> None:
    """out[0] = the power of applied forces without what has a potential, and without friction under reactions, at t, Z
    and s as `potentials` has them."""
    _put(m, t, Z, s)
    out[0] = sum((force.unconserved() for force in all_forces(m) if not force.by_reaction), 0.0 * t)


@entry("ityyo")
def potentials(m: Memory, t: float, Z: Array, s: Array, out: Array) -> None:
    """Potentials of the elements, at t, at Z: (x, d, xdot, ddot) of every body in the order of
    the bodies in memory, and at the internal states s, of which windings select the branch of their angles."""
    _put(m, t, Z, s)
    for k, force in enumerate(all_forces(m)):
        if k < m.head.n_elements:
            out[k] = force.potential()


def _put(m: Memory, t: float, Z: Array, s: Array) -> None:
    for (_, body), z in zip(moving(m), Z.reshape(-1, 24), strict=True):
        body.x[:], body.d[:], body.xd[:], body.dd[:] = z[:3], z[3:12], z[12:15], z[15:]
    m.head.time = t
    m.force_states[: m.head.n_states] = s[: m.head.n_states]
