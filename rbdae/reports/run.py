"""The report of one run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from rbdae.plotting.abscissa import Abscissa, abscissa
from rbdae.plotting.plane_view import Plane, PlaneChoice, plane_of
from rbdae.plotting.scene import chosen, scene
from rbdae.problem import observables
from rbdae.problem.problem import Problem
from rbdae.quantities.quantity import Quantity
from rbdae.reports import named_figures, run_figures, run_tables
from rbdae.reports.blocks import Block, Code, Items, Page, Section, Text
from rbdae.reports.contract import Run
from rbdae.reports.motion import MOMENTS, animation, moments
from rbdae.reports.render import write
from rbdae.reports.shown import shown_of
from rbdae.reports.versions import command, versions

_WITHOUT_PROBLEM = (
    "This solution was loaded without its problem, so its unknowns have no names, and there are no bodies to show: "
    "rbdae.load(path, problem) gives it its problem."
)
_BODIES = 12
"""Bodies in the diagrams, if none are chosen: more curves cannot be told apart."""


def report_run(
    run: Run,
    target: Path,
    packages: Mapping[str, str],
    bodies: Iterable[str] | None = None,
    heading: str | None = None,
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
    heading : the title of the page; None for form and solver
    plane, over : as `rbdae.plotting.plot_solution` takes them

    Raises
    ------
    TypeError, ValueError
        for bodies that there are not, and for what is no quantity
    """
    known = isinstance(run.problem, Problem)
    axis = abscissa(run, over, "report")
    names = _bodies(run.problem, bodies) if known else ()
    run, left_out = _finite(run)
    flat = plane_of(run, plane, "report") if known or plane else None
    warnings = [*left_out]
    sections = [Section("Summary", ())]
    if known and len(run.t):
        sections += _of_mechanism(run, names, warnings, flat, axis, every=plane is False)
    elif len(run.t):
        sections.append(Section("Unknowns", tuple(_unknowns(run))))
    sections += _of_solver(run)
    if known:
        sections.append(Section("Mechanism", tuple(run_tables.mechanism(run.problem))))
    sections.append(Section("How it was made", _made(run, packages)))
    sections[0] = Section("Summary", tuple(_summary(run, warnings)))
    return write(_page(run, sections, heading), target)


def _bodies(problem: Problem, bodies: Iterable[str] | None) -> tuple[str, ...]:
    every = [body.name for body in chosen(problem.system, bodies)]
    if bodies is not None or len(every) <= _BODIES:
        return tuple(every)
    return tuple(every[k] for k in np.linspace(0, len(every) - 1, _BODIES).round().astype(int))


def _finite(run: Any) -> tuple[Any, list[str]]:
    """The rows in which all unknowns are finite, and what is to be said of the others."""
    good = np.isfinite(run.y).all(axis=1)
    steps = run.steps
    if steps is not None:
        fine = np.isfinite(steps.y).all(axis=1)
        steps = replace(steps, t=steps.t[fine], y=steps.y[fine])
    if good.all():
        return (run if steps is run.steps else replace(run, steps=steps)), []
    wrong = int((~good).sum())
    said = (
        f"{wrong} of {len(run.t)} rows have unknowns that are not finite, the first at t = {run.t[~good][0]:.6g} s: "
        "tables and diagrams leave them out."
    )
    return replace(run, t=run.t[good], y=run.y[good], steps=steps), [said]


def _page(run: Run, sections: Sequence[Section], heading: str | None) -> Page:
    problem = run.problem
    under = f"{len(run.t)} times"
    if len(run.t):
        under += f", t = {run.t[0]:g} to {run.t[-1]:g} s"
    if isinstance(problem, Problem):
        bodies = problem.system.bodies
        names = ", ".join(body.name for body in bodies[:6]) + (", ..." if len(bodies) > 6 else "")
        under = f"{len(bodies)} {'body' if len(bodies) == 1 else 'bodies'} ({names}); {under}"
    form = getattr(problem, "formulation", "a run")
    verdict = "reached its end" if run.success else "did not reach its end"
    if heading is not None:
        under = f"{form} by {run.solver}; {under}"
    return Page(
        heading or f"{form} by {run.solver}", under, verdict, "good" if run.success else "failure", tuple(sections)
    )


# ---------------------------------------------------------------- sections


