"""Rows as flat records of text and numbers, and back: the columns of CSV, JSON, pandas and stored results."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, fields, replace
from typing import Any, Final, TypeAlias

import numpy as np

from rbdae.adapter import Stats
from rbdae.problem.projection import Projection
from rbdae.study.case import Case
from rbdae.study.one_run import Row
from rbdae.study.references import Errors, FinalState, Reference

Record: TypeAlias = dict[str, str | int | float | None]

COLUMNS: Final[dict[str, str]] = {
    "formulation": "name",
    "rotation": "name",
    "velocity": "name",
    "solver": "package:method",
    "tolerance": "rtol and atol",
    "redundant": "as given to formulate",
    "hold": "as given to formulate, JSON; empty for nothing",
    "projection": "fields of the Projection, JSON; empty for none",
    "options": "the solver's own, JSON; empty for none",
    "on_singularity": "as given to solve",
    "same": "other formulations with the same equations, for which this run stands",
    "error": "the largest of the three errors below",
    "error_position": "at the end, relative",
    "error_orientation": "at the end, rad",
    "error_velocity": "at the end, relative",
    "below_reference": "1 if the error is below what the reference is good for, and a bound on it",
    "energy": "largest error of the energy's balance over the largest kinetic energy",
    "drift_position": "largest violation of the position constraints, SI units",
    "drift_velocity": "largest violation of the velocity constraints, SI units",
    "seconds": "of the solver alone, s",
    "timed": "number of timed runs, of which `seconds` is the median",
    "evaluations": "of residual or right-hand side",
    "jacobians": "number",
    "factorisations": "number",
    "steps": "number",
    "rejected": "number of steps",
    "projections": "number",
    "restarts": "number",
    "code": "generic or traced, see rbdae.formulate; empty without a step",
    "handed_over": "number of states that traced code left to generic code",
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
        "formulation": case.formulation,
        "rotation": case.rotation,
        "velocity": case.velocity,
        "solver": case.solver,
        "tolerance": case.tolerance,
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
        "below_reference": int(is_below(row, reference)) if done else None,
        "energy": _number(row.energy_error),
        "drift_position": _number(row.position_drift),
        "drift_velocity": _number(row.velocity_drift),
        "seconds": row.stats.seconds if done or row.stats.steps else None,
        "timed": row.timed,
        **{name: _count(getattr(row.stats, name), row) for name in _COUNTS},
        "code": row.stats.code if done or row.stats.steps else "",
        "handed_over": _count(row.stats.handed_over, row),
        "given_up_after": row.given_up_after,
        "failure": row.failure,
        "reason": row.reason,
    }


def is_below(row: Row, reference: Reference) -> bool:
    """Whether a row's error is smaller than the difference of the two references."""
    return row.errors is not None and row.errors.largest < reference.agreement.largest


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _count(value: int, row: Row) -> int | None:
    return None if value < 0 or (row.errors is None and not row.stats.steps) else value


def row_of(given: Mapping[str, Any]) -> Row:
    """The row that a record was made from.

    Raises
    ------
    ValueError
        for a record that lacks a column, or has a value of another kind
    """
    try:
        return _row_of(given)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"this is no record of a run ({type(error).__name__}: {error})") from None


def _row_of(given: Mapping[str, Any]) -> Row:
    projection = Projection(**json.loads(given["projection"])) if given["projection"] else None
    case = Case(
        formulation=str(given["formulation"]),
        rotation=str(given["rotation"]),
        velocity=str(given["velocity"]),
        solver=str(given["solver"]),
        tolerance=float(given["tolerance"]),
        redundant=given["redundant"],
        hold=tuple(json.loads(given["hold"])) if given["hold"] else (),
        projection=projection,
        options=json.loads(given["options"]) if given["options"] else (),
        on_singularity=given.get("on_singularity", "stop"),  # files of older versions have none
    )
    errors = None
    if given["error_position"] is not None:
        errors = Errors(*(float(given[f"error_{what}"]) for what in ("position", "orientation", "velocity")))
    counts: dict[str, Any] = {name: -1 if given[name] is None else int(given[name]) for name in _COUNTS}
    failed_early = errors is None and given["steps"] is None
    # files of older versions have neither
    code: dict[str, Any] = {"code": str(given.get("code", "")), "handed_over": int(given.get("handed_over") or 0)}
    stats = Stats() if failed_early else Stats(**counts, seconds=float(given["seconds"]), **code)
    return Row(
        case,
        errors,
        _float(given["drift_position"]),
        _float(given["drift_velocity"]),
        _float(given["energy"]),
        stats,
        failure=str(given["failure"]),
        reason=str(given["reason"]),
        timed=int(given["timed"]),
        same=tuple(given["same"].split(", ")) if given["same"] else (),
        given_up_after=None if given["given_up_after"] is None else float(given["given_up_after"]),
    )


def _float(value: float | None) -> float:
    return float("nan") if value is None else float(value)


# ---------------------------------------------------------------- the reference


def reference_record(reference: Reference) -> dict[str, Any]:
    """A reference as JSON can have it."""
    agreement = {name: _number(value) for name, value in asdict(reference.agreement).items()}
    states = [{name: np.asarray(value).tolist() for name, value in _members(state)} for state in reference.states]
    return {"t_end": reference.t_end, "agreement": agreement, "states": states}


_ARRAYS = ("position", "orientation", "velocity", "angular_velocity")


def _members(state: FinalState) -> list[tuple[str, Any]]:
    return [(field.name, getattr(state, field.name)) for field in fields(FinalState)]


def _state_of(given: Mapping[str, Any]) -> FinalState:
    position, orientation, velocity, angular_velocity = (np.array(given[name], dtype=float) for name in _ARRAYS)
    state = FinalState(position, orientation, velocity, angular_velocity)
    if given["sizes"] is None:
        return state
    sizes = [float(size) for size in given["sizes"]]
    return replace(state, sizes=(sizes[0], sizes[1], sizes[2]))


def reference_of(given: Mapping[str, Any]) -> Reference:
    """The reference that a record was made from.

    Raises
    ------
    ValueError
        for a record of something else
    """
    try:
        first, second = map(_state_of, given["states"])
        agreement = Errors(*(_float(given["agreement"][f.name]) for f in fields(Errors)))
        return Reference(float(given["t_end"]), (first, second), agreement)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ValueError(f"this is no reference ({type(error).__name__}: {error})") from None


__all__ = ["COLUMNS", "Record", "is_below", "record", "reference_of", "reference_record", "row_of"]
