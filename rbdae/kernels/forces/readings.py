"""The readings of applied forces: natural forces and powers of each, potentials, and the power of what has none."""

from __future__ import annotations

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import gather_natural
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import partial_rates, primitive_vectors
from rbdae.kernels.entry import entry
from rbdae.kernels.forces.elements import ByFunction, all_forces
from rbdae.kernels.forces.internal_states import gather_force_states
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.memory import force_states, head
from rbdae.kernels.outputs import locate

WIDTH = 25
"""Numbers of each: F on x and d of its first two bodies, and its power F : zdot."""


def _at(m: Memory, t: float, y: Array) -> None:
    """Put the bodies, the internal states and the sizes of reactions with friction at (t, y)."""
    set_time(m, t)
    gather_force_states(m, y)
    locate(m, y)
    if head(m).n_frictions:
        eliminated_normals(m)


@entry("ityo")
def by_force(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[12 b:12 b + 12] = applied forces on x and d of every body, without its weight; then 25 numbers of each
    bushing and each element: natural forces on its first two bodies, and power; at y."""
    n = head(m).n_bodies
    _at(m, t, y)
    out[:] = 0.0 * t
    for k, force in enumerate(all_forces(m)):
        F = force.natural().reshape(-1, 12)
        for b, of_body in zip(force.bodies, F, strict=True):
            if b < n:
                out[12 * b : 12 * b + 12] = out[12 * b : 12 * b + 12] + of_body
        at = 12 * n + WIDTH * k
        two = F[:2].ravel()
        out[at : at + len(two)] = two
        out[at + 24] = np.sum(F.reshape(-1, 3) * force.zd)


@entry("ityo")
def power(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = the power of applied forces without what has a potential; out[1] = that of the user's forces with a
    potential, without rates; out[2:] = the partial derivatives g_t of the joint equations with respect to time. Forces
    of joints -G^T la have the power la . g_t."""
    h = head(m)
    _at(m, t, y)
    out[:] = 0.0 * t
    for force in all_forces(m):
        out[0] = out[0] + force.unconserved()
        if isinstance(force, ByFunction):
            out[1] = out[1] + force.at_rest()
    if h.n_drives > 0:
        primitive_vectors(m, 0)
        partial_rates(m, out, 2 - h.n_internal, 1.0)


@entry("ityyo")
def potentials(m: Memory, t: float, Z: Array, s: Array, out: Array) -> None:
    """Potentials of the bushings, then of the elements, at t, at Z: (x, d, xdot, ddot) of every body in the order of
    the bodies in memory, and at the internal states s, of which windings select the branch of their angles."""
    gather_natural(m, Z)
    head(m).time = t
    write_potentials(m, s, out)


def write_potentials(m: Memory, s: Array, out: Array) -> None:
    """out = the potentials at placed bodies, at the time in the head, at the internal states s."""
    n = head(m).n_states
    force_states(m)[:n] = s[:n]
    for k, force in enumerate(all_forces(m)):
        out[k] = force.potential()
