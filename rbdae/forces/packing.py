"""From the elements of forces to the arrays of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, of_scalars
from rbdae.compiler.user_functions import UserFunction, is_compiled, like
from rbdae.forces.element import Element, StateElement, TimeFunction, UserElement, value_of, winding_name
from rbdae.forces.functions import (
    BY_RATES,
    Sources,
    of_sources,
    pack_functions,
    pack_states,
    user_function,
)
from rbdae.forces.packed import Algebraic, Packed, Winding, values_of_forms
from rbdae.inputs import Input
from rbdae.kernels import records as kb
from rbdae.laws.recorded import Recorded, of_time
from rbdae.quantities.forms import moved

KernelElement: TypeAlias = Element | UserElement | StateElement
"""What is packed here; `PointSpring`s have records of their own."""

_COINCIDE = 1e-12
"""Two points are one where their distance is below this fraction of the vectors whose difference it is."""

_TURN = 2.0 * np.pi
_SHAPES = {"identity": kb.IDENTITY, "root": kb.ROOT, "angle": kb.ANGLE}


def pack(
    elements: list[tuple[str, KernelElement, tuple[int, ...]]],
    shift: list[Vec],
    start: Mat,
    scalar: Any = np.float64,
    *,
    inputs: Sequence[Input] = (),
    sources: Sources = MappingProxyType({}),
    explicit: bool = False,
) -> Packed:
    """Pack (name of the force, element, bodies by number); `shift` are the reference points of the bodies in their
    frames, `start` their initial (x, d1, d2, d3) with x the reference point. `explicit` forms have no algebraic
    unknowns."""
    rows = np.zeros(len(elements), dtype=of_scalars(kb.ELEMENT, scalar))
    packing = _Packing(shift, start, inputs, sources, explicit)
    for row, (name, element, bodies) in zip(rows, elements, strict=True):
        row["body"] = (*bodies, len(start) - 1, len(start) - 1)[:2]
        if isinstance(element, UserElement):
            packing.add_user(row, name, element, bodies)
        elif isinstance(element, StateElement):
            packing.add_stateful(row, name, element, bodies)
        else:
            packing.add_along(row, name, element, bodies)
    return packing.packed(rows, scalar)


@final
class _Packing:
    """The arrays that elements fill, one after the other."""

    def __init__(self, shift: list[Vec], start: Mat, inputs: Sequence[Input], sources: Sources, explicit: bool) -> None:
        self._shift, self._start, self._sources, self._explicit = shift, start, sources, explicit
        self._place = {each: k for k, each in enumerate(each for each in inputs if each not in sources)}
        self._entries: list[Any] = []
        self._functions: list[UserFunction] = []
        self._states: dict[str, float] = {}
        self._windings: list[Winding] = []
        self._algebraic: list[int] = []
        self._unknowns: list[Algebraic] = []
        self._bodies: list[int] = []
        self._read: list[int] = []
        self._constants: list[Any] = []
        self._constant_labels: list[str] = []

    def add_user(self, row: Any, name: str, element: UserElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions."""
        owner = f"force {name!r}"
        row["shaping"] = kb.USER
        self._functions += pack_functions(owner, row, element.force, element.jacobian, 48, 24, BY_RATES)
        if element.potential is not None:
            self._functions.append(user_function(owner, "potential", element.potential, 24, 1)[0])
            row["potential"] = self._functions[-1].address

    def add_stateful(self, row: Any, name: str, element: StateElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions with states."""
        mine = self._reads(row, [each for each in element.inputs if each in self._place])
        row["shaping"], row["state"] = kb.STATEFUL, len(self._states)
        row["first_body"], row["n_bodies"] = len(self._bodies), len(bodies)
        self._bodies += bodies
        begin = np.asarray(element.start.real if np.iscomplexobj(element.start) else element.start, dtype=float)
        n = len(element.names) - element.algebraic
        left = element.names[:n] if self._explicit else element.names
        row["n_states"] = len(left)
        some = element.bodies is None and not element.inputs
        _add_states(
            self._states, "" if element.labelled else name, left, begin[:n] if self._explicit else begin, some=some
        )
        self._algebraic += [int(k >= n) for k in range(len(left))]
        made, of = pack_states(
            f"force {name!r}", row, element, begin, 12 * len(bodies), self._sources, explicit=self._explicit
        )
        self._functions += made
        first = row["first_parameter"] = len(self._constants)
        n_constants = int(row["n_parameters"])
        self._constants += [*element.constants.values()][:n_constants]
        self._constant_labels += [*element.constants][:n_constants]
        if of is not None:
            places = slice(first, first + n_constants)
            self._unknowns.append(Algebraic(of, int(row["state"]), len(left), bodies, mine, places))

    def add_along(self, row: Any, name: str, element: Element, bodies: tuple[int, ...]) -> None:
        """A force along forms."""
        law = of_sources(element.law, self._sources)
        motion = None if element.force is None else element.force.under(self._sources)
        self._reads(row, law.inputs if motion is None else motion.inputs)
        self._functions += _pack_law(f"force {name!r}", row, law, len(element.rest))
        _pack_constants(row, element)
        if motion is not None:
            self._functions += motion.pack(f"force {name!r}", row)
        Z, S = self._start[list(bodies)].ravel(), moved(*(self._shift[b] for b in bodies))
        H, c = _pack_forms(row, name, element, S, Z, self._entries)
        if element.winding:
            number = 0
            while f"{name}.{winding_name(number)}" in self._states:
                number += 1
            self._windings.append(Winding(len(self._states), bodies, H.real, c.real))
            row["winding"], row["state"], row["n_states"] = 1, len(self._states), 1
            _add_states(self._states, name, (winding_name(number),), np.array([self._windings[-1].angle(Z)]))
            self._algebraic.append(0)

    def _reads(self, row: Any, inputs: Sequence[Input]) -> tuple[int, ...]:
        """The numbers of inputs that an element reads."""
        mine = tuple(self._place[each] for each in inputs)
        row["first_input"], row["n_inputs"] = len(self._read), len(mine)
        self._read += mine
        return mine

    def packed(self, rows: Any, scalar: Any) -> Packed:
        """The arrays of all elements."""
        constants = np.zeros(len(self._constants), dtype=of_scalars(kb.CONSTANT, scalar))
        constants["value"] = self._constants
        return Packed(
            elements=rows,
            entries=np.array(self._entries, dtype=of_scalars(kb.ENTRY, scalar)),
            functions=tuple(self._functions),
            state_labels=tuple(self._states),
            state_start=_check.frozen(np.array(list(self._states.values()), dtype=float)),
            windings=tuple(self._windings),
            algebraic=np.array(self._algebraic, dtype=np.int64),
            unknowns=tuple(self._unknowns),
            bodies=np.array(self._bodies, dtype=np.int64),
            inputs=tuple(self._place),
            element_inputs=np.array(self._read, dtype=np.int64),
            constants=constants,
            constant_labels=tuple(self._constant_labels),
        )


def _add_states(
    states: dict[str, float], force: str, names: tuple[str, ...], values: Vec, *, some: bool = True
) -> None:
    """Initial values by labels; refuses names that are taken, and values that are no numbers. There are `some`."""
    owner = f"force {force!r}"
    start = np.asarray(values, dtype=float)
    if some and not names:
        raise ValueError(f"{owner}: its StateElement has no state; use a UserElement")
    if start.shape != (len(names),) or not np.isfinite(start).all():
        raise ValueError(
            f"{owner}: the start of its internal states {', '.join(names)} must be {len(names)} finite "
            f"numbers, got {_check.show(values)}; give one for each"
        )
    for name, value in zip(names, start, strict=True):
        label = f"{force}.{_check.name('internal state', name, ())}" if force else name
        if label in states:
            raise ValueError(f"{owner}: two of its internal states are called {name!r}; rename one")
        states[label] = float(value)


def _pack_law(owner: str, row: Any, law: TimeFunction, n: int) -> list[UserFunction]:
    row["constant"][:n] = law.constant
    if law.function is None:
        return []
    made = _of_time(owner, law, n)
    row["law"] = made.address
    return [made]


def _pack_constants(row: Any, element: Element) -> None:
    n = len(element.rest)
    row["shaping"] = _SHAPES[element.shape]
    row["forms"] = len(element.forms)
    row["stiffness"][:n, :n] = element.stiffness
    row["damping"][:n, :n] = element.damping
    row["rest"][:n] = element.rest
    row["sign"] = element.sign
    row["level"] = element.level
    row["holonomic"] = element.holonomic
    row["damped"] = np.any(element.damping)
    row["tangent"] = np.any(element.forms) or np.any(element.stiffness) or np.any(element.damping)


def _pack_forms(row: Any, name: str, element: Element, S: Mat, Z: Vec, entries: list[Any]) -> tuple[Any, Mat]:
    """The coefficients H and c of the forms of an element, of the reference points by S; Z is its initial position."""
    H, c = np.einsum("ji,ajk,kl->ail", S, element.forms, S), element.rows @ S
    row["first"] = len(entries)
    entries += [(a, i, -1, c[a, i]) for a, i in np.argwhere(c)]
    entries += [(a, i, j, H[a, i, j]) for a, i, j in np.argwhere(H)]
    row["last"] = len(entries)
    touched = np.any(c, axis=0) | np.any(H, axis=(0, 1)) | np.any(H, axis=(0, 2))
    row["start"] = 0 if touched.reshape(2, 4, 3)[:, 0].any() else 3
    q = values_of_forms(H.real, c.real, Z)
    if element.shape == "root" and not q[0] > _COINCIDE**2 * values_of_forms(np.abs(H), c.real, np.abs(Z))[0]:
        raise ValueError(
            f"force {name!r}: its two points coincide at the start, where the line between them has no direction; "
            "move one, or use rbdae.forces.Bushing"
        )
    return H, c


def _of_time(owner: str, law: TimeFunction, n: int) -> UserFunction:
    """A user's function of time as f(t, x, out); what Python gives is checked at every call."""
    function: Any = law.function
    if is_compiled(function):
        return _compiled_of_time(function, n)

    def checked(_: int, t: float, value: Any) -> Vec:
        return value_of(owner, replace(law, function=lambda _: value), t)

    return UserFunction(Recorded(f"{owner}: {law.what}", [function], partial(of_time, n, checked), 0, n), 0, n)


@lru_cache(maxsize=64)
def _compiled_of_time(function: Any, n: int) -> UserFunction:
    """A numba function of time as f(t, x, out), checked once (`rbdae.initial.user_laws`)."""
    if n == 1:

        def one(t: float, x: Vec, out: Vec) -> None:
            out[0] = function(t)

        return UserFunction(like(function, one), 0, n)

    def vector(t: float, x: Vec, out: Vec) -> None:
        value = function(t)
        for k in range(n):
            out[k] = value[k]

    return UserFunction(like(function, vector), 0, n)


__all__ = ["KernelElement", "Packed", "pack"]
