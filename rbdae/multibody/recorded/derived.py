"""Jacobians of recorded code: derivatives of what has been recorded of the residual, or of the right-hand side.

Nobody writes them. Where a kernel solves a linear system on its way (`rbdae.formulations.base.Explicit`), the solution
x is differentiated by the residual r(x, y) of this system,

    dx = -A^-1 dr,    dr at fixed x,

with the factors that the kernel has left: a sweep through the factorisation has half as many operations again. The
guards are those of what is differentiated. What is evaluated in Python at a few states is not worth that: there F is
differentiated along one direction (`along_directions`), and NumPy takes all of them.

A pattern, the code of its data and that of its factors ask for the same derivative one after the other: the last one is
kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from rbdae.formulations.base import Callback, Derivative, Explicit
from rbdae.formulations.explicit import balance
from rbdae.graph.derivatives import inputs_of, tangents
from rbdae.graph.loaded import LoadedNumbers
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight, Recorder
from rbdae.kernels.entry import Entry
from rbdae.kernels.linear.columns import solve_columns
from rbdae.machine.function import Shapes
from rbdae.multibody.memory.contents import contents
from rbdae.multibody.memory.saddle_order import order_for
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import Pattern, Point, Recording, Run, recording_of, run

Rows = list[dict[int, int]]
"""Nodes of a matrix by row and column."""


class Derived(NamedTuple):
    """The recording of a kernel and of its derivative: by rows the nodes of the entries that are not zero whatever the
    state. `length` is the number of nodes before the last sweep of derivatives."""

    recorder: Recorder
    loaded: LoadedNumbers | None
    rows: Rows
    length: int

    def copy(self) -> Derived:
        """One for another recording, whose nodes come into a graph of its own."""
        return self._replace(recorder=self.recorder.copy())


_last: tuple[Any, Derived] | None = None
_MOST_KEPT = 200_000
"""Nodes of the graph that is kept, some fifty megabytes."""


def recorded_kernel(
    workspace: Workspace,
    kernel: Callback,
    shapes: Shapes,
    point: Point,
    most_nodes: int,
    pattern: Pattern | None = None,
) -> Recording:
    """A kernel, recorded; of a Jacobian the derivative. With a pattern the results are the entries that it has.

    Raises
    ------
    NotStraight
        if the graph has more nodes than `most_nodes`
    NoDerivative
        if a function of the user that has no derivative is in the way
    """
    if isinstance(kernel, Entry):
        ran = run(workspace, kernel, shapes, point, most_nodes)
        return ran.recording(ran.nodes(ran.out.ravel()))
    n = workspace.layout.n
    n_rows = shapes["out"][0] if pattern is None else max(n, int(pattern.rows.max()) + 1)
    found = derived(workspace, kernel, {**shapes, "out": (n_rows,)}, point, most_nodes)
    zero = found.recorder.graph.const(0.0)
    if pattern is None:
        entries = [row.get(j, zero) for row in found.rows for j in range(shapes["out"][1])]
    else:
        places = zip(pattern.rows.tolist(), pattern.columns.tolist(), strict=True)
        entries = [found.rows[i].get(j, zero) for i, j in places]
    return recording_of(workspace, found.recorder, found.loaded, entries)


def derived(workspace: Workspace, kernel: Derivative, shapes: Shapes, point: Point, most_nodes: int) -> Derived:
    """A kernel on symbols, and dF/dy + c dF/dyd, or dF/du; `shapes` has F as `out`. Raises as `recorded_kernel`."""
    global _last
    memory, (t, y, yd, c) = workspace.memory, point
    at = (y, yd, workspace.first_numbers, *([workspace.open_numbers.values] if memory.opened else []))
    order = order_for(workspace, kernel)
    of = contents(memory), workspace.structure, workspace.symbols
    key = *of, kernel, shapes["out"], order, t, c, *(x.tobytes() for x in at)
    known, found = _last, None
    if known is not None and known[0] == key:
        found = known[1].copy()
    if found is None:
        found = _derived(workspace, kernel, shapes, point, most_nodes)
        whole = kernel.by == "state" and not found.recorder.functions
        if whole and len(found.recorder.graph.nodes) <= _MOST_KEPT:
            _last = key, found.copy()
    if found.length > most_nodes:
        raise NotStraight(f"more than {most_nodes} operations")
    return found


def _derived(workspace: Workspace, kernel: Derivative, shapes: Shapes, point: Point, most_nodes: int) -> Derived:
    n = workspace.layout.n
    ran = run(workspace, kernel.of, shapes, point, most_nodes)
    g, outputs = ran.recorder.graph, ran.nodes(ran.out)
    one, c = g.const(1.0), g.node("input", "c", 0)
    by = _by(ran, workspace, kernel)
    seeds: dict[int, Mapping[int, int]] = {node: {j: one} for j, node in enumerate(by)}
    kernels = workspace.settings.kernels
    if isinstance(kernels, Explicit) and kernels.balance is not None and kernels.solves(kernel.of):
        seeds |= _of_solution(kernels.balance, ran, seeds, len(by))
    elif ran.m.head.n_frictions and workspace.settings.reduced:
        seeds |= _of_normals(ran, seeds, len(by))
    if "yd" in shapes and kernel.by == "state":
        seeds |= {node: {j: c} for j, node in enumerate(inputs_of(g, "yd", n))}
    length = len(g.nodes)
    return Derived(ran.recorder, ran.loaded, tangents(g, outputs, seeds), length)


def along_directions(
    workspace: Workspace, kernel: Derivative, shapes: Shapes, point: Point, most_nodes: int
) -> Recording:
    """The same derivative, or dF/dp, along the input vector ``"direction"``: with arrays in it, along many directions
    at once. A sweep through F, and through the factorisation in it, for a single direction is as short as F. F
    itself comes after it: what a function of the user raises there is raised here. `shapes` has that of F as `out`."""
    ran = run(workspace, kernel.of, shapes, point, most_nodes)
    g = ran.recorder.graph
    c, zero, by = g.node("input", "c", 0), g.const(0.0), _by(ran, workspace, kernel)
    direction = inputs_of(g, "direction", len(by))
    seeds = {node: {0: change} for node, change in zip(by, direction, strict=True)}
    if "yd" in shapes and kernel.by == "state":
        rates = inputs_of(g, "yd", len(by))
        seeds |= {node: {0: g.mul(c, change)} for node, change in zip(rates, direction, strict=True)}
    outputs = ran.nodes(ran.out)
    return ran.recording([*(row.get(0, zero) for row in tangents(g, outputs, seeds)), *outputs])


def _by(ran: Run, workspace: Workspace, kernel: Derivative) -> list[int]:
    recorder = ran.recorder
    if kernel.by == "inputs":
        return [symbol.node for symbol in recorder.inputs("selection")[workspace.places_of("inputs")]]
    name, n = ("y", workspace.layout.n) if kernel.by == "state" else ("parameter", 1)
    return inputs_of(recorder.graph, name, n)


def _of_solution(
    balance: Entry, ran: Run, seeds: Mapping[int, Mapping[int, int]], width: int
) -> dict[int, Mapping[int, int]]:
    """Derivatives, by `width` numbers, of the solution of the linear system that a kernel has left in the memory."""
    recorder = ran.recorder
    g, zero = recorder.graph, recorder.graph.const(0.0)
    at, W = _columns(balance, ran, seeds, width)
    out: dict[int, Mapping[int, int]] = {}
    for node, row in zip([*at.values()][: ran.m.head.n_v], W, strict=False):
        minus = {j: recorder.number(value) for j, value in enumerate(row) if recorder.number(value) != zero}
        out[g.neg(node)] = minus  # a difference x - vd may be written as x + (-vd)
        out[node] = {j: g.neg(change) for j, change in minus.items()}
    return out


def _of_normals(ran: Run, seeds: Mapping[int, Mapping[int, int]], width: int) -> dict[int, Mapping[int, int]]:
    """The same of the normal forces of friction, N(q, la) at the multipliers that belong to the state."""
    recorder = ran.recorder
    g, zero = recorder.graph, recorder.graph.const(0.0)
    found = ran.nodes(ran.m.normals)
    at, W = _columns(balance, ran, seeds, width)
    by_balance = ran.nodes(ran.m.normals)  # of the placeholders of la
    of_la = {
        node: {j: g.neg(recorder.number(value)) for j, value in enumerate(row)}
        for node, row in zip(at, W, strict=False)
    }
    rows = tangents(g, by_balance, {**seeds, **of_la})
    entries = [(node, j, change) for node, row in zip(found, rows, strict=True) for j, change in row.items()]
    out: dict[int, dict[int, int]] = {node: {} for node in found}
    nodes = replaced(g, [change for *_, change in entries], at)
    for (node, j, _), change in zip(entries, nodes, strict=True):
        if change != zero:
            out[node][j] = change
    return dict(out)


def _columns(
    balance: Entry, ran: Run, seeds: Mapping[int, Mapping[int, int]], width: int
) -> tuple[dict[int, int], Any]:
    """The solution x = (vdot, la) of a linear system that a kernel has left in the memory, by the nodes of placeholders
    in its balance, and the derivatives of x with the other sign."""
    recorder, m = ran.recorder, ran.m
    g = recorder.graph
    n_v, n_la = m.head.n_v, m.head.n_la
    x = ran.nodes([*m.solution[:n_v], *m.multipliers[:n_la]])
    placeholders = recorder.with_inputs("x", [recorder.value(node) for node in x])
    rows = np.zeros(n_v + n_la, dtype=object)
    before = set(recorder.guards)
    balance(m, placeholders, rows)
    at = dict(zip((symbol.node for symbol in placeholders), x, strict=True))
    new = [guard for guard in recorder.guards if guard not in before]
    falls = [recorder.guards.pop(guard) for guard in new]
    for guard, fall in zip(replaced(g, new, at), falls, strict=True):
        recorder.guards.setdefault(guard, fall)
    changes, W = tangents(g, ran.nodes(rows), seeds), np.zeros((n_v + n_la, width), dtype=object)
    entries = [(i, j, node) for i, row in enumerate(changes) for j, node in row.items()]
    nodes = replaced(g, [node for *_, node in entries], at)
    for (i, j, _), node in zip(entries, nodes, strict=True):
        W[i, j] = recorder.result(node)
    solve_columns(m, W)
    return at, W
