"""Projection onto the constraint manifold; [NS], section 6: violations at a state, and a step from there.

Rotations come first, explicitly: (63, P) for quaternions, [Klu76] and [Spu78] for directors. Rates of coordinates go
with them (`turn_velocities`), or stay, as in the paper. The joints follow by
Newton's method for (62, P),

    M (q - q*) + G^T chi = 0,  g(q) = 0,

in displacements of the velocity space (x, rotation), and the velocities by (62, V), which is linear:

    M (v - v*) + G^T eta = 0,  G v + g_I = 0.

Both are one step: with w = u + a v it finds d with

    M (d - w) + G^T la = 0,    G d + (1 - a) g + a g_I = 0,

where a = 0 and u = 0 is Newton's step from y, a = 1 and u = 0 gives the velocities. `rbdae.machine.loops.correction`
has the iteration. Suspended joint equations, near a singular position, move nothing: a violation delta would move the
state by delta/sigma. Beyond it they count again.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory, maximum, select, sqrt
from rbdae.kernels.bodies.dynamics import apply_mass, apply_mass_matrix
from rbdae.kernels.bodies.gather import (
    collect_velocities,
    gather_material,
    gather_positions,
    gather_velocities,
    moving,
    write_body,
)
from rbdae.kernels.bodies.natural import move, place, to_spatial, velocity_basis
from rbdae.kernels.bodies.velocities import mass
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import partial_rates, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.linear.saddle import SUSPENDED, add_joints, factorise, reduce_bodies, reduce_gradients, solve_saddle
from rbdae.kernels.outputs import violations
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE, SPATIAL_VELOCITIES
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import axial, frame, reciprocal, skew, stacked

MORE_GIVEN = 2
"""Numbers behind u for a step: a; 1 where bodies go by u and not by d."""


POLAR_STEPS = 6
"""Newton's method for the polar factor is converged after them if the stretch is between 0.3 and 3.4."""


def normalise_rotations(m: Memory) -> None:
    """The rotation parameters of all bodies onto the chart's internal constraints."""
    chart = numbered(m.head.chart)
    if chart.normalise is not None:
        for s in m.states[:-1]:
            s.a[: chart.n] = chart.normalise(s.a[: chart.n])


def turn_velocities(m: Memory, how: float) -> None:
    """Rates of coordinates, or their momenta, are divided by what `normalise_rotations` divides the coordinates by, if
    `how` is 2: so Omega = 2 conj(p) o pdot / |p|^2 stays, and of directors D = R S the spatial om of Ddot D^-1, if R
    takes the place of D. Momenta drift as coordinates do."""
    h = m.head
    if h.kind == ANGULAR or h.structure != "any":
        return
    for o, s in moving(m):
        if h.kind == QUATERNION_RATE:
            n = select(how > 1.5, 1.0 / sqrt(s.a[:4] @ s.a[:4]), 1.0)
            s.w[:4] *= n
            s.p[:4] *= n
            continue
        D = frame(s.a)
        om = 0.5 * axial(frame(s.w) @ reciprocal(D).T)
        for _ in range(POLAR_STEPS):
            D = 0.5 * (D + reciprocal(D))
        for at, new in ((s.a, stacked(D)), (s.w, stacked(skew(om) @ D))):
            at[:] = np.array([select(how > 1.5, x, y) for x, y in zip(new, at, strict=True)])
        if h.momenta == 1:
            s.p[:] = mass(DIRECTOR_RATE, o, s, s.w)


def displace(m: Memory) -> None:
    """q += the displacement in `solution`; rotations return to their internal constraints."""
    h, d = m.head, m.solution
    for o, s in moving(m):
        i = o.iv + o.nt
        turning = d[i : i + o.nr]
        s.x[: o.nt] += d[o.iv : i]
        s.a[: o.na] += numbered(h.chart).rate(s.a[: o.na], turning) if h.kind == ANGULAR else turning
    normalise_rotations(m)


def take_velocities(m: Memory) -> None:
    """The velocities in `solution`, and what the unknowns are in place of them, to the states of the bodies."""
    gather_material(m, m.solution)
    for b, (o, s) in enumerate(moving(m)):
        if m.head.momenta == 1:
            s.px[: o.nt] = s.xd[: o.nt] * o.mass
            apply_mass(m, b, s.w, s.p)
        elif m.head.spatial == SPATIAL_VELOCITIES:
            s.p[:3] = to_spatial(s, s.w[:3])


def place_at(m: Memory, t: float, y: Array) -> None:
    """The bodies at (t, y), with the velocities that are unknowns."""
    set_time(m, t)
    gather_positions(m, y)
    place(m)
    if m.head.structure == "any":
        gather_velocities(m, y, m.head.n_q)
        move(m)
    velocity_basis(m)


