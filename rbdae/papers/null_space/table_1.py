"""[NS] Table 1: operations of the right-hand sides."""

from __future__ import annotations

from typing import Final

import rbdae
from rbdae.papers.finding import Cell, Comparison, Finding, at_most, close
from rbdae.papers.item import Item
from rbdae.papers.null_space.equations import FORMS, MODELS, NAMES, problem

_PAPER: Final[dict[str, str]] = {
    "q42": "36: +5 -7 *18 /6",
    "d25": "39: -12 *24 /3",
    "q40": "52: +17 -4 *24 /3, 4 squares",
    "q40 |p| = 1": "52: +17 -4 *24 /3, 4 squares",
    "d23": "+16 -1 *10, 9 squares, LU of 15 x 15 (about 2,500)",
    "E66": "30: +2 -5 *14 /5, 2 sin, 2 cos",
}
_EXACT: Final[dict[str, tuple[int, str]]] = {
    "q42": (
        40,
        "28 products stand for 18 and 6 quotients: J Omega takes three more, and pdot is halved in place of Omega",
    ),
    "d25": (42, "30 products stand for 24 and 3 quotients: J Omega takes three more"),
    "E66": (29, "four of its five quotients are products here, and it has one sum more"),
}
_LARGEST: Final[dict[str, tuple[int, str]]] = {
    "q40": (129, "Table 1 takes |p| = 1 for granted; here f is right for every norm, as drift needs it"),
    "q40 |p| = 1": (
        77,
        "conj(p) pdot and what is mapped back by p take 32 of the 46 products; p . pdot = 0 is not used",
    ),
    "d23": (291, ""),
}
_JACOBIANS: Final[dict[str, int]] = {"q42": 40, "d25": 39, "E66": 59, "q40": 848, "q40 |p| = 1": 597, "d23": 1930}
_QUICK = ("q42", "d25", "E66")
_UNIT: Final = "q40 |p| = 1"
_NAMES: Final[dict[str, str]] = {**NAMES, _UNIT: f"{NAMES['q40']} with norm='unit'"}


def _run(quick: bool) -> Finding:
    rows: list[tuple[Cell, ...]] = []
    compared: list[Comparison] = []
    for weight, gravity in (("without weight", 0.0), ("Example A", 9.81)):
        problems = {form: problem("A", form, code="traced", gravity=gravity) for form in FORMS}
        top, (form_name, options) = MODELS["A"](gravity=gravity), FORMS["q40"]
        problems[_UNIT] = rbdae.formulate(top, form_name, norm="unit", code="traced", **options)
        for form, of in problems.items():
            callbacks = of.callbacks
            for name in ("rhs", "rhs_jacobian"):
                if name == "rhs_jacobian" and quick and form not in _QUICK:
                    continue
                found = callbacks.operations(name)
                counts = found.additions, found.subtractions, found.negations, found.multiplications
                others = found.reciprocals, found.square_roots, sum(found.functions.values()), found.total
                rows.append((form, weight, name, *counts, *others))
                if gravity:
                    continue
                quantity = f"{_NAMES[form]}: operations of {name}"
                if name == "rhs_jacobian":
                    compared.append(at_most(quantity, found.total, _JACOBIANS[form]))
                elif form in _EXACT:
                    expected, why = _EXACT[form]
                    compared.append(close(quantity, found.total, expected, says=_PAPER[form], differs=why))
                else:
                    bound, why = _LARGEST[form]
                    compared.append(at_most(quantity, found.total, bound, says=_PAPER[form], differs=why))
    names = "additions", "subtractions", "negations", "multiplications", "reciprocals", "roots", "functions", "total"
    remark = "Body about a fixed point in principal axes; quotients by numbers of the model are products."
    return Finding(("form", "moment", "callback", *names), rows, tuple(compared), remarks=(remark,))


ITEM: Final = Item(
    name="ns-table-1",
    paper="null_space",
    place="Table 1",
    says="A right-hand side has 36 and 39 operations with the null space, 52 in quaternions and an LU decomposition of "
    "15 x 15 in directors with index 0, 30 with Euler angles.",
    verdict="agrees in part",
    why="It has 40, 42 and 29 with the null space and Euler angles, where products stand for quotients; index 0 has "
    "129 and 291, for every norm of p and by closed forms in place of the LU decomposition, and 77 with norm='unit', "
    "which takes the unit norm for granted as the paper does.",
    run=_run,
)

__all__ = ["ITEM"]
