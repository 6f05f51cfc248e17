"""Figures, tables and equations of the rotations paper, [GR95]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.item import Item
from rbdae.papers.rotations import charts, top

ITEMS: tuple[Item, ...] = (top.FIGURE_6, top.FIGURE_7, charts.ITEM)

__all__ = ["ITEMS"]
