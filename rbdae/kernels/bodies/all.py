"""Kernels of the bodies: natural coordinates from (q, v), inertia, forces pulled back, internal constraints; tangents.

For each body z = Phi(q), zdot = B(q) w and zddot = B wdot + b(q, w), where the rotational velocity w is, by the kind,

* ANGULAR: the material angular velocity Omega; B = T_d(d), [NS] (24);
* QUATERNION_RATE: pdot; B = Dphi(p), [NS] (48);
* DIRECTOR_RATE: ddot; B = I.

A natural force (fx, fd) in R^12 does the work fx . xdot + fd . ddot; B^T pulls it back to w.
"""

from __future__ import annotations

from rbdae.compiler.jit import address, jit, matrix_at, stage, vector_at
from rbdae.kernels.memory import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE, bodies, head, states, tangent, vectors
from rbdae.kernels.scatter import put, put_block, put_identity, put_transposed
from rbdae.rotations.charts import (
    DIRECTORS,
    add_spin,
    add_spin_columns,
    director_tangents,
    euler_differential,
    euler_differential_transposed,
    euler_hessian,
    euler_map,
    rate,
    rate_tangents,
    rotation,
    rotation_tangent,
    spin,
    spin_transposed,
    spin_transposed_columns,
)
from rbdae.rotations.quaternion_algebra import (
    add_product,
    add_right,
    add_triple,
    conjugate_product,
    extended,
    left,
    right_conjugate,
)

# ---------------------------------------------------------------- gather


@stage("ii")
def gather_positions(m, y_at):
    """Positions of all bodies from y[:nq]."""
    y = vector_at(y_at)
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                s.x[k] = y[i + k]
            i += 3
        for k in range(B[b].na):
            s.a[k] = y[i + k]


@jit
def gather_velocities(m, y_at, offset):
    """Velocities (or momenta) of all bodies from y[offset:offset + nv]."""
    _gather_rates(m, y_at, offset, 1)


@jit
def gather_accelerations(m, yd_at, offset):
    """Accelerations (or rates of the momenta) of all bodies from yd[offset:offset + nv]."""
    _gather_rates(m, yd_at, offset, 2)


@stage("iiii")
def _gather_rates(m, y_at, offset, order):
    y = vector_at(y_at)
    B = bodies(m)
    for b in range(head(m).n_bodies):
        x, w = _rates(m, b, order)
        i = offset + B[b].iv
        if B[b].nt == 3:
            for k in range(3):
                x[k] = y[i + k]
            i += 3
        for k in range(B[b].nr):
            w[k] = y[i + k]


@jit
def _rates(m, b, order):
    """The velocities (order 1) or accelerations (2) of one body that are unknowns, or its momenta or their rates."""
    s = states(m)[b]
    if head(m).momenta == 1:
        if order == 1:
            return s.px, s.p
        return s.pxd, s.pd
    if order == 1:
        return s.xd, s.w
    return s.xdd, s.wd


@stage("i")
def clear_accelerations(m):
    """Zero accelerations (or rates of the momenta): what remains of gddot is g_II."""
    S = states(m)
    for b in range(head(m).n_bodies):
        s = S[b]
        for k in range(3):
            s.xdd[k] = 0.0
            s.pxd[k] = 0.0
        for k in range(9):
            s.wd[k] = 0.0
            s.pd[k] = 0.0


@stage("iii")
def gather_multipliers(m, y_at, offset):
    """Multipliers from y[offset:offset + nla] to the first scratch vector."""
    y = vector_at(y_at)
    la = vectors(m)[0]
    for i in range(head(m).n_la):
        la[i] = y[offset + i]


# ---------------------------------------------------------------- natural coordinates


@stage("i")
def place(m):
    """Natural positions; the natural forces start with the weight."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        rotation(h.chart, s.a, s.d)
        for k in range(3):
            s.fx[k] = B[b].weight[k]
        for k in range(9):
            s.fd[k] = B[b].weight_d[k]


@stage("i")
def move(m):
    """Natural velocities; from the momenta where these are the unknowns: w = dH/dp, [BS09] (39)."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        if h.momenta == 1:
            for k in range(3):
                s.xd[k] = s.px[k] / B[b].mass
            if h.kind == QUATERNION_RATE:
                _quaternion_velocity(m, b)
            else:
                _director_velocity(m, b)
        if h.kind == ANGULAR:
            for k in range(3):
                s.om[k] = s.w[k]
            spin(s.d, s.w, s.dd)
        elif h.kind == QUATERNION_RATE:
            # phi is quadratic: ddot = Dphi(p) pdot = 2 phi(p, pdot)
            _polar(address(s.a), address(s.w), address(s.dd))
        else:
            for k in range(9):
                s.dd[k] = s.w[k]


@stage("ii", "quaternion-rate momenta")
def _quaternion_velocity(m, b):
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.a, s.p, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    for k in range(4):
        s.w[k] = 0.0
    add_product(s.a, s.s, 0.25, s.w)


@stage("ii", "director-rate momenta")
def _director_velocity(m, b):
    s = states(m)[b]
    _director_mass(bodies(m)[b].euler_inverse, s.p, s.w)


