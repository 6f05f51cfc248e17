"""Pictures of runs as small multiples over one time axis. Matplotlib is imported with the first picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, sense
from rbdae._figure import new_figure, plain, style, thinned
from rbdae.problem.observables import TABLE
from rbdae.show.panels import (
    Curve,
    Panel,
    View,
    group,
    groups,
    moving_side,
    of_system,
    quantities,
    unique_components,
    view,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEFAULT = ("center_of_mass", "orientation", "energy", "drift", "steps")
MOST_ROWS = 12
"""Bodies or joints that are drawn by default."""
MARKS = 100
"""Most times of events that are marked."""

_WIDTH = 4.6  # width of a panel, inches
_NAME = -0.17  # position of row names, in widths of a panel
_COLUMNS = 5  # most panels in a line of a single row: more are folded

Row: TypeAlias = tuple[str, list[Panel | None]]
"""A name and its panels, side by side; None for an empty place."""
Block: TypeAlias = list[Row]
"""Rows with the same quantities."""


def plot_solution(
    solution: Any,
    *,
    bodies: Iterable[str] | None = None,
    quantities: Iterable[str] | None = None,
    joints: Iterable[str] | None = None,
    title: str | None = None,
) -> Figure:
    """Plot small multiples over time: a row for each body or joint, a column for each of its quantities, and the
    system's quantities below. Dotted lines mark events of the run.

    The figure has no window; it is for `savefig` or a notebook. If the run has few steps, all curves but errors and
    step sizes are interpolated. Raises ImportError without matplotlib, and ValueError or TypeError for unknown names,
    for a run without times, and if the run has no data to draw.

    Parameters
    ----------
    solution : a `rbdae.Solution`, or an object with the same attributes: only those drawn are read
    bodies : names; None for all, at most the first 12
    quantities : names from `rbdae.show.QUANTITIES` and of further observables (`rbdae.observables`), in drawing order:
        "center_of_mass", "position" and "velocity" (of the origin of the frame), "orientation"
        (quaternion p0 to p3, scalar first), "angular_velocity" of bodies; "joints" and "forces" (their quantities);
        "reactions" of joints, on their last moving body; "energy" (kinetic, potential, work, total, and the
        balance on its own axis), "momentum", "drift" and "steps" (sizes) of the system. None for
        center_of_mass, orientation, energy, drift and steps; with `joints` also reactions
    joints : names of joints whose quantities and reactions are drawn; None for all, at most the first 12
    title : title of the figure; None for the solver
    """
    _check.package("plot", "matplotlib")
    wanted = _chosen_quantities(quantities, joints)
    heading = plain(solution.solver) if title is None else title
    if not len(solution.t):
        raise ValueError("plot: this run has no times, so there is nothing to draw; its message says why it ended")
    shown = view(solution)
    blocks, notes = _blocks(shown, wanted, bodies, joints, every=quantities is not None)
    lone = [panel for name in _of("system", wanted) for panel in of_system(shown, name)]
    if not blocks and not lone:
        raise ValueError(
            f"plot: this run has no {' and no '.join(wanted)}, so there is nothing to draw; choose other quantities"
        )
    marks = [float(t) for event in getattr(solution, "events", ()) for t in event.t]
    marks.sort(reverse=sense(solution.t) < 0)
    figure = _draw(blocks, lone, marks)
    lines = [heading, *notes]
    if marks:
        lines.append("dotted: events" if len(marks) <= MARKS else f"dotted: the first {MARKS} of {len(marks)} events")
    figure.suptitle("\n".join(lines), fontsize="medium")
    return figure


def plot_runs(runs: Mapping[str, Any]) -> Figure:
    """Draw the largest drift and error of energy so far, of `rbdae.Solution` s by names, in one figure. What is below
    rounding is left out. Raises ImportError without matplotlib."""
    values: dict[str, Callable[[Any], Vec]] = {
        "drift of positions so far [SI]": lambda run: run.drift.position,
        "drift of velocities so far [SI]": lambda run: run.drift.velocity,
        "error of energy so far, relative": lambda run: np.abs(run.energy.balance) / (run.energy.kinetic.max() or 1.0),
    }
    panels = []
    for label, of in values.items():
        worst = [(name, run.t, np.maximum.accumulate(of(run))) for name, run in runs.items()]
        curves = (Curve(name, t, np.where(y > 1e-17, y, 0.0), k) for k, (name, t, y) in enumerate(worst))
        panels.append(Panel(label, tuple(curves), logarithmic=True))
    return _draw([], panels, [])


# ---------------------------------------------------------------- the choice of panels


def _chosen_quantities(given: Iterable[str] | None, joints: Iterable[str] | None) -> list[str]:
    if given is None:
        return [*DEFAULT, *(() if joints is None else ["reactions"])]
    names = _check.known("quantities", "quantity", given, quantities())
    if joints is not None and not _of("joints", names) and "joints" not in names:
        raise ValueError(
            f"plot: joints= is for reactions and quantities of joints; add 'reactions' or 'joints' to quantities, "
            f"got {names}"
        )
    return names


def _of(owner: str, names: Iterable[str]) -> list[str]:
    table = quantities()
    return [name for name in names if table[name][0].owner == owner]


def _blocks(
    shown: View, wanted: list[str], bodies: Iterable[str] | None, joints: Iterable[str] | None, *, every: bool
) -> tuple[list[Block], list[str]]:
    """Blocks of rows, and sentences about omitted ones."""
    blocks: list[Block] = []
    notes: list[str] = []
    smooth, of_bodies = shown.smooth, _of("bodies", wanted)
    if bodies is not None or of_bodies:
        names = _chosen("bodies", "body", bodies, smooth.states, notes)
        columns = [each.by_owner() for quantity in of_bodies for each in groups(shown, quantity, names)]
        full, zero = (columns, []) if every else _full(columns)
        blocks.append([(name, [column[name] for column in full or columns]) for name in names] if columns else [])
        notes += [f"Zero at all times: {', '.join(zero)}."] if full and zero else []
    for kind in _of("named", wanted):
        all_of = getattr(smooth, kind)
        names = _chosen(kind, kind.removesuffix("s"), joints if kind == "joints" else None, all_of, notes)
        blocks += _named(kind, smooth.t, {name: all_of[name] for name in names})
    if of_joints := _of("joints", wanted):
        names = _chosen("joints", "joint", joints, smooth.reactions, notes)
        columns = [each.by_owner() for quantity in of_joints for each in groups(shown, quantity, names)]
        blocks.append([(_on(name, shown), [column[name] for column in columns]) for name in names])
    return [block for block in blocks if block and block[0][1]], notes


def _full(columns: list[dict[str, Panel]]) -> tuple[list[dict[str, Panel]], list[str]]:
    """The columns with a nonzero value, and the labels of the others."""
    zero = [column for column in columns if all(panel.is_zero() for panel in column.values())]
    return [column for column in columns if column not in zero], [next(iter(c.values())).label for c in zero if c]


def _named(kind: str, t: Vec, of: Mapping[str, Any]) -> list[Block]:
    """Blocks of rows of the "joints" or "forces"; owners with the same quantities share a block. A quantity that is
    zero for all of them, such as the torques of undriven joints, is omitted; for some of them its place is empty."""
    alike: dict[tuple[tuple[str, ...], ...], dict[str, Any]] = {}
    for name, each in of.items():
        alike.setdefault(tuple((q, *map(str, each.units[q])) for q in each), {})[name] = each
    out: list[Block] = []
    for owners in alike.values():
        columns, _ = _full(
            [group(part, t, owners).by_owner() for part in TABLE[kind].parts_of(next(iter(owners.values())))]
        )
        rows = {name: [column[name] for column in columns] for name in owners}
        for panels in rows.values():  # a user's quantity may have no unit
            panels[:] = [replace(panel, label=panel.label.removesuffix(" [1]")) for panel in panels]
        out.append([(name, [None if p.is_zero() else p for p in panels]) for name, panels in rows.items()])
    return out


def _chosen(
    what: str, one: str, names: Iterable[str] | None, known: Mapping[str, object], notes: list[str]
) -> list[str]:
    """The chosen names, or the first of all with a note."""
    if names is not None:
        return _check.known(what, one, names, known)
    if len(known) > MOST_ROWS:
        notes.append(f"the first {MOST_ROWS} of {len(known)} {what}; choose with {what}=[...]")
    return list(known)[:MOST_ROWS]


def _on(joint: str, shown: View) -> str:
    """The name of a row, with the unique components of the reaction unless all are unique."""
    body = moving_side(shown.smooth, joint)
    reaction = shown.smooth.reactions[joint][body]
    if reaction.unique:
        return f"{joint}\non {body}"
    sure = unique_components(reaction, "_in_space")
    return f"{joint}\non {body}\n" + (f"(unique: {', '.join(sure)})" if sure else "(not unique)")


# ---------------------------------------------------------------- the drawing


class _Cell(NamedTuple):
    """A panel, its row's name, and whether it has heading and legend."""

    name: str
    panel: Panel | None
    headed: bool


