"""Bodies with the momentum that belongs to pdot: p = 4 Q J4 Q^T qdot, [BS09].

q is the quaternion, p its momentum, w = qdot.
"""

from __future__ import annotations

from rbdae.compiler.access import Memory, address
from rbdae.compiler.jit import stage
from rbdae.kernels.bodies import quaternion_rates
from rbdae.kernels.memory import bodies, states, tangent_memory
from rbdae.rotations.euler_map import euler_hessian
from rbdae.rotations.quaternion_algebra import (
    add_product,
    add_right,
    conjugate_product,
    extended,
    left,
    right_conjugate,
)


@stage("ii", "quaternion-rate momenta")
def velocity(m: Memory, b: int) -> None:
    """w = q o J^-1 (conj(q) o p) / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.a, s.p, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    for k in range(4):
        s.w[k] = 0.0
    add_product(s.a, s.s, 0.25, s.w)


@stage("ii", "quaternion-rate momenta")
def acceleration(m: Memory, b: int) -> None:
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


@stage("ii", "quaternion-rate momenta")
def add_forces(m: Memory, b: int) -> None:
    """t -= dT/dq = p o J^-1 (conj(p) o q) / 4."""
    o = bodies(m)[b]
    s = states(m)[b]
    conjugate_product(s.p, s.a, s.s)
    extended(1.0 / o.radial, o.inertia_inverse, s.s, s.s)
    add_product(s.p, s.s, -0.25, s.t)


@stage("ii", "quaternion-rate momenta")
def velocity_tangents(m: Memory, b: int) -> None:
    """U = dw/dq and V = dw/dp."""
    scratch = tangent_memory(m)
    s = states(m)[b]
    r = 1.0 / bodies(m)[b].radial
    Ji = bodies(m)[b].inertia_inverse
    quaternion_rates.clear4(s.U)
    quaternion_rates.clear4(s.V)
    left(s.a, scratch.left)
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.left), 0.25, True, address(s.V)
    )
    right_conjugate(s.p, scratch.right)
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.right), 0.25, False, address(s.U)
    )
    conjugate_product(s.a, s.p, s.s)
    extended(r, Ji, s.s, s.s)
    add_right(s.s, 0.25, s.U)


@stage("ii", "quaternion-rate momenta")
def acceleration_tangents(m: Memory, b: int) -> None:
    """Ud = dwdot/dq and Vd = dwdot/dp. Reads U and V."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    Ji = o.inertia_inverse
    quaternion_rates.clear4(s.Ud)
    quaternion_rates.clear4(s.Vd)
    left(s.a, scratch.left)
    left(s.w, scratch.left_rate)
    quaternion_rates.add_triple_at(
        address(scratch.left_rate), r, address(Ji), address(scratch.left), 0.25, True, address(s.Vd)
    )
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.left_rate), 0.25, True, address(s.Vd)
    )
    right_conjugate(s.p, scratch.right)
    quaternion_rates.add_triple_at(
        address(scratch.left_rate), r, address(Ji), address(scratch.right), 0.25, False, address(s.Ud)
    )
    right_conjugate(s.pd, scratch.right)
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.right), 0.25, False, address(s.Ud)
    )
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


@stage("iiff", "quaternion-rate momenta")
def dynamics_tangent(m: Memory, b: int, c: float, l: float) -> None:
    """by_q and by_v: the tangents of pdot + p o J^-1 (conj(p) o q) / 4 - Dphi(q)^T fd + la q with respect to q and
    p, the latter plus c."""
    scratch = tangent_memory(m)
    o = bodies(m)[b]
    s = states(m)[b]
    r = 1.0 / o.radial
    Ji = o.inertia_inverse
    euler_hessian(s.fd, scratch.by_q)
    for i in range(4):
        for j in range(4):
            scratch.by_q[i, j] = -scratch.by_q[i, j]
        scratch.by_q[i, i] += l
    quaternion_rates.clear4(scratch.by_v)
    for i in range(4):
        scratch.by_v[i, i] = c
    left(s.p, scratch.left)
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.left), 0.25, True, address(scratch.by_q)
    )
    conjugate_product(s.p, s.a, s.s)
    extended(r, Ji, s.s, s.s)
    add_right(s.s, 0.25, scratch.by_v)
    right_conjugate(s.a, scratch.right)
    quaternion_rates.add_triple_at(
        address(scratch.left), r, address(Ji), address(scratch.right), 0.25, False, address(scratch.by_v)
    )
