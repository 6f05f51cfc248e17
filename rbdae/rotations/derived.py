"""K and T in either frame, and all derivatives, on stacks of parameters: they follow from the kernels of a chart.

A quantity is a function of parameters that are symbols. It is recorded once, derived by `rbdae.graph`, and evaluated on
arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeAlias, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.compiler.plain import plain
from rbdae.graph.derivatives import inputs_of, jacobian
from rbdae.graph.on_arrays import OnArrays
from rbdae.graph.symbols import Recorder
from rbdae.rotations import chart as kernels
from rbdae.rotations.chart import Chart

Symbols: TypeAlias = Any
"""An array of symbols and numbers."""

Quantity: TypeAlias = Callable[["Recording"], Symbols]

_ROWS = 1024
"""Rows that are evaluated together: all that is computed on the way stays in the cache."""

_MOST_NODES = 100_000


@final
class Recording:
    """The parameters of a chart as symbols.

    Attributes
    ----------
    chart : Chart
    a : symbols (n,)
    """

    def __init__(self, chart: Chart) -> None:
        self.chart = chart
        self._recorder = Recorder({"a": chart.centre or np.ones(chart.n)}, _MOST_NODES)
        self.a = self._recorder.inputs("a")

    def nodes(self, symbols: Symbols) -> list[int]:
        """The nodes of symbols, in their order. Raises TypeError if kernels have branched."""
        if self._recorder.guards:
            raise TypeError(
                f"{self.chart.name}: the kernels of a chart must not branch on its parameters, as they hold for some "
                "only; choose by rbdae.compiler.access.select"
            )
        return [self._recorder.number(x) for x in symbols.ravel()]

    def on_arrays(self, symbols: Symbols) -> OnArrays:
        """Symbols as a function of the parameters."""
        return OnArrays(self._recorder.graph, self.nodes(symbols))

    def derivative(self, symbols: Symbols) -> Symbols:
        """d symbols / da, the derivatives along the last axis."""
        graph, n = self._recorder.graph, self.chart.n
        rows = jacobian(graph, self.nodes(symbols), inputs_of(graph, "a", n))
        out = np.zeros((len(rows), n), dtype=object)
        for i, row in enumerate(rows):
            for j, node in row.items():
                out[i, j] = self._recorder.result(node)
        return out.reshape(*symbols.shape, n)


@final
class OnStacks:
    """A quantity of a chart and its derivative, as functions of parameters (..., n)."""

    def __init__(self, chart: Chart, quantity: Quantity) -> None:
        self._chart, self._quantity = chart, quantity

    def _recorded(self) -> tuple[Recording, Symbols]:
        recording = Recording(self._chart)
        return recording, self._quantity(recording)

    @cached_property
    def _value(self) -> Callable[[Vec], Mat]:
        recording, symbols = self._recorded()
        return _on_stacks(recording, symbols)

    @cached_property
    def _derivative(self) -> Callable[[Vec], Mat]:
        recording, symbols = self._recorded()
        return _on_stacks(recording, recording.derivative(symbols))

    def __call__(self, a: Vec) -> Mat:
        """The quantity, its own axes last."""
        return self._value(a)

    def derivative(self, a: Vec) -> Mat:
        """Its derivative, along the last axis."""
        return self._derivative(a)


def _on_stacks(recording: Recording, symbols: Symbols) -> Callable[[Vec], Mat]:
    function, shape = recording.on_arrays(symbols), symbols.shape

    def evaluated(a: Vec) -> Mat:
        rows = a.reshape(-1, a.shape[-1])
        out = np.empty((len(rows), symbols.size))
        for k in range(0, len(rows), _ROWS):
            each = slice(k, k + _ROWS)
            for j, values in enumerate(function(rows[each].T)):
                out[each, j] = values
        return out.reshape(*a.shape[:-1], *shape)

    return evaluated


# ---------------------------------------------------------------- quantities


def rotation(of: Recording) -> Symbols:
    """R (3, 3)."""
    d = np.zeros(9, dtype=object)
    plain(kernels.rotation)(of.chart.number, of.a, d)
    return d.reshape(3, 3).T


def rates(chart: Chart, a: Symbols) -> Symbols:
    """K (n, 3) of symbols: the rates of unit angular velocities."""
    K = np.zeros((chart.n, 3), dtype=object)
    for j, om in enumerate(np.eye(3).tolist()):
        ad = np.zeros(chart.n, dtype=object)
        plain(kernels.rate)(chart.number, a, om, ad)
        K[:, j] = ad
    return K


def inverse_tangent(of: Recording, frame: str) -> Symbols:
    """K (n, 3) in a frame; adot = -C K(C a) omega if R^T has the parameters C a."""
    inverted = of.chart.inverted
    if frame == "material":
        return rates(of.chart, of.a)
    if inverted is None:
        return rates(of.chart, of.a) @ rotation(of).T
    return -inverted(rates(of.chart, inverted(of.a)).T).T


def tangent(of: Recording, material: Callable[[Symbols], Symbols], frame: str) -> Symbols:
    """T (3, n) in a frame, from that in the material one; omega = -T(C a) C adot if R^T has the parameters C a."""
    inverted = of.chart.inverted
    if frame == "material":
        return material(of.a)
    if inverted is None:
        return rotation(of) @ material(of.a)
    return -inverted(material(inverted(of.a)))


def tangent_of_rotation(of: Recording, frame: str) -> Symbols:
    """T (3, n) of R alone: the skew parts of R^T dR/da, and of dR/da R^T."""
    R = rotation(of)
    D = of.derivative(R)
    out = np.zeros((3, of.chart.n), dtype=object)
    for j in range(of.chart.n):
        turning = R.T @ D[..., j] if frame == "material" else D[..., j] @ R.T
        for i in range(3):
            k, l = (i + 1) % 3, (i + 2) % 3
            # beside internal constraints there is a symmetric part, too
            out[i, j] = 0.5 * (turning[l, k] - turning[k, l]) if of.chart.internal else turning[l, k]
    return out
