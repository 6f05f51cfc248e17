"""[NS] Table 3: the codes, with the solver used for each."""

from __future__ import annotations

from typing import Final

import rbdae
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, expect
from rbdae_papers.item import Settings, item, missing, numbers
from rbdae_papers.null_space.equations import problem
from rbdae_papers.null_space.references import errors, reference

_T_END = 1.0


def _run(how: Settings) -> Finding:
    known = {info.name: info for info in rbdae.solvers()}
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    codes = numbers("null_space", "ns-table-3")
    without = []
    for code, solvers in codes.items():
        there = [name for name in solvers if name in known and known[name].available]
        for name in there:
            run = rbdae.solve(problem("A", "q42"), (0.0, _T_END), solver=name, rtol=1e-6, atol=1e-6)
            error = errors(run, reference("A", _T_END)).position
            rows.append((code, name, run.stats.evaluations, error))
            compared.append(expect(f"{code}, {name}: error of R in Example A, 1 s", error, at_most(1e-3)))
        if not there:
            without += [code] * (not solvers)
            rows.append((code, "none", 0, float("nan")))
        if there or not solvers:
            why = "no package of PyPI or Debian has the code"
            compared.append(claim(f"{code}: solvers", len(there), at_least(1), "used", why=why))
    lacking = missing(name for solvers in codes.values() for name in solvers)
    sentence = (
        f"{len(codes) - len(without)} of the {len(codes)} codes have a solver; without one: {', '.join(without)}."
    )
    return Finding(("code", "solver", "evaluations", "error"), rows, tuple(compared), lacking, sentence=sentence)


ITEM: Final = item("ns-table-3", _run)
