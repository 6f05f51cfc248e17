"""Factors of dF/dy + c dF/dyd by the structure of a model: code of their own where they are short, else tables.

The elimination begins where the Jacobian's recording ends, so that what is constant in it, such as masses, ones and
zeros, folds in the factors. Two kernels come of it: one fills the numbers of L and U that are not constant, the other
solves with them. A guard holds while the multipliers stay below `rbdae.graph.elimination.LARGEST`.

Pivots are chosen on the numbers of a problem, rounded: those of the model to powers of two, the state and the selection
to a millionth. So they depend on the problem alone, and problems alike share them; code is that of structure and
pivots.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any, Literal, NamedTuple

import numpy as np

from rbdae.formulations.base import Callback
from rbdae.graph.elimination import LARGEST, Factors, eliminate, substitute
from rbdae.graph.graph import Graph
from rbdae.graph.pivots import Place, Plan, SingularPattern, plan, with_pivots
from rbdae.graph.symbols import NotStraight
from rbdae.machine.cache import bytes_from_cache, say_once
from rbdae.machine.factors import BoundFactors, Tables, tables
from rbdae.machine.function import PROTOTYPE, Shapes
from rbdae.machine.module import NoMachineCode, collector_off
from rbdae.multibody.code.code import Code, compiled
from rbdae.multibody.code.code_text import CodeText, code_text
from rbdae.multibody.code.traced import own_point, shared
from rbdae.multibody.memory.contents import kept_at_point, on_disk
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import recorded_kernel
from rbdae.multibody.recorded.recording import Pattern, Recording, recording_point

_SIZES = 10.0, 1e4, 1e8
"""Of c, where pivots are chosen: the first steps of a run have large ones."""

_LONGEST = 4000
"""Nodes of a Jacobian; tables serve longer ones."""

MOST_PRODUCTS = 2500
"""Of the elimination; beyond, tables are as quick, and there at once."""


class FactorCode(NamedTuple):
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


class Wanted(NamedTuple):
    """The Jacobian whose factors are asked for: its kernel, its entries, and the code of its data."""

    kernel: Callback
    pattern: Pattern
    code: Code


def factors_of(workspace: Workspace, wanted: Wanted) -> BoundFactors | Tables | None:
    """The factors of this workspace; None where the user's functions are called, or no pivots serve."""
    if workspace.code_calls_python or wanted.code.functions:
        return None
    known = workspace.memory.recorded
    key = ("factors", wanted.kernel, workspace.structure, wanted.code.variant)
    if key not in known:
        made = shared(workspace, (*key, workspace.point), lambda: _by_pivots(workspace, wanted, key))
        if isinstance(made, FactorCode) and not all([code.sound(workspace) for code in made[:2]]):
            mine, order = (*key, own_point(workspace)), made.order  # sums by which others divide vanish in this model
            made = shared(workspace, mine, lambda: _made(workspace, wanted, order, alone=True))
        known[key] = made
    found: FactorCode | Tables | None = known[key]
    if not isinstance(found, FactorCode):
        return found
    functions = found.factors.function(workspace), found.solve.function(workspace)
    return BoundFactors(functions, found.size, found.order)


def _by_pivots(workspace: Workspace, wanted: Wanted, key: tuple[Any, ...]) -> FactorCode | Tables | None:
    """The factors at a point; models of one structure share them by their pivots."""
    order = _order(workspace, wanted)
    if order is None:
        return None
    return shared(workspace, (*key, tuple(order.pivots)), lambda: _made(workspace, wanted, order))


def _order(workspace: Workspace, wanted: Wanted) -> Plan | None:
    """The plan at a point, with the pivots that are on disk for it."""
    n, places = workspace.layout.n, wanted.pattern.places

    def pivots(*, exact: bool) -> list[Place] | None:
        samples = _samples(workspace, wanted, exact=exact)
        try:
            return plan(n, [dict(zip(places, sample, strict=True)) for sample in samples]).pivots if samples else None
        except SingularPattern:
            return None

    with collector_off():
        more = "pivots", wanted.pattern.to_bytes(), wanted.code.variant
        found = kept_at_point(workspace, wanted.kernel.name, workspace.point, partial(pivots, exact=False), *more)
        found = pivots(exact=True) if found is None else found
        return None if found is None else with_pivots(n, found, places)


