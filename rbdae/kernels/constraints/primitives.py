"""Kernels of the primitive constraints.

Over the natural coordinates Z = (x, d1, d2, d3) of two bodies a primitive has the vectors P = sum A_k Z_k and
Q = sum B_k Z_k, and says

* linear (coincidence, 3 equations):  P - s(t) = 0;
* bilinear (dot-1, dot-2, distance):  scale P . Q - c(t) = 0.

Both are at most quadratic in Z, so the Hessian is constant. Rates follow by the product rule; the tangents come from
those of P and Q, which are 3 x n matrices per body ([NS], sections 2 and 5, (5) for g_I and g_II).
"""

from __future__ import annotations

from rbdae.compiler.jit import jit, stage, vector_at
from rbdae.kernels.bodies.chain_rule import (
    put_acceleration,
    put_rotation_acceleration,
    put_rotation_velocity,
    put_velocity,
)
from rbdae.kernels.memory import DIRECTOR_RATE, bodies, head, primitives, rows, states, tangent, vectors
from rbdae.kernels.scatter import put, put_block, put_identity, put_transposed


@jit
def _combine(c, x1, d1, x2, d2, out):
    """out = sum c_k Z_k."""
    for k in range(3):
        out[k] = (
            c[0] * x1[k]
            + c[1] * d1[k]
            + c[2] * d1[3 + k]
            + c[3] * d1[6 + k]
            + c[4] * x2[k]
            + c[5] * d2[k]
            + c[6] * d2[3 + k]
            + c[7] * d2[6 + k]
        )


