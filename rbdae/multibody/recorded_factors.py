"""Factors of dF/dy + c dF/dyd as code of one model: the elimination begins where the Jacobian's recording ends.

What is constant in the Jacobian, such as masses, ones and zeros, folds in the factors. Two kernels come of it: one
fills the numbers of L and U that are not constant, the other solves with them. A guard holds while the multipliers
stay below `rbdae.graph.elimination.LARGEST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae.compiler.options import collector_off
from rbdae.formulations.base import Callback
from rbdae.graph.derivatives import tangents
from rbdae.graph.elimination import LARGEST, Complexes, Factors, Field, Reals, eliminate, substitute
from rbdae.graph.evaluate import evaluate
from rbdae.graph.graph import Graph
from rbdae.graph.pivots import Place, Plan, SingularPattern, plan
from rbdae.graph.symbols import NotStraight
from rbdae.machine.function import MachineFunction
from rbdae.machine.python_calls import supported
from rbdae.machine.straight import LONGEST
from rbdae.multibody.code import Code, made
from rbdae.multibody.code_text import Pattern
from rbdae.multibody.derived import recorded_kernel
from rbdae.multibody.recording import Recording, first_numbers, own_constants, recording_point, selected
from rbdae.multibody.traced import own_point, shared
from rbdae.multibody.workspace import Workspace

_SIZES = 10.0, 1e4, 1e8
"""Of c, where pivots are chosen: the first steps of a run have large ones."""

MOST_PRODUCTS = 2500
"""Of the elimination; beyond, tables are as quick, and there at once (docs/decisions.md)."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class FactorCode:
    """Code of both, not bound to any selection yet.

    Parameters
    ----------
    factors, solve : see `rbdae.machine.factors`
    size : numbers that are stored
    order : the pivots
    """

    factors: Code
    solve: Code
    size: int
    order: Plan

    def bound(self, workspace: Workspace) -> BoundFactors:
        """The two functions for the selection of a workspace."""
        found = []
        for code in (self.factors, self.solve):
            context = code.context(workspace)
            found.append(MachineFunction(code.module.address("machine"), context.ctypes.data, context, []))
        return BoundFactors((found[0], found[1]), self.size, self.order)


@final
@dataclass(frozen=True, slots=True, eq=False)
class BoundFactors:
    """The same for one selection: the first function returns 1 where a guard does not hold."""

    functions: tuple[MachineFunction, MachineFunction]
    size: int
    order: Plan


def recorded_factors(workspace: Workspace, kernel: Callback, pattern: Pattern) -> FactorCode | None:
    """The code of the factors for this workspace; None if it has none, or is too long.

    Parameters
    ----------
    kernel : of the Jacobian
    pattern : its entries
    """
    if not workspace.memory.traced or workspace.code_calls_python or not supported():
        return None
    known = workspace.memory.recorded
    key = ("factors", kernel, workspace.selection.rows.dropped, tuple(selected(workspace)), own_constants(workspace))
    if key not in known:
        mine = (*key, own_point(workspace)) if workspace.memory.opened else key  # pivots depend on the numbers
        known[key] = shared(workspace, mine, lambda: _code(workspace, kernel, pattern, key))
    found: FactorCode | None = known[key]
    return found


def _samples(workspace: Workspace, recording: Recording, pattern: Pattern) -> list[dict[Place, float]]:
    """Numbers of the entries at the state that the memory keeps, where some may be zero that are none elsewhere, and a
    little beside it, at small and at large c. They depend on the memory alone, as the code does: not on the problem
    that happens to ask first."""
    rng = np.random.default_rng(5)
    regular, n = workspace.memory.regular, workspace.layout.n
    y = regular if len(regular) == n else np.zeros(n)
    beside = y + 1e-2 * rng.standard_normal(n), rng.standard_normal(n)
    places = list(zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True))
    found = []
    for (state, rates), c in (((y, np.zeros(n)), _SIZES[-1]), (beside, _SIZES[0]), (beside, _SIZES[1])):
        inputs = {"t": [0.1234], "y": state, "yd": rates, "c": [c], "selection": first_numbers(workspace)}
        values = evaluate(recording.graph, recording.outputs, inputs)
        if not np.isfinite(values).all():
            continue
        found.append(dict(zip(places, values, strict=True)))
    return found


