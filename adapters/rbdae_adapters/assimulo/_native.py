"""Assimulo's problem classes with our equations in them."""

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


def rhs(problem: Solvable, counts: Counts) -> Callable[[float, Vec], Vec]:
    """``rhs(t, y)``, a new array."""
    n, fill = problem.n, problem.callbacks.rhs

    def fun(t: float, y: Vec) -> Vec:
        counts.evaluations += 1
        out = np.empty(n)
        fill(t, y, out)
        return out

    return fun


def rhs_jacobian(problem: Solvable, counts: Counts) -> Callable[[float, Vec], Mat]:
    """``jac(t, y)``, a new array in Fortran's order."""
    n, callbacks = problem.n, problem.callbacks  # asking for the Jacobian allocates memory of its size

    def jac(t: float, y: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty((n, n), order="F")
        callbacks.rhs_jacobian(t, y, out)
        return out

    return jac


def residual(problem: Solvable, counts: Counts) -> Callable[[float, Vec, Vec], Vec]:
    """``res(t, y, yd)``, a new array."""
    rows, fill = problem.n_equations, problem.callbacks.residual

    def res(t: float, y: Vec, yd: Vec) -> Vec:
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
    made = getattr(module("problem"), kind)
    native = made(residual(problem, counts), problem.y0.copy(), problem.yd0.copy(), problem.t0)
    shape = (problem.n_equations, problem.n)
    jacobian = problem.callbacks.jacobian

    def jac(c: float, t: float, y: Vec, yd: Vec) -> Mat:
        counts.jacobians += 1
        out = np.empty(shape)
        jacobian(t, y, yd, c, out)
        return out

    native.jac = jac
    native.name = problem.formulation
    return native


def configure(solver: Any, name: str, options: Mapping[str, Any]) -> None:
    """Set options by way of Assimulo's own checks."""
    for option, value in options.items():
        try:
            setattr(solver, option, value)
        except Exception as error:
            raise ValueError(f"assimulo:{name} refuses {option}={value!r}: {error}") from None


__all__ = ["Counts", "configure", "explicit_problem", "implicit_problem", "residual", "rhs", "rhs_jacobian"]
