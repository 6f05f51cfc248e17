"""Rows as flat records of text and numbers, and back: the columns of CSV, JSON, pandas and stored results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Final, TypeAlias

import numpy as np

from rbdae import _check
from rbdae.adapter import Stats
from rbdae.formulations.table import written
from rbdae.problem.projection import Projection
from rbdae.study.case import Case
from rbdae.study.one_run import Row
from rbdae.study.references import COMPUTED, Errors, FinalState, Reference
from rbdae.study.stored_values import (
    DAMAGED,
    count_of,
    number_of,
    number_or_nan,
    numbers_of,
    refused,
    rows_of,
    text_of,
)

Record: TypeAlias = dict[str, str | int | float | None]

COLUMNS: Final[dict[str, str]] = {
    "formulation": "name, with options that are not the default ones",
    "rotation": "name",
    "velocity": "name",
    "solver": "package:method",
    "tolerance": "rtol and atol",
    "step": "size of fixed steps, s; empty for a method that chooses its own",
    "redundant": "as given to formulate",
    "hold": "as given to formulate, JSON; empty for nothing",
    "projection": "fields of the Projection, JSON; empty for none",
    "options": "the solver's own, JSON; empty for none",
    "on_singularity": "as given to solve",
    "same": "other formulations with the same equations, for which this run stands",
    "error": "that of the study's quantity, or the largest of the three errors below",
    "error_position": "at the end, relative",
    "error_orientation": "at the end, rad",
    "error_velocity": "at the end, relative",
    "error_quantity": "of the study's quantity, at the end, relative to its largest magnitude; empty without one",
    "below_reference": "1 if the error is below what the reference is good for, and a bound on it",
    "energy": "largest error of the energy's balance over the largest kinetic energy",
    "drift_position": "largest violation of the position constraints, SI units",
    "drift_velocity": "largest violation of the velocity constraints, SI units",
    "seconds": "processor time of the solver alone, s",
    "wall_seconds": "the same by a clock on the wall, s",
    "timed": "number of timed runs, of which both are the medians",
    "load": "processes that wanted a processor in the minute before the run's end, this one included",
    "evaluations": "of residual or right-hand side",
    "jacobians": "number",
    "factorisations": "number",
    "steps": "number",
    "rejected": "number of steps",
    "projections": "number",
    "restarts": "number",
    "code": "generic, traced, or mixed where callbacks differ, see rbdae.formulate; empty without a step",
    "handed_over": "number of states that traced code left to generic code",
    "singular": "number of singular positions of loops that the run passed; there it may take another branch",
    "given_up_after": "limit of a run that took too long, s",
    "failure": "why the run did not reach the end; empty if it did",
    "reason": "the same without times and numbers",
}
"""What each entry of a record is. None stands for what a failed run does not have, and for counts that a package does
not report."""

_COUNTS = ("evaluations", "jacobians", "factorisations", "steps", "rejected", "projections", "restarts")


def record(row: Row, reference: Reference) -> Record:
    """A row in the columns `COLUMNS`."""
    case, errors = row.case, row.errors
    done = errors is not None
    return {
        "formulation": str(case.formulation),
        "rotation": case.rotation,
        "velocity": case.velocity,
        "solver": case.solver,
        "tolerance": case.tolerance,
        "step": case.step,
        "redundant": case.redundant,
        "hold": json.dumps(case.hold) if case.hold else "",
        "projection": json.dumps(asdict(case.projection)) if isinstance(case.projection, Projection) else "",
        "options": json.dumps(dict(case.options)) if case.options else "",
        "on_singularity": case.on_singularity,
        "same": ", ".join(row.same),
        "error": errors.largest if errors is not None else None,
        "error_position": errors.position if errors is not None else None,
        "error_orientation": errors.orientation if errors is not None else None,
        "error_velocity": errors.velocity if errors is not None else None,
        "error_quantity": errors.quantity if errors is not None else None,
        "below_reference": int(is_below(row, reference)) if done else None,
        "energy": _number(row.energy_error),
        "drift_position": _number(row.position_drift),
        "drift_velocity": _number(row.velocity_drift),
        "seconds": row.stats.seconds if done or row.stats.steps else None,
        "wall_seconds": row.stats.wall_seconds if done or row.stats.steps else None,
        "timed": row.timed,
        "load": _number(row.load),
        **{name: _count(getattr(row.stats, name), row) for name in _COUNTS},
        "code": row.stats.code if done or row.stats.steps else "",
        "handed_over": _count(row.stats.handed_over, row),
        "singular": None if row.singular < 0 else row.singular,
        "given_up_after": row.given_up_after,
        "failure": row.failure,
        "reason": row.reason,
    }


def is_below(row: Row, reference: Reference) -> bool:
    """Whether a row's error is smaller than the difference of the two references."""
    return row.errors is not None and row.errors.largest < reference.agreement.largest


