"""The page of one run: result, moving mechanism, diagrams, tables and provenance."""

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
from rbdae.problem import observables
from rbdae.problem.observables import Part, with_unit
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity
from rbdae.show.moving import MOMENTS, moving
from rbdae.show.page import (
    Block,
    Facts,
    Figure,
    Page,
    Section,
    Table,
    Text,
    Value,
    command,
    diagram,
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
    largest,
    moving_side,
    steps,
    unique_components,
    view,
)
from rbdae.show.scene import chosen, scene

_BODIES = 12  # bodies, or joints, in the diagrams by default: more curves cannot be distinguished
_ENTRIES = 3000  # most rows of a table
_MOTION = ("value", "rate", "acceleration")
_RANGE = {"start": "at the first time", "end": "at the last time", "smallest": "over all times", "largest": ""}


def report_run(
    run: Any,
    target: Path,
    packages: Mapping[str, str],
    bodies: Iterable[str] | None = None,
    title: str | None = None,
) -> Path:
    """Write the report of a run with the versions of solver packages by name; see `Solution.report`. Raises TypeError
    and ValueError for a run without a problem of rbdae, and unknown bodies."""
    if not isinstance(run.problem, Problem):
        raise ValueError(
            f"report: the problem of this run is {_check.show(run.problem)}, without bodies; load the run with its "
            "problem, rbdae.load(path, problem), or plot run.y over run.t"
        )
    names = tuple(body.name for body in chosen(run.problem.system, bodies))
    if bodies is None and len(names) > _BODIES:
        names = tuple(names[k] for k in np.linspace(0, len(names) - 1, _BODIES).round().astype(int))
    shown, warnings = view(run, whole=True), list[str]()
    sections: list[Section] = []
    if len(run.t):
        sections += _of_mechanism(shown, names, warnings)
    sections.append(Section("Steps", (_steps(shown),)))
    if run.events:
        sections.append(Section("Events", (_events(run),)))
    sections.append(Section("Mechanism", (Text(run.problem.system._repr_html_(), "html"),)))
    provenance: list[Block] = [Text("The report was written by"), Text(command(), "code")] if command() else []
    sections.append(Section("How it was made", (*provenance, Facts(tuple(versions(packages).items())))))
    summary: list[Block] = [Text(f"{run.message}.", "plain" if run.success else "failure")]
    summary += [Text(each, "warning") for each in warnings]
    sections.insert(0, Section("Summary", (*summary, Facts(tuple(facts(run))))))
    under = f"{len(run.t)} times" + (f", t = {run.t[0]:g} to {run.t[-1]:g} s" if len(run.t) else "")
    every = [body.name for body in run.problem.system.bodies]
    under = f"{len(every)} {'body' if len(every) == 1 else 'bodies'} ({_listed(every)}); {under}"
    form = f"{run.problem.formulation} by {run.solver}"
    verdict = "reached its end" if run.success else "did not reach its end"
    under = under if title is None else f"{form}; {under}"
    return write(Page(title or form, under, verdict, "good" if run.success else "failure", tuple(sections)), target)


