"""The records of bodies: mass and inertia, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence
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
    out = np.zeros(len(system.bodies) + 1, dtype=dtype)
    _fill(out[:-1], system.bodies, system.gravity)
    ground = out[-1]
    ground["parent"], ground["fixed"] = -1, 1
    ground["mass"] = 1.0  # divided by in places that do not count for the ground
    return out


def body_row(body: Body, gravity: Vec) -> Any:
    """The record of a body, before it has a place among the others."""
    rows = np.zeros(1, dtype=BODY)
    _fill(rows, [body], gravity)
    return rows[0]


def _fill(rows: Any, bodies: Sequence[Body], gravity: Vec) -> None:
    """Bodies to their records, all at once: of a matrix alone a function of numpy.linalg takes five times as long."""
    inertia = np.array([body.inertia for body in bodies])
    trace = inertia.trace(axis1=1, axis2=2)
    euler = 0.5 * trace[:, None, None] * np.eye(3) - inertia
    # a flat body has a singular Euler tensor: the forms that need the inverse refuse it by name
    flat = ~(np.abs(np.linalg.det(euler)) > 1e-12 * np.real(trace) ** 3)
    inverse = np.linalg.inv(np.where(flat[:, None, None], np.eye(3), euler))
    inverse[flat] = np.nan
    rows["parent"] = -1
    rows["mass"] = [body.mass for body in bodies]
    rows["inertia"], rows["inertia_inverse"] = inertia, np.linalg.inv(inertia)
    rows["euler"], rows["euler_inverse"], rows["radial"] = euler, inverse, 0.5 * trace
    rows["center"] = [body.center_of_mass for body in bodies]
    rows["nt"] = [3 if body.pivot is None else 0 for body in bodies]
    for row, body in zip(rows, bodies, strict=True):
        if body.pivot is not None:
            row["origin"] = body.pivot
        row["weight"], row["weight_d"] = weights(body, gravity)


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
