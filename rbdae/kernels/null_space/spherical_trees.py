"""The null-space matrix T = T_int T_ext of a tree of spherical joints in closed form: w = (xdot, Omega) = T nu.

[NS], sections 2 and 5. nu holds (xdot, Omega) of a free root, Omega of a root with a pivot, and Omega of a body that
hangs by a spherical joint from its parent:

    x_c + R_c r_c = x_p + R_p r_p,  xdot_c = xdot_p + R_p (Omega_p x r_p) - R_c (Omega_c x r_c).

(With x_2 = x_1 + R_1 rho_1 - R_2 rho_2 the last block of T_ext is + R(d_2) E(rho_2); the paper prints a minus.)
Parents come before children; -1 marks a root, the number of bodies the ground.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import read_body, write_body
from rbdae.kernels.bodies.spatial import to_material
from rbdae.kernels.memory import bodies, head, null_space, quasi_forces, states

ROOT = -1


def _hang(o: Array, x: Array, dp: Array, dc: Array, out: Array) -> None:
    """out = x + R'_p r_p - R'_c r_c, with rates R' of the directors of a body and of its parent."""
    r = o.parent_arm
    q = o.arm
    for k in range(3):
        out[k] = x[k] + (dp[k] * r[0] + dp[3 + k] * r[1] + dp[6 + k] * r[2])
        out[k] -= dc[k] * q[0] + dc[3 + k] * q[1] + dc[6 + k] * q[2]


def _to_material(m: Memory, b: int, order: int) -> None:
    """omega, which stands in w (order 0), or omegadot in wd (1), becomes Omega. Writes p or pd."""
    s = states(m)[b]
    if order == 0:
        for k in range(3):
            s.p[k] = s.w[k]
        to_material(s.d, s.p, s.w)
    else:
        for k in range(3):
            s.pd[k] = s.wd[k]
        to_material(s.d, s.pd, s.wd)


def spherical_rotations(m: Memory, y: Array, offset: int, order: int) -> None:
    """Omega of all bodies and xdot of the roots from nu (order 0), or their rates from nudot (order 1)."""
    B = bodies(m)
    S = states(m)
    for b in range(head(m).n_bodies):
        o = B[b]
        s = S[b]
        i = offset + o.inu
        x = s.xd if order == 0 else s.xdd
        w = s.w if order == 0 else s.wd
        if o.parent == ROOT:
            read_body(m, b, y, i, x, w, 3)
        else:
            for k in range(3):
                w[k] = y[i + k]
        if head(m).spatial != 0:
            _to_material(m, b, order)
        if order == 0:
            for k in range(3):
                s.om[k] = s.w[k]


def spherical_velocities(m: Memory) -> None:
    """xdot of the children, parents first. Reads the natural velocities of the rotations."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        if o.parent != ROOT:
            s = states(m)[b]
            p = states(m)[o.parent]
            _hang(o, p.xd, p.dd, s.dd, s.xd)


def spherical_accelerations(m: Memory) -> None:
    """xddot of the children likewise: T nudot + Tdot nu."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        if o.parent != ROOT:
            s = states(m)[b]
            p = states(m)[o.parent]
            _hang(o, p.xdd, p.ddd, s.ddd, s.xdd)


def _cross_back(d: Array, r: Array, f: Array, scale: float, out: Array) -> None:
    """out += scale r x (R^T f)."""
    g0 = d[0] * f[0] + d[1] * f[1] + d[2] * f[2]
    g1 = d[3] * f[0] + d[4] * f[1] + d[5] * f[2]
    g2 = d[6] * f[0] + d[7] * f[1] + d[8] * f[2]
    out[0] += scale * (r[1] * g2 - r[2] * g1)
    out[1] += scale * (r[2] * g0 - r[0] * g2)
    out[2] += scale * (r[0] * g1 - r[1] * g0)


def _write_rates(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu] = (tx, t) of the roots, and t of the others."""
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = row + o.inu
        if o.parent == ROOT:
            write_body(m, b, s.tx, s.t, 3, out, i)
        else:
            for k in range(3):
                out[i + k] = s.t[k]


def reduce_spherical_forces(m: Memory, out: Array, row: int) -> None:
    """out[row:row + nnu] = T^T h, children first. Reads `quasi_forces` (h); leaves the sum of the forces of each
    subtree in tx."""
    h = head(m)
    B = bodies(m)
    S = states(m)
    f = quasi_forces(m)
    for b in range(h.n_bodies + 1):
        s = S[b]
        for k in range(3):
            s.tx[k] = 0.0
            s.t[k] = 0.0
    for b in range(h.n_bodies - 1, -1, -1):
        o = B[b]
        s = S[b]
        for k in range(o.nt):
            s.tx[k] += f[o.iv + k]
        for k in range(3):
            s.t[k] += f[o.iv + o.nt + k]
        if o.parent != ROOT:
            p = S[o.parent]
            # columns of T: -R_c r_c^ ... transposed
            _cross_back(s.d, o.arm, s.tx, -1.0, s.t)
            if B[o.parent].fixed == 0:
                _cross_back(p.d, o.parent_arm, s.tx, 1.0, p.t)
                for k in range(3):
                    p.tx[k] += s.tx[k]
    _write_rates(m, out, row)


def select_spherical_rates(m: Memory, vd: Array, out: Array, row: int) -> None:
    """nudot from (xddot, Omegadot): the quasi-velocities are entries of w."""
    for b in range(head(m).n_bodies):
        read_body(m, b, vd, bodies(m)[b].iv, states(m)[b].tx, states(m)[b].t, 3)
    _write_rates(m, out, row)


def spherical_null_space(m: Memory) -> None:
    """T (nv x nnu). Reads B of the bodies."""
    h = head(m)
    B = bodies(m)
    T = null_space(m)
    for i in range(h.n_v):
        for j in range(h.n_nu):
            T[i, j] = 0.0
    for b in range(h.n_bodies):
        o = B[b]
        i = o.iv
        j = o.inu
        if o.parent == ROOT:
            for k in range(o.nt):
                T[i + k, j + k] = 1.0
            i += o.nt
            j += o.nt
        else:
            if B[o.parent].fixed == 0:
                q = B[o.parent]
                if q.nt == 3:
                    for k in range(3):
                        for c in range(h.n_nu):
                            T[i + k, c] = T[q.iv + k, c]
                j_parent = q.inu + (3 if (q.parent == ROOT and q.nt == 3) else 0)
                _add_arm_columns(m, o.parent, i, j_parent, o.parent_arm, 1.0)
            _add_arm_columns(m, b, i, j, o.arm, -1.0)
            i += o.nt
        for k in range(3):
            T[i + k, j + k] = 1.0


def _add_arm_columns(m: Memory, b: int, row: int, j: int, r: Array, scale: float) -> None:
    """The columns of scale R'_b r by Omega_b, in three rows."""
    T = null_space(m)
    s = states(m)[b]
    for k in range(3):
        for c in range(3):
            T[row + k, j + c] += scale * (r[0] * s.B[k, c] + r[1] * s.B[3 + k, c] + r[2] * s.B[6 + k, c])
