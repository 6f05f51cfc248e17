"""From the elements of forces to the arrays of the kernels: records, functions of users, internal states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.forces.element import Element, Form, StateElement, composed, values_of_forms, winding_name
from rbdae.inputs import Input, Sources
from rbdae.kernels import records as kb
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.user_functions import UserFunction
from rbdae.laws.eliminated import Eliminated
from rbdae.laws.recorded import Recorded, of_time
from rbdae.quantities.forms import referred

# ---------------------------------------------------------------- what is packed

_TURN = 2.0 * np.pi


@dataclass(frozen=True, slots=True, eq=False)
class Winding:
    """An internal state that counts the turns of an angle, with the forms of its sine and cosine."""

    state: int
    bodies: tuple[int, ...]
    products: tuple[Form, ...]

    def angle(self, Z: Vec) -> float:
        """The angle in (-pi, pi] at Z (24,)."""
        sine, cosine = values_of_forms(self.products, Z)
        return float(np.arctan2(sine, cosine))


class Algebraic(NamedTuple):
    """Algebraic unknowns of one element: where its states begin, how many there are, its bodies, inputs, constants."""

    of: Eliminated
    state: int
    n_states: int
    bodies: tuple[int, ...]
    inputs: tuple[int, ...]
    constants: slice

    def solved(self, t: Vec, motion: Mat, states: Mat, inputs: Vec, constants: Vec, *, near: bool = False) -> Mat:
        """Its algebraic unknowns (m, n) at times (m,), of the natural coordinates and rates of its bodies (m, bodies,
        24), its states (m, n_states), all inputs and all constants; `near` those that are among the states. Raises as
        `Eliminated.solved`."""
        m, before = len(t), self.of.at - 24 * len(self.bodies)
        x = [motion[..., :12].reshape(m, -1), motion[..., 12:].reshape(m, -1), states[:, :before]]
        numbers = np.concatenate([inputs[list(self.inputs)], constants[self.constants].real])
        x += [np.zeros((m, self.of.n)), np.broadcast_to(numbers, (m, len(numbers)))]
        return self.of.solved(t, np.concatenate(x, axis=1), states[:, before:] if near else None)


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long.

    The internal states of all elements follow one another, each at the offset `state` of its element: `state_labels`
    are "force.state", `state_start` has their initial values. Of a winding that is the angle in (-pi, pi] where the
    bodies are placed; `states_at` has the one next to it in another position. `algebraic` is 1 for those that are
    algebraic unknowns, which `unknowns` solve for at the start.

    `bodies` are those of the elements by functions with states, `inputs` what elements read from outside, and
    `element_inputs` which of them, one element after the other. `constants` are the numbers of laws, those
    of networks with the names of parameters as `constant_labels`.
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
        return replace(self, constants=constants)

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
            z = each.solved(t, Z[:, list(each.bodies)], own, u, self.constants["value"], near=near)
            n = each.of.at - 24 * len(each.bodies)  # the differential ones
            own[:, n:] = z[:, : each.n_states - n]  # there are none in explicit forms
        return out


# ---------------------------------------------------------------- packing

_COINCIDE = 1e-12
"""Two points are one where their distance is below this fraction of the vectors whose difference it is."""

_REMEDY = "give jacobian=, or difference_step=1e-6 for central differences with that step"

_SHAPES = {"identity": kb.IDENTITY, "root": kb.ROOT, "angle": kb.ANGLE, "point": kb.POINT, "turn": kb.TURN}


def pack(
    elements: list[tuple[str, Element | StateElement, tuple[int, ...]]],
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
        row["body"] = (*bodies, len(start) - 1, len(start) - 1)[:2]
        if isinstance(element, StateElement):
            packing.add_function(row, name, element.under(sources), bodies)
        else:
            packing.add_along(row, name, element.under(sources), bodies)
    return packing.packed(rows, scalar)


def recorded(owner: str, what: str, function: Any, n_in: int, n_out: int, step: float | None = None) -> Recorded:
    """A user's function f(t, x, out), recorded if it can be."""
    law = composed(function)
    return Recorded(f"{owner}: {what}", law.users, law.fill, n_in, n_out, _REMEDY, step=step)


