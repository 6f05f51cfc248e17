"""Checked arguments of functions of rotations: those of charts (`rbdae.rotations.checks`), numbers and directions."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.rotations.checks import ORTHONORMAL as ORTHONORMAL
from rbdae.rotations.checks import array
from rbdae.rotations.checks import norm as norm
from rbdae.rotations.checks import rotation_matrices as rotation_matrices
from rbdae.rotations.checks import rotation_quaternions as rotation_quaternions
from rbdae.rotations.checks import to_rotation as to_rotation
from rbdae.rotations.checks import together as together
from rbdae.rotations.checks import vectors as vectors


def numbers(owner: str, what: str, value: object) -> Vec:
    """Finite real numbers of any shape, float64."""
    return array(owner, what, value, (), "a real number or an array of them", "give float64")


def matrices(owner: str, what: str, value: object) -> Mat:
    """Finite real numbers (..., 3, 3), float64."""
    wanted = "a (3, 3) array of real numbers, or a stack of them, (..., 3, 3)"
    return array(owner, what, value, (3, 3), wanted, "pass e.g. numpy.eye(3)")


def axes(owner: str, what: str, value: object) -> Vec:
    """Unit vectors (..., 3) along vectors that are not zero."""
    return _directions(owner, what, value, 3, "the zero vector", "pass a direction, e.g. (0, 0, 1)")


def nonzero_quaternions(owner: str, what: str, value: object) -> Vec:
    """Unit quaternions (..., 4) along quaternions that are not zero, scalar first."""
    return _directions(owner, what, value, 4, "the zero quaternion", "pass (1, 0, 0, 0) for the identity")


def _directions(owner: str, what: str, value: object, n: int, zero: str, remedy: str) -> Vec:
    out = vectors(owner, what, value, n)
    largest = np.abs(out).max(axis=-1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError(f"{owner}: {what} must not be {zero}, got {_check.show(value)}; {remedy}")
    out = out / largest  # lengths that are subnormal have few digits
    unit: Vec = out / norm(out)[..., None]
    return unit
