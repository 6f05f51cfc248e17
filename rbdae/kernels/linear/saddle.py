"""The saddle-point system [M G^T; G 0] (vdot, la) = (f, s): structure, factorisation, solution.

Each body is eliminated locally. Its velocities are split into a part N alpha (three numbers) that respects the
internal constraints and a particular part, both closed forms:

* quaternion: N = T_p(p), reduced mass |p|^4 J; particular p s / |p|^2 ([NS] (39), (40); here for every
  norm and radial inertia);
* directors: N = the rows omega^ D^-T, reduced mass tr(E') I - E' with E' = D^-T E D^-1; particular H D^-T with
  H D^T D^-T + ... = s, H symmetric (so no 15 x 15 factorisation, [NS] (23), exact off the manifold too);
* angular: nothing to split.

What remains is the Schur complement S = G A G^T of the joints, whose graph is the joint graph. Its LDL^T
factorisation runs over a static pattern, made once per system; chains and trees have no fill.

Where a mechanism passes a singular position, pivots fall to zero and rise again: d = sigma^2, the square of the sine
between the gradient of a joint equation and those before it, in the metric of M^-1. Equations whose pivot is below a
floor (`smallest`) are left out for the moment, with multiplier zero: their pivot counts as infinite, and S being
positive semidefinite, what is solved is the system without them. The Jacobians follow by the same factors.
"""

from __future__ import annotations

from rbdae.compiler.jit import address, jit, stage, vector_at
from rbdae.kernels.memory import (
    ANGULAR,
    DIRECTOR_RATE,
    QUATERNION_RATE,
    bodies,
    column,
    factor,
    head,
    pairs,
    primitives,
    row_start,
    rows,
    smallest,
    states,
    tangent,
    vectors,
    wide,
)
from rbdae.kernels.row_operations import add_any_three, add_row, add_three, add_to, mix_three, scale_row, set_by_three
from rbdae.rotations.charts import quaternion_tangents
from rbdae.rotations.quaternion_algebra import add_product, conjugate_product, extended

# the pivot of an equation that is left out for the moment: infinite, but with finite products
LEFT_OUT = 1e200


@jit
def _inverse3(A, out):
    """out = A^-1, 3 x 3."""
    c00 = A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]
    c01 = A[1, 2] * A[2, 0] - A[1, 0] * A[2, 2]
    c02 = A[1, 0] * A[2, 1] - A[1, 1] * A[2, 0]
    t = 1.0 / (A[0, 0] * c00 + A[0, 1] * c01 + A[0, 2] * c02)
    o10 = c01 * t
    o20 = c02 * t
    o01 = (A[0, 2] * A[2, 1] - A[0, 1] * A[2, 2]) * t
    o11 = (A[0, 0] * A[2, 2] - A[0, 2] * A[2, 0]) * t
    o21 = (A[0, 1] * A[2, 0] - A[0, 0] * A[2, 1]) * t
    o02 = (A[0, 1] * A[1, 2] - A[0, 2] * A[1, 1]) * t
    o12 = (A[0, 2] * A[1, 0] - A[0, 0] * A[1, 2]) * t
    o22 = (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]) * t
    out[0, 0] = c00 * t
    out[0, 1] = o01
    out[0, 2] = o02
    out[1, 0] = o10
    out[1, 1] = o11
    out[1, 2] = o12
    out[2, 0] = o20
    out[2, 1] = o21
    out[2, 2] = o22


@stage("ii", "quaternion-rate")
def _reduce_quaternion(m, b):
    o = bodies(m)[b]
    s = states(m)[b]
    quaternion_tangents(s.a, s.N)
    t = 1.0 + 0.0 * s.a[0]
    if head(m).momenta == 0:
        t = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 1.0 / (t * t)
    for i in range(3):
        for j in range(3):
            s.Ji[i, j] = t * o.inertia_inverse[i, j]


