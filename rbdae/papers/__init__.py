"""Figures, tables and equations of the papers that rbdae follows, each beside what the paper says.

`ITEMS` has them by name; ``rbdae papers`` runs them, and docs/papers.md lists them. A new item is a function of `quick`
that returns a `Finding`, and an `Item` in the tuple `ITEMS` of its paper. `conclusions` judges the sentences of [NS]
section 7 by the runs of any study of its examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rbdae.papers import forms, hamiltonian, null_space, rotations
from rbdae.papers.finding import Comparison as Comparison
from rbdae.papers.finding import Finding as Finding
from rbdae.papers.finding import at_least as at_least
from rbdae.papers.finding import at_most as at_most
from rbdae.papers.finding import close as close
from rbdae.papers.finding import near as near
from rbdae.papers.finding import within_factor as within_factor
from rbdae.papers.item import Item as Item
from rbdae.papers.item import missing as missing
from rbdae.papers.item import run as run
from rbdae.papers.null_space.claims import CLAIMS as CLAIMS
from rbdae.papers.null_space.claims import Claim as Claim
from rbdae.papers.null_space.claims import conclusions as conclusions

PAPERS: Final[Mapping[str, str]] = {
    "null_space": "null-space paper [NS]",
    "hamiltonian": "Hamiltonian paper [BS09]",
    "rotations": "rotations paper [GR95]",
    "forms": "forms paper [SNS15]",
}
"""The papers by the name that an item has for its own."""

ITEMS: Final[Mapping[str, Item]] = {
    item.name: item for paper in (null_space, hamiltonian, rotations, forms) for item in paper.ITEMS
}
"""The items by name, paper by paper, in the order in which they stand there."""


def table() -> str:
    """The table of docs/papers.md."""
    head = ["| item | paper | place | the paper says | rbdae | why |", "| --- | --- | --- | --- | --- | --- |"]
    lines = [
        f"| `{i.name}` | {PAPERS[i.paper].split()[-1]} | {i.place} | {i.says} | {i.verdict} | {i.why} |"
        for i in ITEMS.values()
    ]
    return "\n".join([*head, *lines])


__all__ = [
    "CLAIMS", "ITEMS", "PAPERS", "Claim", "Comparison", "Finding", "Item", "at_least", "at_most", "close",
    "conclusions", "missing", "near", "run", "table", "within_factor",
]  # fmt: skip
