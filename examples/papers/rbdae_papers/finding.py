"""The result of an item: a table, numbers compared with expected ones, and the resulting verdict."""

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
    """The numbers for which a claim holds.

    Attributes
    ----------
    kind, value, tolerance : ``"relative"`` and ``"absolute"`` differences from the value, a ``"factor"``, ``"at most"``
        or ``"at least"`` the value (no tolerance)
    """

    kind: Kind
    value: float
    tolerance: float = 0.0

    def holds(self, found: float) -> bool:
        """Whether a number satisfies it; NaN never does."""
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
    """Numbers up to a bound."""
    return Criterion("at most", float(bound))


def at_least(bound: float) -> Criterion:
    """Numbers from a bound on."""
    return Criterion("at least", float(bound))


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of this run, with the paper's criterion and rbdae's previous number.

    Attributes
    ----------
    quantity : the quantity with its unit
    found : the number in this run; NaN if there is no such number
    paper : criterion of the paper's claim; None if the paper has no claim
    expected : criterion from rbdae's previous numbers; None if any number will do
    says : the paper's words
    why : the known reason for a difference from the paper
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
    """A number without a claim in the paper, compared with rbdae's previous number."""
    return Comparison(quantity, float(found), None, expected)


def claim(
    quantity: str, found: float, paper: Criterion, says: str, *, expected: Criterion | None = None, why: str = ""
) -> Comparison:
    """A number compared with the criterion of the paper's claim, and with rbdae's previous number if known."""
    return Comparison(quantity, float(found), paper, expected, says, why)


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an item.

    Attributes
    ----------
    columns : names of the table's columns, with units
    rows : the table, also the data of pictures
    comparisons : numbers of this run compared with the paper and with rbdae's previous numbers
    not_run : sentences on runs that were not possible, each with the missing solver and the remedy
    remarks : sentences about the numbers
    sentence : a sentence or two on the numbers of this run
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
        """The numbers of this run for which the paper has a claim."""
        return [one for one in self.comparisons if one.paper is not None and not math.isnan(one.found)]

    @property
    def differing(self) -> list[Comparison]:
        """The comparisons in which the paper's claim does not hold."""
        return [one for one in self.judged if one.paper is not None and not one.paper.holds(one.found)]

    @property
    def verdict(self) -> Verdict:
        """Whether the paper's claims hold for all, some, or no numbers of this run."""
        n_judged, n_differing = len(self.judged), len(self.differing)
        if not n_judged:
            return "not judged"
        return "differs" if n_differing == n_judged else "agrees in part" if n_differing else "agrees"

    @property
    def conclusion(self) -> str:
        """The verdict with its number of comparisons, the differing ones with reasons, and the run's sentence."""
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
        """The finding reduced to the paper's claims, without reasons, for runs by a new solver."""
        kept = tuple(replace(one, expected=None, why="") for one in self.comparisons if one.paper is not None)
        return replace(self, comparisons=kept, sentence="")

    def select(self, **where: Cell) -> list[Sequence[Cell]]:
        """The rows with these values; a column is named by its first word."""
        places = {self.place(name): value for name, value in where.items()}
        return [row for row in self.rows if all(row[k] == value for k, value in places.items())]

    def column(self, name: str, **where: Cell) -> Vec:
        """The numbers of a column, named by its first word, in the rows with these values."""
        place = self.place(name)
        return np.array([row[place] for row in self.select(**where)], dtype=float)

    def values(self, name: str) -> list[Any]:
        """The distinct values of a column, in order."""
        place = self.place(name)
        return list(dict.fromkeys(row[place] for row in self.rows))

    def place(self, name: str) -> int:
        """The place of a column in a row."""
        return [column.split()[0] for column in self.columns].index(name)
