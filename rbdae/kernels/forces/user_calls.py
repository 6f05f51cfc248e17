"""Calls of the user's forces and laws from kernels."""

from __future__ import annotations

from rbdae.graph.functions import Array
from rbdae.kernels.user_functions import call_user_function


def call_force(force: int, t: float, x: Array, n_in: int, out: Array, n_out: int) -> None:
    """out[:n_out] = force(t, x[:n_in]). A law without results, such as that of a block that others only read, is not
    called: it would have no memory."""
    if n_out == 0:
        return
    for k in range(n_out):
        out[k] = 0.0  # what the function leaves out is not what another one has written
    call_user_function(force, t, x[:n_in], out[:n_out])


def call_law(law: int, t: float, out: Array) -> None:
    """out = law(t); the law may leave entries as they are."""
    call_user_function(law, t, out, out)
