"""K and T in either frame on symbols, derived from a chart's kernels."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from rbdae.graph.on_stacks import Recording, Symbols
from rbdae.rotations import chart as kernels
from rbdae.rotations.chart import Chart


def rotation(chart: Chart, of: Recording) -> Symbols:
    """R (3, 3)."""
    d = np.zeros(9, dtype=object)
    kernels.rotation(chart.number, of.x, d)
    return d.reshape(3, 3).T


def rates(chart: Chart, a: Symbols) -> Symbols:
    """K (n, 3): the rates for unit angular velocities."""
    K = np.zeros((chart.n, 3), dtype=object)
    for j, om in enumerate(np.eye(3).tolist()):
        ad = np.zeros(chart.n, dtype=object)
        kernels.rate(chart.number, a, om, ad)
        K[:, j] = ad
    return K


def inverse_tangent(chart: Chart, frame: str, of: Recording) -> Symbols:
    """K (n, 3) in a frame; adot = -C K(C a) omega if R^T has the parameters C a."""
    if frame == "material":
        return rates(chart, of.x)
    if chart.inverted is None:
        return rates(chart, of.x) @ rotation(chart, of).T
    return -chart.inverted(rates(chart, chart.inverted(of.x)).T).T


def tangent(chart: Chart, material: Callable[[Symbols], Symbols], frame: str, of: Recording) -> Symbols:
    """T (3, n) in a frame, from T in the material frame; omega = -T(C a) C adot if R^T has the parameters C a."""
    if frame == "material":
        return material(of.x)
    if chart.inverted is None:
        return rotation(chart, of) @ material(of.x)
    return -chart.inverted(material(chart.inverted(of.x)))


def tangent_of_rotation(chart: Chart, frame: str, of: Recording) -> Symbols:
    """T (3, n) from R only: the skew parts of R^T dR/da, or of dR/da R^T."""
    R = rotation(chart, of)
    D = of.derivative(R)
    out = np.zeros((3, chart.n), dtype=object)
    for j in range(chart.n):
        turning = R.T @ D[..., j] if frame == "material" else D[..., j] @ R.T
        for i in range(3):
            k, l = (i + 1) % 3, (i + 2) % 3
            # off the internal constraints there is also a symmetric part
            out[i, j] = 0.5 * (turning[l, k] - turning[k, l]) if chart.internal else turning[l, k]
    return out
