"""`Law`: a user's function f(t, x, out) as a graph, recorded for all arguments or at one point."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.graph import derivatives
from rbdae.graph.graph import Graph
from rbdae.graph.in_python import InPython
from rbdae.graph.on_stacks import stacked
from rbdae.graph.replacing import replaced
from rbdae.laws.arrays import numbers
from rbdae.laws.copies import Copies
from rbdae.laws.numbers import NotRecorded, Number, Tape

Filling = Callable[[float, Vec, Vec], Any]
"""f(t, x, out), which fills out and returns None."""

Users = Sequence[Callable[..., Any]]
Maker = Callable[[Users], Filling]
"""Makes f(t, x, out) from the user's functions or their replacements."""

MOST_WAYS = 64
"""Most branches of a recorded law; one with more is called."""


@final
class Law:
    """The computation of a law.

    Attributes
    ----------
    graph : with the inputs ``("t", 0)`` and ``("x", i)``
    outputs : its results, as nodes
    regular : a condition, as a node: 0 where the law raises an exception
    n_in : length of x
    """

    def __init__(self, graph: Graph, outputs: list[int], regular: int, n_in: int) -> None:
        self.graph, self.outputs, self.regular, self.n_in = graph, outputs, regular, n_in

    @property
    def always_regular(self) -> bool:
        """Whether it never raises an exception."""
        return self.graph.value(self.regular) == 1.0

    @cached_property
    def digest(self) -> str:
        """A hash of the computation."""
        text = repr((self.graph.nodes, self.outputs, self.regular))
        return hashlib.sha256(text.encode()).hexdigest()

    @cached_property
    def _on_rows(self) -> Callable[[Mat], Mat]:
        return stacked(self.graph, [*self.outputs, self.regular], {"t": 0, "x": 1})

    @cached_property
    def _on_numbers(self) -> InPython:
        return InPython(self.graph, [*self.outputs, self.regular])

    def at_rows(self, t: Vec, x: Mat) -> tuple[Mat, Bools]:
        """Values (m, n_out) at times (m,) and rows x (m, n_in), and whether they are regular, (m,)."""
        values = self._on_rows(np.concatenate([t[:, None], x], axis=1))
        return values[:, :-1], values[:, -1] != 0.0

    def at(self, t: float, x: Vec) -> tuple[Vec, bool]:
        """Its values at one time and x (n_in,), and whether they are regular."""
        *values, regular = self._on_numbers({"t": [t], "x": x})
        return np.array(values), bool(regular)

    def inlined(self, graph: Graph, t: int, x: Sequence[int]) -> tuple[list[int], int]:
        """Its results and its condition as nodes of another graph, for arguments at the nodes t and x."""
        nodes = enumerate(self.graph.nodes)
        given = {k: t if node[1] == "t" else x[node[2]] for k, node in nodes if node[0] == "input"}
        *results, regular = replaced(self.graph, [*self.outputs, self.regular], given, graph)
        return results, regular

    def reads(self, places: range) -> bool:
        """Whether it depends on x at some places."""
        nodes = (self.graph.nodes[k] for k in self.graph.needed([*self.outputs, self.regular]))
        return any(node[:2] == ("input", "x") and node[2] in places for node in nodes)

    def by(self, columns: Sequence[tuple[str, int]]) -> Law:
        """The law of its derivatives by some inputs, row by row: d out[i] / d column[j]."""
        inputs = [self.graph.node("input", name, i) for name, i in columns]
        rows = derivatives.jacobian(self.graph, self.outputs, inputs)
        zero = self.graph.const(0.0)
        entries = [row.get(j, zero) for row in rows for j in range(len(inputs))]
        return Law(self.graph, entries, self.regular, self.n_in)

    @cached_property
    def by_x(self) -> Law:
        """The law of its derivatives by all x."""
        return self.by([("x", i) for i in range(self.n_in)])


def recorded_law(users: Users, fill: Maker, n_in: int, n_out: int) -> Law:
    """Run a law on symbols, twice: if the results differ, it has a state.

    Parameters
    ----------
    users : the user's functions
    fill : makes f(t, x, out) from them
    n_in, n_out : the lengths of x and out

    Raises
    ------
    NotRecorded
        with the reason in words
    """
    copies = Copies(live=False)
    function = fill([copies.of(user, "a function") for user in users])
    law, again = (_recorded(function, n_in, n_out) for _ in range(2))
    if law.digest != again.digest:
        raise NotRecorded("it does something else when called again: it has a state, or draws random numbers")
    return law


def traced_law(
    users: Users, fill: Maker, t: float, x: Vec, n_out: int, *, by_time: bool = False, as_numpy: bool = False
) -> Law:
    """Run a law on numbers with values: its computation near this point, on the same branch, as a function of x, and of
    t with `by_time`. They divide by zero as Python's floats do, or `as_numpy`.

    Raises
    ------
    NotRecorded
        if it converts them to floats
    """
    tape = Tape(Graph(), point={"t": (t,), "x": x}, as_numpy=as_numpy)
    copies = Copies(live=True)
    function = fill([copies.of(user) for user in users])
    time = Number(tape, tape.graph.node("input", "t", 0)) if by_time else float(t)
    outputs = _run(tape, function, time, len(x), n_out)
    if tape.refused:  # and swallowed
        raise NotRecorded(tape.refused)
    return Law(tape.graph, outputs, tape.graph.const(1.0), len(x))


def _run(tape: Tape, function: Filling, t: Any, n_in: int, n_out: int) -> list[int]:
    x = numbers([Number(tape, tape.graph.node("input", "x", i)) for i in range(n_in)])
    out = numbers([0.0] * n_out)
    function(t, x, out)
    return [tape.node(value) for value in out]


def _recorded(function: Filling, n_in: int, n_out: int) -> Law:
    """The law along all its branches, joined by choices between results."""
    graph = Graph()
    count, errors = 0, list[BaseException]()

    def way(answers: tuple[bool, ...]) -> list[int] | None:
        """The results and the condition of a branch, joined with branches that leave it after its answers."""
        nonlocal count
        count += 1
        if count > MOST_WAYS:
            raise NotRecorded(f"it has more than {MOST_WAYS} ways")
        tape = Tape(graph, answers)
        results: list[int] | None = None
        try:
            results = _run(tape, function, Number(tape, graph.node("input", "t", 0)), n_in, n_out)
            results.append(tape.regular)
            if tape.refused:  # and swallowed, or a text
                raise NotRecorded(tape.refused)
        except (TypeError, AttributeError, RecursionError) as error:  # possibly caused by symbols only
            why = f"on symbols, with objects that it cannot change, it raises {type(error).__name__}: {error}"
            raise NotRecorded(why) from error
        except (Exception, SystemExit) as error:  # the user's own exception on this branch
            if "read-only" in str(error):  # NumPy says so of arrays
                raise NotRecorded("it changes objects outside of it") from error
            errors.append(error)
        asked = [*tape.asked.items()]
        for k in reversed(range(len(answers), len(asked))):
            condition, answer = asked[k]
            branch = way((*(fell for _, fell in asked[:k]), not answer))
            some = results or branch
            if some is not None:  # the results of a branch that raises an exception are arbitrary
                raised = [*some[:-1], graph.const(0.0)]
                one, other = (results, branch) if answer else (branch, results)
                pairs = zip(one or raised, other or raised, strict=True)
                results = [graph.select(condition, a, b) for a, b in pairs]
        return results

    results = way(())
    if results is None:
        raise NotRecorded(f"{type(errors[0]).__name__}: {errors[0]}")
    return Law(graph, results[:-1], results[-1], n_in)
