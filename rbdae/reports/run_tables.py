"""Tables and facts of a run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.actuators.described import sort_of
from rbdae.plotting.plane_view import Plane, zero_floors
from rbdae.plotting.quantities import unique_components
from rbdae.problem.observables import TABLE, Observable
from rbdae.problem.problem import Problem
from rbdae.reports.blocks import NOT_REPORTED, Block, Facts, Table, Text, Value, number, table
from rbdae.reports.contract import Run

_RANGE = {
    "unit": "",
    "start": "at the first time",
    "end": "at the last time",
    "smallest": "over all times",
    "largest": "over all times",
}
_REST = (0.0, 0.0, 0.0, 0.0)
_ENTRIES = 3000
"""Rows of a table at most."""


def facts(pairs: Iterable[tuple[str, str]]) -> Facts:
    """Names and what belongs to them."""
    return Facts(tuple(pairs))


def results(run: Run) -> Facts:
    """Form, solver, and how good the run is."""
    problem = run.problem
    pairs = []
    if isinstance(problem, Problem):
        kind = {"ode": "an ODE", "dae": f"a DAE of index {problem.index}"}.get(problem.kind, "overdetermined")
        pairs += [
            ("formulation", f"{problem.formulation}: {kind}, {problem.n} unknowns"),
            ("rotation, velocity", f"{problem.rotation}, {problem.velocity}"),
        ]
        if problem.redundant:
            pairs.append(("redundant, left out", ", ".join(problem.redundant)))
    atol = f"{np.min(run.atol):.6g}" if np.ndim(run.atol) == 0 else f"{np.min(run.atol):.3g} to {np.max(run.atol):.3g}"
    pairs += [
        ("solver", run.solver),
        ("tolerances", f"rtol {number(run.rtol)}, atol {atol}"),
        ("projection", _projection(run)),
        ("code", run.stats.code or "not recorded"),
        ("seconds", f"{number(run.stats.seconds, 4)} of the processor{_wall(run)} (without making code)"),
    ]
    if isinstance(problem, Problem) and len(run.t):
        pairs += _quality(run)
    return Facts(tuple(pairs))


def _wall(run: Run) -> str:
    """Time on the wall; files of older versions have it in place of the processor's."""
    return f", {number(run.stats.wall_seconds, 4)} on the wall" if run.stats.wall_seconds > 0.0 else ""


def _projection(run: Run) -> str:
    done = f"{run.stats.projections} projections" if run.stats.projections else ""
    asked = run.options.get("projection", "" if run.options else "not recorded")
    return ", ".join(filter(None, [{"True": "every accepted step"}.get(asked, asked), done])) or "none"


def _quality(run: Run) -> Iterator[tuple[str, str]]:
    balance = balance_of(run)
    if not isinstance(balance, str):
        error, scale = _largest(np.abs(balance)), _largest(run.energy.kinetic)
        relative = f", {number(error / scale, 2)} of the largest kinetic energy" if scale > 0.0 else ""
        yield "energy", f"largest error of its balance {number(error, 3)} J{relative}"
    position, velocity = (number(_largest(values), 3) for values in (run.drift.position, run.drift.velocity))
    yield "drift", f"{position} in positions, {velocity} in velocities"
    if len(run.singular_times):
        yield "singular near t [s]", ", ".join(f"{t:.6g}" for t in run.singular_times)


def _largest(values: Vec) -> float:
    return float(np.max(values, initial=0.0))


def balance_of(run: Run) -> Vec | str:
    """The energy's balance, or why there is none."""
    try:
        balance: Vec = run.energy.balance
    except ValueError as error:  # a run without its steps cannot integrate a power
        return str(error)
    return balance


def work(run: Run) -> Table:
    """Counts, and the parts of them that say how a solver got on."""
    stats = run.stats
    counts = {
        "accepted steps": stats.steps,
        "rejected steps": stats.rejected,
        "evaluations of residual or right-hand side": stats.evaluations,
        "Jacobians": stats.jacobians,
        "factorisations": stats.factorisations,
        "projections": stats.projections,
        "restarts": stats.restarts,
    }
    rows: list[tuple[Value, ...]] = [
        (name, None if count < 0 else count, _each(count, stats.steps)) for name, count in counts.items()
    ]
    head = {"count": "", "number": f"{NOT_REPORTED}: not reported by the package", "per step": ""}
    return table("work", head, rows, 4)


def _each(count: int, steps: int) -> float | None:
    return count / steps if count >= 0 and steps > 0 else None


