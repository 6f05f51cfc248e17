"""Kernels of the null-space form of trees: the square system [G; S] body by body, O(n).

A body b hangs from its parent p by a joint of c equations. Its 6 - c quasi-velocities are components of its twist
in its own frame, nu_b = S_b (R_b^T xdot_b, Omega_b), with constant rows S_b that stay independent of the joint's
equations wherever the joint stands (a hinge: its axis, on Omega). So

    [G_b       ] w_b = [-g_I - G_p w_p]
    [S_b(R_b^T)]       [     nu_b     ]

is a 6 x 6 system for w_b = (xdot_b, Omega_b), parents first: T of [NS] (11) and Table 2, joint by joint,
and right off the constraint manifold, too. A root has nu = (xdot, Omega).
"""

from __future__ import annotations

from rbdae.compiler.jit import jit, stage, vector_at
from rbdae.kernels.memory import bodies, branches, head, local, rows, states, tree, vectors, wide
from rbdae.kernels.null_space.spherical_trees import ROOT, by_quasi_velocities
from rbdae.kernels.scatter import put_block


@stage("i", "branches")
def factorise_branches(m):
    """P L U of the matrix of each body; needs `gradients`."""
    B = bodies(m)
    S = states(m)
    E = branches(m)
    R = rows(m)
    factors = local(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        if o.parent == ROOT:
            continue
        e = E[b]
        d = S[b].d
        A = factors[6 * b : 6 * b + 6]
        for i in range(e.n_rows):
            r = R[e.primitive[i]]
            side = e.side[i]
            k = e.equation[i]
            for j in range(3):
                A[i, j] = r.Gx[side, k, j]
                A[i, 3 + j] = r.Gw[side, k, j]
        for i in range(e.n_free):
            row = e.n_rows + i
            for j in range(3):
                A[row, j] = e.S[i, 0] * d[j] + e.S[i, 1] * d[3 + j] + e.S[i, 2] * d[6 + j]
                A[row, 3 + j] = e.S[i, 3 + j]
        for k in range(6):
            best = k
            for i in range(k + 1, 6):
                if abs(A[i, k]) > abs(A[best, k]):
                    best = i
            e.pivot[k] = best
            if best != k:
                for j in range(6):
                    t = A[k, j]
                    A[k, j] = A[best, j]
                    A[best, j] = t
            for i in range(k + 1, 6):
                t = A[i, k] / A[k, k]
                A[i, k] = t
                for j in range(k + 1, 6):
                    A[i, j] -= t * A[k, j]


@jit
def _from_parent(m, b, i, w):
    """G_p w_p of one joint equation of body b, w in the order of the velocities."""
    o = bodies(m)[b]
    p = bodies(m)[o.parent]
    e = branches(m)[b]
    r = rows(m)[e.primitive[i]]
    side = 1 - e.side[i]
    k = e.equation[i]
    t = 0.0 * r.P[0]
    if p.fixed == 1:
        return t
    n = p.iv
    if p.nt == 3:
        for j in range(3):
            t += r.Gx[side, k, j] * w[n + j]
        n += 3
    for j in range(3):
        t += r.Gw[side, k, j] * w[n + j]
    return t


@stage("ii", "branches")
def solve_branches(m, x_at):
    """x = [G; S]^-1 x, from the order of the equations (joints, then nu) to that of the velocities."""
    x = vector_at(x_at)
    h = head(m)
    B = bodies(m)
    E = branches(m)
    factors = local(m)
    w = vectors(m)[6]
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = B[b]
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                w[n + j] = x[first + o.inu + j]
            continue
        e = E[b]
        A = factors[6 * b : 6 * b + 6]
        for i in range(e.n_rows):
            w[n + i] = x[e.row[i]] - _from_parent(m, b, i, w)
        for i in range(e.n_free):
            w[n + e.n_rows + i] = x[first + o.inu + i]
        for k in range(6):
            p = e.pivot[k]
            t = w[n + k]
            w[n + k] = w[n + p]
            w[n + p] = t
        for i in range(6):
            for j in range(i):
                w[n + i] -= A[i, j] * w[n + j]
        for i in range(5, -1, -1):
            for j in range(i + 1, 6):
                w[n + i] -= A[i, j] * w[n + j]
            w[n + i] /= A[i, i]
    for i in range(h.n_v):
        x[i] = w[i]


@stage("ii", "branches")
def solve_branches_transposed(m, x_at):
    """x = [G; S]^-T x: the multipliers of the joints, then T^T x; children first."""
    x = vector_at(x_at)
    h = head(m)
    B = bodies(m)
    E = branches(m)
    R = rows(m)
    factors = local(m)
    z = vectors(m)[6]
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies - 1, -1, -1):
        o = B[b]
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                z[first + o.inu + j] = x[n + j]
            continue
        e = E[b]
        A = factors[6 * b : 6 * b + 6]
        for i in range(6):
            x[n + i] /= A[i, i]
            for j in range(i + 1, 6):
                x[n + j] -= A[i, j] * x[n + i]
        for i in range(5, -1, -1):
            for j in range(i):
                x[n + j] -= A[i, j] * x[n + i]
        for k in range(5, -1, -1):
            p = e.pivot[k]
            t = x[n + k]
            x[n + k] = x[n + p]
            x[n + p] = t
        for i in range(e.n_free):
            z[first + o.inu + i] = x[n + e.n_rows + i]
        p = B[o.parent]
        for i in range(e.n_rows):
            t = x[n + i]
            z[e.row[i]] = t
            if p.fixed == 0:
                r = R[e.primitive[i]]
                side = 1 - e.side[i]
                k = e.equation[i]
                n2 = p.iv
                if p.nt == 3:
                    for j in range(3):
                        x[n2 + j] -= r.Gx[side, k, j] * t
                    n2 += 3
                for j in range(3):
                    x[n2 + j] -= r.Gw[side, k, j] * t
    for i in range(h.n_v):
        x[i] = z[i]


