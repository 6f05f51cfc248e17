"""How the joints' rows of G depend on each other, by one factorisation: how far the joints are from a singular
position, how much dropped rows need of those that are kept, and the multipliers of least norm."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array, Memory, log, select, sqrt
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.natural import place, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradient, gradients
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.linear.saddle import factorise, internal_multipliers, reduce_bodies
from rbdae.kernels.linear.schur import SUSPENDED, factorise_schur, of_pair, reduce_gradients, solve_schur
from rbdae.kernels.linear.small import dot
from rbdae.kernels.memory import (
    bodies,
    factor,
    factor_column,
    factor_start,
    head,
    multipliers,
    primitives,
    right_hand_side,
    rows,
    solution,
    states,
    work,
)
from rbdae.kernels.records import ANGULAR


def _set_gradients(m: Memory, t: float, y: Array) -> None:
    """G at the positions of y."""
    set_time(m, t)
    gather_positions(m, y)
    place(m)
    primitive_vectors(m, 0)
    velocity_basis(m)
    gradients(m)


def _factorise(m: Memory, t: float, y: Array) -> None:
    """The factors of G W G^T, where W is M^-1 of bodies that turn alike about all axes: slender ones bring no small
    sines. Then the gradients of the dropped rows, too, which do not count in the factors."""
    _set_gradients(m, t, y)
    reduce_bodies(m, 0)
    h = head(m)
    for b in range(h.n_bodies):
        J = bodies(m)[b].inertia
        s = states(m)[b]
        for i in range(3):
            for j in range(3):
                s.Ji[i, j] = 0.0
            s.Ji[i, i] = 3.0 / (J[0, 0] + J[1, 1] + J[2, 2])
    h.singular = 0
    if h.n_rows > 0:
        factorise_schur(m, 0)
    C = primitives(m)
    for i in range(h.n_primitives):
        for side in range(2):
            b = C[i].body[side]
            if C[i].whole == 0 and bodies(m)[b].fixed == 0:
                gradient(m, i, side, h.kind, states(m)[b].B, bodies(m)[b].nr)
    reduce_gradients(m, 0)


def _square(m: Memory, i: int) -> Any:
    """The square of a row's size, of the row with place i in the order of elimination."""
    L = factor(m)[0]
    D = factor(m)[1]
    start = factor_start(m)
    col = factor_column(m)
    t = D[i]
    for e in range(start[i], start[i + 1] - 1):
        t += L[e] * L[e] * D[col[e]]
    return t


def _product(m: Memory, n: int, k: int, i: int, j: int) -> float:
    """Row k of primitive n times M^-1 times row j of primitive i."""
    B = bodies(m)
    C = primitives(m)
    r = rows(m)[n]
    s = rows(m)[i]
    t = 0.0
    for a in range(2):
        o = B[C[n].body[a]]
        if o.fixed == 1:
            continue
        for b in range(2):
            if C[i].body[b] == C[n].body[a]:
                t += of_pair(o, r, a, k, s, b, j)
    return t


def _follow(m: Memory, n: int, k: int) -> None:
    """c in g = c G of the kept rows, for row k of primitive n, to `work` in the order of elimination."""
    C = primitives(m)
    x = work(m)
    for i in range(head(m).n_primitives):
        q = C[i]
        for j in range(q.n):
            x[q.slot[j]] = 0.0
            if q.keep[j] == 1:
                x[q.slot[j]] = _product(m, n, k, i, j)
    solve_schur(m, x)


