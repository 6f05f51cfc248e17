"""``rbdae papers``: the figures, tables and equations of the papers, beside what the papers say."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from rbdae import _check
from rbdae.papers import ITEMS, PAPERS
from rbdae.papers.item import Item
from rbdae.papers.showing import show


def show_papers(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if a number is not as expected."""
    items = chosen(given.only, given.paper)
    if given.list:
        for item in items:
            print(f"{item.name:16}  {PAPERS[item.paper]}, {item.place}: {item.says}")
        return 0
    os.environ.setdefault("MPLBACKEND", "Agg")
    folder: Path = given.out
    return 0 if show(items, dict(PAPERS), folder, quick=given.quick) else 1


def chosen(names: list[str] | None, paper: str | None) -> list[Item]:
    """The items with these names, of this paper; all of it without names.

    Raises
    ------
    ValueError
        for a name that no item has
    """
    if paper is not None and paper not in PAPERS:
        raise ValueError(f"papers: --paper must be {', '.join(PAPERS)}, got {_check.show(paper)}")
    known = {name: item for name, item in ITEMS.items() if paper in (None, item.paper)}
    unknown = [name for name in names or () if name not in known]
    if unknown:
        raise ValueError(f"papers: there is no item {_check.show(unknown[0])}; choose from {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names or known)]


__all__ = ["chosen", "show_papers"]
