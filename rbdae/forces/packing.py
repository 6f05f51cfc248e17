"""From the elements of forces to the arrays of the kernels: records, functions of users, internal states.

The user's functions are called once at the start, before they are recorded: what they give must be what the kernels
expect. They are checked at every call, too. A potential is compared with its force.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType, SimpleNamespace
from typing import Any, NamedTuple, final

import numpy as np

from rbdae import _check
from rbdae._arrays import POINT, Ints, Mat, Vec, at_point, cross
from rbdae.forces.element import Element, StateElement, composed
from rbdae.graph.graph import Graph
from rbdae.graph.law import Law
from rbdae.inputs import Input, Sources
from rbdae.kernels import records as kb
from rbdae.kernels.eliminated import Eliminated
from rbdae.kernels.forces.elements import displacements, forms, turns
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.symbolic import opened
from rbdae.kernels.user_functions import UserFunction
from rbdae.laws.law import Derived, Recorded
from rbdae.quantities.coordinate import referred


def _forms_at(products: Sequence[Any], e: Any, Z: Mat) -> Any:
    z = Z.reshape(8, 3)
    return forms(e, products, z, 0.0 * z)[0]


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long.

    The internal states of all elements follow one another, each at the offset `state` of its element: `state_labels`
    are "force.state", `state_start` has their initial values. Of a winding that is the angle in (-pi, pi] where the
    bodies are placed; `states_at` has the one next to it in another position. `algebraic` is 1 for those that are
    algebraic unknowns, which the laws of elements in `eliminated`, by number, solve for.

    `bodies` are those of the elements by functions with states, `inputs` what elements read from outside, and
    `element_inputs` which of them, one element after the other. `constants` are the numbers of laws, those
    of networks with the names of parameters as `constant_labels`.
    """

    elements: Any
    entries: Any
    functions: tuple[UserFunction, ...]
    state_labels: tuple[str, ...]
    state_start: Vec
    algebraic: Ints
    eliminated: Mapping[int, Eliminated]
    bodies: Ints
    inputs: tuple[Input, ...]
    element_inputs: Ints
    constants: Any
    constant_labels: tuple[str, ...]

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

    def bodies_of(self, number: int) -> Ints:
        """The bodies of an element by functions with states."""
        e = self.elements[number]
        return self.bodies[e["first_body"] : e["first_body"] + e["n_bodies"]]

    def states_at(self, t: float, Z: Mat, inputs: Vec | None) -> Vec:
        """Internal states at the start t, with the bodies at Z (bodies and the ground, 24) and these inputs."""
        out = self.state_start.copy()
        entries = opened(self.entries)
        for e in opened(self.elements[self.elements["winding"] == 1]):
            (angle,) = displacements(e.shaping, _forms_at(entries[e.first : e.last], e, Z[e.body, :12]))[0]
            out[e.state] = angle.real + turns(angle, out[e.state])
        states: Vec = self.with_unknowns(np.array([t]), Z[None], out[None], inputs)[0]
        return states

    def with_unknowns(self, t: Vec, Z: Mat, states: Mat, inputs: Vec | None, *, near: bool = False) -> Mat:
        """Internal states (m, n) with the algebraic unknowns that belong to the others, at times (m,) and natural
        coordinates of all bodies and the ground (m, bodies, 24); `near` those that are there."""
        out = states.copy()
        u = self.input_values if inputs is None else inputs
        for number, of in self.eliminated.items():
            e, bodies = self.elements[number], self.bodies_of(number)
            own = out[:, e["state"] : e["state"] + e["n_states"]]
            z = self.solved(number, t, Z[:, bodies], own, u, near=near)
            n = of.at - 24 * len(bodies)  # the differential ones
            own[:, n:] = z[:, : own.shape[1] - n]  # there are none in explicit forms
        return out

    def solved(self, number: int, t: Vec, motion: Mat, states: Mat, inputs: Vec, *, near: bool = False) -> Mat:
        """The algebraic unknowns (m, n) of an element at times (m,), of the natural coordinates and rates of its bodies
        (m, bodies, 24), its states (m, n_states) and all inputs; `near` those that are among the states. Raises as
        `Eliminated.solved`."""
        of, e, m = self.eliminated[number], self.elements[number], len(t)
        before = of.at - 24 * motion.shape[1]
        read = self.element_inputs[e["first_input"] : e["first_input"] + e["n_inputs"]]
        constants = self.constants["value"][e["first_parameter"] : e["first_parameter"] + e["n_parameters"]]
        x = [motion[..., :12].reshape(m, -1), motion[..., 12:].reshape(m, -1), states[:, :before]]
        numbers = np.concatenate([inputs[read], constants.real])
        x += [np.zeros((m, of.n)), np.broadcast_to(numbers, (m, len(numbers)))]
        return of.solved(t, np.concatenate(x, axis=1), states[:, before:] if near else None)


