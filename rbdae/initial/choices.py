"""The user's choices of a problem, checked: a formulation with its options, chart and velocity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import final

from rbdae import _check
from rbdae.formulations.base import Formulation
from rbdae.formulations.pairing import chosen_velocity, misfit
from rbdae.formulations.table import FORMULATIONS, named
from rbdae.multibody.velocity_kind import ANGULAR, KINDS, SPATIAL, VelocityKind
from rbdae.rotations import CHARTS, Chart

_WITHOUT = {"radial_inertia": "zero", "director_constraints": "rows"}
"""Options that forms without them may be asked for by keyword: it is how they are."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Formulation, chart and velocity that go together; whether redundant joint equations may be left out; where charts
    are centred."""

    formulation: Formulation
    chart: Chart
    velocity: str
    kind: VelocityKind
    may_drop: bool
    reference: str

    @property
    def explicit(self) -> bool:
        """Whether the problem is an ODE, without algebraic unknowns."""
        return self.formulation.kind == "ode"


def check_choices(
    formulation: str | Formulation,
    rotation: str,
    velocity: str | None,
    options: Mapping[str, object],
    redundant: str,
    reference: str,
) -> Choices:
    """The choices of `rbdae.formulate`; `options` are its keywords that belong to formulations, None if not given.

    Raises
    ------
    TypeError, ValueError
        A name is unknown, or choices do not go together.
    """
    given = {name: value for name, value in options.items() if value is not None}
    form = _with_options(formulation, given)
    if not isinstance(rotation, str) or rotation not in CHARTS:
        raise _check.unknown("rotation", rotation, CHARTS)
    chart = CHARTS[rotation]
    speed = chosen_velocity(form, chart, velocity)
    _one_of("value of redundant", redundant, ("error", "minimum-norm"))
    _check_reference(reference, chart)
    if wrong := misfit(form, chart, speed, given):
        raise ValueError(wrong)
    return Choices(form, chart, speed, _kind(speed, chart), redundant == "minimum-norm", reference)


def _with_options(formulation: str | Formulation, given: Mapping[str, object]) -> Formulation:
    """The value of a formulation with the options that keywords give it."""
    if isinstance(formulation, Formulation):
        form, known = formulation, set(formulation.options)
    else:
        form = named(formulation)
        known = {option.name for option, _ in form.chosen()}  # such as the constraint of 'hamiltonian-momentum'
    wanted = {}
    for name, value in given.items():
        if name in known:
            raise ValueError(
                f"formulate: {name}={_check.show(value)} is given by keyword, and {name}={form.options[name]!r} by "
                f"{formulation!r}; give one of them"
            )
        if name in form.options:
            wanted[name] = form.checked(name, value, "formulate")
        elif not isinstance(value, str) or value != _WITHOUT.get(name):
            having = ", ".join(repr(f.name) for f in FORMULATIONS.values() if name in f.options)
            raise ValueError(
                f"{name}={_check.show(value)} belongs to the formulations {having}, not to {form.name!r}: leave it out"
            )
    return replace(form, **wanted) if wanted else form


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


__all__ = ["Choices", "check_choices", "check_consistent"]