@jit
def _swap_rows(X, i, k, n):
    for c in range(n):
        t = X[i, c]
        X[i, c] = X[k, c]
        X[k, c] = t


@jit
def _subtract_row(X, i, k, t, n):
    if t != 0.0:
        for c in range(n):
            X[i, c] -= t * X[k, c]


@stage("iii", "branches")
def solve_branches_columns(m, plane, n_columns):
    """`solve_branches` for the first columns of a scratch matrix, through another one."""
    h = head(m)
    B = bodies(m)
    E = branches(m)
    R = rows(m)
    X = tree(m)[plane]
    Y = tree(m)[5]
    factors = local(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = B[b]
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                for c in range(n_columns):
                    Y[n + j, c] = X[first + o.inu + j, c]
            continue
        e = E[b]
        A = factors[6 * b : 6 * b + 6]
        p = B[o.parent]
        for i in range(e.n_rows):
            for c in range(n_columns):
                Y[n + i, c] = X[e.row[i], c]
            if p.fixed == 0:
                r = R[e.primitive[i]]
                side = 1 - e.side[i]
                k = e.equation[i]
                n2 = p.iv
                if p.nt == 3:
                    for j in range(3):
                        _subtract_row(Y, n + i, n2 + j, r.Gx[side, k, j], n_columns)
                    n2 += 3
                for j in range(3):
                    _subtract_row(Y, n + i, n2 + j, r.Gw[side, k, j], n_columns)
        for i in range(e.n_free):
            for c in range(n_columns):
                Y[n + e.n_rows + i, c] = X[first + o.inu + i, c]
        for k in range(6):
            if e.pivot[k] != k:
                _swap_rows(Y, n + k, n + e.pivot[k], n_columns)
        for i in range(6):
            for j in range(i):
                _subtract_row(Y, n + i, n + j, A[i, j], n_columns)
        for i in range(5, -1, -1):
            for j in range(i + 1, 6):
                _subtract_row(Y, n + i, n + j, A[i, j], n_columns)
            t = 1.0 / A[i, i]
            for c in range(n_columns):
                Y[n + i, c] *= t
    for i in range(h.n_v):
        for c in range(n_columns):
            X[i, c] = Y[i, c]


@jit
def _along(S, k, d, x):
    """sum_j S[k, j] d_j . x over the directors, or their rates."""
    t = 0.0 * x[0]
    for j in range(3):
        if S[k, j] != 0.0:
            t += S[k, j] * (d[3 * j] * x[0] + d[3 * j + 1] * x[1] + d[3 * j + 2] * x[2])
    return t


@stage("ii", "branches")
def subtract_frame_rates(m, x_at):
    """x[nu] -= Sdot w: the frames in which nu are counted turn."""
    x = vector_at(x_at)
    h = head(m)
    S = states(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        if o.parent != ROOT:
            for k in range(e.n_free):
                x[first + o.inu + k] -= _along(e.S, k, S[b].dd, S[b].xd)


@stage("iiii", "branches")
def select_branch_rates(m, vd_at, out_at, row):
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    vd = vector_at(vd_at)
    out = vector_at(out_at)
    h = head(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        i = row + o.inu
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                out[i + j] = vd[n + j]
            continue
        for k in range(e.n_free):
            t = _along(e.S, k, S[b].dd, S[b].xd) + _along(e.S, k, S[b].d, vd[n : n + 3])
            for j in range(3):
                t += e.S[k, 3 + j] * vd[n + 3 + j]
            out[i + k] = t


@jit
def _column(S, k, D, c, x):
    """The same with column c of a tangent of the directors."""
    t = 0.0 * x[0]
    for j in range(3):
        if S[k, j] != 0.0:
            t += S[k, j] * (D[3 * j, c] * x[0] + D[3 * j + 1, c] * x[1] + D[3 * j + 2, c] * x[2])
    return t


@stage("i", "branches")
def frame_tangents(m):
    """tree(m)[1][nu] = -d(S w)/dq at fixed w; needs `place_tangent`."""
    h = head(m)
    S = states(m)
    Q = tree(m)[1]
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        if o.parent == ROOT:
            continue
        q = o.iq + o.nt
        for k in range(e.n_free):
            for c in range(o.na):
                Q[first + o.inu + k, q + c] = -_column(e.S, k, S[b].D0, c, S[b].xd)


@stage("i", "branches")
def frame_rate_tangents(m):
    """tree(m)[2][nu] = -d(S wdot + Sdot w)/dq and [3][nu] the same by nu, both at fixed wdot, where [1] is dw/dq and
    [0] dw/dnu; needs `move_tangent`."""
    h = head(m)
    S = states(m)
    M = tree(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        if o.parent == ROOT:
            continue
        s = S[b]
        q = o.iq + o.nt
        for k in range(e.n_free):
            row = first + o.inu + k
            for c in range(o.na):
                M[2][row, q + c] -= _column(e.S, k, s.D0, c, s.xdd) + _column(e.S, k, s.D1, c, s.xd)
            for j in range(6):
                t = _velocity_column(e.S, k, s, j)
                if t != 0.0:
                    for c in range(h.n_q):
                        M[2][row, c] -= t * M[1][o.iv + j, c]
                    for c in range(h.n_nu):
                        M[3][row, c] -= t * M[0][o.iv + j, c]


@jit
def _velocity_column(S, k, s, j):
    """d(Sdot w)/dw of one quasi-velocity, entry j of (xdot, Omega)."""
    if j < 3:
        return S[k, 0] * s.dd[j] + S[k, 1] * s.dd[3 + j] + S[k, 2] * s.dd[6 + j]
    return _column(S, k, s.B, j - 3, s.xd)


@stage("i", "branches")
def select_branch_tangent(m):
    """tree(m)[4] = minus d(nudot)/d(q, nu), of nudot = S vdot + Sdot w with minus d(vdot)/d(q, v) in the first nv rows
    of the scratch matrix, xddot placed, and dw/dnu, dw/dq in [0], [1]."""
    h = head(m)
    S = states(m)
    F = tree(m)[4]
    x = vectors(m)[2]
    nq = h.n_q
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        s = S[b]
        root = o.parent == ROOT
        for k in range(o.nt + 3 if root else e.n_free):
            _combine_rows(m, b, k, root, x)
            if not root:
                q = o.iq + o.nt
                for c in range(o.na):
                    x[q + c] -= _column(e.S, k, s.D0, c, s.xdd) + _column(e.S, k, s.D1, c, s.xd)
                for j in range(6):
                    x[nq + o.iv + j] -= _velocity_column(e.S, k, s, j)
            by_quasi_velocities(m, x, F[o.inu + k])


@jit
def _combine_rows(m, b, k, root, x):
    """x = S_k W: the rows of the scratch matrix of one body, combined as its quasi-velocity k is."""
    h = head(m)
    o = bodies(m)[b]
    e = branches(m)[b]
    d = states(m)[b].d
    W = wide(m)
    n = h.n_q + h.n_v
    if root:
        for c in range(n):
            x[c] = W[o.iv + k, c]
        return
    for c in range(n):
        x[c] = 0.0
    for j in range(6):
        t = e.S[k, j] + 0.0 * d[0]
        if j < 3:
            t = e.S[k, 0] * d[j] + e.S[k, 1] * d[3 + j] + e.S[k, 2] * d[6 + j]
        if t != 0.0:
            for c in range(n):
                x[c] += t * W[o.iv + j, c]


@stage("ii", "branches")
def put_frame_stiffness(m, row):
    """-d(S^T sigma)/dq in the rows of the dynamics; sigma = T^T h is the last part of the scratch vector 1."""
    h = head(m)
    z = vectors(m)[1]
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = branches(m)[b]
        if o.parent == ROOT:
            continue
        s = states(m)[b]
        for j in range(3):
            c = 0.0 * z[0]
            for k in range(e.n_free):
                c += e.S[k, j] * z[first + o.inu + k]
            put_block(m, row + o.iv, o.iq + o.nt, s.D0[3 * j : 3 * j + 3], 3, o.na, -c)