@stage("i")
def accelerate(m):
    """Natural accelerations from the rates of the velocities (or of the momenta)."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        if h.momenta == 1:
            for k in range(3):
                s.xdd[k] = s.pxd[k] / B[b].mass
            if h.kind == QUATERNION_RATE:
                _quaternion_acceleration(m, b)
            else:
                _director_acceleration(m, b)
        if h.kind == ANGULAR:
            spin(s.d, s.wd, s.ddd)
            add_spin(s.dd, s.w, s.ddd)
        elif h.kind == QUATERNION_RATE:
            _quaternion_spin_rate(m, b)
        else:
            for k in range(9):
                s.ddd[k] = s.wd[k]


@stage("ii", "quaternion-rate momenta")
def _quaternion_acceleration(m, b):
    """wdot = [w o J^-1(conj(q) o p) + q o J^-1(conj(w) o p + conj(q) o pdot)] / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    conjugate_product(s.a, s.p, s.s)
    extended(r, o.inertia_inverse, s.s, s.s)
    for k in range(4):
        s.wd[k] = 0.0
    add_product(s.w, s.s, 0.25, s.wd)
    conjugate_product(s.w, s.p, s.s)
    conjugate_product(s.a, s.pd, s.t)
    for k in range(4):
        s.s[k] += s.t[k]
    extended(r, o.inertia_inverse, s.s, s.s)
    add_product(s.a, s.s, 0.25, s.wd)


@stage("ii", "director-rate momenta")
def _director_acceleration(m, b):
    s = states(m)[b]
    _director_mass(bodies(m)[b].euler_inverse, s.pd, s.wd)


@stage("ii", "quaternion-rate")
def _quaternion_spin_rate(m, b):
    """dddot = Dphi(p) pddot + 2 phi(pdot)."""
    s = states(m)[b]
    _polar(address(s.a), address(s.wd), address(s.ddd))
    euler_map(s.w, s.t)
    for k in range(9):
        s.ddd[k] += 2.0 * s.t[k]


@stage("iii", "quaternion-rate")
def _polar(p_at, r_at, out_at):
    """out = Dphi(p) r."""
    p = vector_at(p_at)
    r = vector_at(r_at)
    out = vector_at(out_at)
    a = 2.0 * p[0]
    b = 2.0 * p[1]
    c = 2.0 * p[2]
    e = 2.0 * p[3]
    r0 = r[0]
    r1 = r[1]
    r2 = r[2]
    r3 = r[3]
    out[0] = a * r0 + b * r1 - c * r2 - e * r3
    out[1] = e * r0 + c * r1 + b * r2 + a * r3
    out[2] = -c * r0 + e * r1 - a * r2 + b * r3
    out[3] = -e * r0 + c * r1 + b * r2 - a * r3
    out[4] = a * r0 - b * r1 + c * r2 - e * r3
    out[5] = b * r0 + a * r1 + e * r2 + c * r3
    out[6] = c * r0 + e * r1 + a * r2 + b * r3
    out[7] = -b * r0 - a * r1 + e * r2 + c * r3
    out[8] = a * r0 - b * r1 - c * r2 + e * r3


@jit
def _director_mass(E, v, out):
    """out_i = sum_j E_ij v_j over the directors."""
    for i in range(3):
        for k in range(3):
            out[3 * i + k] = E[i, 0] * v[k] + E[i, 1] * v[3 + k] + E[i, 2] * v[6 + k]


# ---------------------------------------------------------------- kinematics rows


@stage("iii")
def kinematics_residual(m, yd_at, out_at):
    """out[:nq] = qdot - v, or adot - K(a) Omega in the rotations of the angular kind."""
    yd = vector_at(yd_at)
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = yd[i + k] - s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = yd[i + k] - s.w[k]


