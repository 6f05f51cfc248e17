"""Kinds of elements: bodies with what acts on them from the ground, and pairs of bodies with their joints and forces.

Those of one kind differ in places and in loaded numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.kernels.records import FUNCTION
from rbdae.multibody.memory.open_numbers import ADDRESSES
from rbdae.multibody.memory.workspace import Workspace

OF_FORCES = ("elements", "entries", "element_constants")
"""The arrays of applied forces, and those that belong to them."""

_UNTOLD = frozenset({
    "iq", "iv", "il", "parent", "inu", "row", "body", "slot", "first", "last", "state", "primitive", "first_body",
    "first_parameter", "nu", "first_input", "input", "potential",
})  # fmt: skip
"""Fields of records that say where something is, and a function that residuals do not call."""


def of_elements(arrays: Mapping[str, Any]) -> bool:
    """Whether the forces of a model are elements: they read no reactions, each of which needs that to a unit of every
    other friction; and those by functions are on two bodies."""
    elements = arrays["elements"]
    return not (len(arrays["frictions"]) or (elements["n_bodies"][elements["shaping"] == FUNCTION] != 2).any())


class Group(NamedTuple):
    """Elements of one kind: their bodies (elements, bodies), the ground as the last body of the model, and by the names
    of arrays their records (elements, records). A `pair` adds to the rows of its bodies, which have others of their
    own."""

    bodies: Ints
    records: Mapping[str, Ints]
    pair: bool

    @property
    def primitives(self) -> Ints:
        """Their primitives (elements, primitives)."""
        return self.records.get("primitives", np.zeros((len(self.bodies), 0), dtype=np.int64))

    @property
    def forces(self) -> dict[str, Ints]:
        """The records of their applied forces."""
        return {name: own for name, own in self.records.items() if name in OF_FORCES}

    @property
    def numbered(self) -> dict[str, Ints]:
        """The records that have numbers, those of bodies included."""
        return {"bodies": self.bodies, "states": self.bodies, **self.records}


class _Member(NamedTuple):
    bodies: Ints
    records: dict[str, list[int]]
    pair: bool


def groups_of(workspace: Workspace, *, apart: bool = False) -> list[Group]:
    """The kinds: bodies first, then pairs; equal but for their places and for the numbers that are loaded. With forces
    `apart`, those of a body or of a pair are an element of their own; and where joint equations may be suspended, an
    element has such that are eliminated one after the other, in this order.
    """
    arrays, n = workspace.arrays, workspace.model.n
    kinds: dict[object, list[_Member]] = {}
    members = _members(arrays, n)
    if apart:
        members = [part for member in members for part in _apart(member)]
        if workspace.selection.rows.pivot_floor is not None:
            members = [part for member in members for part in _in_order(arrays, member)]
    if workspace.settings.reduced:
        members = [_with_child(arrays, member) for member in members]
    told = _Told(workspace, arrays)
    for member in members:
        kinds.setdefault(told.signature(member), []).append(member)
    return [_group(kind) for kind in kinds.values()]


def _group(kind: list[_Member]) -> Group:
    records = {name: np.array([of.records[name] for of in kind], dtype=np.int64) for name in kind[0].records}
    return Group(np.array([of.bodies for of in kind]), records, kind[0].pair)


def _members(arrays: Any, n: int) -> list[_Member]:
    """All elements: forces between a body and the ground are the body's, those between two bodies their joints'."""
    bodies: list[dict[str, list[int]]] = [{} for _ in range(n)]
    pairs: dict[frozenset[int], _Member] = {}

    def records_between(pair: Ints, *, joint: bool) -> dict[str, list[int]]:
        if not joint and (pair == n).any():
            return bodies[int(pair.min())]
        return pairs.setdefault(frozenset(pair.tolist()), _Member(pair, {}, True)).records

    for k, pair in enumerate(arrays["primitives"]["body"]):
        records_between(pair, joint=True).setdefault("primitives", []).append(k)
    for k, of in enumerate(arrays["drives"]["primitive"]):
        records_between(arrays["primitives"]["body"][of], joint=True).setdefault("drives", []).append(k)
    for k, force in enumerate(arrays["elements"]):
        found = records_between(force["body"], joint=False)
        found.setdefault("elements", []).append(k)
        found.setdefault("entries", []).extend(range(int(force["first"]), int(force["last"])))
        if force["n_parameters"]:
            first = int(force["first_parameter"])
            found.setdefault("element_constants", []).extend(range(first, first + int(force["n_parameters"])))
    own = [_Member(np.array([b, n] if records else [b]), records, False) for b, records in enumerate(bodies)]
    return [*own, *pairs.values()]


def _apart(member: _Member) -> list[_Member]:
    """A body, or a joint with its drives, and the forces of the same element."""
    bodies, records, pair = member
    joint = {name: of for name, of in records.items() if name not in OF_FORCES}
    forces = {name: of for name, of in records.items() if name in OF_FORCES}
    out = [_Member(bodies, joint, True)] if joint else [] if pair else [_Member(bodies[:1], {}, False)]
    return [*out, _Member(bodies, forces, False)] if forces else out


def _in_order(arrays: Any, member: _Member) -> list[_Member]:
    """An element, or those of it of which no other equations are eliminated between their own."""
    P, driven = arrays["primitives"], arrays["drives"]["primitive"]
    parts: list[list[int]] = []
    end = -1
    for k in sorted(member.records.get("primitives", []), key=lambda k: int(P["slot"][k, 0])):
        if P["slot"][k, 0] != end:
            parts.append([])
        parts[-1].append(k)
        end = P["slot"][k, 0] + P["n"][k]
    drives = member.records.get("drives", [])
    return [
        member._replace(records={"primitives": part, "drives": [k for k in drives if int(driven[k]) in part]})
        for part in parts
    ] or [member]


def inputs_of(arrays: Any, n: int, records: Mapping[str, Ints]) -> Ints:
    """The inputs that the forces of each of n elements read, then its drives, (n, inputs)."""
    E, D, given = arrays["elements"], arrays["drives"], arrays["element_inputs"]
    found = [np.zeros((n, 0), dtype=np.int64)]
    for own in records.get("elements", found[0]).T:
        found.append(given[E["first_input"][own][:, None] + np.arange(E["n_inputs"][own[0]])])
    for own in records.get("drives", found[0]).T:
        found.append(D["input"][own][:, : D["n_inputs"][own[0]]])
    return np.hstack(found)


def child_of(parents: Ints, bodies: Ints) -> int:
    """The side of the body of a pair that hangs from the other one; `parents` are those of the bodies of a model."""
    return int(bodies[0] == len(parents) - 1 or parents[bodies[1]] == bodies[0])


def _with_child(arrays: Any, member: _Member) -> _Member:
    """A pair with the quasi-velocities of the body that hangs from the other one."""
    if not member.pair or not len(arrays["tree_velocities"]):
        return member
    child = int(member.bodies[child_of(arrays["bodies"]["parent"], member.bodies)])
    return member._replace(records=member.records | {"tree_velocities": [child]})


@final
class _Told:
    """What elements of one kind have in common: all but their places and the values of numbers that are loaded."""

    def __init__(self, workspace: Workspace, arrays: Any) -> None:
        laws = {each.address: each.law.digest for each in workspace.model.functions if each.law is not None}
        self._arrays, self._ground = arrays, workspace.model.n
        self._parents = arrays["bodies"]["parent"]
        self._alike: dict[str, list[int]] = {}  # equal numbers for records that are alike
        self._sides: dict[str, list[list[int]]] = {}
        for name, part in workspace.open_numbers.parts.items():
            array = arrays[name]
            if not len(array):
                continue
            columns = [part.constants.view(np.int64), np.sign(part.places)]
            for field in array.dtype.names:
                if array.dtype[field].base.kind != "i" or field in _UNTOLD:
                    continue
                values = array[field].reshape(len(array), -1)
                if field in ADDRESSES:
                    known: dict[object, int] = {}
                    numbers = [known.setdefault(laws.get(at, at), len(known)) for at in values.ravel().tolist()]
                    values = np.array(numbers, dtype=np.int64).reshape(values.shape)
                columns.append(values)
            alike: dict[bytes, int] = {}
            self._alike[name] = [alike.setdefault(row.tobytes(), len(alike)) for row in np.hstack(columns)]
            if "body" in array.dtype.names:
                self._sides[name] = array["body"].tolist()

    def signature(self, member: _Member) -> object:
        bodies, arrays, records = member.bodies.tolist(), self._arrays, member.records
        told: list[object] = [member.pair]
        for b in bodies:
            told += [b == self._ground, self._alike["bodies"][b], self._alike["states"][b]]
        for name, of in records.items():
            told += [name, *(self._alike[name][k] for k in of)]
            if name in self._sides:
                told += [b == bodies[0] for k in of for b in self._sides[name][k]]
        if member.pair:
            told.append(child_of(self._parents, member.bodies))
        if "drives" in records or "elements" in records:
            own = {name: np.array([of]) for name, of in records.items()}
            told.append(_alike(inputs_of(arrays, 1, own)[0].tolist()))
        if "drives" in records:
            driven = arrays["drives"]["primitive"][records["drives"]]
            told += [records["primitives"].index(k) for k in driven.tolist()]
        if "elements" in records:
            told += (arrays["elements"]["last"] - arrays["elements"]["first"])[records["elements"]].tolist()
        return tuple(told)


def _alike(values: list[int]) -> tuple[int, ...]:
    """For each value the first place of an equal one."""
    return tuple(map(values.index, values))