def _number(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None


def _count(value: int, row: Row) -> int | None:
    return None if value < 0 or (row.errors is None and not row.stats.steps) else value


def row_of(given: Mapping[str, Any]) -> Row:
    """The row that a record was made from.

    Raises
    ------
    ValueError
        for a record that lacks a column, or has a value that no run can have left
    """
    try:
        return _row_of(given)
    except DAMAGED as error:
        raise ValueError(f"this is no record of a run ({refused(error)})") from None


def _row_of(given: Mapping[str, Any]) -> Row:
    errors, failure = _errors_of(given), text_of(given, "failure")
    if (errors is None) != bool(failure):
        raise ValueError("a run has either errors or a failure")
    same = text_of(given, "same")
    return Row(
        _case_of(given),
        errors,
        number_or_nan(given, "drift_position"),
        number_or_nan(given, "drift_velocity"),
        number_or_nan(given, "energy"),
        _stats_of(given, errors is None),
        failure=failure,
        reason=text_of(given, "reason"),
        timed=count_of(given, "timed", 1),
        same=tuple(same.split(", ")) if same else (),
        given_up_after=None if given["given_up_after"] is None else number_of(given, "given_up_after"),
        # files of older versions have neither
        load=number_or_nan(given, "load") if "load" in given else math.nan,
        singular=-1 if given.get("singular") is None else count_of(given, "singular", 0),
    )


def _case_of(given: Mapping[str, Any]) -> Case:
    names = {name: text_of(given, name) for name in ("rotation", "velocity", "solver")}
    formulation = text_of(given, "formulation")
    # an option may be infinite, as the largest step of scipy's solvers is
    kept = {
        name: json.loads(text) if (text := text_of(given, name)) else None for name in ("projection", "hold", "options")
    }
    return Case(
        formulation=written(formulation) if "(" in formulation else formulation,
        **names,
        tolerance=_tolerance_of(given),
        redundant=given["redundant"],
        hold=tuple(kept["hold"] or ()),
        projection=None if kept["projection"] is None else Projection(**kept["projection"]),
        options=kept["options"] or (),
        # files of older versions have neither
        on_singularity=given.get("on_singularity", "stop"),
        step=None if given.get("step") is None else number_of(given, "step"),
    )


def _tolerance_of(given: Mapping[str, Any]) -> float:
    out = number_of(given, "tolerance", below=1.0)
    if out == 0.0:
        raise ValueError("tolerance must be positive, got 0")
    return out


def _errors_of(given: Mapping[str, Any]) -> Errors | None:
    names = [f"error_{what}" for what in ("position", "orientation", "velocity")]
    if all(given[name] is None for name in names):
        return None
    # files of older versions do not have the last one
    quantity = None if given.get("error_quantity") is None else number_of(given, "error_quantity")
    position, orientation, velocity = (number_of(given, name) for name in names)
    return Errors(position, orientation, velocity, quantity)


def _stats_of(given: Mapping[str, Any], failed: bool) -> Stats:
    if failed and given["steps"] is None:
        return Stats()
    return Stats(
        **{name: -1 if given[name] is None else count_of(given, name, 0) for name in _COUNTS},
        seconds=number_of(given, "seconds"),
        # files of older versions do not have these
        wall_seconds=number_of(given, "wall_seconds") if given.get("wall_seconds") is not None else 0.0,
        code=text_of(given, "code") if "code" in given else "",
        handed_over=count_of(given, "handed_over", 0) if given.get("handed_over") is not None else 0,
    )


# ---------------------------------------------------------------- the reference


def reference_record(reference: Reference) -> dict[str, Any]:
    """A reference as JSON can have it."""
    agreement = {name: _number(value) for name, value in asdict(reference.agreement).items()}
    states = [{name: np.asarray(value).tolist() for name, value in _members(state)} for state in reference.states]
    return {"t_end": reference.t_end, "agreement": agreement, "states": states, "about": reference.about} | (
        {"quantity": reference.quantity} if reference.quantity else {}
    )


_ARRAYS = ("position", "orientation", "velocity", "angular_velocity")


def _members(state: FinalState) -> list[tuple[str, Any]]:
    return [(field.name, getattr(state, field.name)) for field in fields(FinalState)]


def _state_of(given: Mapping[str, Any]) -> FinalState:
    position, orientation, velocity, angular_velocity = (
        rows_of(given, name, 4 if name == "orientation" else 3) for name in _ARRAYS
    )
    if len({len(position), len(orientation), len(velocity), len(angular_velocity)}) > 1:
        raise ValueError("positions, orientations and velocities are of different numbers of bodies")
    norms = np.linalg.norm(orientation, axis=1)
    if not np.allclose(norms, 1.0, rtol=0.0, atol=1e-9):
        raise ValueError(f"orientations must be unit quaternions, got norms {_check.show(norms)}")
    value = given.get("quantity")
    quantity = None if value is None else (number_of({"quantity": value[0]}, "quantity", -math.inf), float(value[1]))
    state = FinalState(position, orientation, velocity, angular_velocity, quantity=quantity)
    if given["sizes"] is None:
        return state
    x, v, Om = numbers_of(given, "sizes")
    return replace(state, sizes=(x, v, Om))


def reference_of(given: Mapping[str, Any]) -> Reference:
    """The reference that a record was made from.

    Raises
    ------
    ValueError
        for a record of something else
    """
    try:
        first, second = map(_state_of, given["states"])
        if len(first.position) != len(second.position):
            raise ValueError("its two states are of different numbers of bodies")
        known = {name: number_or_nan(given["agreement"], name) for name in ("position", "orientation", "velocity")}
        # files of older versions do not have the quantity
        label = text_of(given, "quantity") if "quantity" in given else ""
        agreement = Errors(**known, quantity=number_or_nan(given["agreement"], "quantity") if label else None)
        # files of older versions do not have the last one
        about = text_of(given, "about") if "about" in given else COMPUTED
        return Reference(number_of(given, "t_end", -math.inf), (first, second), agreement, about, label)
    except DAMAGED as error:
        raise ValueError(f"this is no reference ({refused(error)})") from None


__all__ = ["COLUMNS", "Record", "is_below", "record", "reference_of", "reference_record", "row_of"]
