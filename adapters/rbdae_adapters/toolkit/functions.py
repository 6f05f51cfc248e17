"""Callbacks of a problem in the signatures of packages that keep references to what they get."""

from __future__ import annotations

from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Solvable


@final
class Functions:
    """The callbacks of a problem; each call returns a new array, and is counted.

    Attributes
    ----------
    evaluations, jacobians : how many calls there were; the two parts of a Jacobian are one
    """

    def __init__(self, problem: Solvable) -> None:
        self._problem = problem
        self.evaluations = self.jacobians = 0

    @cached_property  # asking for a callback may compile it
    def _rhs(self) -> Any:
        return self._problem.callbacks.rhs

    @cached_property
    def _residual(self) -> Any:
        return self._problem.callbacks.residual

    def rhs(self, t: float, y: Vec) -> Vec:
        """f(t, y), (n,)."""
        self.evaluations += 1
        out = np.empty(self._problem.n)
        self._rhs(t, y, out)
        return out

    def rhs_jacobian(self, t: float, y: Vec) -> Mat:
        """df/dy, (n, n), in the order of Fortran."""
        self.jacobians += 1
        out = np.empty((self._problem.n, self._problem.n), order="F")
        self._problem.callbacks.rhs_jacobian(t, y, out)
        return out

    def residual(self, t: float, y: Vec, yd: Vec) -> Vec:
        """F(t, y, yd), (n_equations,)."""
        self.evaluations += 1
        out = np.empty(self._problem.n_equations)
        self._residual(t, y, yd, out)
        return out

    def jacobian(self, t: float, y: Vec, yd: Vec, c: float) -> Mat:
        """dF/dy + c dF/dyd, (n_equations, n)."""
        self.jacobians += 1
        out = np.empty((self._problem.n_equations, self._problem.n))
        self._problem.callbacks.jacobian(t, y, yd, c, out)
        return out

    def jacobians_of(self, t: float, y: Vec, yd: Vec) -> tuple[Mat, Mat]:
        """dF/dy and dF/dyd: the Jacobian for c = 0, and its difference to the one for c = 1."""
        by_y, by_yd = self.jacobian(t, y, yd, 0.0), self.jacobian(t, y, yd, 1.0)
        self.jacobians -= 1
        by_yd -= by_y
        return by_y, by_yd

    def sparse_jacobians_of(self, t: float, y: Vec, yd: Vec) -> tuple[Any, Any]:
        """The same as CSC matrices."""
        from scipy.sparse import csc_matrix  # a slow import, not needed with dense Jacobians

        self.jacobians += 1
        pattern, fill = self._problem.sparsity, self._problem.callbacks.jacobian_data
        by_y, by_yd = np.empty(pattern.nnz), np.empty(pattern.nnz)
        fill(t, y, yd, 0.0, by_y)
        fill(t, y, yd, 1.0, by_yd)
        by_yd -= by_y
        return tuple(csc_matrix((data, pattern.indices, pattern.indptr), pattern.shape) for data in (by_y, by_yd))
