"""Small multiples: panels in rows and columns over one horizontal axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae._arrays import Vec
from rbdae.plotting.abscissa import Abscissa
from rbdae.plotting.figures import curve, new_figure, plain, style
from rbdae.plotting.quantities import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKS = 100
"""Times of events that are marked."""

_WIDTH = 4.6  # of a panel, inches
_NOISE = 1e-6  # of the largest value in a column: less is drawn as a constant
_NAME = -0.17  # where names of rows stand, in widths of a panel
_COLUMNS = 5  # of a row that is alone: more panels are folded
_BESIDE = 0.5  # how far the axis of a constant reaches, as a part of the largest value in its column

Row = tuple[str, list[Panel]]
"""A name and its panels, beside each other."""


class Cell(NamedTuple):
    """A panel in its place, the name of its row, and whether it has heading and legend."""

    row: int
    column: int
    panel: Panel
    name: str
    headed: bool


def draw(blocks: list[list[Row]], lone: list[Panel], marks: Sequence[float], over: Abscissa) -> Figure:
    """Blocks of rows above each other, then the panels of the system, as many in a row as the widest block has; `marks`
    are values of the axis."""
    width = max([_width(block) for block in blocks] or [2 if len(lone) > 1 else 1])
    if width == 1 and len(lone) + max([len(block) for block in blocks] or [0]) > 2:
        width = 2
    cells, heights = _cells(blocks, lone, width)
    size = (max(1.35, width) * _WIDTH, sum(heights) + 0.6)
    figure = new_figure("plot", size, layout="constrained")
    grid = figure.add_gridspec(len(heights), width, height_ratios=heights)
    first: Axes | None = None
    lowest: dict[int, Axes] = {}
    for cell in cells:
        axis = figure.add_subplot(grid[cell.row, cell.column], sharex=first)
        first = axis if first is None else first
        panel = replace(cell.panel, t=over.at(cell.panel.t))
        _fill(axis, panel, cell.name, cell.headed, marks)
        axis.tick_params(labelbottom=False)
        lowest[cell.column] = axis
    for axis in lowest.values():
        axis.tick_params(labelbottom=True)
        axis.set_xlabel(plain(over.label))
    return figure


def _width(block: list[Row]) -> int:
    """The columns of a block: a row that is alone is folded."""
    widest = max(len(panels) for _, panels in block)
    return min(widest, _COLUMNS) if len(block) == 1 else widest


def _cells(blocks: list[list[Row]], lone: list[Panel], width: int) -> tuple[list[Cell], list[float]]:
    """All panels, and the heights of rows, inches.

    A block of one column is wrapped: its panels stand beside each other, too. A row that is alone has as many lines as
    it needs.
    """
    cells: list[Cell] = []
    heights: list[float] = []
    for block in map(_without_noise, blocks):
        row = len(heights)
        flat = [(name, panel) for name, panels in block for panel in panels]
        if len(block) == 1 or all(len(panels) == 1 for _, panels in block):
            columns = width if len(block) > 1 else min(width, len(flat))
            for k, (name, panel) in enumerate(flat):
                first = len(block) > 1 or k % columns == 0
                headed = len(block) == 1 or k < columns
                cells.append(Cell(row + k // columns, k % columns, panel, name if first else "", headed))
            count = -(-len(flat) // columns)
            heights += [_height(count) + 0.35 * (k == 0 or len(block) == 1) for k in range(count)]
            continue
        begun: set[int] = set()
        for k, (name, panels) in enumerate(block):
            for j, panel in enumerate(panels):
                if panel.absent:
                    continue
                cells.append(Cell(row + k, j, panel, "" if j else name, j not in begun))
                begun.add(j)
        heights += [_height(len(block)) + 0.35 * (k == 0) for k in range(len(block))]
    row = len(heights)
    cells += [Cell(row + k // width, k % width, panel, "", True) for k, panel in enumerate(lone)]
    heights += [2.2] * -(-len(lone) // width)
    return cells, heights


def _height(rows: int) -> float:
    return 2.3 if rows <= 2 else 1.7 if rows <= 4 else 1.25


def _without_noise(block: list[Row]) -> list[Row]:
    """The block with limits that say so where the values of a panel are rounding beside those of the others in its
    column."""
    columns = list(zip(*(panels for _, panels in block), strict=True))
    sizes = [max(np.abs(p.values).max(initial=0.0) for p in column) for column in columns]
    return [(name, [_limited(p, size) for p, size in zip(panels, sizes, strict=True)]) for name, panels in block]


def _limited(panel: Panel, size: float) -> Panel:
    """A panel whose values differ by rounding alone is a straight line in an axis as large as those of its column."""
    if panel.limits is not None or panel.scale == "log" or not np.isfinite(panel.values).all():
        return panel
    floor = max(_NOISE * size, panel.noise)
    low, high = float(panel.values.min()), float(panel.values.max())
    half = max(_BESIDE * size, floor)
    if high - low >= floor or half == 0.0:
        return panel
    return replace(panel, limits=(low - half, high + half))


def _fill(axis: Axes, panel: Panel, name: str, headed: bool, marks: Sequence[float]) -> None:
    log = panel.scale == "log"
    for k, (label, values) in enumerate(zip(panel.labels, panel.values.T, strict=True)):
        shown = _visible(values) if log else values
        if log and len(values) and not np.isfinite(shown).any():
            axis.plot([], [], label=f"{label}: 0", **style(k))
        else:
            curve(axis, panel.t, shown, label, k)
    if log and np.any(_visible(panel.values) > 0.0):
        axis.set_yscale("log")
    else:
        axis.yaxis.set_major_formatter("{x:g}")  # the usual factor above the axis would cover the legend
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    for time in marks[:MARKS]:
        axis.axvline(time, color="0.4", linewidth=0.8, linestyle=":", zorder=0)
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.01)
    if name:
        axis.set_ylabel(plain(name))
        axis.yaxis.set_label_coords(_NAME, 0.5)  # align_ylabels takes half of the time of a large figure
    if headed:
        axis.set_title(panel.heading, loc="left", fontsize="medium", pad=22)
        axis.legend(
            loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, fontsize="small", frameon=False, borderaxespad=0.1
        )


def _visible(values: Vec) -> Vec:
    """Without the zeros of a consistent start, which a logarithmic axis cannot show."""
    return np.where(values > np.finfo(float).tiny, values, np.nan)


__all__ = ["MARKS", "Row", "draw"]
