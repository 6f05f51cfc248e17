"""An item: a figure, a table or an equation of a paper, with what it says and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias, final

import rbdae
from rbdae.papers.finding import Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Verdict: TypeAlias = Literal["agrees", "agrees in part", "differs"]


@final
@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A figure, a table or an equation of a paper.

    Attributes
    ----------
    name : its name on the command line, like ``"ns-fig-6"``
    paper : ``"null_space"``, ``"hamiltonian"``, ``"rotations"`` or ``"forms"``
    place : where it is in the paper, like ``"Figure 6"``
    says : what the paper says, one sentence
    verdict : whether rbdae's numbers agree
    why : a sentence on what differs, or on what it takes; may be empty where all agrees
    run : makes the finding; with True in about a second, with fewer runs or shorter ones
    draw : a figure of a finding; None where there is nothing to draw
    needs : solvers without which there is nothing to run
    """

    name: str
    paper: str
    place: str
    says: str
    verdict: Verdict
    run: Callable[[bool], Finding]
    why: str = ""
    draw: Callable[[Finding], Figure] | None = None
    needs: tuple[str, ...] = ()


def missing(solvers: Iterable[str]) -> tuple[str, ...]:
    """A sentence for each of these solvers whose package is not installed."""
    table = {info.name: info for info in rbdae.solvers()}
    return tuple(
        f"not run: {name} needs {table[name].package}, which is missing; run {table[name].install}"
        for name in solvers
        if not table[name].available
    )


def run(item: Item, quick: bool = False) -> Finding:
    """The finding of an item; an empty one that says so if a solver is missing that it needs."""
    lacking = missing(item.needs)
    return Finding((), (), (), lacking) if lacking else item.run(quick)


__all__ = ["Item", "Verdict", "missing", "run"]
