"""Figures, tables and equations of the papers that rbdae follows, each beside what the paper says.

`ITEMS` has them by name; ``rbdae papers`` runs them, and docs/papers.md lists them. A new item is a function of
`Settings` that returns a `Finding`, an `Item` in the tuple `ITEMS` of its paper, and its numbers in the paper's
numbers.toml. `conclusions` judges the sentences of [NS] section 7 by the runs of any study of its examples.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rbdae.papers import forms, hamiltonian, null_space, rotations
from rbdae.papers.finding import Comparison as Comparison
from rbdae.papers.finding import Criterion as Criterion
from rbdae.papers.finding import Finding as Finding
from rbdae.papers.finding import at_least as at_least
from rbdae.papers.finding import at_most as at_most
from rbdae.papers.finding import claim as claim
from rbdae.papers.finding import close as close
from rbdae.papers.finding import expect as expect
from rbdae.papers.finding import near as near
from rbdae.papers.finding import within_factor as within_factor
from rbdae.papers.item import Item as Item
from rbdae.papers.item import Settings as Settings
from rbdae.papers.item import missing as missing
from rbdae.papers.item import numbers as numbers
from rbdae.papers.item import run as run
from rbdae.papers.null_space.claims import CLAIMS as CLAIMS
from rbdae.papers.null_space.claims import Claim as Claim
from rbdae.papers.null_space.claims import conclusions as conclusions
from rbdae.papers.null_space.equations import FORMS as FORMS

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

__all__ = [
    "CLAIMS", "FORMS", "ITEMS", "PAPERS", "Claim", "Comparison", "Criterion", "Finding", "Item", "Settings", "at_least",
    "at_most", "claim", "close", "conclusions", "expect", "missing", "near", "numbers", "run", "within_factor",
]  # fmt: skip
