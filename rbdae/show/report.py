"""The page of one run: its result, the mechanism in motion, diagrams, tables, and how it was made."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.actuators.block import Block as Equations
from rbdae.actuators.block import sort_of
from rbdae.problem import observables
from rbdae.problem.observables import Part, with_unit
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity
from rbdae.show.moving import MOMENTS, moments, moving
from rbdae.show.page import (
    NOT_REPORTED,
    Block,
    Code,
    Facts,
    Figure,
    Items,
    Page,
    Section,
    Table,
    Text,
    Value,
    command,
    diagram,
    number,
    table,
    versions,
    write,
)
from rbdae.show.panels import (
    Group,
    Panel,
    View,
    balance_of,
    curves_of,
    drift,
    energy,
    group,
    groups,
    is_unique,
    moving_side,
    steps,
    unique_components,
    view,
)
from rbdae.show.plane import PlaneChoice, largest, reaction_floors
from rbdae.show.scene import chosen, scene

_BODIES = 12  # in the diagrams, if none are chosen, and joints: more curves cannot be told apart
_ENTRIES = 3000  # rows of a table at most
_MARKS = 60  # dotted lines: more are a wall
_MOTION = ("value", "rate", "acceleration")
_RANGE = {"start": "at the first time", "end": "at the last time", "smallest": "over all times", "largest": ""}


def report_run(
    run: Any,
    target: Path,
    packages: Mapping[str, str],
    bodies: Iterable[str] | None = None,
    title: str | None = None,
    plane: PlaneChoice = None,
    over: Quantity | str | None = None,
) -> Path:
    """Write the report of a run.

    Parameters
    ----------
    run : a `rbdae.Solution`
    target : the file, from `check_report`
    packages : versions of solver packages by their names
    bodies : names of those that the diagrams show; None for all, or twelve of them if there are more
    title : of the page; None for form and solver
    plane, over : as `rbdae.show.plot_solution` takes them

    Raises
    ------
    TypeError, ValueError
        for bodies that there are not, for what is no quantity, and for a title that is no text or empty
    """
    if title is not None and not isinstance(title, str):
        raise TypeError(f"report: title must be a string, got {_check.show(title)}; pass e.g. 'Slider crank'")
    if title is not None and not title.strip():
        raise ValueError("report: title must not be empty; pass e.g. 'Slider crank', or leave it out")
    known = isinstance(run.problem, Problem)
    names = _bodies(run.problem, bodies) if known else ()
    run, warnings = _finite(run)
    shown = view(run, plane if known or plane else False, over, "report", whole=True)
    sections: list[Section] = []
    if known and len(run.t):
        sections += _of_mechanism(shown, names, warnings)
    elif len(run.t):
        sections.append(Section("Unknowns", tuple(_unknowns(run))))
    sections.append(Section("Steps", (_steps(shown), _work(run))))
    if run.events:
        sections.append(Section("Events", (_events(run),)))
    if known:
        sections.append(Section("Mechanism", tuple(_mechanism(run.problem))))
    sections.append(Section("How it was made", tuple(_made(run, packages))))
    summary: list[Block] = [Text(f"{run.message}.", "plain" if run.success else "failure")]
    summary += [Items(tuple(warnings), "warning")] if warnings else []
    sections.insert(0, Section("Summary", (*summary, Facts(tuple(_results(run))))))
    return write(_page(run, sections, title), target)


def _bodies(problem: Problem, bodies: Iterable[str] | None) -> tuple[str, ...]:
    every = [body.name for body in chosen(problem.system, bodies)]
    if bodies is not None or len(every) <= _BODIES:
        return tuple(every)
    return tuple(every[k] for k in np.linspace(0, len(every) - 1, _BODIES).round().astype(int))


def _finite(run: Any) -> tuple[Any, list[str]]:
    """The rows in which all unknowns are finite, and what is to be said of the others."""
    good = np.isfinite(run.y).all(axis=1)
    if (kept := run.steps) is not None:
        fine = np.isfinite(kept.y).all(axis=1)
        run = run if fine.all() else replace(run, steps=replace(kept, t=kept.t[fine], y=kept.y[fine]))
    if good.all():
        return run, []
    said = (
        f"{int((~good).sum())} of {len(run.t)} rows have unknowns that are not finite, the first at "
        f"t = {run.t[~good][0]:.6g} s: tables and diagrams leave them out."
    )
    return replace(run, t=run.t[good], y=run.y[good]), [said]


def _page(run: Any, sections: Sequence[Section], title: str | None) -> Page:
    under = f"{len(run.t)} times"
    if len(run.t):
        under += f", t = {run.t[0]:g} to {run.t[-1]:g} s"
    if isinstance(run.problem, Problem):
        names = [body.name for body in run.problem.system.bodies]
        under = f"{len(names)} {'body' if len(names) == 1 else 'bodies'} ({_listed(names)}); {under}"
    form = f"{getattr(run.problem, 'formulation', 'a run')} by {run.solver}"
    verdict = "reached its end" if run.success else "did not reach its end"
    under = under if title is None else f"{form}; {under}"
    return Page(title or form, under, verdict, "good" if run.success else "failure", tuple(sections))


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _of_mechanism(shown: View, names: tuple[str, ...], warnings: list[str]) -> Iterator[Section]:
    """The sections that only a problem of rbdae can give, because it knows its unknowns."""
    run, smooth = shown.run, shown.smooth
    sizes = {joint: largest(of[moving_side(smooth, joint)].force) for joint, of in smooth.reactions.items()}
    most = sorted(sizes, key=lambda joint: sizes[joint], reverse=True)[:_BODIES]
    joints = tuple(joint for joint in sizes if joint in most)
    yield Section("Animation", (_motion(shown),))
    yield Section("Motion", tuple(_over_time(shown, names)))
    titles = Text("Bodies", "heading"), Text("Unknowns, as the solver has them at the times of the run", "heading")
    yield Section("States", (titles[0], _states(shown), titles[1], _table_of_unknowns(run)))
    yield Section("Energy", tuple(_energy(shown)))
    yield Section("Drift", (_drift(shown),))
    if figures := tuple(_named(shown)):
        yield Section("Joints and forces", figures)
    if observables.further(run.problem):
        yield Section("Observables", tuple(_further(shown, names, joints)))
    found = run.reactions
    if found:
        flat = shown.plane_of_reactions
        loose = [joint for joint, of in found.items() if not all(is_unique(each, flat) for each in of.values())]
        if loose:
            warnings.append(
                f"The reactions of {_listed(loose)} are not unique: redundant joint equations share the load. Those of "
                "least norm are shown; the table says which of their components are unique."
            )
        wild = [j for j, of in found.items() if not all(np.isfinite([r.force, r.torque]).all() for r in of.values())]
        if wild:
            warnings.append(
                f"The reactions of {_listed(wild)} are not finite at some times: the joints are singular there."
            )
        yield Section("Reactions", tuple(_reactions(shown, joints)))


# ---------------------------------------------------------------- diagrams


def _motion(shown: View) -> Figure:
    run, times = shown.run, shown.run.t
    ends = times if run.steps is None else run.steps.t
    if len(ends) and len(times) > 1:
        times = np.linspace(ends[0], ends[-1], MOMENTS)
    drawn = scene(run, moments(scene(run, times[:1]), times))
    if shown.every:
        drawn = replace(drawn, plane=None)
    hint = "in its plane; drag to move" if drawn.plane is not None else "drag to turn"
    caption = (
        f"{len(drawn.t)} moments, {hint}, scroll to zoom, click in the legend to hide. Bodies are lines "
        "between the points where joints and forces act on them, or boxes with their inertia."
    )
    return moving("motion", drawn, caption)


def _over_time(shown: View, names: tuple[str, ...]) -> Iterator[Block]:
    """Positions, orientations, velocities and angular velocities, a panel for each component."""
    every, run = shown.smooth.states, shown.run
    if len(names) < len(every):
        yield Text(f"{len(names)} of {len(every)} bodies are drawn; report(path, bodies=[...]) draws those you choose.")
    if shown.plane is not None:
        yield Text(shown.plane.said)
    said = " One colour a body; a click in the legend hides it, a double click shows it alone. " + (
        f"The run has {len(run.t)} times; between its steps the curves are solution(t)."
        if shown.smooth is not run
        else "Curves with many points keep all their extremes."
    )
    left: list[str] = []
    for part in shown.table["states"].parts:
        if part.anchor:
            panels, zero = groups(shown, part.name, names)[0].by_component(every=shown.every)
            left += zero
            if panels:
                yield diagram(part.anchor, panels, shown.over, f"{part.caption}{said}")
                said = ""
    yield from _zero(left)


def _zero(labels: Sequence[str], because: str = "errors of the run") -> list[Block]:
    """A sentence on panels that are left out; none for nothing."""
    return [Text(f"Zero at all times, but for {because}: {', '.join(labels)}.")] if labels else []


def _energy(shown: View) -> Iterator[Block]:
    if isinstance(unknown := balance_of(shown.run), str):
        yield Text(f"The work of what has no potential is not known, and with it the balance: {unknown}.", "warning")
    caption = (
        "Work is that of drives, motors, dampers and loads since the first time. The balance is the change of the "
        "total energy minus this work: zero in the exact motion."
    )
    yield diagram("energy", energy(shown), shown.over, caption)


def _drift(shown: View) -> Block:
    panels = drift(shown)
    values = np.array([curve.y for curve in panels[0].curves])
    if not (values > 0.0).any():
        return Text("No constraint is violated at any time, not even by rounding.")
    caption = "Largest violation of the constraints on positions and on velocities, in their own units."
    return diagram("drift", panels, caption=caption + (" Zeros are left out." if (values == 0.0).any() else ""))


def _named(shown: View) -> list[Block]:
    """Angles, displacements and lengths with their rates, torques, forces and powers: a figure for each sort, a curve
    for each joint or force that has it, and a figure for each block. Left out are zeros, accelerations, which tables
    have, and coordinates of a joint under the name of a force."""
    figures: list[Block] = []
    smooth, forces = shown.smooth, {each.name: each for each in shown.run.problem.system.forces}
    blocks = [name for name, each in forces.items() if isinstance(each, Equations) and each.coordinate is None]
    for kind in ("joints", "forces"):
        owners = getattr(shown.run.problem.interpretation.owners, kind)
        sorts: dict[tuple[str, str, str], dict[str, Any]] = {}
        for name, each in getattr(smooth, kind).items():
            for quantity, (unit, components) in each.units.items():
                twice = kind == "forces" and _of_a_joint(forces[name], owners[name].quantities[quantity])
                if name not in blocks and not unit.endswith("/s^2") and (shown.every or not twice):
                    sorts.setdefault((quantity, unit, components), {})[name] = each
        taken: set[str] = set()
        for (name, unit, components), of in sorts.items():
            part, floor = Part(name, unit, components), shown.floors.get(unit, 0.0) if kind == "joints" else 0.0
            alive = {owner: each for owner, each in of.items() if largest(part.values(each)) > floor}
            some = dict(list(alive.items())[:_BODIES])
            if some:
                anchor = f"{kind}-{name.replace('_', '-')}"
                if anchor in taken:  # the same name with another unit
                    anchor += "-" + re.sub("[^a-z]+", "-", unit.lower()).strip("-")
                taken.add(anchor)
                panels, _ = group(part, smooth.t, some, floor).by_component(every=shown.every)
                said = f"{len(some)} of {len(alive)}." if len(some) < len(alive) else ""
                figures.append(diagram(anchor, panels, shown.over, said))
    for k, name in enumerate(blocks[:_BODIES], 1):  # a panel for each unit, a curve for each quantity
        units: dict[str, dict[str, Vec]] = {}
        for quantity, (unit, _) in smooth.forces[name].units.items():
            values = np.asarray(getattr(smooth.forces[name], quantity))
            if shown.every or largest(values) > 0.0:
                units.setdefault(unit, {})[quantity] = values
        panels = [Panel(with_unit(name, unit), curves_of(smooth.t, of)) for unit, of in units.items()]
        figures += [diagram(f"block-{k}", panels, shown.over)] if panels else []
    what = "joint, force or actuator; blocks have figures of their own" if blocks else "joint or force"
    said = f"A curve for each {what}. What is zero at all times is left out."
    return [Text(said), *figures] if figures else []


def _of_a_joint(force: Any, quantity: Quantity) -> bool:
    """Whether a quantity of a force is a coordinate of its joint, or the rate of one."""
    joint = getattr(force, "along" if isinstance(force, Equations) else "joint", None)
    return quantity.aspect in _MOTION and hasattr(joint, "primitives")


def _further(shown: View, names: tuple[str, ...], joints: tuple[str, ...]) -> Iterator[Block]:
    """Observables that have their functions in the table, a figure for each."""
    left: list[str] = []
    for each in observables.further(shown.run.problem):
        (found,) = groups(shown, each.name, names if each.owner == "bodies" else joints)
        panels, zero = _on_bodies(shown, found, each.owner).by_component(every=shown.every)
        left += zero
        if panels:
            yield diagram(each.name.replace("_", "-"), panels, shown.over, each.note)
    yield from _zero(left)


def _reactions(shown: View, joints: tuple[str, ...]) -> Iterator[Block]:
    """Components of force and torque, a colour for each joint, and their largest values in a table."""
    many, left = len(shown.smooth.reactions), list[str]()
    some = f" {len(joints)} of {many} joints, those with the largest forces." if len(joints) < many else ""
    for found in groups(shown, "reactions", joints):
        part = found.part
        where = "" if part.name == "force" else ", about the joint's point on it"
        caption = f"Reaction {part.name}s of the joints on the body that is named{where}, in space.{some}"
        panels, zero = _on_bodies(shown, found, "joints").by_component(every=shown.every)
        left += [f"reaction {label}" for label in zero]
        if panels:
            yield diagram(part.anchor, panels, shown.over, caption + _shared(shown, part.name, joints))
    yield from _zero(left, "rounding")
    yield _table_of_reactions(shown)


def _shared(shown: View, what: str, joints: tuple[str, ...]) -> str:
    """A sentence on the components in space that are not unique."""
    parts = []
    for joint in joints:
        reaction = shown.smooth.reactions[joint][moving_side(shown.smooth, joint)]
        if not is_unique(reaction, shown.plane_of_reactions):
            sure = getattr(reaction, f"unique_{what}_in_space")
            loose = [axis for axis, each in zip("xyz", sure, strict=True) if not each]
            parts += [f"{', '.join(loose)} of {joint}"] if loose else []
    return f" Not unique, of least norm: {'; '.join(parts)}." if parts else ""


def _on_bodies(shown: View, found: Group, owner: str) -> Group:
    """The group with the names of joints and bodies."""
    if owner != "joints":
        return found
    return replace(found, values={f"{j} on {moving_side(shown.smooth, j)}": y for j, y in found.values.items()})


def _steps(shown: View) -> Block:
    (panel,) = steps(shown)
    count = len(panel.curves[0].t)
    if not count:
        return Text("This run kept no two steps whose distance could be shown.")
    times = () if shown.run.segments is None else tuple(map(float, shown.run.segments.times))
    said = f"{count} accepted steps, each at its end."
    if times:
        said += f" The run continued {len(times)} times with other unknowns, equations or held inputs."
    panel = replace(panel, marks=times if len(times) <= _MARKS else ())
    return diagram("step-sizes", [panel], legend=False, caption=said)


def _unknowns(run: Any) -> Iterator[Block]:
    """The unknowns of a run that cannot say what they mean."""
    if run.problem is None:
        yield Text(
            "This solution was loaded without its problem, so its unknowns have no names, and there are no bodies to "
            "show: rbdae.load(path, problem) gives it its problem.",
            "warning",
        )
    else:
        yield Text("The problem is not of rbdae's own: its unknowns are all that can be shown.")
    columns = dict(zip(_labels(run)[:40], run.y.T, strict=False))
    yield diagram("unknowns-over-time", [Panel("unknown", curves_of(run.t, columns, shown=10))])
    yield _table_of_unknowns(run)


# ---------------------------------------------------------------- tables and facts


def _results(run: Any) -> Iterator[tuple[str, str]]:
    """Form, solver, and how good the run is."""
    problem, stats = run.problem, run.stats
    if isinstance(problem, Problem):
        kind = {"ode": "an ODE", "dae": f"a DAE of index {problem.index}"}.get(problem.kind, "overdetermined")
        yield "formulation", f"{problem.formulation}: {kind}, {problem.n} unknowns"
        yield "rotation, velocity", f"{problem.rotation}, {problem.velocity}"
        if problem.redundant:
            yield "redundant, left out", ", ".join(problem.redundant)
    atol = f"{np.min(run.atol):.6g}" if np.ndim(run.atol) == 0 else f"{np.min(run.atol):.3g} to {np.max(run.atol):.3g}"
    yield "solver", run.solver
    yield "tolerances", f"rtol {number(run.rtol)}, atol {atol}"
    asked = run.options.get("projection", "" if run.options else "not recorded")
    done = f"{stats.projections} projections" if stats.projections else ""
    parts = filter(None, [{"True": "every accepted step"}.get(asked, asked), done])
    yield "projection", ", ".join(parts) or "none"
    yield "code", stats.code or "not recorded"
    wall = f", {number(stats.wall_seconds, 4)} on the wall" if stats.wall_seconds > 0.0 else ""
    yield "seconds", f"{number(stats.seconds, 4)} of the processor{wall} (without making code)"
    if isinstance(problem, Problem) and len(run.t):
        balance = balance_of(run)
        if not isinstance(balance, str):
            error, scale = _top(np.abs(balance)), _top(run.energy.kinetic)
            relative = f", {number(error / scale, 2)} of the largest kinetic energy" if scale > 0.0 else ""
            yield "energy", f"largest error of its balance {number(error, 3)} J{relative}"
        position, velocity = (number(_top(values), 3) for values in (run.drift.position, run.drift.velocity))
        yield "drift", f"{position} in positions, {velocity} in velocities"
        if len(run.singular_times):
            yield "singular near t [s]", ", ".join(f"{t:.6g}" for t in run.singular_times)


def _top(values: Vec) -> float:
    return float(np.max(values, initial=0.0))


def _work(run: Any) -> Table:
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
        (name, *((None, None) if count < 0 else (count, count / stats.steps if stats.steps > 0 else None)))
        for name, count in counts.items()
    ]
    head = {"count": "", "number": f"{NOT_REPORTED}: not reported by the package", "per step": ""}
    return table("work", head, rows, 4)


def _states(shown: View) -> Table:
    """Ranges of the motion of all bodies at the times of smooth curves; columns below the floors are zero."""
    rows: list[tuple[Value, ...]] = []
    for body, state in shown.smooth.states.items():
        for part in shown.table["states"].parts:
            floor = shown.floors.get(part.unit, 0.0)
            columns = zip(part.components or ("",), part.values(state).T, strict=True) if part.tabled else ()
            for name, column in columns:
                ends = _ends(column) if _top(np.abs(column)) > floor else (0.0,) * 4
                rows.append((body, part.said, name, part.unit, *ends))
    where = "in space; of the angular velocity in the body frame"
    return table("states", {"body": "", "quantity": "", "component": where, "unit": ""} | _RANGE, rows[:_ENTRIES])


def _ends(column: Vec) -> tuple[float, float, float, float]:
    return float(column[0]), float(column[-1]), float(column.min()), float(column.max())


def _labels(run: Any) -> Sequence[str]:
    return run.problem.labels if run.problem is not None else [f"y[{k}]" for k in range(run.y.shape[1])]


def _table_of_unknowns(run: Any) -> Table:
    rows = [(label, *_ends(column)) for label, column in zip(_labels(run), run.y.T, strict=True)]
    return table("unknowns", {"unknown": "in the order of y"} | _RANGE, rows[:_ENTRIES])


def _table_of_reactions(shown: View) -> Table:
    """The largest reactions of all joints on all their bodies; rounding is zero."""
    run, plane, rows = shown.smooth, shown.plane_of_reactions, list[tuple[Value, ...]]()
    floors = reaction_floors(run.reactions, shown.size)
    for joint, of_bodies in run.reactions.items():
        for body, reaction in of_bodies.items():
            row: list[Value] = [joint, body]
            for vectors, floor in zip((reaction.force, reaction.torque), floors, strict=True):
                size = np.linalg.norm(vectors, axis=1)
                k = int(np.argmax(np.where(np.isfinite(size), size, -1.0)))
                row += [0.0, None] if size[k] <= floor else [float(size[k]), float(run.t[k])]
            sure = ", ".join(unique_components(reaction, plane)) or "no"
            rows.append((*row, "yes" if reaction.unique else sure))
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


def _events(run: Any) -> Block:
    """When events occurred."""
    names = run.options.get("events", "").split(", ")
    if len(names) != len(run.events):
        names = [f"event {k + 1}" for k in range(len(run.events))]
    rows = [
        (name, j + 1, float(t)) for name, event in zip(names, run.events, strict=True) for j, t in enumerate(event.t)
    ]
    if not rows:
        return Text(f"None of the {len(run.events)} events occurred.")
    return table("events", {"event": "", "occurrence": "", "t [s]": ""}, rows[:_ENTRIES], 12)


def _mechanism(problem: Problem) -> Iterator[Block]:
    """Bodies, joints and forces."""
    system, rows = problem.system, list[tuple[Value, ...]]()
    squared = "\N{SUPERSCRIPT TWO}"
    yield Text(f"Gravity ({', '.join(f'{g:g}' for g in system.gravity)}) m/s{squared}.")
    for body in system.bodies:
        principal = ", ".join(f"{value:.4g}" for value in np.linalg.eigvalsh(body.inertia))
        pivot = "" if body.pivot is None else "on a pivot"
        rows.append((body.name, "body", pivot, f"{body.mass:.4g} kg; {principal} kg m{squared}"))
    for joint in system.joints:
        rows.append((joint.name or "", "joint", type(joint).__name__, " and ".join(b.name for b in joint.bodies)))
    for force in system.forces:
        what, details = sort_of(force)
        rows.append((force.name or "", what, type(force).__name__, details))
    about = "mass and principal inertias, the bodies that it acts on, or what it has by name"
    yield table("mechanism", {"name": "", "what": "", "kind": "", "details": about}, rows[:_ENTRIES])


def _made(run: Any, packages: Mapping[str, str]) -> Iterator[Block]:
    yield Code(_call(run))
    if command():
        yield Text("The report was written by")
        yield Code(command())
    yield Facts(versions(packages))
    yield Text("Versions are those at the time of the report.")


def _call(run: Any) -> str:
    """The call that makes this run again, as far as it is known."""
    problem, out = run.problem, []
    if isinstance(problem, Problem):
        more = ', redundant="minimum-norm"' if problem.redundant else ""
        start = f", t0={problem.t0!r}" if problem.t0 else ""
        form = problem.workspace.settings.formulation
        named = f'"{form.name}"' if str(form) == form.name else repr(form)
        out.append(
            f'problem = rbdae.formulate(system, {named}, rotation="{problem.rotation}", '
            f'velocity="{problem.velocity}"{more}{start})'
        )
    options = dict(run.options)
    span = options.pop("t_span", "t_span")
    atol = f"{run.atol!r}" if np.ndim(run.atol) == 0 else "atol"
    given = [f'solver="{run.solver}"', f"rtol={run.rtol!r}", f"atol={atol}"]
    given += [f"{name}={value}" for name, value in options.items() if name not in ("t_eval", "events")]
    out.append(f"solution = rbdae.solve(problem, {span}, {', '.join(given)})")
    if np.ndim(run.atol):
        out.append(f"# atol is one for each unknown, {np.min(run.atol):.3g} to {np.max(run.atol):.3g}")
    out += [f"# {name}: {options[name]}" for name in ("t_eval", "events") if name in options]
    return "\n".join(out)
