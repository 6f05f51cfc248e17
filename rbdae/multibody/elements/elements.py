"""Residuals of long models, and their derivatives, by elements: bodies, and pairs of bodies with joints and forces.

A body's own rows, and those of a joint or of a force's internal states, are what the kernel gives for a memory that has
no other bodies, joints and forces, with the places of the unknowns as they are in the model. Forces between a body and
the ground are in the body's element. A joint adds to the rows of its bodies what is linear in its multipliers,

    share of row i = sum_k dF_i/dla_k la_k,

the derivative along the multipliers, or along their rates where those are the unknowns: all formulations of
this library are linear in them. So they are in applied forces (`rbdae.multibody.elements.element_recording`). Elements
whose records differ in numbers alone are one kind, which is recorded once (`rbdae.machine.elements`). Entries of the
Jacobian are derivatives of the rows.

Models whose laws call functions are recorded as a whole.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.loaded import Tape
from rbdae.graph.symbols import NotStraight
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody.elements.element_groups import of_elements
from rbdae.multibody.elements.element_kinds import in_lanes, shortened
from rbdae.multibody.elements.element_recording import recorded_elements
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import Pattern

RESIDUAL_FROM, JACOBIAN_FROM = 40, 12
"""Bodies from which elements are quicker than code of the whole model (docs/decisions.md)."""

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
    """The elements of the residual, or of the data of its Jacobian with these entries. None if some element does what
    elements do not."""
    if entries is None:
        return _summed(workspace, workspace.n_equations, lambda of: of.rows())
    n = workspace.n_equations
    known = _Known(entries.columns * n + entries.rows)
    try:
        return _summed(workspace, len(entries.rows), lambda of: known.placed(of.entries()))
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

    found = [(of, wanted(of.rows()), wanted(of.entries_apart())) for of in recorded_elements(workspace)]
    keys = np.unique(np.concatenate([_NONE, *(at.ravel() for *_, entries in found for _, at in entries)]))
    known, results = _Known(keys), {}
    for of, rows, entries in found:
        results[of] = [(node, at - first) for node, at in rows]
        results[of] += [(node, n - first + at) for node, at in known.placed(entries)]
    columns, rows_of = np.divmod(keys, n)
    if not any(results.values()):
        return None
    return _summed(workspace, n - first + len(keys), lambda of: results[of]), rows_of, columns


@final
class _Known:
    """Entries by their keys."""

    def __init__(self, keys: Ints) -> None:
        self._order = np.argsort(keys)
        self._keys = keys[self._order]

    def placed(self, found: list[tuple[int, Ints]]) -> list[tuple[int, Ints]]:
        """Nodes with the places of keys; raises KeyError if there is one that is not known."""
        return [(node, self._places(keys)) for node, keys in found]

    def _places(self, wanted: Ints) -> Ints:
        at = np.searchsorted(self._keys, wanted)
        if (at >= len(self._keys)).any() or (self._keys[at] != wanted).any():
            raise KeyError("an entry that is not known")
        out: Ints = self._order[at]
        return out


def _summed(workspace: Workspace, size: int, results_of: Callable[[Any], list[tuple[int, Ints]]]) -> Elements:
    """The elements that add up to this number of results: nodes and places of each kind."""
    written, cleared, kinds = np.zeros(size, dtype=bool), False, list[Kind]()
    for recorded in recorded_elements(workspace):
        found = results_of(recorded)
        # elements of a kind come one after the other, each with all its results: none may be the first one by turns
        times = np.bincount(np.concatenate([at.ravel() for _, at in found] or [_NONE]), minlength=size)
        results = [
            Result(node, Place("out", "", at), bool(written[at].any() or (times[at] > 1).any())) for node, at in found
        ]
        cleared = cleared or any(result.adds and not written[result.place.at].all() for result in results)
        written |= times > 0
        if results:
            places = recorded.inputs(results)
            graph, order, results, _ = shortened(recorded.graph, results)
            kinds.append(in_lanes(graph, order, results, places, {}, len(results[0].place.at), {}, most=1))
    runs = [Run(k, 0, kind.count) for k, kind in enumerate(kinds)]
    zeros = size if cleared or not written.all() else 0
    numbers = Tape.of_inputs(len(workspace.open_numbers.values))
    return Elements(kinds, runs, (0, zeros), 1, numbers)
