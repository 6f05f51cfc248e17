"""Figures and tables of the null-space paper, [NS]: one file an item, or a few that belong together."""
