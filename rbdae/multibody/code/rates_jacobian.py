"""Jacobians of right-hand sides of long models: by the residual of the DAE whose solution the rates are.

The rates and the multipliers z of an explicit form solve r(t, y, z) = 0, the residual of a form of index 1 with the
same options. It is linear in z, and sparse; so are its derivatives, which are code of the model by elements at any
size. Then

    d(rates)/dy = -(dr/dz)^-1 dr/dy,

solved for in blocks, bodies first and then the joints along their graph (`rbdae.machine.loops.blocks`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.formulations import null_space
from rbdae.formulations.absolute import Index1, Index2, UnitIndex1
from rbdae.formulations.base import Derivative, Formulation
from rbdae.formulations.baumgarte import Baumgarte, BaumgarteODE
from rbdae.formulations.explicit import Index0
from rbdae.formulations.hamiltonian import Hamiltonian
from rbdae.formulations.null_space import NullSpace
from rbdae.formulations.projected import Projected0, Projected1
from rbdae.graph.derivatives import NoDerivative, inputs_of, jacobian
from rbdae.graph.symbols import NotStraight
from rbdae.machine.cache import say_once
from rbdae.machine.elements import Elements
from rbdae.machine.function import MachineFunction, Shapes, trampoline
from rbdae.machine.module import NoMachineCode, collector_off
from rbdae.machine.python_calls import as_expected
from rbdae.machine.rates_jacobian import Block, OtherSystem, RatesJacobian, System, Tables, tables_of
from rbdae.multibody.choices.velocity_kind import ANGULAR
from rbdae.multibody.code.code import Code, compiled, most_nodes, of_recording
from rbdae.multibody.code.code_text import text_of_elements
from rbdae.multibody.code.traced import Elsewhere, Tally
from rbdae.multibody.elements.elements import elements_apart
from rbdae.multibody.elements.elimination_elements import elimination_rounds
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import in_python
from rbdae.multibody.recorded.recording import Recording, Run, recording_point, run

Made = TypeVar("Made")
Coded = Callable[[Elements | Recording, Shapes], Any]

RATES_FROM = 12
"""Bodies from which this is as quick as code of the whole derivative, which takes seconds to record."""


def form_of_index_1(form: Formulation) -> Formulation | None:
    """The form whose rates and multipliers those of an explicit form are; None if there is none."""
    if type(form) is Hamiltonian and form.constraint == "eliminated":
        return replace(form, constraint="differentiated")
    options: dict[str, Any] = dict(form.options)
    if type(form) is Index0:
        return UnitIndex1(**options) if options.pop("norm") == "unit" else Index1(**options)
    if type(form) is BaumgarteODE:
        return Baumgarte(**options)
    if type(form) is NullSpace:
        return Index1()
    return Projected1(**options) if type(form) is Projected0 else None


class Structure(NamedTuple):
    """The code of r with the entries of dr/dy and dr/dz, or what else is `Coded` of its parts, not bound to any
    selection, and the tables."""

    parts: list[Any]
    tables: Tables


@final
class RatesCode:
    """A Jacobian of one workspace: `call` is for Python, `function` for machine code."""

    def __init__(self, workspace: Workspace, twins: Sequence[Workspace], found: Structure, tally: Tally) -> None:
        self._workspace = workspace
        parts = [code.function(twin) for code, twin in zip(found.parts, twins, strict=True)]
        n = workspace.layout.n
        self._shapes: Shapes = {"y": (n,), "out": (n, n)}
        floor = workspace.selection.rows.pivot_floor
        # for states where a guard does not hold, or the equations are dependent
        elsewhere = Elsewhere(partial(in_python, workspace, Derivative(workspace.settings.kernels.rates)), tally)
        self._bound = RatesJacobian(found.tables, parts, elsewhere, floor)
        self._calls_python = any(code.functions for code in found.parts)

    @cached_property
    def call(self) -> Callable[[float, Vec, Mat], None]:
        """The Jacobian that Python calls."""

        def rhs_jacobian(t: float, y: Vec, out: Mat) -> None:
            t, y, out = as_expected("rhs_jacobian", "tyM", self._shapes, (t, y, out))
            self._bound.fill(t, y, out)

        return self._workspace.raising(rhs_jacobian)

    def function(self) -> MachineFunction:
        """The C function. Where a user's function is Python, it goes through Python, too, for its exceptions."""
        return trampoline(self.call, "tyM", self._shapes) if self._calls_python else self._bound.guarded()