@final
@dataclass(frozen=True)
class _Slope:
    """dV/dZ of a potential, which is minus the force at Z without rates."""

    force: Any

    def __call__(self, t: float, Z: Vec, out: Vec) -> None:
        force = np.zeros(len(Z))
        self.force(t, np.concatenate([Z, np.zeros(len(Z))]), force)
        out[:] = -force


@final
class _Packing:
    """The arrays that elements fill, one after the other."""

    def __init__(self, shift: Mat, start: Mat, inputs: Sequence[Input], explicit: bool) -> None:
        self._shift, self._start, self._explicit = shift, start, explicit
        self._place = {each: k for k, each in enumerate(inputs)}
        self._entries: list[Any] = []
        self._functions: list[UserFunction] = []
        self._states: dict[str, tuple[float, bool]] = {}  # where they begin, and whether they are algebraic unknowns
        self._windings: list[Winding] = []
        self._unknowns: list[Algebraic] = []
        self._bodies: list[int] = []
        self._read: list[int] = []
        self._n_reactions = 0
        self._constants: list[tuple[str, Any]] = []

    def add_function(self, row: Any, name: str, element: StateElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions. A law that cannot be recorded with its constants as symbols has them as numbers;
        algebraic unknowns are eliminated for explicit forms."""
        owner, explicit = f"force {name!r}", self._explicit
        mine = self._reads(row, element.inputs)
        row["first_body"], row["n_bodies"] = len(self._bodies), len(bodies)
        self._bodies += bodies
        begin = np.asarray(element.start.real if np.iscomplexobj(element.start) else element.start, dtype=float)
        n, m, p = 12 * len(bodies), len(begin) - element.algebraic, np.array([*element.constants.values()])
        row["shaping"] = kb.FUNCTION
        left = element.names[:m] if explicit else element.names
        self._add_states(row, "" if element.labelled else name, left, begin, m)
        n_in, n_out = 2 * n + len(begin) + len(mine), n + len(begin)
        given = element.jacobian if callable(element.jacobian) else None
        step = None if callable(element.jacobian) else element.jacobian
        law = recorded(owner, "law", element.function, n_in + len(p), n_out, step)
        if len(p) and law.law is None:
            if np.iscomplexobj(p) and p.imag.any():
                raise ValueError(f"{owner}: no derivative by the constants of its law: {law.why}")
            p = p[:0]
            law = recorded(owner, "law", element.function, n_in, n_out)
        row["first_parameter"], row["n_parameters"] = len(self._constants), len(p)
        places = slice(len(self._constants), len(self._constants) + len(p))
        self._constants += [*element.constants.items()][: len(p)]
        n_in += len(p)
        if not element.algebraic:
            own = given is None or law.law is not None
            slopes = law.slopes if own else recorded(owner, "jacobian", given, n_in, n_in * n_out)
            self._add_law(row, law, slopes, n_in, n_out)
        elif law.law is None:
            raise ValueError(f"{owner}: its law cannot be recorded: {law.why}; algebraic unknowns need that")
        else:
            of = Eliminated(owner, law, element.names[m:], 2 * n + m, begin[m:])
            self._unknowns.append(Algebraic(of, int(row["state"]), len(left), bodies, mine, places))
            whole: Any = of if explicit else law
            gone = len(element.names) - len(left)
            self._add_law(row, whole, whole.slopes, n_in - gone, n_out - gone)
        if element.potential is not None:
            potential = self._added(recorded(owner, "potential", element.potential, n, 1), n, 1)
            potential.slope = UserFunction(_Slope(law), n, n)
            row["potential"] = potential.address

    def add_along(self, row: Any, name: str, element: Element, bodies: tuple[int, ...]) -> None:
        """A law along quantities."""
        owner, n, law, motion = f"force {name!r}", element.n, element.law, element.force
        row["shaping"] = _SHAPES[element.shape]
        row["forms"] = n if element.shape in ("point", "turn") else len(element.products)
        row["stiffness"][:n, :n], row["damping"][:n, :n] = element.stiffness, element.damping
        row["rest"][:n], row["constant"][:n] = element.rest, law.constant
        for field_name in ("sign", "level", "holonomic"):
            row[field_name] = getattr(element, field_name)
        self._reads(row, law.inputs if motion is None else motion.inputs)
        if law.function is not None:  # of the time, whose values are checked at every call
            fill = partial(of_time, n, lambda _, t, value: law.checked(owner, t, value))
            of_t = Recorded(f"{owner}: {law.what}", [law.function], fill, 0, n)
            row["law"] = self._added(of_t, 0, n).address
        if motion is not None:
            load = motion.recorded(f"{owner}: {motion.what}")
            row["first_parameter"], row["n_parameters"] = len(self._constants), len(motion.parameters)
            self._constants += [("", value) for value in motion.parameters]
            self._add_law(row, load, load.slopes, motion.n_arguments, motion.n)
        if element.reaction is not None:
            self._n_reactions += 1
            row["reaction"] = self._n_reactions  # counted as the records of friction are
        products = self._add_forms(row, name, element, bodies)
        if element.winding:
            number = 0
            while f"{name}.{winding_name(number)}" in self._states:
                number += 1
            self._windings.append(Winding(len(self._states), bodies, products))
            row["winding"] = 1
            angle = self._windings[-1].angle(self._start[list(bodies)].ravel())
            self._add_states(row, name, (winding_name(number),), np.array([angle]), 1)

    def _reads(self, row: Any, inputs: Sequence[Input]) -> tuple[int, ...]:
        """The numbers of inputs that an element reads."""
        mine = tuple(self._place[each] for each in inputs)
        row["first_input"], row["n_inputs"] = len(self._read), len(mine)
        self._read += mine
        return mine

    def _added(self, function: Any, n_in: int, n_out: int) -> UserFunction:
        self._functions.append(UserFunction(function, n_in, n_out))
        return self._functions[-1]

    def _add_law(self, row: Any, law: Any, slopes: Any, n_in: int, n_out: int) -> None:
        """A law and its Jacobian, in the record of their element."""
        force = self._added(law, n_in, n_out)
        force.slope = self._added(slopes, n_in, n_in * n_out)
        row["force"] = force.address

    def _add_states(self, row: Any, force: str, names: tuple[str, ...], values: Vec, n_differential: int) -> None:
        """Initial values by labels; refuses names that are taken."""
        row["state"], row["n_states"] = len(self._states), len(names)
        for k, name in enumerate(names):
            label = f"{force}.{name}" if force else name
            if label in self._states:
                raise ValueError(f"force {force!r}: two of its internal states are called {name!r}; rename one")
            self._states[label] = float(values[k]), k >= n_differential

    def _add_forms(self, row: Any, name: str, element: Element, bodies: tuple[int, ...]) -> tuple[Form, ...]:
        """The products of the forms of an element, of the bodies' reference points."""
        row["first"], shift = len(self._entries), [self._shift[b] for b in bodies]
        forms = [[(referred(A, *shift), referred(B, *shift)) for A, B in form] for form in element.products]
        self._entries += [(k, A, B) for k, form in enumerate(forms) for A, B in form]
        row["last"] = len(self._entries)
        real = tuple(tuple((A.real, B.real) for A, B in form) for form in forms)
        if element.shape == "root":
            Z, sizes = self._start[list(bodies)].ravel(), [[(np.abs(A), np.abs(B)) for A, B in form] for form in real]
            if not values_of_forms(real, Z)[0] > _COINCIDE**2 * values_of_forms(sizes, np.abs(Z))[0]:
                raise ValueError(
                    f"force {name!r}: its two points coincide at the start, where the line between them has no "
                    "direction; move one, or use rbdae.forces.Bushing"
                )
        return real

    def packed(self, rows: Any, scalar: Any) -> Packed:
        """The arrays of all elements."""
        constants = np.zeros(len(self._constants), dtype=of_scalars(kb.CONSTANT, scalar))
        constants["value"] = [value for _, value in self._constants]
        starts, algebraic = zip(*self._states.values(), strict=True) if self._states else ((), ())
        begin = np.array(starts, dtype=float)
        begin.flags.writeable = False
        return Packed(
            elements=rows,
            entries=np.array(self._entries, dtype=of_scalars(kb.ENTRY, scalar)),
            functions=tuple(self._functions),
            state_labels=tuple(self._states),
            state_start=begin,
            windings=tuple(self._windings),
            algebraic=np.array(algebraic, dtype=np.int64),
            unknowns=tuple(self._unknowns),
            bodies=np.array(self._bodies, dtype=np.int64),
            inputs=tuple(self._place),
            element_inputs=np.array(self._read, dtype=np.int64),
            constants=constants,
            constant_labels=tuple(label for label, _ in self._constants),
        )
