"""The common part of all pictures: figures without a window, colours, and curves thinned for the eye."""

from __future__ import annotations

import io
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Ints, Vec
from rbdae._files import checked

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# blue, vermilion, green, purple, orange, sky blue, black: told apart by eyes that confuse red and green, too
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
OF_BODIES = (*COLOURS[:-1], "#882255", "#999933", "#44AA99", "#661100", "#332288", "#777777")
"""Of bodies in pictures of a mechanism, where black is for joints."""

STYLES = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
MOST_POINTS = 4000
"""A curve with more points is drawn by the extremes of as many stretches as fit."""


def need_matplotlib(what: str) -> None:
    """Raises ImportError that names the remedy."""
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise ImportError(f"{what} needs matplotlib: run `pip install matplotlib`") from None


def new_figure(what: str, size: tuple[float, float], **options: Any) -> Figure:
    """A figure that no window and no pyplot knows, and that a notebook shows."""
    need_matplotlib(what)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, **options)
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100)
    return out.getvalue()


def style(k: int) -> dict[str, Any]:
    """Colour and line style of the k-th curve: 28 that can be told apart."""
    return {"color": COLOURS[k % len(COLOURS)], "linestyle": STYLES[k // len(COLOURS) % len(STYLES)]}


def plain(text: str) -> str:
    """A name as matplotlib shows it letter by letter: it takes what stands between two dollars for mathtext, and leaves
    names out of legends that begin with an underscore."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def writable(owner: str, path: str | Path, endings: Sequence[str]) -> Path:
    """The file that a picture or page is to be written to.

    Raises
    ------
    TypeError, ValueError, OSError
        for another value than a path, another ending, and a folder that is not there, or of this name
    """
    target = checked(f"{owner}: path", path, f"run{endings[0]}")
    if target.suffix.lower() not in endings:
        raise ValueError(f"{owner}: the name must end with {' or '.join(endings)}, got {target.name!r}")
    if target.is_dir():
        raise IsADirectoryError(f"{owner}: {target} is a folder; give the name of a file")
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"{owner}: there is no folder {target.parent} to write {target.name} to; make it first")
    return target


def names(what: str, one: str, given: Iterable[str], known: Iterable[str]) -> list[str]:
    """Known names, each once, in the order in which they are given, and at least one."""
    known, chosen = list(known), list(dict.fromkeys(_check.names(what, given)))
    if not chosen:
        raise ValueError(f"{what} must name at least one {one}, got []; choose from {', '.join(known)}")
    for name in chosen:
        if name not in known:
            raise _check.unknown(one, name, known)
    return chosen


def thinned(values: Vec, most: int = MOST_POINTS) -> Ints:
    """Indices of at most `most` points of a curve, in order: all of them if they are so few, else the first, the
    smallest, the largest and the last point of equal stretches. The extremes are those of finite points."""
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
