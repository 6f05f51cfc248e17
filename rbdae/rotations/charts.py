"""Kernels of the charts: R(a), dR/da, adot = K(a) Omega and its derivative. The chart decides here and nowhere else.

One function for each chart and task, compiled when a problem has the chart.

Directors are stacked by columns, d = (d1, d2, d3), R = [d1 d2 d3]. Sources: [NS] (24), (26)-(28), (41),
(48), (65), (66).
"""

from __future__ import annotations

import numpy as np

from rbdae.compiler.access import address, cos, matrix_at, sin, vector_at
from rbdae.compiler.jit import jit, stage

QUATERNION = 0
DIRECTORS = 1
EULER_313 = 2
FEATURES = ("quaternion", "directors", "euler-313")


@jit
def euler_map(p, d):
    """d = phi(p), [NS] (47); homogeneous of degree two, so also right off the unit sphere."""
    p0 = p[0]
    p1 = p[1]
    p2 = p[2]
    p3 = p[3]
    d[0] = p0 * p0 + p1 * p1 - p2 * p2 - p3 * p3
    d[1] = 2.0 * (p1 * p2 + p0 * p3)
    d[2] = 2.0 * (p1 * p3 - p0 * p2)
    d[3] = 2.0 * (p1 * p2 - p0 * p3)
    d[4] = p0 * p0 - p1 * p1 + p2 * p2 - p3 * p3
    d[5] = 2.0 * (p2 * p3 + p0 * p1)
    d[6] = 2.0 * (p1 * p3 + p0 * p2)
    d[7] = 2.0 * (p2 * p3 - p0 * p1)
    d[8] = p0 * p0 - p1 * p1 - p2 * p2 + p3 * p3


@jit
def euler_differential(p, D):
    """D[:, :4] = Dphi(p), [NS] (48); linear in p."""
    a = 2.0 * p[0]
    b = 2.0 * p[1]
    c = 2.0 * p[2]
    e = 2.0 * p[3]
    D[0, 0] = a
    D[0, 1] = b
    D[0, 2] = -c
    D[0, 3] = -e
    D[1, 0] = e
    D[1, 1] = c
    D[1, 2] = b
    D[1, 3] = a
    D[2, 0] = -c
    D[2, 1] = e
    D[2, 2] = -a
    D[2, 3] = b
    D[3, 0] = -e
    D[3, 1] = c
    D[3, 2] = b
    D[3, 3] = -a
    D[4, 0] = a
    D[4, 1] = -b
    D[4, 2] = c
    D[4, 3] = -e
    D[5, 0] = b
    D[5, 1] = a
    D[5, 2] = e
    D[5, 3] = c
    D[6, 0] = c
    D[6, 1] = e
    D[6, 2] = a
    D[6, 3] = b
    D[7, 0] = -b
    D[7, 1] = -a
    D[7, 2] = e
    D[7, 3] = c
    D[8, 0] = a
    D[8, 1] = -b
    D[8, 2] = -c
    D[8, 3] = e


@jit
def euler_differential_transposed(p, f, out):
    """out[:4] = Dphi(p)^T f, through the symmetric Hessian S(f) (see `euler_hessian`)."""
    s0 = f[0] + f[4] + f[8]
    s1 = f[0] - f[4] - f[8]
    s2 = f[4] - f[0] - f[8]
    s3 = f[8] - f[0] - f[4]
    s01 = f[5] - f[7]
    s02 = f[6] - f[2]
    s03 = f[1] - f[3]
    s12 = f[1] + f[3]
    s13 = f[2] + f[6]
    s23 = f[5] + f[7]
    out[0] = 2.0 * (s0 * p[0] + s01 * p[1] + s02 * p[2] + s03 * p[3])
    out[1] = 2.0 * (s01 * p[0] + s1 * p[1] + s12 * p[2] + s13 * p[3])
    out[2] = 2.0 * (s02 * p[0] + s12 * p[1] + s2 * p[2] + s23 * p[3])
    out[3] = 2.0 * (s03 * p[0] + s13 * p[1] + s23 * p[2] + s3 * p[3])


