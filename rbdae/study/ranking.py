"""The form and solver that are the best to reach an error, in words.

Runs of one form and solver at several tolerances, or step sizes, make a curve of error over work. The work that an
error takes is read off this curve, by interpolation of logarithms between the two runs whose errors enclose it: what
counts is the error that a run has, not the tolerance that it was asked for. Seconds are those of the processor.
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
    """An error, and the curves that reach it, the fastest first; `beyond` are those that do not. Prints in words."""

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
    """A study in words: print it.

    Attributes
    ----------
    targets : errors, the largest first, and who reaches them at what cost
    failures : runs that failed, by reason
    """

    targets: tuple[Target, ...]
    failures: Mapping[str, tuple[Row, ...]] = field(default_factory=dict)

    def __str__(self) -> str:
        said = [str(target) for target in self.targets] or ["No run got to the end."]
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
    """Rows that reached the end, by form and solver; of each the loosest tolerance, or the largest step, first."""
    out: dict[Curve, list[Row]] = {}
    for row in rows:
        if row.errors is not None:
            out.setdefault(row.case.curve, []).append(row)
    return {curve: sorted(of, key=lambda row: -row.case.knob) for curve, of in out.items()}


def error_of(row: Row) -> float:
    """The largest error of a run, at least rounding."""
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
    """Errors of `_TARGETS` that at least half of the curves come to; if there is none, the decade that half reach."""
    if not curves:
        return []
    reached = sorted(min(map(error_of, rows)) for rows in curves)
    half = reached[len(reached) // 2]
    loosest = float(np.median([max(map(error_of, rows)) for rows in curves]))
    targets = [error for error in _TARGETS if half <= error and error <= 10.0 * loosest]
    return targets or [10.0 ** math.ceil(math.log10(half))]


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


def _time(seconds: float) -> str:
    return f"{seconds:.3g} s" if seconds >= 0.1 else f"{1e3 * seconds:.3g} ms"
