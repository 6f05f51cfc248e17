"""A sparse linear solver for scikits.odes' IDA: Krylov iterations on equations that are preconditioned from the left.

The package has no sparse direct solver, and cannot call a preconditioner in IDA: `_prec_solvefn` of its `ida.pyx` reads
``aux_data.r_vec``, which does not exist, and omits an argument. The AttributeError is printed and IDA continues with
what was in memory (3.0.0; https://github.com/bmcage/odes/pull/200 mends it). Its setup function is called, however,
whatever `precond_type` says, and so are products with the Jacobian. Therefore

- the residual handed over is P^-1 F, with P = dF/dy + cj dF/dyp of the last setup, factorised by SuperLU: the Krylov
  method sees what it would see with P as its left preconditioner, and Newton's method has the same solutions;
- `prec_setupfn` factorises; `precond_type` "NONE" has IDA call it without the solve function, which never runs;
- products are P^-1 (J v), with J at the present state and cj. IDA evaluates the residual before it asks for a new P:
  products take the P that the last residual had.

The error test is unchanged: it sees only the corrections of the unknowns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix
from scipy.sparse.linalg import splu

from rbdae._arrays import Vec
from rbdae.adapter import Solvable

_REPEAT = 1
"""SUNDIALS' code for a failure that a smaller step may mend."""


def preconditioned(problem: Solvable, cj: float) -> tuple[Callable[[float, Vec, Vec, Vec], None], dict[str, Any]]:
    """The residual P^-1 F, and IDA's options that belong to it; `cj` is for the first residual."""
    residual, data = problem.callbacks.residual, problem.callbacks.jacobian_data
    pattern = csc_matrix(problem.sparsity)
    matrix = csc_matrix((np.zeros(pattern.nnz), pattern.indices, pattern.indptr), pattern.shape)
    product = matrix.dot
    at: tuple[float, float, Vec, Vec] | None = None  # at which `matrix` was evaluated
    newest: Any = None
    used: Any = None  # P in the last residual

    def evaluate(t: float, y: Vec, yp: Vec, cj: float) -> None:
        nonlocal at
        if at is not None and at[:2] == (t, cj) and np.array_equal(at[2], y) and np.array_equal(at[3], yp):
            return
        at = None
        data(t, y, yp, cj, matrix.data)
        at = (t, cj, y.copy(), yp.copy())

    def factorise(t: float, y: Vec, yp: Vec, cj: float) -> int:
        nonlocal newest
        evaluate(t, y, yp, cj)
        if not np.isfinite(matrix.data).all():
            return _REPEAT
        try:
            newest = splu(matrix, permc_spec="COLAMD")
        except RuntimeError:  # singular
            return _REPEAT
        return 0

    def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
        nonlocal used
        if newest is None:
            factorise(t, y, yp, cj)
        residual(t, y, yp, res)
        used = newest
        if used is not None:
            res[:] = used.solve(res)

    def prec_setupfn(t: float, y: Vec, yp: Vec, res: Vec, cj: float) -> int:
        return factorise(t, y, yp, cj)

    def prec_solvefn(t: float, y: Vec, yp: Vec, r: Vec, rvec: Vec, z: Vec, cj: float, delta: float) -> int:
        raise AssertionError("IDA asks for no solution with precond_type = 'NONE'")

    def jac_times_setupfn(t: float, y: Vec, yp: Vec, res: Vec, cj: float) -> None:
        evaluate(t, y, yp, cj)

    # the package passes the residual in place of the documented time
    def jac_times_vecfn(_: Any, y: Vec, yp: Vec, res: Vec, v: Vec, Jv: Vec, cj: float) -> None:
        Jv[:] = product(v) if used is None else used.solve(product(v))

    return resfn, {
        "precond_type": "NONE",
        "prec_setupfn": prec_setupfn,
        "prec_solvefn": prec_solvefn,
        "jac_times_setupfn": jac_times_setupfn,
        "jac_times_vecfn": jac_times_vecfn,
    }


__all__ = ["preconditioned"]
