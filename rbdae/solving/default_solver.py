"""The solver of a run that names none."""

from __future__ import annotations

from typing import Final

from rbdae.adapter import Unsupported
from rbdae.problem.contract import Solvable
from rbdae.solving.registry import adapter, methods_for

_PREFERRED: Final = (
    "rbdae:dop853",
    "sundials:ida",
    "sksundae:ida",
    "scikits.odes:ida",
    "solve_dae:Radau",
    "assimulo:Radau5DAE",
    "assimulo:ODASSL",
)
"""Explicit, then DAEs by variable order and the least time for a right digit, then overdetermined forms."""

_OF_FIXED_STEPS: Final = ("rbdae:energy-momentum", "rbdae:variational", "rbdae:simo-wong", "rbdae:midpoint")


def default_solver(problem: Solvable, step: float | None = None) -> str:
    """The first solver of a list that is installed and takes the problem; of those that keep invariants with a `step`.

    Raises
    ------
    Unsupported
        if none is installed, with those that would take it, and if no method of fixed steps takes the problem
    """
    able = methods_for(problem)
    names = [name for name, method in able.items() if method.fixed_step == (step is not None)]
    for name in _PREFERRED if step is None else _OF_FIXED_STEPS:
        if name in names and adapter(name.partition(":")[0]).version() is not None:
            return name
    form = problem.formulation
    if step is not None:
        raise Unsupported(
            f"solve: no solver is named, and step= is for those of fixed steps, which keep invariants: none of them "
            f"takes {form!r}; leave step out, or name a solver"
        )
    raise Unsupported(
        f"solve: no solver is named, and none that would be chosen for {form!r} is installed; those that take it are "
        f"{', '.join(names)}: `pip install scikit-sundae` brings one, or choose an ODE form such as 'null-space'"
    )


__all__ = ["default_solver"]
