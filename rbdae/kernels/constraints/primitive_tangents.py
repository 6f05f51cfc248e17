"""Tangents of the primitive constraints at the three levels: rows of the Jacobian."""

from __future__ import annotations

from rbdae.compiler.access import Memory, is_zero
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies.chain_rule import (
    scatter_acceleration,
    scatter_rotation_acceleration,
    scatter_rotation_velocity,
    scatter_velocity,
)
from rbdae.kernels.constraints.gradients import add_times, columns_of, zero
from rbdae.kernels.constraints.redundant_rows import drop_tangent
from rbdae.kernels.memory import bodies, head, primitives, rows, states, tangent_memory
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.kernels.scatter import scatter, scatter_block


@stage("iiiff", "joints", optional=True)
def scatter_primitive_rows(m: Memory, row: int, level: int, c: float, scale: float) -> None:
    """scale times the tangents of the joint constraints at one level; c is the factor of the rates at level 2. Reads
    the gradients from level 1 on, and the tangents of the natural coordinates up to the level."""
    h = head(m)
    C = primitives(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        for side in range(2):
            if B[p.body[side]].fixed == 1:
                continue
            if p.linear == 1:
                _scatter_linear_row(m, i, side, row + p.row, level, c, scale)
            else:
                _scatter_bilinear_row(m, i, side, row + p.row, level, c, scale)


@stage("ii", "joints", optional=True)
def scatter_kept_positions(m: Memory, row: int) -> None:
    """The tangents of the joint constraints on positions, where rows that are dropped have no place. Reads the tangents
    of the natural coordinates."""
    C = primitives(m)
    B = bodies(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for side in range(2):
            if B[p.body[side]].fixed == 1:
                continue
            if p.linear == 0:
                if p.keep[0] == 1:
                    _scatter_bilinear_row(m, i, side, row, 0, 0.0, 1.0)
            elif p.whole == 1:
                _scatter_linear_row(m, i, side, row, 0, 0.0, 1.0)
            else:
                _scatter_kept_linear_rows(m, i, side, row)
        for k in range(p.n):
            row += p.keep[k]


@stage("iiii", "redundant")
def _scatter_kept_linear_rows(m: Memory, i: int, side: int, row: int) -> None:
    """P = s(t) on positions, the kept of its rows one after the other."""
    h = head(m)
    p = primitives(m)[i]
    o = bodies(m)[p.body[side]]
    A = tangent_memory(m).Ca[side]
    columns_of(h.kind, p.A, side, states(m)[p.body[side]].D0, o.na, A)
    for k in range(p.n):
        if p.keep[k] == 1:
            if o.nt == 3:
                scatter(m, row, o.iq + k, p.A[4 * side])
            for j in range(o.na):
                scatter(m, row, o.iq + o.nt + j, A[k, j])
            row += 1


@stage("iiiiiff", "joints")
def _scatter_linear_row(m: Memory, i: int, side: int, row: int, level: int, c: float, scale: float) -> None:
    """P = s(t) is linear in the natural coordinates: only the rotations have tangents that change."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent_memory(m)
    if o.nt == 3:
        f = scale * p.A[4 * side]
        if level > 0 and h.momenta == 1:
            f /= o.mass
        if level == 2:
            f *= c
        column = o.iq if level == 0 else h.n_q + o.iv
        if not is_zero(f) or h.mode != 0:
            # its zeros, too: rows of one structure are factorised together (a third of the time of ggl)
            for k in range(3):
                for j in range(3):
                    T.Cx[side, k, j] = 0.0
                T.Cx[side, k, k] = f * p.keep[k]
            scatter_block(m, row, column, T.Cx[side], 3, 3, 1.0)
    if level == 0:
        columns_of(h.kind, p.A, side, s.D0, o.na, T.Ca[side])
    elif h.kind != DIRECTOR_RATE:
        if level == 1:
            columns_of(h.kind, p.A, side, s.D1, o.na, T.Ca[side])
        else:
            columns_of(h.kind, p.A, side, s.D2, o.na, T.Ca[side])
            columns_of(h.kind, p.A, side, s.W, o.nr, T.Cw[side])
    if p.whole == 0:
        drop_tangent(m, i, side)
    if level == 0 or h.kind != DIRECTOR_RATE:
        scatter_block(m, row, o.iq + o.nt, T.Ca[side], 3, o.na, scale)
    if level == 1:
        scatter_rotation_velocity(m, b, row, r.Gw[side], 3, scale)
    elif level == 2:
        if h.kind != DIRECTOR_RATE:
            scatter_rotation_velocity(m, b, row, T.Cw[side], 3, scale)
        scatter_rotation_acceleration(m, b, row, r.Gw[side], 3, c, scale)


@stage("iiiiiff", "bilinear")
def _scatter_bilinear_row(m: Memory, i: int, side: int, row: int, level: int, c: float, scale: float) -> None:
    """scale P . Q = c(t)."""
    r = rows(m)[i]
    p = primitives(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    T = tangent_memory(m)
    _bilinear_tangents(m, i, side, level)
    if p.moving == 1 and level > 0:
        _add_moving_tangents(m, i, side, level)
    if p.whole == 0:
        drop_tangent(m, i, side)
    if o.nt == 3:
        scatter_block(m, row, o.iq, T.Cx[side], 1, 3, scale)
    scatter_block(m, row, o.iq + o.nt, T.Ca[side], 1, o.na, scale)
    if level == 1:
        scatter_velocity(m, b, row, r.Gx[side], r.Gw[side], 1, scale)
    elif level == 2:
        scatter_velocity(m, b, row, T.Cu[side], T.Cw[side], 1, scale)
        scatter_acceleration(m, b, row, r.Gx[side], r.Gw[side], 1, c, scale)


@stage("iiii", "bilinear")
def _bilinear_tangents(m: Memory, i: int, side: int, level: int) -> None:
    """Cx, Ca and, at level 2, Cu, Cw: tangents of the row with respect to x, a, xdot, w."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent_memory(m)
    ax = p.A[4 * side]
    bx = p.B[4 * side]
    f = p.scale
    Ca = T.Ca[side]
    Pa = T.Pa[side]
    Qa = T.Qa[side]
    columns_of(h.kind, p.A, side, s.D0, o.na, Pa)
    columns_of(h.kind, p.B, side, s.D0, o.na, Qa)
    if h.kind != DIRECTOR_RATE and level > 0:
        columns_of(h.kind, p.A, side, s.D1, o.na, T.Pda[side])
        columns_of(h.kind, p.B, side, s.D1, o.na, T.Qda[side])
    zero(Ca, o.na, 1)
    if level == 0:
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Q[k] + bx * r.P[k])
        add_times(r.Q, Pa, o.na, f, Ca)
        add_times(r.P, Qa, o.na, f, Ca)
    elif level == 1:
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Qd[k] + bx * r.Pd[k])
        add_times(r.Qd, Pa, o.na, f, Ca)
        add_times(r.Pd, Qa, o.na, f, Ca)
        if h.kind != DIRECTOR_RATE:
            add_times(r.Q, T.Pda[side], o.na, f, Ca)
            add_times(r.P, T.Qda[side], o.na, f, Ca)
    else:
        Cw = T.Cw[side]
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Qdd[k] + bx * r.Pdd[k])
            T.Cu[side, 0, k] = 2.0 * f * (ax * r.Qd[k] + bx * r.Pd[k])
        add_times(r.Qdd, Pa, o.na, f, Ca)
        add_times(r.Pdd, Qa, o.na, f, Ca)
        zero(Cw, o.nr, 1)
        add_times(r.Qd, r.Pw[side], o.nr, 2.0 * f, Cw)
        add_times(r.Pd, r.Qw[side], o.nr, 2.0 * f, Cw)
        if h.kind != DIRECTOR_RATE:
            work = T.work[side]
            add_times(r.Qd, T.Pda[side], o.na, 2.0 * f, Ca)
            add_times(r.Pd, T.Qda[side], o.na, 2.0 * f, Ca)
            columns_of(h.kind, p.A, side, s.D2, o.na, work)
            add_times(r.Q, work, o.na, f, Ca)
            columns_of(h.kind, p.B, side, s.D2, o.na, work)
            add_times(r.P, work, o.na, f, Ca)
            columns_of(h.kind, p.A, side, s.W, o.nr, work)
            add_times(r.Q, work, o.nr, f, Cw)
            columns_of(h.kind, p.B, side, s.W, o.nr, work)
            add_times(r.P, work, o.nr, f, Cw)


@stage("iiii", "rheonomic")
def _add_moving_tangents(m: Memory, i: int, side: int, level: int) -> None:
    """The terms that the rates of the coefficients A(t) add to Ca and Cw."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent_memory(m)
    f = p.scale
    work = T.work[side]
    columns_of(h.kind, p.Ad, side, s.D0, o.na, work)
    if level == 1:
        add_times(r.Q, work, o.na, f, T.Ca[side])
        return
    add_times(r.Qd, work, o.na, 2.0 * f, T.Ca[side])
    columns_of(h.kind, p.Add, side, s.D0, o.na, work)
    add_times(r.Q, work, o.na, f, T.Ca[side])
    if h.kind != DIRECTOR_RATE:
        columns_of(h.kind, p.Ad, side, s.D1, o.na, work)
        add_times(r.Q, work, o.na, 2.0 * f, T.Ca[side])
    columns_of(h.kind, p.Ad, side, s.B, o.nr, work)
    add_times(r.Q, work, o.nr, 2.0 * f, T.Cw[side])
