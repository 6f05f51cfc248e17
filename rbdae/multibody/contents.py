"""The contents of a model in one formulation, as a number: memories with the same contents have the same code."""

from __future__ import annotations

import hashlib
from typing import Any

from rbdae.multibody.memory import Memory

_MODEL = ("bodies", "primitives", "bushings", "drives")
_ADDRESSES = ("force", "jacobian", "potential", "law")
"""The fields of records that are addresses of the user's functions."""

_SETTINGS = ("kind", "structure", "n_independent", "redundant")


def contents(memory: Memory) -> tuple[Any, ...]:
    """Formulation and chart themselves, and a digest of all other numbers: of the model, with the user's functions, of
    the settings, and of the state and selection at which conditions are answered."""
    model, settings = memory.model, memory.settings
    digest = hashlib.sha256()
    arrays = [getattr(model, name) for name in _MODEL]
    arrays += [model.forces.elements, model.forces.entries, memory.regular, memory.numbers]
    if memory.code == "open":  # its numbers are inputs: `rbdae.multibody.recording.own_constants`
        arrays = []
    functions = [*model.user_functions, *model.forces.functions]
    for array in (*map(_without_addresses, arrays), *(velocity.S for velocity in settings.tree)):
        digest.update(repr(array.shape).encode())
        digest.update(array.tobytes())
    named = [getattr(settings, name) for name in _SETTINGS]
    placed = (memory.layout.order, model.tree, [velocity.primitives for velocity in settings.tree])
    points = [(joint.bodies, [point.tolist() for point in joint.points]) for joint in model.joints]
    laws = [_identity(function, memory.traced) for function in functions]
    digest.update(repr((named, placed, points, sorted(memory.features), memory.code, laws)).encode())
    return settings.formulation, settings.chart, digest.digest()


def _without_addresses(array: Any) -> Any:
    """Records that say where there are functions, and not at which addresses."""
    names = [name for name in _ADDRESSES if name in (array.dtype.names or ())]
    if not names:
        return array
    out = array.copy()
    for name in names:
        out[name] = array[name] != 0
    return out


def _identity(function: Any, traced: bool) -> object:
    """A law that is recorded is what it computes: code has it. A function that code may call is where it is, too: a law
    that raises an exception where conditions are answered is called."""
    law = function.law if traced else None
    if law is not None and law.always_regular:
        return law.digest
    return function.address, id(function), None if law is None else law.digest


__all__ = ["contents"]
