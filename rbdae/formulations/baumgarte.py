"""`baumgarte` and `baumgarte-ode`: gddot + 2 alpha gdot + beta^2 g = 0 in place of gddot = 0.

The kernels of index 1 and index 0 are used; `rbdae.kernels.constraints.rows` adds the terms.
"""

from __future__ import annotations

from dataclasses import dataclass

from rbdae.formulations import explicit
from rbdae.formulations.absolute import WithMultipliers
from rbdae.formulations.base import parameter

_GROWTH = "constraint violations would grow"


@dataclass(frozen=True, kw_only=True)
class Baumgarte(WithMultipliers, name="baumgarte", index=1, levels=(2,), stabilised=True, damping="alpha"):
    """Index 1 with Baumgarte's terms.

    Parameters
    ----------
    alpha, beta : float
        1/s, nonnegative. The default, 10, suits motions that take about a second. Other options as for
        `AbsoluteFormulation`.
    """

    source = "[Bau72]: gddot + 2 alpha gdot + beta^2 g = 0"
    alpha: float = parameter(10.0, _GROWTH)
    beta: float = parameter(10.0, _GROWTH)


class BaumgarteODE(Baumgarte, name="baumgarte-ode", kind="ode", index=0, multipliers="none"):
    """Index 1 with Baumgarte's terms, multipliers eliminated."""

    kernels = explicit.KERNELS
