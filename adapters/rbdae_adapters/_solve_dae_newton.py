"""The end of Newton's iteration in solve_dae's methods: at increments that are rounding, and at steps that are lost.

The package accepts an iterate by the rate at which increments fall, and takes increments that do not fall for
divergence. Where a motion is so simple, or so fast, that the first increment is rounding, it halves the step for ever,
at t = 0 to 1e-308 s.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae._arrays import Vec
from rbdae.adapter import Reason
from rbdae_adapters.toolkit import GaveUp

_LOST = 1e-3
"""A step is halved ten times before it is given up."""

_FALLS = 0.5
"""Increments of Newton's iteration fall by more than this, unless they are rounding."""

_STANDS, _STAGNANT = 0.9, 10.0
"""Those that stand still are rounding up to some times its tolerance: another step size cannot make them smaller."""


@final
class Newton:
    """Stands between a solver of the package and its `solve_lu`, which gives increments: of the rates for Radau, of the
    unknowns for BDF.

    Parameters
    ----------
    solver : the package's
    scaled : rtol and atol (n,) that it works with, rewritten in place
    least : a step that is shorter is lost in rounding

    Attributes
    ----------
    evaluations : of the residual since the last increment, counted by the caller
    """

    def __init__(self, solver: Any, scaled: tuple[Vec, Vec], least: float) -> None:
        self.evaluations = 0
        self._solver, self._scaled, self._least = solver, scaled, least
        self._stages = int(getattr(solver, "stages", 0))  # BDF has none
        self._h = self._largest = 0.0
        self._sizes: dict[int, tuple[Any, float]] = {}
        self._solve_lu, solver.solve_lu = solver.solve_lu, self._increment

    def begins(self) -> None:
        """Another step begins."""
        self._sizes.clear()
        self._largest = 0.0

    def tries(self, h: float) -> None:
        """The step is tried with another size; raise `GaveUp` if this one is lost."""
        self._h, self._largest = h, max(self._largest, h)
        if h < min(self._least, _LOST * self._largest):  # the first step may be small by itself
            raise GaveUp(Reason.STEP_TOO_SMALL, f"a step of {h:.3g} s is lost in rounding")

    def _increment(self, LU: Any, b: Any) -> Any:
        """Zero, which ends the iteration, in place of an increment below its tolerance that hardly falls."""
        out = self._solve_lu(LU, b)
        if not np.iscomplexobj(out):
            evaluations, self.evaluations = self.evaluations, 0
            if evaluations < self._stages:
                return out  # of Radau's error estimate, which has one evaluation
        solver = self._solver
        scale = self._scaled[1] + np.abs(solver.y) * self._scaled[0]
        size = float(np.linalg.norm(out / scale)) / len(scale) ** 0.5 * (self._h if self._stages else 1.0)
        _, before = self._sizes.get(id(LU), (None, np.inf))
        self._sizes[id(LU)] = LU, size  # a factorisation that is kept keeps its number
        rounding = size < solver.newton_tol * (_STAGNANT if size > _STANDS * before else 1.0)
        return np.zeros_like(out) if rounding and size >= _FALLS * before else out


__all__ = ["Newton"]
