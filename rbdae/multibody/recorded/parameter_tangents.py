"""dF/dp and df/dp for named numbers p of a system: the recorded residual or right-hand side, differentiated forwards.

A number p enters the kernels through the records r of the model (masses, inverse inertias, coefficients of points).
These are rational functions of it with real coefficients, and are packed at p + i h:

    r(p + i h) = r(p) + i h r'(p) - h^2 r''(p)/2 - ...,    r' = Im r(p + i h) / h.

Nothing is subtracted, and with h = 2^-600 the terms left out are no numbers beside the first. So r' has the rounding of
the packing alone, as if its derivative, such as d(J^-1) = -J^-1 dJ J^-1, had been written out. The kernels run on
r(p) + r'(p) s with a symbol s at 0, by which what they make of it is differentiated as a graph
(`rbdae.multibody.recorded.derived`).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import MappingProxyType
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import ByName
from rbdae.forces.element import StateElement
from rbdae.formulations.base import Derivative
from rbdae.graph.derivatives import NoDerivative
from rbdae.kernels.memory import of_scalars
from rbdae.kernels.symbolic import opened
from rbdae.multibody.memory.memory import Memory
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import in_python
from rbdae.multibody.system.model import varied
from rbdae.multibody.system.parameters import parameters
from rbdae.system import System

_STEP = 2.0**-600
"""The imaginary part of a parameter."""


@final
class ParameterTangents:
    """Columns of dF/dp and df/dp of a workspace by the names of parameters, recorded when first asked for."""

    def __init__(self, workspace: Workspace, n_equations: int) -> None:
        self._workspace = workspace
        self._n_equations = n_equations
        self._parameters = parameters(workspace.model.system)
        self._columns: dict[tuple[str, bool], Callable[..., None]] = {}
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
            key = name, yd is None
            if key not in self._columns:
                self._columns[key] = self._column(*key)
            try:
                self._columns[key](t, y, *(() if yd is None else (yd,)), out[:, k : k + 1])
            except NoDerivative as error:
                raise ValueError(f"parameter {name!r}: {error}") from None
        return out

    def _column(self, name: str, explicit: bool) -> Callable[..., None]:
        """The derivative of the residual, or of the right-hand side, by one parameter, in Python."""
        of = self._workspace
        system = self._parameters[name].varied(of.model.system, _STEP)
        _check_functions(name, of.model.system, system)
        memory = Memory.of(varied(of.model, system), of.settings)
        kinds = {name: {a.dtype[k].base.kind for k in a.dtype.names or ()} for name, a in memory.arrays.items()}
        stepped = {name: memory.arrays[name] for name in kinds if "c" in kinds[name]}
        real = {name: getattr(of.model, name) for name in ("bodies", "primitives", "joints")}
        arrays = {**memory.arrays, **{name: _real(array) for name, array in stepped.items()}}
        one = Workspace(replace(memory, arrays=arrays, model=replace(memory.model, **real)), of.selection)
        one.symbols = partial(_along, {name: _slopes(array) for name, array in stepped.items()})
        kernels: Any = of.settings.kernels
        return in_python(one, Derivative(kernels.rates if explicit else kernels.residual, "parameter"))


def _real(records: Any) -> Any:
    """Records without imaginary parts; what is there by these alone, such as a damper of coefficient 0, stays."""
    out = np.zeros(len(records), dtype=of_scalars(records.dtype, "f8"))
    for name in out.dtype.names:
        out[name] = records[name].real
    return out


def _slopes(records: Any) -> dict[str, Any]:
    found = {name: np.imag(records[name]) / _STEP for name in records.dtype.names}
    return {name: slope for name, slope in found.items() if slope.any()}


def _along(slopes: Mapping[str, Mapping[str, Any]], workspace: Workspace, recorder: Any) -> dict[str, Any]:
    """Records for kernels on symbols that follow a parameter, which is 0."""
    (parameter,) = recorder.with_inputs("parameter", [0.0])
    out = {name: opened(workspace.arrays[name]) for name in slopes}
    for name, fields in slopes.items():
        for field, slope in fields.items():
            for record, change in zip(out[name], slope, strict=True):
                if change.any():
                    setattr(record, field, getattr(record, field) + change.astype(object) * parameter)
    return out


def _check_functions(name: str, before: System, after: System) -> None:
    """Raise ValueError if what an element by functions fills depends on the parameter: it is not in the records."""
    for old, new in zip(before.forces, after.forces, strict=True):
        if old is new:
            continue
        same = [element.function for element in old.elements() if isinstance(element, StateElement)]
        for element in new.elements():
            if not isinstance(element, StateElement) or element.function in same:
                continue
            n = len(element.names)
            out = np.zeros(24 + n, dtype=complex)
            try:
                element.function(0.1234, np.random.default_rng(3).standard_normal(48 + n), out)
            except Exception:  # of a function that does not take complex numbers
                out[0] = 1j
            if out.imag.any():
                raise ValueError(f"parameter {name!r}: a function of the user depends on it")
