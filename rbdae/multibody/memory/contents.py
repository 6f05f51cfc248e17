"""The contents of a model in one formulation, as a digest: memories with the same contents have the same code.

For code that loads the numbers of the model they are its structure. Then code is found on disk without recording it.
"""

from __future__ import annotations

import hashlib
import marshal
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from rbdae.kernels.memory import Content, named
from rbdae.machine.cache import note, noted
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.open_numbers import ADDRESSES
from rbdae.multibody.memory.workspace import Workspace

_SETTINGS = ("structure", "n_independent", "redundant")

_READ = ("conserving", "formulations", "graph", "kernels", "laws", "machine", "multibody", "rotations")
"""The folders that a recording, and the code of it, depend on."""


_KEPT = 8
"""Results at points of one structure that are kept on disk."""


def contents(memory: Memory) -> tuple[Any, ...]:
    """Formulation and chart themselves, and a digest of all that code depends on beside kernels."""
    found: tuple[Any, ...] | None = memory.known.get("contents")
    if found is None:
        digest = _digest(memory)
        found = memory.known["contents"] = memory.settings.formulation, memory.settings.chart, memory.code, digest
    return found


def on_disk(workspace: Workspace, kernel: str) -> tuple[object, ...] | None:
    """The same for other processes, with all of a selection that code depends on; None if a kernel, a chart or a
    function is not of this library or can be called at an address alone, and for code with the numbers of one model."""
    memory = workspace.memory
    return _of_library(workspace, kernel) if memory.opened and all_recorded(memory) else None


def pattern_on_disk(workspace: Workspace, kernel: str) -> tuple[object, ...] | None:
    """The same of a pattern, also where other code records none: there it depends on all numbers."""
    memory = workspace.memory
    if memory.opened:
        return on_disk(workspace, kernel)
    return None if memory.model.functions else _of_library(workspace, kernel)


def kept_at_point(workspace: Workspace, kernel: str, point: bytes, find: Callable[[], Any], *more: object) -> Any:
    """The result of `find` for the structure and the numbers named `point`; some, but not None, are kept on disk."""
    place = on_disk(workspace, kernel)
    if place is None:
        return find()
    key, point = (place, *more), hashlib.sha256(point).digest()
    known: dict[bytes, Any] = marshal.loads(noted(key) or marshal.dumps({}))
    if point in known:
        return known[point]
    found = find()
    if found is not None and len(known) < _KEPT:
        note(key, marshal.dumps(known | {point: found}))
    return found


def _of_library(workspace: Workspace, kernel: str) -> tuple[object, ...] | None:
    memory = workspace.memory
    chart = memory.settings.chart
    own = all(name.startswith(f"{__package__.partition('.')[0]}.") for name in (kernel, chart.parameters.__module__))
    if not own or not _sources():
        return None
    chosen = [(name, array.shape) for name, array in workspace.selected.items()]
    of_selection = (workspace.own_constants, workspace.selection.rows.dropped, chosen)
    return memory.settings.formulation.name, chart.name, contents(memory)[-1], kernel, _sources(), of_selection


def all_recorded(memory: Memory) -> bool:
    """Whether code of the model calls no function of the user."""
    if "all recorded" not in memory.known:
        laws = [function.law for function in memory.model.functions]
        memory.known["all recorded"] = all(law is not None and law.always_regular for law in laws)
    return bool(memory.known["all recorded"])


def _digest(memory: Memory) -> bytes:
    """Sizes and kinds, which bodies, joints and forces act on which, and the user's functions; where code does not load
    the numbers of the model (`Workspace.own_constants` tells these apart), they as well, and the state and the
    selection at which conditions are answered."""
    arrays = {name: memory.arrays[name] for name in named(Content.STRUCTURE)}
    if not memory.opened:
        arrays |= {name: _without_addresses(memory.arrays[name]) for name in named(Content.NUMBERS)}
        arrays |= {"regular": memory.regular, "selected": memory.numbers}
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.shape} {_described(array.dtype)}".encode())
        digest.update(array.tobytes())
    settings, layout = memory.settings, memory.layout
    chosen = [str(settings.formulation), settings.kind.number, *(getattr(settings, name) for name in _SETTINGS)]
    places = [np.asarray(x).tolist() for x in (layout.order, layout.iq, layout.iv)]
    laws = [_identity(function, memory.traced) for function in memory.model.functions]
    digest.update(repr((sorted(memory.sizes.items()), chosen, places, laws)).encode())
    return digest.digest()


@cache
def _described(dtype: Any) -> str:
    return f"{dtype.descr}"


def _without_addresses(array: Any) -> Any:
    """Records that say where there are functions, and not at which addresses."""
    out = array.copy()
    for name in set(ADDRESSES).intersection(array.dtype.names or ()):
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
    home = Path(__file__).parent.parent.parent
    digest = hashlib.sha256()
    try:
        for folder in _READ:
            for file in sorted((home / folder).rglob("*.py")):
                digest.update(file.read_bytes())
    except OSError:
        return ""
    return digest.hexdigest()