def _summary(run: Run, warnings: Sequence[str]) -> Iterator[Block]:
    yield Text(f"{run.message}.", "plain" if run.success else "failure")
    if warnings:
        yield Items(tuple(warnings), "warning")
    yield run_tables.results(run)


def _of_mechanism(
    run: Run, names: tuple[str, ...], warnings: list[str], flat: Plane | None, axis: Abscissa, *, every: bool
) -> Iterator[Section]:
    """The sections that only a problem of rbdae can give, because it knows its unknowns."""
    shown = shown_of(run, names, flat, every, axis)
    yield Section("Animation", tuple(_motion(run, in_space=every)))
    yield Section("Motion", tuple(run_figures.motion(shown)))
    yield Section(
        "States",
        (
            Text("Bodies", "heading"),
            run_tables.states(shown.smooth, shown.table, shown.floors),
            Text("Unknowns, as the solver has them at the times of the run", "heading"),
            run_tables.unknowns(run),
        ),
    )
    yield Section("Energy", tuple(run_figures.energy(shown)))
    yield Section("Drift", tuple(run_figures.drift(shown)))
    if figures := tuple(named_figures.quantities(shown)):
        yield Section("Joints and forces", figures)
    if observables.further(run.problem):
        yield Section("Observables", tuple(run_figures.further(shown)))
    joints = run.reactions
    if joints:
        loose = [joint for joint, of in joints.items() if not all(_unique(reaction, flat) for reaction in of.values())]
        if loose:
            warnings.append(
                f"The reactions of {_listed(loose)} are not unique: redundant joint equations share the load. Those of "
                "least norm are shown; the table says which of their components are unique."
            )
        wild = [joint for joint, of in joints.items() if not all(_numbers(reaction) for reaction in of.values())]
        if wild:
            warnings.append(
                f"The reactions of {_listed(wild)} are not finite at some times: the joints are singular there."
            )
        yield Section("Reactions", (*run_figures.reactions(shown), run_tables.reactions(shown.smooth, flat)))


def _unique(reaction: Any, plane: Plane | None) -> bool:
    """Whether a reaction is unique, in a plane its forces there and its torque about the normal."""
    return bool(reaction.unique or (plane is not None and plane.unique(reaction).all()))


def _numbers(reaction: Any) -> bool:
    return bool(np.isfinite(reaction.force).all() and np.isfinite(reaction.torque).all())


def _of_solver(run: Run) -> Iterator[Section]:
    yield Section("Steps", (*run_figures.steps(run), run_tables.work(run)))
    events = run_tables.events(run)
    if events is not None:
        yield Section("Events", (events,))


def _unknowns(run: Run) -> Iterator[Block]:
    if run.problem is None:
        yield Text(_WITHOUT_PROBLEM, "warning")
    else:
        yield Text("The problem is not of rbdae's own: its unknowns are all that can be shown.")
    yield run_figures.unknowns(run)
    yield run_tables.unknowns(run)


def _motion(run: Run, *, in_space: bool) -> Iterator[Block]:
    times = run.t
    kept = run.steps is None or len(run.steps.t) > 0
    if kept and len(times) > 1:
        ends = run.t if run.steps is None else run.steps.t
        times = np.linspace(ends[0], ends[-1], MOMENTS)
    times = moments(scene(run, times[:1]), times)
    drawn = scene(run, times)
    if in_space:
        drawn = replace(drawn, plane=None)
    view = "in its plane; drag to move" if drawn.plane is not None else "drag to turn"
    yield animation(
        "motion",
        drawn,
        f"{len(drawn.t)} moments, {view}, scroll to zoom, click in the legend to hide. Bodies are lines "
        "between the points where joints and forces act on them, or boxes with their inertia.",
    )


def _listed(names: Sequence[str], most: int = 6) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _made(run: Run, packages: Mapping[str, str]) -> tuple[Block, ...]:
    blocks: list[Block] = [Code(_call(run))]
    if not run.options:
        blocks.append(Text("The file of this run is older than the record of t_span, projection and solver options."))
    if command():
        blocks.append(Text("The report was written by"))
        blocks.append(Code(command()))
    blocks.append(run_tables.facts(versions(packages)))
    blocks.append(Text("Versions are those at the time of the report."))
    return tuple(blocks)


def _call(run: Run) -> str:
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


__all__ = ["Run", "report_run"]