# ---------------------------------------------------------------- packing

_COINCIDE = 1e-12
"""Two points are one where their distance is below this fraction of the vectors whose difference it is."""

_REMEDY = "give jacobian=, or rbdae.forces.CalledBack(law, difference_step=1e-6) for central differences"

_WINDINGS = ("phi", *(f"phi{k}" for k in range(2, 1000)))
"""Names of internal states that count full turns in one force."""


class Trial(NamedTuple):
    """Where laws are called once before a run: at `t`, with names of bodies for messages; `source` gives a function of
    the time for an input of the system, and refuses others (ValueError)."""

    t: float
    bodies: Sequence[str]
    source: Callable[[Input], Any]

    def inputs(self, owner: str, inputs: Sequence[Input]) -> list[float]:
        """The values of inputs."""
        try:
            functions = [self.source(each) for each in inputs]
        except ValueError as error:
            raise ValueError(f"{owner}: {error}") from None
        return [function(self.t) for function in functions]


def pack(
    elements: list[tuple[str, Element | StateElement, tuple[int, ...]]],
    shift: Mat,
    start: Mat,
    scalar: Any = np.float64,
    inputs: Sequence[Input] = (),
    sources: Sources = MappingProxyType({}),
    explicit: bool = False,
    trial: Trial | None = None,
) -> Packed:
    """Pack (name of the force, element, bodies by number); `shift` are the reference points of the bodies in their
    frames, `start` their initial (x, d1, d2, d3), with x the reference point, and rates. `explicit` forms have no
    algebraic unknowns. With a `trial` laws are called and checked."""
    rows = np.zeros(len(elements), dtype=of_scalars(kb.ELEMENT, scalar))
    place = {each: k for k, each in enumerate(each for each in inputs if each not in sources)}
    packing = _Packing(shift, start, place, sources, explicit, trial)
    for k, (name, element, bodies) in enumerate(elements):
        rows[k]["body"] = (*bodies, len(start) - 1, len(start) - 1)[:2]
        if isinstance(element, StateElement):
            packing.add_function(k, rows[k], name, element, bodies)
        else:
            packing.add_along(rows[k], name, element)
    return packing.packed(rows, scalar)


def _extend(row: Any, what: str, known: list[Any], new: Sequence[Any], several: str = "") -> None:
    row[f"first_{what}"], row[f"n_{several or what + 's'}"] = len(known), len(new)
    known += new


def recorded(owner: str, what: str, function: Any, n_in: int, n_out: int) -> Recorded:
    """A user's function f(t, x, out), recorded if it can be."""
    law = composed(function)
    return Recorded(f"{owner}: {what}", law.users, law.fill, n_in, n_out, _REMEDY)


def _minus_at_rest(n: int, law: Law) -> Law:
    """-F(t, Z, 0) of n numbers Z, by the recording of a force F."""
    graph = Graph()
    t, x = graph.node("input", "t", 0), [graph.node("input", "x", i) for i in range(n)]
    results, regular = law.inlined(graph, t, [*x, *[graph.const(0.0)] * n])
    return Law(graph, [graph.neg(result) for result in results], regular, n)


def _slope_of_potential(owner: str, force: Recorded, n: int) -> Derived:
    """dV/dZ (n,) of a potential, which is minus its force at Z without rates."""

    def called(t: float, Z: Vec) -> Vec:
        F = np.zeros(n)
        force(t, np.concatenate([Z, np.zeros(n)]), F)
        return -F

    return Derived(force, f"{owner}: potential, derivatives", partial(_minus_at_rest, n), called)


