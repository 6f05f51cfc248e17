"""The arguments of IDA and CVODE: callbacks in the package's signatures, tolerances, linear solvers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Solvable, Unsupported
from rbdae_adapters._sundials import MAX_STEPS, ResidualNative, RhsNative, algebraic, first_step, tolerances

KRYLOV_FROM = 100
"""Unknowns from which IDA's default for constrained forms is "spgmr" with a sparse factorisation, in place of "dense".
On the chain the times cross here."""

_DENSE = frozenset({"dense", "lapackdense"})
_PRECONDITIONER = ("precond_type", "prec_setupfn", "prec_solvefn")
_KRYLOV = {"ida": frozenset({"spgmr", "sptfqmr"}), "cvode": frozenset({"spgmr", "spbcgs", "sptfqmr"})}


def ida(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> ResidualNative:
    """The arguments that ``IDA(p.resfn, **p.options)`` takes."""
    residual, jacobian = problem.callbacks.residual, problem.callbacks.jacobian
    options = dict(given)
    if problem.kind == "dae" and problem.index < 3 and problem.n >= KRYLOV_FROM:
        options.setdefault("linsolver", "spgmr")
    linsolver = _linear_solver(problem, "ida", options)

    def resfn(t: float, y: Vec, yp: Vec, res: Vec) -> None:
        residual(t, y, yp, res)

    def jacfn(t: float, y: Vec, yp: Vec, res: Vec, cj: float, J: Mat) -> None:
        jacobian(t, y, yp, cj, J)

    if linsolver in _DENSE:
        options["jacfn"] = jacfn
    requested = rtol
    options["rtol"], options["atol"] = tolerances(problem, rtol, atol)
    options["compute_initcond"] = None
    if problem.kind == "dae":
        options |= algebraic(problem)
    options.setdefault("first_step_size", first_step(problem, requested))
    options.setdefault("max_steps", MAX_STEPS)  # the package's own 500 end a run between two outputs
    native: Callable[[float, Vec, Vec, Vec], None] = resfn
    if problem.kind == "dae" and linsolver in _KRYLOV["ida"]:
        from rbdae_adapters.scikits_odes._krylov import preconditioned  # it imports scipy.sparse

        native, ours = preconditioned(problem, 1.0 / (options["first_step_size"] or first_step(problem, requested)))
        options |= ours
    y0, yd0 = np.array(problem.y0, dtype=float), np.array(problem.yd0, dtype=float)
    return ResidualNative(native, jacfn, y0, yd0, problem.t0, options)


def cvode(problem: Solvable, rtol: float, atol: float | Vec, given: dict[str, Any]) -> RhsNative:
    """The arguments that ``CVODE(p.rhsfn, **p.options)`` takes."""
    rhs, callbacks = problem.callbacks.rhs, problem.callbacks  # asking for the Jacobian allocates memory of its size
    options = dict(given)
    if "lmm" in options and "lmm_type" in options:
        raise Unsupported("scikits.odes:cvode was given both 'lmm' and 'lmm_type', which are the same; give one")
    options["lmm_type"] = options.pop("lmm", options.get("lmm_type", "adams"))
    linsolver = _linear_solver(problem, "cvode", options)

    def rhsfn(t: float, y: Vec, yp: Vec) -> None:
        rhs(t, y, yp)

    def jacfn(t: float, y: Vec, fy: Vec, J: Mat) -> None:
        callbacks.rhs_jacobian(t, y, J)

    if linsolver in _DENSE and options.get("nonlinsolver", "newton").lower() == "newton":
        options["jacfn"] = jacfn
    options["rtol"], options["atol"] = rtol, atol
    options.setdefault("max_steps", MAX_STEPS)
    return RhsNative(rhsfn, jacfn, np.array(problem.y0, dtype=float), problem.t0, options)


def _linear_solver(problem: Solvable, method: str, options: dict[str, Any]) -> str:
    """The linear solver's name; refused if the package would drop our Jacobian or could not converge."""
    if "nonlin_conv_coef" in options and options["nonlin_conv_coef"] != int(options["nonlin_conv_coef"]):
        raise Unsupported(
            f"scikits.odes 3.0 cuts nonlin_conv_coef={options['nonlin_conv_coef']} to an integer; "
            "tighten rtol and atol instead"
        )
    name = str(options.get("linsolver", "dense")).lower()
    known = _DENSE | _KRYLOV[method]
    if name not in known:
        raise Unsupported(
            f"scikits.odes:{method} does not run with linsolver={name!r} and an analytic Jacobian; "
            f"take one of {', '.join(sorted(known))}, or sksundae:ida, which has a sparse one"
        )
    if method == "ida":
        given = [k for k in _PRECONDITIONER if options.get(k) is not None]
        if given:
            raise Unsupported(
                f"scikits.odes 3.0 fails inside IDA when it calls a preconditioner, so {given[0]!r} cannot be had; "
                "constrained forms get our sparse factorisation with linsolver='spgmr' or 'sptfqmr'"
            )
        if name in _KRYLOV[method] and problem.kind == "dae" and problem.index == 3:
            raise Unsupported(
                f"linsolver={name!r} measures its error with the weights of the error test, which leaves out the "
                f"velocities of {problem.formulation}; take 'dense', an index-2 formulation, or sksundae:ida"
            )
        products = [k for k in ("jac_times_vecfn", "jac_times_setupfn") if options.get(k) is not None]
        if products and name in _KRYLOV[method] and problem.kind == "dae":
            raise Unsupported(f"{products[0]!r} cannot be had: constrained forms take products with our Jacobian")
    return name


__all__ = ["KRYLOV_FROM", "cvode", "ida"]
