"""The result of an item: a table, numbers beside those that are expected, and the verdict that follows from them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Vec

Kind: TypeAlias = Literal["relative", "absolute", "factor", "at most", "at least"]
Verdict: TypeAlias = Literal["agrees", "agrees in part", "differs", "not judged"]
Cell: TypeAlias = str | float | int

_ALLOWED: Final[dict[str, str]] = {
    "relative": "{value:.6g} within {percent:.3g} %",
    "absolute": "{value:.9g} within {tolerance:.3g}",
    "factor": "{value:.3g} within a factor {tolerance:.3g}",
    "at most": "at most {value:.6g}",
    "at least": "at least {value:.6g}",
}


@final
@dataclass(frozen=True, slots=True)
class Criterion:
    """The numbers with which a sentence holds.

    Attributes
    ----------
    kind, value, tolerance : ``"relative"`` and ``"absolute"`` differences from the value, a ``"factor"``, ``"at most"``
        or ``"at least"`` the value (no tolerance)
    """

    kind: Kind
    value: float
    tolerance: float = 0.0

    def holds(self, found: float) -> bool:
        """Whether a number is one of them; nan never is."""
        value = self.value
        if math.isnan(found):
            return False
        if self.kind == "relative":
            return abs(found - value) <= self.tolerance * abs(value)
        if self.kind == "absolute":
            return abs(found - value) <= self.tolerance
        if self.kind == "factor":
            return found * value > 0.0 and max(found / value, value / found) <= self.tolerance
        return found <= value if self.kind == "at most" else found >= value

    def __str__(self) -> str:
        if self.kind == "absolute" and not self.tolerance:
            return f"{self.value:.9g}"
        percent = 100.0 * self.tolerance
        return _ALLOWED[self.kind].format(value=self.value, tolerance=self.tolerance, percent=percent)


def near(value: float, relative: float) -> Criterion:
    """Numbers within a relative difference."""
    return Criterion("relative", float(value), relative)


def close(value: float, absolute: float = 0.0) -> Criterion:
    """Numbers within an absolute difference; 0 for equal numbers."""
    return Criterion("absolute", float(value), absolute)


def within_factor(value: float, factor: float) -> Criterion:
    """Numbers within a factor, larger or smaller."""
    return Criterion("factor", float(value), factor)


def at_most(bound: float) -> Criterion:
    """Numbers that are not larger than a bound."""
    return Criterion("at most", float(bound))


def at_least(bound: float) -> Criterion:
    """Numbers that are not smaller than a bound."""
    return Criterion("at least", float(bound))


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of this run, and the numbers with which a sentence of the paper holds, or that rbdae had before.

    Attributes
    ----------
    quantity : what is compared, with its unit
    found : the number in this run; nan where this run has none
    paper : the numbers with which the paper's words hold; None where the paper says nothing of it
    expected : the numbers that rbdae has had; None where any will do
    says : the paper's words
    why : the reason where the run differs from the paper, as far as it is known
    """

    quantity: str
    found: float
    paper: Criterion | None = None
    expected: Criterion | None = None
    says: str = ""
    why: str = ""

    @property
    def holds(self) -> bool:
        """Whether the number is as expected."""
        return self.expected is None or self.expected.holds(self.found)

    @property
    def verdict(self) -> str:
        """``"agrees"`` or ``"differs"`` with the paper's criterion, ``"as expected"``, or ``"FAILED: ..."``."""
        if not self.holds:
            return f"FAILED: expected {self.expected}"
        if self.paper is None:
            return f"as expected ({self.expected})" if self.expected else "not compared"
        if math.isnan(self.found):
            return f"not judged ({self.paper}): this run has no such number"
        if self.paper.holds(self.found):
            return f"agrees ({self.paper})"
        return f"differs ({self.paper}){self.why and ': '}{self.why}"


def expect(quantity: str, found: float, expected: Criterion) -> Comparison:
    """A number of which the paper says nothing, beside what rbdae has had."""
    return Comparison(quantity, float(found), None, expected)


def claim(
    quantity: str, found: float, paper: Criterion, says: str, *, expected: Criterion | None = None, why: str = ""
) -> Comparison:
    """A number beside the paper's words: the criterion with which they hold, and what rbdae has had, if it is known."""
    return Comparison(quantity, float(found), paper, expected, says, why)


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an item.

    Attributes
    ----------
    columns : names of the table's columns, with units
    rows : the table; pictures are drawn from it
    comparisons : numbers of this run beside the paper's words and what rbdae has had
    not_run : sentences on what could not be run, each with the solver that is missing and the remedy
    remarks : sentences that belong to the numbers
    sentence : what the numbers of this run say, in a sentence or two
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    comparisons: tuple[Comparison, ...]
    not_run: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    sentence: str = ""

    @property
    def holds(self) -> bool:
        """Whether every number is as expected."""
        return all(one.holds for one in self.comparisons)

    @property
    def judged(self) -> list[Comparison]:
        """The numbers of this run on which the paper says something."""
        return [one for one in self.comparisons if one.paper is not None and not math.isnan(one.found)]

    @property
    def differing(self) -> list[Comparison]:
        """The comparisons in which the paper's words do not hold."""
        return [one for one in self.judged if one.paper is not None and not one.paper.holds(one.found)]

    @property
    def verdict(self) -> Verdict:
        """Whether the paper's words hold: with all numbers of this run, with some of them, or with none."""
        n_judged, n_differing = len(self.judged), len(self.differing)
        if not n_judged:
            return "not judged"
        return "differs" if n_differing == n_judged else "agrees in part" if n_differing else "agrees"

    @property
    def conclusion(self) -> str:
        """The verdict, how many numbers it is made of, each that differs and why, and what the run says."""
        n_judged, differing = len(self.judged), self.differing
        if not n_judged:
            return "not judged"
        reasons: dict[str, list[Comparison]] = {}
        for one in differing:
            reasons.setdefault(one.why, []).append(one)
        told = [
            "; ".join(f"{one.quantity}: {one.found:.4g}, not {one.paper}" for one in ones) + (why and f": {why}")
            for why, ones in reasons.items()
        ]
        sentences = [f"{text}." for text in told] + [self.sentence] * bool(self.sentence)
        head = f"{self.verdict} ({n_judged - len(differing)} of {n_judged})"
        return f"{head}: {' '.join(sentences)}" if sentences else head

    def of_paper(self) -> Finding:
        """The same on the paper's words alone, without reasons: for runs by a solver that nobody has run before."""
        kept = tuple(replace(one, expected=None, why="") for one in self.comparisons if one.paper is not None)
        return replace(self, comparisons=kept, sentence="")

    def select(self, **where: Cell) -> list[Sequence[Cell]]:
        """The rows that have these values; a column is named by its first word."""
        places = {self.place(name): value for name, value in where.items()}
        return [row for row in self.rows if all(row[k] == value for k, value in places.items())]

    def column(self, name: str, **where: Cell) -> Vec:
        """The numbers of a column, named by its first word, in the rows that have these values."""
        place = self.place(name)
        return np.array([row[place] for row in self.select(**where)], dtype=float)

    def values(self, name: str) -> list[Any]:
        """The different values of a column, in order."""
        place = self.place(name)
        return list(dict.fromkeys(row[place] for row in self.rows))

    def place(self, name: str) -> int:
        """The place of a column in a row."""
        return [column.split()[0] for column in self.columns].index(name)
