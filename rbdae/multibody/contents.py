"""The contents of a model in one formulation, as a digest: memories with the same contents have the same code.

For code that loads the numbers of the model they are its structure. Then code is found on disk without recording it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rbdae.kernels.memory import Content, named
from rbdae.multibody.memory import Memory
from rbdae.multibody.open_numbers import ADDRESSES
from rbdae.multibody.recording import own_constants, selected
from rbdae.multibody.settings import Settings
from rbdae.multibody.workspace import Workspace

_MODEL = ("bodies", "primitives", "drives", "frictions")

_SETTINGS = ("structure", "n_independent", "sparse", "redundant")

_READ = ("conserving", "formulations", "graph", "kernels", "laws", "machine", "multibody", "rotations")
"""The folders that a recording, and the code of it, depend on."""


def contents(memory: Memory) -> tuple[Any, ...]:
    """Formulation and chart themselves, and a digest of all that code depends on beside kernels."""
    found: tuple[Any, ...] | None = memory.known.get("contents")
    if found is None:
        digest = (_structure if memory.opened else _numbers)(memory)
        found = memory.known["contents"] = memory.settings.formulation, memory.settings.chart, memory.code, digest
    return found


def on_disk(workspace: Workspace, kernel: str) -> tuple[object, ...] | None:
    """The same for other processes, with all of a selection that code depends on; None if a kernel, a chart or a
    function is not of this library or can be called at an address alone, and for code with the numbers of one model."""
    memory = workspace.memory
    if not (memory.opened and all_recorded(memory)):
        return None
    return _of_library(workspace, kernel, contents(memory)[-1])


def pattern_on_disk(workspace: Workspace, kernel: str) -> tuple[object, ...] | None:
    """The same of a pattern, also where other code records none: there it depends on all numbers."""
    memory = workspace.memory
    if memory.opened:
        return on_disk(workspace, kernel)
    return None if memory.filled.like.functions else _of_library(workspace, kernel, _numbers(memory))


def _of_library(workspace: Workspace, kernel: str, digest: bytes) -> tuple[object, ...] | None:
    memory = workspace.memory
    chart = memory.settings.chart
    own = all(name.startswith(f"{__package__.partition('.')[0]}.") for name in (kernel, chart.parameters.__module__))
    if not own or not _sources():
        return None
    chosen = [(name, array.shape) for name, array in selected(workspace).items()]
    of_selection = (own_constants(workspace), workspace.selection.rows.dropped, chosen)
    return memory.settings.formulation.name, chart.name, digest, kernel, _sources(), of_selection


def all_recorded(memory: Memory) -> bool:
    """Whether code of the model calls no function of the user."""
    if "all recorded" not in memory.known:
        laws = [function.law for function in memory.filled.like.functions]
        memory.known["all recorded"] = all(law is not None and law.always_regular for law in laws)
    return bool(memory.known["all recorded"])


def _structure(memory: Memory) -> bytes:
    """Sizes and kinds, which bodies, joints and forces act on which, and the user's functions; without numbers that are
    loaded, which `rbdae.multibody.recording.own_constants` tells apart."""
    digest = hashlib.sha256()
    digest.update(memory.head.tobytes())
    _update(digest, {name: memory.arrays[name] for name in named(Content.STRUCTURE)})
    chosen = _chosen(memory.settings)
    places = [np.asarray(x).tolist() for x in (memory.layout.order, memory.layout.iq, memory.layout.iv)]
    digest.update(repr((chosen, places, _laws(memory))).encode())
    return digest.digest()


def _numbers(memory: Memory) -> bytes:
    """All numbers: of the model, with the user's functions, of the settings, and of the state and selection at which
    conditions are answered."""
    model, settings = memory.model, memory.settings
    digest = hashlib.sha256()
    arrays = [getattr(model, name) for name in _MODEL]
    of_forces = ("elements", "entries", "constants", "bodies", "element_inputs", "algebraic")
    arrays += [*(getattr(model.forces, name) for name in of_forces), memory.regular, memory.numbers]
    numbered = dict(enumerate([*arrays, *(velocity.S for velocity in settings.tree)]))
    _update(digest, {str(k): _without_addresses(array) for k, array in numbered.items()})
    chosen = _chosen(settings)
    placed = (memory.layout.order, model.tree, [velocity.primitives for velocity in settings.tree])
    points = [(joint.bodies, [point.tolist() for point in joint.points]) for joint in model.joints]
    digest.update(repr((chosen, placed, points, _laws(memory))).encode())
    return digest.digest()


def _chosen(settings: Settings) -> list[object]:
    return [str(settings.formulation), settings.kind.number, *(getattr(settings, name) for name in _SETTINGS)]


def _update(digest: Any, arrays: Mapping[str, Any]) -> None:
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} {_described(array.dtype)}".encode())
        digest.update(array.tobytes())


@cache
def _described(dtype: Any) -> str:
    return f"{dtype.descr}"


def _laws(memory: Memory) -> list[object]:
    return [_identity(function, memory.traced) for function in memory.filled.like.functions]


def _without_addresses(array: Any) -> Any:
    """Records that say where there are functions, and not at which addresses."""
    names = [name for name in ADDRESSES if name in (array.dtype.names or ())]
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


@cache
def _sources() -> str:
    """A digest of the files that recordings depend on; empty in an application without sources."""
    home = Path(__file__).parent.parent
    digest = hashlib.sha256()
    try:
        for folder in _READ:
            for file in sorted((home / folder).rglob("*.py")):
                digest.update(file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()