def rates_code(workspace: Workspace, tally: Tally) -> RatesCode | None:
    """The Jacobian of a right-hand side by its residual; None where it has to be derived from the right-hand side
    itself: normal forces under friction are not linear in the multipliers, quasi-velocities of loops have no order of
    bodies, a formulation may be another one's."""
    described = rates_structure(workspace) if workspace.model.n >= RATES_FROM else None
    if described is None:
        return None
    twins, make = described
    known = workspace.memory.recorded
    key = ("rates", workspace.selection.rows.dropped, *((*twin.selected, twin.own_constants) for twin in twins))
    if key not in known:
        with workspace.memory.preparation, collector_off():
            known[key] = made(lambda: make(_code))
    found: Structure | None = known[key]
    return None if found is None else RatesCode(workspace, twins, found, tally)


def rates_structure(workspace: Workspace) -> tuple[Sequence[Workspace], Callable[[Coded], Structure]] | None:
    """The workspace of each part, and what makes the structure; None where there is none."""
    form = form_of_index_1(workspace.settings.formulation)
    if form is None or len(workspace.arrays["frictions"]) or workspace.settings.structure == "loops":
        return None
    twins = [_twin(workspace, form)]
    if not workspace.settings.reduced:
        return twins, partial(_structure, twins[0], workspace.layout.n)
    twins += [_twin(workspace, Index2()), workspace]
    return twins, partial(_reduced_structure, workspace, twins[0], twins[1])


def _code(of: Elements | Recording, shapes: Shapes) -> Code:
    if isinstance(of, Recording):
        return of_recording(of, "tyyo", shapes)
    return compiled("tyyo", shapes, lambda: text_of_elements(of, "tyyo", shapes, None))


def _twin(workspace: Workspace, form: Formulation) -> Workspace:
    """The same model and selection in another form, with angular velocities in place of quasi-velocities."""
    known, memory, key = workspace.memory.recorded, workspace.memory, ("form", str(form))
    if key not in known:
        settings = replace(workspace.settings, formulation=form)
        if workspace.settings.reduced:
            settings = replace(settings, kind=ANGULAR)
        made = Memory.of(memory.model, settings, memory.code, numbers=memory.numbers)
        regular = np.zeros(made.layout.n)
        if len(memory.regular) == workspace.layout.n and not workspace.settings.reduced:
            regular[: workspace.layout.n] = memory.regular
        known[key] = replace(made, regular=regular)
    out = Workspace(known[key], workspace.selection)
    out.write_inputs(workspace.owned.get("inputs", ()))  # which may be others than those of the selection
    workspace.inputs_at += out.inputs_at
    out.inputs_at = workspace.inputs_at  # further places are those of both
    return out


def made(make: Callable[[], Made]) -> Made | None:
    """What is made; None where it cannot be recorded."""
    try:
        return make()
    except (NotStraight, NoDerivative, OtherSystem):
        return None
    except NoMachineCode as error:
        say_once(str(error))
        return None
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:
        say_once(f"the form of index 1 cannot be recorded ({type(error).__name__}: {error})")
        return None


def _structure(twin: Workspace, n: int, coded: Coded) -> Structure:
    residual, entries = _by_elements(twin, coded) or _as_a_whole(twin, coded)
    return Structure([residual], tables_of(_system(twin, n, entries)))


Entries = Sequence[tuple[int, int]]
"""Rows and columns of [dr/dy, dr/d(rates)]."""


def _shapes(twin: Workspace, results: int) -> Shapes:
    n = twin.layout.n
    return {"y": (n,), "yd": (n,), "out": (results,)}


def _by_elements(twin: Workspace, coded: Coded, first: int = 0) -> tuple[Any, Entries] | None:
    """The rows from the first one on, and their entries."""
    try:
        found = elements_apart(twin, first) if twin.memory.opened else None
    except NotStraight:
        return None
    if found is None:
        return None
    elements, rows, columns = found
    shapes = _shapes(twin, twin.layout.n - first + len(rows))
    return coded(elements, shapes), list(zip(rows.tolist(), columns.tolist(), strict=True))


