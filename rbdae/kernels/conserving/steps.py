"""One Newton iteration of a step, and the end of a step from its unknowns."""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory, maximum, select, sqrt
from rbdae.kernels.conserving.angles import advance_windings
from rbdae.kernels.conserving.bodies import begin, body_rows, moved, take
from rbdae.kernels.conserving.directors import end_directors
from rbdae.kernels.conserving.drives import add_moving_increments, set_drives
from rbdae.kernels.conserving.elimination import eliminate
from rbdae.kernels.conserving.forces import applied, applied_tangents
from rbdae.kernels.conserving.increments import (
    MOMENTA,
    PAPER,
    VARIATIONAL,
    half_increment,
    increment,
    quotient,
    set_increment,
    widest,
)
from rbdae.kernels.conserving.joints import joint_rows, set_bases
from rbdae.kernels.conserving.midpoint import midpoint_rows, midpoint_velocity
from rbdae.kernels.conserving.variational import to_the_start, variational_end, variational_rows
from rbdae.kernels.constraints.primitives import primitive_forces, primitive_vectors
from rbdae.kernels.memory import bodies, head, newton_bodies, newton_joints, newton_matrix, primitives, states
from rbdae.kernels.records import DIRECTOR_RATE
from rbdae.rotations.quaternion_algebra import add_product

NOISE = 1e-10
"""Increments below this, squared and relative to the size of the system, count as that: what positions lose to
round-off is no reason to iterate."""


def newton(m: Memory, t: float, y: Array, yd: Array, h: float, out: Array, scheme: int) -> None:
    """The unknowns u in `yd` after one more iteration of the step of size h from (t, y), and, after them, the size of
    the correction relative to that of the increments, or what the balances lacked before it (`_lacking`) if it is
    more: small corrections alone are no solution where the matrix is singular."""
    begin(m, t, y, h)
    set_drives(m, t + h)
    take(m, yd, scheme, 0.5 * h * h)
    if scheme == VARIATIONAL:
        to_the_start(m)
    primitive_vectors(m, 1)
    add_moving_increments(m)
    applied(m, t, y, h)
    primitive_forces(m)
    body_rows(m, scheme)
    if scheme == VARIATIONAL:
        variational_rows(m)
    elif scheme >= MOMENTA:
        midpoint_rows(m)
    if head(m).n_primitives + head(m).n_elements + head(m).n_bushings > 0:
        set_bases(m)
    joint_rows(m)
    applied_tangents(m, h)
    _lacking(m, scheme)
    eliminate(m)
    _corrected(m, yd, out)


HALF_A_TURN = 1e200
"""What a balance lacks, squared, where an increment is half a turn or more: its rows say nothing."""


def _lacking(m: Memory, scheme: int) -> None:
    """The lack of the balances of each body, r . M^-1 r of their residuals r: the square of an increment, with the
    masses of `_corrected`.

    Rows see the rotational balance by a matrix, E- of `rbdae.kernels.conserving.bodies`. Its least singular value is
    e0, which in the maps other than RODRIGUES vanishes at half a turn: there a row is zero and its balance is not. So
    the rows are divided by it. The matrices of the other schemes have no singular value below 1.
    """
    A = newton_matrix(m)
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        v = half_increment(m, b)
        row = newton_bodies(m)[b].row
        lacking = 0.0 * s.x[0]
        if o.nt == 3:
            for k in range(3):
                lacking += A[row + k] * A[row + k]
            lacking = lacking / o.mass
            row += 3
        turning = 0.0 * s.x[0]
        for k in range(3):
            turning += A[row + k] * A[row + k] / o.inertia[k, k]
        if scheme != VARIATIONAL and scheme >= PAPER and head(m).kind != DIRECTOR_RATE:
            small = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] < widest(scheme)
            e0 = select(small, increment(m, b)[0], 1.0)
            turning = select(small, turning / (e0 * e0) if scheme < MOMENTA else turning, HALF_A_TURN)
        s.t[0] = lacking + turning


def _corrected(m: Memory, u: Array, out: Array) -> None:
    h = head(m)
    A = newton_matrix(m)
    change = 0.0
    size = 1e-300
    lacking = 0.0
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        lacking += s.t[0]
        i = newton_bodies(m)[b].unknown
        r = newton_bodies(m)[b].row
        if o.nt == 3:
            for k in range(3):
                out[i + k] = u[i + k] + A[r + k]
                change += o.mass * A[r + k] * A[r + k]
                size += o.mass * (s.gx[k] * s.gx[k] + NOISE * s.x[k] * s.x[k])
            i += 3
            r += 3
        for k in range(3):
            out[i + k] = u[i + k] + A[r + k]
            w = 4.0 * o.inertia[k, k]
            change += w * A[r + k] * A[r + k]
            size += w * (s.wd[k] * s.wd[k] + NOISE)
    for i in range(h.n_primitives):
        p = primitives(m)[i]
        at = newton_joints(m)[i].row
        for k in range(p.n):
            n = h.n_body_unknowns + p.row - h.n_internal + k
            if p.keep[k] == 1:
                out[n] = u[n] + A[at[k]]
            else:
                out[n] = 0.0
    n = h.n_body_unknowns + h.n_rows
    out[n] = sqrt(maximum(change, lacking) / size)


