"""The user's choices of a problem, checked: formulation, chart, velocity and the options that belong to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, final

from rbdae import _check
from rbdae.formulations.base import Formulation
from rbdae.formulations.pairing import chosen_velocity
from rbdae.formulations.table import FORMULATIONS, SPELLINGS
from rbdae.initial.euler_parameter_choices import check_forms
from rbdae.multibody.velocity_kind import ANGULAR, KINDS, SPATIAL, VelocityKind
from rbdae.rotations import CHARTS, Chart

RadialInertia = Literal["zero", "half-trace"]

_CONSTRAINTS = {
    "position": "hamiltonian",
    "momentum": "hamiltonian-momentum",
    "differentiated": "hamiltonian-differentiated",
    "eliminated": "hamiltonian-eliminated",
    "both": "hamiltonian-ggl",
    "overdetermined": "hamiltonian-overdetermined",
}

_GAIN = 10.0


@final
@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Formulation, chart and velocity that go together; radial inertia as a fraction of tr(J)/2; the kernels' numbers
    of the forms of [SNS15]; gains of constraint stabilisation; whether redundant joint equations may be left out; where
    charts are centred; whether directors have the constraints of the columns of R."""

    formulation: Formulation
    chart: Chart
    velocity: str
    kind: VelocityKind
    radial: float
    gyroscopic: int
    pull_back: int
    gains: tuple[float, float] | None
    may_drop: bool
    reference: str
    columns: bool


def check_choices(
    formulation: str | Formulation,
    rotation: str,
    velocity: str | None,
    constraint: str | None,
    radial_inertia: str,
    forms: tuple[str | None, str | None],
    gains: dict[str, float | None],
    redundant: str,
    reference: str,
    director_constraints: str,
) -> Choices:
    """The choices of `rbdae.formulate`; `forms` are its `gyroscopic` and `pull_back`.

    Raises
    ------
    ValueError
        A name is unknown, or choices do not go together.
    """
    form = _formulation(formulation, constraint)
    if not isinstance(rotation, str) or rotation not in CHARTS:
        raise _check.unknown("rotation", rotation, CHARTS)
    chart = CHARTS[rotation]
    speed = chosen_velocity(form, chart, velocity)
    _one_of("radial_inertia", radial_inertia, ("zero", "half-trace"))
    _one_of("value of redundant", redundant, ("error", "minimum-norm"))
    radial = 1.0 if radial_inertia == "half-trace" else 0.0
    _check_reference(reference, chart)
    kind = _kind(speed, chart)
    gyroscopic, pull_back = check_forms(form, kind, radial_inertia, *forms)
    columns = _by_columns(director_constraints, chart)
    may_drop = redundant == "minimum-norm"
    stabilised = _gains(form, gains)
    return Choices(form, chart, speed, kind, radial, gyroscopic, pull_back, stabilised, may_drop, reference, columns)


def _by_columns(constraints: str, chart: Chart) -> bool:
    """Only directors have a choice."""
    _one_of("director_constraints", constraints, ("rows", "columns"))
    if constraints == "columns" and chart.name != "directors":
        raise ValueError(
            f"director_constraints='columns' is for rotation='directors', not for {chart.name!r}: leave it out"
        )
    return constraints == "columns"


def _check_reference(reference: str, chart: Chart) -> None:
    """Only charts with a singular set have a centre."""
    _one_of("reference", reference, ("space", "start"))
    if reference == "start" and not chart.centre:
        centred = ", ".join(c.name for c in CHARTS.values() if c.centre)
        raise ValueError(
            f"reference='start' centres charts that have a singular set: {centred}; {chart.name} has none, leave it out"
        )


def _kind(velocity: str, chart: Chart) -> VelocityKind:
    """Momenta are conjugate to the rates of the coordinates."""
    if velocity == "spatial":
        return SPATIAL
    if velocity == "angular" or chart.coordinate_velocities is None:
        return ANGULAR
    return KINDS[chart.coordinate_velocities]


def check_consistent(value: str) -> str:
    """The treatment of given initial values that contradict the joints."""
    _one_of("value of consistent", value, ("warn", "project", "check"))
    return value


def _one_of(what: str, value: object, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise _check.unknown(what, value, known)


def _formulation(name: str | Formulation, constraint: str | None) -> Formulation:
    if isinstance(name, Formulation):
        if constraint is not None:
            raise ValueError(
                f"constraint={constraint!r} belongs to the formulation 'hamiltonian', not to {name.name!r}"
            )
        return name
    name = SPELLINGS.get(name, name) if isinstance(name, str) else name
    if not isinstance(name, str) or name not in FORMULATIONS:
        raise _check.unknown("formulation", name, FORMULATIONS)
    if constraint is not None:
        if name != "hamiltonian":
            raise ValueError(f"constraint={constraint!r} belongs to the formulation 'hamiltonian', not to {name!r}")
        if not isinstance(constraint, str) or constraint not in _CONSTRAINTS:
            raise _check.unknown("constraint of 'hamiltonian'", constraint, _CONSTRAINTS)
        name = _CONSTRAINTS[constraint]
    return FORMULATIONS[name]


def _gains(form: Formulation, given: dict[str, float | None]) -> tuple[float, float] | None:
    if not form.gains:
        if any(value is not None for value in given.values()):
            raise ValueError(f"alpha and beta are Baumgarte's parameters; {form.name} has none, leave them out")
        return None
    values = {name: _GAIN if value is None else value for name, value in given.items()}
    for name, value in values.items():
        if _check.number("formulate", name, value) < 0.0:
            raise ValueError(
                f"formulate: {name} must not be negative (constraint violations would grow), got "
                f"{_check.show(value)}; pass e.g. 10.0"
            )
    return float(values["alpha"]), float(values["beta"])


__all__ = ["Choices", "RadialInertia", "check_choices", "check_consistent"]
