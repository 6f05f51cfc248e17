"""dF/dp and df/dp for named numbers p of a system: the recorded residual or right-hand side, differentiated forwards.

A number enters the kernels through the records of the model (masses, inverse inertias, coefficients of points, ...).
These depend on it as polynomials of degree two at most, inverses of inertias as fractions. Their derivatives are
differences of order eight over steps of 1/128 of its size: exact but for rounding, 1e-13. What the kernels make of the
records is differentiated as a graph.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.compiler.plain import plain
from rbdae.graph.derivatives import NoDerivative, inputs_of, jacobian
from rbdae.graph.evaluate import evaluate
from rbdae.graph.symbols import Recorder
from rbdae.kernels.symbolic import opened
from rbdae.multibody.memory import Memory
from rbdae.multibody.model import compile_system
from rbdae.multibody.parameters import parameters
from rbdae.multibody.recording import MOST_NODES, Recording, selection_numbers, symbolic_memory
from rbdae.multibody.workspace import Workspace

_STEPS = (-4, -3, -2, -1, 1, 2, 3, 4)
_SLOPES = np.array([1 / 280, -4 / 105, 1 / 5, -4 / 5, 4 / 5, -1 / 5, 4 / 105, -1 / 280])
_MEANS = np.array([-1.0, 8.0, -28.0, 56.0, 56.0, -28.0, 8.0, -1.0]) / 70.0
"""Of a function's values at `_STEPS`: its derivative times the step, and its value in the middle."""

_STEP = 2.0**-7
"""Of a parameter's size."""

_RECORDS = ("bodies", "states", "primitives", "bushings", "drives", "elements", "entries", "tree_velocities")
"""The arrays that depend on parameters."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Column:
    """A recording of a kernel with one parameter, and the nodes of the derivatives of its rows."""

    recording: Recording
    nodes: list[int]
    guards: list[int]
    falls: list[bool]

    def values(self, numbers: dict[str, Any]) -> Vec | None:
        """Derivatives of all rows; None where a guard does not hold."""
        functions = [function.plain for function in self.recording.functions]
        n = len(self.guards)
        found = evaluate(self.recording.graph, [*self.guards, *self.nodes], numbers, functions)
        return np.array(found[n:]) if [bool(x) for x in found[:n]] == self.falls else None


@final
class ParameterTangents:
    """Columns of dF/dp and df/dp of a workspace by the names of parameters; each is recorded when it is first asked
    for."""

    def __init__(self, workspace: Workspace, n_equations: int) -> None:
        self._workspace = workspace
        self._n_equations = n_equations
        self._parameters = parameters(workspace.model.system)
        self._columns: dict[tuple[str, bool], _Column] = {}

    @property
    def numbers(self) -> Mapping[str, float]:
        """All parameters, read only."""
        return MappingProxyType({name: parameter.value for name, parameter in self._parameters.items()})

    def matrix(self, t: float, y: Vec, yd: Vec | None, names: Sequence[str]) -> Mat:
        """dF/dp, (n_equations, len(names)); without yd df/dp, (n, len(names)). Unknown names raise ValueError."""
        out = np.empty((self._n_equations if yd is not None else self._workspace.layout.n, len(names)))
        for k, name in enumerate(names):
            if name not in self._parameters:
                raise _check.unknown("parameter", name, self._parameters)
            out[:, k] = self._column(name, t, y, yd)
        return out

    def _column(self, name: str, t: float, y: Vec, yd: Vec | None) -> Vec:
        numbers = _numbers(self._workspace, t, y, y if yd is None else yd)
        key = name, yd is None
        known = self._columns.get(key)
        found = None if known is None else known.values(numbers)
        if found is None:
            known = self._columns[key] = self._recorded(name, numbers, yd is None)
            found = known.values(numbers)
            assert found is not None
        return found

    def _recorded(self, name: str, numbers: dict[str, Any], explicit: bool) -> _Column:
        """The residual, or the right-hand side, with one parameter as an input."""
        of, parameter = self._workspace, self._parameters[name]
        kernel = of.settings.kernels.rates if explicit else of.settings.kernels.residual
        h = _STEP * parameter.size
        # a force that is there as soon as the number changes is there in all of them
        memories = [Memory.of(compile_system(parameter.moved(k * h)), of.settings) for k in _STEPS]
        one = Workspace(memories[_STEPS.index(1)], of.selection)
        recorder = Recorder(numbers, MOST_NODES)
        change = recorder.inputs("parameter")[0]
        arrays = [memory.arrays for memory in memories]
        lifted = {name: _lifted([a[name] for a in arrays], change, h) for name in _RECORDS if _counts(arrays[0][name])}
        if "primitives" in one.owned:  # rows that are dropped
            for record, mine in zip(lifted["primitives"], one.arrays["primitives"], strict=True):
                record.keep, record.whole = mine["keep"].tolist(), int(mine["whole"])
        m = symbolic_memory(one, recorder, lifted)
        out = np.zeros(of.layout.n if explicit else self._n_equations, dtype=object)
        run = plain(kernel, one.memory.features)
        rates = [] if explicit else [recorder.inputs("yd")]
        run(m, recorder.inputs("t")[0], recorder.inputs("y"), *rates, out)
        graph = recorder.graph
        outputs = [recorder.number(value) for value in out]
        try:
            rows = jacobian(graph, outputs, inputs_of(graph, "parameter", 1))
        except NoDerivative as error:
            raise ValueError(f"parameter {name!r}: {error}") from None
        recording = Recording(graph, outputs, recorder.guards, recorder.functions)
        nodes = [row.get(0, graph.const(0.0)) for row in rows]
        return _Column(recording, nodes, list(recorder.guards), list(recorder.guards.values()))


def _counts(array: Any) -> bool:
    """Whether it has records; some are numbers where they are not needed."""
    return bool(len(array)) and array.dtype.names is not None


def _numbers(workspace: Workspace, t: float, y: Vec, yd: Vec) -> dict[str, Any]:
    """The values of all inputs of a recording; the parameter's is its change, 0."""
    return {"t": [t], "y": y, "yd": yd, "c": [0.0], "selection": selection_numbers(workspace), "parameter": [0.0]}


def _lifted(arrays: list[Any], change: Any, h: float) -> Any:
    """Records for kernels on symbols whose numbers follow the change of the parameter, at its given value."""
    one = arrays[_STEPS.index(1)]
    records = opened("", one)
    for field in one.dtype.names:
        if one.dtype[field].base.kind != "f":
            continue
        values = np.array([array[field] for array in arrays])
        slopes, means = np.tensordot(_SLOPES, values, 1) / h, np.tensordot(_MEANS, values, 1)
        # what does not depend on the parameter is not to have the rounding of the sums
        still = np.all(values == values[0], axis=0) | np.isnan(values[0])
        slopes, means = np.where(still, 0.0, slopes), np.where(still, values[0], means)
        for record, slope, mean in zip(records, slopes, means, strict=True):
            if not slope.any():
                setattr(record, field, mean.item() if mean.ndim == 0 else mean.astype(object))
            elif mean.ndim == 0:
                setattr(record, field, change * slope.item() + mean.item())
            else:
                lifted = mean.astype(object)
                for place in np.argwhere(slope):
                    at = tuple(place)
                    lifted[at] = change * slope[at].item() + mean[at].item()
                setattr(record, field, lifted)
    return records


__all__ = ["ParameterTangents"]
