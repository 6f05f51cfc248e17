"""Residuals of long models, and their derivatives, by elements: bodies, and pairs of bodies with joints and forces.

A body's own rows, and those of a joint or of a force's internal states, are what the kernel gives for a memory that has
no other bodies, joints and forces. Forces between a body and the ground are in the body's element. All formulations of
this library are linear in the multipliers, or in their rates where those are the unknowns, and in natural forces. So a
pair with multipliers la and applied forces F adds to the rows of its bodies

    share of row i = sum_k dF_i/dla_k la_k + sum_k dF_i/dw_k F_k,

where w are the natural forces with which the bodies begin, their weight; F is what is among the natural forces of
bodies without any weight. Elements whose records differ in numbers alone are one kind, which is recorded once
(`rbdae.machine.elements`). Entries of the Jacobian are derivatives of the rows.

Models whose laws call functions are recorded as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import NoDerivative, tangents
from rbdae.graph.symbols import NotStraight
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody.elements.element_groups import Group, groups_of, of_elements
from rbdae.multibody.elements.element_kinds import ElementNumbers, recorded_kind
from rbdae.multibody.elements.element_recording import DIRECTORS, NATURAL, Motion, Recorded
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import Pattern, called

RESIDUAL_FROM, JACOBIAN_FROM = 40, 12
"""Bodies from which elements are quicker than code of the whole model (`benchmarks/elements.py`)."""

_NONE = np.zeros(0, dtype=np.int64)


def apply_to(workspace: Workspace, kernel: Any, pattern: Pattern | None) -> bool:
    """Whether a kernel is made of elements: the residual, or its Jacobian with the entries of a pattern."""
    kernels = workspace.settings.kernels
    of, least = (kernels.residual, RESIDUAL_FROM) if pattern is None else (kernels.jacobian, JACOBIAN_FROM)
    return bool(kernel == of and workspace.model.n >= least and workspace.memory.opened and possible(workspace))


def possible(workspace: Workspace) -> bool:
    """Whether the residual of a model is the sum of what its elements give."""
    settings = workspace.settings
    return bool(
        type(settings.formulation).__module__.startswith("rbdae.")  # others need not be linear in multipliers
        and settings.formulation.kind != "ode"
        and not settings.reduced
        and of_elements(workspace.arrays)
    )


def pattern_of_elements(workspace: Workspace) -> tuple[Ints, Ints] | None:
    """The entries of dF/dy + c dF/dyd that are not 0 whatever the state and the numbers of the model: their rows and
    columns, in rising order of (column, row). None if the model is not the sum of elements."""
    if not possible(workspace):
        return None
    try:
        entries = [places for element in recorded_elements(workspace) for _, places in element.entries()]
    except (NotStraight, NoDerivative):
        return None
    columns, rows = np.divmod(
        np.unique(np.concatenate([places.ravel() for places in [_NONE, *entries]])), workspace.n_equations
    )
    return rows, columns


def elements_of(workspace: Workspace, entries: Pattern | None) -> Elements | None:
    """The elements of the residual, or of its Jacobian with these entries; None if an element has others."""
    if entries is None:
        return _summed(workspace, workspace.n_equations, lambda of: of.rows())
    n = workspace.n_equations
    keys = entries.columns * n + entries.rows
    try:
        return _summed(workspace, len(entries.rows), lambda of: _placed(keys, of.entries()))
    except KeyError:
        return None


def elements_apart(workspace: Workspace, first: int = 0) -> tuple[Elements, Ints, Ints] | None:
    """The elements of the residual with, after it, the entries of dF/dy and dF/dyd; the rows of these entries and their
    columns, those of dF/dyd after those of dF/dy. All is of the rows from `first` on. None if the model is not the sum
    of elements, or there are none of these rows.

    Raises NotStraight, NoDerivative where an element cannot be recorded.
    """
    if not possible(workspace):
        return None
    n = workspace.n_equations

    def wanted(found: list[tuple[int, Ints]]) -> list[tuple[int, Ints]]:
        return [(node, at) for node, at in found if at[0] % n >= first]

    found = [(of, wanted(of.rows()), wanted(of.differentiated(apart=True))) for of in recorded_elements(workspace)]
    keys = np.unique(np.concatenate([_NONE, *(at.ravel() for *_, entries in found for _, at in entries)]))
    results = {}
    for of, rows, entries in found:
        results[of] = [(node, at - first) for node, at in rows]
        results[of] += [(node, n - first + at) for node, at in _placed(keys, entries)]
    columns, rows_of = np.divmod(keys, n)
    if not any(results.values()):
        return None
    return _summed(workspace, n - first + len(keys), lambda of: results[of]), rows_of, columns


def _placed(keys: Ints, found: list[tuple[int, Ints]]) -> list[tuple[int, Ints]]:
    """Nodes with places among rising keys, for nodes with keys; raises KeyError if there is one that is not known."""
    out = []
    for node, wanted in found:
        at = np.searchsorted(keys, wanted)
        if (keys[np.minimum(at, len(keys) - 1)] != wanted).any():
            raise KeyError("an entry that is not known")
        out.append((node, at))
    return out


def _summed(workspace: Workspace, size: int, results_of: Callable[[Any], list[tuple[int, Ints]]]) -> Elements:
    """The elements that add up to this number of results: nodes and places of each kind."""
    every, kinds = recorded_elements(workspace), list[Kind]()
    results, cleared = added(size, [results_of(recorded) for recorded in every], lambda at: Place("out", "", at))
    numbers = ElementNumbers(len(workspace.open_numbers.values))
    for recorded, own in zip(every, results, strict=True):
        if own:
            of = recorded.of
            kinds.append(recorded_kind(numbers, recorded.motion, of.graph, own, of, recorded.places, most=1))
    runs = [Run(k, 0, kind.count) for k, kind in enumerate(kinds)]
    return Elements(kinds, runs, (0, size if cleared else 0), 1, numbers.tape())


def added(
    size: int, found: Sequence[list[tuple[int, Ints]]], to: Callable[[Ints], Place]
) -> tuple[list[list[Result]], bool]:
    """The results of elements that add up to this number of sums, nodes with their sums for each kind, at the places of
    the sums; and whether all have to be zero at first."""
    written, cleared, out = np.zeros(size, dtype=bool), False, list[list[Result]]()
    for own in found:
        # elements of a kind come one after the other, each with all its results: none may be the first one by turns
        times = np.bincount(np.concatenate([at.ravel() for _, at in own] or [_NONE]), minlength=size)
        results = [Result(node, to(at), bool(written[at].any() or (times[at] > 1).any())) for node, at in own]
        cleared = cleared or any(
            result.adds and not written[at].all() for result, (_, at) in zip(results, own, strict=True)
        )
        written |= times > 0
        out.append(results)
    return out, bool(cleared or not written.all())


@final
class _Rows:
    """The rows of elements of a kind, and their derivatives.

    Attributes
    ----------
    of : what has been recorded of the first element
    motion, places : where its unknowns are, and their rates
    """

    def __init__(self, workspace: Workspace, group: Group) -> None:
        self._workspace, self.of = workspace, (of := Recorded(workspace, group))
        layout = workspace.layout
        internal = [] if layout.n_hidden else of.internal
        multipliers = [at - layout.n_hidden for at in (*internal, *of.rows)]
        found = [*(at.at for at in of.q), *(layout.v.start + at for at in of.v), *(at.at for at in of.s)]
        n_first, n_la = len(found), layout.la.stop - layout.la.start
        for part in (layout.la, layout.mu):
            found += [part.start + at for at in multipliers] if part.stop > part.start else []
        self._unknowns = np.array(found)
        # an overdetermined form says more of the constraints
        found += [first + at for first in range(layout.n, workspace.n_equations, n_la or 1) for at in multipliers]
        self._rows = np.array(found)
        self.motion = Motion(("y", layout.v.start), ("yd", layout.v.start))
        n = len(self._unknowns)
        self.places = {("yd", i): Place("yd", "", at) for i, at in enumerate(self._unknowns)}
        self.places |= {("y", i): Place("y", "", at) for i, at in enumerate(self._unknowns)}
        for name in ("y", "yd"):
            of.recorder.with_inputs(name, np.linspace(0.2, 0.8, n).tolist())
        if group.pair:
            own_rows = [i for i in range(n_first, len(found)) if (i - n_first) % len(multipliers) >= len(internal)]
            nodes = self._pair(range(n_first - len(of.s), n_first), own_rows)
        else:
            nodes = of.nodes(self._run(of.m))
        of.sound()
        self._nodes = {i: node for i, node in enumerate(nodes) if of.graph.value(node) != 0.0}
        self._entries: list[tuple[int, Ints]] | None = None

    def _pair(self, states: Sequence[int], rows: Sequence[int]) -> list[int]:
        """The rows of a pair: what it adds to those of its bodies, and its own, those of states and of multipliers."""
        of, g = self.of, self.of.graph
        forces = of.group.forces
        seeds = [g.node("input", name, i) for name in ("y", "yd") for i in rows if i < len(self._unknowns)]
        along = {k: {0: k} for k in seeds}
        nodes: dict[int, int] = {}
        m = of.memory({name: own for name, own in of.group.records.items() if name not in forces})
        if forces:
            loaded = of.memory(forces)
            bodies = loaded.bodies[: loaded.head.n_bodies]
            for body in bodies:
                body.weight, body.weight_d = np.zeros(3), np.zeros(DIRECTORS)
            out = self._run(loaded)
            nodes |= {i: of.recorder.number(out[i]) for i in states}
            weights = of.recorder.with_inputs("weight", [1.0] * (NATURAL * len(bodies)))
            moving = [force for state in loaded.states[: len(bodies)] for force in (*state.fx, *state.fd)]
            along |= {w.node: {0: of.recorder.number(force)} for w, force in zip(weights, moving, strict=True)}
            for body, weight in zip(m.bodies, np.split(weights, len(bodies)), strict=False):
                body.weight, body.weight_d = weight[:3], weight[3:]
        out = self._run(m)
        nodes |= {i: of.recorder.number(out[i]) for i in rows}
        shares = tangents(g, of.nodes(out), along)
        return [nodes.get(i, share.get(0, g.const(0.0))) for i, share in enumerate(shares)]

    def _run(self, m: Any) -> Any:
        kernel = self._workspace.settings.kernels.residual
        return called(self.of.recorder, m, kernel, (len(self._rows),))

    def rows(self) -> list[tuple[int, Ints]]:
        """The rows to which the elements add: node, and place for each element."""
        return [(node, self._rows[i]) for i, node in self._nodes.items()]

    def entries(self) -> list[tuple[int, Ints]]:
        """The entries of dF/dy + c dF/dyd that are not 0: node, and place column by column for each element."""
        if self._entries is None:
            self._entries = self.differentiated()
        return self._entries

    def differentiated(self, *, apart: bool = False) -> list[tuple[int, Ints]]:
        """The same, not kept; `apart` of [dF/dy, dF/dyd], which has twice as many columns."""
        g, n = self.of.graph, self._workspace.n_equations
        columns, one = self._unknowns, g.const(1.0)
        c, first = (one, len(columns)) if apart else (g.node("input", "c", 0), 0)
        seeds = {g.node("input", "y", k): {k: one} for k in range(len(columns))}
        seeds |= {g.node("input", "yd", k): {first + k: c} for k in range(len(columns))}
        if apart:
            columns = np.vstack([columns, self._workspace.layout.n + columns])
        found = tangents(g, list(self._nodes.values()), seeds)
        return [
            (node, columns[k] * n + self._rows[i])
            for i, row in zip(self._nodes, found, strict=True)
            for k, node in row.items()
        ]


def recorded_elements(workspace: Workspace) -> list[_Rows]:
    """The rows of the first element of each kind; recorded once for a workspace.

    Raises NotStraight where a condition on the state has to fall as it does there.
    """
    if workspace.elements is None:
        workspace.elements = [_Rows(workspace, group) for group in groups_of(workspace)]
    return workspace.elements
