"""The works that a run cites: BibTeX entries of references.bib, by the keys of docs/references.md."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase
from pathlib import Path
from typing import final

from rbdae import _check
from rbdae._version import __version__
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS
from rbdae.solving.registry import solvers
from rbdae.solving.solution import Solution


@final
class Citation(dict[str, str]):
    """BibTeX entries by key; prints as a .bib file."""

    def __str__(self) -> str:
        return "\n\n".join(self.values())


def citation(solution: Solution) -> Citation:
    """BibTeX entries of the library and of what a run's formulation, rotation, solver and projection follow, by the
    keys of docs/references.md; prints as a .bib file. Raises TypeError for what is no `rbdae.Solution`."""
    if not isinstance(solution, Solution):
        raise TypeError(f"citation needs a rbdae.Solution, got {_check.show(solution)}")
    names = (getattr(solution.problem, each, "") for each in ("formulation", "rotation"))
    used = {"rbdae", solution.solver, *names, *({"projection"} & {*solution.options})}
    found = entries()
    return Citation({key: found[key] for key, of in cited_for(found).items() if used & {*of}})


def cited_for(found: dict[str, str]) -> dict[str, list[str]]:
    """The formulations, rotations, solvers and other names for which each work is cited: those whose source or summary
    has its key, and those of its keywords."""
    sources = {f.name: f.source for f in FORMULATIONS.values()} | {c.name: c.source for c in CHARTS.values()}
    sources |= {each.name: each.summary for each in solvers()} | {"projection": "[NS] section 6", "rbdae": ""}
    words = {key: re.findall(r"[^,{} ]+", entry.partition("keywords = ")[2]) for key, entry in found.items()}
    return {
        key: [n for n, source in sources.items() if f"[{key}]" in source or any(fnmatchcase(n, w) for w in words[key])]
        for key in found
    }


def entries() -> dict[str, str]:
    """All entries by key."""
    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8").replace("VERSION", __version__)
    return {re.split("[{,]", entry, maxsplit=2)[1]: entry.strip() for entry in re.split(r"\n(?=@)", text)}
