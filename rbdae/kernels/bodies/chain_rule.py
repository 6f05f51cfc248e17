"""Columns of the Jacobian: tangents with respect to (xdot, w) or (xddot, wdot) of a body become columns of q and v.

With momenta the velocities depend on (q, p), and Omega on the attitude where the spatial angular velocity is the
unknown: the chain rule adds columns of q.
"""

from __future__ import annotations

from rbdae.compiler.access import Address, Array, Memory, address, is_zero, matrix_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.bodies.spatial import scatter_acceleration_columns, scatter_velocity_columns
from rbdae.kernels.memory import bodies, head, states, tangent_memory
from rbdae.kernels.records import QUATERNION_RATE
from rbdae.kernels.scatter import scatter_block


@jit
def scatter_velocity(m: Memory, b: int, row: int, Kx: Array, K: Array, n: int, scale: float) -> None:
    """scale times the tangents (Kx, K) of n rows with respect to (xdot, w) of body b. With momenta they become
    columns of q and p."""
    if bodies(m)[b].nt == 3:
        _scatter_translation(m, b, row, address(Kx), Kx.strides[0] // 8, n, scale)
    scatter_rotation_velocity(m, b, row, K, n, scale)


@stage("iiiiiif")
def _scatter_translation(m: Memory, b: int, row: int, Kx_at: Address, Kx_step: int, n: int, scale: float) -> None:
    """The part of xdot, or of xddot."""
    h = head(m)
    o = bodies(m)[b]
    if h.momenta == 1:
        scale /= o.mass
    scatter_block(m, row, h.n_q + o.iv, matrix_at(Kx_at, Kx_step), n, 3, scale)


@jit
def scatter_rotation_velocity(m: Memory, b: int, row: int, K: Array, n: int, scale: float) -> None:
    """The part of w alone."""
    _scatter_rotation_velocity(m, b, row, address(K), K.strides[0] // 8, n, scale)


@stage("iiiiiif")
def _scatter_rotation_velocity(m: Memory, b: int, row: int, K_at: Address, K_step: int, n: int, scale: float) -> None:
    h = head(m)
    o = bodies(m)[b]
    if h.chained == 0:
        scatter_block(m, row, h.n_q + o.iv + o.nt, matrix_at(K_at, K_step), n, o.nr, scale)
    elif h.momenta == 1:
        _scatter_velocity_by_momenta(m, b, row, K_at, K_step, n, scale)
    else:
        scatter_velocity_columns(m, b, row, K_at, K_step, n, scale)


@stage("iiiiiif", "momenta")
def _scatter_velocity_by_momenta(m: Memory, b: int, row: int, K_at: Address, K_step: int, n: int, scale: float) -> None:
    """w = w(q, p). Reads U and V of the body."""
    scratch = tangent_memory(m)
    K = matrix_at(K_at, K_step)
    h = head(m)
    o = bodies(m)[b]
    s = states(m)[b]
    if h.kind == QUATERNION_RATE:
        _chain(K, s.U, n, 4, scratch.chained)
        scatter_block(m, row, o.iq + o.nt, scratch.chained, n, 4, scale)
        _chain(K, s.V, n, 4, scratch.chained)
    else:
        chain_directors(K, o.euler_inverse, n, scratch.chained)
    scatter_block(m, row, h.n_q + o.iv + o.nt, scratch.chained, n, o.nr, scale)


@jit
def scatter_acceleration(m: Memory, b: int, row: int, Kx: Array, K: Array, n: int, c: float, scale: float) -> None:
    """scale times the tangents (Kx, K) of n rows with respect to (xddot, wdot) of body b; the columns of v take the
    factor c. With momenta wdot depends on q and p, too."""
    if bodies(m)[b].nt == 3 and (not is_zero(c) or head(m).mode != 0):
        _scatter_translation(m, b, row, address(Kx), Kx.strides[0] // 8, n, scale * c)
    scatter_rotation_acceleration(m, b, row, K, n, c, scale)


@jit
def scatter_rotation_acceleration(m: Memory, b: int, row: int, K: Array, n: int, c: float, scale: float) -> None:
    """The part of wdot alone."""
    _scatter_rotation_acceleration(m, b, row, address(K), K.strides[0] // 8, n, c, scale)


@stage("iiiiiiff")
def _scatter_rotation_acceleration(
    m: Memory, b: int, row: int, K_at: Address, K_step: int, n: int, c: float, scale: float
) -> None:
    h = head(m)
    o = bodies(m)[b]
    if h.chained == 0:
        if not is_zero(c) or h.mode != 0:
            scatter_block(m, row, h.n_q + o.iv + o.nt, matrix_at(K_at, K_step), n, o.nr, scale * c)
    elif h.momenta == 1:
        _scatter_acceleration_by_momenta(m, b, row, K_at, K_step, n, c, scale)
    else:
        scatter_acceleration_columns(m, b, row, K_at, K_step, n, c, scale)


@stage("iiiiiiff", "momenta")
def _scatter_acceleration_by_momenta(
    m: Memory, b: int, row: int, K_at: Address, K_step: int, n: int, c: float, scale: float
) -> None:
    """wdot = wdot(q, p, pdot). Reads Ud, Vd and V of the body."""
    scratch = tangent_memory(m)
    K = matrix_at(K_at, K_step)
    h = head(m)
    o = bodies(m)[b]
    v = h.n_q + o.iv + o.nt
    s = states(m)[b]
    if h.kind == QUATERNION_RATE:
        _chain(K, s.Ud, n, 4, scratch.chained)
        scatter_block(m, row, o.iq + o.nt, scratch.chained, n, 4, scale)
        _chain(K, s.Vd, n, 4, scratch.chained)
        scatter_block(m, row, v, scratch.chained, n, 4, scale)
    if is_zero(c) and h.mode == 0:
        return
    if h.kind == QUATERNION_RATE:
        _chain(K, s.V, n, 4, scratch.chained)
    else:
        chain_directors(K, o.euler_inverse, n, scratch.chained)
    scatter_block(m, row, v, scratch.chained, n, o.nr, scale * c)


@jit
def chain_directors(K: Array, E: Array, n: int, out: Array) -> None:
    """out = K V with V = E^-1 on each component of the directors; E is the inverse of the Euler tensor."""
    for i in range(n):
        for k in range(3):
            a = K[i, k]
            b = K[i, 3 + k]
            e = K[i, 6 + k]
            for j in range(3):
                out[i, 3 * j + k] = a * E[0, j] + b * E[1, j] + e * E[2, j]


@jit
def _chain(K: Array, U: Array, n: int, nr: int, out: Array) -> None:
    """out[:n] = K U."""
    for i in range(n):
        for j in range(nr):
            t = K[i, 0] * U[0, j]
            for k in range(1, nr):
                t += K[i, k] * U[k, j]
            out[i, j] = t
