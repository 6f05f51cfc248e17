"""The forms of [SNS15]: other gyroscopic terms and generalised forces of bodies with quaternion rates.

With L w = vect(conj(p) o w), L^T L = |p|^2 I - p p^T and the natural force fd on the directors, the dynamics are

    4 p o I (conj(p) o pddot) = gyroscopic + Q - W la - p la_norm

    gyroscopic: third order     g = 8 pdot o I (conj(pdot) o p)    (29), [NS] (33)
                fifth order     L^T L g                            (23)
    Q:          homogeneous     Dphi(p)^T fd                       2 H^T G^T f of (69), (75); linear in p
                moment          2 L^T n = L^T L Dphi(p)^T fd       (43), (59); cubic in p
                inhomogeneous   Dphi(p)^T fd + 2 p tr F            (62); F = [fd_1 fd_2 fd_3]

and all three Q are (d(ddot)/d(pdot))^T fd with another matrix in place of Dphi, the row basis U: Dphi, Dphi L^T L,
Dphi + 2 vec(I) p^T. W has the same Q of the joints' natural forces. The projected form (25) is L times (23) over
|p|^2,

    4 J L pddot = L (g + Dphi(p)^T fd),

with the row basis 2 T_d(d), because L Dphi(p)^T = 2 T_d(phi(p))^T for every p.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies import quaternion_rates
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.records import FIFTH_ORDER, INHOMOGENEOUS, MOMENT
from rbdae.rotations.algebra import director_tangents
from rbdae.rotations.euler_map import euler_differential, euler_differential_transposed, euler_hessian
from rbdae.rotations.quaternion_algebra import (
    add_product,
    add_right,
    conjugate_product,
    extended,
    left,
    right_conjugate,
)


@jit
def _onto_tangents(p: Array, f: Array) -> None:
    """f becomes L^T L f = |p|^2 f - p (p . f)."""
    n = dot(p, p, 4)
    t = dot(p, f, 4)
    for k in range(4):
        f[k] = n * f[k] - p[k] * t


@jit
def _trace(f: Array) -> float:
    """tr F."""
    t: float = f[0] + f[4] + f[8]
    return t


@stage("ii", "forms")
def forces(m: Memory, b: int) -> None:
    """t = Q + gyroscopic term."""
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    euler_differential_transposed(s.a, s.fd, s.t)
    if h.pull_back == MOMENT:
        _onto_tangents(s.a, s.t)
    elif h.pull_back == INHOMOGENEOUS:
        f = 2.0 * _trace(s.fd)
        for k in range(4):
            s.t[k] += f * s.a[k]
    conjugate_product(s.w, s.a, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    for k in range(4):
        s.ad[k] = 0.0
    add_product(s.w, s.s, 8.0, s.ad)
    if h.gyroscopic == FIFTH_ORDER:
        _onto_tangents(s.a, s.ad)
    for k in range(4):
        s.t[k] += s.ad[k]


@stage("iii", "forms")
def row_basis(m: Memory, b: int, projected: int) -> None:
    """U, 9 x 4 or 9 x 3: the virtual velocities of the directors that the rows of the dynamics belong to."""
    h = head(m)
    s = states(m)[b]
    U = s.U
    if projected == 1:
        director_tangents(s.d, U)
        for i in range(9):
            for j in range(3):
                U[i, j] *= 2.0
        return
    euler_differential(s.a, U)
    if h.pull_back == MOMENT:
        for i in range(9):
            _onto_tangents(s.a, U[i])
    elif h.pull_back == INHOMOGENEOUS:
        for i in range(0, 9, 4):
            for k in range(4):
                U[i, k] += 2.0 * s.a[k]


# ---------------------------------------------------------------- tangents


@jit
def _gyroscopic_tangents(m: Memory, b: int, by_q: Array, by_v: Array) -> None:
    """dg/dp and dg/dpdot of the third-order term; leaves g in s.ad."""
    T = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    quaternion_rates.clear4(by_q)
    quaternion_rates.clear4(by_v)
    left(s.w, T.left)
    _add_triple(m, b, 8.0, address(T.left), by_q)
    conjugate_product(s.w, s.a, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    add_right(s.s, 8.0, by_v)
    right_conjugate(s.a, T.right)
    quaternion_rates.add_triple_at(
        address(T.left), o.radial, address(o.inertia), address(T.right), 8.0, False, address(by_v)
    )
    for k in range(4):
        s.ad[k] = 0.0
    add_product(s.w, s.s, 8.0, s.ad)


@jit
def _add_triple(m: Memory, b: int, scale: float, L_at: Address, out: Array) -> None:
    """out += scale X I X^T with X at L_at."""
    o = bodies(m)[b]
    quaternion_rates.add_triple_at(L_at, o.radial, address(o.inertia), L_at, scale, True, address(out))


@jit
def _tangent_onto_tangents(p: Array, f: Array, A: Array, moved: bool) -> None:
    """A becomes L^T L A, the columns by `_onto_tangents`; where p is what moves, plus d(L^T L)/dp f."""
    n = dot(p, p, 4)
    for j in range(4):
        t = p[0] * A[0, j] + p[1] * A[1, j] + p[2] * A[2, j] + p[3] * A[3, j]
        for i in range(4):
            A[i, j] = n * A[i, j] - p[i] * t
    if moved:
        t = dot(p, f, 4)
        for i in range(4):
            for j in range(4):
                A[i, j] += 2.0 * f[i] * p[j] - p[i] * f[j]
            A[i, i] -= t


@jit
def _force_tangent(m: Memory, b: int, out: Array) -> None:
    """dQ/dp at fixed natural forces."""
    h = head(m)
    s = states(m)[b]
    euler_hessian(s.fd, out)
    if h.pull_back == MOMENT:
        euler_differential_transposed(s.a, s.fd, s.t)
        _tangent_onto_tangents(s.a, s.t, out, True)
    elif h.pull_back == INHOMOGENEOUS:
        f = 2.0 * _trace(s.fd)
        for i in range(4):
            out[i, i] += f


@stage("iiff", "forms")
def dynamics_tangent(m: Memory, b: int, c: float, l: float) -> None:
    """by_q and by_v: the tangents of 4 p o I (conj(p) o pddot) - gyroscopic - Q + l p with respect to p and pdot, the
    latter plus c M."""
    T = tangent_memory(m)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    G = T.block
    V = T.product
    _gyroscopic_tangents(m, b, G, V)
    if h.gyroscopic == FIFTH_ORDER:
        _tangent_onto_tangents(s.a, s.ad, G, True)
        _tangent_onto_tangents(s.a, s.ad, V, False)
    Q = T.force
    _force_tangent(m, b, Q)
    for i in range(4):
        for j in range(4):
            T.by_q[i, j] = -G[i, j] - Q[i, j]
            T.by_v[i, j] = -V[i, j]
        T.by_q[i, i] += l
    left(s.a, T.left)
    _add_triple(m, b, 4.0 * c, address(T.left), T.by_v)
    conjugate_product(s.a, s.wd, s.s)
    extended(o.radial, o.inertia, s.s, s.s)
    add_right(s.s, 4.0, T.by_q)
    right_conjugate(s.wd, T.right)
    quaternion_rates.add_triple_at(
        address(T.left), o.radial, address(o.inertia), address(T.right), 4.0, False, address(T.by_q)
    )


# ---------------------------------------------------------------- the projected form (25)


@stage("iiiii", "forms")
def projected_residual(m: Memory, b: int, out_at: Address, r: int, level: int) -> None:
    """out[r:r + 3] = 4 J L pddot - L (g + Dphi^T fd), out[r + 3] = the unit norm at the level of velocities (1) or
    accelerations (2)."""
    out = vector_at(out_at)
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.w, s.a, s.s)
    extended(0.0 * o.radial, o.inertia, s.s, s.s)
    euler_differential_transposed(s.a, s.fd, s.t)
    add_product(s.w, s.s, 8.0, s.t)
    conjugate_product(s.a, s.t, s.ad)
    conjugate_product(s.a, s.wd, s.s)
    extended(0.0 * o.radial, o.inertia, s.s, s.s)
    for k in range(3):
        out[r + k] = 4.0 * s.s[1 + k] - s.ad[1 + k]
    if level == 1:
        out[r + 3] = dot(s.a, s.w, 4)
    else:
        out[r + 3] = dot(s.a, s.wd, 4) + dot(s.w, s.w, 4)


@jit
def _times_rows(X: Array, A: Array, scale: float, out: Array) -> None:
    """out[:3, :4] += scale (X^T A)[1:, :4]: L A for X the matrix of p o."""
    for i in range(3):
        for j in range(4):
            t = X[0, 1 + i] * A[0, j]
            for k in range(1, 4):
                t += X[k, 1 + i] * A[k, j]
            out[i, j] += scale * t


@jit
def _inertia_rows(J: Array, X: Array, scale: float, out: Array) -> None:
    """out[:3, :4] += scale J X[1:, :4]."""
    for i in range(3):
        for j in range(4):
            out[i, j] += scale * (J[i, 0] * X[1, j] + J[i, 1] * X[2, j] + J[i, 2] * X[3, j])


@stage("iifi", "forms")
def projected_tangent(m: Memory, b: int, c: float, level: int) -> None:
    """by_q and by_v, 4 x 4: the tangents of `projected_residual` at fixed natural forces, the latter plus c times that
    of the rates."""
    T = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    G = T.block
    V = T.product
    _gyroscopic_tangents(m, b, G, V)
    Q = T.force
    euler_hessian(s.fd, Q)
    for i in range(4):
        for j in range(4):
            Q[i, j] += G[i, j]
    euler_differential_transposed(s.a, s.fd, s.t)
    for k in range(4):
        s.t[k] += s.ad[k]
    quaternion_rates.clear4(T.by_q)
    quaternion_rates.clear4(T.by_v)
    left(s.a, T.left)
    _times_rows(T.left, Q, -1.0, T.by_q)
    _times_rows(T.left, V, -1.0, T.by_v)
    # L f = vect(conj(p) o f) is linear in p, too
    right_conjugate(s.t, T.right)
    for i in range(3):
        for j in range(4):
            T.by_q[i, j] -= T.right[1 + i, j]
    right_conjugate(s.wd, T.right)
    _inertia_rows(o.inertia, T.right, 4.0, T.by_q)
    for i in range(4):
        for j in range(4):
            T.right[i, j] = T.left[j, i]
    _inertia_rows(o.inertia, T.right, 4.0 * c, T.by_v)
    for k in range(4):
        if level == 1:
            T.by_q[3, k] = s.w[k]
            T.by_v[3, k] = s.a[k]
        else:
            T.by_q[3, k] = s.wd[k]
            T.by_v[3, k] = 2.0 * s.w[k] + c * s.a[k]


__all__ = ["dynamics_tangent", "forces", "projected_residual", "projected_tangent", "row_basis"]
