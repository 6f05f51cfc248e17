"""Figures, tables and equations of the Hamiltonian paper, [BS09]: one file an item, or a few that belong together."""

from __future__ import annotations

from rbdae.papers.item import Item

ITEMS: tuple[Item, ...] = ()

__all__ = ["ITEMS"]
