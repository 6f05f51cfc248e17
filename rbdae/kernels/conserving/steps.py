"""A step of size h from (t, y), with the unknowns u: dx and b of each body, then mu = h^2 la / 2 of the joints.

Joints have g(z1, t1) = 0 and the forces -G(z_mean)^T la. G is linear in the natural coordinates, so G(z_mean) (z1 - z0)
= g(z1) - g(z0): the discrete derivative of [BS09] (53).

Of q(z) = s(t), a length or another quantity, the force -G(z_mean)^T la has the work -la (s(t1) - s(t0)), as G(z_mean)
(z1 - z0) is the increment of q. Of a prescribed angle, with the direction a(s) = e1 cos s + e2 sin s of the first body
and the direction b of the second one, G is that of the direction half way, a((s0 + s1) / 2). Both products a(s0) . b
and a(s1) . b vanish at their ends, where b is a quarter turn from a: the increment of a_mean . b is
2 sin((s1 - s0) / 2) or its opposite, and the work again a multiplier times s1 - s0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory, maximum, sqrt
from rbdae.kernels.bodies.gather import (
    clear_forces,
    gather_force_states,
    gather_positions,
    gather_velocities,
    write_body,
)
from rbdae.kernels.bodies.natural import place
from rbdae.kernels.conserving.bodies import Rodrigues
from rbdae.kernels.conserving.directors import Directors
from rbdae.kernels.conserving.forces import AlongInStep, forces_in_step, work_of
from rbdae.kernels.conserving.newton import Slopes, correction
from rbdae.kernels.constraints.drives import set_between, set_time
from rbdae.kernels.constraints.primitives import mean_gradients, primitive_forces, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.projection import onto_joints
from rbdae.kernels.records import DIRECTOR_RATE

NOISE = 1e-10
"""Squared increments below this part of the system's size count as that: round-off is no reason to iterate."""


def bodies_of(m: Memory, y: Array, h: Any, kind: type[Rodrigues]) -> list[Rodrigues]:
    """The bodies at the start of a step."""
    gather_positions(m, y)
    place(m)
    gather_velocities(m, y, m.head.n_q)
    kind = Directors if m.head.kind == DIRECTOR_RATE else kind
    return [kind(m, b, h) for b in range(m.head.n_bodies)]