def _code(workspace: Workspace, kernel: Callback, pattern: Pattern, key: tuple[Any, ...]) -> FactorCode | None:
    """The code of the factors; models of one structure with the same pivots share it."""
    n = workspace.layout.n
    shapes: dict[str, tuple[int, ...]] = {"y": (n,), "yd": (n,), "out": (len(pattern.rows),)}
    with collector_off():
        try:
            recording = recorded_kernel(
                workspace, kernel, shapes, recording_point(workspace, shapes), 4 * LONGEST, pattern
            )
        except (NotStraight, TypeError, AttributeError, ValueError, ArithmeticError):
            return None  # the Jacobian itself has said why, and has other code
        if len(recording.graph.needed([*recording.guards, *recording.outputs])) > LONGEST:
            return None
        if recording.functions:
            return None  # they are called through addresses
        samples = _samples(workspace, recording, pattern)
        try:
            order = _order(recording, pattern, n, samples) if samples else None
        except SingularPattern:
            return None
        if order is None:
            return None
        fallen = tuple(recording.guards.items())
        chosen = (*key, "pivots", tuple(order.pivots), fallen)
        found = shared(workspace, chosen, lambda: _with_order(recording, pattern, n, order))
        if found is None or all(code.data_of(workspace).sound for code in (found.factors, found.solve)):
            return found
        return _with_order(recording, pattern, n, order)  # sums by which others divide vanish in this model


def _with_order(recording: Recording, pattern: Pattern, n: int, order: Plan) -> FactorCode | None:
    found = with_factors(recording, pattern, n, order, Reals)
    if found is None:
        return None
    first, second, size = found
    factors = made(first, "tyyto", {"y": (n,), "yd": (n,), "out": (size,)})
    solve = made(second, "tyyo", {"y": (size,), "yd": (n,), "out": (n,)})
    return None if factors is None or solve is None else FactorCode(factors, solve, size, order)


def _order(recording: Recording, pattern: Pattern, n: int, samples: Sequence[Mapping[Place, float]]) -> Plan:
    """The pivots of the entries that are not 0 whatever the state."""
    at = zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True)
    graph = recording.graph
    places = [place for place, node in zip(at, recording.outputs, strict=True) if graph.value(node) != 0.0]
    return plan(n, [{place: sample[place] for place in places} for sample in samples])


def with_factors(
    recording: Recording, pattern: Pattern, n: int, order: Plan, field: Any
) -> tuple[Recording, Recording, int] | None:
    """The recordings of both kernels, and how many numbers go from one to the other; None if they are too long. With
    `Complexes`, c is c + i yd[n], and vectors have their real numbers first.

    The Jacobian is linear in c, so that its derivative by c is dF/dyd.
    """
    graph = recording.graph
    at = zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True)
    entries: dict[Place, Any] = {
        place: node for place, node in zip(at, recording.outputs, strict=True) if graph.value(node) != 0.0
    }
    if order.products * field.n_reals**2 > MOST_PRODUCTS:
        return None
    if field is Complexes:
        entries = _complex(graph, entries, n)
    made_of = eliminate(graph, field(graph), order, entries)
    stored: dict[int, int] = {}
    other = Graph()
    fields: tuple[Field, Field] = (field(graph), field(other))

    def read(x: Any) -> Any:
        """An entry of L or U in the second graph: a constant, or an input."""
        reals = []
        for node in fields[0].reals(x):
            value = graph.value(node)
            place = 0 if value is not None else stored.setdefault(node, len(stored))
            reals.append(other.const(value) if value is not None else other.node("input", "y", place))
        return fields[1].of(reals)

    there = Factors(
        [[(r, read(x)) for r, x in column] for column in made_of.lower],
        [[(k, read(x)) for k, x in row] for row in made_of.upper],
        [read(x) for x in made_of.pivots],
        0,
    )
    b = [fields[1].of([other.node("input", "yd", i + n * k) for k in range(field.n_reals)]) for i in range(n)]
    x = substitute(fields[1], order, there, b)
    small = graph.node("<=", made_of.growth, graph.const(LARGEST**2))
    guards = dict(recording.guards)
    if graph.value(small) is None and graph.value(made_of.growth) is None:
        guards[small] = True
    outputs = [fields[1].reals(value)[k] for k in range(field.n_reals) for value in x]
    first = Recording(graph, list(stored), guards, recording.functions, loaded=recording.loaded)
    return first, Recording(other, outputs, {}, [], loaded=recording.loaded), len(stored)


def _complex(graph: Graph, entries: Mapping[Place, int], n: int) -> dict[Place, tuple[int, int]]:
    """A(c) + i yd[n] dA/dc."""
    c, imaginary = graph.node("input", "c", 0), graph.node("input", "yd", n)
    slopes = tangents(graph, list(entries.values()), {c: {0: graph.const(1.0)}})
    zero = graph.const(0.0)
    return {
        place: (node, graph.mul(imaginary, slope[0]) if 0 in slope else zero)
        for (place, node), slope in zip(entries.items(), slopes, strict=True)
    }


__all__ = ["MOST_PRODUCTS", "BoundFactors", "FactorCode", "recorded_factors", "with_factors"]
