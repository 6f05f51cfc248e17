"""What every formulation gives beside its equations: natural coordinates and constraint violations."""

from __future__ import annotations

from rbdae.kernels._jit import address, entry, jit, stage, vector_at
from rbdae.kernels.block import ANGULAR, head, states
from rbdae.kernels.bodies import _bilinear, _dot, gather_positions, gather_velocities, move, place
from rbdae.kernels.charts import DIRECTORS, QUATERNION, rate
from rbdae.kernels.drives import set_time
from rbdae.kernels.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.tree import chain_velocities, from_nu


@stage("ii")
def locate(m, y_at):
    """Natural positions and velocities at y, whatever its velocities are."""
    h = head(m)
    gather_positions(m, y_at)
    if h.reduced == 1:
        from_nu(m, y_at, h.n_q, 0)
    else:
        gather_velocities(m, y_at, h.n_q)
    place(m)
    move(m)
    if h.reduced == 1:
        chain_velocities(m)


@entry("ityo")
def natural(m, t, y, out):
    """out[24 b:24 b + 24] = (x, d, xdot, ddot) of every body."""
    set_time(m, t)
    locate(m, address(y))
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        i = 24 * b
        for k in range(3):
            out[i + k] = s.x[k]
            out[i + 12 + k] = s.xd[k]
        for k in range(9):
            out[i + 3 + k] = s.d[k]
            out[i + 15 + k] = s.dd[k]


@jit
def n_chart(m):
    """Internal constraints of one body's chart, whatever the velocities."""
    chart = head(m).chart
    if chart == QUATERNION:
        return 1
    if chart == DIRECTORS:
        return 6
    return 0


@stage("ii")
def violations(m, out_at):
    """out = (g, gdot): the internal constraints of the chart, body by body, then the joints; position, then velocity
    level. From placed and moved states."""
    out = vector_at(out_at)
    h = head(m)
    S = states(m)
    n = n_chart(m)
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
            if n == 1:
                out[i] = 0.5 * (_dot(s.a, s.a, 4) - 1.0)
                out[j] = _dot(s.a, v, 4)
            else:
                _orthonormality(m, b, address(v), out_at, i, j)
    if h.n_rows > 0:
        primitive_vectors(m, 1)
        # the joints' rows are numbered after the internal ones of the formulation
        primitive_residual(m, out_at, n * h.n_bodies - h.n_internal, 0)
        primitive_residual(m, out_at, half + n * h.n_bodies - h.n_internal, 1)


@stage("iiiiii", "directors")
def _orthonormality(m, b, v_at, out_at, i, j):
    v = vector_at(v_at)
    out = vector_at(out_at)
    s = states(m)[b]
    for k in range(6):
        out[i + k] = 0.0
        out[j + k] = 0.0
    _bilinear(s.a, s.a, out, i, 0.5)
    for k in range(3):
        out[i + k] -= 0.5
    _bilinear(s.a, v, out, j, 1.0)


@entry("ityo")
def constraints(m, t, y, out):
    """(g, gdot) at y."""
    set_time(m, t)
    locate(m, address(y))
    violations(m, address(out))
