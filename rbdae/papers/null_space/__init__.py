"""Figures and tables of the null-space paper, [NS]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.item import Item
from rbdae.papers.null_space import fig_06, fig_08_09, fig_10, fig_11, fig_12, fig_13_14, fig_15, fig_16, table_2

ITEMS: tuple[Item, ...] = (
    fig_06.ITEM,
    fig_08_09.FIGURE_8,
    fig_08_09.FIGURE_9,
    fig_10.ITEM,
    fig_11.ITEM,
    fig_12.ITEM,
    fig_13_14.ITEM,
    fig_15.FIGURE_A,
    fig_15.FIGURE_B,
    fig_16.ITEM,
    table_2.ITEM,
)

__all__ = ["ITEMS"]
