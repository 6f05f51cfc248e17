"""The best form and solver for an error, in words.

Runs of one form and solver at several tolerances, or step sizes, make a curve of error over work. The work for an error
is read off this curve, by interpolation of logarithms between the two runs whose errors enclose it: the achieved error
counts, not the requested tolerance. Seconds are processor time.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
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
    """The work of one curve for an error.

    Attributes
    ----------
    curve : form and solver
    seconds, evaluations : interpolated; evaluations are not a number if the package does not count them
    drift, energy : largest violation of the position constraints, and largest relative error of the energy balance, in
        its run with the loosest tolerance, or the largest steps, among runs with at most this error
    tolerance, step : of the same run; no step for a method with step control
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
    """An error, the curves that reach it, the fastest first, and the others in `beyond`. Prints in words."""

    error: float
    places: tuple[Place, ...]
    beyond: tuple[Curve, ...]

    def best(self, what: str) -> Place:
        """The place with the least ``"seconds"``, ``"evaluations"``, ``"drift"`` or ``"energy"``."""
        values = [getattr(place, what) for place in self.places]
        if what == "drift":
            values = [max(value, _DRIFT) for value in values]
        # among equals the fastest; missing counts come last
        return self.places[int(np.argmin([math.inf if math.isnan(v) else v for v in values]))]

    def __str__(self) -> str:
        if not self.places:
            return f"No run has an error of {self.error:.0e} or less."
        fastest, second = self.places[0], self.places[1:2]
        total = len(self.places) + len(self.beyond)
        said = [
            f"To an error of {self.error:.0e}, which {len(self.places)} of {total} pairs of form and solver reach,",
            f"  the fastest is {', then '.join(f'{p.name} ({_time(p.seconds)})' for p in (fastest, *second))}",
        ]
        what = {"evaluations": "fewest evaluations", "drift": "smallest drift of positions"}
        for name, words in (what | {"energy": "smallest error of energy"}).items():
            place = self.best(name)
            value = getattr(place, name)
            if math.isnan(value) or (name == "drift" and max(p.drift for p in self.places) <= _DRIFT):
                continue
            level = f"{value:.0f}" if name == "evaluations" else f"{value:.1e}"
            level = "rounding" if name == "drift" and value <= _DRIFT else level
            said.append(f"  the {words}: {'the same' if place == fastest else place.name} ({level})")
        return "\n".join(said)


@final
@dataclass(frozen=True, slots=True)
class Ranking:
    """The ranking of a study; printed in words.

    Attributes
    ----------
    targets : errors, the largest first, with the curves that reach them and their work
    failures : runs that failed, by reason
    """

    targets: tuple[Target, ...]
    failures: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        said = [str(target) for target in self.targets] or ["No run reached the end."]
        total = sum(map(len, self.failures.values()))
        said += [f"{total} runs failed:" if total > 1 else "One run failed:"] if total else []
        for reason, rows in self.failures.items():
            said += [f"  {len(rows)}: {reason}", *(f"     {line}" for line in runs_of(rows))]
        return "\n".join(said)


def runs_of(rows: Iterable[Row], most: int = 6) -> list[str]:
    """Lines such as ``"index-3, quaternion, angular: scipy:RK45 at 1e-03, 1e-04"``."""
    named: dict[str, dict[str, list[str]]] = {}
    for row in sorted(rows, key=lambda row: row.case.form):
        named.setdefault(row.case.form, {}).setdefault(row.case.method, []).append(row.case.at)
    lines = [f"{form}: " + "; ".join(f"{m} at {', '.join(at)}" for m, at in of.items()) for form, of in named.items()]
    return lines[:most] + ([f"and {len(lines) - most} more forms"] if len(lines) > most else [])


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


def rank(rows: Iterable[Row], errors: Iterable[float] | None = None) -> Ranking:
    """See `Comparison.ranking`."""
    rows = list(rows)
    curves = curves_of(rows)
    targets = []
    for error in _default(list(curves.values())) if errors is None else _checked(errors):
        places = {curve: _place(curve, of, error) for curve, of in curves.items()}
        reached = sorted((p for p in places.values() if p is not None), key=lambda p: p.seconds)
        targets.append(Target(error, tuple(reached), tuple(c for c, place in places.items() if place is None)))
    reasons = Counter(row.reason for row in rows if row.failure).most_common()
    failures = {reason: tuple(row for row in rows if row.failure and row.reason == reason) for reason, _ in reasons}
    return Ranking(tuple(targets), failures)


def _checked(errors: Iterable[float]) -> list[float]:
    if isinstance(errors, (str, bytes, dict)) or not isinstance(errors, Iterable):
        raise TypeError(f"errors must be a list of numbers, got {_check.show(errors)}; pass e.g. [1e-3, 1e-6]")
    wanted = {_check.positive("ranking", "errors", value, "pass e.g. [1e-3, 1e-6]") for value in errors}
    if not wanted:
        raise ValueError("errors must not be empty, got []; pass e.g. [1e-6], or leave it out")
    return sorted(wanted, reverse=True)


def _default(curves: Sequence[Sequence[Row]]) -> list[float]:
    """The errors of `_TARGETS` that at least half of the curves reach, or else the decade that half reach."""
    if not curves:
        return []
    reached = sorted(min(map(error_of, rows)) for rows in curves)
    half = reached[len(reached) // 2]
    loosest = float(np.median([max(map(error_of, rows)) for rows in curves]))
    targets = [error for error in _TARGETS if half <= error and error <= 10.0 * loosest]
    return targets or [10.0 ** math.ceil(math.log10(half))]


def _place(curve: Curve, ordered: Sequence[Row], error: float) -> Place | None:
    """Interpolated work of one curve for an error; None if no run has one so small."""
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
    """Interpolation of logarithms; NaN for missing counts."""
    if a <= 0.0 or b <= 0.0:
        return math.nan
    return math.exp((1.0 - share) * math.log(a) + share * math.log(b))


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"
