"""dF/dp and df/dp for named numbers p of a system: the recorded residual or right-hand side, differentiated forwards.

A number p enters the kernels through the records r of the model (masses, inverse inertias, coefficients of points).
These are rational functions of it with real coefficients, and are packed at p + i h:

    r(p + i h) = r(p) + i h r'(p) - h^2 r''(p)/2 - ...,    r' = Im r(p + i h) / h.

Nothing is subtracted, and with h = 2^-600 the terms left out are no numbers beside the first. So r' has the rounding of
the packing alone, as if its derivative, such as d(J^-1) = -J^-1 dJ J^-1, had been written out. The kernels run on
r(p) + r'(p) s with a symbol s, and what they make of it is differentiated by s as a graph, at s = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import ByName
from rbdae.forces.element import AnyElement, StateElement
from rbdae.graph.derivatives import NoDerivative, inputs_of, jacobian
from rbdae.graph.evaluate import evaluate
from rbdae.graph.symbols import Recorder
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.symbolic import opened
from rbdae.multibody.arrays import arrays_of
from rbdae.multibody.memory import Memory
from rbdae.multibody.model import Model, varied
from rbdae.multibody.parameters import parameters
from rbdae.multibody.recording import MOST_NODES, Recording, selection_numbers, symbolic_memory
from rbdae.multibody.workspace import Workspace
from rbdae.system import System

_STEP = 2.0**-600
"""The imaginary part of a parameter."""

_RECORDS = ("bodies", "states", "primitives", "elements", "entries", "element_constants", "frictions")
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
        values = ((name, parameter.value) for name, parameter in self._parameters.items())
        self._numbers: Mapping[str, float] = MappingProxyType(ByName("parameter", values))

    @property
    def numbers(self) -> Mapping[str, float]:
        """All parameters, read only."""
        return self._numbers

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
        system = parameter.varied(of.model.system, _STEP)
        _check_functions(name, of.model.system, system)
        model = varied(of.model, system)
        one = Workspace(Memory.of(_real(model), of.settings), of.selection)
        recorder = Recorder(numbers, MOST_NODES)
        change = recorder.inputs("parameter")[0]
        arrays = arrays_of(model, of.settings, of.layout, complex)
        lifted = {name: _lifted(one.arrays[name], arrays[name], change) for name in _RECORDS}
        m = symbolic_memory(one, recorder, lifted)
        out = np.zeros(of.layout.n if explicit else self._n_equations, dtype=object)
        run = kernel
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


def _real(model: Model) -> Model:
    """A varied model without the imaginary parts; what is in it by them alone, such as a damper whose coefficient is 0,
    stays."""
    records = {name: _of_floats(getattr(model.forces, name)) for name in ("elements", "entries", "constants")}
    forces = replace(model.forces, **records)
    joints = tuple(replace(joint, points=(joint.points[0].real, joint.points[1].real)) for joint in model.joints)
    names = ("bodies", "primitives", "frictions")
    return replace(model, forces=forces, joints=joints, **{name: _of_floats(getattr(model, name)) for name in names})


def _of_floats(records: Any) -> Any:
    out = np.zeros(len(records), dtype=of_scalars(records.dtype, "f8"))
    for name in out.dtype.names:
        out[name] = records[name].real
    return out


def _check_functions(name: str, before: System, after: System) -> None:
    """Raise ValueError if what an element by functions fills depends on the parameter: it is not in the records."""
    for old, new in zip(before.forces, after.forces, strict=True):
        if old is new:
            continue
        same = [_function(element) for element in old.elements()]
        for element in new.elements():
            function = _function(element)
            if function is None or function in same:
                continue
            n = len(element.names) if isinstance(element, StateElement) else 0
            out = np.zeros(24 + n, dtype=complex)
            try:
                function(0.1234, np.random.default_rng(3).standard_normal(48 + n), out)
            except Exception:  # of a function that does not take complex numbers
                out[0] = 1j
            if out.imag.any():
                raise ValueError(f"parameter {name!r}: a function of the user depends on it")


def _function(element: AnyElement) -> Any:
    return element.function if isinstance(element, StateElement) else None


def _numbers(workspace: Workspace, t: float, y: Vec, yd: Vec) -> dict[str, Any]:
    """The values of all inputs of a recording; the parameter's is its change, 0."""
    return {"t": [t], "y": y, "yd": yd, "c": [0.0], "selection": selection_numbers(workspace), "parameter": [0.0]}


def _lifted(array: Any, stepped: Any, change: Any) -> Any:
    """Records for kernels on symbols whose numbers follow the change of the parameter, at its given value."""
    records = opened(array)
    for field in array.dtype.names:
        for record, slope in zip(records, np.imag(stepped[field]) / _STEP, strict=True):
            if slope.any():
                setattr(record, field, getattr(record, field) + slope.astype(object) * change)
    return records
