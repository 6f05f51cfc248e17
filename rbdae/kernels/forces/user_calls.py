"""Calls of the user's forces and laws from kernels, which may run on dual numbers.

The functions themselves take doubles. With dual numbers x the result of a force F(t, x) is F + F_x dx, with F_x from
the user's Jacobian.
"""

from __future__ import annotations

from rbdae.graph.functions import Array
from rbdae.laws.user_functions import call_user_function


def call_force(
    force: int, jacobian: int, t: float, x: Array, n_in: int, out: Array, n_out: int, by_rates: int, work: Array
) -> None:
    """out[:n_out] = force(t, x[:n_in]).

    Its Jacobian is (n_out, n_in); with `by_rates` it is two matrices (n_out, n_out), with respect to positions and to
    rates. `work` is memory for n_out n_in dual numbers; what is in it does not count. A law without results, such as
    that of a block that others only read, is not called: it would have no memory.
    """
    if n_out == 0:
        return
    for k in range(n_out):
        out[k] = 0.0  # what the function leaves out is not what another one has written
    if n_doubles() == 1:
        call_user_function(force, t, x[:n_in], out[:n_out])
    else:
        J = work
        X = J[n_in * n_out :]
        F = J[n_in * n_out + n_in :]
        for k in range(n_in * n_out):
            J[k] = 0.0
        for k in range(n_in):
            X[k] = x[k]
        for k in range(n_out):
            F[k] = 0.0
        call_user_function(force, t, X, F)
        call_user_function(jacobian, t, X, J)
        for i in range(n_out):
            out[i] = F[i]
            for j in range(n_in):
                place = n_in * i + j
                if by_rates == 1:
                    place = n_out * i + j if j < n_out else n_out * (n_out + i) + j - n_out
                out[i] += J[place] * (x[j] - x[j])


def call_law(law: int, t: float, out: Array, n: int) -> None:
    """out[:n] = law(t), for n below the doubles of a dual number; the law may leave entries as they are."""
    if n_doubles() == 1:
        call_user_function(law, t, out, out)
    else:
        u = out
        for k in range(n):
            u[k] = out[k]
        call_user_function(law, t, u, u)
        for k in range(n - 1, -1, -1):
            out[k] = u[k]