@final
@dataclass(eq=False)
class _Packing:
    """The arrays that elements fill, one after the other."""

    shift: Mat
    start: Mat
    place: dict[Input, int]
    sources: Sources
    explicit: bool
    trial: Trial | None
    entries: list[Any] = field(default_factory=list)
    functions: list[UserFunction] = field(default_factory=list)
    states: dict[str, tuple[float, bool]] = field(default_factory=dict)
    """Where they begin, and whether they are algebraic unknowns."""
    eliminated: dict[int, Eliminated] = field(default_factory=dict)
    bodies: list[int] = field(default_factory=list)
    read: list[int] = field(default_factory=list)
    constants: list[tuple[str, Any]] = field(default_factory=list)
    n_reactions: int = 0

    def add_function(self, k: int, row: Any, name: str, element: StateElement, bodies: tuple[int, ...]) -> None:
        """Natural forces by functions. A law that cannot be recorded with its constants as symbols has them as numbers;
        algebraic unknowns are eliminated for explicit forms."""
        owner, explicit, trial = f"force {name!r}", self.explicit, self.trial
        if trial is not None:
            names = [(*trial.bodies, None)[b] for b in bodies]
            read = trial.inputs(owner, element.inputs)
            check_functions(owner, element, trial.t, self.start[list(bodies)], read, names)
        element = element.under(self.sources)
        _extend(row, "input", self.read, [self.place[each] for each in element.inputs])
        _extend(row, "body", self.bodies, bodies, "bodies")
        begin = np.asarray(element.start.real if np.iscomplexobj(element.start) else element.start, dtype=float)
        n, m, p = 12 * len(bodies), len(begin) - element.algebraic, np.array([*element.constants.values()])
        row["shaping"] = kb.FUNCTION
        left = element.names[:m] if explicit else element.names
        self._add_states(row, "" if element.labelled else name, left, begin, m)
        n_in, n_out = 2 * n + len(begin) + len(element.inputs), n + len(begin)
        law = recorded(owner, "law", element.function, n_in + len(p), n_out)
        if len(p) and law.law is None:
            if np.iscomplexobj(p) and p.imag.any():
                raise ValueError(f"{owner}: no derivative by the constants of its law: {law.why}")
            p = p[:0]
            law = recorded(owner, "law", element.function, n_in, n_out)
        _extend(row, "parameter", self.constants, [*element.constants.items()][: len(p)])
        n_in += len(p)
        if not element.algebraic:
            own = element.jacobian is None or law.law is not None
            slopes = law.slopes if own else recorded(owner, "jacobian", element.jacobian, n_in, n_in * n_out)
            self._add_law(row, law, slopes, n_in, n_out)
        elif law.law is None:
            raise ValueError(f"{owner}: its law cannot be recorded: {law.why}; algebraic unknowns need that")
        else:
            of = self.eliminated[k] = Eliminated(owner, law, element.names[m:], 2 * n + m, begin[m:])
            whole: Any = of if explicit else law
            gone = len(element.names) - len(left)
            self._add_law(row, whole, whole.slopes, n_in - gone, n_out - gone)
        if element.potential is not None:
            potential = self._added(recorded(owner, "potential", element.potential, n, 1), n, 1)
            potential.slope = self._added(_slope_of_potential(owner, law, n), n, n)
            row["potential"] = potential.address

    def add_along(self, row: Any, name: str, element: Element) -> None:
        owner, given = f"force {name!r}", element.load
        row["shaping"], row["forms"] = kb.SHAPES[element.shape], len(element.products)
        row["holonomic"], row["sign"], row["level"] = element.holonomic, element.sign, element.level
        s = self._add_forms(row, name, element)
        n = len(s)
        if self.trial is not None:
            given.at(owner, self.trial.t, s, self.trial.inputs(owner, given.inputs))
        load = given.under(self.sources)
        row["stiffness"][:n, :n], row["damping"][:n, :n] = element.stiffness, element.damping
        row["rest"][:n], row["constant"][:n] = element.rest, load.constant
        _extend(row, "input", self.read, [self.place[each] for each in load.inputs])
        by_position = element.shape == "angle" and bool(np.any(row["stiffness"].real))
        if load.users or load.fill:
            _extend(row, "parameter", self.constants, [("", value) for value in load.parameters])
            law = load.recorded(owner)
            self._add_law(row, law, law.slopes if law.n_in else None, law.n_in, n)
            by_position |= law.n_in > 0 and (law.law is None or law.law.reads(range(n)))  # called back, it may
        if element.reaction is not None:
            self.n_reactions += 1
            row["reaction"] = self.n_reactions  # counted as the records of friction are
        if element.shape == "angle" and by_position:
            free = next(each for each in _WINDINGS if f"{name}.{each}" not in self.states)
            row["winding"] = 1
            self._add_states(row, name, (free,), s, 1)

    def _added(self, function: Any, n_in: int, n_out: int) -> UserFunction:
        self.functions.append(UserFunction(function, n_in, n_out))
        return self.functions[-1]

    def _add_law(self, row: Any, law: Any, slopes: Any, n_in: int, n_out: int) -> None:
        force = self._added(law, n_in, n_out)
        force.slope = None if slopes is None else self._added(slopes, n_in, n_in * n_out)
        row["force"] = force.address

    def _add_states(self, row: Any, force: str, names: tuple[str, ...], values: Vec, n_differential: int) -> None:
        """Initial values by labels; refuses names that are taken."""
        row["state"], row["n_states"] = len(self.states), len(names)
        for k, name in enumerate(names):
            label = f"{force}.{name}" if force else name
            if label in self.states:
                raise ValueError(f"force {force!r}: two of its internal states are called {name!r}; rename one")
            self.states[label] = float(values[k]), k >= n_differential

    def _add_forms(self, row: Any, name: str, element: Element) -> Vec:
        """The products of the forms of an element, of the bodies' reference points. Returns its displacements at the
        start; those that have no value count as zero."""
        shift, Z = [self.shift[b] for b in row["body"]], self.start[row["body"], :12]
        row["first"] = len(self.entries)
        for k, form in enumerate(element.products):
            self.entries += [(k, referred(A, *shift), referred(B, *shift)) for A, B in form]
        row["last"] = len(self.entries)
        (e,) = opened(np.array([row]))
        own = [SimpleNamespace(form=k, A=at_point(A), B=at_point(B)) for k, A, B in self.entries[e.first :]]
        q = _forms_at(own, e, Z)
        if element.shape == "root":
            sizes = [SimpleNamespace(form=k.form, A=np.abs(k.A), B=np.abs(k.B)) for k in own]
            if not q[0] > _COINCIDE**2 * _forms_at(sizes, e, np.abs(Z))[0]:
                raise ValueError(
                    f"force {name!r}: its two points coincide at the start, where the line between them has no "
                    "direction; move one, or use rbdae.forces.Bushing"
                )
        s: Vec = displacements(e.shaping, q)[0]
        return s

    def packed(self, rows: Any, scalar: Any) -> Packed:
        constants = np.zeros(len(self.constants), dtype=of_scalars(kb.CONSTANT, scalar))
        constants["value"] = [value for _, value in self.constants]
        starts, algebraic = zip(*self.states.values(), strict=True) if self.states else ((), ())
        begin = np.array(starts, dtype=float)
        begin.flags.writeable = False
        return Packed(
            elements=rows,
            entries=np.array(self.entries, dtype=of_scalars(kb.ENTRY, scalar)),
            functions=tuple(self.functions),
            state_labels=tuple(self.states),
            state_start=begin,
            algebraic=np.array(algebraic, dtype=np.int64),
            eliminated=self.eliminated,
            bodies=np.array(self.bodies, dtype=np.int64),
            inputs=tuple(self.place),
            element_inputs=np.array(self.read, dtype=np.int64),
            constants=constants,
            constant_labels=tuple(label for label, _ in self.constants),
        )


