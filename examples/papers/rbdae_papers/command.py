"""The command for figures, tables and equations of the papers; see docs/papers.md."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path

from rbdae import _check
from rbdae_papers.item import Item, Settings
from rbdae_papers.items import ITEMS, PAPERS
from rbdae_papers.null_space.equations import FORMS
from rbdae_papers.showing import show


def main(arguments: Sequence[str]) -> int:
    """Run the command with the arguments after its name. Returns 0, or 1 if a number is not as expected.

    Raises
    ------
    ValueError
        for unknown items, papers or forms, and options that exclude a named item
    """
    given = _parser().parse_args(arguments)
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
    how = Settings(given.quick, given.solver, tuple(given.form) if given.form else None)
    return 0 if show(items, PAPERS, given.out, how) else 1


def _parser() -> argparse.ArgumentParser:
    out = argparse.ArgumentParser(prog="rbdae papers", description=__doc__)
    out.add_argument("--only", nargs="+", metavar="NAME", help="items by their names; --list shows them")
    out.add_argument("--paper", metavar="PAPER", help=f"{', '.join(PAPERS)}; default: all")
    out.add_argument("--list", action="store_true", help="list the items and what the papers say")
    out.add_argument("--quick", action="store_true", help="shorter and fewer runs, about a second an item")
    out.add_argument("--solver", metavar="PACKAGE:METHOD", help="run by this solver what any solver can run")
    out.add_argument("--form", nargs="+", metavar="FORM", help=f"only these forms: {', '.join(FORMS)}")
    out.add_argument("--example", choices=("A", "B", "C"), help="only what runs this example of [NS]")
    out.add_argument("--out", type=Path, default=Path("results/papers"), metavar="DIR", help="for pictures and tables")
    return out


def chosen(
    names: list[str] | None, paper: str | None, example: str | None = None, *, bench: bool = False
) -> list[Item]:
    """The items with these names in this paper and example; all items without names.

    With `bench`, the items that run with any solver and a choice of forms.

    Raises
    ------
    ValueError
        for a name that does not exist or is excluded by the other options
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
