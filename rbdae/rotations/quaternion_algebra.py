"""Products of quaternions into arrays that exist, for kernels."""

from __future__ import annotations

from rbdae.graph.functions import Array
from rbdae.rotations.quaternion import QUATERNION
from rbdae.rotations.vectors import conjugate, product


def conjugate_product(p: Array, x: Array, out: Array) -> None:
    """out[:4] = conj(p) o x."""
    out[:4] = product(conjugate(p[:4]), x[:4])


def add_product(p: Array, x: Array, scale: float, out: Array) -> None:
    """out[:4] += scale p o x."""
    out[:4] += product(p[:4], x[:4]) * scale


def quaternion_tangents(p: Array, K: Array) -> None:
    """K[:4, :3] = T_p(p), [NS] (41)."""
    K[:4, :3] = QUATERNION.kinematics(p[:4])
