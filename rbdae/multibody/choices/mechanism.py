"""A mechanism in numbers, for comparing the one of a stored run with another.

Functions of the user cannot be compared: of a law there is only whether it is one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.multibody.choices.settings import Settings
from rbdae.multibody.system.model import Model

_CLOSE = 1e-9
"""Relative difference up to which numbers count as the same: they may come from another machine."""

_ELEMENT = ("body", "shaping", "stiffness", "damping", "rest", "constant", "sign", "level")


def mechanism(model: Model, settings: Settings) -> Vec:
    """All numbers, one after another."""
    return np.concatenate([values for _, values in _numbers(model, settings)])


def difference(model: Model, settings: Settings, stored: Vec) -> str | None:
    """The first thing that is another one in the stored numbers, in words; None if nothing is."""
    at = 0
    for name, values in _numbers(model, settings):
        theirs = stored[at : at + len(values)]
        size = float(np.max(np.abs(values), initial=0.0))
        if len(theirs) < len(values) or not bool((np.abs(theirs - values) <= _CLOSE * size).all()):
            return name
        at += len(values)
    return None if at == len(stored) else "the number of joints or forces"


def _numbers(model: Model, settings: Settings) -> Iterator[tuple[str, Vec]]:
    """Names, and numbers that are compared by the largest of them."""

    def named(name: str, value: Any) -> tuple[str, Vec]:
        return name, np.atleast_1d(np.asarray(value, dtype=np.float64)).ravel()

    yield named("the number of bodies, joints or forces", [model.n, len(model.joints), len(model.forces.elements)])
    yield named("gravity", model.system.gravity)
    # one number for radial inertia, gyroscopic term and generalised forces, and two more at least: files of version 0.1
    # have three here
    chosen = settings.formulation.choice
    forms = settings.radial + 2.0 * (chosen("gyroscopic") == "fifth-order") + 16.0 * settings.unit_norm
    forms += {"moment": 4.0, "inhomogeneous": 8.0}.get(chosen("pull_back"), 0.0)
    yield named("the parameters of the formulation", forms)
    parameters = settings.formulation.parameters
    for parameter, value in parameters.items():
        yield named(f"{parameter} of the formulation", value)
    yield named("the parameters of the formulation", np.zeros(max(2 - len(parameters), 0)))
    for body in model.system.bodies:
        yield named(f"the mass of body {body.name!r}", body.mass)
        yield named(f"the inertia of body {body.name!r}", body.inertia)
        yield named(f"the centre of mass of body {body.name!r}", body.center_of_mass)
        pivot = [0.0] * 4 if body.pivot is None else [1.0, *body.pivot]
        yield named(f"the pivot of body {body.name!r}", pivot)
    for joint in model.joints:
        for k in joint.primitives:
            row = model.primitives[k]
            for field in ("linear", "body", "A", "B", "scale", "offset", *(["more"] if row["law"] else [])):
                yield named(f"the geometry of joint {joint.name!r}", row[field])
    for what, table, fields in (
        ("force element", model.forces.elements, _ELEMENT),
        ("force element", model.forces.entries, ("form", "A", "B")),
        ("friction under a reaction", model.frictions, ("element", "first", "point", "axis", "length", "floor")),
    ):
        for k, row in enumerate(table):
            for field in fields:
                yield named(f"{what} {k + 1} ({field})", row[field])