# ---------------------------------------------------------------- functions of users at the start

_SMALL = 1e-5
"""Displacements, in distances of the bodies, and rotations. They leave 1e-11 of V as rounding."""

_SHARE = 1e-4
"""Of the work that may be missing in the change of V."""

_WAYS = (
    (np.array((0.7, -0.4, 0.5)), np.array((0.3, -0.5, 0.7))),
    (np.array((-0.5, 0.6, 0.4)), np.array((0.6, 0.4, -0.2))),
)
"""Displacements and turns of two bodies, in no special direction."""


def check_functions(
    owner: str, element: StateElement, t: float, Z: Mat, inputs: Sequence[float], bodies: Sequence[str | None]
) -> None:
    """Call every function of an element at the start: natural coordinates and rates Z (n, 24) of its bodies, with their
    names, None of the ground. Raises TypeError or ValueError for a function that gives other than finite real numbers
    of the right shape; what it raises itself passes as it is."""
    start = _check.array(owner, "the start of its internal states", element.start, (len(element.names),))
    for what in ("function", "jacobian", "potential"):
        if callable(function := getattr(element, what)):
            _check.takes(owner, what, function, "t", "x", "out")
    x = np.concatenate([Z[:, :12].ravel(), Z[:, 12:].ravel(), start, inputs])
    n = 12 * len(Z) + len(element.names)
    _check_filling(owner, "function", element.function, t, x, n)
    _check_filling(owner, "jacobian", element.jacobian, t, x, n * len(x))
    if element.potential is not None:
        _check_filling(owner, "potential", element.potential, t, x[:24], 1)
        _check_potential(owner, bodies, element, t, x[:24])