@stage("ii")
def kinematics_rate(m, out_at):
    """out[:nq] = qdot as a function of (q, v)."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        if B[b].nt == 3:
            for k in range(3):
                out[i + k] = s.xd[k]
            i += 3
        if h.kind == ANGULAR:
            rate(h.chart, s.a, s.om, s.ad)
            for k in range(B[b].na):
                out[i + k] = s.ad[k]
        else:
            for k in range(B[b].na):
                out[i + k] = s.w[k]


@jit
def put_rate_tangent(m, b, row, c, sign):
    """c I + sign d(K(a) Omega)/da of one body, rows and columns from `row` on; leaves K(a) in the shared T1."""
    scratch = tangent(m)
    s = states(m)[b]
    na = bodies(m)[b].na
    rate_tangents(head(m).chart, s.a, s.om, scratch.T1, scratch.T2)
    for j in range(na):
        for k in range(na):
            scratch.T2[j, k] *= sign
        scratch.T2[j, j] += c
    put_block(m, row, row, scratch.T2, na, na, 1.0)


@stage("iff")
def kinematics_tangent(m, c, sign):
    """Tangent of c qdot + sign (rate of q as a function of (q, v)), rows [0, nq)."""
    scratch = tangent(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    for b in range(h.n_bodies):
        s = S[b]
        i = B[b].iq
        v = h.n_q + B[b].iv
        if B[b].nt == 3:
            if c != 0.0 or h.mode != 0:
                put_identity(m, i, i, 3, c)
            if h.momenta == 1:
                put_identity(m, i, v, 3, sign / B[b].mass)
            else:
                put_identity(m, i, v, 3, sign)
            i += 3
            v += 3
        na = B[b].na
        if h.kind == ANGULAR:
            put_rate_tangent(m, b, i, c, sign)
            put_block(m, i, v, scratch.T1, na, 3, sign)
        elif h.momenta == 1:
            if h.kind == QUATERNION_RATE:
                for j in range(na):
                    for k in range(na):
                        scratch.T2[j, k] = sign * s.U[j, k]
                    scratch.T2[j, j] += c
                put_block(m, i, i, scratch.T2, na, na, 1.0)
                put_block(m, i, v, s.V, na, na, sign)
            else:
                if c != 0.0 or h.mode != 0:
                    put_identity(m, i, i, 9, c)
                _put_director_mass(m, i, v, address(B[b].euler_inverse), sign)
        else:
            if c != 0.0 or h.mode != 0:
                put_identity(m, i, i, na, c)
            put_identity(m, i, v, na, sign)


@stage("iiiif", "director-rate")
def _put_director_mass(m, row, column, E_at, scale):
    E = matrix_at(E_at, 3)
    for i in range(3):
        for j in range(3):
            put_identity(m, row + 3 * i, column + 3 * j, 3, scale * E[i, j])


# ---------------------------------------------------------------- dynamics


@stage("ii")
def forces(m, b):
    """psi of one body without constraint forces of joints, to tx (3) and t (nr): [NS] (2), (25), (33);
    with momenta -dH/dq, [BS09] (39)."""
    h = head(m)
    s = states(m)[b]
    for k in range(3):
        s.tx[k] = s.fx[k]
    if h.kind == ANGULAR:
        _angular_forces(m, b)
    elif h.kind == QUATERNION_RATE:
        _pull_back_quaternion(address(s.a), address(s.fd), address(s.t))
        if h.momenta == 1:
            _quaternion_momentum_forces(m, b)
        else:
            _quaternion_forces(m, b)
    else:
        for k in range(9):
            s.t[k] = s.fd[k]


@stage("iii", "quaternion-rate")
def _pull_back_quaternion(p_at, f_at, out_at):
    euler_differential_transposed(vector_at(p_at), vector_at(f_at), vector_at(out_at))


@stage("ii", "angular")
def _angular_forces(m, b):
    """t = B^T fd - Omega x J Omega."""
    s = states(m)[b]
    J = bodies(m)[b].inertia
    w = s.w
    l0 = J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2]
    l1 = J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2]
    l2 = J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2]
    spin_transposed(s.d, s.fd, s.t)
    s.t[0] -= w[1] * l2 - w[2] * l1
    s.t[1] -= w[2] * l0 - w[0] * l2
    s.t[2] -= w[0] * l1 - w[1] * l0


@stage("ii", "quaternion-rate momenta")
def _quaternion_momentum_forces(m, b):
    """t -= dT/dq = p o J^-1 (conj(p) o q) / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.p, s.a, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    add_product(s.p, s.s, -0.25, s.t)


@stage("ii", "quaternion-rate")
def _quaternion_forces(m, b):
    """t += 8 Q(pdot) I Q(pdot)^T p, [NS] (33)."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.w, s.a, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    add_product(s.w, s.s, 8.0, s.t)


@stage("ii", "quaternion-rate")
def _quaternion_inertia(m, b):
    """ad = 4 p o I (conj(p) o pddot), [NS] (31)."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.a, s.wd, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        s.ad[k] = 0.0
    add_product(s.a, s.s, 4.0, s.ad)


