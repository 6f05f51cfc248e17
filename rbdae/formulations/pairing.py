"""The formulations, charts and velocities that go together."""

from __future__ import annotations

from rbdae import _check
from rbdae.formulations.base import Formulation
from rbdae.formulations.table import FORMULATIONS
from rbdae.rotations import CHARTS, Chart


def has_chart(formulation: Formulation, chart: Chart) -> bool:
    """Momenta are conjugate to the parameters of charts whose rates are velocities; projected forms are for unit
    quaternions."""
    if formulation.charts and chart.name not in formulation.charts:
        return False
    return formulation.unknowns != "momenta" or chart.coordinate_velocities is not None


def velocities(formulation: Formulation, chart: Chart) -> tuple[str, ...]:
    """The velocities that make sense, the default first; a form in momenta has one choice."""
    if not has_chart(formulation, chart):
        return ()
    if formulation.unknowns == "momenta":
        return formulation.velocities[:1]
    return tuple(v for v in formulation.velocities if v != "coordinate" or chart.coordinate_velocities is not None)


def pairings() -> list[tuple[str, str, str]]:
    """All (formulation, rotation, velocity) that make sense."""
    return [(f.name, c.name, v) for f in FORMULATIONS.values() for c in CHARTS.values() for v in velocities(f, c)]


def chosen_velocity(formulation: Formulation, chart: Chart, velocity: str | None) -> str:
    """The velocity of a problem; None takes the default.

    Raises
    ------
    ValueError
        where the formulation has no form in this chart, or with this velocity, with those that it has
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


__all__ = ["chosen_velocity", "has_chart", "pairings", "velocities"]
