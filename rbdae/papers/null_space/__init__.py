"""Figures and tables of the null-space paper, [NS]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.item import Item
from rbdae.papers.null_space import (
    benefits,
    fig_06,
    fig_08_09,
    fig_10,
    fig_11,
    fig_12,
    fig_13_14,
    fig_15,
    fig_16,
    omega,
    section_6,
    table_1,
    table_2,
    table_3,
)

ITEMS: tuple[Item, ...] = (
    fig_06.ITEM,
    fig_08_09.FIGURE_8,
    fig_08_09.FIGURE_9,
    fig_08_09.OTHERS,
    fig_10.ITEM,
    fig_11.ITEM,
    fig_12.ITEM,
    fig_13_14.ITEM,
    fig_15.FIGURE_A,
    fig_15.FIGURE_B,
    fig_16.ITEM,
    table_1.ITEM,
    table_2.ITEM,
    table_3.ITEM,
    section_6.METRIC,
    section_6.NORM,
    section_6.MULTISTEP,
    section_6.VELOCITY,
    section_6.ORTHONORMAL,
    omega.ITEM,
    benefits.CONDITION,
    benefits.COST,
    benefits.SPATIAL,
)

__all__ = ["ITEMS"]
