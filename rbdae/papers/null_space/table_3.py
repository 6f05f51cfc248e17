"""[NS] Table 3: the codes, and which solver stands for each."""

from __future__ import annotations

from typing import Final

import rbdae
from rbdae.papers.finding import Cell, Comparison, Finding, at_least, at_most, close
from rbdae.papers.item import Item
from rbdae.papers.null_space.equations import problem
from rbdae.papers.null_space.references import errors, reference

_CODES: Final[dict[str, tuple[str, ...]]] = {
    "DoPri5": ("rbdae:dopri5", "assimulo:Dopri5"),
    "DoP853": ("rbdae:dop853", "scipy:DOP853"),
    "Odex": ("rbdae:odex",),
    "Radau5": ("assimulo:Radau5ODE", "scipy:Radau"),
    "Dassl/Daspk": ("scikits.odes:ddaspk",),
    "Seulex": (),
    "Ode45": ("scipy:RK45",),
    "Ode15s": ("scipy:BDF",),
}
_NOWHERE = "no package of PyPI or Debian has the code"
_T_END = 1.0


def _run(quick: bool) -> Finding:
    known = {info.name: info for info in rbdae.solvers()}
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    lacking: list[str] = []
    for code, solvers in _CODES.items():
        there = [name for name in solvers if name in known]
        if not there:
            compared.append(close(f"{code}: solvers", 0, 0, says="used", differs=_NOWHERE))
            rows.append((code, "none", 0, 0.0))
            continue
        compared.append(at_least(f"{code}: solvers", len(there), 1, says="used"))
        for name in there:
            if not known[name].available:
                lacking.append(f"not run: {name} needs {known[name].package}; run {known[name].install}")
                continue
            run = rbdae.solve(problem("A", "q42"), (0.0, _T_END), solver=name, rtol=1e-6, atol=1e-6)
            error = errors(run, reference("A", _T_END)).position
            rows.append((code, name, run.stats.evaluations, error))
            compared.append(at_most(f"{code}, {name}: error of R in Example A, 1 s", error, 1e-3))
    return Finding(("code", "solver", "evaluations", "error"), rows, tuple(compared), tuple(lacking))


ITEM: Final = Item(
    name="ns-table-3",
    paper="null_space",
    place="Table 3",
    says="DoPri5, DoP853, Odex, Radau5, Dassl/Daspk and Seulex are used, with Ode45 and Ode15s of Matlab.",
    verdict="agrees in part",
    why="Odex and Seulex are in no package of PyPI or Debian; for each of the others there is a solver.",
    run=_run,
)

__all__ = ["ITEM"]
