"""Arguments for packages: callbacks that return new arrays, the user's options, absolute tolerances and first steps.

Known options are passed on, unknown ones are refused. Packages check their values.
"""

from __future__ import annotations

import importlib.metadata
import importlib.util
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae._check import show, unknown
from rbdae.adapter import Request, Solvable, Unsupported


@final
class Functions:
    """The callbacks of a problem; each call returns a new array, and is counted.

    Attributes
    ----------
    evaluations, jacobians : numbers of calls; the two parts of a Jacobian count as one
    """

    def __init__(self, problem: Solvable) -> None:
        self._problem, self._of = problem, problem.callbacks
        self.evaluations = self.jacobians = 0

    def rhs(self, t: float, y: Vec) -> Vec:
        """f(t, y), (n,)."""
        self.evaluations += 1
        out = np.empty(self._problem.n)
        self._of.rhs(t, y, out)
        return out

    def rhs_jacobian(self, t: float, y: Vec) -> Mat:
        """df/dy, (n, n), in Fortran order."""
        self.jacobians += 1
        out = np.empty((self._problem.n, self._problem.n), order="F")
        self._of.rhs_jacobian(t, y, out)
        return out

    def residual(self, t: float, y: Vec, yd: Vec) -> Vec:
        """F(t, y, yd), (n_equations,)."""
        self.evaluations += 1
        out = np.empty(self._problem.n_equations)
        self._of.residual(t, y, yd, out)
        return out

    def jacobian(self, t: float, y: Vec, yd: Vec, c: float) -> Mat:
        """dF/dy + c dF/dyd, (n_equations, n)."""
        self.jacobians += 1
        out = np.empty((self._problem.n_equations, self._problem.n))
        self._of.jacobian(t, y, yd, c, out)
        return out

    def jacobians_of(self, t: float, y: Vec, yd: Vec) -> tuple[Mat, Mat]:
        """dF/dy and dF/dyd, as differences of the Jacobians for c = 0 and 1."""
        by_y, by_yd = self.jacobian(t, y, yd, 0.0), self.jacobian(t, y, yd, 1.0)
        self.jacobians -= 1
        by_yd -= by_y
        return by_y, by_yd

    def sparse_jacobians_of(self, t: float, y: Vec, yd: Vec) -> tuple[Any, Any]:
        """The same as CSC matrices."""
        from scipy.sparse import csc_matrix  # a slow import, not needed with dense Jacobians

        self.jacobians += 1
        pattern, fill = self._problem.sparsity, self._of.jacobian_data
        by_y, by_yd = np.empty(pattern.nnz), np.empty(pattern.nnz)
        fill(t, y, yd, 0.0, by_y)
        fill(t, y, yd, 1.0, by_yd)
        by_yd -= by_y
        return tuple(csc_matrix((data, pattern.indices, pattern.indptr), pattern.shape) for data in (by_y, by_yd))


_MAX_STEP = ("max_step", "maxh", "max_step_size")
"""Packages' names for the longest step; the first one is accepted for all."""


def take_options(
    given: Mapping[str, Any], allowed: Iterable[str] | None, who: str, **choices: Iterable[object]
) -> dict[str, Any]:
    """The user's options without those that are None; raises `Unsupported` for one that `who` does not have.

    `allowed` is None for a package that refuses unknown names itself, `choices` are the values that some options can
    have. Negative numbers and NaN are refused: some packages take them as not given, others would run for ever.

    >>> take_options({"max_stepp": 1}, ["max_step"], "scipy:RK45")
    Traceback (most recent call last):
        ...
    rbdae.adapter.Unsupported: unknown option of scipy:RK45 'max_stepp'; did you mean 'max_step'? There are max_step
    >>> take_options({"max_step": 0.1, "inith": None}, ["inith", "maxh"], "assimulo:Dopri5")
    {'maxh': 0.1}
    """
    out = {name: value for name, value in given.items() if value is not None}
    if allowed is not None:
        names = sorted(allowed)
        if "max_step" in out and (longest := next((name for name in _MAX_STEP if name in names), None)):
            out[longest] = out.pop("max_step")
        for name in (name for name in out if name not in names):
            raise Unsupported(str(unknown(f"option of {who}", name, names or ["none"])))
    for name, value in out.items():
        if name in choices and not any(type(value) is type(each) and value == each for each in choices[name]):
            listed = ", ".join(map(repr, choices[name]))
            raise ValueError(f"{who}: {name} must be one of {listed}, got {show(value)}; choose one")
        if isinstance(value, (int, float, np.number)) and not value >= 0:
            raise ValueError(f"{who}: the option {name} must not be negative or nan, got {value!r}; leave it out")
    return out