def states(
    run: Run, shown: Mapping[str, Observable] = TABLE, floors: Mapping[str, float] = MappingProxyType({})
) -> Table:
    """Ranges of the motion of all bodies, by the observables as they are shown; columns below the floors of their units
    are zero."""
    rows: list[tuple[Value, ...]] = []
    for body, state in run.states.items():
        for part in shown["states"].parts:
            if part.tabled:
                named = zip(part.components or ("",), part.values(state).T, strict=True)
                floor = floors.get(part.unit, 0.0)
                rows += [
                    (body, part.said, name, part.unit, *(_range(column) if _largest(np.abs(column)) > floor else _REST))
                    for name, column in named
                ]
    head = {"body": "", "quantity": "", "component": "in space; of the angular velocity in the body frame"} | _RANGE
    return table("states", head, rows[:_ENTRIES])


def _range(column: Vec) -> tuple[float, float, float, float]:
    return float(column[0]), float(column[-1]), float(column.min()), float(column.max())


def unknowns(run: Run) -> Table:
    """Ranges of the unknowns."""
    labels = run.problem.labels if run.problem is not None else [f"y[{k}]" for k in range(run.y.shape[1])]
    rows = [(label, *_range(column)) for label, column in zip(labels, run.y.T, strict=True)]
    head = {"unknown": "in the order of y"} | {name: tip for name, tip in _RANGE.items() if name != "unit"}
    return table("unknowns", head, rows[:_ENTRIES])


def reactions(run: Run, plane: Plane | None = None) -> Table:
    """The largest reactions of all joints on all their bodies; what rounding leaves is zero."""
    rows: list[tuple[Value, ...]] = []
    arm = max((_largest(np.abs(state.position)) for state in run.states.values()), default=0.0)
    floors = zero_floors(run.reactions, arm)
    for joint, of_bodies in run.reactions.items():
        for body, reaction in of_bodies.items():
            row: list[Value] = [joint, body]
            for vectors, floor in zip((reaction.force, reaction.torque), floors, strict=True):
                size = np.linalg.norm(vectors, axis=1)
                k = int(np.argmax(np.where(np.isfinite(size), size, -1.0)))
                row += [0.0, None] if size[k] <= floor else [float(size[k]), float(run.t[k])]
            rows.append((*row, _unique(reaction, plane)))
    head = {
        "joint": "",
        "on body": "",
        "force [N]": "the largest magnitude",
        "at t [s]": "when the force is largest",
        "torque [N m]": "the largest magnitude, about the joint's point on the body",
        "at t [s] ": "when the torque is largest",
        "unique": "no: redundant equations share the load; or the components that the motion determines, in the "
        "joint's frame, z along its axis, or in space if the motion is plane",
    }
    return table("reactions", head, rows[:_ENTRIES])


def _unique(reaction: Any, plane: Plane | None) -> str:
    """The components that are unique, in a word or by their names."""
    if reaction.unique:
        return "yes"
    if plane is None:
        return ", ".join(unique_components(reaction)) or "no"
    sure = zip(plane.reaction_names, plane.unique(reaction), strict=True)
    return ", ".join(name for name, each in sure if each) or "no"


def events(run: Run) -> Block | None:
    """When events occurred; None if there were none to look for."""
    if not run.events:
        return None
    names = run.options.get("events", "").split(", ")
    rows = [
        (names[k] if len(names) == len(run.events) else f"event {k + 1}", j + 1, float(t))
        for k, event in enumerate(run.events)
        for j, t in enumerate(event.t)
    ]
    if not rows:
        return Text(f"None of the {len(run.events)} events occurred.")
    return table("events", {"event": "", "occurrence": "", "t [s]": ""}, rows[:_ENTRIES], 12)


def mechanism(problem: Problem) -> Iterator[Block]:
    """Bodies, joints and forces."""
    system = problem.system
    gravity = ", ".join(f"{g:g}" for g in system.gravity)
    yield Text(f"Gravity ({gravity}) m/s\N{SUPERSCRIPT TWO}.")
    rows: list[tuple[Value, ...]] = [
        (body.name, "body", "" if body.pivot is None else "on a pivot", _body(body)) for body in system.bodies
    ]
    for joint in system.joints:
        rows.append((joint.name or "", "joint", type(joint).__name__, " and ".join(b.name for b in joint.bodies)))
    for force in system.forces:
        what, details = sort_of(force)
        rows.append((force.name or "", what, type(force).__name__, details))
    about = "mass and principal inertias, the bodies that it acts on, or what it has by name"
    head = {"name": "", "what": "", "kind": "", "details": about}
    yield table("mechanism", head, rows[:_ENTRIES])


def _body(body: Any) -> str:
    principal = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(body.inertia))
    return f"{body.mass:.4g} kg; {principal} kg m\N{SUPERSCRIPT TWO}"


__all__ = [
    "balance_of",
    "events",
    "facts",
    "mechanism",
    "reactions",
    "results",
    "states",
    "unknowns",
    "work",
]
