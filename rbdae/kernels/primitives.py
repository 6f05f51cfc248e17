"""Kernels of the primitive constraints.

Over the natural coordinates Z = (x, d1, d2, d3) of two bodies a primitive has the vectors P = sum A_k Z_k and
Q = sum B_k Z_k, and says

* linear (coincidence, 3 equations):  P - s(t) = 0;
* bilinear (dot-1, dot-2, distance):  scale P . Q - c(t) = 0.

Both are at most quadratic in Z, so the Hessian is constant. Rates follow by the product rule; the tangents come from
those of P and Q, which are 3 x n matrices per body (null-space paper, sections 2 and 5, (5) for g_I and g_II).
"""

from __future__ import annotations

from rbdae.kernels._jit import jit, stage, vector_at
from rbdae.kernels.block import DIRECTOR_RATE, bodies, head, primitives, rows, states, vectors
from rbdae.kernels.bodies import put_acceleration, put_velocity
from rbdae.kernels.sink import put, put_block, put_transposed


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
    """G with respect to (xdot, w): Gx, Gw of both sides; needs B (or K) of the bodies and P, Q."""
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
            ax = p.A[4 * side]
            columns_of(h.kind, p.A, side, S[b].B, n, r.Pw[side])
            if p.linear == 1:
                for k in range(3):
                    for j in range(3):
                        r.Gx[side, k, j] = 0.0
                    r.Gx[side, k, k] = ax
                    for j in range(n):
                        r.Gw[side, k, j] = r.Pw[side, k, j]
            else:
                bx = p.B[4 * side]
                columns_of(h.kind, p.B, side, S[b].B, n, r.Qw[side])
                for k in range(3):
                    r.Gx[side, 0, k] = p.scale * (ax * r.Q[k] + bx * r.P[k])
                _zero(r.Gw[side], n, 1)
                _times(r.Q, r.Pw[side], n, p.scale, r.Gw[side])
                _times(r.P, r.Qw[side], n, p.scale, r.Gw[side])
            if p.whole == 0:
                _drop_gradient(m, i, side)


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
    p = primitives(m)[i]
    r = rows(m)[i]
    for k in range(p.n):
        if p.keep[k] == 0:
            for j in range(3):
                r.Cx[side, k, j] = 0.0
                r.Cu[side, k, j] = 0.0
            for j in range(9):
                r.Ca[side, k, j] = 0.0
                r.Cw[side, k, j] = 0.0


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


@stage("ii", "joints")
def primitive_tangents(m, level):
    """Tangents of the constraint rows of all primitives at one level: Cx, Ca, Cu, Cw, and Gx, Gw."""
    gradients(m)
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
            o = B[b]
            if o.fixed == 1:
                continue
            s = S[b]
            ax = p.A[4 * side]
            bx = p.B[4 * side]
            linear = p.linear == 1
            if linear and h.kind == DIRECTOR_RATE and level > 0:
                continue  # constant gradient: these tangents stay zero
            columns_of(h.kind, p.A, side, s.D0, o.na, r.Pa[side])
            if not linear:
                columns_of(h.kind, p.B, side, s.D0, o.na, r.Qa[side])
            if h.kind != DIRECTOR_RATE:
                if level > 0:
                    columns_of(h.kind, p.A, side, s.D1, o.na, r.Pda[side])
                    if not linear:
                        columns_of(h.kind, p.B, side, s.D1, o.na, r.Qda[side])
                if level > 1:
                    columns_of(h.kind, p.A, side, s.D2, o.na, r.Pdda[side])
                    if not linear:
                        columns_of(h.kind, p.B, side, s.D2, o.na, r.Qdda[side])
            if linear:
                if level == 0:
                    for k in range(3):
                        for j in range(3):
                            r.Cx[side, k, j] = 0.0
                        r.Cx[side, k, k] = ax
                        for j in range(o.na):
                            r.Ca[side, k, j] = r.Pa[side, k, j]
                elif level == 1:
                    for k in range(3):
                        for j in range(o.na):
                            r.Ca[side, k, j] = r.Pda[side, k, j]
                else:
                    for k in range(3):
                        for j in range(o.na):
                            r.Ca[side, k, j] = r.Pdda[side, k, j]
                    columns_of(h.kind, p.A, side, s.W, o.nr, r.Cw[side])
                if p.whole == 0:
                    _drop_tangent(m, i, side)
                continue
            f = p.scale
            _zero(r.Ca[side], o.na, 1)
            if level == 0:
                for k in range(3):
                    r.Cx[side, 0, k] = f * (ax * r.Q[k] + bx * r.P[k])
                _times(r.Q, r.Pa[side], o.na, f, r.Ca[side])
                _times(r.P, r.Qa[side], o.na, f, r.Ca[side])
            elif level == 1:
                for k in range(3):
                    r.Cx[side, 0, k] = f * (ax * r.Qd[k] + bx * r.Pd[k])
                _times(r.Qd, r.Pa[side], o.na, f, r.Ca[side])
                _times(r.Pd, r.Qa[side], o.na, f, r.Ca[side])
                if h.kind != DIRECTOR_RATE:
                    _times(r.Q, r.Pda[side], o.na, f, r.Ca[side])
                    _times(r.P, r.Qda[side], o.na, f, r.Ca[side])
            else:
                for k in range(3):
                    r.Cx[side, 0, k] = f * (ax * r.Qdd[k] + bx * r.Pdd[k])
                    r.Cu[side, 0, k] = 2.0 * f * (ax * r.Qd[k] + bx * r.Pd[k])
                _times(r.Qdd, r.Pa[side], o.na, f, r.Ca[side])
                _times(r.Pdd, r.Qa[side], o.na, f, r.Ca[side])
                _zero(r.Cw[side], o.nr, 1)
                _times(r.Qd, r.Pw[side], o.nr, 2.0 * f, r.Cw[side])
                _times(r.Pd, r.Qw[side], o.nr, 2.0 * f, r.Cw[side])
                if h.kind != DIRECTOR_RATE:
                    _times(r.Q, r.Pdda[side], o.na, f, r.Ca[side])
                    _times(r.P, r.Qdda[side], o.na, f, r.Ca[side])
                    _times(r.Qd, r.Pda[side], o.na, 2.0 * f, r.Ca[side])
                    _times(r.Pd, r.Qda[side], o.na, 2.0 * f, r.Ca[side])
                    columns_of(h.kind, p.A, side, s.W, o.nr, r.work[side])
                    _times(r.Q, r.work[side], o.nr, f, r.Cw[side])
                    columns_of(h.kind, p.B, side, s.W, o.nr, r.work[side])
                    _times(r.P, r.work[side], o.nr, f, r.Cw[side])
            if p.moving == 1 and level > 0:
                _add_moving_tangents(m, i, side, level)
            if p.whole == 0:
                _drop_tangent(m, i, side)


