"""What a model in one formulation consists of, as a number: memories with the same contents have the same code."""

from __future__ import annotations

import hashlib
from typing import Any

from rbdae.multibody.memory import Memory

_MODEL = ("bodies", "primitives", "bushings", "drives")
_SETTINGS = ("kind", "radial", "gyroscopic", "pull_back", "gains", "structure", "n_independent", "redundant", "columns")


def contents(memory: Memory) -> tuple[Any, ...]:
    """Formulation and chart themselves, and a digest of all numbers: of the model, with the addresses of the user's
    functions, of the settings, and of the state and selection at which conditions are answered."""
    model, settings = memory.model, memory.settings
    digest = hashlib.sha256()
    arrays = [getattr(model, name) for name in _MODEL]
    arrays += [model.forces.elements, model.forces.entries, memory.regular, memory.numbers]
    for array in (*arrays, *(velocity.S for velocity in settings.tree)):
        digest.update(repr(array.shape).encode())
        digest.update(array.tobytes())
    named = [getattr(settings, name) for name in _SETTINGS]
    placed = (memory.layout.order, model.tree, [velocity.primitives for velocity in settings.tree])
    points = [(joint.bodies, [point.tolist() for point in joint.points]) for joint in model.joints]
    digest.update(repr((named, placed, points, sorted(memory.features), memory.code)).encode())
    return settings.formulation, settings.chart, digest.digest()


__all__ = ["contents"]
