"""The functions of a problem that are handed to other languages, as graphs with the names of their numbers, and the one
walk over them.

A language is a `Target`: how it writes a number, an input, an operation and a guard. The walk gives it the nodes in an
order in which they can be computed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partialmethod
from types import MappingProxyType
from typing import Any, Protocol, TypeVar, final

import numpy as np

from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.graph import Graph, operands
from rbdae.graph.loaded import value_of
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight
from rbdae.handover import readings
from rbdae.handover.parameters import Parameters
from rbdae.multibody.code.code_text import shortened
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import recorded_kernel
from rbdae.multibody.recorded.recording import Pattern, Recording, recording_point

V = TypeVar("V")

_LONGEST = 200_000
"""Nodes of a function that is handed away."""


class TooLong(ValueError):
    """A function has more operations than a file should have."""


@final
@dataclass(frozen=True, eq=False)
class Function:
    """A function of the time t, the unknowns y, rates yd, the factor c of dF/dy + c dF/dyd, inputs u, parameters p.

    Parameters
    ----------
    name : ``"residual"``, ``"jacobian"``, ``"rhs"``, ``"rhs_jacobian"`` or another
    arguments : those of t, y, yd and c that it takes
    graph, order, outputs : its nodes in an order in which they can be computed, and its results
    guards : conditions, and how they have to fall: where one does not, the results mean nothing
    shape : of the results
    pattern : the places of the results in a matrix, column by column; None for a vector
    """

    name: str
    arguments: tuple[str, ...]
    graph: Graph
    order: Sequence[int]
    outputs: Sequence[int]
    guards: Mapping[int, bool]
    shape: tuple[int, ...]
    pattern: Pattern | None = None

    @cached_property
    def n_operations(self) -> int:
        """The number of operations."""
        return sum(bool(operands(self.graph.nodes[k])) for k in self.order)


class Target(Protocol[V]):
    """How a language writes what the walk meets."""

    def number(self, x: float) -> V:
        """A constant."""

    def input(self, name: str, place: int) -> V:
        """A number of ``"t"``, ``"c"``, ``"y"``, ``"yd"``, ``"u"`` (inputs) or ``"p"`` (parameters)."""

    def operation(self, node: int, kind: str, of: Sequence[V]) -> V:
        """The value of a node of a kind of `rbdae.graph.evaluate.OPERATIONS`."""

    def guard(self, condition: V, wanted: bool) -> None:
        """A condition that has to be as it is wanted."""


def walk(function: Function, target: Target[V], given: Mapping[int, V] = MappingProxyType({})) -> list[V]:
    """The results of a function in a language; `given` are values of nodes that are there."""
    nodes, values = function.graph.nodes, dict(given)
    for k in function.order:
        kind, *rest = nodes[k]
        if k in given:
            pass
        elif kind == "const":
            values[k] = target.number(float(value_of(rest[0])))
        elif kind == "input":
            values[k] = target.input(*rest)
        else:
            values[k] = target.operation(k, kind, [values[j] for j in operands(nodes[k])])
        if k in function.guards:
            target.guard(values[k], function.guards[k])
    return [values[k] for k in function.outputs]


@final
class Handed:
    """A problem as functions to be handed away.

    Parameters
    ----------
    problem : `rbdae.Problem`
    parameters : names of `rbdae.Problem.parameters` that are p; True for all that can be (`rbdae.handover.parameters`)

    Attributes
    ----------
    parameters : dict
        The parameters with their values, p.

    Raises
    ------
    ValueError
        where a function of the user is called, or a recording is too long
    """

    def __init__(self, problem: Any, parameters: bool | Sequence[str] = False) -> None:
        self.problem = problem
        own: Workspace = problem.workspace
        memory = own.memory
        self._workspace = Workspace(memory.with_code("folded", memory.regular, memory.numbers), own.selection)
        self._known: dict[str, Function] = {}
        self.parameters: dict[str, float] = {}
        if parameters is not False:
            symbols = Parameters(self._workspace, None if parameters is True else parameters)
            self._workspace.symbols, self.parameters = symbols, symbols.defaults

    @property
    def inputs(self) -> dict[str, float]:
        """The inputs with their values, u."""
        return dict(self.problem.inputs)

    def function(self, name: str) -> Function:
        """One of the callbacks, or of `readings.FUNCTIONS`; Jacobians have their entries column by column."""
        if name not in self._known:
            other = readings.FUNCTIONS.get(name)
            self._known[name] = self._recorded(name) if other is None else other(self)
        return self._known[name]

    energy = partialmethod(function, "energy")
    """(kinetic, potential), J, of (t, y); the part of pivots' weights in it is that of the problem, whatever p."""

    def quantities(self, labels: Sequence[str] | None = None) -> tuple[list[str], list[str], Function]:
        """Labels such as ``"pin.angle"`` and ``"pin on rod.force.x"``, units, and the function of (t, y): quantities of
        joints and forces, and reactions, from multipliers that belong to positions and velocities. Those of `labels`,
        and ValueError for values of actuators, loads of redundant equations, what is called in Python, and formulas
        with numbers that are in p; or all others."""
        return readings.quantities(self, labels)

    @property
    def sizes(self) -> tuple[int, int, int, int]:
        """The numbers of positions, velocities, velocities among the unknowns, and constraints."""
        layout, n_v = self._workspace.layout, self._workspace.layout.n_velocities
        n_w = 0 if self._workspace.settings.reduced else n_v
        return layout.q.stop, n_v, n_w, self.problem.interpretation.n_constraints

    def _recorded(self, name: str) -> Function:
        callbacks, workspace = self.problem.callbacks, self._workspace
        shapes, kernel = callbacks._shapes(name), callbacks._kernel(name)
        pattern = None if self.parameters else callbacks._entries_of(name)
        at = recording_point(workspace, shapes)
        try:
            recording = recorded_kernel(workspace, kernel, shapes, at, _LONGEST, pattern)
        except NotStraight as error:
            raise TooLong(f"{name} of {self.problem.formulation} has {error}") from None
        except NoDerivative as error:
            raise self.refusal(name, str(error)) from None
        if pattern is None and name.endswith("jacobian"):
            pattern, recording = _entries(recording, shapes["out"])
        arguments = tuple(x for x in ("t", "y", "yd", "c") if x in "ty" or ("yd" in shapes and (x == "yd" or pattern)))
        return self.shortened(name, arguments, recording, shapes["out"], pattern)

    def shortened(
        self,
        name: str,
        arguments: tuple[str, ...],
        recording: Recording,
        shape: tuple[int, ...],
        pattern: Pattern | None = None,
    ) -> Function:
        """A recording with the operations that its machine code has."""
        if recording.functions:
            laws = ((what, why) for what, why in self.problem.laws.items() if why != "recorded")
            called = ", ".join(f"{what} ({why})" for what, why in laws) or "a law"
            raise self.refusal(name, f"it calls Python: {called}")
        with_selection = self._with_values(recording)
        short, order = shortened(replace(with_selection, alike={}), with_selection.outputs)
        return Function(name, arguments, short.graph, order, short.outputs, short.guards, shape, pattern)

    def refusal(self, name: str, why: str) -> ValueError:
        """The error for what cannot be handed over."""
        return ValueError(
            f"{name} of {self.problem.formulation} cannot be handed over: {why}; write laws with arithmetic and the "
            "functions of NumPy, so that they are recorded (problem.laws says which are not), or take another form"
        )

    def _with_values(self, recording: Recording) -> Recording:
        """The same with the values of the selection as numbers, but for inputs, which are u."""
        numbers, inputs = self._workspace.numbers, self._workspace.places_of("inputs")
        graph, old = Graph(), recording.graph
        there: dict[int, int] = {}
        for k in old.needed([*recording.guards, *recording.outputs]):
            if old.nodes[k][:2] == ("input", "selection"):
                place = old.nodes[k][2]
                of_input = inputs.start <= place < inputs.stop
                value = float(numbers[place])
                there[k] = graph.node("input", "u", place - inputs.start) if of_input else graph.const(value)
        found = replaced(old, [*recording.guards, *recording.outputs], there, graph)
        falls = zip(found, recording.guards.values(), strict=False)
        guards = {node: fall for node, fall in falls if graph.value(node) is None}
        return replace(recording, graph=graph, outputs=found[len(recording.guards) :], guards=guards)


def _entries(recording: Recording, shape: tuple[int, ...]) -> tuple[Pattern, Recording]:
    """The entries of a matrix that are not 0 whatever the state, column by column."""
    n = shape[1]
    found = [k for k, node in enumerate(recording.outputs) if recording.graph.value(node) != 0.0]
    found.sort(key=lambda k: (k % n, k // n))
    rows, columns = np.divmod(np.array(found, dtype=np.int64), n)
    return Pattern(rows, columns), replace(recording, outputs=[recording.outputs[k] for k in found])
