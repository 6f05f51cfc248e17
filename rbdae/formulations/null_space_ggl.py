"""`null-space-ggl`: the null-space form with g = 0 kept by a kinematic correction, [NS] section 6.

    qdot - (T nu - r) + G^T mu        = 0    (rotations: adot - K (Omega - G_Omega^T mu) + G_int^T mu_int)
    T^T [M wdot - psi(q, w, t)]       = 0    w = T nu - r, as in `rbdae.formulations.null_space`
    g(q, t)                           = 0

T removes la from the equations of [GGL85], and G w + g_I = 0 holds by construction; mu remains. It vanishes in the
exact motion. g includes the chart's internal constraints, with gradient G_int = dg/da.

Differentiated once, g = 0 gives G qdot = -g_I, and with it mu as a function of (q, nu, t). So the index is 1 if mu is
the rate of an unknown, as in `hiller-anantharaman`, which is the default here. If mu is an unknown, its rate needs a
second derivative, and the index is 2. The paper's index 1 counts only q and nu.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from rbdae.formulations import null_space
from rbdae.formulations.base import Implicit
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import moving
from rbdae.kernels.bodies.internal_constraints import gradient
from rbdae.kernels.constraints.rows import add_corrections, dropped_residual
from rbdae.kernels.entry import entry
from rbdae.kernels.outputs import violations

Correction = Literal["integral", "value"]


@entry("ityyo")
def residual(m: Memory, t: float, y: Array, yd: Array, out: Array) -> None:
    """F(t, y, yd) to out; g has internal constraints, then the joints, and mu = 0 for dropped rows."""
    h = m.head
    mu = h.corrections_at
    joints = mu + h.chart_internal * h.n_bodies
    mu_at = yd if h.integral == 1 else y
    null_space.residual(m, t, y, yd, out)
    add_corrections(m, mu_at[joints:], out)
    for b, (o, s) in enumerate(moving(m) if h.chart_internal else ()):
        first = mu + h.chart_internal * b
        i = o.iq + o.nt
        out[i : i + o.na] += gradient(m, s).T @ mu_at[first : first + h.chart_internal]
    g = np.zeros(2 * (joints - mu + h.n_rows), dtype=out.dtype)
    violations(m, g)
    out[mu : joints + h.n_rows] = g[: joints - mu + h.n_rows]
    dropped_residual(m, out, joints, mu_at[joints:])


@dataclass(frozen=True, kw_only=True)
class NullSpaceGGL(
    null_space.NullSpace, name="null-space-ggl", kind="dae", index=1, levels=(0,), corrections="integrals"
):
    """The null-space form with g = 0 kept, qdot = T nu - r - G^T mu.

    Parameters
    ----------
    correction : ``"integral"`` or ``"value"``
        The unknowns in addition to q and nu: the integrals of mu, index 1; or mu, index 2. The other option is as for
        `NullSpace`.
    """

    source = "[NS] section 6, after [GGL85]"
    kernels = Implicit(residual, null_space.rhs)
    correction: Correction = "integral"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.correction == "value":
            object.__setattr__(self, "corrections", "values")
            object.__setattr__(self, "index", 2)
