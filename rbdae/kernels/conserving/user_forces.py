"""The user's forces in a step: F(t + h / 2, Z_mean, (Z1 - Z0) / h), the function at the mean.

Their work is F . (Z1 - Z0), and the change of momentum is that of F at Z_mean, which belongs to no rigid body. What
they have of a potential is exact where it is quadratic in Z, else of second order; with a `potential` they are
corrected, and the work of what has it is V0 - V1.

A force with a potential V is a discrete gradient, [Gon96]: Gonzalez' keeps energy by a correction along Z1 - Z0, and
with V as a function of invariants also momentum, by one along their gradients. Here it has no invariants of its own,
but a direction without their moment:

    F = F_mean + lambda D,   lambda = (V0 - V1 - F_mean . dZ) / (D . dZ),   dZ = Z1 - Z0,

with F_mean at t + h / 2, Z_mean and no rates, and both V at t + h / 2. D is dZ without its common motion. Over the
eight vectors z of Z at the mean, with the points x about the middle of both, and their increments dz,

    D = dz - om x z,   A om = sum z x dz,   A = sum (z . z I - z z^T).

om is that of least squares of |dz - om x z|, so sum z x D = 0, and the forces D on x are opposite: D has neither a
resultant nor a moment on both bodies together. D . dZ = D . D is zero only where all of dZ is a common motion of the
means, that is where no scalar product of the vectors changes; then the V of invariants does not change either.

The denominator has 1e-16 sum z . z in it: increments below 1e-8 of the size of z get no correction. There V0 - V1 -
F_mean . dZ, of the third order in dZ, is far below round-off. Lengths (m) and directors (1) are taken alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae.graph.functions import Array
from rbdae.kernels.forces.elements import called
from rbdae.kernels.linear.small import inverse
from rbdae.rotations.vectors import cross

FLOOR = 1e-16
"""Of D . D, in units of sum z . z."""


def _force(e: Any, t: Any, Z: Array, rates: Array | float = 0.0) -> Array:
    """F at Z and its rates."""
    return called(e.force, t, np.concatenate([Z, np.zeros(24) + rates]).astype(object), 24)


def _potential(e: Any, t: Any, Z: Array) -> Any:
    return called(e.potential, t, Z, 1)[0]


def _centred(Z: Array) -> Array:
    """Eight vectors, with the points about their middle."""
    z = Z.reshape(8, 3).copy()
    z[0] = (z[0] - z[4]) * 0.5
    z[4] = -z[0]
    return z


def _correction(e: Any, t: Any, Z: Array, dZ: Array) -> Array:
    """lambda D."""
    z, dz = _centred(Z), _centred(dZ)
    size = z.ravel() @ z.ravel()
    om = inverse(np.eye(3) * size - z.T @ z) @ sum(cross(*pair) for pair in zip(z, dz, strict=True))
    D = (dz - np.array([cross(om, each) for each in z])).ravel()
    lost = _potential(e, t, Z - dZ * 0.5) - _potential(e, t, Z + dZ * 0.5) - _force(e, t, Z) @ dZ
    return D * (lost / (D @ D + FLOOR * size))


def user_force(e: Any, t: Any, h: Any, Z: Array, d: Array) -> Array:
    """F of one element in the middle t of the step, from the mean Z and half of the increment of Z."""
    F = _force(e, t, Z, d * (2.0 / h))
    return F + _correction(e, t, Z, d * 2.0) if e.potential != 0 else F


def user_work(e: Any, t: Any, h: Any, Z: Array, d: Array) -> Any:
    """F . dZ; with a potential (F - F without rates) . dZ, and what V changes by at rest in the time from the middle of
    the step, where its gradient is taken, to both ends."""
    done = _force(e, t, Z, d * (2.0 / h)) @ d * 2.0
    if e.potential == 0:
        return done
    done -= _force(e, t, Z) @ d * 2.0
    for sign in (1.0, -1.0):
        end = Z + d * sign
        done += (_potential(e, t + h * (0.5 * sign), end) - _potential(e, t, end)) * sign
    return done
