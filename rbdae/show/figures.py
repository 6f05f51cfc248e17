"""Common parts of all pictures: figures without a window, colours, and thinned curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae._figure import need_matplotlib as need_matplotlib
from rbdae._figure import new_figure as new_figure
from rbdae._figure import plain as plain

# blue, vermilion, green, purple, orange, sky blue, black: distinct for colour-blind readers too
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OF_BODIES = (*COLOURS[:-1], "#882255", "#999933", "#44AA99", "#661100", "#332288", "#777777")
"""Colours of bodies in pictures of a mechanism, where joints are black."""

STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
MOST_POINTS = 4000
"""A curve with more points is drawn by the extremes of equal stretches."""


def style(k: int) -> dict[str, Any]:
    """Colour and line style of the k-th curve; 28 are distinct."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % len(STYLES)]}


def thinned(values: Vec, most: int = MOST_POINTS) -> Ints:
    """Indices of at most `most` points of a curve, in order: all of them if there are no more, else the first,
    smallest, largest and last point of equal stretches (extremes of finite points)."""
    n = len(values)
    if n <= most:
        return np.arange(n)
    stretch = -(-4 * n // most)
    rows = -(-n // stretch)
    index = np.minimum(np.arange(rows * stretch).reshape(rows, stretch), n - 1)
    there = values[index]
    low = np.where(np.isfinite(there), there, np.inf).argmin(axis=1)
    high = np.where(np.isfinite(there), there, -np.inf).argmax(axis=1)
    row = np.arange(rows)
    picked = np.stack([index[:, 0], index[row, low], index[row, high], index[:, -1]])
    return np.unique(picked)
