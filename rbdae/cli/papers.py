"""``rbdae papers``: the figures, tables and equations of the papers, beside what the papers say."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rbdae import _check
from rbdae.papers import FORMS, ITEMS, PAPERS
from rbdae.papers.item import Item, Settings
from rbdae.papers.showing import show


def show_papers(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if a number is not as expected."""
    bench = bool(given.solver or given.form)
    for form in given.form or ():
        if form not in FORMS:
            raise ValueError(f"papers: there is no form {_check.show(form)}; choose from {', '.join(FORMS)}")
    items = chosen(given.only, given.paper, given.example, bench=bench)
    if given.list:
        for item in items:
            print(f"{item.name:16}  {PAPERS[item.paper]}, {item.place}: {item.says}")
        return 0
    os.environ.setdefault("MPLBACKEND", "Agg")
    folder: Path = given.out
    how = Settings(given.quick, given.solver, tuple(given.form) if given.form else None)
    return 0 if show(items, dict(PAPERS), folder, how) else 1


def chosen(
    names: list[str] | None, paper: str | None, example: str | None = None, *, bench: bool = False
) -> list[Item]:
    """The items with these names, of this paper and example; all of it without names.

    With `bench`, those that run by any solver, and by some of their forms.

    Raises
    ------
    ValueError
        for a name that no item has, or one that the other options leave out
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"papers: --paper must be {', '.join(PAPERS)}, got {_check.show(paper)}")
    known = {
        name: item
        for name, item in ITEMS.items()
        if paper in (None, item.paper) and example in (None, item.example) and (item.any_solver or not bench)
    }
    unknown = [name for name in names or () if name not in known]
    if unknown:
        with_these = " with --solver or --form" if bench else ""
        raise ValueError(
            f"papers: there is no item {_check.show(unknown[0])}{with_these}; choose from {', '.join(known)}"
        )
    return [known[name] for name in dict.fromkeys(names or known)]


__all__ = ["chosen", "show_papers"]
