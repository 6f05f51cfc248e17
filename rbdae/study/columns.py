"""The table of a comparison: one line here for each column of its data frame, CSV file and page."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, Final, TypeAlias

from rbdae.problem.projection import Projection
from rbdae.study.one_run import Row
from rbdae.study.references import Reference

Record: TypeAlias = dict[str, str | int | float | None]


def _case(name: str) -> Callable[[Row, Reference], Any]:
    return lambda row, reference: getattr(row.case, name)


def _error(name: str) -> Callable[[Row, Reference], Any]:
    return lambda row, reference: None if row.errors is None else getattr(row.errors, name)


def _own(name: str) -> Callable[[Row, Reference], Any]:
    return lambda row, reference: getattr(row, name)


def _stat(name: str) -> Callable[[Row, Reference], Any]:
    """A count that the package does not report is -1; a run without a step has none."""

    def value(row: Row, reference: Reference) -> Any:
        found = getattr(row.stats, name)
        counted = row.errors is not None or row.stats.steps
        return found if counted and (isinstance(found, str) or found >= 0) else "" if isinstance(found, str) else None

    return value


def _json(value: object) -> str:
    return json.dumps(value) if value else ""


def is_below(row: Row, reference: Reference) -> bool:
    """Whether a row's error is smaller than the difference of the two references."""
    return row.errors is not None and row.errors.largest < reference.agreement.largest


_TABLE: Final[dict[str, tuple[str, Callable[[Row, Reference], Any]]]] = {
    "formulation": ("name, with options that are not the default ones", lambda row, _: str(row.case.formulation)),
    "rotation": ("name", _case("rotation")),
    "velocity": ("name", _case("velocity")),
    "solver": ("package:method", _case("solver")),
    "tolerance": ("rtol and atol", _case("tolerance")),
    "step": ("size of fixed steps, s; empty for a method that chooses its own", _case("step")),
    "redundant": ("as given to formulate", _case("redundant")),
    "hold": ("as given to formulate, JSON; empty for nothing", lambda row, _: _json(row.case.hold)),
    "projection": (
        "fields of the Projection, JSON; empty for none",
        lambda row, _: _json(asdict(row.case.projection) if isinstance(row.case.projection, Projection) else None),
    ),
    "options": ("the solver's own, JSON; empty for none", lambda row, _: _json(dict(row.case.options))),
    "on_singularity": ("as given to solve", _case("on_singularity")),
    "same": (
        "other formulations with the same equations, for which this run stands",
        lambda row, _: ", ".join(row.same),
    ),
    "error": ("that of the study's quantity, or the largest of the three errors below", _error("largest")),
    "error_position": ("at the end, relative", _error("position")),
    "error_orientation": ("at the end, rad", _error("orientation")),
    "error_velocity": ("at the end, relative", _error("velocity")),
    "error_quantity": (
        "of the study's quantity, at the end, relative to its largest magnitude; empty without one",
        _error("quantity"),
    ),
    "below_reference": (
        "1 if the error is below what the reference is good for, and a bound on it",
        lambda row, reference: None if row.errors is None else int(is_below(row, reference)),
    ),
    "energy": ("largest error of the energy's balance over the largest kinetic energy", _own("energy_error")),
    "drift_position": ("largest violation of the position constraints, SI units", _own("position_drift")),
    "drift_velocity": ("largest violation of the velocity constraints, SI units", _own("velocity_drift")),
    "seconds": ("processor time of the solver alone, s", _stat("seconds")),
    "wall_seconds": ("the same by a clock on the wall, s", _stat("wall_seconds")),
    "timed": ("number of timed runs, of which both are the medians", _own("timed")),
    "load": ("processes that wanted a processor in the minute before the run's end, this one included", _own("load")),
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
    """A row in the columns `COLUMNS`."""
    return {name: _plain(value(row, reference)) for name, (_, value) in _TABLE.items()}


def _plain(value: Any) -> str | int | float | None:
    """None for what is not a finite number."""
    return None if isinstance(value, float) and not math.isfinite(value) else value


__all__ = ["COLUMNS", "Record", "is_below", "record"]
