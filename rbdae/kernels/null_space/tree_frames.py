"""Quasi-velocities in the frames of the bodies of a tree: the rows S turn with the bodies, so that S depends on q."""

from __future__ import annotations

from typing import Any

from rbdae.compiler.access import Address, Array, Memory, is_zero, vector_at
from rbdae.compiler.jit import jit, stage
from rbdae.kernels.memory import bodies, head, states, tree_velocities
from rbdae.kernels.null_space.spherical_trees import ROOT


@jit
def _along(S: Array, k: int, d: Array, x: Array) -> Any:
    """sum_j S[k, j] d_j . x over the directors, or their rates."""
    t = 0.0 * x[0]
    for j in range(3):
        if not is_zero(S[k, j]):
            t += S[k, j] * (d[3 * j] * x[0] + d[3 * j + 1] * x[1] + d[3 * j + 2] * x[2])
    return t


@stage("ii", "tree")
def subtract_frame_rates(m: Memory, x_at: Address) -> None:
    """x[nu] -= Sdot w."""
    x = vector_at(x_at)
    h = head(m)
    S = states(m)
    first = h.n_v - h.n_nu
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        if o.parent != ROOT:
            for k in range(e.n_free):
                x[first + o.inu + k] -= _along(e.S, k, S[b].dd, S[b].xd)


@stage("iiii", "tree")
def select_tree_rates(m: Memory, vd_at: Address, out_at: Address, row: int) -> None:
    """out[row:row + nnu] = nudot = S vdot + Sdot w."""
    vd = vector_at(vd_at)
    out = vector_at(out_at)
    h = head(m)
    S = states(m)
    for b in range(h.n_bodies):
        o = bodies(m)[b]
        e = tree_velocities(m)[b]
        i = row + o.inu
        n = o.iv
        if o.parent == ROOT:
            for j in range(o.nt + 3):
                out[i + j] = vd[n + j]
            continue
        for k in range(e.n_free):
            t = _along(e.S, k, S[b].dd, S[b].xd) + _along(e.S, k, S[b].d, vd[n : n + 3])
            for j in range(3):
                t += e.S[k, 3 + j] * vd[n + 3 + j]
            out[i + k] = t