@stage("ii", "director-rate")
def _reduce_directors(m, b):
    scratch = tangent(m)
    s = states(m)[b]
    # C = D^-T: the inverse of the matrix whose rows are the directors
    for i in range(3):
        for j in range(3):
            scratch.T1[i, j] = s.a[3 * i + j]
    _inverse3(scratch.T1, s.C)
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        s.N[3 * i, 0] = 0.0
        s.N[3 * i + 1, 0] = -z
        s.N[3 * i + 2, 0] = y
        s.N[3 * i, 1] = z
        s.N[3 * i + 1, 1] = 0.0
        s.N[3 * i + 2, 1] = -x
        s.N[3 * i, 2] = -y
        s.N[3 * i + 1, 2] = x
        s.N[3 * i + 2, 2] = 0.0
    E = bodies(m)[b].euler
    for i in range(3):
        for j in range(3):
            scratch.T2[i, j] = s.C[i, 0] * E[0, j] + s.C[i, 1] * E[1, j] + s.C[i, 2] * E[2, j]
    for i in range(3):
        for j in range(3):
            scratch.T1[i, j] = -(
                scratch.T2[i, 0] * s.C[j, 0] + scratch.T2[i, 1] * s.C[j, 1] + scratch.T2[i, 2] * s.C[j, 2]
            )
    t = -(scratch.T1[0, 0] + scratch.T1[1, 1] + scratch.T1[2, 2])
    for i in range(3):
        scratch.T1[i, i] += t
    _inverse3(scratch.T1, s.Ji)


@jit
def reduce_bodies(m):
    """N (or the identity) and the inverse of the reduced rotational mass, Ji, of all bodies."""
    h = head(m)
    for b in range(h.n_bodies):
        if h.kind == QUATERNION_RATE:
            _reduce_quaternion(m, b)
        elif h.kind == DIRECTOR_RATE:
            _reduce_directors(m, b)
        else:
            o = bodies(m)[b]
            s = states(m)[b]
            for i in range(3):
                for j in range(3):
                    s.Ji[i, j] = o.inertia_inverse[i, j]


@stage("i")
def factorise(m):
    """Reduce the bodies and factorise the joint Schur complement; needs `gradients`. Leaves head.singular = 0, or
    1 + the row at which a pivot vanished (redundant or singular constraints)."""
    reduce_bodies(m)
    h = head(m)
    h.singular = 0
    if h.n_rows > 0:
        _factorise_joints(m)


@stage("i", "joints")
def _factorise_joints(m):
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    for i in range(h.n_primitives):
        p = C[i]
        r = R[i]
        for side in range(2):
            b = p.body[side]
            if B[b].fixed == 1:
                continue
            s = S[b]
            for k in range(p.n):
                for j in range(3):
                    if h.kind == ANGULAR:
                        r.H[side, k, j] = r.Gw[side, k, j]
                    else:
                        t = r.Gw[side, k, 0] * s.N[0, j]
                        for l in range(1, B[b].nr):
                            t += r.Gw[side, k, l] * s.N[l, j]
                        r.H[side, k, j] = t
                for j in range(3):
                    r.HJ[side, k, j] = (
                        r.H[side, k, 0] * s.Ji[0, j] + r.H[side, k, 1] * s.Ji[1, j] + r.H[side, k, 2] * s.Ji[2, j]
                    )
    L = factor(m)[0]
    D = factor(m)[1]
    least = smallest(m)
    for i in range(h.n_factor):
        L[i] = 0.0
    P = pairs(m)
    for n in range(h.n_pairs):
        e = P[n]
        r1 = R[e.first]
        r2 = R[e.second]
        i1 = e.first_side
        i2 = e.second_side
        o = B[e.body]
        for i in range(C[e.first].n):
            for j in range(C[e.second].n):
                k = e.slot[i, j]
                if k >= 0:
                    t = (
                        r1.HJ[i1, i, 0] * r2.H[i2, j, 0]
                        + r1.HJ[i1, i, 1] * r2.H[i2, j, 1]
                        + r1.HJ[i1, i, 2] * r2.H[i2, j, 2]
                    )
                    if o.nt == 3:
                        t += (
                            r1.Gx[i1, i, 0] * r2.Gx[i2, j, 0]
                            + r1.Gx[i1, i, 1] * r2.Gx[i2, j, 1]
                            + r1.Gx[i1, i, 2] * r2.Gx[i2, j, 2]
                        ) / o.mass
                    L[k] += t
    start = row_start(m)
    col = column(m)
    for i in range(h.n_primitives):
        p = C[i]
        for k in range(p.n):
            if p.keep[k] == 0:
                L[start[p.slot[k] + 1] - 1] = 1.0
    w = vectors(m)[4]
    for i in range(h.n_rows):
        w[i] = 0.0
    for i in range(h.n_rows):
        last = start[i + 1] - 1
        d = L[last]
        original = abs(d)
        for n in range(start[i], last):
            k = col[n]
            t = L[n]
            for l in range(start[k], start[k + 1] - 1):
                t -= w[col[l]] * L[l]
            w[k] = t
            L[n] = t / D[k]
            d -= L[n] * t
        for n in range(start[i], last):
            w[col[n]] = 0.0
        if abs(d) < least[i]:
            d = LEFT_OUT
        D[i] = d
        if not abs(d) > 1e-13 * original and h.singular == 0:
            h.singular = i + 1


