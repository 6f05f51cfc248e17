"""An item: a figure, a table or an equation of a paper, with its claim, its run and its picture."""

from __future__ import annotations

import tomllib
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import rbdae
from rbdae_papers.finding import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@final
@dataclass(frozen=True, slots=True)
class Settings:
    """Settings for the run of an item.

    Attributes
    ----------
    quick : fewer or shorter runs, about a second
    solver : ``"package:method"`` in place of the paper's; None for the paper's
    forms : only these forms, by their names in the item; None for all
    """

    quick: bool = False
    solver: str | None = None
    forms: tuple[str, ...] | None = None

    def chosen(self, forms: Iterable[str]) -> list[str]:
        """The forms of an item to run."""
        return [form for form in forms if self.forms is None or form in self.forms]

    def solvers(self, of_the_paper: Mapping[str, str]) -> dict[str, str]:
        """The solvers to run, by their names in the paper."""
        return {self.solver: self.solver} if self.solver else dict(of_the_paper)


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A figure, a table or an equation of a paper.

    Attributes
    ----------
    name : its name on the command line, like ``"ns-fig-6"``
    paper : ``"null_space"``, ``"hamiltonian"``, ``"rotations"`` or ``"forms"``
    place : its place in the paper, like ``"Figure 6"``
    says : the paper's claim, one sentence
    run : makes the finding, from which the verdict follows
    draw : draws a finding; None if there is nothing to draw
    needs : solvers required to run it
    example : the paper's letter of its example, like ``"A"``; empty if it has no example
    any_solver : whether it uses `Settings.solver` and `Settings.forms`
    """

    name: str
    paper: str
    place: str
    says: str
    run: Callable[[Settings], Finding]
    draw: Callable[[Finding], Figure] | None = None
    needs: tuple[str, ...] = ()
    example: str = ""
    any_solver: bool = False


@cache
def _table(name: str) -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / name).read_text(encoding="utf-8"))


def item(name: str, run: Callable[[Settings], Finding], draw: Callable[[Finding], Figure] | None = None) -> Item:
    """The item with a name in ``items.toml``."""
    words = _table("items.toml")[name]
    return Item(name=name, run=run, draw=draw, **words | {"needs": tuple(words.get("needs", ()))})


def numbers(paper: str, name: str) -> dict[str, Any]:
    """Reference numbers of an item, from the paper and from rbdae."""
    values: dict[str, Any] = _table(f"{paper}/numbers.toml")[name]
    return values


def missing(solvers: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each solver whose package is not installed."""
    table = {info.name: info for info in rbdae.solvers()}
    return tuple(
        f"not run: {name} needs {table[name].package}, which is missing; run {table[name].install}"
        for name in solvers
        if name in table and not table[name].available
    )


def run(item: Item, how: Settings | None = None) -> Finding:
    """The finding of an item; an empty one with a sentence if a required solver is missing.

    With the user's solver or forms it contains only the paper's claims, since rbdae's numbers are for the paper's
    solvers.
    """
    how = how or Settings()
    lacking = missing((how.solver,) if how.solver else item.needs)
    if lacking:
        return Finding((), (), (), lacking)
    finding = item.run(how)
    return finding if how == replace(how, solver=None, forms=None) else finding.of_paper()


def attempt(problem: rbdae.Problem, span: tuple[float, float], **options: Any) -> rbdae.Solution:
    """A run that may end early without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rbdae.FailedRunWarning)
        return rbdae.solve(problem, span, **options)
