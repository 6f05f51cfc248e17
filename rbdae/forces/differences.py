"""The Jacobian of a user's force by central differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.compiler.user_functions import like

Function: TypeAlias = Callable[[float, Vec, Vec], None]


def differences(force: Any, step: float) -> Function:
    """The Jacobian of a force by central differences."""

    def jacobian(t: float, x: Vec, out: Vec) -> None:
        z = x.copy()
        above = np.zeros(24, x.dtype)
        below = np.zeros(24, x.dtype)
        for j in range(48):
            z[j] = x[j] + step
            force(t, z, above)
            z[j] = x[j] - step
            force(t, z, below)
            z[j] = x[j]
            first = j if j < 24 else 552 + j
            for k in range(24):
                out[first + 24 * k] = (above[k] - below[k]) / (2.0 * step)

    return like(force, jacobian)


@final
@dataclass(frozen=True, slots=True, eq=False)
class Differences:
    """The same for plain Python, which can be pickled if the force can."""

    force: Function
    step: float

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        differences(self.force, self.step)(t, x, out)


__all__ = ["Differences", "differences"]