@jit
def euler_hessian(f, S):
    """S[:4, :4] with S p = Dphi(p)^T f: the Hessian of f . phi(p), constant because phi is quadratic."""
    S[0, 0] = 2.0 * (f[0] + f[4] + f[8])
    S[1, 1] = 2.0 * (f[0] - f[4] - f[8])
    S[2, 2] = 2.0 * (f[4] - f[0] - f[8])
    S[3, 3] = 2.0 * (f[8] - f[0] - f[4])
    S[0, 1] = 2.0 * (f[5] - f[7])
    S[0, 2] = 2.0 * (f[6] - f[2])
    S[0, 3] = 2.0 * (f[1] - f[3])
    S[1, 2] = 2.0 * (f[1] + f[3])
    S[1, 3] = 2.0 * (f[2] + f[6])
    S[2, 3] = 2.0 * (f[5] + f[7])
    S[1, 0] = S[0, 1]
    S[2, 0] = S[0, 2]
    S[3, 0] = S[0, 3]
    S[2, 1] = S[1, 2]
    S[3, 1] = S[1, 3]
    S[3, 2] = S[2, 3]


@jit
def rotation(chart, a, d):
    """d = R(a), stacked by columns."""
    if chart == QUATERNION:
        _quaternion_rotation(address(a), address(d))
    elif chart == DIRECTORS:
        for i in range(9):
            d[i] = a[i]
    else:
        _euler_313_rotation(address(a), address(d))


@stage("ii", "quaternion")
def _quaternion_rotation(a_at, d_at):
    euler_map(vector_at(a_at), vector_at(d_at))


@stage("ii", "euler-313")
def _euler_313_rotation(a_at, d_at):
    a = vector_at(a_at)
    d = vector_at(d_at)
    c1 = cos(a[0])
    s1 = sin(a[0])
    c2 = cos(a[1])
    s2 = sin(a[1])
    c3 = cos(a[2])
    s3 = sin(a[2])
    d[0] = c1 * c3 - s1 * c2 * s3
    d[1] = s1 * c3 + c1 * c2 * s3
    d[2] = s2 * s3
    d[3] = -c1 * s3 - s1 * c2 * c3
    d[4] = -s1 * s3 + c1 * c2 * c3
    d[5] = s2 * c3
    d[6] = s1 * s2
    d[7] = -c1 * s2
    d[8] = c2


