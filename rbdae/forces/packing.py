"""From the elements of forces to the arrays of the kernels: records, functions of users, internal states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, TypeAlias, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Ints, Mat, Vec
from rbdae.forces.element import Element, StateElement, TimeFunction, UserElement, composed, winding_name
from rbdae.forces.eliminated import Eliminated, Unknowns
from rbdae.forces.motion_law import MotionLaw
from rbdae.inputs import Input, Sources
from rbdae.kernels import records as kb
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.user_functions import UserFunction
from rbdae.laws.recorded import Derived, Recorded, of_time
from rbdae.quantities.forms import moved

# ---------------------------------------------------------------- what is packed

_TURN = 2.0 * np.pi


def values_of_forms(H: Any, c: Mat, Z: Mat) -> Mat:
    """Values of forms at Z (..., 24)."""
    return np.asarray(Z @ c.T + 0.5 * np.einsum("...i,aij,...j->...a", Z, H, Z))


@dataclass(frozen=True, slots=True, eq=False)
class Winding:
    """An internal state that counts the turns of an angle: the coefficients of its sine and cosine."""

    state: int
    bodies: tuple[int, ...]
    H: Any
    c: Mat

    def angle(self, Z: Vec) -> float:
        """The angle in (-pi, pi] at Z (24,)."""
        sine, cosine = values_of_forms(self.H, self.c, Z)
        return float(np.arctan2(sine, cosine))


@dataclass(frozen=True, slots=True, eq=False)
class Algebraic:
    """Algebraic unknowns of one element: where its states begin, how many there are, its bodies, inputs, constants."""

    of: Unknowns
    state: int
    n_states: int
    bodies: tuple[int, ...]
    inputs: tuple[int, ...]
    constants: slice

    def solved(self, t: Vec, motion: Mat, states: Mat, inputs: Vec, *, near: bool = False) -> Mat:
        """Its algebraic unknowns (m, n) at times (m,), of the natural coordinates and rates of its bodies (m, bodies,
        24), its states (m, n_states) and all inputs; `near` those that are among the states. Raises as
        `Unknowns.solved`."""
        m, before = len(t), self.of.at - 24 * len(self.bodies)
        here = [motion[..., :12].reshape(m, -1), motion[..., 12:].reshape(m, -1), states[:, :before]]
        given = np.broadcast_to(inputs[list(self.inputs)], (m, len(self.inputs)))
        begin = states[:, before:] if near else None
        return self.of.solved(t, np.concatenate([*here, np.zeros((m, self.of.n)), given], axis=1), begin)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long.

    The internal states of all elements follow one another, each at the offset `state` of its element: `state_labels`
    are "force.state", `state_start` has their initial values. Of a winding that is the angle in (-pi, pi] where the
    bodies are placed; `states_at` has the one next to it in another position. `algebraic` is 1 for those that are
    algebraic unknowns, which `unknowns` solve for at the start.

    `bodies` are those of the elements by functions with states, `inputs` what elements read from outside, and
    `element_inputs` which of them, one element after the other. `constants` are the numbers of the laws of networks,
    with the names of parameters as `constant_labels`.
    """

    elements: Any
    entries: Any
    functions: tuple[UserFunction, ...]
    state_labels: tuple[str, ...] = ()
    state_start: Vec = field(default_factory=lambda: np.zeros(0))
    windings: tuple[Winding, ...] = ()
    algebraic: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unknowns: tuple[Algebraic, ...] = ()
    bodies: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inputs: tuple[Input, ...] = ()
    element_inputs: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    constants: Any = field(default_factory=lambda: np.zeros(0, dtype=kb.CONSTANT))
    constant_labels: tuple[str, ...] = ()

    def with_constants(self, values: Mapping[str, float]) -> Packed:
        """The same with other numbers of laws, by their labels."""
        constants = self.constants.copy()
        for label, value in values.items():
            constants["value"][self.constant_labels.index(label)] = value
        unknowns = tuple(
            replace(each, of=each.of.with_constants(constants["value"][each.constants])) for each in self.unknowns
        )
        return replace(self, constants=constants, unknowns=unknowns)

    @property
    def n_states(self) -> int:
        """Number of internal states."""
        return len(self.state_labels)

    @property
    def input_values(self) -> Vec:
        """The values of the inputs where nothing else is given."""
        return np.array([each.value for each in self.inputs])

    def states_at(self, t: float, Z: Mat, inputs: Vec | None) -> Vec:
        """Internal states at the start t, with the bodies at Z (bodies and the ground, 24) and these inputs."""
        out = self.state_start.copy()
        for winding in self.windings:
            angle = winding.angle(Z[list(winding.bodies), :12].ravel())
            out[winding.state] = angle + _TURN * np.round((out[winding.state] - angle) / _TURN)
        states: Vec = self.with_unknowns(np.array([t]), Z[None], out[None], inputs)[0]
        return states

    def with_unknowns(self, t: Vec, Z: Mat, states: Mat, inputs: Vec | None, *, near: bool = False) -> Mat:
        """Internal states (m, n) with the algebraic unknowns that belong to the others, at times (m,) and natural
        coordinates of all bodies and the ground (m, bodies, 24); `near` those that are there."""
        out = states.copy()
        u = self.input_values if inputs is None else inputs
        for each in self.unknowns:
            own = out[:, each.state : each.state + each.n_states]
            z = each.solved(t, Z[:, list(each.bodies)], own, u, near=near)
            n = each.of.at - 24 * len(each.bodies)  # the differential ones
            own[:, n:] = z[:, : each.n_states - n]  # there are none in explicit forms
        return out


