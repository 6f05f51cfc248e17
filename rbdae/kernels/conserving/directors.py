"""Bodies in director momenta in a step: DIR.EM, of [BS09] and the references there.

With the nine momenta p_A = sum_B E_AB ddot_B of a body, forces f_A, which are those of -G(z_mean)^T la, too, and the
multipliers La = La^T of d_A . d_B = delta_AB,

    (d1 - d0)_A / h = sum_B (E^-1)_AB (p0 + p1)_B / 2,    (p1 - p0)_A / h = f_A - sum_B La_AB d_mean,B.

A vector w gives d_mean the virtual displacement w x d_mean, in which La does no work. So sum_A d_mean,A x the second
line is free of La, and the increment d1 - d0 = 2 b x d_mean (`RODRIGUES`) keeps all products d_A . d_B: three
unknowns, three equations

    sum_A d_mean,A x (sum_B E_AB (d1 - d0)_B - h p0_A - h^2 / 2 f_A) = 0,    p1 = 2 E (d1 - d0) / h - p0.

In the frame of R0, d_mean,A = L e_A with L^-1 = I - b^ and (L u) x (L v) = det L L^-T (u x v). Without the factor
det L L^-T, and because L^-1 (2 b x L e_B) = 2 b x e_B, the balance is

    2 J b - sum_A e_A x (I - b^) w_A = 0,    w_A = R0^T (h p0_A + h^2 / 2 f_A):

linear in b at fixed forces, with the matrix 2 J + tr(N) I - N of N = (w_1 w_2 w_3). A rigid body has N = h Om0^ E and,
in principal axes, diagonal entries 2 J_i and the determinant 8 det J + 2 h^2 sum_i J_i Om_i^2 E_j E_k: nothing has to
be exchanged at any step size if E is positive definite. The factor makes these rows (1 + b . b) L^T times the moment,
which is what the other schemes see from half of the rotation with a part along b added (`joints.set_bases`).

The inverse of E is not needed: an indefinite one, of an inertia that no real body has, is no obstacle.
"""

from __future__ import annotations

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.conserving.increments import (
    frame_of_start,
    half_increment,
    quotient,
    rotation_less_identity,
    set_increment,
    vector_of,
)
from rbdae.kernels.memory import bodies, newton_matrix, states, tangent_memory


def begin_directors(m: Memory, b: int, h: float) -> None:
    """h p0, and J h Om0 / 2, the half of sum_A e_A x R0^T h p0_A. Reads p and the directors."""
    s = states(m)[b]
    N = tangent_memory(m).A
    for k in range(9):
        s.pd[k] = h * s.p[k]
        s.fd[k] = 0.0 * s.p[k]
    _in_the_frame(m, b, N)
    vector_of(N, s.tx)
    for k in range(3):
        s.tx[k] *= 0.5


def _in_the_frame(m: Memory, b: int, N: Array) -> None:
    """N = (w_1 w_2 w_3). Reads h p0 and the natural forces."""
    s = states(m)[b]
    for k in range(9):
        s.t[k] = s.pd[k] + s.fd[k]
    frame_of_start(m, b, s.t, N)


def director_rows(m: Memory, b: int, row: int, at: int, n: int) -> None:
    """The rows of the rotation: three entries of the right-hand side from `row`, a block of rows n apart from `at`."""
    o = bodies(m)[b]
    A = newton_matrix(m)
    N = tangent_memory(m).A
    v = half_increment(m, b)
    _in_the_frame(m, b, N)
    trace = N[0, 0] + N[1, 1] + N[2, 2]
    A[row] = N[2, 1] - N[1, 2]
    A[row + 1] = N[0, 2] - N[2, 0]
    A[row + 2] = N[1, 0] - N[0, 1]
    for i in range(3):
        for j in range(3):
            A[at + n * i + j] = 2.0 * o.inertia[i, j] - N[i, j]
            A[row + i] += N[i, j] * v[j]
            if i == j:
                A[at + n * i + j] += trace
                A[row + i] -= trace * v[j]
            else:  # J b by E, as in p1: the last digit of J would be the same error in each step
                A[row + i] -= 2.0 * (o.euler[j, j] * v[i] - o.euler[i, j] * v[j])


def end_directors(m: Memory, b: int, scheme: int, r: float, h: float, q: int, v: int, out: Array) -> None:
    """d and p of a body at the part r of the step to out[q:q + 9] and out[v:v + 9]: p is linear in time, the increment
    quadratic. Reads the unknown b in gx, and p0."""
    E = bodies(m)[b].euler
    s = states(m)[b]
    for k in range(3):
        s.wd[k] = s.gx[k]
    _moved_directors(m, b, scheme, s.t)
    for i in range(3):
        for k in range(3):
            f = E[i, 0] * s.t[k] + E[i, 1] * s.t[3 + k] + E[i, 2] * s.t[6 + k]
            out[v + 3 * i + k] = 2.0 * r * quotient(f, h) + (1.0 - 2.0 * r) * s.p[3 * i + k]
    for k in range(3):
        s.wd[k] = r * (s.om[k] + r * (s.gx[k] - s.om[k]))
    _moved_directors(m, b, scheme, s.t)
    for k in range(9):
        s.t[k] += s.ddd[k]
    # what rounding takes from D^T D = I: D - D (D^T D - I) / 2
    M = tangent_memory(m).A
    for i in range(3):
        for j in range(3):
            M[i, j] = s.t[3 * i] * s.t[3 * j] + s.t[3 * i + 1] * s.t[3 * j + 1] + s.t[3 * i + 2] * s.t[3 * j + 2]
        M[i, i] -= 1.0
    for i in range(3):
        for k in range(3):
            f = M[i, 0] * s.t[k] + M[i, 1] * s.t[3 + k] + M[i, 2] * s.t[6 + k]
            out[q + 3 * i + k] = s.t[3 * i + k] - 0.5 * f


def _moved_directors(m: Memory, b: int, scheme: int, out: Array) -> None:
    """out = d1 - d0 = R0 (dR - I)."""
    C = tangent_memory(m).block
    set_increment(m, b, scheme)
    rotation_less_identity(m, b, C)
    d = states(m)[b].ddd
    for j in range(3):
        for k in range(3):
            out[3 * j + k] = d[k] * C[0, j] + d[3 + k] * C[1, j] + d[6 + k] * C[2, j]
