"""Assimulo's problem classes with our equations in them.

With state events Assimulo calls functions with its switches as a further argument: native ones take and ignore it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Solvable
from rbdae_adapters.assimulo._package import module


class Counts:
    """Calls of our functions: Assimulo's own counts are lost when it gives up."""

    __slots__ = ("evaluations", "jacobians")

    def __init__(self) -> None:
        self.evaluations = 0
        self.jacobians = 0


def rhs(problem: Solvable, counts: Counts) -> Callable[..., Vec]:
    """``rhs(t, y)``, a new array."""
    n, fill = problem.n, problem.callbacks.rhs

    def fun(t: float, y: Vec, sw: Any = None) -> Vec:
        counts.evaluations += 1
        out = np.empty(n)
        fill(t, y, out)
        return out

    return fun


def rhs_jacobian(problem: Solvable, counts: Counts) -> Callable[..., Mat]:
    """``jac(t, y)``, a new array in Fortran's order."""
    n, callbacks = problem.n, problem.callbacks  # asking for the Jacobian allocates memory of its size

    def jac(t: float, y: Vec, sw: Any = None) -> Mat:
        counts.jacobians += 1
        out = np.empty((n, n), order="F")
        callbacks.rhs_jacobian(t, y, out)
        return out

    return jac


def residual(problem: Solvable, counts: Counts) -> Callable[..., Vec]:
    """``res(t, y, yd)``, a new array."""
    rows, fill = problem.n_equations, problem.callbacks.residual

    def res(t: float, y: Vec, yd: Vec, sw: Any = None) -> Vec:
        counts.evaluations += 1
        out = np.empty(rows)
        fill(t, y, yd, out)
        return out

    return res


def explicit_problem(
    problem: Solvable, right_hand_side: Callable[[float, Vec], Vec], jacobian: Callable[[float, Vec], Mat]
) -> Any:
    """An `Explicit_Problem` of these functions."""
    native = module("problem").Explicit_Problem(right_hand_side, problem.y0.copy(), problem.t0)
    native.jac = jacobian
    native.name = problem.formulation
    return native


def implicit_problem(
    problem: Solvable, counts: Counts, kind: Literal["Implicit_Problem", "Overdetermined_Problem"]
) -> Any:
    """An `Implicit_Problem` or an `Overdetermined_Problem` with our residual and Jacobian."""
    native = getattr(module("problem"), kind)(
        residual(problem, counts), problem.y0.copy(), problem.yd0.copy(), problem.t0
    )
    native.jac = _jacobian(problem, counts)
    native.algvar = [int(x) for x in problem.differential]
    native.name = problem.formulation
    native.unknowns = lambda y, yd: np.array(y, dtype=float)
    return native


def _jacobian(problem: Solvable, counts: Counts) -> Callable[..., Mat]:
    shape, fill = (problem.n_equations, problem.n), problem.callbacks.jacobian

    def jac(c: float, t: float, y: Vec, yd: Vec, sw: Any = None) -> Mat:
        counts.jacobians += 1
        out = np.empty(shape)
        fill(t, y, yd, c, out)
        return out

    return jac


def classed_problem(problem: Solvable, counts: Counts) -> Any:
    """An `Implicit_Problem` whose index classes are those that Assimulo's Radau5DAE knows.

    That class stacks (y, y') and says that y is of class 1 and y' of class 2 ([HW96], section VII.3). Multipliers of
    index 2 belong to the latter: they are derivatives here, of unknowns of their own that begin with zero (as in
    `hiller-anantharaman`), so that F(t, y, y') = 0 keeps its equations.
    """
    moved = ~np.asarray(problem.differential) & (np.asarray(problem.variable_index) >= 2)
    native = implicit_problem(problem, counts, "Implicit_Problem")
    if not moved.any():
        return native
    function, derivative = native.res, native.jac

    def unknowns(y: Any, yd: Any) -> Vec:
        out: Vec = np.where(moved, yd, y)
        return out

    def res(t: float, y: Vec, yd: Vec, sw: Any = None) -> Vec:
        out: Vec = function(t, unknowns(y, yd), yd)
        return out

    def jac(c: float, t: float, y: Vec, yd: Vec, sw: Any = None) -> Mat:
        out: Mat = derivative(c, t, unknowns(y, yd), yd)
        out[:, moved] *= c
        return out

    y0, yd0 = np.where(moved, 0.0, problem.y0), np.where(moved, problem.y0, problem.yd0)
    out = module("problem").Implicit_Problem(res, y0, yd0, problem.t0)
    out.jac, out.name, out.unknowns = jac, native.name, unknowns
    out.algvar = [int(x) for x in np.asarray(problem.differential) | moved]
    return out


def configure(solver: Any, name: str, options: Mapping[str, Any]) -> None:
    """Set options by way of Assimulo's own checks."""
    for option, value in options.items():
        try:
            setattr(solver, option, value)
        except Exception as error:
            raise ValueError(f"assimulo:{name} refuses {option}={value!r}: {error}") from None


__all__ = [
    "Counts",
    "classed_problem",
    "configure",
    "explicit_problem",
    "implicit_problem",
    "residual",
    "rhs",
    "rhs_jacobian",
]
