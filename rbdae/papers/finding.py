"""The result of an item: a table, and numbers beside those that the paper gives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

import numpy as np

from rbdae._arrays import Vec

Kind: TypeAlias = Literal["relative", "absolute", "factor", "at most", "at least"]
Cell: TypeAlias = str | float | int

_ALLOWED: Final[dict[str, str]] = {
    "relative": "{expected:.6g} within {percent:.3g} %",
    "absolute": "{expected:.9g} within {tolerance:.3g}",
    "factor": "{expected:.3g} within a factor {tolerance:.3g}",
    "at most": "at most {expected:.6g}",
    "at least": "at least {expected:.6g}",
}


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One number of rbdae beside the one that is expected, and beside the paper's words.

    Attributes
    ----------
    quantity : what is compared, with its unit
    found : rbdae's number in this run
    expected : the number that it must have, or the bound
    kind, tolerance : how near: ``"relative"`` and ``"absolute"`` differences, a ``"factor"``, ``"at most"`` or
        ``"at least"`` the expected number (no tolerance)
    says : the paper's words on it; empty where the paper has no number
    differs : why rbdae's number is not the paper's; empty where both agree
    """

    quantity: str
    found: float
    expected: float
    kind: Kind
    tolerance: float = 0.0
    says: str = ""
    differs: str = ""

    @property
    def holds(self) -> bool:
        """Whether the number is as expected."""
        found, expected = self.found, self.expected
        if math.isnan(found):
            return False
        if self.kind == "relative":
            return abs(found - expected) <= self.tolerance * abs(expected)
        if self.kind == "absolute":
            return abs(found - expected) <= self.tolerance
        if self.kind == "factor":
            return found * expected > 0.0 and max(found / expected, expected / found) <= self.tolerance
        return found <= expected if self.kind == "at most" else found >= expected

    @property
    def allowed(self) -> str:
        """The numbers for which it holds, in words."""
        percent = 100.0 * self.tolerance
        return _ALLOWED[self.kind].format(expected=self.expected, tolerance=self.tolerance, percent=percent)

    @property
    def verdict(self) -> str:
        """``"agrees"``, ``"differs: ..."``, ``"as expected"`` (the paper has no number), or ``"FAILED: ..."``."""
        if not self.holds:
            return f"FAILED: expected {self.allowed}"
        if self.differs:
            return f"differs: {self.differs}"
        return "agrees" if self.says else f"as expected ({self.allowed})"


def near(
    quantity: str, found: float, expected: float, relative: float, *, says: str = "", differs: str = ""
) -> Comparison:
    """A number that is expected within a relative difference."""
    return Comparison(quantity, float(found), float(expected), "relative", relative, says, differs)


def close(
    quantity: str, found: float, expected: float, absolute: float = 0.0, *, says: str = "", differs: str = ""
) -> Comparison:
    """A number that is expected within an absolute difference; 0 for equal numbers."""
    return Comparison(quantity, float(found), float(expected), "absolute", absolute, says, differs)


def within_factor(
    quantity: str, found: float, expected: float, factor: float, *, says: str = "", differs: str = ""
) -> Comparison:
    """A number that is expected within a factor, larger or smaller."""
    return Comparison(quantity, float(found), float(expected), "factor", factor, says, differs)


def at_most(quantity: str, found: float, bound: float, *, says: str = "", differs: str = "") -> Comparison:
    """A number that must not be larger than a bound."""
    return Comparison(quantity, float(found), float(bound), "at most", says=says, differs=differs)


def at_least(quantity: str, found: float, bound: float, *, says: str = "", differs: str = "") -> Comparison:
    """A number that must not be smaller than a bound."""
    return Comparison(quantity, float(found), float(bound), "at least", says=says, differs=differs)


@final
@dataclass(frozen=True, slots=True)
class Finding:
    """The result of an item.

    Attributes
    ----------
    columns : names of the table's columns, with units
    rows : the table; pictures are drawn from it
    comparisons : numbers beside the paper's
    not_run : sentences on what could not be run, each with the solver that is missing and the remedy
    remarks : sentences that belong to the numbers
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    comparisons: tuple[Comparison, ...]
    not_run: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every number is as expected."""
        return all(one.holds for one in self.comparisons)

    def select(self, **where: Cell) -> list[Sequence[Cell]]:
        """The rows that have these values; a column is named by its first word."""
        places = {self._place(name): value for name, value in where.items()}
        return [row for row in self.rows if all(row[k] == value for k, value in places.items())]

    def column(self, name: str, **where: Cell) -> Vec:
        """The numbers of a column, named by its first word, in the rows that have these values."""
        place = self._place(name)
        return np.array([row[place] for row in self.select(**where)], dtype=float)

    def values(self, name: str) -> list[Any]:
        """The different values of a column, in order."""
        place = self._place(name)
        return list(dict.fromkeys(row[place] for row in self.rows))

    def _place(self, name: str) -> int:
        return [column.split()[0] for column in self.columns].index(name)


__all__ = ["Cell", "Comparison", "Finding", "at_least", "at_most", "close", "near", "within_factor"]
