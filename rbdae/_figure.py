"""Common parts of all pictures: figures without a window, colours, and thinned curves. Matplotlib is imported with the
first figure."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Ints, Vec

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# blue, vermilion, green, purple, orange, sky blue, black: distinct for colour-blind readers too
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OF_BODIES = (*COLOURS[:-1], "#882255", "#999933", "#44AA99", "#661100", "#332288", "#777777")
"""Colours of bodies in pictures of a mechanism, where joints are black."""

STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
MOST_POINTS = 4000
"""A curve with more points is drawn by the extremes of equal stretches."""


def new_figure(what: str, size: tuple[float, float], **options: Any) -> Figure:
    """A figure without a window, unknown to pyplot; a notebook shows it."""
    figure: Figure = _check.package(what, "matplotlib.figure").Figure(figsize=size, **options)
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100)
    return out.getvalue()


def plain(text: str) -> str:
    """A name escaped for matplotlib, which reads text between dollars as mathtext and omits names with a leading
    underscore from legends."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


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