# ---------------------------------------------------------------- functions of users

BY_RATES = [(24 * k + j + (j >= 24) * 552, 48 * k + j) for k in range(24) for j in range(48)]
"""Where the entries of dF/dZ and dF/dZdot are, one after the other, and in dF/d(Z, Zdot)."""

_REMEDY = "give jacobian=, or difference_step=1e-6 for central differences with that step"


def recorded(owner: str, what: str, function: Any, n_in: int, n_out: int) -> Recorded:
    """A user's function f(t, x, out), recorded if it can be."""
    law = composed(function)
    return Recorded(f"{owner}: {what}", law.users, law.fill, n_in, n_out, _REMEDY)


def _by_law(row: Any, law: Any, slopes: Any, n_in: int, n_out: int, *, by_rates: bool = False) -> list[UserFunction]:
    """A law and its Jacobian, in the record of their element."""
    force, tangent = UserFunction(law, n_in, n_out), UserFunction(slopes, n_in, n_in * n_out)
    force.slope = tangent, by_rates
    row["force"], row["jacobian"] = force.address, tangent.address
    row["damped"] = 1
    return [force, tangent]


def _slopes(owner: str, law: Recorded, given: Any, places: Any = None) -> Any:
    """The Jacobian of a user's law: its own, with the entries at `places`, if it is recorded, or called without a given
    one."""
    if given is None or law.law is not None:
        return Derived(law, places)
    return recorded(owner, "jacobian", given, law.n_in, law.n_in * law.n_out)


def _pack_states(
    owner: str, row: Any, element: StateElement, begin: Vec, n: int, *, explicit: bool
) -> tuple[list[UserFunction], Unknowns | None]:
    """An element by functions with states, whose bodies have n natural coordinates, and its algebraic unknowns, if it
    has any; they are eliminated for `explicit` forms. A law that cannot be recorded with its constants as symbols has
    them as numbers."""
    n_in, n_out = 2 * n + len(begin) + len(element.inputs), n + len(begin)
    p = np.array([*element.constants.values()])
    law = recorded(owner, "law", element.function, n_in + len(p), n_out)
    if len(p) and law.law is None:
        if np.iscomplexobj(p) and p.imag.any():
            raise ValueError(f"{owner}: no derivative by the constants of its law: {law.why}")
        p = p[:0]
        law = recorded(owner, "law", element.function, n_in, n_out)
    row["n_parameters"] = len(p)
    n_in += len(p)
    if not element.algebraic:
        return _by_law(row, law, _slopes(owner, law, element.jacobian), n_in, n_out), None
    if law.law is None:
        raise ValueError(f"{owner}: its law cannot be recorded: {law.why}; algebraic unknowns need that")
    names = element.names[len(element.names) - element.algebraic :]
    at = 2 * n + len(begin) - len(names)
    unknowns = Unknowns(owner, law, names, at, begin[len(begin) - len(names) :], p.real)
    if not explicit:
        return _by_law(row, law, Derived(law), n_in, n_out), unknowns
    left = Eliminated(unknowns)
    return _by_law(row, left, Derived(left), n_in - len(names), n_out - len(names)), unknowns


# ---------------------------------------------------------------- elements

KernelElement: TypeAlias = Element | UserElement | StateElement
"""What is packed here; `PointSpring`s have records of their own."""

_COINCIDE = 1e-12
"""Two points are one where their distance is below this fraction of the vectors whose difference it is."""

_SHAPES = {"identity": kb.IDENTITY, "root": kb.ROOT, "angle": kb.ANGLE}