@stage("ii", "joints")
def primitive_vectors(m, order):
    """P and Q of all primitives, with their rates up to the given order (0, 1, 2)."""
    C = primitives(m)
    R = rows(m)
    S = states(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        _combine(p.A, s1.x, s1.d, s2.x, s2.d, r.P)
        if order > 0:
            _combine(p.A, s1.xd, s1.dd, s2.xd, s2.dd, r.Pd)
        if order > 1:
            _combine(p.A, s1.xdd, s1.ddd, s2.xdd, s2.ddd, r.Pdd)
        if p.linear == 0:
            _combine(p.B, s1.x, s1.d, s2.x, s2.d, r.Q)
            if order > 0:
                _combine(p.B, s1.xd, s1.dd, s2.xd, s2.dd, r.Qd)
            if order > 1:
                _combine(p.B, s1.xdd, s1.ddd, s2.xdd, s2.ddd, r.Qdd)
            if p.moving == 1 and order > 0:
                _add_moving_rates(m, i, order)


@stage("iii", "rheonomic")
def _add_moving_rates(m, i, order):
    """The rates of the coefficients A(t): Pd += A' Z, Pdd += 2 A' Zd + A'' Z."""
    p = primitives(m)[i]
    r = rows(m)[i]
    s1 = states(m)[p.body[0]]
    s2 = states(m)[p.body[1]]
    _combine(p.Ad, s1.x, s1.d, s2.x, s2.d, r.value)
    for k in range(3):
        r.Pd[k] += r.value[k]
    if order > 1:
        _combine(p.Ad, s1.xd, s1.dd, s2.xd, s2.dd, r.value)
        for k in range(3):
            r.Pdd[k] += 2.0 * r.value[k]
        _combine(p.Add, s1.x, s1.d, s2.x, s2.d, r.value)
        for k in range(3):
            r.Pdd[k] += r.value[k]


@stage("ii", "rheonomic")
def subtract_moving_rates(m, out_at):
    """out -= the rate of g at rest that comes from the coefficients A(t)."""
    out = vector_at(out_at)
    C = primitives(m)
    R = rows(m)
    S = states(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        if p.moving == 1:
            s1 = S[p.body[0]]
            s2 = S[p.body[1]]
            _combine(p.Ad, s1.x, s1.d, s2.x, s2.d, r.value)
            out[p.row] -= p.scale * (r.value[0] * r.Q[0] + r.value[1] * r.Q[1] + r.value[2] * r.Q[2])


@stage("iiii", "joints")
def primitive_residual(m, out_at, row, level):
    """Joint constraints at position (0), velocity (1) or acceleration (2) level."""
    out = vector_at(out_at)
    C = primitives(m)
    R = rows(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        n = row + p.row
        if p.linear == 1:
            if level == 0:
                for k in range(3):
                    out[n + k] = r.P[k] - p.offset[k]
            elif level == 1:
                for k in range(3):
                    out[n + k] = r.Pd[k] - p.offset_rate[k]
            else:
                for k in range(3):
                    out[n + k] = r.Pdd[k] - p.offset_acceleration[k]
        elif level == 0:
            out[n] = p.scale * (r.P[0] * r.Q[0] + r.P[1] * r.Q[1] + r.P[2] * r.Q[2]) - p.offset[0]
        elif level == 1:
            t = -p.offset_rate[0] / p.scale
            u = t + r.P[0] * r.Qd[0] + r.Pd[0] * r.Q[0]
            for k in range(1, 3):
                u += r.P[k] * r.Qd[k] + r.Pd[k] * r.Q[k]
            out[n] = p.scale * u
        else:
            t = -p.offset_acceleration[0] / p.scale
            u = t + r.P[0] * r.Qdd[0] + 2.0 * r.Pd[0] * r.Qd[0] + r.Pdd[0] * r.Q[0]
            for k in range(1, 3):
                u += r.P[k] * r.Qdd[k] + 2.0 * r.Pd[k] * r.Qd[k] + r.Pdd[k] * r.Q[k]
            out[n] = p.scale * u


@jit
def add_natural(c, f, scale, fx1, fd1, fx2, fd2):
    """Natural forces of both bodies += scale c_k f."""
    for k in range(3):
        g = scale * f[k]
        fx1[k] += c[0] * g
        fd1[k] += c[1] * g
        fd1[3 + k] += c[2] * g
        fd1[6 + k] += c[3] * g
        fx2[k] += c[4] * g
        fd2[k] += c[5] * g
        fd2[3 + k] += c[6] * g
        fd2[6 + k] += c[7] * g


@stage("i", "joints")
def primitive_forces(m):
    """Add the constraint forces -G^T la of the joints to the natural forces."""
    C = primitives(m)
    R = rows(m)
    S = states(m)
    la = vectors(m)[0]
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        s1 = S[p.body[0]]
        s2 = S[p.body[1]]
        if p.linear == 1:
            for k in range(3):
                r.la[k] = la[p.row + k] * p.keep[k]
            add_natural(p.A, r.la, -1.0, s1.fx, s1.fd, s2.fx, s2.fd)
        else:
            f = -p.scale * la[p.row] * p.keep[0]
            add_natural(p.A, r.Q, f, s1.fx, s1.fd, s2.fx, s2.fd)
            add_natural(p.B, r.P, f, s1.fx, s1.fd, s2.fx, s2.fd)
            r.la[0] = la[p.row] * p.keep[0]


@jit
def columns_of(kind, c, side, D, n, out):
    """out[:, :n] = sum_i c_i D[3 i:3 i + 3, :n] over the directors of one side."""
    j = 4 * side
    if kind == DIRECTOR_RATE:
        for k in range(3):
            for i in range(9):
                out[k, i] = 0.0
        for i in range(3):
            for k in range(3):
                out[k, 3 * i + k] = c[j + 1 + i]
    else:
        a = c[j + 1]
        b = c[j + 2]
        e = c[j + 3]
        for k in range(3):
            for i in range(n):
                out[k, i] = a * D[k, i] + b * D[3 + k, i] + e * D[6 + k, i]


@jit
def _zero(T, n, rows_):
    for k in range(rows_):
        for i in range(n):
            T[k, i] = 0.0


@jit
def _times(f, T, n, scale, out):
    """out[0, :n] += scale f^T T."""
    for i in range(n):
        out[0, i] += scale * (f[0] * T[0, i] + f[1] * T[1, i] + f[2] * T[2, i])


@stage("i", "joints")
def gradients(m):
    """G with respect to (xdot, w): Gx, Gw of both sides; needs B of the bodies and P, Q."""
    h = head(m)
    C = primitives(m)
    R = rows(m)
    S = states(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            b = p.body[side]
            if B[b].fixed == 1:
                continue
            n = B[b].nr
            if p.linear == 1:
                columns_of(h.kind, p.A, side, S[b].B, n, r.Gw[side])
                for k in range(3):
                    for j in range(3):
                        r.Gx[side, k, j] = 0.0
                    r.Gx[side, k, k] = p.A[4 * side]
            else:
                _bilinear_gradient(m, i, side)
            if p.whole == 0:
                _drop_gradient(m, i, side)


@stage("iii", "bilinear")
def _bilinear_gradient(m, i, side):
    """scale (Q^T dP + P^T dQ)."""
    kind = head(m).kind
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    n = bodies(m)[b].nr
    D = states(m)[b].B
    columns_of(kind, p.A, side, D, n, r.Pw[side])
    columns_of(kind, p.B, side, D, n, r.Qw[side])
    for k in range(3):
        r.Gx[side, 0, k] = p.scale * (p.A[4 * side] * r.Q[k] + p.B[4 * side] * r.P[k])
    _zero(r.Gw[side], n, 1)
    _times(r.Q, r.Pw[side], n, p.scale, r.Gw[side])
    _times(r.P, r.Qw[side], n, p.scale, r.Gw[side])


@stage("iii", "redundant")
def _drop_gradient(m, i, side):
    """The gradients of the equations that are left out as redundant become zero."""
    p = primitives(m)[i]
    r = rows(m)[i]
    for k in range(p.n):
        if p.keep[k] == 0:
            for j in range(3):
                r.Gx[side, k, j] = 0.0
            for j in range(9):
                r.Gw[side, k, j] = 0.0


@stage("iii", "redundant")
def _drop_tangent(m, i, side):
    """Likewise their tangents."""
    p = primitives(m)[i]
    c = tangent(m)
    for k in range(p.n):
        if p.keep[k] == 0:
            for j in range(3):
                c.Cx[side, k, j] = 0.0
                c.Cu[side, k, j] = 0.0
            for j in range(9):
                c.Ca[side, k, j] = 0.0
                c.Cw[side, k, j] = 0.0


@stage("iii", "redundant")
def clear_dropped(m, out_at, row):
    """Zero in the rows of the equations that are left out."""
    out = vector_at(out_at)
    C = primitives(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                out[row + p.row + k] = 0.0


@stage("iiiii", "redundant")
def dropped_residual(m, out_at, row, y_at, column):
    """The multipliers of the equations that are left out are zero: their rows of the residual."""
    out = vector_at(out_at)
    y = vector_at(y_at)
    C = primitives(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                out[row + p.row + k] = y[column + p.row + k]


@stage("iiif", "redundant")
def put_dropped(m, row, column, scale):
    """The tangent of `dropped_residual`."""
    C = primitives(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                put(m, row + p.row + k, column + p.row + k, scale)


@stage("iiiff", "joints")
def put_primitive_rows(m, row, level, c, scale):
    """scale times the rows of the joint constraints at one level, c being the factor of the rates at level 2; needs
    `gradients` from the velocity level on, and the tangents of the bodies up to the level."""
    h = head(m)
    C = primitives(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        for side in range(2):
            if B[p.body[side]].fixed == 1:
                continue
            if p.linear == 1:
                _put_linear_row(m, i, side, row + p.row, level, c, scale)
            else:
                _put_bilinear_row(m, i, side, row + p.row, level, c, scale)


@stage("iiiiiff", "joints")
def _put_linear_row(m, i, side, row, level, c, scale):
    """P = s(t) is linear in the natural coordinates: only those of the rotation have tangents that change."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent(m)
    if o.nt == 3:
        f = scale * p.A[4 * side]
        if level > 0 and h.momenta == 1:
            f /= o.mass
        if level == 2:
            f *= c
        column = o.iq if level == 0 else h.n_q + o.iv
        if f != 0.0 or h.mode != 0:
            # its zeros, too: rows of one structure are factorised together (a third of the time of ggl)
            for k in range(3):
                for j in range(3):
                    T.Cx[side, k, j] = 0.0
                T.Cx[side, k, k] = f * p.keep[k]
            put_block(m, row, column, T.Cx[side], 3, 3, 1.0)
    if level == 0:
        columns_of(h.kind, p.A, side, s.D0, o.na, T.Ca[side])
    elif h.kind != DIRECTOR_RATE:
        if level == 1:
            columns_of(h.kind, p.A, side, s.D1, o.na, T.Ca[side])
        else:
            columns_of(h.kind, p.A, side, s.D2, o.na, T.Ca[side])
            columns_of(h.kind, p.A, side, s.W, o.nr, T.Cw[side])
    if p.whole == 0:
        _drop_tangent(m, i, side)
    if level == 0 or h.kind != DIRECTOR_RATE:
        put_block(m, row, o.iq + o.nt, T.Ca[side], 3, o.na, scale)
    if level == 1:
        put_rotation_velocity(m, b, row, r.Gw[side], 3, scale)
    elif level == 2:
        if h.kind != DIRECTOR_RATE:
            put_rotation_velocity(m, b, row, T.Cw[side], 3, scale)
        put_rotation_acceleration(m, b, row, r.Gw[side], 3, c, scale)


@stage("iiiiiff", "bilinear")
def _put_bilinear_row(m, i, side, row, level, c, scale):
    r = rows(m)[i]
    p = primitives(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    T = tangent(m)
    _bilinear_tangents(m, i, side, level)
    if p.moving == 1 and level > 0:
        _add_moving_tangents(m, i, side, level)
    if p.whole == 0:
        _drop_tangent(m, i, side)
    if o.nt == 3:
        put_block(m, row, o.iq, T.Cx[side], 1, 3, scale)
    put_block(m, row, o.iq + o.nt, T.Ca[side], 1, o.na, scale)
    if level == 1:
        put_velocity(m, b, row, r.Gx[side], r.Gw[side], 1, scale)
    elif level == 2:
        put_velocity(m, b, row, T.Cu[side], T.Cw[side], 1, scale)
        put_acceleration(m, b, row, r.Gx[side], r.Gw[side], 1, c, scale)


@stage("iiii", "bilinear")
def _bilinear_tangents(m, i, side, level):
    """Cx, Ca and, at level 2, Cu, Cw: tangents of the row with respect to x, a, xdot, w."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent(m)
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
    _zero(Ca, o.na, 1)
    if level == 0:
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Q[k] + bx * r.P[k])
        _times(r.Q, Pa, o.na, f, Ca)
        _times(r.P, Qa, o.na, f, Ca)
    elif level == 1:
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Qd[k] + bx * r.Pd[k])
        _times(r.Qd, Pa, o.na, f, Ca)
        _times(r.Pd, Qa, o.na, f, Ca)
        if h.kind != DIRECTOR_RATE:
            _times(r.Q, T.Pda[side], o.na, f, Ca)
            _times(r.P, T.Qda[side], o.na, f, Ca)
    else:
        Cw = T.Cw[side]
        for k in range(3):
            T.Cx[side, 0, k] = f * (ax * r.Qdd[k] + bx * r.Pdd[k])
            T.Cu[side, 0, k] = 2.0 * f * (ax * r.Qd[k] + bx * r.Pd[k])
        _times(r.Qdd, Pa, o.na, f, Ca)
        _times(r.Pdd, Qa, o.na, f, Ca)
        _zero(Cw, o.nr, 1)
        _times(r.Qd, r.Pw[side], o.nr, 2.0 * f, Cw)
        _times(r.Pd, r.Qw[side], o.nr, 2.0 * f, Cw)
        if h.kind != DIRECTOR_RATE:
            work = T.work[side]
            _times(r.Qd, T.Pda[side], o.na, 2.0 * f, Ca)
            _times(r.Pd, T.Qda[side], o.na, 2.0 * f, Ca)
            columns_of(h.kind, p.A, side, s.D2, o.na, work)
            _times(r.Q, work, o.na, f, Ca)
            columns_of(h.kind, p.B, side, s.D2, o.na, work)
            _times(r.P, work, o.na, f, Ca)
            columns_of(h.kind, p.A, side, s.W, o.nr, work)
            _times(r.Q, work, o.nr, f, Cw)
            columns_of(h.kind, p.B, side, s.W, o.nr, work)
            _times(r.P, work, o.nr, f, Cw)


@stage("iiii", "rheonomic")
def _add_moving_tangents(m, i, side, level):
    """What the rates of the coefficients A(t) add to Ca and Cw."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    T = tangent(m)
    f = p.scale
    work = T.work[side]
    columns_of(h.kind, p.Ad, side, s.D0, o.na, work)
    if level == 1:
        _times(r.Q, work, o.na, f, T.Ca[side])
        return
    _times(r.Qd, work, o.na, 2.0 * f, T.Ca[side])
    columns_of(h.kind, p.Add, side, s.D0, o.na, work)
    _times(r.Q, work, o.na, f, T.Ca[side])
    if h.kind != DIRECTOR_RATE:
        columns_of(h.kind, p.Ad, side, s.D1, o.na, work)
        _times(r.Q, work, o.na, 2.0 * f, T.Ca[side])
    columns_of(h.kind, p.Ad, side, s.B, o.nr, work)
    _times(r.Q, work, o.nr, 2.0 * f, T.Cw[side])


@stage("iiif", "joints")
def put_primitive_columns(m, row, column, scale):
    """scale G^T of the joints in the rows of the dynamics and the columns of the multipliers."""
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            n = row + o.iv
            if o.nt == 3:
                put_gradient_columns(m, i, side, n, column + p.row, scale)
                n += 3
            put_transposed(m, n, column + p.row, r.Gw[side], o.nr, p.n, scale)


@jit
def put_gradient_columns(m, i, side, row, column, scale):
    """scale Gx^T of one side."""
    p = primitives(m)[i]
    r = rows(m)[i]
    if p.linear == 1:
        for k in range(3):
            put(m, row + k, column + k, scale * r.Gx[side, k, k])
    else:
        put_transposed(m, row, column, r.Gx[side], 3, 1, scale)


@jit
def put_pulled_back(m, row, n1, column, L, Lx, K, Kx, b1, b2, scale):
    """Tangent scale L_1^T K_2 from the row `row` of body b1 on and in the columns of q of body b2, where L = (Lx I,
    L), K = (Kx I, K) are 3 x (3 + n) tangents of two vectors; L has n1 columns."""
    scratch = tangent(m)
    B = bodies(m)
    o1 = B[b1]
    o2 = B[b2]
    T = scratch.T1
    r = row
    q = column + o2.iq
    # directions have no part in x: Lx, Kx are constants
    if o1.nt == 3:
        if o2.nt == 3 and Lx * Kx != 0.0:
            put_identity(m, r, q, 3, scale * Lx * Kx)
        if Lx != 0.0:
            put_block(m, r, q + o2.nt, K, 3, o2.na, scale * Lx)
        r += 3
    if o2.nt == 3:
        if Kx != 0.0:
            put_transposed(m, r, q, L, n1, 3, scale * Kx)
        q += 3
    for i in range(n1):
        for j in range(o2.na):
            T[i, j] = L[0, i] * K[0, j] + L[1, i] * K[1, j] + L[2, i] * K[2, j]
    put_block(m, r, q, T, n1, o2.na, scale)


@stage("ii", "bilinear")
def chart_tangents(m, i):
    """Pa, Qa of a bilinear primitive."""
    kind = head(m).kind
    p = primitives(m)[i]
    T = tangent(m)
    for side in range(2):
        b = p.body[side]
        o = bodies(m)[b]
        if o.fixed == 0:
            D = states(m)[b].D0
            columns_of(kind, p.A, side, D, o.na, T.Pa[side])
            columns_of(kind, p.B, side, D, o.na, T.Qa[side])


@jit
def put_hessian(m, i, side, row, n, P, Q, f):
    """f times the Hessian of a bilinear primitive from the row `row` of its body `side` on, whose tangents of P and Q
    (3 x n) are given; needs `chart_tangents`."""
    p = primitives(m)[i]
    T = tangent(m)
    b1 = p.body[side]
    for other in range(2):
        b2 = p.body[other]
        if bodies(m)[b2].fixed == 0:
            put_pulled_back(m, row, n, 0, P, p.A[4 * side], T.Qa[other], p.B[4 * other], b1, b2, f)
            put_pulled_back(m, row, n, 0, Q, p.B[4 * side], T.Pa[other], p.A[4 * other], b1, b2, f)


@stage("ii", "bilinear")
def put_primitive_stiffness(m, row):
    """d(G^T la)/dq of the bilinear primitives at fixed G of the chart (that part is with the bodies): la H."""
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    for i in range(head(m).n_primitives):
        p = C[i]
        if p.linear == 1:
            continue
        r = R[i]
        chart_tangents(m, i)
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 0:
                put_hessian(m, i, side, row + o.iv, o.nr, r.Pw[side], r.Qw[side], p.scale * r.la[0])
