"""Residuals of long models, and their derivatives, by elements: bodies, and pairs of bodies with joints and forces.

A body's own rows, and those of a joint or of a force's internal states, are what the kernel gives for a memory that has
no other bodies, joints and forces, with the places of the unknowns as they are in the model. Forces between a body and
the ground are in the body's element. A joint adds to the rows of its bodies what is linear in its multipliers,

    share of row i = sum_k dF_i/dla_k la_k,

the derivative along the multipliers, or along their rates where those are the unknowns: all formulations of
this library are linear in them. So they are in applied forces (`rbdae.multibody.element_recording`). Elements whose
records differ in numbers alone are one kind, which is recorded once (`rbdae.machine.elements`). Entries of the Jacobian
are derivatives of the rows.

Models whose laws call functions are recorded as a whole.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.loaded import Tape
from rbdae.graph.symbols import NotStraight
from rbdae.machine.elements import Elements, Kind, Place, Result, Run
from rbdae.multibody.code_text import Pattern
from rbdae.multibody.element_groups import of_elements
from rbdae.multibody.element_kinds import kind_of
from rbdae.multibody.element_recording import recorded_elements
from rbdae.multibody.recording import opened_numbers
from rbdae.multibody.workspace import Workspace

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
    n = workspace.n_equations
    size = n if entries is None else len(entries.rows)
    keys = None if entries is None else entries.columns * n + entries.rows
    order = None if keys is None else np.argsort(keys)
    known = None if keys is None else keys[order]
    written, cleared, kinds = np.zeros(size, dtype=bool), False, list[Kind]()
    for recorded in recorded_elements(workspace):
        found = recorded.rows() if keys is None else recorded.entries()
        if known is not None and order is not None:
            placed = [(node, _found(known, order, at)) for node, at in found]
            if any(at is None for _, at in placed):
                return None
            found = [(node, at) for node, at in placed if at is not None]
        # elements of a kind come one after the other, each with all its results: none may be the first one by turns
        times = np.bincount(np.concatenate([at.ravel() for _, at in found] or [_NONE]), minlength=size)
        results = [
            Result(node, Place("out", "", at), bool(written[at].any() or (times[at] > 1).any())) for node, at in found
        ]
        cleared = cleared or any(result.adds and not written[result.place.at].all() for result in results)
        written |= times > 0
        lasting = recorded.lasting(with_tangents=entries is not None)
        results += [Result(node, Place("work", "", at)) for node, at in lasting]
        if results:
            places = recorded.inputs(results, with_tangents=entries is not None)
            kinds.append(kind_of(recorded.graph, results, places, len(results[0].place.at), most=1))
    runs = [Run(k, 0, kind.count) for k, kind in enumerate(kinds)]
    work = [result.place.at.max() for kind in kinds for result in kind.results if result.place.vector == "work"]
    zeros = size if cleared or not written.all() else 0
    numbers = Tape.of_inputs(len(opened_numbers(workspace).values))
    return Elements(kinds, runs, (0, zeros), 1 + int(max(work, default=0)), numbers)


def _found(known: Ints, order: Ints, wanted: Ints) -> Ints | None:
    """The places of keys, `known` in rising order; None if there is one that is not known."""
    at = np.searchsorted(known, wanted)
    if (at >= len(known)).any() or (known[at] != wanted).any():
        return None
    out: Ints = order[at]
    return out