def predict(m: Memory, t: float, y: Array, h: float, out: Array) -> None:
    """The unknowns of a motion with constant velocities and without forces in the joints."""
    begin(m, t, y, h)
    n = head(m).n_body_unknowns
    for b in range(head(m).n_bodies):
        s = states(m)[b]
        i = newton_bodies(m)[b].unknown
        if bodies(m)[b].nt == 3:
            for k in range(3):
                out[i + k] = s.xdd[k]
            i += 3
        for k in range(3):
            out[i + k] = s.om[k]
    for k in range(head(m).n_rows):
        out[n + k] = 0.0


def advance(m: Memory, t: float, y: Array, yd: Array, h: float, out: Array, scheme: int) -> None:
    """The state y at t + r h, from the unknowns of the step in `yd`, after which r stands.

    Between the ends the velocities v and Om are linear in time, and dx and b their integrals.
    """
    begin(m, t, y, h)
    if scheme == VARIATIONAL:
        variational_end(m, yd, h)
    _end(m, yd, h, out, scheme)
    advance_windings(m, y, out)


def _end(m: Memory, u: Array, h: float, out: Array, scheme: int) -> None:
    n_q = head(m).n_q
    r = u[head(m).n_body_unknowns + head(m).n_rows]
    for b in range(head(m).n_bodies):
        o = bodies(m)[b]
        s = states(m)[b]
        i = newton_bodies(m)[b].unknown
        q = o.iq
        v = n_q + o.iv
        if o.nt == 3:
            for k in range(3):
                f = u[i + k] - s.xdd[k]
                out[q + k] = s.pxd[k] + r * (s.xdd[k] + r * f)
                w = quotient(s.xdd[k] + 2.0 * r * f, h)
                out[v + k] = o.mass * w if head(m).momenta == 1 else w
                if scheme == VARIATIONAL:
                    out[v + k] = s.px[k] + r * (s.fx[k] - s.px[k])
            i += 3
            q += 3
            v += 3
        for k in range(3):
            s.wd[k] = u[i + k]
            s.gx[k] = u[i + k]
        if head(m).kind == DIRECTOR_RATE:
            end_directors(m, b, scheme, r, h, q, v, out)
            continue
        if scheme == VARIATIONAL:
            for k in range(3):
                s.tx[k] = 2.0 * (1.0 - r) * quotient(s.tx[k], h) + r * s.fd[k]
        elif scheme >= MOMENTA:
            midpoint_velocity(m, b, scheme)
        if head(m).momenta == 1 and scheme != VARIATIONAL:
            # without the inverse of J, whose error would be the same in each step
            moved(o.inertia, s.gx, s.gd)
            for k in range(3):
                s.tx[k] = 2.0 * quotient(s.tx[k] + 2.0 * r * (s.gd[k] - s.tx[k]), h)
        for k in range(3):
            f = s.gx[k] - s.om[k]
            s.wd[k] = r * (s.om[k] + r * (u[i + k] - s.om[k]))
            s.om[k] = 2.0 * quotient(s.om[k] + 2.0 * r * f, h)
        _turn(m, b, q, v, out, scheme)


def _turn(m: Memory, b: int, q: int, v: int, out: Array, scheme: int) -> None:
    """q1 = q0 o e, of unit length again, and Om1 or p1 = 2 q1 o (0, J Om1)."""
    s = states(m)[b]
    set_increment(m, b, scheme)
    e = increment(m, b)
    x = half_increment(m, b)
    s.s[0] = e[0]
    for k in range(3):
        s.s[k + 1] = e[1] * x[k]
    for k in range(4):
        s.t[k] = 0.0
    add_product(s.a, s.s, 1.0, s.t)
    length = sqrt(s.t[0] * s.t[0] + s.t[1] * s.t[1] + s.t[2] * s.t[2] + s.t[3] * s.t[3])
    for k in range(4):
        s.t[k] = s.t[k] / length
        out[q + k] = s.t[k]
    if head(m).momenta == 0:
        for k in range(3):
            out[v + k] = s.om[k]
        return
    s.s[0] = 0.0
    for k in range(3):
        s.s[k + 1] = s.tx[k]
    for k in range(4):
        s.gd[k] = 0.0
    add_product(s.t, s.s, 2.0, s.gd)
    for k in range(4):
        out[v + k] = s.gd[k]
