"""`Law`: a user's function f(t, x, out) as a graph."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.graph import derivatives
from rbdae.graph.evaluate import evaluate
from rbdae.graph.graph import Graph, operands
from rbdae.graph.on_stacks import stacked
from rbdae.graph.replacing import made
from rbdae.laws.arrays import numbers
from rbdae.laws.numbers import NotRecorded, Number, Tape
from rbdae.laws.surroundings import surroundings
from rbdae.laws.twins import twin
from rbdae.laws.ways import explored

Filling = Callable[[float, Vec, Vec], Any]
"""f(t, x, out), which fills out and returns None."""

_CLOSE = 1e-11
"""Relative difference of what a law gives on numbers and what its graph gives: rounding."""


@final
class Law:
    """The computation of a law.

    Attributes
    ----------
    graph : with the inputs ``("t", 0)`` and ``("x", i)``
    outputs : its results, as nodes
    regular : a condition, as a node: 0 where the law raises an exception
    n_in : how many x there are
    seen : (t, x, out) of the function itself, where it was compared
    """

    def __init__(self, graph: Graph, outputs: list[int], regular: int, n_in: int) -> None:
        self.graph, self.outputs, self.regular, self.n_in = graph, outputs, regular, n_in
        self.seen: list[tuple[float, Vec, Vec]] = []

    @property
    def always_regular(self) -> bool:
        """Whether it never raises an exception."""
        return self.graph.value(self.regular) == 1.0

    @cached_property
    def digest(self) -> str:
        """The computation, as a number."""
        text = repr((self.graph.nodes, self.outputs, self.regular))
        return hashlib.sha256(text.encode()).hexdigest()

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        """Its values, in Python."""
        with np.errstate(all="ignore"):  # of sides that are not chosen
            out[:] = evaluate(self.graph, self.outputs, {"t": [t], "x": x})

    @cached_property
    def _on_rows(self) -> Callable[[Mat], Mat]:
        return stacked(self.graph, [*self.outputs, self.regular], {"t": 0, "x": 1})

    def at_rows(self, t: Vec, x: Mat) -> tuple[Mat, Bools]:
        """Its values at times (m,) and rows x (m, n_in), (m, n_out), and whether they are regular, (m,)."""
        found = self._on_rows(np.concatenate([t[:, None], x], axis=1))
        return found[:, :-1], found[:, -1] != 0.0

    def inlined(self, graph: Graph, t: int, x: Sequence[int]) -> tuple[list[int], int]:
        """Its results and its condition among the nodes of another graph, at the nodes t and x."""
        known: dict[int, int] = {}
        for k in self.graph.needed([*self.outputs, self.regular]):
            kind, *rest = self.graph.nodes[k]
            if kind == "const":
                known[k] = graph.const(rest[0])
            elif kind == "input":
                known[k] = t if rest[0] == "t" else x[rest[1]]
            else:
                known[k] = made(graph, kind, [known[j] for j in operands(self.graph.nodes[k])])
        return [known[k] for k in self.outputs], known[self.regular]

    def by(self, columns: Sequence[tuple[str, int]]) -> Law:
        """The law of its derivatives by some inputs, row after row: d out[i] / d column[j]."""
        inputs = [self.graph.node("input", name, i) for name, i in columns]
        rows = derivatives.jacobian(self.graph, self.outputs, inputs)
        zero = self.graph.const(0.0)
        entries = [row.get(j, zero) for row in rows for j in range(len(inputs))]
        return Law(self.graph, entries, self.regular, self.n_in)

    def ordered(self, places: Sequence[tuple[int, int]], n: int) -> Law:
        """The law whose n results are those of this one at other places: (place, here); the others are zero."""
        outputs = [self.graph.const(0.0)] * n
        for place, here in places:
            outputs[place] = self.outputs[here]
        return Law(self.graph, outputs, self.regular, self.n_in)

    def joined(self, *others: Law) -> Law:
        """One law with the results of several that share a graph."""
        graph, regular = self.graph, self.regular
        outputs = list(self.outputs)
        for other in others:
            outputs += other.outputs
            regular = graph.select(regular, other.regular, graph.const(0.0))
        return Law(graph, outputs, regular, self.n_in)


def recorded_law(
    users: Sequence[Callable[..., Any]],
    fill: Callable[[Sequence[Callable[..., Any]]], Filling],
    n_in: int,
    n_out: int,
    points: Sequence[tuple[float, Vec]],
) -> Law:
    """Run a law on symbols.

    Parameters
    ----------
    users : the user's functions
    fill : makes f(t, x, out) of them, or of what takes their place
    n_in, n_out : the lengths of x and out
    points : (t, x) where results are compared with those of the functions themselves

    Raises
    ------
    NotRecorded
        with the reason in words
    """
    try:
        law = _recorded(users, fill, n_in, n_out)
        again = _recorded(users, fill, n_in, n_out)
    except RecursionError:
        raise NotRecorded("it calls itself too often") from None
    if law.graph.nodes != again.graph.nodes or law.outputs != again.outputs:
        raise NotRecorded("it does something else when it is called again: it has a state, or draws random numbers")
    _compare(law, users, fill(users), points)
    return law


def _recorded(
    users: Sequence[Callable[..., Any]],
    fill: Callable[[Sequence[Callable[..., Any]]], Filling],
    n_in: int,
    n_out: int,
) -> Law:
    graph = Graph()

    def run(tape: Tape) -> list[int]:
        function = fill([twin(user) for user in users])
        t = Number(tape, graph.node("input", "t", 0))
        x = numbers([Number(tape, graph.node("input", "x", i)) for i in range(n_in)])
        out = numbers([math.nan] * n_out)
        if function(t, x, out) is not None:  # type: ignore[arg-type]
            raise NotRecorded("it returns something")
        unset = [i for i, value in enumerate(out) if isinstance(value, float) and value != value]
        if unset:
            raise NotRecorded(f"it does not fill out[{unset[0]}], or with nan")
        return [tape.node(value) for value in out]

    outputs, regular = explored(graph, run)
    return Law(graph, outputs, regular, n_in)


def _compare(
    law: Law, users: Sequence[Callable[..., Any]], function: Filling, points: Sequence[tuple[float, Vec]]
) -> None:
    before = _contents(users)
    for t, x in points:
        try:
            with np.errstate(all="ignore"):  # points near the start need not be where it is defined
                first, second = (values_of(function, t, x, len(law.outputs)) for _ in range(2))
        except Exception:  # outside of where it is defined; the condition of the law says so, or it is not finite there
            continue
        if _contents(users) != before:
            raise NotRecorded("it changes what is outside of it, as a counter or a list")
        if not np.array_equal(first, second, equal_nan=True):
            raise NotRecorded("it gives other numbers when it is called again: it has a state, or draws random numbers")
        mine = np.empty(len(law.outputs))
        law(t, x, mine)
        scale = _CLOSE * (np.abs(first).max(initial=0.0) + 1e-300)
        if np.isfinite(first).all():
            law.seen.append((t, x, first))
            if not np.all(np.abs(mine - first) <= scale):
                raise NotRecorded("it gives other numbers on symbols, as where it depends on the kind of its arguments")
    if not law.seen:
        raise NotRecorded("it has no finite value near the start")


def values_of(function: Filling, t: float, x: Vec, n: int) -> Vec:
    """The values that a law gives."""
    out = np.full(n, math.nan)
    function(t, x.copy(), out)
    return out


def _contents(users: Sequence[Callable[..., Any]]) -> list[bytes | None]:
    """The objects outside of some functions that belong to them, for comparisons."""
    out: list[bytes | None] = []
    for user in users:
        for value in surroundings(user):
            try:
                out.append(pickle.dumps(value))
            except Exception:  # modules, functions inside functions, files
                out.append(None)
    return out


__all__ = ["Filling", "Law", "NotRecorded", "recorded_law", "values_of"]
