"""Algebraic unknowns of forces at states that no solver has given, such as those between its steps."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec

_MOST = 30
_SMALL = 1e-8
"""A correction by this fraction is the last one: the error that is left is about its square."""


def solve_algebraic(problem: Any, t: Vec, y: Mat) -> None:
    """Write the solutions z of 0 = g(t, q, v, s, z) into rows y (m, n) at times t (m,), in place.

    Newton's method begins with the values that are there.

    Raises
    ------
    ValueError
        where it does not converge, with the names of the unknowns and the time
    """
    places = np.flatnonzero(problem.algebraic)
    if not len(places):
        return
    rows, columns, of_data = _block(problem.sparsity, places)
    call, zero = problem.callbacks, np.zeros(problem.n)
    F, data = np.empty(problem.n_equations), np.empty(problem.sparsity.nnz)
    J = np.zeros((len(places), len(places)))
    for time, row in zip(t.tolist(), y, strict=True):
        first = row[places]
        for _ in range(_MOST):
            call.residual(time, row, zero, F)
            call.jacobian_data(time, row, zero, 0.0, data)
            J[rows, columns] = data[of_data]
            step = _solution(J, F[places])
            row[places] -= step
            z = row[places]
            if np.all(np.abs(step) <= _SMALL * np.maximum(np.abs(z), np.abs(z - first))):
                break
        else:
            names = ", ".join(problem.labels[k] for k in places)
            raise ValueError(
                f"no solution of the equations for {names} was found at t = {time:g}, between two steps; tighten the "
                "tolerances, or give t_eval"
            )


def _block(sparsity: Any, places: Any) -> tuple[Any, Any, Any]:
    """Rows and columns of the equations and unknowns at these places, and their entries in the data of a CSC matrix."""
    number = {int(place): k for k, place in enumerate(places)}
    found = [
        (number[int(sparsity.indices[k])], j, k)
        for j, place in enumerate(places)
        for k in range(sparsity.indptr[place], sparsity.indptr[place + 1])
        if int(sparsity.indices[k]) in number
    ]
    return tuple(np.array(found, dtype=np.int64).reshape(-1, 3).T)  # type: ignore[return-value]


def _solution(J: Mat, g: Vec) -> Vec:
    try:
        return np.asarray(np.linalg.solve(J, g))
    except np.linalg.LinAlgError:
        return np.full(len(g), np.nan)


__all__ = ["solve_algebraic"]
