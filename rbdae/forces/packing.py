"""From the elements of forces to the arrays of the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Ints, Mat, Vec, of_scalars
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
from rbdae.inputs import Input
from rbdae.kernels import records as kb
from rbdae.laws.eliminated import Unknowns
from rbdae.laws.recorded import Recorded, of_time, points_at
from rbdae.quantities.forms import moved

KernelElement: TypeAlias = Element | UserElement | StateElement
"""What is packed here; `PointSpring`s have records of their own."""

_COINCIDE = 1e-12
"""Two points are one where their distance is below this fraction of the vectors whose difference it is."""

_TURN = 2.0 * np.pi
_SHAPES = {"identity": kb.IDENTITY, "root": kb.ROOT, "angle": kb.ANGLE}


@dataclass(frozen=True, slots=True, eq=False)
class _Winding:
    """An internal state that counts the turns of an angle: the coefficients of its sine and cosine."""

    state: int
    bodies: tuple[int, ...]
    H: Any
    c: Mat

    def angle(self, Z: Vec) -> float:
        """The angle in (-pi, pi] at Z (24,)."""
        sine, cosine = _values(self.H, self.c, Z)
        return float(np.arctan2(sine, cosine))


@dataclass(frozen=True, slots=True, eq=False)
class _Algebraic:
    """Algebraic unknowns of one element: where its states begin, how many there are, its bodies and inputs."""

    of: Unknowns
    state: int
    n_states: int
    bodies: tuple[int, ...]
    inputs: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long.

    The internal states of all elements follow one another, each at the offset `state` of its element: `state_labels`
    are "force.state", `state_start` has their initial values. Of a winding that is the angle in (-pi, pi] where the
    bodies are placed; `states_at` has the one next to it in another position. `algebraic` is 1 for those that are
    algebraic unknowns, which `unknowns` solve for at the start.

    `bodies` are those of the elements by functions with states, `inputs` what elements read from outside, and
    `element_inputs` which of them, one element after the other.
    """

    elements: Any
    entries: Any
    functions: tuple[UserFunction, ...]
    state_labels: tuple[str, ...] = ()
    state_start: Vec = field(default_factory=lambda: np.zeros(0))
    windings: tuple[_Winding, ...] = ()
    algebraic: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unknowns: tuple[_Algebraic, ...] = ()
    bodies: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inputs: tuple[Input, ...] = ()
    element_inputs: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @property
    def n_states(self) -> int:
        """Number of internal states."""
        return len(self.state_labels)

    def states_at(self, t: float, Z: Mat, inputs: Vec | None) -> Vec:
        """Internal states at the start t, with the bodies at Z (bodies and the ground, 24) and these inputs."""
        out = self.state_start.copy()
        for winding in self.windings:
            angle = winding.angle(Z[list(winding.bodies), :12].ravel())
            out[winding.state] = angle + _TURN * np.round((out[winding.state] - angle) / _TURN)
        return self.with_unknowns(t, Z, out, inputs)

    def with_unknowns(self, t: float, Z: Mat, states: Vec, inputs: Vec | None) -> Vec:
        """Internal states with the algebraic unknowns that belong to the others."""
        out = states.copy()
        u = np.array([each.value for each in self.inputs]) if inputs is None else inputs
        for each in self.unknowns:
            motion = Z[list(each.bodies)]
            states = out[each.state : each.state + each.n_states]
            n = each.of.at - 24 * len(motion)  # the differential ones
            x = [motion[:, :12].ravel(), motion[:, 12:].ravel(), states[:n], np.zeros(each.of.n), u[list(each.inputs)]]
            found = each.of.solved(t, np.concatenate(x))  # refused by name in explicit forms, too
            states[n:] = found[: each.n_states - n]
        return out


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
    entries: list[Any] = []
    functions: list[UserFunction] = []
    states: dict[str, float] = {}
    windings: list[_Winding] = []
    algebraic: list[int] = []
    unknowns: list[_Algebraic] = []
    bodies: list[int] = []
    read: list[int] = []
    place = {each: k for k, each in enumerate(each for each in inputs if each not in sources)}
    for row, (name, element, pair) in zip(rows, elements, strict=True):
        row["body"] = (*pair, len(start) - 1, len(start) - 1)[:2]
        if isinstance(element, UserElement):
            row["shaping"] = kb.USER
            points = points_at(start[list(pair)].ravel(), 24)
            functions += pack_functions(f"force {name!r}", row, element.force, element.jacobian, points, 24, BY_RATES)
            if element.potential is not None:
                at_rest = [(t, x[:24]) for t, x in points]
                functions.append(user_function(f"force {name!r}", "potential", element.potential, at_rest, 1)[0])
                row["potential"] = functions[-1].address
        elif isinstance(element, StateElement):
            mine = tuple(place[each] for each in element.inputs if each in place)
            row["shaping"], row["state"] = kb.STATEFUL, len(states)
            row["first_body"], row["n_bodies"] = len(bodies), len(pair)
            row["first_input"], row["n_inputs"] = len(read), len(mine)
            bodies += pair
            read += mine
            begin = np.asarray(element.start.real if np.iscomplexobj(element.start) else element.start, dtype=float)
            made, of = pack_states(
                f"force {name!r}", row, element, begin, start[list(pair)].ravel(), sources, explicit=explicit
            )
            functions += made
            left = element.names[: len(element.names) - element.algebraic * explicit]
            row["n_states"] = len(left)
            some = element.bodies is None and not element.inputs
            _add_states(states, "" if element.labelled else name, left, begin[: len(left)], some=some)
            algebraic += [int(k >= len(element.names) - element.algebraic) for k in range(len(left))]
            if of is not None:
                unknowns.append(_Algebraic(of, int(row["state"]), len(left), pair, mine))
        else:
            law = of_sources(element.law, sources)
            if law.inputs:
                row["first_input"], row["n_inputs"] = len(read), len(law.inputs)
                read += [place[each] for each in law.inputs]
            functions += _pack_law(f"force {name!r}", row, law, len(element.rest))
            _pack_constants(row, element)
            if element.force is not None:
                functions += element.force.pack(f"force {name!r}", row)
            Z = start[list(pair)].ravel()
            H, c = _pack_forms(row, name, element, moved(*(shift[b] for b in pair)), Z, entries)
            if element.winding:
                number = sum(f"{name}.{winding_name(k)}" in states for k in range(len(elements)))
                windings.append(_Winding(len(states), pair, H.real, c.real))
                row["winding"], row["state"], row["n_states"] = 1, len(states), 1
                _add_states(states, name, (winding_name(number),), np.array([windings[-1].angle(Z)]))
                algebraic.append(0)
    return Packed(
        elements=rows,
        entries=np.array(entries, dtype=of_scalars(kb.ENTRY, scalar)),
        functions=tuple(functions),
        state_labels=tuple(states),
        state_start=_check.frozen(np.array(list(states.values()), dtype=float)),
        windings=tuple(windings),
        algebraic=np.array(algebraic, dtype=np.int64),
        unknowns=tuple(unknowns),
        bodies=np.array(bodies, dtype=np.int64),
        inputs=tuple(place),
        element_inputs=np.array(read, dtype=np.int64),
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
    q = _values(H.real, c.real, Z)
    if element.shape == "root" and not q[0] > _COINCIDE**2 * _values(np.abs(H), c.real, np.abs(Z))[0]:
        raise ValueError(
            f"force {name!r}: its two points coincide at the start, where the line between them has no direction; "
            "move one, or use rbdae.forces.Bushing"
        )
    return H, c


def _values(H: Any, c: Mat, Z: Mat) -> Mat:
    """Values of forms at Z (..., 24)."""
    return np.asarray(Z @ c.T + 0.5 * np.einsum("...i,aij,...j->...a", Z, H, Z))


def _of_time(owner: str, law: TimeFunction, n: int) -> UserFunction:
    """A user's function of time as f(t, x, out); what Python gives is checked at every call."""
    function: Any = law.function
    if is_compiled(function):
        return _compiled_of_time(function, n)

    def one(t: float, x: Vec, out: Vec) -> None:
        value = function(t)
        out[0] = value if isinstance(value, float) else value_of(owner, replace(law, function=lambda _: value), t)[0]

    def vector(t: float, x: Vec, out: Vec) -> None:
        value = function(t)
        if type(value) is not np.ndarray or value.dtype != np.float64 or value.shape != (n,):
            value = value_of(owner, replace(law, function=lambda _: value), t)
        out[:] = value

    recorded = Recorded(f"{owner}: {law.what}", [function], partial(of_time, n), 0, n, points_at(np.zeros(0), 0))
    return UserFunction(one if n == 1 else vector, 0, n, recorded)


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