def _check_filling(owner: str, what: str, function: Any, t: float, x: Vec, n: int) -> None:
    """Call a function f(t, x, out) that fills n numbers, if there is one."""
    if not callable(function):
        return
    given, out = x.copy(), np.full(n, np.nan)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", np.exceptions.ComplexWarning)
            returned = function(t, given, out)
    except np.exceptions.ComplexWarning:
        raise TypeError(f"{owner}: {what} writes complex numbers into out at t = {t:g}; give real ones") from None
    if returned is not None:
        raise TypeError(
            f"{owner}: {what} must fill out and return nothing, got {_check.show(returned)}; write out[:] = ..."
        )
    bad = np.flatnonzero(~np.isfinite(out))
    if len(bad):
        raise ValueError(
            f"{owner}: {what} gives out[{bad[0]}] = {out[bad[0]]} at t = {t:g}; fill all {n} with finite numbers, "
            "e.g. begin with out[:] = 0.0"
        )
    if not np.array_equal(given, x):
        raise ValueError(f"{owner}: {what} changes x; it has to leave it alone: work on x.copy()")


def _check_potential(owner: str, bodies: Sequence[str | None], element: StateElement, t: float, Z: Vec) -> None:
    """Compare V and F at the start `Z` (24,): V changes by -F . dZ when the bodies move a little, and not at all when
    two move as one. Raises ValueError for a potential that belongs to another force, or to no relative position."""
    assert element.potential is not None
    points, F = Z.reshape(2, 4, 3), np.zeros(24)
    element.function(t, np.concatenate([Z, np.zeros(24)]), F)
    distance = float(np.linalg.norm(points[1, 0] - points[0, 0])) or 1.0
    far = 1.0 + float(np.abs(points).max()) / distance  # positions far from the origin have rounding, too
    free = [side for side, body in enumerate(bodies) if body is not None]
    for together in (False, True)[: len(free)]:
        step, V = np.zeros((2, 4, 3)), np.zeros((2, 1))
        for side in free:
            like = 0 if together else side
            (way, turn), about = _WAYS[like], points[like, 0]
            step[side] = _SMALL * (cross(turn, points[side] - about * POINT) + distance * way * POINT)
        for sign, out in zip((1.0, -1.0), V, strict=True):
            element.potential(t, (points + sign * step).ravel(), out)
        change, terms = float(V[0, 0] - V[1, 0]), 2.0 * F * step.ravel()
        missing = _SHARE * np.abs(terms).sum() + 1e-14 * far * np.abs(V).sum()
        if not together and not abs(change + terms.sum()) <= missing:
            moved = " and ".join(repr(bodies[side]) for side in free)
            raise ValueError(
                f"{owner}: potential does not belong to the force: when {moved} move a little, it changes by "
                f"{change:g} and the work of the force without rates is {terms.sum():g}; give V with -dV/dZ = F in "
                "out[0]"
            )
        if together and not abs(change) <= missing:
            raise ValueError(
                f"{owner}: potential changes by {change:g} when both bodies move as one; that of two bodies must "
                "depend on their relative position only: give each body a force of its own, or leave potential out"
            )
