"""Algebraic unknowns of forces at states that no solver has given, such as those between its steps."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.machine.function import MachineFunction
from rbdae.machine.module import NoMachineCode
from rbdae.machine.reading.host import evaluate_rows
from rbdae.machine.unknowns import MOST, SMALL, Solving


@final
class AlgebraicUnknowns:
    """The unknowns z of 0 = g(t, q, v, s, z) of a problem, by Newton's method: in machine code where the code of the
    model calls no Python.

    Attributes
    ----------
    places : of them in y
    """

    def __init__(self, problem: Any) -> None:
        self._problem = problem
        self.places = np.flatnonzero(problem.algebraic)

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def solve(self, t: Vec, y: Mat) -> None:
        """Write the solutions into rows y (m, n) at times t (m,), in place; Newton's method begins with the values that
        are there.

        Raises
        ------
        ValueError
            where it does not converge, with the names of the unknowns and the time
        """
        if not len(self.places):
            return
        if self._solving is not None:
            out = np.empty(y.shape)
            evaluate_rows(self._solving.function, t, (np.ascontiguousarray(y),), out)
            y[:, self.places] = out[:, self.places]
            lost = np.flatnonzero(np.isnan(y[:, self.places]).any(axis=1))
        else:
            lost = np.array([k for k in range(len(t)) if not self._solved(float(t[k]), y[k])], dtype=np.int64)
        if len(lost):
            names = ", ".join(self._problem.labels[k] for k in self.places)
            raise ValueError(
                f"no solution of the equations for {names} was found at t = {t[lost[0]]:g}, between two steps; tighten "
                "the tolerances, or give t_eval"
            )

    def rates(self, of: MachineFunction) -> MachineFunction | None:
        """Rates at states with these unknowns, which have none, by a function of (t, y); None without machine code."""
        return None if self._solving is None else self._solving.rates(of)

    @cached_property
    def _block(self) -> Any:
        """Row and column of the equations and unknowns, and place in the data of the sparse Jacobian, of each entry of
        their block, (entries, 3)."""
        number = {int(place): k for k, place in enumerate(self.places)}
        sparsity = self._problem.sparsity
        found = [
            (number[int(sparsity.indices[k])], j, k)
            for j, place in enumerate(self.places)
            for k in range(sparsity.indptr[place], sparsity.indptr[place + 1])
            if int(sparsity.indices[k]) in number
        ]
        return np.array(found, dtype=np.int64).reshape(-1, 3)

    @cached_property
    def _solving(self) -> Solving | None:
        problem = self._problem
        workspace = problem.workspace
        if not workspace.memory.traced or workspace.code_calls_python:
            return None
        residual, jacobian = (problem.callbacks.machine(name) for name in ("residual", "jacobian_data"))
        sizes = problem.n, problem.n_equations, problem.sparsity.nnz
        try:
            return Solving(residual, jacobian, sizes, self.places, self._block)
        except NoMachineCode:
            return None

    def _solved(self, t: float, y: Vec) -> bool:
        """Write the solution into one state; whether there is one."""
        problem, places = self._problem, self.places
        rows, columns, of_data = self._block.T
        call, zero, first = problem.callbacks, np.zeros(problem.n), y[places]
        F, data = np.empty(problem.n_equations), np.empty(problem.sparsity.nnz)
        J = np.zeros((len(places), len(places)))
        for _ in range(MOST):
            call.residual(t, y, zero, F)
            call.jacobian_data(t, y, zero, 0.0, data)
            J[rows, columns] = data[of_data]
            try:
                step = np.linalg.solve(J, F[places])
            except np.linalg.LinAlgError:
                return False
            y[places] -= step
            if np.all(np.abs(step) <= SMALL * np.maximum(np.abs(y[places]), np.abs(y[places] - first))):
                return True
        return False
