"""Figures, tables and claims of the papers, each compared with the paper.

`ITEMS` has them by name; ``rbdae papers`` runs them, and docs/papers.md lists them. A new item needs a function of
`Settings` that returns a `Finding`, an `Item` in the tuple here, its words in items.toml, and its numbers in the
numbers.toml of its paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from rbdae_papers.forms import multipliers
from rbdae_papers.hamiltonian import equations, fig_1, gyro_top
from rbdae_papers.item import Item
from rbdae_papers.null_space import (
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
from rbdae_papers.rotations import charts, top

PAPERS: Final[Mapping[str, str]] = {
    "null_space": "null-space paper [NS]",
    "hamiltonian": "Hamiltonian paper [BS09]",
    "rotations": "rotations paper [GR95]",
    "forms": "forms paper [SNS15]",
}
"""Titles of papers by the values of `Item.paper`."""

_ITEMS = (
    fig_06.ITEM, fig_08_09.FIGURE_8, fig_08_09.FIGURE_9, fig_08_09.OTHERS, fig_10.ITEM, fig_11.ITEM, fig_12.ITEM,
    fig_13_14.ITEM, fig_15.FIGURE_A, fig_15.FIGURE_B, fig_16.ITEM, table_1.ITEM, table_2.ITEM, table_3.ITEM,
    section_6.METRIC, section_6.NORM, section_6.MULTISTEP, section_6.VELOCITY, section_6.ORTHONORMAL, omega.ITEM,
    benefits.CONDITION, benefits.COST, benefits.SPATIAL,
    fig_1.ITEM, gyro_top.FIGURE_3, gyro_top.FIGURE_4, gyro_top.FIGURE_5, equations.CONSTRAINT, equations.MULTIPLIER,
    equations.MOMENTUM_MAP, equations.EQUIVARIANCE,
    top.FIGURE_6, top.FIGURE_7, charts.ITEM,
    multipliers.TABLE, multipliers.CHECK,
)  # fmt: skip

ITEMS: Final[Mapping[str, Item]] = {item.name: item for item in _ITEMS}
"""The items by name, in the order of the papers."""
