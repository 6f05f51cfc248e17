"""How steps are chosen: what a user may say of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final


@final
@dataclass(frozen=True, slots=True)
class Controls:
    """How steps are chosen; Hairer's names are SAFE, FAC1, FAC2, BETA, H and HMAX.

    Parameters
    ----------
    first_step : None for the codes' own choice
    max_step : infinity for the whole interval
    max_steps : accepted steps after which the run ends; None for any number
    safety : factor on every new step
    shrink, grow : a step has at least, and at most, these times the length of the one before; None for the method's own
    beta : of the stabilised controller, 0 for none; None for the method's own
    """

    first_step: float | None = None
    max_step: float = math.inf
    max_steps: int | None = None
    safety: float = 0.9
    shrink: float | None = None
    grow: float | None = None
    beta: float | None = None


USUAL = Controls()
