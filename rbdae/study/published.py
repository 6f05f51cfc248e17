"""The table of a study as papers print it: LaTeX with the rules of booktabs, by the styles of pandas."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any, Final

from rbdae import _check
from rbdae.study.ranking import OVERHEAD

_TEXTS: Final = {name: name for name in ("formulation", "rotation", "velocity", "solver")}
_GIVEN: Final = {"tolerance": "tolerance", "step": "step [s]", "steps": "steps"}
_MERITS: Final = {"error": "error", "evaluations": "evaluations", "drift_position": "drift [SI]", "energy": "energy"}
PUBLISHED: Final[dict[str, str]] = {**_TEXTS, **_GIVEN, **_MERITS, "seconds": "time [ms]"}
"""Columns of `Comparison.to_latex`, with their heads."""


def latex(frame: Any, floor: float, columns: Iterable[str] | None, **options: Any) -> str:
    """See `Comparison.to_latex`; errors below a floor are bounds, and times of call overhead no best."""
    _check.package("to_latex", "jinja2")
    asked = [*PUBLISHED] if columns is None else _check.known("columns", "column", columns, PUBLISHED)
    names = [name for name in asked if columns is not None or frame[name].nunique(dropna=False) > 1]
    texts = [name for name in names if name in _TEXTS]
    style = frame[names].style.hide(axis="index").format(subset=texts, escape="latex")
    for name in (name for name in names if name not in texts):
        style = style.format(partial(_number, name, floor), subset=[name], na_rep="--")
        if name not in _GIVEN:
            least = {"error": floor, "seconds": OVERHEAD}.get(name, 0.0)
            style = style.apply(_best, subset=[name], at=frame["step"].fillna(frame["tolerance"]), least=least)
    style = style.format_index(PUBLISHED.__getitem__, axis="columns")
    form = "".join("l" if name in texts else "r" for name in names)
    out: str = style.to_latex(column_format=form, hrules=True, **options)
    return out


def _best(column: Any, at: Any, least: float) -> Any:
    """Bold for the smallest value of each tolerance or step size, unless it is below a limit, or all are equal."""
    groups = column.astype("float64").groupby(at)
    smallest = groups.transform("min")
    best = (column == smallest) & (smallest >= least) & (groups.transform("max") > smallest)
    return best.map({True: "boldmath:--wrap;", False: ""})


def _number(name: str, floor: float, x: float) -> str:
    """A number in mathematics, with a power of ten unless it is a count or a time."""
    if name in ("evaluations", "steps", "seconds"):
        return f"${1e3 * x:.3g}$" if name == "seconds" else f"${x:.0f}$"
    bound = name == "error" and x < floor
    mantissa, _, exponent = f"{floor if bound else x:.1e}".partition("e")
    power = f"{mantissa} \\cdot 10^{{{int(exponent)}}}".replace("1.0 \\cdot ", "")
    return f"${'<' * bound}{power if x else 0}$"
