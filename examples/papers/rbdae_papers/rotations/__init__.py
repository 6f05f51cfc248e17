"""Figures and claims of the rotations paper, [GR95]."""
