"""The form and solver that are the best to reach an error, in words.

Runs of one form and solver at several tolerances, or step sizes, make a curve of error over work. The work that an
error takes is read off this curve, by interpolation of logarithms between the two runs whose errors enclose it: what
counts is the error that a run has, not the tolerance that it was asked for. Seconds are those of the processor.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from statistics import fmean
from typing import final

import numpy as np

from rbdae import _check
from rbdae.study.one_run import Row

Curve = tuple[str, str]
"""Form and method, as `Case.curve`."""

_TARGETS = (1e-3, 1e-6, 1e-9)
_DRIFT = 1e-13
"""Drift that is rounding."""


@final
@dataclass(frozen=True, slots=True)
class Place:
    """The work that one curve takes to reach an error.

    Attributes
    ----------
    curve : form and solver
    seconds, evaluations : interpolated; evaluations are not a number if the package does not count them
    drift, energy : of its run with the loosest tolerance, or the largest steps, that has this error or a smaller one:
        largest violation of the position constraints, and largest error of the energy's balance, relative
    tolerance, step : of that run; no step if the method chooses its own
    """

    curve: Curve
    seconds: float
    evaluations: float
    drift: float
    energy: float
    tolerance: float
    step: float | None = None

    @property
    def name(self) -> str:
        """Form and solver in one string."""
        return f"{self.curve[0]} with {self.curve[1]}"


@final
@dataclass(frozen=True, slots=True)
class Target:
    """An error, and the curves that reach it, the fastest first; `beyond` are those that do not."""

    error: float
    places: tuple[Place, ...]
    beyond: tuple[Curve, ...]

    def best(self, what: str) -> Place:
        """The place with the least ``"seconds"``, ``"evaluations"``, ``"drift"`` or ``"energy"``."""
        values = [getattr(place, what) for place in self.places]
        if what == "drift":
            values = [max(value, _DRIFT) for value in values]
        # the fastest of equals; what is not counted comes last
        return self.places[int(np.argmin([math.inf if math.isnan(v) else v for v in values]))]

    def ratios(self, form: str, to: str, what: str = "evaluations") -> dict[str, float]:
        """Work of a form as a multiple of that of another one, for each solver that has run both.

        Parameters
        ----------
        form, to : as `Case.form`, such as ``"null-space, quaternion, angular"``
        what : ``"evaluations"`` or ``"seconds"``

        Returns
        -------
        dict
            By solver; infinite where `to` alone reaches the error, 0 where `form` alone does. A solver by which neither
            does, or which does not count, is left out
        """
        work = {place.curve: float(getattr(place, what)) for place in self.places} | dict.fromkeys(
            self.beyond, math.inf
        )
        pairs = {method: (work[form, method], work.get((to, method))) for name, method in work if name == form}
        return {
            method: 0.0 if math.isinf(under) else over / under
            for method, (over, under) in pairs.items()
            if under is not None and not math.isnan(over + under) and not (math.isinf(over) and math.isinf(under))
        }

    def winners(self, what: str = "evaluations") -> dict[str, Place]:
        """For each solver its form with the least ``"evaluations"`` or ``"seconds"``."""
        counted = [place for place in self.places if not math.isnan(getattr(place, what))]
        methods = dict.fromkeys(place.curve[1] for place in counted)
        least = attrgetter(what)
        return {name: min((p for p in counted if p.curve[1] == name), key=least) for name in methods}


@final
@dataclass(frozen=True, slots=True)
class Failure:
    """Runs that failed for one reason: the reason, and their forms, solvers and tolerances, or steps."""

    reason: str
    cases: tuple[Row, ...]


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    """A study in words: print it.

    Attributes
    ----------
    targets : errors, the largest first, and who reaches them at what cost
    failures : runs that failed, by reason
    """

    targets: tuple[Target, ...]
    failures: tuple[Failure, ...] = ()

    def __str__(self) -> str:
        said = [_sentence(target) for target in self.targets] or ["No run got to the end."]
        return "\n".join([*said, *_failure_lines(self.failures)])


def curves_of(rows: Iterable[Row]) -> dict[Curve, list[Row]]:
    """Rows that reached the end, by form and solver; of each the loosest tolerance, or the largest step, first."""
    out: dict[Curve, list[Row]] = {}
    for row in rows:
        if row.errors is not None:
            out.setdefault(row.case.curve, []).append(row)
    return {curve: sorted(found, key=lambda row: -row.case.knob) for curve, found in out.items()}


def error_of(row: Row) -> float:
    """The largest error of a run, at least rounding."""
    return math.nan if row.errors is None else max(row.errors.largest, 1e-16)


def rank(rows: Iterable[Row], errors: Iterable[float] | None = None) -> Ranking:
    """See `Comparison.ranking`."""
    rows = list(rows)
    curves = curves_of(rows)
    wanted = _default(list(curves.values())) if errors is None else _checked(errors)
    targets = []
    for error in wanted:
        places = {curve: _place(curve, found, error) for curve, found in curves.items()}
        reached = sorted((p for p in places.values() if p is not None), key=lambda p: p.seconds)
        targets.append(Target(error, tuple(reached), tuple(c for c, found in places.items() if found is None)))
    failed = [row for row in rows if row.failure]
    reasons = Counter(row.reason for row in failed).most_common()
    return Ranking(
        tuple(targets),
        tuple(Failure(reason, tuple(row for row in failed if row.reason == reason)) for reason, _ in reasons),
    )


def _checked(errors: Iterable[float]) -> list[float]:
    if isinstance(errors, (str, bytes, dict)) or not isinstance(errors, Iterable):
        raise TypeError(f"errors must be a list of numbers, got {_check.show(errors)}; pass e.g. [1e-3, 1e-6]")
    found = [_check.positive("ranking", "errors", value, "pass e.g. [1e-3, 1e-6]") for value in errors]
    if not found:
        raise ValueError("errors must not be empty, got []; pass e.g. [1e-6], or leave it out")
    return sorted(set(found), reverse=True)


def _default(curves: Sequence[Sequence[Row]]) -> list[float]:
    """Errors of `_TARGETS` that at least half of the curves come to; if there is none, the decade that half reach."""
    if not curves:
        return []
    reached = sorted(min(map(error_of, rows)) for rows in curves)
    half = reached[len(reached) // 2]
    loosest = float(np.median([max(map(error_of, rows)) for rows in curves]))
    found = [error for error in _TARGETS if half <= error and error <= 10.0 * loosest]
    return found or [10.0 ** math.ceil(math.log10(half))]


def _place(curve: Curve, ordered: Sequence[Row], error: float) -> Place | None:
    """Interpolated work of one curve to an error; None if no run has one so small."""
    number = next((k for k, row in enumerate(ordered) if error_of(row) <= error), None)
    if number is None:
        return None
    tight = ordered[number]
    before = ordered[number - 1] if number else tight
    share = 1.0
    if error_of(before) > error:
        share = math.log(error_of(before) / error) / math.log(error_of(before) / error_of(tight))
    return Place(
        curve,
        _between(before.stats.seconds, tight.stats.seconds, share),
        _between(before.stats.evaluations, tight.stats.evaluations, share),
        tight.position_drift,
        tight.energy_error,
        tight.case.tolerance,
        tight.case.step,
    )


def _between(a: float, b: float, share: float) -> float:
    """Between two logarithms; not a number for counts that are not there."""
    if a <= 0.0 or b <= 0.0:
        return math.nan
    return math.exp((1.0 - share) * math.log(a) + share * math.log(b))


# ---------------------------------------------------------------- words


def _sentence(target: Target) -> str:
    if not target.places:
        return f"No run has an error of {target.error:.0e} or less."
    fastest, fewest = target.best("seconds"), target.best("evaluations")
    total = len(target.places) + len(target.beyond)
    said = [
        f"To an error of {target.error:.0e}, which {len(target.places)} of {total} pairs of form and solver reach,",
        f"  the fastest is {fastest.name} ({_time(fastest.seconds)})",
    ]
    if len(target.places) > 1:
        second = target.places[1]
        said[-1] += f", then {second.name} ({_time(second.seconds)})"
    if not math.isnan(fewest.evaluations):
        said.append(f"  the fewest evaluations: {_again(fewest, fastest)} ({fewest.evaluations:.0f})")
    if any(place.drift > _DRIFT for place in target.places):
        steady = target.best("drift")
        level = f"{steady.drift:.1e}" if steady.drift > _DRIFT else "rounding"
        said.append(f"  the smallest drift of positions: {_again(steady, fastest)} ({level})")
    energetic = target.best("energy")
    said.append(f"  the smallest error of energy: {_again(energetic, fastest)} ({energetic.energy:.1e})")
    return "\n".join(said)


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"


def _again(place: Place, fastest: Place) -> str:
    return "the same" if place == fastest else place.name


def _failure_lines(found: Sequence[Failure]) -> list[str]:
    """A line for each reason, with a count, and a line for each form with its solvers, at most six."""
    total = sum(len(failure.cases) for failure in found)
    out = [f"{total} runs failed:" if total > 1 else "One run failed:"] if found else []
    for failure in found:
        out.append(f"  {len(failure.cases)}: {failure.reason}")
        groups = _by_form(failure.cases)
        out += [f"     {text}" for text in groups[:6]]
        if len(groups) > 6:
            out.append(f"     and {len(groups) - 6} more forms")
    return out


def _by_form(rows: Iterable[Row]) -> list[str]:
    """Form: solvers (tolerances or steps)."""
    out = []
    for form, of_form in groupby(sorted(rows, key=lambda row: row.case.form), key=lambda row: row.case.form):
        methods: dict[str, list[str]] = {}
        for row in of_form:
            methods.setdefault(row.case.method, []).append(row.case.at)
        listed = "; ".join(f"{name} at {', '.join(at)}" for name, at in methods.items())
        out.append(f"{form}: {listed}")
    return out


def multiples(target: Target, to: str, operations: Mapping[str, int] | None = None) -> str:
    """The work that an error takes as multiples of that of one form, solver by solver, as a table.

    A line for each form that shares solvers with `to`, the best one first: its evaluations as multiples, a dash where
    it does not reach the error, "alone" where `to` does not; then their geometric mean, that of seconds, and the
    operations of an evaluation.

    Parameters
    ----------
    target : of a `Ranking`
    to : the form whose evaluations are 1, as `Case.form`
    operations : of an evaluation, by form; None for no such column
    """
    every = [*(place.curve for place in target.places), *target.beyond]
    methods = sorted(method for form, method in every if form == to)
    forms = dict.fromkeys(form for form, method in every if method in methods)
    counts = {place.curve: place.evaluations for place in target.places}
    heads = [*methods, "mean", "seconds", *([] if operations is None else ["operations"])]
    lines: list[tuple[int, float, str, list[str]]] = []
    for form in forms:
        work, time = target.ratios(form, to), target.ratios(form, to, "seconds")
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


def mean_ratio(ratios: Mapping[str, float]) -> float:
    """The geometric mean of ratios, of those that are numbers; not a number if there is none."""
    finite = [math.log(ratio) for ratio in ratios.values() if 0.0 < ratio < math.inf]
    return math.exp(fmean(finite)) if finite else math.nan


def _multiple(ratio: float | None, count: float | None) -> str:
    """A multiple; the count itself for the form that all are compared with."""
    if ratio is None or math.isinf(ratio):
        return "-"
    if ratio == 0.0:
        return "alone"
    return f"{count:.0f}" if ratio == 1.0 and count is not None else f"x {ratio:.2f}"