def _samples(workspace: Workspace, wanted: Wanted, *, exact: bool) -> list[list[float]]:
    """Entries at the state that the memory keeps, where some may be zero that are none elsewhere, and a little beside
    it, at small and at large c. They depend on the memory alone: not on the problem that happens to ask first."""
    rng, n, code = np.random.default_rng(5), workspace.layout.n, wanted.code
    numbers, y, selection = workspace.rounded
    if exact:
        numbers, selection = workspace.open_numbers.values, workspace.first_numbers
    context = code.context_with(selection, numbers)
    run = PROTOTYPE(code.module["machine"])
    beside = y + 1e-2 * rng.standard_normal(n), rng.standard_normal(n)
    out = np.empty(len(wanted.pattern.rows))
    found = []
    for (state, rates), c in (((y, np.zeros(n)), _SIZES[-1]), (beside, _SIZES[0]), (beside, _SIZES[1])):
        word = run(context.address, 0.1234, state.ctypes.data, rates.ctypes.data, c, out.ctypes.data)
        if word == 0 and np.isfinite(out).all():
            found.append(out.tolist())
    return found


def _on_disk(workspace: Workspace, wanted: Wanted, *more: object) -> tuple[object, ...] | None:
    """The key of what is kept on disk; None for what other processes cannot have."""
    known = on_disk(workspace, wanted.kernel.name)
    entries = wanted.pattern.to_bytes()
    return None if known is None else ("factors", known, entries, wanted.code.variant, *more)


def _made(workspace: Workspace, wanted: Wanted, order: Plan, *, alone: bool = False) -> FactorCode | Tables:
    """The code of the factors with these pivots, else their tables."""
    found = None
    if order.products <= MOST_PRODUCTS:
        found = _with_code(workspace, wanted, order, None if alone else _on_disk(workspace, wanted, order.pivots))
    return tables(workspace.layout.n, wanted.pattern.places, order) if found is None else found


def _with_code(workspace: Workspace, wanted: Wanted, order: Plan, key: tuple[object, ...] | None) -> FactorCode | None:
    """The code of the factors, which is recorded unless it is on disk; None where it is too long."""
    n = workspace.layout.n
    recordings = cache(partial(_recorded, workspace, wanted, order))

    def stored() -> bytes:
        found = recordings()
        return (0 if found is None else found[2]).to_bytes(8, "little")

    def of(k: Literal[0, 1], signs: str, shapes: Shapes) -> Code:
        def text() -> CodeText:
            found = recordings()
            assert found is not None  # its size says so
            return code_text(found[k], signs, shapes, None)

        return compiled(signs, shapes, text, key and (key, signs))

    with collector_off():
        size = int.from_bytes(stored() if key is None else bytes_from_cache(key, stored), "little")
        if not size:
            return None
        factors: Shapes = {"y": (n,), "yd": (n,), "out": (size,)}
        solve: Shapes = {"y": (size,), "yd": (n,), "out": (n,)}
        try:
            return FactorCode(of(0, "tyyto", factors), of(1, "tyyo", solve), size, order)
        except NoMachineCode as error:
            say_once(str(error))
            return None


def _recorded(workspace: Workspace, wanted: Wanted, order: Plan) -> tuple[Recording, Recording, int] | None:
    """The recordings of both kernels, and how many numbers go from one to the other; None if they are too long."""
    n, pattern = workspace.layout.n, wanted.pattern
    shapes: Shapes = {"y": (n,), "yd": (n,), "out": (len(pattern.rows),)}
    try:
        recording = recorded_kernel(
            workspace, wanted.kernel, shapes, recording_point(workspace, shapes), 4 * _LONGEST, pattern
        )
    except (NotStraight, TypeError, AttributeError, ValueError, ArithmeticError):
        return None  # the Jacobian itself has said why, and has other code
    if len(recording.graph.needed([*recording.guards, *recording.outputs])) > _LONGEST or recording.functions:
        return None  # functions are called through addresses
    graph = recording.graph
    at = zip(pattern.places, recording.outputs, strict=True)
    entries = {place: node for place, node in at if graph.value(node) != 0.0}
    order = with_pivots(n, order.pivots, entries)
    if order.products > MOST_PRODUCTS:
        return None
    factors = eliminate(graph, order, entries)
    stored: dict[int, int] = {}
    other = Graph()

    def read(node: int) -> int:
        """An entry of L or U in the second graph: a constant, or an input."""
        value = graph.value(node)
        if value is not None:
            return other.const(value)
        return other.node("input", "y", stored.setdefault(node, len(stored)))

    there = Factors(
        [[(r, read(x)) for r, x in column] for column in factors.lower],
        [[(k, read(x)) for k, x in row] for row in factors.upper],
        [read(x) for x in factors.pivots],
        0,
    )
    x = substitute(other, order, there, [other.node("input", "yd", i) for i in range(n)])
    small = graph.node("<=", factors.growth, graph.const(LARGEST**2))
    guards = dict(recording.guards)
    if graph.value(small) is None and graph.value(factors.growth) is None:
        guards[small] = True
    first = Recording(graph, list(stored), guards, recording.functions, loaded=recording.loaded)
    return first, Recording(other, x, {}, [], loaded=recording.loaded), len(stored)