def places(bodies: list[Rodrigues]) -> list[slice]:
    """The places of the unknowns of bodies."""
    ends = np.cumsum([0, *(body.o.nt + 3 for body in bodies)]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


def put(m: Memory, z: list[Array], rates: list[Array] | None = None) -> None:
    """Natural coordinates (4, 3) of the bodies, and perhaps their rates, to the working memory."""
    for s, at, rate in zip(m.states[:-1], z, rates or z, strict=True):
        s.x[:], s.d[:], s.xd[:], s.dd[:] = at[0], at[1:].ravel(), rate[0], rate[1:].ravel()


@final
class Step:
    """A step with its unknowns.

    Attributes
    ----------
    z, d : mean natural coordinates of the bodies, and half of their increments
    """

    def __init__(self, m: Memory, t: Any, y: Array, h: Any, u: Array, kind: type[Rodrigues]) -> None:
        self.m, self.t, self.h = m, t, h
        self.bodies = bodies_of(m, y, h, kind)
        gather_force_states(m, y)
        self.own = places(self.bodies)
        for body, own in zip(self.bodies, self.own, strict=True):
            body.take(u[own])
        n = m.head.n_body_unknowns
        self.u, self.mu = u[: n + m.head.n_rows], u[n : n + m.head.n_rows]
        self.start, self.d = [body.z0 for body in self.bodies], [body.d for body in self.bodies]
        self.z = [z + d for z, d in zip(self.start, self.d, strict=True)]
        self.end = [z + d for z, d in zip(self.z, self.d, strict=True)]
        self.at_joints = self.start if kind.at_start else self.z
        self.middle = None if kind.at_start else self.d

    def to_middle(self) -> list[Array]:
        """Put the bodies, the drives and the time to the middle; half of the increments of bodies and of the ground."""
        put(self.m, self.z, [d * (2.0 / self.h) for d in self.d])
        set_between(self.m, self.t, self.h)
        return [*self.d, np.zeros((4, 3))]

    def forces(self) -> list[tuple[Array, Array]]:
        """h^2 / 2 times the natural forces (4, 3) on each body: its weight, and those of joints and applied forces."""
        m, half = self.m, self.h * self.h * 0.5
        halves = self.to_middle()
        clear_forces(m)
        for force in forces_in_step(m, self.h, halves):
            force.act()
        applied = [f * half for f in _of_bodies(m, "fx", "fd")]
        joints = joint_forces(m, self.at_joints, self.mu, self.middle)
        weights = [np.vstack([b.o.weight, b.o.weight_d.reshape(3, 3)]) * half for b in self.bodies]
        return [(w, f + g) for w, f, g in zip(weights, applied, joints, strict=True)]

    def balances(self) -> tuple[list[Array], Array]:
        """The rows of each body, and the moments on them, through which they depend on many unknowns."""
        acting = self.forces()
        torques = [body.torque(forces) for body, (_, forces) in zip(self.bodies, acting, strict=True)]
        rows = [body.balance(*both, torque) for body, both, torque in zip(self.bodies, acting, torques, strict=True)]
        return rows, np.ravel(torques)

    def slopes(self) -> Slopes:
        """The unknowns with their derivatives, and the numbers of bodies that have theirs."""
        known: Slopes = [(x, {j: 1.0}) for j, x in enumerate(self.u)]
        for body, own in zip(self.bodies, self.own, strict=True):
            known += [(x, {own.stop - 3 + k: slope[k] for k in range(3)}) for x, slope in body.slopes]
        return known

    def sums(self, balances: list[Array], c: Array) -> list[Any]:
        """The squares of a correction c of the bodies' unknowns, of what balances lacked before, of the increments."""
        change, lacking, size = 0.0, 0.0, 0.0
        for body, own, rows, z in zip(self.bodies, self.own, balances, self.at_joints, strict=True):
            change += body.weights @ (c[own] * c[own])
            lacking += body.lacking(rows)
            if body.o.nt == 3:
                size += (body.dx @ body.dx + z[0] @ z[0] * NOISE) * body.o.mass
            size += np.diag(body.o.inertia) @ (body.b * body.b + NOISE) * 4.0
        return [change, lacking, size]

    def joint_rows(self) -> Array:
        """g(z1, t1), 0 in dropped rows."""
        set_time(self.m, self.t + self.h)
        put(self.m, self.end)
        return joint_rows(self.m, 0)


def _of_bodies(m: Memory, x: str, d: str) -> list[Array]:
    """Natural coordinates ``"x", "d"`` of the bodies, or forces ``"fx", "fd"``, (4, 3)."""
    return [np.vstack([getattr(s, x), getattr(s, d).reshape(3, 3)]) for s in m.states[:-1]]


def joint_rows(m: Memory, level: int) -> Array:
    """g, or gdot, of all joints, 0 in dropped rows."""
    out = np.zeros(m.head.n_rows, dtype=object)
    primitive_vectors(m, level)
    primitive_residual(m, out, -m.head.n_internal, level)
    dropped_residual(m, out, -m.head.n_internal)
    return out


def joint_forces(m: Memory, z: list[Array], mu: Array, halves: list[Array] | None = None) -> list[Array]:
    """-G^T mu (4, 3) on the bodies at natural coordinates z; with half of the increments of a step those of its means,
    where G of a combination is a discrete gradient."""
    put(m, z, halves)
    clear_forces(m)
    primitive_vectors(m, 0)
    if halves is not None:
        mean_gradients(m)
    n = m.head.n_internal
    m.multipliers[n : n + len(mu)] = mu
    primitive_forces(m)
    return _of_bodies(m, "fx", "fd")


def newton(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """The unknowns u after one more iteration of the step of size h from (t, y), and, after them, the size of
    the correction relative to that of the increments, or what the balances lacked before it (`Rodrigues.lacking`) if it
    is more: small corrections alone are no solution where the matrix is singular."""
    step = Step(m, t, y, h, u, kind)
    balances, torques = step.balances()
    rows = np.concatenate([*balances, step.joint_rows()])
    c = correction(m, rows, step.slopes(), -rows, torques)
    kept = m.newton_order
    out[kept] = u[kept] + c[kept]
    out[len(rows)] = relative(*step.sums(balances, c))


def relative(change: Any, lacking: Any, size: Any) -> Any:
    """The size of a correction, or what the balances lacked if it is more, relative to that of the increments."""
    return sqrt(maximum(change, lacking) / (size + 1e-300))


@entry("ityyto")
def predict(m: Memory, t: Any, y: Array, yd: Array, h: Any, out: Array) -> None:
    """The unknowns of a motion with constant velocities and without forces in the joints; yd is not read."""
    found = bodies_of(m, y, h, Rodrigues)
    for body, own in zip(found, places(found), strict=True):
        out[own] = [*body.dx0[: body.o.nt], *body.om]


def advance(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """The state y at t + r h, from the unknowns of the step in `u`, after which r stands.

    Between the ends the velocities v and Om are linear in time, and dx and b their integrals.
    """
    step = Step(m, t, y, h, u, kind)
    r = u[m.head.n_body_unknowns + m.head.n_rows]
    if kind.at_start:
        _finish(step)
    write_bodies(step, r, out)
    _advance_windings(step, out)


def write_bodies(step: Step, r: Any, out: Array) -> None:
    """The bodies at t + r h to a state."""
    for body in step.bodies:
        q, v = body.o.iq, step.m.head.n_q + body.o.iv
        parts = zip(body.position(r), body.end(r), strict=True)
        for at, (translation, rotation) in zip((q, v), parts, strict=True):
            write_body(body.o, translation, rotation, out, at)


def _finish(step: Any) -> None:
    """The momenta at the end of a step of QUAT.VI, on the constraints: M dv + G^T nu = 0, G (v + dv) = 0 at z1."""
    m = step.m
    for body, (weight, forces) in zip(step.bodies, step.forces(), strict=True):
        body.take_momenta(body.finish(weight, forces, body.torque(forces)))
    if not len(step.mu):
        return
    y = np.zeros(m.head.n_q + m.head.n_v, dtype=object)
    write_bodies(step, 1.0, y)
    change = onto_joints(m, step.t + step.h, y)
    for body in step.bodies:
        body.change(change[body.o.iv :][: body.o.nt + body.o.nr])


def _advance_windings(step: Step, out: Array) -> None:
    """The windings at the positions of out, within or at the end of the step: phi0 and the increment from there."""
    m = step.m
    if not any(e.winding == 1 for e in m.elements):
        return
    gather_positions(m, out)
    place(m)
    d = [(now - before) * 0.5 for now, before in zip(_of_bodies(m, "x", "d"), step.start, strict=True)]
    put(m, [before + half for before, half in zip(step.start, d, strict=True)], [half * (2.0 / step.h) for half in d])
    for force in forces_in_step(m, step.h, [*d, np.zeros((4, 3))]):
        if isinstance(force, AlongInStep) and force.e.winding == 1:
            out[m.head.states_at + force.first_state] = force.at_end


def work(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """out[0] = the work in the step of what has no potential: what the energy changes by, exactly, in a scheme that
    keeps it. Drives do -la dg, with dg = G(z_mean) (z1 - z0), in which a prescribed angle has the direction half way.
    """
    step = Step(m, t, y, h, u, kind)
    halves = step.to_middle()
    done = sum((work_of(force, h) for force in forces_in_step(m, h, halves)), 0.0 * h)
    put(m, step.z, step.d)
    along = joint_rows(m, 1)
    for p in (m.primitives[e.primitive] for e in m.drives):
        own = slice(p.row - m.head.n_internal, p.row - m.head.n_internal + p.n)
        done -= step.mu[own] @ along[own] * (4.0 / (h * h))
    out[0] = done
