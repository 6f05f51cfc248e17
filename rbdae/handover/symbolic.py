"""Models of CasADi and JAX: recorded functions on values of a package that differentiates them by itself."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.graph.graph import CONDITIONS, SUMS, Graph, operands
from rbdae.handover.recorded import Function, Handed, walk

Operations: TypeAlias = Mapping[str, Callable[..., Any]]

ARITHMETIC: Operations = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "neg": operator.neg,
    "rcp": lambda x: 1.0 / x,
    "<": lambda a, b: (a < b) * 1.0,
    "<=": lambda a, b: (a <= b) * 1.0,
    "==": lambda a, b: (a == b) * 1.0,
    "not": lambda c: 1.0 - c,
}
"""What both packages write as Python does; each brings the functions of `rbdae.graph.graph`, and ``"select"``."""

_SAFE = frozenset({*SUMS, *CONDITIONS, "neg", "not", "select"})
"""Operations with finite values and derivatives wherever their operands are finite."""

_HARMLESS = {"arccosh": 2.0}
"""Numbers at which functions and their derivatives are finite; 0.5 for all others."""


class Model:
    """A problem as functions of a package: a consistent start t0, y0, yd0, the labels of y, the names of the inputs u
    and of the parameters p, and their values u0, p0."""

    _package: str

    def __init__(self, problem: Any, parameters: bool | Sequence[str] = False) -> None:
        self._module: Any = _check.package(f"problem.{self._package}", self._package, "rbdae[handover]")
        self._handed = Handed(problem, parameters)
        self.problem = problem
        self.t0: float = problem.t0
        self.y0: Vec = problem.y0
        self.yd0: Vec = problem.yd0
        self.labels: list[str] = problem.labels
        numbers = (self._handed.inputs, self._handed.parameters)
        self.inputs, self.parameters = map(list, numbers)
        self.u0, self.p0 = (np.array([*x.values()], dtype=float) for x in numbers)

    def _function(self, name: str) -> Function:
        return differentiable(self._handed.function(name))

    def _sizes(self, function: Function) -> dict[str, int]:
        """The vectors that a function takes."""
        vectors = {x: self.problem.n for x in function.arguments if x != "t"}
        return {**vectors, "u": len(self.inputs), "p": len(self.parameters)}


class _Values:
    """Values of a package, a `Target`. `valid` is 1, and NaN where a guard does not hold."""

    def __init__(self, operations: Operations, inputs: Mapping[str, Any]) -> None:
        self.valid: Any = 1.0
        self._operations, self._inputs = operations, inputs

    def number(self, x: float) -> Any:
        return x

    def input(self, name: str, place: int) -> Any:
        return self._inputs[name] if name == "t" else self._inputs[name][place]

    def operation(self, node: int, kind: str, of: Sequence[Any]) -> Any:
        return self._operations[kind](*of)

    def guard(self, condition: Any, wanted: bool) -> None:
        either = (1.0, np.nan) if wanted else (np.nan, 1.0)
        self.valid = self.valid * self._operations["select"](condition, *either)


def values(function: Function, operations: Operations, **inputs: Any) -> list[Any]:
    """The results of a function with the operations of a package. They are multiplied by NaN where a guard does not
    hold, so that their derivatives are NaN as well."""
    target = _Values(operations, inputs)
    results = walk(function, target)
    return [x * target.valid for x in results] if function.guards else results


def differentiable(function: Function) -> Function:
    """The same function, whose derivatives by a package are finite where the function has one.

    A package differentiates both branches of a select and multiplies one of them by 0, which is NaN where its
    derivative is not finite. So what only one branch needs has another, harmless operand where the other one is taken.
    """
    nodes, roots = function.graph.nodes, [*function.guards, *function.outputs]
    order = function.graph.needed(roots)  # a condition comes before the branches that need it
    when: dict[int, frozenset[tuple[int, bool]]] = {k: frozenset() for k in roots}  # how conditions fall if k is needed
    for k in reversed(order):
        for place, j in enumerate(operands(nodes[k])):
            here = when[k]
            if nodes[k][0] == "select" and place:
                condition, falls = nodes[k][1], place == 1
                negated = nodes[condition][0] == "not"
                here = here | {(nodes[condition][1] if negated else condition, falls != negated)}
            when[j] = when[j] & here if j in when else here
    graph, new = Graph(), dict[int, int]()
    for k in order:
        kind, *rest = nodes[k]
        if kind in ("const", "input"):
            new[k] = graph.node(kind, *rest)
            continue
        of = [new[j] for j in rest]
        if kind not in _SAFE:
            harmless = graph.const(_HARMLESS.get(kind, 0.5))
            for condition, falls in sorted(when[k]):
                chosen = new[condition]
                of = [graph.select(chosen, *((x, harmless) if falls else (harmless, x))) for x in of]
        new[k] = graph.node(kind, *of)
    outputs, guards = [new[k] for k in function.outputs], {new[k]: x for k, x in function.guards.items()}
    return replace(function, graph=graph, order=graph.needed([*guards, *outputs]), outputs=outputs, guards=guards)
