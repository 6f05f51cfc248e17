"""The work of every form and solver for an error, as a table.

Runs of one form and solver at several tolerances, or step sizes, make a curve of error over work. The work for an error
is read off this curve, by interpolation of logarithms between the two runs whose errors enclose it: the achieved error
counts, not the requested tolerance. Seconds are processor time.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, Final

import numpy as np

from rbdae import _check
from rbdae.study.one_run import Row

Curve = tuple[str, str]
"""Form and method, as `Case.curve`."""

RANKED: Final[dict[str, str]] = {
    "error": "of the end state, relative",
    "form": "formulation, rotation, velocity",
    "solver": "",
    "seconds": "processor time, interpolated between the tolerances whose errors enclose this one",
    "evaluations": "interpolated likewise",
    "energy": "largest relative error of the balance in the loosest run with this accuracy",
    "drift_position": "of the same run",
    "tolerance": "of the same run",
    "step": "of the same run, s; empty for a method with step control",
    "order": "observed: the slope of the error's logarithm over that of the step size, or of the tolerance",
}
"""Columns of `Comparison.ranking` and their meaning."""

OVERHEAD: Final = 5e-3
"""A shorter run, s, says more about the calls than about the equations: it is fastest by nothing but overhead."""

_TARGETS = (1e-3, 1e-6, 1e-9)


def curves_of(rows: Iterable[Row]) -> dict[Curve, list[Row]]:
    """Rows that reached the end, by form and solver, from the loosest tolerance or largest step."""
    out: dict[Curve, list[Row]] = {}
    for row in rows:
        if row.errors is not None:
            out.setdefault(row.case.curve, []).append(row)
    return {curve: sorted(of, key=lambda row: -row.case.knob) for curve, of in out.items()}


def error_of(row: Row) -> float:
    """The largest error of a run, but at least rounding."""
    return math.nan if row.errors is None else max(row.errors.largest, 1e-16)


def observed_order(ordered: Iterable[Row], floor: float = 0.0) -> float:
    """The slope of the error's logarithm over that of the step size, or of the tolerance, by least squares over the
    runs of a curve with errors above a floor; NaN for fewer than two."""
    points = {row.case.knob: error_of(row) for row in ordered if not error_of(row) <= floor}
    if len(points) < 2:
        return math.nan
    return float(np.polyfit(np.log([*points]), np.log([*points.values()]), 1)[0])


def failures(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Runs that failed by reason, the most frequent first."""
    out: dict[str, list[Row]] = {}
    for row in rows:
        if row.failure:
            out.setdefault(row.reason, []).append(row)
    return dict(sorted(out.items(), key=lambda item: -len(item[1])))


def named(rows: Iterable[Row], most: int = 12) -> str:
    """The forms, solvers and tolerances of runs, of so many curves at most."""
    of: dict[tuple[str, str], list[str]] = {}
    for row in rows:
        of.setdefault(row.case.curve, []).append(row.case.at)
    said = [f"{form}: {method} at {', '.join(at)}" for (form, method), at in of.items()]
    return "; ".join(said[:most] + ([f"and {len(said) - most} more"] if len(said) > most else []))


def rank(rows: Iterable[Row], errors: Iterable[float] | None = None, floor: float = 0.0) -> Any:
    """See `Comparison.ranking`; errors below a floor say nothing about orders."""
    pandas = _check.package("a ranking", "pandas")
    curves = curves_of(rows)
    targets = _default(list(curves.values())) if errors is None else _check.positives("ranking", "errors", errors)
    orders = {curve: observed_order(of, floor) for curve, of in curves.items()}
    lines = [(error, *curve, *_work(of, error), orders[curve]) for error in targets for curve, of in curves.items()]
    table = pandas.DataFrame(lines, columns=list(RANKED))
    return table.sort_values(["error", "seconds"], ascending=[False, True], kind="stable", ignore_index=True)


def sentences(ranking: Any) -> list[str]:
    """For each error the pairs of form and solver that reach it with the least time and the fewest evaluations."""
    out = []
    for error, of in ranking.groupby("error", sort=False):
        reached = of[of["seconds"] != math.inf]
        if reached.empty:
            out.append(f"No run has an error of {error:.0e} or less.")
            continue
        first = reached.iloc[0]
        said = [f"the fastest is {first['form']} with {first['solver']} ({_time(first['seconds'])})"]
        if quick := int((reached["seconds"] < OVERHEAD).sum()):
            said = [f"no time tells a winner ({quick} take less than {_time(OVERHEAD)}: call overhead)"]
        if reached["evaluations"].notna().any():
            least = reached.loc[reached["evaluations"].idxmin()]
            pair = f"{least['form']} with {least['solver']}"
            said.append(f"the fewest evaluations has {pair} ({least['evaluations']:.0f})")
        much = f"{len(reached)} of {len(of)} pairs of form and solver reach"
        out.append(f"To an error of {error:.0e}, which {much}, {', '.join(said)}.")
    return out or ["No run reached the end."]


def advice(ranking: Any) -> list[str]:
    """A sentence that says which pair to take for the smallest error that any reaches: the fastest, or among times of
    call overhead the one with the fewest evaluations."""
    reached = ranking[ranking["seconds"] != math.inf]
    reached = reached[reached["error"] == reached["error"].min()]
    quick = reached[reached["seconds"] < OVERHEAD].sort_values(["evaluations", "seconds"])
    for best in (reached if quick.empty else quick).head(1).itertuples():
        at = f"a tolerance of {best.tolerance:.0e}" if math.isnan(best.step) else f"steps of {best.step:g} s"
        least = f"the fewest evaluations ({best.evaluations:.0f}; times below {_time(OVERHEAD)} are call overhead)"
        work = f"in the least time ({_time(best.seconds)})" if quick.empty else f"with {least}"
        kept = f"a drift of {best.drift_position:.0e} and an energy to {best.energy:.0e}"
        return [f"Take {best.form} with {best.solver} at {at}: an error of {best.error:.0e} {work}, with {kept}."]
    return []


def _default(curves: Sequence[Sequence[Row]]) -> list[float]:
    """The errors of `_TARGETS` that at least half of the curves reach, or else the decade that half reach."""
    reached = sorted(min(map(error_of, rows)) for rows in curves)
    if not reached:
        return []
    half, loosest = reached[len(reached) // 2], float(np.median([max(map(error_of, rows)) for rows in curves]))
    return [e for e in _TARGETS if half <= e <= 10.0 * loosest] or [10.0 ** math.ceil(math.log10(half))]


def _work(ordered: Sequence[Row], error: float) -> tuple[float, ...]:
    """The columns of `RANKED` after the solver, for one curve; infinite work if no run has so small an error."""
    number = next((k for k, row in enumerate(ordered) if error_of(row) <= error), None)
    if number is None:
        return (math.inf, math.inf, *[math.nan] * 4)
    tight = ordered[number]
    before = ordered[number - 1] if number else tight
    share = 1.0
    if error_of(before) > error:
        share = math.log(error_of(before) / error) / math.log(error_of(before) / error_of(tight))
    work = (_between(getattr(before.stats, of), getattr(tight.stats, of), share) for of in ("seconds", "evaluations"))
    step = math.nan if tight.case.step is None else tight.case.step
    return (*work, tight.energy_error, tight.position_drift, tight.case.tolerance, step)


def _between(a: float, b: float, share: float) -> float:
    """Interpolation of logarithms; NaN for missing counts."""
    if a <= 0.0 or b <= 0.0:
        return math.nan
    return math.exp((1.0 - share) * math.log(a) + share * math.log(b))


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"
