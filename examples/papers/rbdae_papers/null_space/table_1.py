"""[NS] Table 1: operations of the right-hand sides."""

from __future__ import annotations

from typing import Final

import rbdae
from rbdae_papers.finding import Cell, Comparison, Finding, at_least, at_most, claim, close, expect, near
from rbdae_papers.item import Settings, item, numbers
from rbdae_papers.null_space.equations import FORMS, LEGEND, MODELS, NAMES, problem
from rbdae_papers.null_space.work import SUPERIOR

_UNIT: Final = "q40 |p| = 1"
_NAMES: Final[dict[str, str]] = {**NAMES, _UNIT: f"{NAMES['q40']} with norm='unit'"}
_WHY: Final[dict[str, str]] = {
    "q42": "products replace quotients, J Omega takes three more, and pdot is halved in place of Omega",
    "d25": "products replace quotients, and J Omega takes three more",
    "E66": "four of its five quotients are products here, and it has one sum more",
    "q40": "Table 1 assumes |p| = 1; here f holds for every norm, as drift requires",
    _UNIT: "conj(p) pdot and the map back by p take most of the products; p . pdot = 0 is not used",
    "d23": "closed forms replace the LU decomposition, so it is cheaper",
}


def _run(how: Settings) -> Finding:
    known, keys = numbers("null_space", "ns-table-1"), {_UNIT: "unit"}
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    totals: dict[tuple[str, str], int] = {}
    for weight, gravity in (("without weight", 0.0), ("Example A", 9.81)):
        problems = {form: problem("A", form, gravity=gravity) for form in FORMS}
        top, (form_name, options) = MODELS["A"](gravity=gravity), FORMS["q40"]
        problems[_UNIT] = rbdae.formulate(top, form_name, norm="unit", **options)
        for form, of in problems.items():
            for name in ("rhs", "rhs_jacobian"):
                if name == "rhs_jacobian" and gravity and how.quick:
                    continue
                found = of.callbacks.operations(name)
                counts = found.additions, found.subtractions, found.negations, found.multiplications
                others = found.reciprocals, found.square_roots, sum(found.functions.values()), found.total
                rows.append((form, weight, name, *counts, *others))
                if gravity:
                    continue
                quantity, key, totals[form, name] = (
                    f"{_NAMES[form]}: operations of {name}",
                    keys.get(form, form),
                    found.total,
                )
                if name == "rhs_jacobian":
                    compared.append(expect(quantity, found.total, at_most(known["jacobians"][key])))
                    continue
                count, says = known["printed"][key]
                exact = known["exact"].get(key)
                own = at_most(known["largest"][key]) if exact is None else close(exact)
                paper = near(count, 0.05) if form == "d23" else close(count)  # "about"
                compared.append(claim(quantity, found.total, paper, says, expected=own, why=_WHY[form]))
    for name, says in (("rhs", "null space cheaper"), ("rhs_jacobian", "the same holds for the Jacobian, (vi)")):
        for over, under in SUPERIOR:
            ratio = totals[over, name] / totals[under, name]
            compared.append(claim(f"operations of {name}, {over} : {under}", ratio, at_least(1.0), says))
    names = "additions", "subtractions", "negations", "multiplications", "reciprocals", "roots", "functions", "total"
    remark = "Body about a fixed point in principal axes; quotients by numbers of the model are products."
    jacobians = ", ".join(f"{form} {totals[form, 'rhs_jacobian']}" for form in FORMS)
    return Finding(("form", "moment", "callback", *names), rows, tuple(compared), remarks=(LEGEND, remark),
                   sentence=f"Jacobians have {jacobians} operations.")  # fmt: skip


ITEM: Final = item("ns-table-1", _run)
