"""`Outputs`: quantities of a problem as one function of (t, y, u), with exact derivatives. An acceleration a(t, y, yd)
with yd = f(t, y, u) has the derivative da/dy + da/dyd df/dy. Derivatives are recorded where they are asked for, and
evaluated in Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.graph.derivatives import NoDerivative, inputs_of, tangents
from rbdae.inputs import values_of
from rbdae.kernels.outputs import natural
from rbdae.kernels.readings import WIDTH, by_force
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import Recordings
from rbdae.multibody.recorded.recording import MOST_NODES, Point, Recording, Run, run
from rbdae.problem.driven import Inputs, places_of, present
from rbdae.problem.measures import Formulas, Found
from rbdae.problem.owners import Owner, Owners
from rbdae.quantities.quantity import Quantity


@final
class Tangents:
    """Quantities, (n_outputs,), and their derivatives by y, yd and u, (n_outputs, 2 n + n_u), of one workspace."""

    def __init__(self, problem: Any, found: Sequence[Found]) -> None:
        self._workspace: Workspace = problem.workspace
        self._interpretation = problem.interpretation
        self._found = found
        self.accelerated = any(each.aspect == "acceleration" for _, each in found)
        for owner, each in found:
            self._check(problem, owner, each)
        self._shape = len(found), 2 * self._workspace.layout.n + len(places_of(self._workspace))
        self._recordings = Recordings(self._workspace, self._recorded)

    __reduce__ = refuse_copies

    def at(self, t: float, y: Vec, yd: Vec) -> tuple[Vec, Mat]:
        """The quantities and the derivatives at a state."""
        values, _ = self._recordings.at(t, y, yd)
        out, n = np.array(values, dtype=float), self._shape[0]
        return out[:n], out[n:].reshape(self._shape)

    def _check(self, problem: Any, owner: Owner, quantity: Quantity) -> None:
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

    def _recorded(self, point: Point) -> tuple[Recording, None]:
        workspace, model = self._workspace, self._workspace.model
        n = workspace.layout.n
        pulls = any(each.aspect in ("effort", "power") for _, each in self._found)
        size = 12 * model.n + WIDTH * len(model.forces.elements) if pulls else 24 * model.n
        ran = run(workspace, by_force if pulls else natural, {"out": (size,)}, point, MOST_NODES)
        recorder, g = ran.recorder, ran.recorder.graph
        values = ran.nodes(self._quantities(ran))
        y, yd, time = inputs_of(g, "y", n), inputs_of(g, "yd", n), g.node("input", "t", 0)
        u = [symbol.node for symbol in recorder.inputs("selection")[workspace.places_of("inputs")]]
        one, zero = g.const(1.0), g.const(0.0)
        moving = [k for k, (_, each) in enumerate(self._found) if each.aspect == "acceleration"]
        rates = {node: {0: rate} for node, rate in zip(y, yd, strict=True)} | {time: {0: one}}
        for k, change in zip(moving, tangents(g, [values[k] for k in moving], rates), strict=True):
            values[k] = change.get(0, zero)
        try:
            rows = tangents(g, values, {node: {j: one} for j, node in enumerate((*y, *yd, *u))})
        except NoDerivative as error:
            raise ValueError(f"outputs: {error}") from None
        entries = [row.get(j, zero) for row in rows for j in range(self._shape[1])]
        return ran.recording([*values, *entries]), None

    def _quantities(self, ran: Run) -> list[Any]:
        """The quantities on symbols; rates in place of accelerations."""
        n = self._workspace.model.n
        Z = [x for state in ran.m.states[:n] for x in (*state.x, *state.d, *state.xd, *state.dd)]
        applied = ran.out if len(ran.out) != len(Z) else np.zeros(12 * n)
        formulas = Formulas(self._interpretation, np.array(Z, dtype=object), applied)
        wanted = [replace(each, aspect="rate") if each.aspect == "acceleration" else each for _, each in self._found]
        return [formulas.value(owner, each) for (owner, _), each in zip(self._found, wanted, strict=True)]


def numbers_among(owners: Owners, quantities: Sequence[Quantity | str]) -> list[Found]:
    """Quantities with their owners. Raises TypeError and ValueError for what the system has not, and for vectors."""
    if isinstance(quantities, (str, bytes, Quantity)) or not isinstance(quantities, Sequence):
        raise TypeError(
            f"outputs: quantities must be a list, got {_check.show(quantities)}; give [pin.angle, 'pin.rate']"
        )
    found = [owners.find(each) for each in quantities]
    for owner, each in found:
        if each.components:
            raise ValueError(f"outputs: {owner.name}.{each.name} is a vector; outputs are numbers")
    return found


@final
class Outputs:
    """The quantities of a problem that `rbdae.Problem.outputs` was asked for, in that order.

    Attributes
    ----------
    labels, units : list of str
        "pin.angle", "rad".
    """

    def __init__(self, problem: Any, found: Sequence[Found]) -> None:
        self._problem, self._found = problem, tuple(found)
        self.labels = [f"{owner.name}.{each.name}" for owner, each in found]
        self.units = [each.unit for _, each in found]
        self._tangents: dict[tuple[int, tuple[int, ...]], Tangents] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Outputs, (self._problem, self._found)

    def __len__(self) -> int:
        return len(self._found)

    def __repr__(self) -> str:
        return f"Outputs({', '.join(f'{a} [{b}]' for a, b in zip(self.labels, self.units, strict=True))})"

    def values(self, t: ArrayLike, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """The quantities at a state, (n_outputs,), or at rows of states, (m, n_outputs)."""
        here = self._problem
        if u is not None:
            here = here._read_under(values_of("outputs", places_of(here.workspace), u, present(here.workspace)))
        read = {kind: getattr(here, kind)(t, y) for kind in {owner.kind for owner, _ in self._found}}
        columns = [getattr(read[owner.kind][owner.name], each.name) for owner, each in self._found]
        out = np.stack(np.broadcast_arrays(*columns), axis=-1).astype(float) if columns else np.zeros(0)
        moving = [k for k, (_, each) in enumerate(self._found) if each.aspect == "acceleration"]
        if moving and here.kind == "ode":
            out[..., moving] = self._accelerations(here, t, y, moving)
        return out

    def _accelerations(self, here: Any, t: ArrayLike, y: ArrayLike, which: Sequence[int]) -> Mat:
        """Accelerations as rates of rates along the motion, which drift from the constraints has no part in."""
        times, rows, single = here.interpretation.rows(t, y)
        out = np.full((len(rows), len(which)), np.nan)
        for k in np.flatnonzero(np.isfinite(rows).all(axis=1)):
            t = float(times[k])
            out[k] = self._tangents_of(here, which).at(t, rows[k], here.rhs(t, rows[k]))[0]
        return out[0] if single else out

    def _tangents_of(self, here: Any, which: Sequence[int]) -> Tangents:
        key = id(here.workspace), tuple(which)
        if key not in self._tangents:
            self._tangents[key] = Tangents(here, [self._found[k] for k in which])
        return self._tangents[key]

    def jacobian(self, t: float, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """d outputs / dy, (n_outputs, n), at fixed inputs.

        Raises
        ------
        ValueError
            for quantities without a derivative here: accelerations of DAE forms, whose rates follow from multipliers;
            torques and forces of drives, of actuators and of joints without coordinates
        """
        return self._derivatives(t, y, u)[0]

    def input_jacobian(self, t: float, y: ArrayLike, *, u: Inputs = None) -> Mat:
        """d outputs / du, (n_outputs, n_u), with u in the order of `rbdae.Problem.inputs`. Raises as `jacobian`."""
        return self._derivatives(t, y, u)[1]

    def _derivatives(self, t: float, y: ArrayLike, u: Inputs) -> tuple[Mat, Mat]:
        t = _check.time("outputs", t)
        here = self._problem._under("outputs", t, u)
        y = _check.real(f"y, the {here.n} unknowns of this problem,", y, (here.n,))
        found = self._tangents_of(here, range(len(self._found)))
        n, n_u = here.n, len(here.inputs)
        _, D = found.at(t, y, here.rhs(t, y) if found.accelerated else y)
        if not found.accelerated:
            return D[:, :n], D[:, 2 * n :]
        by_rates = D[:, n : 2 * n]
        by_inputs = here.input_jacobian(t, y) if n_u else np.zeros((n, 0))
        return D[:, :n] + by_rates @ here.rhs_jacobian(t, y), D[:, 2 * n :] + by_rates @ by_inputs
