"""Figures and tables of the null-space paper, [NS]: one file for each item or group of items."""