def facts(run: Any) -> list[tuple[str, str]]:
    """Facts about a run by name, for pages, notebooks and the command line."""
    problem, stats = run.problem, run.stats
    out = [("result", run.message)]
    if isinstance(problem, Problem):
        kind = {"ode": "an ODE", "dae": f"a DAE of index {problem.index}"}.get(problem.kind, "overdetermined")
        form = f"{problem.formulation}, {problem.rotation}, {problem.velocity}: {problem.n} unknowns, {kind}"
        out.append(("form", form))
        if problem.redundant:
            out.append(("left out", f"redundant: {', '.join(problem.redundant)}"))
    atol = f"{run.atol:g}" if np.ndim(run.atol) == 0 else f"{np.min(run.atol):.3g} to {np.max(run.atol):.3g}"
    out.append(("solver", f"{run.solver}, rtol = {run.rtol:g}, atol = {atol}"))
    if len(run.t):
        out.append(("times", f"{len(run.t)} from {run.t[0]:g} to {run.t[-1]:g} s"))
    if run.options:
        out.append(("options", ", ".join(f"{name}={value}" for name, value in run.options.items())))
    if isinstance(problem, Problem) and len(run.t):
        balance = balance_of(run)
        error_of_balance = (
            "" if isinstance(balance, str) else f", largest error of its balance {np.max(np.abs(balance)):.2e} J"
        )
        out.append(("energy", f"{run.energy.total[-1]:.9g} J at the end{error_of_balance}"))
        position, velocity = (np.max(values) for values in (run.drift.position, run.drift.velocity))
        out.append(("drift", f"{position:.2e} in positions, {velocity:.2e} in velocities"))
        if len(run.singular_times):
            out.append(("singular near", ", ".join(f"t = {t:.6g} s" for t in run.singular_times)))
    names = ("steps", "rejected", "evaluations", "jacobians", "factorisations", "projections", "restarts")
    counts = ", ".join(f"{getattr(stats, name)} {name}" for name in names if getattr(stats, name) >= 0)
    return [*out, ("work", f"{counts}, {stats.seconds:.3f} s of the processor; code {stats.code or 'not recorded'}")]


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _of_mechanism(shown: View, names: tuple[str, ...], warnings: list[str]) -> Iterator[Section]:
    """The sections of a run that has times."""
    run, smooth = shown.run, shown.smooth
    sizes = {joint: largest(of[moving_side(smooth, joint)].force) for joint, of in smooth.reactions.items()}
    most = sorted(sizes, key=lambda joint: sizes[joint], reverse=True)[:_BODIES]
    joints = tuple(joint for joint in sizes if joint in most)
    yield Section("Animation", (_motion(shown),))
    yield Section("Motion", tuple(_over_time(shown, names)))
    yield Section("States", (_states(shown),))
    yield Section("Energy", tuple(_energy(shown)))
    yield Section("Drift", (_drift(shown),))
    if figures := tuple(_named(shown)):
        yield Section("Joints and forces", figures)
    if observables.further():
        yield Section("Observables", tuple(_further(shown, names, joints)))
    if reactions := run.reactions:
        loose = [joint for joint, of in reactions.items() if not all(each.unique for each in of.values())]
        if loose:
            warnings.append(
                f"The reactions of {_listed(loose)} are not unique: redundant joint equations share the load. Those "
                "with least norm are shown; the table says which of their components are unique."
            )
        if not all(np.isfinite([r.force, r.torque]).all() for of in reactions.values() for r in of.values()):
            warnings.append("Some reactions are not finite at some times: joints are singular there.")
        yield Section("Reactions", tuple(_reactions(shown, joints)))


# ---------------------------------------------------------------- diagrams


def _motion(shown: View) -> Figure:
    run, times = shown.run, shown.run.t
    ends = times if run.steps is None else run.steps.t
    if len(ends) and len(times) > 1:
        times = np.linspace(ends[0], ends[-1], MOMENTS)
    drawn = scene(run, times[np.unique(np.linspace(0, len(times) - 1, MOMENTS).astype(int))])
    caption = (
        f"{len(drawn.t)} moments. Bodies are drawn as lines between the points where joints and forces act, or as "
        "boxes with their inertia."
    )
    return moving("motion", drawn, caption)


def _over_time(shown: View, names: tuple[str, ...]) -> Iterator[Block]:
    """Figures of positions, orientations, velocities and angular velocities, a panel for each component."""
    every = shown.smooth.states
    if len(names) < len(every):
        yield Text(f"{len(names)} of {len(every)} bodies are drawn; report(path, bodies=[...]) chooses others.")
    yield Text("One colour for each body; a click in the legend hides it, a double click shows only it.")
    parts = [part for part in observables.STATES.parts if part.anchor]
    yield from _by_component((part.anchor, part.caption, groups(shown, part.name, names)[0]) for part in parts)


