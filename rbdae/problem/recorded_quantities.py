"""Quantities and their derivatives, recorded on symbols: `rbdae.problem.outputs`.

The formulas run on natural coordinates and forces that a kernel has left in symbolic memory, and are differentiated as
a graph. An acceleration is a(t, y, yd) = ds'/dy yd + ds'/dt of the rate s'.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.graph.derivatives import NoDerivative, inputs_of, tangents
from rbdae.graph.evaluate import evaluate
from rbdae.kernels.forces.by_force import WIDTH, by_force
from rbdae.kernels.outputs import natural
from rbdae.machine.function import Shapes
from rbdae.multibody.code import made
from rbdae.multibody.recording import (
    MOST_NODES,
    Recording,
    Run,
    finished,
    input_places,
    recording_point,
    run,
    selection_numbers,
)
from rbdae.multibody.traced import Tally, TracedKernel
from rbdae.multibody.workspace import Workspace
from rbdae.problem.driven import places_of
from rbdae.problem.owners import Owner
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity

Found = tuple[Owner, Quantity]


@final
class Tangents:
    """Quantities, (n_outputs,), and their derivatives by y, yd and u, (n_outputs, 2 n + n_u), of one workspace."""

    def __init__(self, problem: Any, found: Sequence[Found]) -> None:
        self._workspace: Workspace = problem.workspace
        self._owners = problem.interpretation.owners
        self._found = found
        self.accelerated = any(each.aspect == "acceleration" for _, each in found)
        for owner, each in found:
            self._check(problem, owner, each)
        n = self._workspace.layout.n
        self._shape = len(found), 2 * n + len(places_of(self._workspace))
        self._shapes: Shapes = {"y": (n,), "yd": (n,), "out": (self._shape[0] * (1 + self._shape[1]),)}
        self._call = self._made()

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def at(self, t: float, y: Vec, yd: Vec) -> tuple[Vec, Mat]:
        """The quantities and the derivatives at a state."""
        out = np.empty(self._shapes["out"])
        if out.size:
            self._call(t, y, yd, out)
        n = self._shape[0]
        return out[:n], out[n:].reshape(self._shape)

    def _check(self, problem: Any, owner: Owner, quantity: Quantity) -> None:
        """Refuse what has no derivative here."""
        label = f"{owner.name}.{quantity.name}"
        if quantity.aspect == "acceleration" and problem.kind != "ode":
            raise ValueError(
                f"outputs: {label} has no derivative in {problem.formulation!r}, where rates follow from multipliers; "
                "choose an ODE form such as 'null-space'"
            )
        if quantity.aspect in ("effort", "power"):
            if owner.blocks or owner.joints[quantity.coordinate]:
                raise ValueError(
                    f"outputs: {label} has no derivative here, because a drive or an actuator acts along it; take the "
                    "output of the actuator, or leave it out"
                )
        elif quantity.aspect not in ("value", "rate", "acceleration"):
            raise ValueError(f"outputs: {label} has no derivative here; leave it out, or take its coordinates")

    def _made(self) -> Callable[..., None]:
        workspace = self._workspace
        recorded = None
        if workspace.memory.traced and not workspace.code_calls_python:
            recording = self._recorded(recording_point(workspace, self._shapes))
            recorded = made(recording, "tyyo", self._shapes)
        if recorded is None:
            return workspace.raising(self._slowly)
        return TracedKernel("outputs", recorded, workspace, lambda: workspace.raising(self._slowly), Tally()).call

    def _slowly(self, t: float, y: Vec, yd: Vec, out: Vec) -> None:
        """Recorded at this state, and evaluated in Python."""
        found = self._recorded((t, y, yd, 0.0))
        numbers = {"t": [t], "y": y, "yd": yd, "c": [0.0], "selection": selection_numbers(self._workspace)}
        functions = [function.plain for function in found.functions]
        out[:] = evaluate(found.graph, found.outputs, numbers, functions)

    def _recorded(self, point: tuple[float, Vec, Vec, float]) -> Recording:
        """The derivatives of all quantities, recorded at a point."""
        workspace = self._workspace
        n, model = workspace.layout.n, workspace.model
        pulls = any(each.aspect in ("effort", "power") for _, each in self._found)
        n_forces = len(model.bushings) + len(model.forces.elements)
        size = 12 * model.n + WIDTH * n_forces if pulls else 24 * model.n
        ran = run(workspace, by_force if pulls else natural, {"out": (size,)}, point, MOST_NODES)
        recorder, g = ran.recorder, ran.recorder.graph
        values = [recorder.number(self._quantity(ran, *each)) for each in self._found]
        y, yd, time = inputs_of(g, "y", n), inputs_of(g, "yd", n), g.node("input", "t", 0)
        u = [symbol.node for symbol in recorder.inputs("selection")[input_places(workspace)]]
        one = g.const(1.0)
        moving = [k for k, (_, each) in enumerate(self._found) if each.aspect == "acceleration"]
        rates = {node: {0: rate} for node, rate in zip(y, yd, strict=True)} | {time: {0: one}}
        for k, change in zip(moving, tangents(g, [values[k] for k in moving], rates), strict=True):
            values[k] = change.get(0, g.const(0.0))
        try:
            rows = tangents(g, values, {node: {j: one} for j, node in enumerate((*y, *yd, *u))})
        except NoDerivative as error:
            raise ValueError(f"outputs: {error}") from None
        zero = g.const(0.0)
        entries = [row.get(j, zero) for row in rows for j in range(self._shape[1])]
        return finished(workspace, ran, [*values, *entries])

    def _quantity(self, ran: Run, owner: Owner, quantity: Quantity) -> Any:
        """A quantity on symbols; the rate in place of an acceleration."""
        bodies = [_Body(ran, self._workspace, b) for b in owner.bodies]
        coordinate = self._owners.coordinates[owner.coordinates[quantity.coordinate]][0]
        s, rate, _ = coordinate.referred(*(each.shift for each in bodies)).at(
            np.array([*bodies[0].Z, *bodies[1].Z, *bodies[0].rates, *bodies[1].rates], dtype=object)
        )
        if quantity.aspect == "value":
            return s
        if quantity.aspect in ("rate", "acceleration"):
            return rate
        effort = self._effort(ran, owner, coordinate, bodies)
        if quantity.aspect == "power":
            return effort * rate
        return -effort if coordinate.shape == "root" else effort

    def _effort(self, ran: Run, owner: Owner, coordinate: Coordinate, bodies: Sequence[_Body]) -> Any:
        """The torque or force on the second body along a coordinate (`rbdae.problem.measures`)."""
        at = [12 * self._workspace.model.n + WIDTH * k + 12 for k in owner.elements]
        F = [_sum(ran.out[first + j] for first in at) for j in range(12)]
        second = bodies[1]
        force = F[:3]
        if coordinate.axis is not None:
            along = bodies[coordinate.side].turned(coordinate.axis)
        else:
            line = [p - q for p, q in zip(second.point(coordinate.at_b), bodies[0].point(coordinate.at_a), strict=True)]
            length = _dot(line, line) ** 0.5
            along = [x / length for x in line]
        if coordinate.shape == "angle":
            d = second.d
            torque = [0.0] * 3
            for k in range(3):
                torque = _added(torque, _cross(d[k], F[3 + 3 * k : 6 + 3 * k]))
            arm = [p - x for p, x in zip(second.point(coordinate.at_b), second.Z[:3], strict=True)]
            force = [a - b for a, b in zip(torque, _cross(arm, force), strict=True)]
        return _dot(along, force)


class _Body:
    """Natural coordinates of a body as they are in symbolic memory."""

    def __init__(self, ran: Run, workspace: Workspace, number: int) -> None:
        state = ran.m.states[int(workspace.layout.rank[number])]
        self.Z = [*state.x, *state.d]
        self.rates = [*state.xd, *state.dd]
        bodies = workspace.model.system.bodies
        self.shift: Vec = bodies[number].reference if number < len(bodies) else np.zeros(3)

    @property
    def d(self) -> list[list[Any]]:
        """The directors."""
        return [self.Z[3 + 3 * k : 6 + 3 * k] for k in range(3)]

    def turned(self, v: Vec) -> list[Any]:
        """A vector of the frame, in space."""
        d = self.d
        return [_sum(float(v[k]) * d[k][i] for k in range(3)) for i in range(3)]

    def point(self, at: Vec) -> list[Any]:
        """A point of the frame, in space."""
        return _added(self.Z[:3], self.turned(at - self.shift))


def _sum(terms: Any) -> Any:
    total: Any = 0.0
    for term in terms:
        total = total + term
    return total


def _dot(a: Sequence[Any], b: Sequence[Any]) -> Any:
    return _sum(x * y for x, y in zip(a, b, strict=True))


def _added(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [x + y for x, y in zip(a, b, strict=True)]


def _cross(a: Sequence[Any], b: Sequence[Any]) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


__all__ = ["Found", "Tangents"]
