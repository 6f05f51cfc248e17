"""Pictures of trajectories over time. Matplotlib is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from rbdae.plotting import choices
from rbdae.plotting.abscissa import abscissa
from rbdae.plotting.figures import need_matplotlib, plain
from rbdae.plotting.grid import MARKS, Row, draw
from rbdae.plotting.plane_view import Plane, PlaneChoice, plane_of
from rbdae.plotting.quantities import (
    Trajectory,
    drawn,
    named_rows,
    of_joint,
    of_system,
    quantities,
    unique_components,
)
from rbdae.problem.observables import TABLE, Observable, Part
from rbdae.quantities.quantity import Quantity

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DEFAULT = ("center_of_mass", "orientation", "energy", "drift", "steps")
MOST_ROWS = 12
"""Bodies or joints that are drawn where none are chosen."""


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
    over: Quantity | str | None = None,
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
    over : the horizontal axis in place of the time: a quantity with one component, such as ``crank.angle`` or its label

    Returns
    -------
    Figure
        Without a window: it has `savefig`, and a notebook shows it.

    Raises
    ------
    ImportError
        without matplotlib
    ValueError, TypeError
        for unknown names, for a run without a time, for a plane that the motion leaves, and where the run has nothing
        of what is to be drawn
    """
    need_matplotlib("plot")
    wanted = _chosen_quantities(quantities, joints)
    heading = plain(solution.solver) if title is None else choices.heading("title", title)
    if not len(solution.t):
        raise ValueError("plot: this run has no times, so there is nothing to draw; its message says why it ended")
    at = abscissa(solution, over, "plot")
    smooth = solution if between is None else between
    flat = plane_of(solution, plane, "plot")
    rows, left_out = _rows(smooth, wanted, bodies, joints, solution, flat, every=quantities is not None)
    system = _of("system", wanted, TABLE if flat is None else flat.table(smooth.t))
    lone = [p for name, (_, parts) in system.items() for p in of_system(solution, smooth, name, parts)]
    if not rows and not lone:
        raise ValueError(
            f"plot: this run has no {' and no '.join(wanted)}, so there is nothing to draw; choose other quantities"
        )
    figure = draw(rows, lone, at.at(np.asarray(marks, dtype=float)).tolist() if len(marks) else [], at)
    lines = [heading, *([] if flat is None else [flat.said]), *left_out]
    if marks:
        lines.append("dotted: events" if len(marks) <= MARKS else f"dotted: the first {MARKS} of {len(marks)} events")
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
    *,
    every: bool,
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
            rows = [(name, [p for t, of, parts in read for p in drawn(parts, t, of[name])]) for name in names]
            rows, absent = (rows, []) if every else _without_zeros(rows)
            blocks.append(rows)
            notes += [*note, *absent]
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


def _without_zeros(rows: list[Row]) -> tuple[list[Row], list[str]]:
    """The rows without columns that are zero in all of them, and a sentence on these."""
    columns = list(zip(*(panels for _, panels in rows), strict=True))
    full = [any(np.any(panel.values) for panel in column) for column in columns]
    if all(full) or not any(full):
        return rows, []
    absent = [column[0].heading for column, there in zip(columns, full, strict=True) if not there]
    kept = [(name, [p for p, there in zip(panels, full, strict=True) if there]) for name, panels in rows]
    return kept, [f"Zero at all times: {', '.join(absent)}."]


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


__all__ = ["DEFAULT", "MOST_ROWS", "plot_solution"]
