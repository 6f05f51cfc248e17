"""The records of bodies: mass and inertia, and what follows from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.body import Body
from rbdae.kernels.records import BODY
from rbdae.system import System

_INERTIAL = ("mass", "inertia", "inertia_inverse", "euler", "euler_inverse", "weight", "weight_d")
"""The fields that follow from them."""


def body_rows(system: System, dtype: Any) -> Any:
    """One row a body, the ground last."""
    ground = np.zeros((), dtype=dtype)
    ground["parent"], ground["fixed"] = -1, 1
    ground["mass"] = 1.0  # divided by in places that do not count for the ground
    return np.array([*(body_row(body, system.gravity, dtype) for body in system.bodies), ground], dtype=dtype)


def body_row(body: Body, gravity: Vec, dtype: Any = BODY) -> Any:
    """The record of a body, before it has a place among the others."""
    row = np.zeros((), dtype=dtype)
    row["parent"] = -1
    row["mass"] = body.mass
    row["inertia"] = body.inertia
    row["inertia_inverse"] = np.linalg.inv(body.inertia)
    euler = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    row["euler"] = euler
    # a flat body has a singular Euler tensor: the forms that need the inverse refuse it by name
    if abs(np.linalg.det(euler)) > 1e-12 * np.real(np.trace(body.inertia)) ** 3:
        row["euler_inverse"] = np.linalg.inv(euler)
    else:
        row["euler_inverse"] = np.nan
    row["radial"] = 0.5 * np.trace(body.inertia)
    row["center"] = body.center_of_mass
    row["nt"] = 3 if body.pivot is None else 0
    if body.pivot is not None:
        row["origin"] = body.pivot
    row["weight"], row["weight_d"] = weights(body, gravity)
    return row


def weights(body: Body, gravity: Vec) -> tuple[Vec, Vec]:
    """The weight of a body on its reference point (3,) and on its directors (9,)."""
    weight: Vec = body.mass * gravity
    if body.pivot is None:
        return weight, np.zeros(9)
    return np.zeros(3), np.outer(body.center_of_mass, weight).reshape(9)


def set_mass(records: Any, place: int, body: Body, gravity: Vec) -> None:
    """Another mass for the record of a body."""
    weight = weights(body, gravity)
    records["mass"][place], records["weight"][place], records["weight_d"][place] = body.mass, *weight


def set_inertia(records: Any, place: int, row: Any, radial: float) -> None:
    """Another mass and inertia, with what follows, for the record of a body; its radial inertia is that of its
    row times `radial`."""
    for name in _INERTIAL:
        records[name][place] = row[name]
    records["radial"][place] = row["radial"] * radial


__all__ = ["body_row", "body_rows", "set_inertia", "set_mass"]
