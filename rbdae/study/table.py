"""The table of a study: its columns, a line here for each one, and its text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from itertools import groupby
from typing import Any, Final, TypeAlias

from rbdae.problem.projection import Projection
from rbdae.study.one_run import Row
from rbdae.study.references import Reference

Record: TypeAlias = dict[str, str | int | float | None]
_Value: TypeAlias = Callable[[Row, Reference], Any]


def _case(name: str) -> _Value:
    return lambda row, _: getattr(row.case, name)


def _error(name: str) -> _Value:
    return lambda row, _: None if row.errors is None else getattr(row.errors, name)


def _own(name: str) -> _Value:
    return lambda row, _: getattr(row, name)


def _stat(name: str) -> _Value:
    """A count; None for -1, of a package that does not report it, and for a run without a step."""

    def value(row: Row, _: Reference) -> Any:
        found = getattr(row.stats, name) if row.errors is not None or row.stats.steps else -1
        return found if isinstance(found, str) or found >= 0 else None

    return value


def _json(value: object) -> str:
    return json.dumps(value) if value else ""


def _projection(row: Row, _: Reference) -> str:
    return _json(asdict(row.case.projection) if isinstance(row.case.projection, Projection) else None)


def _below(row: Row, reference: Reference) -> int | None:
    return None if row.errors is None else int(row.errors.largest < reference.agreement.largest)


_TABLE: Final[dict[str, tuple[str, _Value]]] = {
    "formulation": ("name, with options that are not the default ones", lambda row, _: str(row.case.formulation)),
    "rotation": ("name", _case("rotation")),
    "velocity": ("name", _case("velocity")),
    "solver": ("package:method", _case("solver")),
    "tolerance": ("rtol and atol", _case("tolerance")),
    "step": ("size of fixed steps, s; empty for a method that chooses its own", _case("step")),
    "redundant": ("as given to formulate", _case("redundant")),
    "hold": ("as given to formulate, JSON; empty for nothing", lambda row, _: _json(row.case.hold)),
    "projection": ("fields of the Projection, JSON; empty for none", _projection),
    "options": ("the solver's own, JSON; empty for none", lambda row, _: _json(dict(row.case.options))),
    "on_singularity": ("as given to solve", _case("on_singularity")),
    "same": (
        "other formulations with the same equations, for which this run stands",
        lambda row, _: ", ".join(row.same),
    ),
    "error": ("of the study's quantity, or the largest of the three errors below", _error("largest")),
    "error_position": ("at the end, relative", _error("position")),
    "error_orientation": ("at the end, rad", _error("orientation")),
    "error_velocity": ("at the end, relative", _error("velocity")),
    "error_quantity": (
        "of the study's quantity, relative to its largest magnitude; empty without one",
        _error("quantity"),
    ),
    "below_reference": ("1 if the error is below what the reference is good for, and a bound on it", _below),
    "energy": ("largest error of the energy's balance over the largest kinetic energy", _own("energy_error")),
    "drift_position": ("largest violation of the position constraints, SI units", _own("position_drift")),
    "drift_velocity": ("largest violation of the velocity constraints, SI units", _own("velocity_drift")),
    "seconds": ("processor time of the solver, s", _stat("seconds")),
    "wall_seconds": ("the same by a clock on the wall, s", _stat("wall_seconds")),
    "timed": ("number of timed runs, of which both are the medians", _own("timed")),
    "evaluations": ("of residual or right-hand side", _stat("evaluations")),
    "jacobians": ("number", _stat("jacobians")),
    "factorisations": ("number", _stat("factorisations")),
    "steps": ("number", _stat("steps")),
    "rejected": ("number of steps", _stat("rejected")),
    "projections": ("number", _stat("projections")),
    "restarts": ("number", _stat("restarts")),
    "code": (
        "generic, traced, or mixed where callbacks differ, see rbdae.formulate; empty without a step",
        _stat("code"),
    ),
    "handed_over": ("number of states that traced code left to generic code", _stat("handed_over")),
    "singular": (
        "number of singular positions of loops that the run passed; there it may take another branch",
        lambda row, _: None if row.singular < 0 else row.singular,
    ),
    "given_up_after": ("limit of a run that took too long, s", _own("given_up_after")),
    "failure": ("why the run did not reach the end; empty if it did", _own("failure")),
    "reason": ("the same without times and numbers", _own("reason")),
}

COLUMNS: Final[dict[str, str]] = {name: about for name, (about, _) in _TABLE.items()}
"""The columns, with what each entry is. None stands for what a failed run does not have, and for counts that a package
does not report."""


def record(row: Row, reference: Reference) -> Record:
    """A row in the columns `COLUMNS`; None for what is not a finite number."""
    found = {name: value(row, reference) for name, (_, value) in _TABLE.items()}
    return {name: None if isinstance(v, float) and not math.isfinite(v) else v for name, v in found.items()}


# ---------------------------------------------------------------- as text

_UNIT = (
    f"{'tol-':>10}{'----- error at the end ------':>31}{'evalua-':>9}{'Jacob-':>8}{'':7}"
    f"{'-- largest drift --':>21}{'energy':>10}\n"
)
_NAMES = (
    f"{'erance':>10}{'position':>11}{'orient.':>10}{'velocity':>10}{'tions':>9}{'ians':>8}"
    f"{'steps':>7}{'position':>11}{'velocity':>10}{'balance':>10}{'seconds':>9}{'wall':>9}{'timed':>6}"
)


def text(rows: Sequence[Row], exact: Reference) -> str:
    """One line per run, under a heading for each formulation, rotation and velocity."""
    width = max([20, *(len(row.case.method) for row in rows)])
    lines = [*preface(exact), *shared_equations(rows), "", f"{'':{width + 2}}{_UNIT}{'  solver':{width + 2}}{_NAMES}"]
    for form, of_form in groupby((row for row in rows if row.errors is not None), key=lambda row: row.case.form):
        lines += [form, *(_line(row, exact, width) for row in of_form)]
    return "\n".join([*lines, f"{len(rows)} runs, {sum(bool(row.failure) for row in rows)} failed"])


def preface(exact: Reference) -> list[str]:
    """End time, and what the errors are measured against."""
    a, first = exact.agreement, f"End time {exact.t_end:g} s. "
    units = [
        "Drift is the largest violation of the constraints in SI units; balance is the largest error of the energy's",
        "balance relative to the kinetic energy. Seconds are processor time of the solver, without loading, wall those",
        "of a clock: medians of timed runs. The error that the summary speaks of is the largest of position, "
        "orientation",
        "and velocity; the work that it takes is interpolated between the tolerances.",
    ]
    if exact.quantity:
        return [
            f"{first}The error that the summary speaks of is that of {exact.quantity},",
            f"relative to its largest magnitude, against {exact.about},",
            f"which agree to {a.largest:.1e} in it; others are relative (orientation: rad).",
            *units[:2],
            "of a clock: medians of timed runs.",
        ]
    first += "Errors are relative (orientation: rad), against "
    if math.isnan(a.largest):
        return [f"{first}a run of the user's own; how good that is is not known.", *units]
    return [
        f"{first}{exact.about},",
        f"which agree to {a.position:.1e} in positions, {a.orientation:.1e} in orientations and {a.velocity:.1e} in "
        "velocities; errors below are shown as <.",
        *units,
    ]


def shared_equations(rows: Iterable[Row]) -> list[str]:
    """The forms that are the same equations, once."""
    found: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows:
        if row.same:
            found.setdefault((row.case.form, ", ".join(dict.fromkeys(row.same))), {})[row.case.solver] = None
    lines = [f"  {form} also stands for {others} ({', '.join(by)})" for (form, others), by in found.items()]
    return ["", "One and the same equations, run once:", *lines] if lines else []


def _line(row: Row, exact: Reference, width: int) -> str:
    e, s, a = row.errors, row.stats, exact.agreement
    assert e is not None
    knob = f"{row.case.tolerance:.0e}" if row.case.step is None else f"h={row.case.step:.2g}"
    out = (
        f"  {row.case.method:{width}}{knob:>10}{_bounded(e.position, a.position):>11}"
        f"{_bounded(e.orientation, a.orientation):>10}{_bounded(e.velocity, a.velocity):>10}"
        f"{_count(s.evaluations):>9}{_count(s.jacobians):>8}{_count(s.steps):>7}{row.position_drift:11.1e}"
        f"{row.velocity_drift:10.1e}{row.energy_error:10.1e}{s.seconds:9.4f}{s.wall_seconds:9.4f}{row.timed:6d}"
    )
    if e.quantity is not None and a.quantity is not None:
        out += f"  {exact.quantity}:{_bounded(e.quantity, a.quantity):>11}"
    return out


def _bounded(value: float, agreement: float) -> str:
    """An error; below what the reference is good for, that bound."""
    return f"<{agreement:.0e}" if value < agreement else f"{value:.1e}"


def _count(number: int) -> str:
    """A dash for counts that the package does not report."""
    return "-" if number < 0 else str(number)