@jit
def _solve_schur(m, x):
    """x = S^-1 x, in the permuted order of the rows."""
    h = head(m)
    L = factor(m)[0]
    D = factor(m)[1]
    start = row_start(m)
    col = column(m)
    for i in range(h.n_rows):
        t = x[i]
        for n in range(start[i], start[i + 1] - 1):
            t -= L[n] * x[col[n]]
        x[i] = t
    for i in range(h.n_rows):
        x[i] /= D[i]
    for i in range(h.n_rows - 1, -1, -1):
        t = x[i]
        for n in range(start[i], start[i + 1] - 1):
            x[col[n]] -= L[n] * t


@jit
def apply_mass(m, b, v, out):
    """out = M v for the rotational velocities of one body, the mass on its tangent space included (momenta: its
    closed inverse inverted, 4 Q J4 Q^T / |q|^4)."""
    kind = head(m).kind
    if kind == ANGULAR:
        _angular_mass(m, b, address(v), address(out))
    elif kind == QUATERNION_RATE:
        _quaternion_mass(m, b, address(v), address(out))
    else:
        _director_mass(m, b, address(v), address(out))


@stage("iiii", "angular")
def _angular_mass(m, b, v_at, out_at):
    v = vector_at(v_at)
    out = vector_at(out_at)
    J = bodies(m)[b].inertia
    for k in range(3):
        out[k] = J[k, 0] * v[0] + J[k, 1] * v[1] + J[k, 2] * v[2]


