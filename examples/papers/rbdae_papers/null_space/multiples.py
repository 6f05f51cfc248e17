"""Work of forms as multiples of each other, solver by solver, at one error of a study."""

from __future__ import annotations

import math
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np


def ratios(ranking: Any, form: str, to: str, what: str = "evaluations") -> dict[str, float]:
    """Work of a form as a multiple of another's, for each solver that has run both.

    Parameters
    ----------
    ranking : `rbdae.study.Comparison.ranking` of one error
    form, to : as in `Case.form`, such as ``"null-space, quaternion, angular"``
    what : ``"evaluations"`` or ``"seconds"``

    Returns
    -------
    dict
        By solver; infinite if only `to` reaches the error, 0 if only `form` does. Solvers with which neither does, or
        without counts, are left out
    """
    work = _by_curve(ranking, what)
    pairs = {method: (work[form, method], work.get((to, method))) for name, method in work if name == form}
    return {
        method: 0.0 if math.isinf(under) else over / under
        for method, (over, under) in pairs.items()
        if under is not None and not math.isnan(over + under) and not (math.isinf(over) and math.isinf(under))
    }


def _by_curve(ranking: Any, column: str) -> dict[tuple[str, str], float]:
    """A column of a ranking by form and solver."""
    return dict(zip(zip(ranking["form"], ranking["solver"], strict=True), ranking[column], strict=True))


def winners(ranking: Any) -> dict[str, str]:
    """The form with the fewest evaluations by solver."""
    counted = ranking[np.isfinite(ranking["evaluations"])]
    best = counted.loc[counted.groupby("solver", sort=False)["evaluations"].idxmin()]
    return dict(zip(best["solver"], best["form"], strict=True))


def mean_ratio(of: Mapping[str, float]) -> float:
    """The geometric mean of finite ratios; NaN without any."""
    finite = [math.log(ratio) for ratio in of.values() if 0.0 < ratio < math.inf]
    return math.exp(fmean(finite)) if finite else math.nan


def multiples(ranking: Any, to: str, operations: Mapping[str, int] | None = None) -> str:
    """The work for an error as multiples of one form's, solver by solver, as a table.

    There is a line for each form that shares solvers with `to`, the best first: its evaluations as multiples, a dash if
    it does not reach the error, "alone" if `to` does not; then their geometric mean, the mean of seconds, and the
    operations of an evaluation.

    Parameters
    ----------
    ranking : `rbdae.study.Comparison.ranking` of one error
    to : the form whose evaluations are 1, as in `Case.form`
    operations : operations of an evaluation by form; None omits the column
    """
    counts = _by_curve(ranking, "evaluations")
    methods = sorted(method for form, method in counts if form == to)
    forms = dict.fromkeys(form for form, method in counts if method in methods)
    heads = [*methods, "mean", "seconds", *([] if operations is None else ["operations"])]
    lines: list[tuple[int, float, str, list[str]]] = []
    for form in forms:
        work, time = ratios(ranking, form, to), ratios(ranking, form, to, "seconds")
        cells = [_multiple(work.get(method), counts.get((form, method))) for method in methods]
        means = [mean_ratio(work), mean_ratio(time)]
        cells += ["-" if math.isnan(mean) else f"x {mean:.2f}" for mean in means]
        cells += [] if operations is None else [str(operations.get(form, "-"))]
        lines.append((cells.count("-"), means[0], form, cells))
    # names of solvers are split over lines, the last one at the bottom
    split = [head.replace(":", ":\n").replace(" (", "\n(").split("\n") for head in ("", *heads)]
    deep = max(map(len, split))
    above = [[""] * (deep - len(name)) + name for name in split]
    rows = [*map(list, zip(*above, strict=True)), *([form, *cells] for *_, form, cells in sorted(lines))]
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    text = [[f"{row[0]:{widths[0]}}", *(f"{row[k]:>{widths[k]}}" for k in range(1, len(row)))] for row in rows]
    return "\n".join("".join(cells).rstrip() for cells in text)


def _multiple(ratio: float | None, count: float | None) -> str:
    """A multiple; for the reference form the count itself."""
    if ratio is None or math.isinf(ratio):
        return "-"
    if ratio == 0.0:
        return "alone"
    return f"{count:.0f}" if ratio == 1.0 and count is not None else f"x {ratio:.2f}"