def _as_a_whole(twin: Workspace, coded: Coded, first: int = 0) -> tuple[Any, Entries]:
    """The same recorded at once, for what elements do not have."""
    n, shapes = twin.layout.n, _shapes(twin, twin.layout.n)
    ran = run(twin, twin.settings.kernels.residual, shapes, recording_point(twin, shapes), most_nodes(twin))
    part, entries = _recorded(ran, n, list(ran.out[first:]), coded)
    return part, [(first + i, j) for i, j in entries]


def _recorded(ran: Run, n: int, values: list[Any], coded: Coded) -> tuple[Any, Entries]:
    """Values and their derivatives by two vectors of n numbers."""
    g, rows = ran.recorder.graph, ran.nodes(values)
    found = jacobian(g, rows, [*inputs_of(g, "y", n), *inputs_of(g, "yd", n)])
    entries = [(i, j) for i, row in enumerate(found) for j in sorted(row)]
    recording = ran.recording([*rows, *(found[i][j] for i, j in entries)])
    shapes: Shapes = {"y": (n,), "yd": (n,), "out": (len(rows) + len(entries),)}
    return coded(recording, shapes), entries


def _system(twin: Workspace, n: int, entries: Entries) -> System:
    """The form of index 1 for its n rates, which come first, and its multipliers."""
    length = twin.layout.n
    bodies = _bodies(twin, entries)
    blocks = [*bodies, *_multipliers(twin)]
    solved = {i for block in blocks for i in block}
    return System(
        length,
        given=list(range(n)),
        rates=list(range(length, length + n)),
        places={i: i for i in range(length)},
        entries=[(i, j, length + k) for k, (i, j) in enumerate(entries)],
        blocks=[Block(block, [length + i if i < n else i for i in block]) for block in blocks],
        direct={i: i for i in range(n) if i not in solved},
        of_bodies=len(bodies),
        parts=[0, length + len(entries)],
    )


def _bodies(twin: Workspace, entries: Entries) -> list[list[int]]:
    """Rates of velocities and internal multipliers of single bodies, in parts without entries in each other's rows."""
    layout, B = twin.layout, twin.arrays["bodies"][: twin.model.n]
    near: dict[int, set[int]] = {}
    for i, j in entries:
        if j >= layout.la.start:
            unknown = j if j < layout.n else j - layout.n
            near.setdefault(i, set()).add(unknown)
            near.setdefault(unknown, set()).add(i)
    out: list[list[int]] = []
    for body in B:
        start = layout.v.start + int(body["iv"])
        own = list(range(start, start + int(body["nt"] + body["nr"])))
        if not layout.n_hidden:
            own += range(layout.la.start + int(body["il"]), layout.la.start + int(body["il"] + body["ni"]))
        out += _components(own, near)
    return out


def _multipliers(twin: Workspace) -> list[list[int]]:
    """The multipliers of joints, those between the same bodies together, in an order with little fill; where equations
    may be suspended one by one, in the order in which `rbdae.kernels.linear.saddle` looks at pivots."""
    first = twin.layout.la.start - twin.layout.n_hidden
    if twin.selection.rows.pivot_floor is not None:
        return [[first + twin.layout.n_internal + int(row)] for row in twin.arrays["eliminated"]]
    of_pairs: dict[frozenset[int], list[int]] = {}
    for p in twin.arrays["primitives"]:
        rows = range(first + int(p["row"]), first + int(p["row"] + p["n"]))
        of_pairs.setdefault(frozenset(p["body"].tolist()), []).extend(rows)
    joints = list(of_pairs.values())
    at_body: dict[int, list[int]] = {}
    for k, ends in enumerate(of_pairs):
        for b in ends - {twin.model.n}:
            at_body.setdefault(b, []).append(k)
    pairs = [(a, b) for at in at_body.values() for i, a in enumerate(at) for b in at[i + 1 :]]
    return [joints[a] for chosen in elimination_rounds(len(joints), pairs) for a, _ in chosen]


def _components(own: list[int], near: dict[int, set[int]]) -> list[list[int]]:
    """Unknowns of a body in parts that have no entry in common."""
    left, out = set(own), []
    for i in own:
        if i not in left:
            continue
        found, new = set(), {i}
        while new:
            found |= new
            new = {j for k in new for j in near.get(k, ()) if j in left} - found
        left -= found
        out.append(sorted(found))
    return out


# ------------------------------------------------------------ quasi-velocities of trees