def installed(distribution: str, *modules: str) -> str | None:
    """The version of a distribution; None unless its modules can be imported."""
    there = all(importlib.util.find_spec(name) for name in modules)
    return importlib.metadata.version(distribution) if there else None


def atol_vector(problem: Solvable, request: Request) -> Vec:
    """Absolute tolerances of all unknowns, shape (n,)."""
    return np.array(np.broadcast_to(request.atol, (problem.n,)), dtype=float)


def leaves_error_test(problem: Solvable) -> Bools:
    """Unknowns that a BDF code cannot test: index-2 multipliers, index-3 velocities and multipliers.

    Their error estimates do not vanish with the step size ([HW96] section VII.3).
    """
    return np.asarray(problem.variable_index >= 2)


def multipliers(problem: Solvable) -> Bools:
    """Unknowns without a rate, except algebraic unknowns of forces, which solve their own equations: multipliers need
    no more accuracy than Newton's method for the others leaves."""
    algebraic = getattr(problem, "algebraic", None)
    without_rate = ~np.asarray(problem.differential)
    return without_rate if algebraic is None else without_rate & ~np.asarray(algebraic)


def loosened(problem: Solvable, rtol: float, atol: float | Vec, least: float) -> tuple[float, float | Vec]:
    """The tolerances, limited to the tightest that a method can use.

    Absolute tolerances of individual unknowns keep their proportions: `least` limits the largest among the unknowns
    that every method tests, because small momenta have small tolerances for a reason.
    """
    if rtol >= least and np.ndim(atol) == 0 and (atol >= least or atol == 0.0):
        return rtol, atol
    tested = np.asarray(problem.differential) & (np.asarray(problem.variable_index) <= 1)
    largest = float(np.max(np.broadcast_to(atol, (problem.n,)), where=tested, initial=0.0))
    factor = least / largest if 0.0 < largest < least else 1.0
    return max(rtol, least), atol if factor == 1.0 else least if np.ndim(atol) == 0 else factor * np.asarray(atol)


def usable(problem: Solvable, request: Request, least: float) -> Request:
    """The request with `loosened` tolerances, which a `Recorder` made with it reports."""
    rtol, atol = loosened(problem, request.rtol, request.atol, least)
    if rtol == request.rtol and atol is request.atol:
        return request
    return replace(request, rtol=rtol, atol=atol)


def first_step(problem: Solvable, rtol: float, order: int = 1) -> float:
    """A first step that changes the tested unknowns by about ``0.1 rtol^(1 / (order + 1))``, relative to 1.

    With constraints it shrinks no further below rtol = 1e-10, where the multipliers would be noise. The error test
    shortens it if necessary.
    """
    if problem.kind == "dae":
        rtol = max(rtol, 1e-10)
    tested = ~leaves_error_test(problem) & np.asarray(problem.differential)
    y, yd = np.asarray(problem.y0)[tested], np.asarray(problem.yd0)[tested]
    rate = float(np.max(np.abs(yd) / (1.0 + np.abs(y)), initial=0.0))
    return float(0.1 * rtol ** (1.0 / (order + 1)) / max(rate, 1.0))