def pack(
    elements: list[tuple[str, KernelElement, tuple[int, ...]]],
    shift: Mat,
    start: Mat,
    scalar: Any = np.float64,
    inputs: Sequence[Input] = (),
    sources: Sources = MappingProxyType({}),
    explicit: bool = False,
) -> Packed:
    """Pack (name of the force, element, bodies by number); `shift` are the reference points of the bodies in their
    frames, `start` their initial (x, d1, d2, d3) with x the reference point. `explicit` forms have no algebraic
    unknowns."""
    rows = np.zeros(len(elements), dtype=of_scalars(kb.ELEMENT, scalar))
    packing = _Packing(shift, start, [each for each in inputs if each not in sources], explicit)
    for row, (name, element, bodies) in zip(rows, elements, strict=True):
        element = element.under(sources)
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

    def __init__(self, shift: Mat, start: Mat, inputs: Sequence[Input], explicit: bool) -> None:
        self._shift, self._start, self._explicit = shift, start, explicit
        self._place = {each: k for k, each in enumerate(inputs)}
        self._entries: list[Any] = []
        self._functions: list[UserFunction] = []
        self._states: dict[str, float] = {}
        self._windings: list[Winding] = []
        self._algebraic: list[int] = []
        self._unknowns: list[Algebraic] = []
        self._bodies: list[int] = []
        self._read: list[int] = []
        self._n_reactions = 0
        self._constants: list[Any] = []
        self._constant_labels: list[str] = []

    def add_user(self, row: Any, name: str, element: UserElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions."""
        owner = f"force {name!r}"
        row["shaping"] = kb.USER
        law = recorded(owner, "law", element.force, 48, 24)
        slopes = _slopes(owner, law, element.jacobian, BY_RATES)
        self._functions += _by_law(row, law, slopes, 48, 24, by_rates=True)
        if element.potential is not None:
            self._functions.append(UserFunction(recorded(owner, "potential", element.potential, 24, 1), 24, 1))
            row["potential"] = self._functions[-1].address

    def add_stateful(self, row: Any, name: str, element: StateElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions with states."""
        mine = self._reads(row, element.inputs)
        row["shaping"], row["state"] = kb.STATEFUL, len(self._states)
        row["first_body"], row["n_bodies"] = len(self._bodies), len(bodies)
        self._bodies += bodies
        begin = np.asarray(element.start.real if np.iscomplexobj(element.start) else element.start, dtype=float)
        n = len(element.names) - element.algebraic
        left = element.names[:n] if self._explicit else element.names
        row["n_states"] = len(left)
        if not element.names and element.bodies is None and not element.inputs:
            raise ValueError(f"force {name!r}: its StateElement has no state; use a UserElement")
        _add_states(self._states, "" if element.labelled else name, left, begin[: len(left)])
        self._algebraic += [int(k >= n) for k in range(len(left))]
        made, of = _pack_states(f"force {name!r}", row, element, begin, 12 * len(bodies), explicit=self._explicit)
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
        law, motion = element.law, element.force
        self._reads(row, law.inputs if motion is None else motion.inputs)
        self._functions += _pack_law(f"force {name!r}", row, law, len(element.rest))
        _pack_constants(row, element)
        if element.reaction is not None:
            self._n_reactions += 1
            row["reaction"] = self._n_reactions  # counted as the records of friction are
        if motion is not None:
            self._functions += _pack_motion(f"force {name!r}", row, motion)
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


def _add_states(states: dict[str, float], force: str, names: tuple[str, ...], values: Vec) -> None:
    """Initial values by labels; refuses names that are taken."""
    for name, value in zip(names, values, strict=True):
        label = f"{force}.{_check.name('internal state', name, ())}" if force else name
        if label in states:
            raise ValueError(f"force {force!r}: two of its internal states are called {name!r}; rename one")
        states[label] = float(value)


def _pack_law(owner: str, row: Any, law: TimeFunction, n: int) -> list[UserFunction]:
    """A constant, or a user's function of time, whose values are checked at every call."""
    row["constant"][:n] = law.constant
    if law.function is None:
        return []
    fill = partial(of_time, n, lambda _, t, value: law.checked(owner, t, value))
    made = UserFunction(Recorded(f"{owner}: {law.what}", [law.function], fill, 0, n), 0, n)
    row["law"] = made.address
    return [made]


def _pack_motion(owner: str, row: Any, law: MotionLaw) -> list[UserFunction]:
    """A law of the motion, whose constants are in the record, too."""
    load, slopes = law.recorded(f"{owner}: {law.what}")
    row["n_parameters"] = len(law.parameters)
    row["parameters"][: len(law.parameters)] = law.parameters
    return _by_law(row, load, slopes, law.n_arguments, law.n)


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


def _pack_forms(row: Any, name: str, element: Element, S: Mat, Z: Vec, entries: list[Any]) -> tuple[Any, Mat]:
    """The coefficients H and c of the forms of an element, of the reference points by S; Z is its initial position."""
    H, c = np.einsum("ji,ajk,kl->ail", S, element.forms, S), element.rows @ S
    row["first"] = len(entries)
    entries += [(a, i, -1, c[a, i]) for a, i in np.argwhere(c)]
    entries += [(a, i, j, H[a, i, j]) for a, i, j in np.argwhere(H)]
    row["last"] = len(entries)
    q = values_of_forms(H.real, c.real, Z)
    if element.shape == "root" and not q[0] > _COINCIDE**2 * values_of_forms(np.abs(H), c.real, np.abs(Z))[0]:
        raise ValueError(
            f"force {name!r}: its two points coincide at the start, where the line between them has no direction; "
            "move one, or use rbdae.forces.Bushing"
        )
    return H, c