@jit
def rotation_tangent(chart, a, D):
    """D[:, :na] = dR/da."""
    if chart == QUATERNION:
        _quaternion_rotation_tangent(address(a), address(D), D.strides[0] // 8)
    elif chart == DIRECTORS:
        for i in range(9):
            for j in range(9):
                D[i, j] = 0.0
            D[i, i] = 1.0
    else:
        _euler_313_rotation_tangent(address(a), address(D), D.strides[0] // 8)


@stage("iii", "quaternion")
def _quaternion_rotation_tangent(a_at, D_at, step):
    euler_differential(vector_at(a_at), matrix_at(D_at, step))


@stage("iii", "euler-313")
def _euler_313_rotation_tangent(a_at, D_at, step):
    a = vector_at(a_at)
    D = matrix_at(D_at, step)
    c1 = cos(a[0])
    s1 = sin(a[0])
    c2 = cos(a[1])
    s2 = sin(a[1])
    c3 = cos(a[2])
    s3 = sin(a[2])
    D[0, 0] = -s1 * c3 - c1 * c2 * s3
    D[1, 0] = c1 * c3 - s1 * c2 * s3
    D[2, 0] = 0.0
    D[3, 0] = s1 * s3 - c1 * c2 * c3
    D[4, 0] = -c1 * s3 - s1 * c2 * c3
    D[5, 0] = 0.0
    D[6, 0] = c1 * s2
    D[7, 0] = s1 * s2
    D[8, 0] = 0.0
    D[0, 1] = s1 * s2 * s3
    D[1, 1] = -c1 * s2 * s3
    D[2, 1] = c2 * s3
    D[3, 1] = s1 * s2 * c3
    D[4, 1] = -c1 * s2 * c3
    D[5, 1] = c2 * c3
    D[6, 1] = s1 * c2
    D[7, 1] = -c1 * c2
    D[8, 1] = -s2
    D[0, 2] = -c1 * s3 - s1 * c2 * c3
    D[1, 2] = -s1 * s3 + c1 * c2 * c3
    D[2, 2] = s2 * c3
    D[3, 2] = -c1 * c3 + s1 * c2 * s3
    D[4, 2] = -s1 * c3 - c1 * c2 * s3
    D[5, 2] = -s2 * s3
    D[6, 2] = 0.0
    D[7, 2] = 0.0
    D[8, 2] = 0.0


@jit
def rate(chart, a, om, ad):
    """ad[:na] = K(a) om, with the material angular velocity om."""
    if chart == QUATERNION:
        _quaternion_rate(address(a), address(om), address(ad))
    elif chart == DIRECTORS:
        _director_rate(address(a), address(om), address(ad))
    else:
        _euler_313_rate(address(a), address(om), address(ad))


@stage("iii", "quaternion")
def _quaternion_rate(a_at, om_at, ad_at):
    a = vector_at(a_at)
    om = vector_at(om_at)
    ad = vector_at(ad_at)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    ad[0] = 0.5 * (-a[1] * o1 - a[2] * o2 - a[3] * o3)
    ad[1] = 0.5 * (a[0] * o1 - a[3] * o2 + a[2] * o3)
    ad[2] = 0.5 * (a[3] * o1 + a[0] * o2 - a[1] * o3)
    ad[3] = 0.5 * (-a[2] * o1 + a[1] * o2 + a[0] * o3)


@stage("iii", "directors")
def _director_rate(a_at, om_at, ad_at):
    spin(vector_at(a_at), vector_at(om_at), vector_at(ad_at))


@stage("iii", "euler-313")
def _euler_313_rate(a_at, om_at, ad_at):
    a = vector_at(a_at)
    om = vector_at(om_at)
    ad = vector_at(ad_at)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    s2 = sin(a[1])
    c2 = cos(a[1])
    s3 = sin(a[2])
    c3 = cos(a[2])
    u = (s3 * o1 + c3 * o2) / s2
    ad[0] = u
    ad[1] = c3 * o1 - s3 * o2
    ad[2] = o3 - c2 * u


@jit
def rate_tangents(chart, a, om, K, A):
    """K[:na, :3] = K(a), A[:na, :na] = d(K(a) om)/da."""
    k = K.strides[0] // 8
    s = A.strides[0] // 8
    if chart == QUATERNION:
        _quaternion_rate_tangents(address(a), address(om), address(K), k, address(A), s)
    elif chart == DIRECTORS:
        _director_rate_tangents(address(a), address(om), address(K), k, address(A), s)
    else:
        _euler_313_rate_tangents(address(a), address(om), address(K), k, address(A), s)


@stage("iiiiii", "quaternion")
def _quaternion_rate_tangents(a_at, om_at, K_at, K_step, A_at, A_step):
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for j in range(4):
        for k in range(4):
            A[j, k] = 0.0
    A[0, 1] = -0.5 * o1
    A[0, 2] = -0.5 * o2
    A[0, 3] = -0.5 * o3
    A[1, 0] = 0.5 * o1
    A[1, 2] = 0.5 * o3
    A[1, 3] = -0.5 * o2
    A[2, 0] = 0.5 * o2
    A[2, 1] = -0.5 * o3
    A[2, 3] = 0.5 * o1
    A[3, 0] = 0.5 * o3
    A[3, 1] = 0.5 * o2
    A[3, 2] = -0.5 * o1
    quaternion_tangents(a, K)


@stage("iiiiii", "directors")
def _director_rate_tangents(a_at, om_at, K_at, K_step, A_at, A_step):
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for i in range(9):
        for j in range(9):
            A[i, j] = 0.0
    for k in range(3):
        A[k, 3 + k] = o3
        A[k, 6 + k] = -o2
        A[3 + k, 6 + k] = o1
        A[3 + k, k] = -o3
        A[6 + k, k] = o2
        A[6 + k, 3 + k] = -o1
    director_tangents(a, K)


@stage("iiiiii", "euler-313")
def _euler_313_rate_tangents(a_at, om_at, K_at, K_step, A_at, A_step):
    a = vector_at(a_at)
    om = vector_at(om_at)
    K = matrix_at(K_at, K_step)
    A = matrix_at(A_at, A_step)
    o1 = om[0]
    o2 = om[1]
    s2 = sin(a[1])
    c2 = cos(a[1])
    s3 = sin(a[2])
    c3 = cos(a[2])
    u = (s3 * o1 + c3 * o2) / s2
    w = (c3 * o1 - s3 * o2) / s2
    K[0, 0] = s3 / s2
    K[0, 1] = c3 / s2
    K[0, 2] = 0.0
    K[1, 0] = c3
    K[1, 1] = -s3
    K[1, 2] = 0.0
    K[2, 0] = -c2 * s3 / s2
    K[2, 1] = -c2 * c3 / s2
    K[2, 2] = 1.0
    for i in range(3):
        A[i, 0] = 0.0
    A[0, 1] = -c2 * u / s2
    A[1, 1] = 0.0
    A[2, 1] = u / s2
    A[0, 2] = w
    A[1, 2] = -u * s2
    A[2, 2] = -c2 * w


@jit
def quaternion_tangents(p, K):
    """K[:4, :3] = T_p(p), [NS] (41)."""
    K[0, 0] = -0.5 * p[1]
    K[0, 1] = -0.5 * p[2]
    K[0, 2] = -0.5 * p[3]
    K[1, 0] = 0.5 * p[0]
    K[1, 1] = -0.5 * p[3]
    K[1, 2] = 0.5 * p[2]
    K[2, 0] = 0.5 * p[3]
    K[2, 1] = 0.5 * p[0]
    K[2, 2] = -0.5 * p[1]
    K[3, 0] = -0.5 * p[2]
    K[3, 1] = 0.5 * p[1]
    K[3, 2] = 0.5 * p[0]


@jit
def director_tangents(d, K):
    """K[:9, :3] = T_d(d), [NS] (24): spin(d, om) = K om."""
    for k in range(3):
        K[k, 0] = 0.0
        K[k, 1] = -d[6 + k]
        K[k, 2] = d[3 + k]
        K[3 + k, 0] = d[6 + k]
        K[3 + k, 1] = 0.0
        K[3 + k, 2] = -d[k]
        K[6 + k, 0] = -d[3 + k]
        K[6 + k, 1] = d[k]
        K[6 + k, 2] = 0.0


@jit
def spin(d, om, out):
    """out = R om^, stacked by columns: out1 = om3 d2 - om2 d3 and so on."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for k in range(3):
        out[k] = o3 * d[3 + k] - o2 * d[6 + k]
        out[3 + k] = o1 * d[6 + k] - o3 * d[k]
        out[6 + k] = o2 * d[k] - o1 * d[3 + k]


@jit
def spin_transposed(d, f, out):
    """out[:3] = T_d(d)^T f, what forces f on the directors do to the rotation: spin(d, om) . f = om . out."""
    t0 = 0.0 * f[0]
    t1 = t0
    t2 = t0
    for k in range(3):
        t0 += d[6 + k] * f[3 + k] - d[3 + k] * f[6 + k]
        t1 += d[k] * f[6 + k] - d[6 + k] * f[k]
        t2 += d[3 + k] * f[k] - d[k] * f[3 + k]
    out[0] = t0
    out[1] = t1
    out[2] = t2


@jit
def spin_transposed_columns(D, f, n, out):
    """out[:3, :n] = `spin_transposed` of the columns of D[:, :n]."""
    for j in range(n):
        t0 = 0.0 * D[0, j]
        t1 = t0
        t2 = t0
        for k in range(3):
            t0 += D[6 + k, j] * f[3 + k] - D[3 + k, j] * f[6 + k]
            t1 += D[k, j] * f[6 + k] - D[6 + k, j] * f[k]
            t2 += D[3 + k, j] * f[k] - D[k, j] * f[3 + k]
        out[0, j] = t0
        out[1, j] = t1
        out[2, j] = t2


@jit
def add_spin(d, om, out):
    """out += R om^."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for k in range(3):
        out[k] += o3 * d[3 + k] - o2 * d[6 + k]
        out[3 + k] += o1 * d[6 + k] - o3 * d[k]
        out[6 + k] += o2 * d[k] - o1 * d[3 + k]


@jit
def add_spin_columns(D, om, n, out):
    """out[:, :n] += spin applied to the columns of D[:, :n]."""
    o1 = om[0]
    o2 = om[1]
    o3 = om[2]
    for k in range(3):
        for j in range(n):
            out[k, j] += o3 * D[3 + k, j] - o2 * D[6 + k, j]
            out[3 + k, j] += o1 * D[6 + k, j] - o3 * D[k, j]
            out[6 + k, j] += o2 * D[k, j] - o1 * D[3 + k, j]


PARAMETERS = np.array([4, 9, 3])