def _reduced_structure(workspace: Workspace, one: Workspace, two: Workspace, coded: Coded) -> Structure:
    """The structure for trees: the velocities w of all bodies solve G w + g_I = 0 and nu = N(q, w), body after body;
    their rates and the multipliers solve the form of index 1; nudot follows.

    The state is (q, w, s, la, nu). Rows of the form of index 1 come first, then those of w, nu and nudot.
    """
    layout, n = one.layout, one.layout.n
    n_nu, la, v = workspace.layout.v.stop - workspace.layout.v.start, layout.la.start, layout.v.start
    length, rows_of_w, rows_of_nu = n + n_nu, n, 2 * n - la
    dynamics, first = _by_elements(one, coded) or _as_a_whole(one, coded)
    velocities, second = _by_elements(two, coded, la) or _as_a_whole(two, coded, la)
    selecting, third = _selection(workspace, n, n_nu, coded)
    parts = [0, n + len(first), n + len(first) + n - la + len(second)]
    parts.append(parts[-1] + 2 * n_nu + len(third))
    places = dict(enumerate(range(n)))
    places |= {rows_of_w + i: parts[1] + i for i in range(n - la)}
    places |= {rows_of_nu + i: parts[2] + i for i in range(2 * n_nu)}
    entries = [(i, j if j < n else j - n + length, n + k) for k, (i, j) in enumerate(first)]
    begin = parts[1] + n - la
    entries += [(rows_of_w + i - la, j if j < n else j - n + length, begin + k) for k, (i, j) in enumerate(second)]
    entries += [(rows_of_nu + i, j, parts[2] + 2 * n_nu + k) for k, (i, j) in enumerate(third)]
    alone = [*range(layout.q.stop), *range(layout.s.start, layout.s.stop)]
    blocks = [Block([i], [length + i]) for i in alone]
    blocks += [Block([rows_of_nu + n_nu + i], [length + n + i]) for i in range(n_nu)]
    B, P, inu = one.arrays["bodies"], one.arrays["primitives"], [*workspace.layout.inu.tolist(), n_nu]
    hanging: dict[int, list[int]] = {b: [] for b in range(one.model.n)}
    for p in P:
        child = next(int(b) for b in p["body"] if b < one.model.n and B["parent"][b] in p["body"])
        hanging[child] += range(rows_of_w + int(p["row"]), rows_of_w + int(p["row"] + p["n"]))
    for b, rows in hanging.items():
        start = v + int(B["iv"][b])
        own = range(rows_of_nu + inu[b], rows_of_nu + inu[b + 1])
        blocks.append(Block([*rows, *own], [*range(start, start + int(B["nt"][b] + B["nr"][b]))]))
        if len(blocks[-1].rows) != len(blocks[-1].unknowns):
            raise OtherSystem
    bodies = [Block(block, [length + i for i in block]) for block in _bodies(one, first)]
    joints = [Block(block, block) for block in _multipliers(one)]
    given = [*range(layout.q.stop), *range(n, n + n_nu), *range(layout.s.start, layout.s.stop)]
    system = System(
        length,
        given,
        rates=[length + i for i in given],
        places=places,
        entries=entries,
        blocks=[*blocks, *bodies, *joints],
        direct={},
        of_bodies=len(blocks) + len(bodies),
        parts=parts,
        steps=2,
    )
    return Structure([dynamics, velocities, selecting], tables_of(system))


def _selection(workspace: Workspace, n: int, n_nu: int, coded: Coded) -> tuple[Any, Entries]:
    """N(q, w) - nu and nudot - d/dt N, and their entries."""
    length, v = n + n_nu, workspace.layout.v.start
    point = recording_point(workspace, {"y": (length,), "yd": (length,)})
    ran = Run(workspace, point, most_nodes(workspace))
    recorder, m = ran.recorder, ran.m
    kernel = null_space.selected_rates
    y, yd, t = recorder.inputs("y"), recorder.inputs("yd"), recorder.inputs("t")[0]
    w = slice(v, v + workspace.layout.n_velocities)
    still, nu, nud = y.copy(), np.zeros(n_nu, dtype=object), np.zeros(n_nu, dtype=object)
    still[w] = 0.0
    kernel(m, t, still, y, nu)
    kernel(m, t, y, yd, nud)
    return _recorded(ran, length, [*(nu - y[n:]), *(yd[n:] - nud)], coded)
