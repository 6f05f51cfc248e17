"""What the matrices of the equations are made of, [NS] (1)-(6): g, g_I, g_II, psi, and the blocks of M, G and K.

    M(q) vdot = psi(q, v, t) - G^T la,    qdot = K v
    g(q, t) = 0,    G v + g_I = 0,    G vdot + g_II = 0

with the velocities v of the chosen kind; the constraints are the internal ones of the bodies, then the joints. With
momenta p = M v, [BS09]: v = qdot, psi = -dH/dq, and vdot stands for M^-1 pdot. The null-space form, and forms with
spatial velocities, have v = (xdot, Omega) here.
"""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.dynamics import apply_mass, collect_forces
from rbdae.kernels.bodies.gather import clear_accelerations, gather_force_states
from rbdae.kernels.bodies.internal_constraints import gradient, internal_residual
from rbdae.kernels.bodies.natural import accelerate, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import force_directions, gradients
from rbdae.kernels.constraints.primitives import partial_rates, primitive_residual, primitive_vectors
from rbdae.kernels.constraints.rows import dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import applied_forces
from rbdae.kernels.forces.reaction_friction import add_friction
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.memory import bodies, head, primitives, rows, states
from rbdae.kernels.outputs import locate
from rbdae.kernels.records import ANGULAR, QUATERNION_RATE
from rbdae.rotations.chart import numbered


@entry("ityo")
def terms(m: Memory, t: float, y: Array, out: Array) -> None:
    """out = (g, g_I, g_II, psi), three times n_la numbers and n_v, then the blocks of bodies and primitives; g_I and
    g_II are zero in dropped rows."""
    h = head(m)
    n = h.n_la
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
    collect_forces(m, out[3 * n :])
    clear_accelerations(m)
    accelerate(m)
    primitive_vectors(m, 2)
    internal_residual(m, out, 2 * n, 2)
    primitive_residual(m, out, 2 * n, 2)
    dropped_residual(m, out, 2 * n)
    if h.momenta == 1 and h.kind == QUATERNION_RATE:
        _scale_norm_rows(m, out, 2 * n)
    velocity_basis(m)
    gradients(m)
    blocks = [_body_blocks(m, b) for b in range(h.n_bodies)]
    blocks += [_joint_blocks(m, i, side) for i in range(h.n_primitives) for side in range(2)]
    out[3 * n + h.n_v :] = np.concatenate(blocks)


def _scale_norm_rows(m: Memory, out: Array, row: int) -> None:
    """Rows on q . pdot = 4 J0 / |q|^2 q . M^-1 pdot become rows on q . M^-1 pdot."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        a = states(m)[b].a[:4]
        out[row + o.il] *= (a @ a) / (4.0 * o.radial)


def _body_blocks(m: Memory, b: int) -> Array:
    """Of one body R^T (3 x 3), and of its rotation M (nr x nr), K (na x nr) and G_int (ni x nr)."""
    chart, o, s = numbered(head(m).chart), bodies(m)[b], states(m)[b]
    M = np.zeros((o.nr, o.nr), dtype=object)
    for j, unit in enumerate(np.eye(o.nr)):
        apply_mass(m, b, unit, M[:, j])
    K = chart.kinematics(s.a[: chart.n]) if head(m).kind == ANGULAR else np.eye(o.nr)
    G = gradient(m, s) if o.ni > 0 else np.zeros(0)
    return np.concatenate([s.d, M.ravel(), K.ravel(), G.ravel()])


def _joint_blocks(m: Memory, i: int, side: int) -> Array:
    """Of one side of a primitive Gx (3 x 3) and Gw (3 x nr), and W^T of the rotation with the forms of [SNS15]; zeros
    where there are no rows, or no side."""
    h = head(m)
    n, p, r = bodies(m)[0].nr, primitives(m)[i], rows(m)[i]
    Gx, Gw, W = (np.zeros(shape, dtype=object) for shape in ((3, 3), (3, n), (3 * h.forms, n)))
    if bodies(m)[p.body[side]].fixed == 0:
        Gx[: p.n], Gw[: p.n] = r.Gx[side, : p.n], r.Gw[side, : p.n, :n]
        if h.forms == 1:
            W[: p.n] = force_directions(m, i, side, n)
    return np.concatenate([Gx.ravel(), Gw.ravel(), W.ravel()])