def _by_component(figures: Iterable[tuple[str, str, Group]], before: str = "") -> Iterator[Block]:
    """A figure for each (name, caption, quantity), and a sentence about omitted panels."""
    left: list[str] = []
    for anchor, caption, of in figures:
        panels, zero = of.by_component()
        left += [f"{before}{label}" for label in zero]
        if panels:
            yield diagram(anchor, panels, caption)
    if left:
        yield Text(f"Zero at all times, up to rounding: {', '.join(left)}.")


def _energy(shown: View) -> Iterator[Block]:
    if isinstance(unknown := balance_of(shown.run), str):
        yield Text(
            f"The work of forces without a potential, and with it the balance, is not known: {unknown}.", "warning"
        )
    caption = (
        "Work is done by drives, motors, dampers and loads since the first time. The balance is the change of the "
        "total energy minus this work: zero in the exact motion."
    )
    yield diagram("energy", energy(shown), caption)


def _drift(shown: View) -> Block:
    panels = drift(shown)
    if not any((curve.y > 0.0).any() for curve in panels[0].curves):
        return Text("No constraint is violated at any time, not even by rounding.")
    return diagram("drift", panels, caption="Largest violation of the constraints, in their own units, without zeros.")


def _named(shown: View) -> list[Block]:
    """Figures of angles, displacements and lengths with their rates, torques, forces and powers: one for each kind,
    with a curve for each joint or force, and one for each block. Zeros, accelerations (tables have them) and a joint's
    coordinates under the name of a force are omitted."""
    figures: list[Block] = []
    smooth, forces = shown.smooth, {each.name: each for each in shown.run.problem.system.forces}
    blocks = [name for name, each in forces.items() if isinstance(each, Equations) and each.coordinate is None]
    for kind in ("joints", "forces"):
        owners = getattr(shown.run.problem.interpretation.owners, kind)
        sorts: dict[tuple[str, str, str], dict[str, Any]] = {}
        for name, each in getattr(smooth, kind).items():
            for quantity, (unit, components) in each.units.items():
                twice = kind == "forces" and _of_a_joint(forces[name], owners[name].quantities[quantity])
                if name not in blocks and not unit.endswith("/s^2") and not twice:
                    sorts.setdefault((quantity, unit, components), {})[name] = each
        anchors: set[str] = set()
        for (name, unit, components), of in sorts.items():
            part = Part(name, unit, components)
            some = dict([(owner, each) for owner, each in of.items() if largest(part.values(each)) > 0.0][:_BODIES])
            if some:
                anchor = f"{kind}-{name.replace('_', '-')}"
                if anchor in anchors:  # the same name with another unit
                    anchor += "-" + re.sub("[^a-z]+", "-", unit.lower()).strip("-")
                anchors.add(anchor)
                panels, _ = group(part, smooth.t, some).by_component()
                figures.append(diagram(anchor, panels))
    for k, name in enumerate(blocks[:_BODIES], 1):  # a panel for each unit, a curve for each quantity
        units: dict[str, dict[str, Vec]] = {}
        for quantity, (unit, _) in smooth.forces[name].units.items():
            values = np.asarray(getattr(smooth.forces[name], quantity))
            if largest(values) > 0.0:
                units.setdefault(unit, {})[quantity] = values
        panels = [Panel(with_unit(name, unit), curves_of(smooth.t, of)) for unit, of in units.items()]
        figures += [diagram(f"block-{k}", panels)] if panels else []
    said = "A curve for each joint, force or actuator; blocks have their own figures. Zeros are left out."
    return [Text(said), *figures] if figures else []


def _of_a_joint(force: Any, quantity: Quantity) -> bool:
    """Whether a force's quantity is a coordinate of its joint or its rate."""
    joint = getattr(force, "along" if isinstance(force, Equations) else "joint", None)
    return quantity.aspect in _MOTION and hasattr(joint, "primitives")


def _further(shown: View, names: tuple[str, ...], joints: tuple[str, ...]) -> Iterator[Block]:
    return _by_component(
        (each.name.replace("_", "-"), each.note, _on_bodies(shown, of, each.owner))
        for each in observables.further()
        for of in groups(shown, each.name, names if each.owner == "bodies" else joints)
    )


