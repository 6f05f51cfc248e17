"""The outputs of every formulation beside its equations: natural coordinates and constraint violations."""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies import internal_constraints
from rbdae.kernels.bodies.gather import gather_positions, gather_velocities
from rbdae.kernels.bodies.natural import move, parameter_rates, place
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.null_space.quasi_velocities import velocities_from_nu
from rbdae.rotations.chart import numbered


def locate(m: Memory, y: Array) -> None:
    """Natural positions and velocities at y, whatever its velocities are."""
    h = m.head
    gather_positions(m, y)
    place(m)
    if h.structure != "any":
        velocities_from_nu(m, y, h.n_q)
    else:
        gather_velocities(m, y, h.n_q)
        move(m)


@entry("ityo")
def natural(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[24 b:24 b + 24] = (x, d, xdot, ddot) of every body."""
    set_time(m, t)
    locate(m, y)
    for b, s in enumerate(m.states[:-1]):
        out[24 * b : 24 * b + 24] = np.concatenate([s.x, s.d, s.xd, s.dd])


@entry("ityo")
def distances(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[b] = the angle from the rotation parameters of every body to the singular set of their chart."""
    chart = numbered(m.head.chart)
    gather_positions(m, y)
    assert chart.distance is not None, "it is asked for charts that have one"
    for b, s in enumerate(m.states[:-1]):
        out[b] = chart.distance(s.a[: chart.n])


def violations(m: Memory, out: Array) -> None:
    """out = (g, gdot) of placed and moved states: internal constraints body by body, then joints; g, then gdot."""
    h = m.head
    n = h.chart_internal
    half = n * h.n_bodies + h.n_rows
    for b, s in enumerate(m.states[:-1] if n > 0 else ()):
        i = n * b
        out[i : i + n] = internal_constraints.constraints(m, s.a)
        out[half + i : half + i + n] = internal_constraints.rates(m, s.a, parameter_rates(m, s))
    if h.n_rows > 0:
        primitive_vectors(m, 1)
        # the joints' rows are numbered after the internal ones of the formulation
        primitive_residual(m, out, n * h.n_bodies - h.n_internal, 0)
        primitive_residual(m, out, half + n * h.n_bodies - h.n_internal, 1)


def position_rows(m: Memory, out: Array, row: int) -> None:
    """out[row:] = g: the internal constraints of the chart, body by body, then the kept rows of the joints; forms with
    angular velocities. From placed and moved states."""
    h = m.head
    first = h.chart_internal * h.n_bodies
    g = np.zeros(2 * (first + h.n_rows), dtype=out.dtype)
    violations(m, g)
    kept = [first + p.row + k for p in m.primitives for k in range(p.n) if p.keep[k] == 1]
    at = [*range(first), *kept]
    out[row : row + len(at)] = g[at]


@entry("ityo")
def constraints(m: Memory, t: float, y: Array, out: Array) -> None:
    """(g, gdot) at y."""
    set_time(m, t)
    locate(m, y)
    violations(m, out)
