"""Pictures of trajectories over time. Matplotlib is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.plotting import choices
from rbdae.plotting.figures import curve, need_matplotlib, new_figure, plain, style
from rbdae.plotting.plane_view import Plane, PlaneChoice, plane_of
from rbdae.plotting.quantities import (
    Panel,
    Trajectory,
    drawn,
    named_rows,
    of_joint,
    of_system,
    quantities,
    unique_components,
)
from rbdae.problem.observables import TABLE, Observable, Part

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DEFAULT = ("center_of_mass", "orientation", "energy", "drift", "steps")
MOST_ROWS = 12
"""Bodies or joints that are drawn where none are chosen."""

_WIDTH = 4.6  # of a panel, inches
_NOISE = 1e-6  # of the largest value in a column: less is drawn as a constant
_NAME = -0.17  # where names of rows stand, in widths of a panel
_MARKS = 100  # times of events that are marked

Row = tuple[str, list[Panel]]
"""A name and its panels, beside each other."""


def plot_solution(
    solution: Trajectory,
    *,
    bodies: Iterable[str] | None = None,
    quantities: Iterable[str] | None = None,
    joints: Iterable[str] | None = None,
    title: str | None = None,
    marks: Sequence[float] = (),
    between: Trajectory | None = None,
    plane: PlaneChoice = None,
) -> Figure:
    """Small multiples over time: a row for each body or joint, a column for each of its quantities, and below them what
    belongs to the whole system.

    Parameters
    ----------
    solution : what is drawn
    bodies : names; None for all, the first 12 of more
    quantities : names from `rbdae.plotting.QUANTITIES`, and of further observables (`rbdae.observables`), in the order
        in which they are drawn: "center_of_mass", "position" and "velocity" (of the origin of the frame),
        "orientation" (quaternion p0 to p3, scalar first), "angular_velocity" of bodies; "joints" and "forces" (their
        quantities); "reactions" of joints, on the first of their bodies that moves; "energy" (kinetic, potential, work,
        total, and the balance on an axis of its own), "momentum", "drift" and "steps" (sizes) of the system. None for
        center_of_mass, orientation, energy, drift and steps; with `joints` also reactions
    joints : names of those whose quantities and reactions are drawn; None for all, the first 12 of more
    title : above all; None for the solver
    marks : times that are marked by a dotted line, such as those of events
    between : the same run at more times, for smooth curves of all but errors and step sizes
    plane : a mechanism that moves in a plane is drawn in it: two components of vectors, an angle in place of the
        quaternion, and of reactions the forces in the plane and the torque about its normal first. None for such a
        plane if there is one; "xy", "yz", "zx" or their reverse for one by its axes, False for none

    Returns
    -------
    Figure
        Without a window: it has `savefig`, and a notebook shows it.

    Raises
    ------
    ImportError
        without matplotlib
    ValueError, TypeError
        for unknown names, for a run without a time, and for a plane that the motion leaves
    """
    need_matplotlib("plot")
    wanted = _chosen_quantities(quantities, joints)
    heading = plain(solution.solver) if title is None else choices.heading("title", title)
    if not len(solution.t):
        raise ValueError("plot: this run has no times, so there is nothing to draw; its message says why it ended")
    smooth = solution if between is None else between
    flat = plane_of(solution, plane, "plot")
    rows, left_out = _rows(smooth, wanted, bodies, joints, solution, flat)
    system = _of("system", wanted, TABLE if flat is None else flat.table(smooth.t))
    lone = [p for name, (_, parts) in system.items() for p in of_system(solution, smooth, name, parts)]
    figure = _draw(rows, lone, marks)
    lines = [heading, *([] if flat is None else [flat.said]), *left_out]
    if marks:
        lines.append("dotted: events" if len(marks) <= _MARKS else f"dotted: the first {_MARKS} of {len(marks)} events")
    figure.suptitle("\n".join(lines), fontsize="medium")
    return figure


def _chosen_quantities(given: Iterable[str] | None, joints: Iterable[str] | None) -> list[str]:
    if given is None:
        return [*DEFAULT, *(() if joints is None else ["reactions"])]
    names = choices.names("quantities", "quantity", given, quantities())
    if joints is not None and not _of("joints", names) and "joints" not in names:
        raise ValueError(
            f"plot: joints= is for reactions and quantities of joints; add 'reactions' or 'joints' to quantities, "
            f"got {names}"
        )
    return names


def _of(
    owner: str, names: Iterable[str], table: Mapping[str, Observable] = TABLE
) -> dict[str, tuple[str, tuple[Part, ...]]]:
    """Those of these quantities that belong to an owner: the attribute of the run, and what is drawn of it."""
    known = quantities(table)
    return {name: (known[name][0].name, known[name][1]) for name in names if known[name][0].owner == owner}


def _rows(
    solution: Trajectory,
    wanted: list[str],
    bodies: Iterable[str] | None,
    joints: Iterable[str] | None,
    recorded: Trajectory,
    plane: Plane | None,
) -> tuple[list[list[Row]], list[str]]:
    """Blocks of rows, and sentences on what is not drawn; `recorded` has the times of the run alone."""
    blocks: list[list[Row]] = []
    notes: list[str] = []
    table = TABLE if plane is None else plane.table(solution.t)
    shown = _of("bodies", wanted, table)
    if bodies is not None or shown:
        names, note = _chosen("bodies", "body", bodies, solution.states)
        if shown:
            runs = [(solution if TABLE[a].between else recorded, a, parts) for a, parts in shown.values()]
            read = [(run.t, getattr(run, attribute), parts) for run, attribute, parts in runs]
            blocks.append([(name, [p for t, of, parts in read for p in drawn(parts, t, of[name])]) for name in names])
            notes += note
    for kind in _of("named", wanted, table):
        found = getattr(solution, kind)
        one = kind.removesuffix("s")
        names, note = _chosen(kind, one, joints if kind == "joints" else None, found)
        blocks += named_rows(kind, solution.t, {name: found[name] for name in names})
        notes += note
    shown = _of("joints", wanted, table)
    if shown:
        names, note = _chosen("joints", "joint", joints, solution.reactions)
        sides = {name: _first_moving(solution, name) for name in names}
        size = _size(solution)
        if plane is not None and "reactions" in shown:
            drawn_of = {name: {body: reaction} for name, (body, reaction) in sides.items()}
            parts, zero = plane.reaction_parts(drawn_of, size)
            shown["reactions"] = ("reactions", parts)
            notes += [f"Zero but for rounding: {', '.join(zero)}."] if zero else []
        rows = [
            (
                _on(name, *sides[name], plane),
                [
                    p
                    for q, (_, parts) in shown.items()
                    for p in of_joint(q, parts, solution, name, sides[name][0], size)
                ],
            )
            for name in names
        ]
        blocks += [rows] if rows else []
        notes += note
    return blocks, notes


def _chosen(
    what: str, one: str, names: Iterable[str] | None, known: Mapping[str, object]
) -> tuple[list[str], list[str]]:
    if names is not None:
        return choices.names(what, one, names, known), []
    out = list(known)
    if len(out) <= MOST_ROWS:
        return out, []
    return out[:MOST_ROWS], [f"the first {MOST_ROWS} of {len(out)} {what}; choose with {what}=[...]"]


def _size(solution: Trajectory) -> float:
    """The extent of the paths of all centres of mass, m."""
    points = np.concatenate([np.asarray(state.center_of_mass) for state in solution.states.values()])
    return float(np.linalg.norm(np.ptp(points, axis=0)))


def _first_moving(solution: Trajectory, joint: str) -> tuple[str, Any]:
    """The first body of a joint that moves, and the reaction on it."""
    sides = solution.reactions[joint]
    body = next((name for name in sides if name in solution.states), next(iter(sides)))
    return body, sides[body]


def _on(joint: str, body: str, reaction: Any, plane: Plane | None) -> str:
    if reaction.unique or (plane is not None and plane.unique(reaction).all()):
        return f"{joint}\non {body}"
    if plane is None:
        sure = unique_components(reaction, "_in_space")
    else:
        sure = [name for name, each in zip(plane.reaction_names, plane.unique(reaction), strict=True) if each]
    return f"{joint}\non {body}\n" + (f"(unique: {', '.join(sure)})" if sure else "(not unique)")


# ------------------------------------------------------------ drawing


def _draw(blocks: list[list[Row]], lone: list[Panel], marks: Sequence[float]) -> Figure:
    """Blocks of rows above each other, then the panels of the system, as many in a row as the widest block has."""
    width = max([len(panels) for block in blocks for _, panels in block] or [2 if len(lone) > 1 else 1])
    if width == 1 and len(lone) + max([len(block) for block in blocks] or [0]) > 2:
        width = 2
    cells, heights = _cells(blocks, lone, width)
    size = (max(1.35, width) * _WIDTH, sum(heights) + 0.6)
    figure = new_figure("plot", size, layout="constrained")
    grid = figure.add_gridspec(len(heights), width, height_ratios=heights)
    first: Axes | None = None
    lowest: dict[int, Axes] = {}
    for row, column, panel, name, headed in cells:
        axis = figure.add_subplot(grid[row, column], sharex=first)
        first = axis if first is None else first
        _fill(axis, panel, name, headed, marks)
        axis.tick_params(labelbottom=False)
        lowest[column] = axis
    for axis in lowest.values():
        axis.tick_params(labelbottom=True)
        axis.set_xlabel("t [s]")
    return figure


def _cells(
    blocks: list[list[Row]], lone: list[Panel], width: int
) -> tuple[list[tuple[int, int, Panel, str, bool]], list[float]]:
    """(row, column, panel, name, whether it has heading and legend) of all panels, and the heights of rows, inches.

    A block of one column is wrapped: its panels stand beside each other, too.
    """
    cells: list[tuple[int, int, Panel, str, bool]] = []
    heights: list[float] = []
    for block in map(_without_noise, blocks):
        flat = [(name, [panel]) for name, panels in block for panel in panels]
        wrap = width if all(len(panels) == 1 for _, panels in block) else 1
        row = len(heights)
        for k, (name, panels) in enumerate(flat if wrap > 1 else block):
            down, side = divmod(k, wrap)
            cells += [(row + down, side + j, panel, "" if j else name, down == 0) for j, panel in enumerate(panels)]
        count = -(-len(block) // wrap)
        heights += [(2.3 if count <= 2 else 1.7 if count <= 4 else 1.25) + 0.35 * (k == 0) for k in range(count)]
    row = len(heights)
    cells += [(row + k // width, k % width, panel, "", True) for k, panel in enumerate(lone)]
    heights += [2.2] * -(-len(lone) // width)
    return cells, heights


def _without_noise(block: list[Row]) -> list[Row]:
    """The block with limits that say so where the values of a panel are rounding beside those of the others in its
    column."""
    columns = list(zip(*(panels for _, panels in block), strict=True))
    floors = [_NOISE * max(np.abs(p.values).max(initial=0.0) for p in column) for column in columns]
    return [
        (name, [_limited(p, max(floor, p.noise)) for p, floor in zip(panels, floors, strict=True)])
        for name, panels in block
    ]


def _limited(panel: Panel, floor: float) -> Panel:
    if panel.limits is not None or panel.scale == "log" or not np.isfinite(panel.values).all():
        return panel
    low, high = float(panel.values.min()), float(panel.values.max())
    return panel if high - low >= floor else replace(panel, limits=(low - floor, high + floor))


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
    for time in marks[:_MARKS]:
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


__all__ = ["DEFAULT", "MOST_ROWS", "plot_solution"]