def _draw(blocks: list[Block], lone: list[Panel], marks: Sequence[float]) -> Figure:
    """Draw blocks of rows above each other, then the system's panels in rows as wide as the widest block."""
    widths = [(len(block), max(len(panels) for _, panels in block)) for block in blocks]
    width = max([min(wide, _COLUMNS) if rows == 1 else wide for rows, wide in widths], default=0)
    width = width or (2 if len(lone) > 1 else 1)
    if width == 1 and len(lone) + max((rows for rows, _ in widths), default=0) > 2:
        width = 2
    lines = [line for block in blocks for line in _lines(block, width)]
    of_system = [_Cell("", panel, True) for panel in lone]
    lines += [(2.2, of_system[k : k + width]) for k in range(0, len(lone), width)]
    heights = [height for height, _ in lines]
    figure = new_figure("plot", (max(1.35, width) * _WIDTH, sum(heights) + 0.6), layout="constrained")
    grid = figure.add_gridspec(len(heights), width, height_ratios=heights)
    first: Axes | None = None
    lowest: dict[int, Axes] = {}
    for row, (_, cells) in enumerate(lines):
        for column, cell in enumerate(cells):
            if cell.panel is not None:
                axis = figure.add_subplot(grid[row, column], sharex=first)
                first = axis if first is None else first
                _fill(axis, cell.panel, cell, marks)
                axis.tick_params(labelbottom=False)
                lowest[column] = axis
    for axis in lowest.values():
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("t [s]")
    return figure


