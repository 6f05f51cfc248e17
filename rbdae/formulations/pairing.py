"""Valid combinations of formulations, charts and velocities."""

from __future__ import annotations

from collections.abc import Iterable

from rbdae import _check
from rbdae.formulations.base import Formulation
from rbdae.rotations import CHARTS, Chart
from rbdae.rotations.chart import QUATERNION_RATE

_WITH_NORM = "the quaternion equations with the multiplier of the unit norm ([SNS15])"


def has_chart(formulation: Formulation, chart: Chart) -> bool:
    """Whether a formulation has a chart: momenta need rates as velocities, projected forms unit quaternions."""
    if formulation.charts and chart.name not in formulation.charts:
        return False
    return formulation.unknowns != "momenta" or chart.coordinate_velocities is not None


def velocities(formulation: Formulation, chart: Chart) -> tuple[str, ...]:
    """The valid velocities, the default first; a form in momenta has one choice."""
    if not has_chart(formulation, chart):
        return ()
    if formulation.unknowns == "momenta":
        return formulation.velocities[:1]
    return tuple(v for v in formulation.velocities if v != "coordinate" or chart.coordinate_velocities is not None)


def misfit(formulation: Formulation, chart: Chart, velocity: str, asked: Iterable[str] = ()) -> str:
    """Why an option has no meaning with a chart and a velocity, or empty; options in `asked` always count."""
    chosen = {**dict.fromkeys(asked), **{option.name: None for option, _ in formulation.chosen()}}
    quaternion_rates = velocity == "coordinate" and chart.coordinate_velocities == QUATERNION_RATE
    for name, of in (("gyroscopic", _WITH_NORM), ("pull_back", _WITH_NORM), ("norm", "quaternion rates ([NS] (40))")):
        if name in chosen and not quaternion_rates:
            return (
                f"{name}={formulation.choice(name)!r} is a choice of {of}: choose rotation='quaternion', "
                "velocity='coordinate', or leave it out"
            )
    if formulation.choice("director_constraints") == "columns" and chart.name != "directors":
        return f"director_constraints='columns' is for rotation='directors', not for {chart.name!r}: leave it out"
    return ""


def pairings_of(formulations: Iterable[Formulation]) -> list[tuple[Formulation, str, str]]:
    """The valid combinations of given formulations, in which their options have a meaning."""
    return [
        (f, c.name, v) for f in formulations for c in CHARTS.values() for v in velocities(f, c) if not misfit(f, c, v)
    ]


def chosen_velocity(formulation: Formulation, chart: Chart, velocity: str | None) -> str:
    """The velocity of a problem; None takes the default.

    Raises
    ------
    ValueError
        if the formulation has no form with this chart or velocity; the message names those that it has
    """
    if not has_chart(formulation, chart):
        charts = ", ".join(c.name for c in CHARTS.values() if has_chart(formulation, c))
        raise ValueError(f"{formulation.name} has no form in rotation {chart.name!r}; it has {charts}")
    if velocity is None:
        return formulation.velocities[0]
    if not isinstance(velocity, str) or velocity not in formulation.velocities:
        raise ValueError(
            f"{formulation.name} has no form with velocity {_check.show(velocity)}; "
            f"it has {', '.join(formulation.velocities)}"
        )
    if velocity == "coordinate" and chart.coordinate_velocities is None:
        charts = ", ".join(c.name for c in CHARTS.values() if c.coordinate_velocities is not None)
        raise ValueError(f"velocity 'coordinate' is for {charts}; with {chart.name!r} use velocity='angular'")
    return formulation.velocities[0] if formulation.unknowns == "momenta" else velocity
