"""Algebra of directors into arrays that exist, for kernels."""

from __future__ import annotations

from rbdae.graph.functions import Array
from rbdae.rotations.directors import DIRECTORS
from rbdae.rotations.vectors import axial, frame


def director_tangents(d: Array, K: Array) -> None:
    """K[:9, :3] = T_d(d), [NS] (24): spin(d, om) = K om."""
    K[:9, :3] = DIRECTORS.kinematics(d)


def spin(d: Array, om: Array, out: Array) -> None:
    """out = R om^, stacked by columns."""
    out[:9] = DIRECTORS.rate(d, om[:3])


def spin_transposed(d: Array, f: Array, out: Array) -> None:
    """out[:3] = T_d(d)^T f, the torque of forces f on the directors: spin(d, om) . f = om . out."""
    out[:3] = axial(frame(d).T @ frame(f))
