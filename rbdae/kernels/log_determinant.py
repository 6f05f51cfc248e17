"""How far the joints are from a singular position: one factorisation."""

from __future__ import annotations

import math

import numpy as np

from rbdae.compiler.access import Array, Memory, address
from rbdae.compiler.jit import entry, two_sided
from rbdae.kernels.bodies.gather import gather_positions
from rbdae.kernels.bodies.natural import place, velocity_basis
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_vectors
from rbdae.kernels.linear.saddle import factorise
from rbdae.kernels.linear.schur import SUSPENDED
from rbdae.kernels.memory import factor, head

log = two_sided(np.log)(math.log)


@entry("ityo")
def log_determinant(m: Memory, t: float, y: Array, out: Array) -> None:
    """out[0] = log det(G M^-1 G^T) / 2 of the joints at the positions of y: the logarithm of the product of the
    singular values of G M^(-1/2). -inf if a pivot is not positive, or if its equation is suspended."""
    h = head(m)
    set_time(m, t)
    gather_positions(m, address(y))
    place(m)
    primitive_vectors(m, 0)
    velocity_basis(m)
    gradients(m)
    factorise(m, 0)
    D = factor(m)[1]
    total = 0.0
    for i in range(h.n_rows):
        if 0.0 < D[i] < SUSPENDED:
            total += 0.5 * log(D[i])
        else:
            total = -np.inf
            break
    out[0] = total