@stage("iiii", "rheonomic")
def _add_moving_tangents(m, i, side, level):
    """What the rates of the coefficients A(t) add to Ca and Cw."""
    h = head(m)
    p = primitives(m)[i]
    r = rows(m)[i]
    b = p.body[side]
    o = bodies(m)[b]
    s = states(m)[b]
    f = p.scale
    work = r.work[side]
    columns_of(h.kind, p.Ad, side, s.D0, o.na, work)
    if level == 1:
        _times(r.Q, work, o.na, f, r.Ca[side])
        return
    _times(r.Qd, work, o.na, 2.0 * f, r.Ca[side])
    columns_of(h.kind, p.Add, side, s.D0, o.na, work)
    _times(r.Q, work, o.na, f, r.Ca[side])
    if h.kind != DIRECTOR_RATE:
        columns_of(h.kind, p.Ad, side, s.D1, o.na, work)
        _times(r.Q, work, o.na, 2.0 * f, r.Ca[side])
    columns_of(h.kind, p.Ad, side, s.B, o.nr, work)
    _times(r.Q, work, o.nr, 2.0 * f, r.Cw[side])


@stage("iiiff", "joints")
def put_primitive_rows(m, row, level, c, scale):
    """scale times the rows of the joint constraints at one level, c being the factor of the rates at level 2."""
    h = head(m)
    C = primitives(m)
    R = rows(m)
    B = bodies(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        n = row + p.row
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            linear = p.linear == 1
            if o.nt == 3 and (level == 0 or not linear):
                put_block(m, n, o.iq, r.Cx[side], p.n, 3, scale)
            if level == 0 or not linear or h.kind != DIRECTOR_RATE:
                put_block(m, n, o.iq + o.nt, r.Ca[side], p.n, o.na, scale)
            if level == 1:
                put_velocity(m, b, n, r.Gx[side], r.Gw[side], p.n, scale)
            elif level == 2:
                if not linear or h.kind != DIRECTOR_RATE:
                    put_velocity(m, b, n, r.Cu[side], r.Cw[side], p.n, scale)
                put_acceleration(m, b, n, r.Gx[side], r.Gw[side], p.n, c, scale)


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
                put_transposed(m, n, column + p.row, r.Gx[side], 3, p.n, scale)
                n += 3
            put_transposed(m, n, column + p.row, r.Gw[side], o.nr, p.n, scale)


@jit
def put_pulled_back(m, row, n1, column, L, Lx, K, Kx, b1, b2, scale):
    """Tangent scale L_1^T K_2 from the row `row` of body b1 on and in the columns of q of body b2, where L = (Lx I,
    L), K = (Kx I, K) are 3 x (3 + n) tangents of two vectors; L has n1 columns."""
    B = bodies(m)
    o1 = B[b1]
    o2 = B[b2]
    T = states(m)[b1].T1
    r = row
    q = column + o2.iq
    if o1.nt == 3 and o2.nt == 3:
        for k in range(3):
            for j in range(3):
                T[k, j] = 0.0
            T[k, k] = Lx * Kx
        put_block(m, r, q, T, 3, 3, scale)
    if o1.nt == 3:
        put_block(m, r, q + o2.nt, K, 3, o2.na, scale * Lx)
        r += 3
    if o2.nt == 3:
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
    r = rows(m)[i]
    for side in range(2):
        b = p.body[side]
        o = bodies(m)[b]
        if o.fixed == 0:
            D = states(m)[b].D0
            columns_of(kind, p.A, side, D, o.na, r.Pa[side])
            columns_of(kind, p.B, side, D, o.na, r.Qa[side])


@jit
def put_hessian(m, i, side, row, n, P, Q, f):
    """f times the Hessian of a bilinear primitive from the row `row` of its body `side` on, whose tangents of P and Q
    (3 x n) are given; needs `chart_tangents`."""
    p = primitives(m)[i]
    r = rows(m)[i]
    b1 = p.body[side]
    for other in range(2):
        b2 = p.body[other]
        if bodies(m)[b2].fixed == 0:
            put_pulled_back(m, row, n, 0, P, p.A[4 * side], r.Qa[other], p.B[4 * other], b1, b2, f)
            put_pulled_back(m, row, n, 0, Q, p.B[4 * side], r.Pa[other], p.A[4 * other], b1, b2, f)


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