@entry("ityo")
def log_determinant(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = log det(G M^-1 G^T) / 2 of the joints at the positions of y: the logarithm of the product of the
    singular values of G M^(-1/2). -inf if a pivot is not positive, or if its equation is suspended."""
    _set_gradients(m, t, y)
    factorise(m, 0)
    D = factor(m)[1]
    total = 0.0
    for i in range(head(m).n_rows):
        if 0.0 < D[i] < SUSPENDED:
            total += 0.5 * log(D[i])
        else:
            total = -np.inf
            break
    out[0] = total


@entry("ityo")
def pivots(m: Memory, t: float, y: Array, out: Array) -> None:
    """The pivots of the joint equations in the factorisation of accelerations, in the order of elimination; 0 for
    dropped and suspended ones."""
    _set_gradients(m, t, y)
    factorise(m, 1)
    C = primitives(m)
    for n in range(head(m).n_primitives):
        p = C[n]
        for k in range(p.n):
            i = p.slot[k]
            d = abs(factor(m)[1][i])
            out[i] = 0.0
            if p.keep[k] == 1:
                out[i] = select(d < SUSPENDED, d, 0.0)


def _size(m: Memory, n: int, k: int, reach: float) -> float:
    """The square of a row with respect to velocities over a length, whose square is `reach`."""
    r = rows(m)[n]
    t = 0.0
    for a in range(2):
        o = bodies(m)[primitives(m)[n].body[a]]
        if o.fixed == 1:
            continue
        t += dot(r.H[a, k], r.H[a, k], 3)
        if o.nt == 3:
            t += reach * dot(r.Gx[a, k], r.Gx[a, k], 3)
    return t


def _need(m: Memory, n: int, k: int) -> float:
    """|c|^2 of the row in `work`, for rows of size one with respect to velocities over the bodies' radius of
    gyration."""
    C = primitives(m)
    B = bodies(m)
    x = work(m)
    mass = 0.0
    inertia = 0.0
    for b in range(head(m).n_bodies):
        mass += B[b].mass
        inertia += B[b].inertia[0, 0] + B[b].inertia[1, 1] + B[b].inertia[2, 2]
    t = 0.0
    for i in range(head(m).n_primitives):
        q = C[i]
        for j in range(q.n):
            if q.keep[j] == 1:
                c = x[q.slot[j]]
                t += c * c * _size(m, i, j, inertia / mass)
    return t / _size(m, n, k, inertia / mass)


def _sine(m: Memory, i: int) -> Any:
    """The square of the sine between the row with place i and those before it."""
    d = factor(m)[1][i]
    return select(abs(d) < SUSPENDED, d / _square(m, i), 0.0)


@entry("ityo")
def independence(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[i] = the square of the sine between the row with place i and those before it: 0 for suspended rows, 1
    for dropped ones. After them the largest |c|^2 of a dropped row g = c G by the kept ones, all of size one; 0 if
    there are none."""
    _factorise(m, t, y)
    C = primitives(m)
    h = head(m)
    for i in range(h.n_rows):
        out[i] = _sine(m, i)
    most = 0.0
    for n in range(h.n_primitives):
        for k in range(C[n].n):
            if C[n].keep[k] == 0:
                _follow(m, n, k)
                need = _need(m, n, k)
                most = select(need > most, need, most)
    out[h.n_rows] = most


@entry("ityyo")
def least_norm(m: Memory, t: float, y: Array, given: Array, out: Array) -> None:
    """Multipliers of least norm with the same forces.

    given: la, internal ones before those of the joints, then the sizes of the joint equations, with which they count.
    out: la; an orthonormal basis, row by row, of the multipliers of the joints times their sizes that give no force;
    the smallest sine, squared, and the need of `independence`. With g = c G of a dropped row, its multiplier 1 and -c
    of the kept ones give no force."""
    h = head(m)
    _factorise(m, t, y)
    C = primitives(m)
    x = work(m)
    first = h.n_internal
    size = first + h.n_rows
    least = 1.0
    for i in range(h.n_rows):
        s = _sine(m, i)
        least = select(s < least, s, least)
    most = 0.0
    for i in range(size):
        out[i] = given[i]
    at = size
    count = 0
    for n in range(h.n_primitives):
        for k in range(C[n].n):
            if C[n].keep[k] == 1:
                continue
            _follow(m, n, k)
            s = _need(m, n, k)
            most = select(s > most, s, most)
            for i in range(h.n_primitives):
                q = C[i]
                for j in range(q.n):
                    l = q.row - first + j
                    out[at + l] = -given[size + l] * x[q.slot[j]]
            own = C[n].row - first + k
            out[at + own] = given[size + own]
            for before in range(count):
                to = size + before * h.n_rows
                s = dot(out[to:], out[at:], h.n_rows)
                for l in range(h.n_rows):
                    out[at + l] -= s * out[to + l]
            s = 1.0 / sqrt(dot(out[at:], out[at:], h.n_rows))
            for l in range(h.n_rows):
                out[at + l] *= s
            s = 0.0
            for l in range(h.n_rows):
                s += out[at + l] * given[size + l] * out[first + l]
            for l in range(h.n_rows):
                out[first + l] -= s * out[at + l] / given[size + l]
            at += h.n_rows
            count += 1
    out[at] = least
    out[at + 1] = most
    if h.kind != ANGULAR and h.projected == 0:
        # the internal ones balance what the others have changed
        la = multipliers(m)
        f = right_hand_side(m)
        vd = solution(m)
        for i in range(h.n_v):
            f[i] = 0.0
            vd[i] = 0.0
        for i in range(h.n_rows):
            la[first + i] = out[first + i] - given[first + i]
        internal_multipliers(m)
        for i in range(first):
            out[i] += la[i]
