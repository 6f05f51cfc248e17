"""An accepted step with its dense output."""

from __future__ import annotations

from collections.abc import Callable
from typing import final

import numpy as np

from rbdae._arrays import Vec
from rbdae_adapters.toolkit.events import Dense, refuse_not_finite


@final
class Step:
    """An accepted step: its end `t`, the state `y` there, and its dense output, made when first asked for."""

    __slots__ = ("_dense", "_interpolant", "t", "y")

    def __init__(self, t: float, y: Vec, interpolant: Callable[[], Dense] | None) -> None:
        self.t, self.y = t, y
        self._interpolant = interpolant
        self._dense: Dense | None = None

    def at(self, s: float) -> Vec:
        """The state at a time inside the step, before any projection."""
        if self._dense is None:
            if self._interpolant is None:
                raise RuntimeError(f"no interpolant, and t = {s!r} is inside a step that ends at {self.t!r}")
            self._dense = self._interpolant()
        y = np.array(self._dense(s), dtype=float).reshape(-1)
        refuse_not_finite("the dense output", s, y)
        return y

    def cut(self, t_end: float) -> None:
        """End the step at `t_end` if it reaches beyond."""
        if self.t > t_end:
            self.t, self.y = t_end, self.at(t_end)


__all__ = ["Step"]
