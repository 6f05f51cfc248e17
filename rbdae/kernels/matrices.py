"""What the matrices of the equations are made of, [NS] (1)-(6): g, g_I, g_II, psi, and what M, G, K and W multiply.

    M(q) vdot = psi(q, v, t) - W la,    W = G^T,    qdot = K v
    g(q, t) = 0,    G v + g_I = 0,    G vdot + g_II = 0

with the velocities v of the chosen kind; the constraints are the internal ones of the bodies, then the joints. With
momenta p = M v, [BS09]: v = qdot, psi = -dH/dq, and vdot stands for M^-1 pdot. The null-space form has here
v = (xdot, Omega), or (xdot, omega) with spatial velocities.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass_matrix, collect_forces, collect_pulled_back
from rbdae.kernels.bodies.gather import clear_accelerations, clear_forces, gather_force_states, gather_material, moving
from rbdae.kernels.bodies.internal_constraints import gradient, internal_residual, rates
from rbdae.kernels.bodies.natural import accelerate, kinematics_rate
from rbdae.kernels.bodies.velocities import natural_velocity
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import partial_rates, primitive_forces, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.forces.reaction_friction import add_friction
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.vectors import frame


@entry("ityyo")
def terms(m: Memory, t: float, y: Array, x: Array, out: Array) -> None:
    """out = (g, g_I, g_II, psi), three times n_la numbers and n_v, and then, whose derivatives by x = (v, vdot, la)
    count, K v, M vdot, W la and G v; g_I and g_II are zero in dropped rows."""
    h = m.head
    n, n_v, n_q = h.n_la, h.n_v, h.n_q
    v, vd, la = np.split(x, [n_v, 2 * n_v])
    set_time(m, t)
    locate(m, y)
    gather_force_states(m, y)
    eliminated_normals(m)
    primitive_vectors(m, 0)
    out[: 3 * n] = 0.0
    internal_residual(m, out, 0, 0)
    primitive_residual(m, out, 0, 0)
    partial_rates(m, out, n, 1.0)
    dropped_residual(m, out, n)
    applied_forces(m)
    add_friction(m)
    psi, qd, forces, pull, Gv = np.split(out[3 * n :], np.cumsum([n_v, n_q, n_v, n_v]))
    collect_forces(m, psi)
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    internal_residual(m, out, 2 * n, 2)
    primitive_residual(m, out, 2 * n, 2)
    dropped_residual(m, out, 2 * n)
    if h.momenta == 1 and h.kind == QUATERNION_RATE:
        # rows on q . pdot = 4 J0 / |q|^2 q . M^-1 pdot become rows on q . M^-1 pdot
        for o, s in moving(m):
            out[2 * n + o.il] *= (s.a[:4] @ s.a[:4]) / (4.0 * o.radial)
    gather_material(m, _turned(m, v, material=True))
    for _, s in moving(m):
        s.dd[:] = natural_velocity(h.kind, s, s.w)
    kinematics_rate(m, qd)
    apply_mass_matrix(m, _turned(m, vd, material=True), forces, 1.0)
    clear_forces(m)
    m.multipliers[:n] = -la
    primitive_vectors(m, 1)
    primitive_forces(m)
    collect_pulled_back(m, pull)
    primitive_residual(m, Gv, 0, 1)
    dropped_residual(m, Gv, 0)
    for o, s in moving(m) if h.kind != ANGULAR else ():
        i, own = o.iv + o.nt, slice(o.il, o.il + o.ni)
        pull[i : i + o.nr] += gradient(m, s).T @ la[own]
        Gv[own] = rates(m, s.a, s.w)
    for rows in (psi, forces, pull):
        rows[:] = _turned(m, rows, material=False)


def _turned(m: Memory, v: Array, *, material: bool) -> Array:
    """Velocities, or forces, whose spatial components become material ones, or the other way round."""
    if m.head.spatial == 0:
        return v
    v = v.copy()
    for o, s in moving(m):
        i, R = o.iv + o.nt, frame(s.d)
        v[i : i + 3] = (R.T if material else R) @ v[i : i + 3]
    return v
