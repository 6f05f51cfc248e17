"""The power of what has no potential, and what that of the rheonomic joints follows from."""

from __future__ import annotations

from rbdae.compiler.access import Array, Memory, address
from rbdae.compiler.jit import entry
from rbdae.kernels.bodies.gather import clear_forces
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.primitives import partial_rates, primitive_vectors
from rbdae.kernels.forces.internal_states import gather_force_states, state_forces
from rbdae.kernels.forces.unconserved import add_bushing_powers, add_element_powers
from rbdae.kernels.linear.accelerations import eliminated_normals
from rbdae.kernels.memory import head, states
from rbdae.kernels.outputs import locate


@entry("ityo")
def power(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = the power of applied forces without what has a potential; out[1] = that of the user's forces with a
    potential, without rates; out[2:] = the partial derivatives g_t of the joint equations with respect to time. Forces
    of joints -G^T la have the power la . g_t."""
    h = head(m)
    set_time(m, t)
    gather_force_states(m, address(y))
    locate(m, address(y))
    eliminated_normals(m)
    S = states(m)
    clear_forces(m)
    state_forces(m)
    total = 0.0 * h.time
    for b in range(h.n_bodies):
        s = S[b]
        for k in range(3):
            total += s.fx[k] * s.xd[k]
        for k in range(9):
            total += s.fd[k] * s.dd[k]
    out[0] = total
    out[1] = 0.0
    add_bushing_powers(m, address(out))
    add_element_powers(m, address(out))
    for k in range(h.n_rows):
        out[2 + k] = 0.0
    if h.n_drives > 0:
        primitive_vectors(m, 0)
        partial_rates(m, address(out), 2 - h.n_internal, 1.0)