def _reactions(shown: View, joints: tuple[str, ...]) -> Iterator[Block]:
    """Figures of reaction components, a colour for each joint, and a table of their largest values."""
    many = len(shown.smooth.reactions)
    some = f" {len(joints)} of {many} joints, those with the largest forces." if len(joints) < many else ""
    figures = []
    for of in groups(shown, "reactions", joints):
        where = "" if of.part.name == "force" else ", about the joint's point on it"
        caption = f"Reaction {of.part.name}s of the joints on the named body{where}, in space.{some}"
        figures.append((of.part.anchor, caption, _on_bodies(shown, of, "joints")))
    yield from _by_component(figures, "reaction ")
    yield _table_of_reactions(shown)


def _on_bodies(shown: View, of: Group, owner: str) -> Group:
    """The group, with owners renamed "joint on body"."""
    if owner != "joints":
        return of
    return replace(of, values={f"{j} on {moving_side(shown.smooth, j)}": y for j, y in of.values.items()})


def _steps(shown: View) -> Block:
    (panel,) = steps(shown)
    count = len(panel.curves[0].t)
    if not count:
        return Text("This run kept fewer than two steps, so it has no step sizes to show.")
    times = shown.run.segments.times
    said = f"{count} accepted steps, each at its end."
    if times:
        said += f" The run continued {len(times)} times with other unknowns, equations or held inputs."
    return diagram("step-sizes", [panel], legend=False, caption=said)


# ---------------------------------------------------------------- tables


def _states(shown: View) -> Table:
    """Ranges of all bodies' motion at the times of smooth curves."""
    rows: list[tuple[Value, ...]] = []
    for body, state in shown.smooth.states.items():
        for part in observables.STATES.parts:
            columns = zip(part.components or ("",), part.values(state).T, strict=True) if part.tabled else ()
            for name, column in columns:
                ends = column[0], column[-1], column.min(), column.max()
                rows.append((body, part.said, name, part.unit, *map(float, ends)))
    where = "in space; the angular velocity in the body frame"
    return table("states", {"body": "", "quantity": "", "component": where, "unit": ""} | _RANGE, rows[:_ENTRIES])


def _table_of_reactions(shown: View) -> Table:
    """Largest reactions of all joints on all their bodies; rounding is zero."""
    run, floors, rows = shown.smooth, shown.reaction_floors, list[tuple[Value, ...]]()
    for joint, of_bodies in run.reactions.items():
        for body, reaction in of_bodies.items():
            row: list[Value] = [joint, body]
            for vectors, floor in zip((reaction.force, reaction.torque), floors, strict=True):
                size = np.linalg.norm(vectors, axis=1)
                k = int(np.argmax(np.where(np.isfinite(size), size, -1.0)))
                row += [0.0, None] if size[k] <= floor else [float(size[k]), float(run.t[k])]
            sure = ", ".join(unique_components(reaction)) or "no"
            rows.append((*row, "yes" if reaction.unique else sure))
    head = {
        "joint": "",
        "on body": "",
        "force [N]": "the largest magnitude",
        "at t [s]": "when the force is largest",
        "torque [N m]": "the largest magnitude, about the joint's point on the body",
        "at t [s] ": "when the torque is largest",
        "unique": "no: redundant equations share the load; otherwise the components that the motion determines, in the "
        "joint's frame, z along its axis",
    }
    return table("reactions", head, rows[:_ENTRIES])


def _events(run: Any) -> Block:
    names = run.options.get("events", "").split(", ")
    if len(names) != len(run.events):
        names = [f"event {k + 1}" for k in range(len(run.events))]
    rows = [
        (name, j + 1, float(t)) for name, event in zip(names, run.events, strict=True) for j, t in enumerate(event.t)
    ]
    if not rows:
        return Text(f"None of the {len(run.events)} events occurred.")
    return table("events", {"event": "", "occurrence": "", "t [s]": ""}, rows[:_ENTRIES], 12)
