"""Figures, tables and equations of the Hamiltonian paper, [BS09]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.hamiltonian import equations, fig_1, gyro_top
from rbdae.papers.item import Item

ITEMS: tuple[Item, ...] = (
    fig_1.ITEM,
    gyro_top.FIGURE_3,
    gyro_top.FIGURE_4,
    gyro_top.FIGURE_5,
    equations.CONSTRAINT,
    equations.MULTIPLIER,
    equations.MOMENTUM_MAP,
    equations.EQUIVARIANCE,
)

__all__ = ["ITEMS"]