@stage("iii")
def dynamics_residual(m, out_at, row):
    """out[row:row + nv] = M vdot - psi + G^T la; the joints' G^T la is already among the natural forces."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    la = vectors(m)[0]
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        r = row + o.iv
        forces(m, b)
        if o.nt == 3:
            if h.momenta == 1:
                for k in range(3):
                    out[r + k] = s.pxd[k] - s.tx[k]
            else:
                for k in range(3):
                    out[r + k] = o.mass * s.xdd[k] - s.tx[k]
            r += 3
        if h.kind == ANGULAR:
            J = o.inertia
            for k in range(3):
                out[r + k] = J[k, 0] * s.wd[0] + J[k, 1] * s.wd[1] + J[k, 2] * s.wd[2] - s.t[k]
        elif h.kind == QUATERNION_RATE:
            l = la[o.il]
            if h.momenta == 0:
                _quaternion_inertia(m, b)
                for k in range(4):
                    out[r + k] = s.ad[k] - s.t[k] + l * s.a[k]
            else:
                for k in range(4):
                    out[r + k] = s.pd[k] - s.t[k] + l * s.a[k]
        else:
            _director_residual(m, b, out_at, r)


@stage("iiii", "director-rate")
def _director_residual(m, b, out_at, r):
    """out[r:r + 9] = E vdot (or pdot) - t + G_int^T la."""
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    la = vectors(m)[0]
    if head(m).momenta == 1:
        for k in range(9):
            s.ad[k] = s.pd[k]
    else:
        _director_mass(o.euler, s.wd, s.ad)
    l0 = la[o.il]
    l1 = la[o.il + 1]
    l2 = la[o.il + 2]
    l3 = la[o.il + 3]
    l4 = la[o.il + 4]
    l5 = la[o.il + 5]
    for j in range(0, 9, 3):
        out[r + j] = s.ad[j] - s.t[j] + l0 * s.a[j] + l3 * s.a[j + 1] + l4 * s.a[j + 2]
        out[r + j + 1] = s.ad[j + 1] - s.t[j + 1] + l3 * s.a[j] + l1 * s.a[j + 1] + l5 * s.a[j + 2]
        out[r + j + 2] = s.ad[j + 2] - s.t[j + 2] + l4 * s.a[j] + l5 * s.a[j + 1] + l2 * s.a[j + 2]


# ---------------------------------------------------------------- tangents of the natural coordinates


@stage("i")
def velocity_basis(m):
    """B = d(ddot)/dw alone, for the gradients of the joints."""
    h = head(m)
    S = states(m)
    if h.kind == DIRECTOR_RATE or h.n_primitives == 0:
        return
    for b in range(h.n_bodies):
        s = S[b]
        if h.kind == ANGULAR:
            director_tangents(s.d, s.B)
        else:
            _euler_differential(address(s.a), address(s.B))


@stage("ii", "quaternion-rate")
def _euler_differential(p_at, D_at):
    euler_differential(vector_at(p_at), matrix_at(D_at, 9))


@stage("i")
def place_tangent(m):
    """D0 = dd/da and B = d(ddot)/dw; with momenta also U = dw/dq and V = dw/dp."""
    h = head(m)
    S = states(m)
    if h.kind == DIRECTOR_RATE:
        return  # D0 = B = I and, with momenta, V = E^-1: constant, set when the block was made
    joined = h.n_primitives + h.n_bushings + h.n_elements > 0
    for b in range(h.n_bodies):
        s = S[b]
        if h.kind == ANGULAR:
            if h.chart != DIRECTORS:  # there D0 = I, set when the block was made
                rotation_tangent(h.chart, s.a, s.D0)
            if joined:
                director_tangents(s.d, s.B)
        else:
            if joined:
                _euler_differential(address(s.a), address(s.D0))
                _euler_differential(address(s.a), address(s.B))
            if h.momenta == 1:
                _quaternion_velocity_tangents(m, b)


@stage("ii", "quaternion-rate momenta")
def _quaternion_velocity_tangents(m, b):
    """U = dw/dq and V = dw/dp."""
    scratch = tangent(m)
    s = states(m)[b]
    r = 1.0 / bodies(m)[b].radial
    Ji = bodies(m)[b].inertia_inverse
    _clear4(s.U)
    _clear4(s.V)
    left(s.a, scratch.T1)
    _add_triple(address(scratch.T1), r, address(Ji), address(scratch.T1), 0.25, True, address(s.V))
    right_conjugate(s.p, scratch.T2)
    _add_triple(address(scratch.T1), r, address(Ji), address(scratch.T2), 0.25, False, address(s.U))
    conjugate_product(s.a, s.p, s.s)
    extended(r, Ji, s.s, s.s)
    add_right(s.s, 0.25, s.U)


@stage("ifiifii", "quaternion-rate")
def _add_triple(X_at, radial, J_at, Y_at, scale, transposed, out_at):
    X = matrix_at(X_at, 9)
    Y = matrix_at(Y_at, 9)
    add_triple(X, radial, matrix_at(J_at, 3), Y, scale, transposed, matrix_at(out_at, 9))


@jit
def _clear4(A):
    for i in range(4):
        for j in range(4):
            A[i, j] = 0.0


@stage("i")
def move_tangent(m):
    """D1 = d(ddot)/da at fixed w."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == DIRECTOR_RATE or h.n_primitives + h.n_bushings + h.n_elements == 0:
        return
    for b in range(h.n_bodies):
        s = S[b]
        if h.kind == ANGULAR:
            for i in range(9):
                for j in range(B[b].na):
                    s.D1[i, j] = 0.0
            _add_spin_columns(address(s.D0), address(s.w), B[b].na, address(s.D1))
        else:
            _euler_differential(address(s.w), address(s.D1))


@stage("iiii", "angular")
def _add_spin_columns(D_at, om_at, n, out_at):
    add_spin_columns(matrix_at(D_at, 9), vector_at(om_at), n, matrix_at(out_at, 9))