def _lines(block: Block, width: int) -> list[tuple[float, list[_Cell]]]:
    """Heights, inches, and cells of a block's rows. Rows with one panel share lines; a single row takes as many lines
    as it needs."""
    alone, single = len(block) == 1, all(len(panels) == 1 for _, panels in block)
    rows: list[list[_Cell]] = []
    if alone or single:
        flat = [(name, panel) for name, panels in block for panel in panels]
        for k in range(0, len(flat), width):
            part = flat[k : k + width]
            rows.append(
                [_Cell(name if single or not j else "", p, alone or k == 0) for j, (name, p) in enumerate(part)]
            )
    else:
        begun: set[int] = set()
        for name, panels in block:
            rows.append([_Cell("" if j else name, panel, j not in begun) for j, panel in enumerate(panels)])
            begun |= {j for j, panel in enumerate(panels) if panel is not None}
    height = 2.3 if len(rows) <= 2 else 1.7 if len(rows) <= 4 else 1.25
    return [(height + 0.35 * (k == 0 or alone), cells) for k, cells in enumerate(rows)]


def _fill(axis: Axes, panel: Panel, cell: _Cell, marks: Sequence[float]) -> None:
    for curve in panel.curves:
        y = _visible(curve.y) if panel.logarithmic else curve.y
        if panel.logarithmic and len(y) and not np.isfinite(y).any():
            axis.plot([], [], label=f"{curve.name}: 0", **style(curve.number))
            continue
        keep, marker = thinned(y), "o" if len(y) == 1 else None
        look = style(curve.number) | {"linewidth": 1.2, "marker": marker, "markersize": 4}
        axis.plot(curve.t[keep], y[keep], label=curve.name, **look)
    if panel.logarithmic and any(np.any(_visible(curve.y) > 0.0) for curve in panel.curves):
        axis.set_yscale("log")
    else:
        axis.yaxis.set_major_formatter("{x:g}")  # the default factor above the axis would cover the legend
    if panel.limits is not None:
        axis.set_ylim(*panel.limits)
    for mark in marks[:MARKS]:
        axis.axvline(mark, color="0.4", linewidth=0.8, linestyle=":", zorder=0)
    axis.grid(True, alpha=0.3)
    axis.margins(x=0.01)
    if cell.name:
        axis.set_ylabel(plain(cell.name))
        axis.yaxis.set_label_coords(_NAME, 0.5)  # align_ylabels takes half the time of a large figure
    if cell.headed:
        axis.set_title(panel.label, loc="left", fontsize="medium", pad=22)
        axis.legend(
            loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncols=4, fontsize="small", frameon=False, borderaxespad=0.1
        )


def _visible(values: Vec) -> Vec:
    """The values without zeros (of a consistent start), which a logarithmic axis cannot show."""
    return np.where(values > np.finfo(float).tiny, values, np.nan)
