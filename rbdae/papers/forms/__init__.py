"""Figures, tables and equations of the forms paper, [SNS15]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.forms import multipliers
from rbdae.papers.item import Item

ITEMS: tuple[Item, ...] = (multipliers.TABLE, multipliers.CHECK)

__all__ = ["ITEMS"]
