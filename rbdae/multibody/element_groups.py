"""Kinds of elements, bodies and joints with their bodies: those of one kind differ in places and loaded numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from rbdae._arrays import Ints
from rbdae.multibody.open_numbers import OpenNumbers
from rbdae.multibody.recording import opened_numbers
from rbdae.multibody.workspace import Workspace

_PLACES = ("iq", "iv", "il", "parent", "inu", "row", "body", "slot")
"""Fields of records that say where something is."""

_NONE = np.zeros(0, dtype=np.int64)


class Group(NamedTuple):
    """Elements of one kind: their bodies (elements, bodies), the ground as the last body of the model, and their
    primitives (elements, primitives)."""

    bodies: Ints
    primitives: Ints


def groups_of(workspace: Workspace) -> list[Group]:
    """The kinds: bodies first, then joints; equal but for their places and for the numbers that are loaded."""
    arrays, n = workspace.arrays, workspace.model.n
    numbers = opened_numbers(workspace)
    primitives = arrays["primitives"]
    members = [(np.array([b]), _NONE) for b in range(n)]
    if len(primitives):
        new = (np.diff(primitives["body"], axis=0) != 0).any(axis=1)
        for own in np.split(np.arange(len(primitives)), np.flatnonzero(new) + 1):
            pair = primitives["body"][own[0]]
            members.append((pair, own))
    kinds: dict[bytes, list[tuple[Ints, Ints]]] = {}
    for pair, own in members:
        kinds.setdefault(_signature(arrays, numbers, pair, own, n), []).append((pair, own))
    return [Group(np.array([b for b, _ in kind]), np.array([p for _, p in kind])) for kind in kinds.values()]


def _signature(arrays: Any, numbers: OpenNumbers, bodies: Ints, primitives: Ints, n: int) -> bytes:
    """What elements of one kind have in common: all but their places and the values of numbers that are loaded."""
    told: list[bytes] = [(bodies == n).tobytes()]
    for name, records in records_of(bodies, primitives):
        structure = numbers.arrays[name].structure
        told += [arrays[name][field][records].tobytes() for field in _structural(arrays[name].dtype)]
        told += [structure.constants[records].tobytes(), np.sign(structure.places[records]).tobytes()]
    if len(primitives):
        own = arrays["primitives"][primitives]
        told += [(own["row"] - own["row"][0]).tobytes(), (own["body"] == bodies[0]).tobytes()]
    return b"|".join(told)


def records_of(bodies: Ints, primitives: Ints) -> list[tuple[str, Ints]]:
    """The arrays with numbers of elements, and which of their records are theirs."""
    return [(name, of) for name, of in (("bodies", bodies), ("states", bodies), ("primitives", primitives)) if of.size]


def _structural(dtype: Any) -> list[str]:
    return [name for name in dtype.names if dtype[name].base.kind == "i" and name not in _PLACES]


def unknowns_of(workspace: Workspace, group: Group, n: int) -> tuple[Ints, Ints]:
    """Where the unknowns of the bodies, and the multipliers of the joint rows, are for each element."""
    layout, B, P = workspace.layout, workspace.arrays["bodies"], workspace.arrays["primitives"]
    second = [part.start for part in (layout.la, layout.mu) if part.stop > part.start]
    columns: list[Ints] = []
    for k in range(group.bodies.shape[1]):
        bodies = group.bodies[:, k]
        if bodies[0] == n:
            continue
        of = B[bodies[0]]
        columns.append(layout.q.start + B["iq"][bodies][:, None] + np.arange(of["nt"] + of["na"]))
        columns.append(layout.v.start + B["iv"][bodies][:, None] + np.arange(of["nt"] + of["nr"]))
        columns += [start + B["il"][bodies][:, None] + np.arange(of["ni"]) for start in second]
    rows: list[Ints] = []
    for k in range(group.primitives.shape[1]):
        own = group.primitives[:, k]
        rows += [start + P["row"][own][:, None] + np.arange(P["n"][own[0]]) for start in second]
    empty = np.zeros((len(group.bodies), 0), dtype=np.int64)
    return np.hstack([empty, *columns]), np.hstack([empty, *rows])


__all__ = ["Group", "groups_of", "records_of", "unknowns_of"]
