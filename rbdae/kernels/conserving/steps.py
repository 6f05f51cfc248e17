"""A step of size h from (t, y), with the unknowns u: dx and b of each body, then mu = h^2 la / 2 of the joints."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory, maximum, sqrt
from rbdae.kernels.bodies.gather import gather_positions, gather_velocities
from rbdae.kernels.bodies.natural import place
from rbdae.kernels.conserving import forces
from rbdae.kernels.conserving.bodies import Rodrigues
from rbdae.kernels.conserving.directors import Directors
from rbdae.kernels.conserving.joints import driven, primitives_of
from rbdae.kernels.conserving.newton import correction, units
from rbdae.kernels.conserving.variational import finish
from rbdae.kernels.memory import elements, head, newton_order, states
from rbdae.kernels.records import DIRECTOR_RATE

NOISE = 1e-10
"""Increments below this, squared and relative to the size of the system, count as that: what positions lose to
round-off is no reason to iterate."""


def place_at(m: Memory, y: Array) -> list[Array]:
    """Natural coordinates (x, d1, d2, d3) of the bodies at y, and of the ground."""
    gather_positions(m, y)
    place(m)
    return [np.vstack([s.x, s.d.reshape(3, 3)]) for s in states(m)]


def bodies_of(m: Memory, y: Array, h: Any, kind: type[Rodrigues]) -> list[Rodrigues]:
    """The bodies at the start of a step."""
    place_at(m, y)
    gather_velocities(m, y, head(m).n_q)
    kind = Directors if head(m).kind == DIRECTOR_RATE else kind
    return [kind(m, b, h) for b in range(head(m).n_bodies)]


def places(bodies: list[Rodrigues]) -> list[slice]:
    """The places of the unknowns of bodies."""
    ends = np.cumsum([0, *(body.o.nt + 3 for body in bodies)]).tolist()
    return [slice(*pair) for pair in pairwise(ends)]


@final
class Step:
    """A step with its unknowns.

    Attributes
    ----------
    z, d : mean natural coordinates of the bodies and the ground, and half of their increments
    """

    def __init__(self, m: Memory, t: Any, y: Array, h: Any, u: Array, kind: type[Rodrigues]) -> None:
        self.m, self.t, self.h = m, t + h * 0.5, h
        self.bodies = bodies_of(m, y, h, kind)
        self.states = y[head(m).states_at : head(m).states_at + head(m).n_states]
        self.primitives = primitives_of(m, t, h)
        self.own = places(self.bodies)
        for body, own in zip(self.bodies, self.own, strict=True):
            body.take(u[own])
        n = head(m).n_body_unknowns
        self.mu = u[n : n + head(m).n_rows]
        ground = states(m)[head(m).n_bodies]
        self.start = [*(body.z0 for body in self.bodies), np.vstack([ground.x, ground.d.reshape(3, 3)])]
        self.d = [*(body.d for body in self.bodies), np.zeros((4, 3), dtype=object)]
        self.z = [z + d for z, d in zip(self.start, self.d, strict=True)]
        self.at_joints = self.start if kind.at_start else self.z

    def forces(self) -> list[tuple[Array, Array]]:
        """h^2 / 2 times the natural forces (4, 3) on each body: its weight, and those of joints and applied forces."""
        half = self.h * self.h * 0.5
        acting = [np.zeros((4, 3), dtype=object) for _ in self.z]
        forces.add_applied(self.m, self.t, self.h, self.z, self.d, self.states, acting)
        for p in self.primitives:
            p.pull_back(self.at_joints, self.mu, acting)
        weights = [np.vstack([b.o.weight, b.o.weight_d.reshape(3, 3)]) * half for b in self.bodies]
        return [*zip(weights, acting, strict=False)]

    def joint_rows(self) -> Array:
        """g(z1, t1), 0 in dropped rows."""
        out = np.zeros(len(self.mu), dtype=object)
        for p in self.primitives:
            out[p.rows] = p.at_end(self.z, self.d)
        return out


def newton(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """The unknowns u after one more iteration of the step of size h from (t, y), and, after them, the size of
    the correction relative to that of the increments, or what the balances lacked before it (`Rodrigues.lacking`) if it
    is more: small corrections alone are no solution where the matrix is singular."""
    step = Step(m, t, y, h, u, kind)
    acting = step.forces()
    torques = [body.torque(forces) for body, (_, forces) in zip(step.bodies, acting, strict=True)]
    balances = [body.balance(*both, torque) for body, both, torque in zip(step.bodies, acting, torques, strict=True)]
    rows = np.concatenate([*balances, step.joint_rows()])
    n = len(rows)
    known = units(u[:n])
    for body, own in zip(step.bodies, step.own, strict=True):
        known += [(x, {own.stop - 3 + k: slope[k] for k in range(3)}) for x, slope in body.slopes]
    c = correction(m, rows, known, -rows, np.ravel(torques))
    lacking: Any = sum(body.lacking(each) for body, each in zip(step.bodies, balances, strict=True))
    weights = np.concatenate([body.weights for body in step.bodies])
    change = weights @ (c[: len(weights)] * c[: len(weights)])
    kept = newton_order(m)
    out[kept] = u[kept] + c[kept]
    size = 1e-300
    for body, z in zip(step.bodies, step.at_joints, strict=False):
        if body.o.nt == 3:
            size += (body.dx @ body.dx + z[0] @ z[0] * NOISE) * body.o.mass
        size += np.diag(body.o.inertia) @ (body.b * body.b + NOISE) * 4.0
    out[n] = sqrt(maximum(change, lacking) / size)


def predict(m: Memory, t: Any, y: Array, h: Any, out: Array) -> None:
    """The unknowns of a motion with constant velocities and without forces in the joints."""
    found = bodies_of(m, y, h, Rodrigues)
    for body, own in zip(found, places(found), strict=True):
        out[own] = [*body.dx0[: body.o.nt], *body.om]


def advance(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """The state y at t + r h, from the unknowns of the step in `u`, after which r stands.

    Between the ends the velocities v and Om are linear in time, and dx and b their integrals.
    """
    step = Step(m, t, y, h, u, kind)
    r = u[head(m).n_body_unknowns + head(m).n_rows]
    if kind.at_start:
        finish(step)
    for body in step.bodies:
        q, v = body.o.iq, head(m).n_q + body.o.iv
        parts = zip(body.position(r), body.end(r), strict=True)
        for at, (translation, rotation) in zip((q, v), parts, strict=True):
            both = np.concatenate([translation[: body.o.nt], rotation])
            out[at : at + len(both)] = both
    _advance_windings(step, out)


def _advance_windings(step: Step, out: Array) -> None:
    """The windings at the positions of out, within or at the end of the step: phi0 and the increment from there."""
    m = step.m
    turning = [e for e in elements(m)[: head(m).n_elements] if e.winding == 1]
    if not turning:
        return
    d = [(now - before) * 0.5 for now, before in zip(place_at(m, out), step.start, strict=True)]
    z = [before + half for before, half in zip(step.start, d, strict=True)]
    for e in turning:
        of = forces.displacements(m, e, forces.pair(z, e.body), forces.pair(d, e.body), step.states)
        out[head(m).states_at + e.state] = (of.mean + of.increments * 0.5)[0]


def work(m: Memory, t: Any, y: Array, u: Array, h: Any, out: Array, kind: type[Rodrigues]) -> None:
    """out[0] = the work in the step of what has no potential: what the energy changes by, exactly, in a scheme that
    keeps it. Drives do -la dg, with dg = G(z_mean) (z1 - z0), in which a prescribed angle has the direction half way.
    """
    step = Step(m, t, y, h, u, kind)
    done = forces.work(m, step.t, h, step.z, step.d, step.states)
    for p in driven(m, step.primitives):
        done -= step.mu[p.rows] @ p.along(step.z, step.d) * (4.0 / (h * h))
    out[0] = done
