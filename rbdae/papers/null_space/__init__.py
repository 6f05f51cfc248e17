"""Figures and tables of the null-space paper, [NS]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.item import Item
from rbdae.papers.null_space import table_2

ITEMS: tuple[Item, ...] = (table_2.ITEM,)

__all__ = ["ITEMS"]
