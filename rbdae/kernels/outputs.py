"""The outputs of every formulation beside its equations: natural coordinates and constraint violations."""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_positions, gather_velocities
from rbdae.kernels.bodies.internal_constraints import constraints_of_body
from rbdae.kernels.bodies.natural import move, place
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.memory import constraint_values, head, primitives, states
from rbdae.kernels.null_space.quasi_velocities import velocities_from_nu
from rbdae.kernels.records import ANGULAR
from rbdae.rotations.chart import distance, rate


def locate(m: Memory, y: Array) -> None:
    """Natural positions and velocities at y, whatever its velocities are."""
    h = head(m)
    gather_positions(m, y)
    place(m)
    if h.structure != 0:
        velocities_from_nu(m, y, h.n_q)
    else:
        gather_velocities(m, y, h.n_q)
        move(m)


@entry("ityo")
def natural(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[24 b:24 b + 24] = (x, d, xdot, ddot) of every body."""
    set_time(m, t)
    locate(m, y)
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        out[24 * b : 24 * b + 24] = np.concatenate([s.x[:3], s.d[:9], s.xd[:3], s.dd[:9]])


@entry("ityo")
def distances(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[b] = the angle from the rotation parameters of every body to the singular set of their chart."""
    gather_positions(m, y)
    S = states(m)
    h = head(m)
    for b in range(h.n_bodies):
        distance(h.chart, S[b].a, S[b].s)
        out[b] = S[b].s[0]


def violations(m: Memory, out: Array) -> None:
    """out = (g, gdot): the internal constraints of the chart, body by body, then the joints; position, then velocity
    level. From placed and moved states."""
    h = head(m)
    S = states(m)
    n = h.chart_internal
    half = n * h.n_bodies + h.n_rows
    if n > 0:
        for b in range(h.n_bodies):
            s = S[b]
            i = n * b
            j = half + i
            v = s.w
            if h.kind == ANGULAR:
                rate(h.chart, s.a, s.om, s.ad)
                v = s.ad
            constraints_of_body(m, b, v, out, i, j)
    if h.n_rows > 0:
        primitive_vectors(m, 1)
        # the joints' rows are numbered after the internal ones of the formulation
        primitive_residual(m, out, n * h.n_bodies - h.n_internal, 0)
        primitive_residual(m, out, half + n * h.n_bodies - h.n_internal, 1)


def position_rows(m: Memory, out: Array, row: int) -> None:
    """out[row:] = g: the internal constraints of the chart, body by body, then the kept rows of the joints; forms with
    angular velocities. From placed and moved states."""
    h = head(m)
    first = h.chart_internal * h.n_bodies
    g = constraint_values(m)
    violations(m, g)
    for i in range(first):
        out[row + i] = g[i]
    row += first
    C = primitives(m)
    for i in range(h.n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 1:
                out[row] = g[first + p.row + k]
                row += 1


@entry("ityo")
def constraints(m: Memory, t: float, y: Array, out: Array) -> None:
    """(g, gdot) at y."""
    set_time(m, t)
    locate(m, y)
    violations(m, out)