@stage("i")
def accelerate_tangent(m):
    """D2 = d(dddot)/da and W = d(dddot)/dw at fixed wdot; with momenta also Ud = dwdot/dq, Vd = dwdot/dp."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == DIRECTOR_RATE or h.n_primitives + h.n_bushings == 0:
        return
    for b in range(h.n_bodies):
        s = S[b]
        if h.kind == ANGULAR:
            na = B[b].na
            for i in range(9):
                for j in range(na):
                    s.D2[i, j] = 0.0
            _add_spin_columns(address(s.D0), address(s.wd), na, address(s.D2))
            _add_spin_columns(address(s.D1), address(s.w), na, address(s.D2))
            director_tangents(s.dd, s.W)
            _add_spin_columns(address(s.B), address(s.w), 3, address(s.W))
        else:
            _euler_differential(address(s.wd), address(s.D2))
            _euler_differential(address(s.w), address(s.W))
            for i in range(9):
                for j in range(4):
                    s.W[i, j] *= 2.0
            if h.momenta == 1:
                _quaternion_acceleration_tangents(m, b)


@stage("ii", "quaternion-rate momenta")
def _quaternion_acceleration_tangents(m, b):
    """Ud = dwdot/dq and Vd = dwdot/dp."""
    scratch = tangent(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    Ji = o.inertia_inverse
    _clear4(s.Ud)
    _clear4(s.Vd)
    left(s.a, scratch.T1)
    left(s.w, scratch.T3)
    _add_triple(address(scratch.T3), r, address(Ji), address(scratch.T1), 0.25, True, address(s.Vd))
    _add_triple(address(scratch.T1), r, address(Ji), address(scratch.T3), 0.25, True, address(s.Vd))
    right_conjugate(s.p, scratch.T2)
    _add_triple(address(scratch.T3), r, address(Ji), address(scratch.T2), 0.25, False, address(s.Ud))
    right_conjugate(s.pd, scratch.T2)
    _add_triple(address(scratch.T1), r, address(Ji), address(scratch.T2), 0.25, False, address(s.Ud))
    conjugate_product(s.w, s.p, s.s)
    conjugate_product(s.a, s.pd, s.t)
    for k in range(4):
        s.s[k] += s.t[k]
    extended(r, Ji, s.s, s.s)
    add_right(s.s, 0.25, s.Ud)
    # through w(q, p)
    for i in range(4):
        for j in range(4):
            u = s.Ud[i, j]
            v = s.Vd[i, j]
            for k in range(4):
                u += s.U[i, k] * s.U[k, j]
                v += s.U[i, k] * s.V[k, j]
            s.Ud[i, j] = u
            s.Vd[i, j] = v


# ---------------------------------------------------------------- tangents that go into the Jacobian


@jit
def put_velocity(m, b, row, Kx, K, n, scale):
    """Tangent blocks scale (Kx, K), n rows, with respect to (xdot, w) of body b; with momenta by the chain rule to
    the columns of q and p."""
    if bodies(m)[b].nt == 3:
        _put_translation(m, b, row, address(Kx), Kx.strides[0] // 8, n, scale)
    put_rotation_velocity(m, b, row, K, n, scale)


@stage("iiiiiif")
def _put_translation(m, b, row, Kx_at, Kx_step, n, scale):
    """Of the velocities, or accelerations, of the reference point."""
    h = head(m)
    o = bodies(m)[b]
    if h.momenta == 1:
        scale /= o.mass
    put_block(m, row, h.n_q + o.iv, matrix_at(Kx_at, Kx_step), n, 3, scale)


@jit
def put_rotation_velocity(m, b, row, K, n, scale):
    """The part of w alone."""
    _put_rotation_velocity(m, b, row, address(K), K.strides[0] // 8, n, scale)


@stage("iiiiiif")
def _put_rotation_velocity(m, b, row, K_at, K_step, n, scale):
    h = head(m)
    o = bodies(m)[b]
    if h.momenta == 0:
        put_block(m, row, h.n_q + o.iv + o.nt, matrix_at(K_at, K_step), n, o.nr, scale)
    else:
        _put_velocity_by_momenta(m, b, row, K_at, K_step, n, scale)


@stage("iiiiiif", "momenta")
def _put_velocity_by_momenta(m, b, row, K_at, K_step, n, scale):
    scratch = tangent(m)
    K = matrix_at(K_at, K_step)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    if h.kind == QUATERNION_RATE:
        _chain(K, s.U, n, 4, scratch.T4)
        put_block(m, row, o.iq + o.nt, scratch.T4, n, 4, scale)
        _chain(K, s.V, n, 4, scratch.T4)
    else:
        _chain_directors(K, o.euler_inverse, n, scratch.T4)
    put_block(m, row, h.n_q + o.iv + o.nt, scratch.T4, n, o.nr, scale)


@jit
def put_acceleration(m, b, row, Kx, K, n, c, scale):
    """Tangent blocks (Kx, K), n rows, with respect to (xddot, wdot) of body b, times c in the columns of v, all times
    scale; with momenta wdot also depends on q and p."""
    if bodies(m)[b].nt == 3 and (c != 0.0 or head(m).mode != 0):
        _put_translation(m, b, row, address(Kx), Kx.strides[0] // 8, n, scale * c)
    put_rotation_acceleration(m, b, row, K, n, c, scale)


@jit
def put_rotation_acceleration(m, b, row, K, n, c, scale):
    """The part of wdot alone."""
    _put_rotation_acceleration(m, b, row, address(K), K.strides[0] // 8, n, c, scale)


@stage("iiiiiiff")
def _put_rotation_acceleration(m, b, row, K_at, K_step, n, c, scale):
    h = head(m)
    o = bodies(m)[b]
    if h.momenta == 0:
        if c != 0.0 or h.mode != 0:
            put_block(m, row, h.n_q + o.iv + o.nt, matrix_at(K_at, K_step), n, o.nr, scale * c)
    else:
        _put_acceleration_by_momenta(m, b, row, K_at, K_step, n, c, scale)


@stage("iiiiiiff", "momenta")
def _put_acceleration_by_momenta(m, b, row, K_at, K_step, n, c, scale):
    scratch = tangent(m)
    K = matrix_at(K_at, K_step)
    h = head(m)
    o = bodies(m)[b]
    v = h.n_q + o.iv + o.nt
    s = states(m)[b]
    if h.kind == QUATERNION_RATE:
        _chain(K, s.Ud, n, 4, scratch.T4)
        put_block(m, row, o.iq + o.nt, scratch.T4, n, 4, scale)
        _chain(K, s.Vd, n, 4, scratch.T4)
        put_block(m, row, v, scratch.T4, n, 4, scale)
    if c == 0.0 and h.mode == 0:
        return
    if h.kind == QUATERNION_RATE:
        _chain(K, s.V, n, 4, scratch.T4)
    else:
        _chain_directors(K, o.euler_inverse, n, scratch.T4)
    put_block(m, row, v, scratch.T4, n, o.nr, scale * c)


@jit
def _chain_directors(K, E, n, out):
    """out = K V with V = E^-1 on each component of the directors; E is its inverse here."""
    for i in range(n):
        for k in range(3):
            a = K[i, k]
            b = K[i, 3 + k]
            e = K[i, 6 + k]
            for j in range(3):
                out[i, 3 * j + k] = a * E[0, j] + b * E[1, j] + e * E[2, j]


@jit
def _chain(K, U, n, nr, out):
    for i in range(n):
        for j in range(nr):
            t = K[i, 0] * U[0, j]
            for k in range(1, nr):
                t += K[i, k] * U[k, j]
            out[i, j] = t


@stage("iif")
def dynamics_tangent(m, row, c):
    """Tangent of M vdot - psi + G_int^T la of each body at fixed natural forces, with respect to q and v, plus c M."""
    scratch = tangent(m)
    h = head(m)
    B = bodies(m)
    la = vectors(m)[0]
    for b in range(h.n_bodies):
        o = B[b]
        r = row + o.iv
        q = o.iq + o.nt
        v = h.n_q + o.iv
        if o.nt == 3:
            if c != 0.0 or h.mode != 0:
                put_identity(m, r, v, 3, c if h.momenta == 1 else c * o.mass)
            r += 3
            v += 3
        if h.kind == ANGULAR:
            _angular_tangent(m, b, c)
            put_block(m, r, q, scratch.T1, 3, o.na, 1.0)
            put_block(m, r, v, scratch.T2, 3, 3, 1.0)
        elif h.kind == QUATERNION_RATE:
            if h.momenta == 1:
                _quaternion_momentum_tangent(m, b, c, la[o.il])
            else:
                _quaternion_tangent(m, b, c, la[o.il])
            put_block(m, r, q, scratch.T1, 4, 4, 1.0)
            put_block(m, r, v, scratch.T2, 4, 4, 1.0)
        else:
            _director_tangent(m, b, r, q)
            if c == 0.0 and h.mode == 0:
                continue
            if h.momenta == 1:
                put_identity(m, r, v, 9, c)
            else:
                _put_director_mass(m, r, v, address(o.euler), c)


@jit
def symmetric(l, il, out):
    """out[:3, :3] = the symmetric matrix of six multipliers of a body with directors."""
    for k in range(3):
        out[k, k] = l[il + k]
    out[0, 1] = l[il + 3]
    out[1, 0] = l[il + 3]
    out[0, 2] = l[il + 4]
    out[2, 0] = l[il + 4]
    out[1, 2] = l[il + 5]
    out[2, 1] = l[il + 5]


@stage("iiii", "director-rate")
def _director_tangent(m, b, r, q):
    """d(G_int^T la)/dq."""
    scratch = tangent(m)
    T = scratch.T1
    symmetric(vectors(m)[0], bodies(m)[b].il, T)
    for j in range(0, 9, 3):
        put_block(m, r + j, q + j, T, 3, 3, 1.0)


@stage("iif", "angular")
def _angular_tangent(m, b, c):
    """T1 = -d(B^T fd)/da, T2 = c J + Omega^ J - (J Omega)^."""
    scratch = tangent(m)
    o = bodies(m)[b]
    s = states(m)[b]
    spin_transposed_columns(s.D0, s.fd, o.na, scratch.T1)
    for i in range(3):
        for j in range(o.na):
            scratch.T1[i, j] = -scratch.T1[i, j]
    J = o.inertia
    w = s.w
    l0 = J[0, 0] * w[0] + J[0, 1] * w[1] + J[0, 2] * w[2]
    l1 = J[1, 0] * w[0] + J[1, 1] * w[1] + J[1, 2] * w[2]
    l2 = J[2, 0] * w[0] + J[2, 1] * w[1] + J[2, 2] * w[2]
    for j in range(3):
        scratch.T2[0, j] = c * J[0, j] + w[1] * J[2, j] - w[2] * J[1, j]
        scratch.T2[1, j] = c * J[1, j] + w[2] * J[0, j] - w[0] * J[2, j]
        scratch.T2[2, j] = c * J[2, j] + w[0] * J[1, j] - w[1] * J[0, j]
    scratch.T2[0, 1] += l2
    scratch.T2[0, 2] -= l1
    scratch.T2[1, 0] -= l2
    scratch.T2[1, 2] += l0
    scratch.T2[2, 0] += l1
    scratch.T2[2, 1] -= l0


@stage("iiff", "quaternion-rate")
def _quaternion_tangent(m, b, c, l):
    """T1, T2: tangents of 4 p o I (conj(p) o pddot) - 8 pdot o I (conj(pdot) o p) - Dphi(p)^T fd + la p with respect
    to p and to pdot, the latter plus c M."""
    scratch = tangent(m)
    o = bodies(m)[b]
    s = states(m)[b]
    I0 = o.radial
    J = o.inertia
    euler_hessian(s.fd, scratch.T1)
    for i in range(4):
        for j in range(4):
            scratch.T1[i, j] = -scratch.T1[i, j]
        scratch.T1[i, i] += l
    _clear4(scratch.T2)
    left(s.a, scratch.T3)
    _add_triple(address(scratch.T3), I0, address(J), address(scratch.T3), 4.0 * c, True, address(scratch.T2))
    conjugate_product(s.a, s.wd, s.s)
    extended(I0, J, s.s, s.s)
    add_right(s.s, 4.0, scratch.T1)
    right_conjugate(s.wd, scratch.T4)
    _add_triple(address(scratch.T3), I0, address(J), address(scratch.T4), 4.0, False, address(scratch.T1))
    left(s.w, scratch.T3)
    _add_triple(address(scratch.T3), I0, address(J), address(scratch.T3), -8.0, True, address(scratch.T1))
    conjugate_product(s.w, s.a, s.s)
    extended(I0, J, s.s, s.s)
    add_right(s.s, -8.0, scratch.T2)
    right_conjugate(s.a, scratch.T4)
    _add_triple(address(scratch.T3), I0, address(J), address(scratch.T4), -8.0, False, address(scratch.T2))


@stage("iiff", "quaternion-rate momenta")
def _quaternion_momentum_tangent(m, b, c, l):
    """T1, T2: tangents of pdot + p o J^-1 (conj(p) o q) / 4 - Dphi(q)^T fd + la q with respect to q and p, plus c."""
    scratch = tangent(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    Ji = o.inertia_inverse
    euler_hessian(s.fd, scratch.T1)
    for i in range(4):
        for j in range(4):
            scratch.T1[i, j] = -scratch.T1[i, j]
        scratch.T1[i, i] += l
    _clear4(scratch.T2)
    for i in range(4):
        scratch.T2[i, i] = c
    left(s.p, scratch.T3)
    _add_triple(address(scratch.T3), r, address(Ji), address(scratch.T3), 0.25, True, address(scratch.T1))
    conjugate_product(s.p, s.a, s.s)
    extended(r, Ji, s.s, s.s)
    add_right(s.s, 0.25, scratch.T2)
    right_conjugate(s.a, scratch.T4)
    _add_triple(address(scratch.T3), r, address(Ji), address(scratch.T4), 0.25, False, address(scratch.T2))


# ---------------------------------------------------------------- internal constraints


@jit
def _bilinear(X, Y, out, row, scale):
    """out[row:row + 6] += scale (x_k . y_k, then x_i . y_j + x_j . y_i) over the rows of R; [NS] (19)."""
    for k in range(3):
        i = 0 if k == 0 else (2 if k == 1 else 1)
        j = 1 if k == 0 else (0 if k == 1 else 2)
        for n in range(0, 9, 3):
            out[row + k] += scale * X[n + k] * Y[n + k]
            out[row + 3 + k] += scale * (X[n + i] * Y[n + j] + X[n + j] * Y[n + i])


@stage("ifi", "director-rate")
def _bilinear_matrix(X_at, scale, T_at):
    """T[:6, :9] = scale times the tangent of the above with respect to Y."""
    X = vector_at(X_at)
    T = matrix_at(T_at, 9)
    for n in range(0, 9, 3):
        a = scale * X[n]
        b = scale * X[n + 1]
        e = scale * X[n + 2]
        T[0, n] = a
        T[0, n + 1] = 0.0
        T[0, n + 2] = 0.0
        T[1, n] = 0.0
        T[1, n + 1] = b
        T[1, n + 2] = 0.0
        T[2, n] = 0.0
        T[2, n + 1] = 0.0
        T[2, n + 2] = e
        T[3, n] = b
        T[3, n + 1] = a
        T[3, n + 2] = 0.0
        T[4, n] = e
        T[4, n + 1] = 0.0
        T[4, n + 2] = a
        T[5, n] = 0.0
        T[5, n + 1] = e
        T[5, n + 2] = b


@jit
def _dot(x, y, n):
    t = x[0] * y[0]
    for k in range(1, n):
        t += x[k] * y[k]
    return t


@stage("iiii")
def internal_residual(m, out_at, row, level):
    """Internal constraints at position (0), velocity or momentum (1), acceleration (2) level."""
    out = vector_at(out_at)
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        s = S[b]
        r = row + B[b].il
        if h.kind == DIRECTOR_RATE:
            _director_internal(m, b, out_at, r, level)
        elif level == 0:
            out[r] = 0.5 * (_dot(s.a, s.a, 4) - 1.0)
        elif level == 1:
            # momentum level: q . p, [BS09] (40)
            out[r] = _dot(s.a, s.p, 4) if h.momenta == 1 else _dot(s.a, s.w, 4)
        elif h.momenta == 1:
            out[r] = _dot(s.a, s.pd, 4) + _dot(s.p, s.w, 4)
        else:
            out[r] = _dot(s.a, s.wd, 4) + _dot(s.w, s.w, 4)


@stage("iiiii", "director-rate")
def _director_internal(m, b, out_at, r, level):
    out = vector_at(out_at)
    s = states(m)[b]
    for k in range(6):
        out[r + k] = 0.0
    if level == 0:
        _bilinear(s.a, s.a, out, r, 0.5)
        for k in range(3):
            out[r + k] -= 0.5
    elif level == 1:
        _bilinear(s.a, s.w, out, r, 1.0)
    else:
        _bilinear(s.a, s.wd, out, r, 1.0)
        _bilinear(s.w, s.w, out, r, 1.0)


@stage("iiiff")
def internal_tangent(m, row, level, c, scale):
    """scale times the tangents of the internal constraints, c being the factor of the rates at level 2."""
    h = head(m)
    if h.kind == QUATERNION_RATE:
        for b in range(h.n_bodies):
            _quaternion_internal_tangent(m, b, row, level, c, scale)
    elif h.kind == DIRECTOR_RATE:
        for b in range(h.n_bodies):
            _director_internal_tangent(m, b, row, level, c, scale)


@stage("iiiiff", "quaternion-rate")
def _quaternion_internal_tangent(m, b, row, level, c, scale):
    scratch = tangent(m)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = row + o.il
    v = h.n_q + o.iv + o.nt
    T = scratch.T1
    for k in range(4):
        if level == 0:
            T[0, k] = s.a[k]
        elif h.momenta == 1:
            if level == 1:
                T[0, k] = s.p[k]
                T[1, k] = s.a[k]
            else:
                T[0, k] = s.pd[k]
                T[1, k] = s.w[k] + c * s.a[k]
                for j in range(4):
                    T[0, k] += s.p[j] * s.U[j, k]
                    T[1, k] += s.p[j] * s.V[j, k]
        elif level == 1:
            T[0, k] = s.w[k]
            T[1, k] = s.a[k]
        else:
            T[0, k] = s.wd[k]
            T[1, k] = 2.0 * s.w[k] + c * s.a[k]
    put_block(m, r, o.iq + o.nt, T, 1, 4, scale)
    if level > 0:
        for k in range(4):
            T[0, k] = T[1, k]
        put_block(m, r, v, T, 1, 4, scale)


@stage("iiiiff", "director-rate")
def _director_internal_tangent(m, b, row, level, c, scale):
    scratch = tangent(m)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = row + o.il
    q = o.iq + o.nt
    v = h.n_q + o.iv + o.nt
    T = scratch.T1
    if level == 0:
        _bilinear_matrix(address(s.a), 1.0, address(T))
        put_block(m, r, q, T, 6, 9, scale)
        return
    if level == 1:
        _bilinear_matrix(address(s.w), 1.0, address(T))
        put_block(m, r, q, T, 6, 9, scale)
        _bilinear_matrix(address(s.a), 1.0, address(T))
    else:
        _bilinear_matrix(address(s.wd), 1.0, address(T))
        put_block(m, r, q, T, 6, 9, scale)
        _bilinear_matrix(address(s.w), 2.0, address(T))
        if c != 0.0:
            _bilinear_matrix(address(s.a), c, address(scratch.T2))
            for i in range(6):
                for j in range(9):
                    T[i, j] += scratch.T2[i, j]
    if h.momenta == 1:
        _chain_directors(T, o.euler_inverse, 6, scratch.T2)
        put_block(m, r, v, scratch.T2, 6, 9, scale)
    else:
        put_block(m, r, v, T, 6, 9, scale)


@stage("iiif")
def internal_columns(m, row, column, scale):
    """scale G_int^T in the rows of the dynamics and the columns of the multipliers."""
    scratch = tangent(m)
    h = head(m)
    B = bodies(m)
    S = states(m)
    if h.kind == ANGULAR:
        return
    for b in range(h.n_bodies):
        o = B[b]
        s = S[b]
        r = row + o.iv + o.nt
        if h.kind == QUATERNION_RATE:
            for k in range(4):
                put(m, r + k, column + o.il, scale * s.a[k])
        else:
            _bilinear_matrix(address(s.a), 1.0, address(scratch.T1))
            put_transposed(m, r, column + o.il, scratch.T1, 9, 6, scale)