@stage("iiii", "quaternion-rate")
def _quaternion_mass(m, b, v_at, out_at):
    v = vector_at(v_at)
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    t = 4.0 + 0.0 * s.a[0]
    if head(m).momenta == 1:
        n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
        t = 4.0 / (n * n)
    conjugate_product(s.a, v, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        out[k] = 0.0
    add_product(s.a, s.s, t, out)


@stage("iiii", "director-rate")
def _director_mass(m, b, v_at, out_at):
    v = vector_at(v_at)
    out = vector_at(out_at)
    E = bodies(m)[b].euler
    for j in range(3):
        for k in range(3):
            out[3 * j + k] = E[j, 0] * v[k] + E[j, 1] * v[3 + k] + E[j, 2] * v[6 + k]


@jit
def _particular(m, b, s_int, il, out):
    """out = velocities of one body with G_int out = s_int[il:]."""
    if head(m).kind == QUATERNION_RATE:
        _quaternion_particular(m, b, address(s_int), il, address(out))
    else:
        _director_particular(m, b, address(s_int), il, address(out))


@stage("iiiii", "quaternion-rate")
def _quaternion_particular(m, b, s_at, il, out_at):
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    s = states(m)[b]
    n = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
    t = s_int[il] / n
    if head(m).momenta == 1:
        # the row is q . pdot = (4 J0 / |q|^2) q . w
        t *= n / (4.0 * bodies(m)[b].radial)
    for k in range(4):
        out[k] = t * s.a[k]


@stage("iiiii", "director-rate")
def _director_particular(m, b, s_at, il, out_at):
    s_int = vector_at(s_at)
    out = vector_at(out_at)
    s = states(m)[b]
    h0 = s_int[il]
    h1 = s_int[il + 1]
    h2 = s_int[il + 2]
    h3 = 0.5 * s_int[il + 3]
    h4 = 0.5 * s_int[il + 4]
    h5 = 0.5 * s_int[il + 5]
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        out[3 * i] = h0 * x + h3 * y + h4 * z
        out[3 * i + 1] = h3 * x + h1 * y + h5 * z
        out[3 * i + 2] = h4 * x + h5 * y + h2 * z


@stage("i")
def solve_saddle(m):
    """Scratch vectors: f in 1, s in 2 -> vdot in 3, la in 0. The factorisation must be there."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    f = vectors(m)[1]
    vd = vectors(m)[3]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv
        if o.nt == 3:
            for k in range(3):
                vd[i + k] = f[i + k] / o.mass
            i += 3
        if h.kind == ANGULAR:
            for k in range(3):
                vd[i + k] = s.Ji[k, 0] * f[i] + s.Ji[k, 1] * f[i + 1] + s.Ji[k, 2] * f[i + 2]
        else:
            _solve_body(m, b)
    if h.n_rows > 0:
        _solve_joints(m)
    if h.kind != ANGULAR:
        _internal_multipliers(m)


@stage("ii", "internal")
def _solve_body(m, b):
    """The rotational velocities of one body without joints: particular part and N Ji N^T (f - M particular)."""
    o = bodies(m)[b]
    s = states(m)[b]
    f = vectors(m)[1]
    vd = vectors(m)[3]
    i = o.iv + o.nt
    _particular(m, b, vectors(m)[2], o.il, s.ad)
    apply_mass(m, b, s.ad, s.t)
    a0 = 0.0 * f[i]
    a1 = a0
    a2 = a0
    for k in range(o.nr):
        t = f[i + k] - s.t[k]
        a0 += s.N[k, 0] * t
        a1 += s.N[k, 1] * t
        a2 += s.N[k, 2] * t
    b0 = s.Ji[0, 0] * a0 + s.Ji[0, 1] * a1 + s.Ji[0, 2] * a2
    b1 = s.Ji[1, 0] * a0 + s.Ji[1, 1] * a1 + s.Ji[1, 2] * a2
    b2 = s.Ji[2, 0] * a0 + s.Ji[2, 1] * a1 + s.Ji[2, 2] * a2
    for k in range(o.nr):
        vd[i + k] = s.ad[k] + s.N[k, 0] * b0 + s.N[k, 1] * b1 + s.N[k, 2] * b2


@stage("i", "joints")
def _solve_joints(m):
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    la = vectors(m)[0]
    rhs = vectors(m)[2]
    vd = vectors(m)[3]
    x = vectors(m)[4]
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for k in range(p.n):
            t = -rhs[p.row + k]
            for side in range(2):
                o = B[p.body[side]]
                if o.fixed == 1:
                    continue
                i = o.iv
                if o.nt == 3:
                    for j in range(3):
                        t += r.Gx[side, k, j] * vd[i + j]
                    i += 3
                for j in range(o.nr):
                    t += r.Gw[side, k, j] * vd[i + j]
            x[p.slot[k]] = t
    _solve_schur(m, x)
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for k in range(p.n):
            la[p.row + k] = x[p.slot[k]]
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            i = o.iv
            if o.nt == 3:
                for j in range(3):
                    t = r.Gx[side, 0, j] * la[p.row]
                    for k in range(1, p.n):
                        t += r.Gx[side, k, j] * la[p.row + k]
                    vd[i + j] -= t / o.mass
                i += 3
            s = S[b]
            for j in range(3):
                t = r.HJ[side, 0, j] * la[p.row]
                for k in range(1, p.n):
                    t += r.HJ[side, k, j] * la[p.row + k]
                if h.kind == ANGULAR:
                    vd[i + j] -= t
                else:
                    for k in range(o.nr):
                        vd[i + k] -= s.N[k, j] * t


@stage("i", "internal")
def _internal_multipliers(m):
    """la_int from G_int^T la_int = f - M vdot - G^T la of the joints: p . (...) / |p|^2, or Lambda = F D^-1."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    C = primitives(m)
    R = rows(m)
    la = vectors(m)[0]
    f = vectors(m)[1]
    vd = vectors(m)[3]
    F = vectors(m)[5]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv + o.nt
        for k in range(o.nr):
            s.ad[k] = vd[i + k]
        apply_mass(m, b, s.ad, s.t)
        for k in range(o.nr):
            F[i + k] = f[i + k] - s.t[k]
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            i = o.iv + o.nt
            for j in range(o.nr):
                for k in range(p.n):
                    F[i + j] -= r.Gw[side, k, j] * la[p.row + k]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        i = o.iv + o.nt
        if h.kind == QUATERNION_RATE:
            n2 = s.a[0] * s.a[0] + s.a[1] * s.a[1] + s.a[2] * s.a[2] + s.a[3] * s.a[3]
            la[o.il] = (s.a[0] * F[i] + s.a[1] * F[i + 1] + s.a[2] * F[i + 2] + s.a[3] * F[i + 3]) / n2
        else:
            _director_multipliers(m, b)


@stage("ii", "director-rate")
def _director_multipliers(m, b):
    scratch = tangent(m)
    o = bodies(m)[b]
    s = states(m)[b]
    la = vectors(m)[0]
    F = vectors(m)[5]
    i = o.iv + o.nt
    for k in range(3):
        for l in range(3):
            scratch.T1[k, l] = F[i + k] * s.C[l, 0] + F[i + 3 + k] * s.C[l, 1] + F[i + 6 + k] * s.C[l, 2]
    la[o.il] = scratch.T1[0, 0]
    la[o.il + 1] = scratch.T1[1, 1]
    la[o.il + 2] = scratch.T1[2, 2]
    la[o.il + 3] = 0.5 * (scratch.T1[0, 1] + scratch.T1[1, 0])
    la[o.il + 4] = 0.5 * (scratch.T1[0, 2] + scratch.T1[2, 0])
    la[o.il + 5] = 0.5 * (scratch.T1[1, 2] + scratch.T1[2, 1])


@stage("i")
def solve_saddle_wide(m):
    """The rows [0, nv) of the scratch matrix become vdot of the saddle-point system for all its columns, or M vdot
    with momenta; the rows hold f (nv) and s (nla) before. Row operations over contiguous columns, the zeros at their
    end included."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    W = wide(m)
    nc = h.n_wide
    for b in range(h.n_bodies):
        o = B[b]
        if o.nt == 3:
            for k in range(3):
                scale_row(W, o.iv + k, nc, 1.0 / o.mass)
        if h.kind == ANGULAR:
            mix_three(W, o.iv + o.nt, nc, S[b].Ji)
        elif h.kind == QUATERNION_RATE:
            _solve_quaternion_wide(m, b)
        else:
            _solve_directors_wide(m, b)
    if h.n_rows > 0:
        _solve_joints_wide(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        o = B[b]
        if h.momenta == 1:
            if o.nt == 3:
                for k in range(3):
                    scale_row(W, o.iv + k, nc, o.mass)
            if h.kind == QUATERNION_RATE:
                _quaternion_momentum_maps(m, b)
            else:
                _director_momentum_maps(m, b)
        _finish_body_wide(m, b)


# vdot = N beta + Pi s with beta = Ri f - Zi s: Pi the particular part, Ri = Ji N^T, Zi = Ri M Pi


@jit
def _reduced_transpose(s, nr):
    """Ri = Ji N^T."""
    for l in range(3):
        for k in range(nr):
            s.Ri[l, k] = s.Ji[l, 0] * s.N[k, 0] + s.Ji[l, 1] * s.N[k, 1] + s.Ji[l, 2] * s.N[k, 2]


@stage("ii", "quaternion-rate")
def _solve_quaternion_wide(m, b):
    """beta to the first three of the rows of f; Zi = 0, because M p is a multiple of p."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    W = wide(m)
    X = vectors(m)[1:4]
    nc = h.n_wide
    i = o.iv + o.nt
    s.s[0] = 1.0
    _particular(m, b, s.s, 0, s.ad)
    for k in range(4):
        s.Pi[k, 0] = s.ad[k]
    _reduced_transpose(s, 4)
    for l in range(3):
        set_by_three(X[l], W, i, nc, s.Ri[l])
    for l in range(3):
        add_to(X[l], W, i + 3, nc, s.Ri[l, 3])
    for l in range(3):
        for c in range(nc):
            W[i + l, c] = X[l, c]


@stage("ii", "director-rate")
def _solve_directors_wide(m, b):
    """beta to the first three of the rows of f."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    W = wide(m)
    X = vectors(m)[1:4]
    nc = h.n_wide
    i = o.iv + o.nt
    j = h.n_v + o.il
    _director_maps(m, b)
    # one row after the other, so that none waits for its own last sum
    for l in range(3):
        set_by_three(X[l], W, i, nc, s.Ri[l])
    for k in range(3, 9, 3):
        for l in range(3):
            add_three(X[l], W, i + k, nc, s.Ri[l, k : k + 3])
    for k in range(0, 6, 3):
        for l in range(3):
            add_three(X[l], W, j + k, nc, s.Zi[l, k : k + 3])
    for l in range(3):
        for c in range(nc):
            W[i + l, c] = X[l, c]


@stage("ii", "director-rate")
def _director_maps(m, b):
    """Pi (see `_director_particular`), of whose rows three of the six numbers are never written and stay zero, Ri, and
    -Zi in Zi."""
    s = states(m)[b]
    E = bodies(m)[b].euler
    _reduced_transpose(s, 9)
    for i in range(3):
        x = s.C[0, i]
        y = s.C[1, i]
        z = s.C[2, i]
        s.Pi[3 * i, 0] = x
        s.Pi[3 * i, 3] = 0.5 * y
        s.Pi[3 * i, 4] = 0.5 * z
        s.Pi[3 * i + 1, 3] = 0.5 * x
        s.Pi[3 * i + 1, 1] = y
        s.Pi[3 * i + 1, 5] = 0.5 * z
        s.Pi[3 * i + 2, 4] = 0.5 * x
        s.Pi[3 * i + 2, 5] = 0.5 * y
        s.Pi[3 * i + 2, 2] = z
    for l in range(3):
        # Ri M in the scratch vector
        for j in range(3):
            for k in range(3):
                s.t[3 * j + k] = s.Ri[l, k] * E[0, j] + s.Ri[l, 3 + k] * E[1, j] + s.Ri[l, 6 + k] * E[2, j]
        for k in range(6):
            s.Zi[l, k] = 0.0
        for i in range(3):
            x = s.C[0, i]
            y = s.C[1, i]
            z = s.C[2, i]
            a = s.t[3 * i]
            e = s.t[3 * i + 1]
            c = s.t[3 * i + 2]
            s.Zi[l, 0] -= a * x
            s.Zi[l, 1] -= e * y
            s.Zi[l, 2] -= c * z
            s.Zi[l, 3] -= 0.5 * (a * y + e * x)
            s.Zi[l, 4] -= 0.5 * (a * z + c * x)
            s.Zi[l, 5] -= 0.5 * (e * z + c * y)


@stage("i", "joints")
def _solve_joints_wide(m):
    h = head(m)
    B = bodies(m)
    C = primitives(m)
    R = rows(m)
    GP = tangent(m).GP
    W = wide(m)
    nc = h.n_wide
    nv = h.n_v
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for k in range(p.n):
            scale_row(W, nv + p.row + k, nc, -1.0)
        for side in range(2):
            b = p.body[side]
            o = B[b]
            if o.fixed == 1:
                continue
            if h.kind == QUATERNION_RATE:
                _quaternion_gradient(m, b, n, side)
            elif h.kind == DIRECTOR_RATE:
                _director_gradient(m, b, n, side)
            first = nv + p.row
            if o.nt == 3:
                for k in range(p.n):
                    add_three(W[first + k], W, o.iv, nc, r.Gx[side, k])
            for k in range(p.n):
                add_three(W[first + k], W, o.iv + o.nt, nc, r.H[side, k])
            if o.ni == 1:
                for k in range(p.n):
                    add_row(W, first + k, nv + o.il, nc, GP[k, 0])
            for l in range(0, o.ni - 1, 3):
                for k in range(p.n):
                    add_three(W[first + k], W, nv + o.il + l, nc, GP[k, l : l + 3])
    _solve_schur_wide(m)
    for n in range(h.n_primitives):
        p = C[n]
        r = R[n]
        for side in range(2):
            o = B[p.body[side]]
            if o.fixed == 1:
                continue
            t = -1.0
            if o.nt == 3:
                t = -1.0 / o.mass
            for j in range(o.nt):
                _add_gradient(W, o.iv + j, nv + p.row, p.n, nc, t, r.Gx[side, :, j])
            for j in range(3):
                _add_gradient(W, o.iv + o.nt + j, nv + p.row, p.n, nc, -1.0, r.HJ[side, :, j])


@jit
def _add_gradient(W, i, k, n_rows, n, t, g):
    """Row i += t (g_0 row k + ...)."""
    if n_rows == 3:
        add_any_three(W[i], W, k, k + 1, k + 2, n, t * g[0], t * g[1], t * g[2])
    else:
        for l in range(n_rows):
            add_row(W, i, k + l, n, t * g[l])


@stage("iiii", "joints quaternion-rate")
def _quaternion_gradient(m, b, n, side):
    """GP = Gw Pi of one side of a primitive."""
    s = states(m)[b]
    r = rows(m)[n]
    GP = tangent(m).GP
    for k in range(primitives(m)[n].n):
        g = r.Gw[side, k]
        GP[k, 0] = g[0] * s.Pi[0, 0] + g[1] * s.Pi[1, 0] + g[2] * s.Pi[2, 0] + g[3] * s.Pi[3, 0]


@stage("iiii", "joints director-rate")
def _director_gradient(m, b, n, side):
    """GP = Gw Pi of one side of a primitive; Pi has three of six numbers in each row."""
    C = states(m)[b].C
    r = rows(m)[n]
    GP = tangent(m).GP
    for k in range(primitives(m)[n].n):
        g = r.Gw[side, k]
        for i in range(3):
            x = g[i] * C[0, 0] + g[3 + i] * C[0, 1] + g[6 + i] * C[0, 2]
            y = g[i] * C[1, 0] + g[3 + i] * C[1, 1] + g[6 + i] * C[1, 2]
            z = g[i] * C[2, 0] + g[3 + i] * C[2, 1] + g[6 + i] * C[2, 2]
            GP[k, i] = x if i == 0 else (y if i == 1 else z)
            if i == 0:
                GP[k, 3] = 0.5 * y
                GP[k, 4] = 0.5 * z
            elif i == 1:
                GP[k, 3] += 0.5 * x
                GP[k, 5] = 0.5 * z
            else:
                GP[k, 4] += 0.5 * x
                GP[k, 5] += 0.5 * y


@stage("ii", "quaternion-rate momenta")
def _quaternion_momentum_maps(m, b):
    """M N and M Pi in place of N and Pi."""
    s = states(m)[b]
    for j in range(3):
        for k in range(4):
            s.ad[k] = s.N[k, j]
        apply_mass(m, b, s.ad, s.t)
        for k in range(4):
            s.N[k, j] = s.t[k]
    for k in range(4):
        s.ad[k] = s.Pi[k, 0]
    apply_mass(m, b, s.ad, s.t)
    for k in range(4):
        s.Pi[k, 0] = s.t[k]


@stage("ii", "director-rate momenta")
def _director_momentum_maps(m, b):
    """M N and M Pi in place of N and Pi."""
    s = states(m)[b]
    E = bodies(m)[b].euler
    _euler_columns(E, s.N, 3)
    _euler_columns(E, s.Pi, 6)


@jit
def _euler_columns(E, A, n):
    """M A in place of A, M having the Euler tensor for each component of the directors."""
    for k in range(3):
        for c in range(n):
            x = A[k, c]
            y = A[3 + k, c]
            z = A[6 + k, c]
            A[k, c] = E[0, 0] * x + E[0, 1] * y + E[0, 2] * z
            A[3 + k, c] = E[1, 0] * x + E[1, 1] * y + E[1, 2] * z
            A[6 + k, c] = E[2, 0] * x + E[2, 1] * y + E[2, 2] * z


@stage("ii", "internal")
def _finish_body_wide(m, b):
    """N beta + Pi s; the rows that hold beta come last."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    W = wide(m)
    nc = h.n_wide
    i = o.iv + o.nt
    j = h.n_v + o.il
    for k in range(3, o.nr):
        set_by_three(W[i + k], W, i, nc, s.N[k])
    mix_three(W, i, nc, s.N)
    if o.ni == 1:
        for k in range(o.nr):
            add_row(W, i + k, j, nc, s.Pi[k, 0])
        return
    for k in range(0, o.nr, 3):
        # a row of H has three of the six numbers of s
        add_any_three(W[i + k], W, j, j + 3, j + 4, nc, s.Pi[k, 0], s.Pi[k, 3], s.Pi[k, 4])
        add_any_three(W[i + k + 1], W, j + 3, j + 1, j + 5, nc, s.Pi[k + 1, 3], s.Pi[k + 1, 1], s.Pi[k + 1, 5])
        add_any_three(W[i + k + 2], W, j + 4, j + 5, j + 2, nc, s.Pi[k + 2, 4], s.Pi[k + 2, 5], s.Pi[k + 2, 2])


@jit
def _solve_schur_wide(m):
    """The rows of the joint constraints of the scratch matrix become S^-1 times them."""
    h = head(m)
    L = factor(m)[0]
    D = factor(m)[1]
    start = row_start(m)
    col = column(m)
    W = wide(m)
    nc = h.n_wide
    where = h.n_v + h.n_internal
    inverse = _row_of(m)
    for i in range(h.n_rows):
        for n in range(start[i], start[i + 1] - 1):
            add_row(W, where + inverse[i], where + inverse[col[n]], nc, -L[n])
    for i in range(h.n_rows):
        scale_row(W, where + inverse[i], nc, 1.0 / D[i])
    for i in range(h.n_rows - 1, -1, -1):
        for n in range(start[i], start[i + 1] - 1):
            add_row(W, where + inverse[col[n]], where + inverse[i], nc, -L[n])


@jit
def _row_of(m):
    """Constraint row (counted from the first joint row) of each place in the factor."""
    return column(m)[head(m).n_factor :]