def open_joints(m: Memory) -> None:
    """g of the placed joints to `constraint_side` and g_I to `square_side`, without dropped rows."""
    m.square_side[: m.head.n_la] = 0.0
    primitive_residual(m, m.constraint_side, 0, 0)
    dropped_residual(m, m.constraint_side, 0)
    partial_rates(m, m.square_side, 0, 1.0)
    dropped_residual(m, m.square_side, 0)


def unclosed(m: Memory, t: float, y: Array) -> None:
    """The joint equations at (t, y). Leaves the gradients with H, N and Ji of the bodies, g and g_I."""
    place_at(m, t, y)
    primitive_vectors(m, 1)
    gradients(m)
    reduce_bodies(m, 0)
    reduce_gradients(m)
    open_joints(m)


def onto_joints(m: Memory, t: float, y: Array) -> Array:
    """The change of the velocities at (t, y) by (62, V), for joints without drives."""
    unclosed(m, t, y)
    w = m.solution
    collect_velocities(m, w)
    before = w.copy()
    m.constraint_side[: m.head.n_la] = 0.0
    factorise(m, 0)
    add_joints(m)
    return w - before


def start_step(m: Memory, u: Array, a: float) -> None:
    """w = u + a v to `solution`. Reads the moved bodies."""
    w = m.solution
    n = m.head.n_v
    if m.head.structure == "any":
        collect_velocities(m, w)
        w[:n] = u[:n] + w[:n] * a
    else:
        w[:n] = u[:n]


def loosen(m: Memory) -> None:
    """`solution`: displacements, or velocities, to the nearest ones that respect the internal constraints."""
    apply_mass_matrix(m, m.solution, m.right_hand_side, 1.0)
    m.constraint_side[: m.head.n_la] = 0.0
    factorise(m, 0)
    solve_saddle(m)


def write_state(m: Memory, y: Array) -> None:
    """Positions and velocities of the states to y."""
    h = m.head
    for o, s in moving(m):
        write_body(o, s.x, s.a[: o.na], y, o.iq)
        if h.structure == "any":
            w = s.p if h.chained == 1 else s.w
            write_body(o, s.px if h.momenta == 1 else s.xd, w[: o.nr], y, h.n_q + o.iv)


@entry("ityyo")
def violated(m: Memory, t: float, y: Array, how: Array, out: Array) -> None:
    """(g, gdot, y with normalised rotations) to `out`; `how[0]` says how velocities turn with them. Where velocities
    are not unknowns, gdot is 0 and the last part has positions alone."""
    h = m.head
    place_at(m, t, y)
    n = h.chart_internal * h.n_bodies + h.n_rows
    violations(m, out)
    if h.structure != "any":
        out[n : 2 * n] = 0.0
    turn_velocities(m, maximum(1.0, how[0]))
    normalise_rotations(m)
    write_state(m, out[2 * n :])


@entry("ityyo")
def step(m: Memory, t: float, y: Array, given: Array, out: Array) -> None:
    """(d, positions after d with velocities that are d, 1 for each constraint that is not suspended, 1 + the place of
    the first vanishing pivot or 0) to `out`; `given` is (u, a, 1 where bodies go by u and not by d)."""
    h = m.head
    n_v = h.n_v
    a = given[n_v]
    by_given = given[n_v + 1]
    place_at(m, t, y)
    primitive_vectors(m, 1)
    gradients(m)
    factorise(m, 0)
    start_step(m, given, a)
    apply_mass_matrix(m, m.solution, m.right_hand_side, 1.0)
    open_joints(m)
    joints = slice(h.n_internal, h.n_la)
    g, g_I = m.constraint_side, m.square_side
    g[: h.n_internal] = 0.0
    g[joints] = -(g[joints] * (1.0 - a) + g_I[joints] * a)
    solve_saddle(m)
    d = m.solution
    out[:n_v] = d[:n_v]
    if h.structure == "any":
        take_velocities(m)
    d[:n_v] = d[:n_v] * (1.0 - by_given) + given[:n_v] * by_given
    displace(m)
    write_state(m, out[n_v:])
    first = n_v + h.n_q + n_v
    count = h.chart_internal * h.n_bodies
    out[first : first + count] = 1.0
    for p in m.primitives[: h.n_primitives]:
        for k in range(p.n):
            kept = select(abs(m.saddle.pivots[p.slot[k]]) < SUSPENDED, 1.0, 0.0)
            out[first + count + p.row - h.n_internal + k] = kept
    out[first + count + h.n_rows] = h.singular
