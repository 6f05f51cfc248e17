"""A trajectory as a table of pandas: a row for each time, a column for each quantity, with its unit in its name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.problem.problem import Problem

if TYPE_CHECKING:
    from pandas import DataFrame

_Columns = Iterator[tuple[str, Vec]]

_VELOCITIES: Final = {
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("px", "py", "pz"), "kg m/s"),
    **dict.fromkeys(("Omega1", "Omega2", "Omega3", "omega1", "omega2", "omega3"), "rad/s"),
}


class Trajectory(Protocol):
    """A trajectory that a table is made of, for example a `rbdae.Solution`."""

    @property
    def problem(self) -> Any:
        """The problem that was solved."""

    @property
    def t(self) -> Vec:
        """Times, (m,), s."""

    @property
    def y(self) -> Mat:
        """Unknowns, (m, n)."""

    @property
    def states(self) -> Any:
        """States of the bodies by their names."""

    @property
    def energy(self) -> Any:
        """Energies, their work and balance."""

    @property
    def momentum(self) -> Any:
        """Momenta of the whole system."""

    @property
    def drift(self) -> Any:
        """Violations of the constraints."""

    @property
    def reactions(self) -> Any:
        """Reactions by the names of joint and body."""


def frame(trajectory: Trajectory, quantities: str | Iterable[str]) -> DataFrame:
    """A data frame with the columns of some quantities, in the order of their names.

    Raises
    ------
    ImportError
        without pandas
    ValueError
        for unknown quantities, and for a trajectory without its problem
    """
    wanted = [quantities] if isinstance(quantities, str) else _check.names("quantities", quantities)
    for name in wanted:
        if name not in QUANTITIES:
            raise _check.unknown("quantity", name, QUANTITIES)
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: run `pip install 'rbdae[study]'`") from None
    if trajectory.problem is None:
        raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
    columns = [column for name in wanted for column in QUANTITIES[name](trajectory)]
    names, index = [name for name, _ in columns], pandas.Index(trajectory.t, name="t [s]")
    # names of bodies are free: a dictionary would lose one of two columns that happen to have the same name
    if any(values.dtype == bool for _, values in columns):
        out = pandas.DataFrame({k: values for k, (_, values) in enumerate(columns)})
        return out.set_axis(names, axis=1).set_axis(index, axis=0)
    return pandas.DataFrame(
        np.stack([values for _, values in columns], axis=1) if columns else None, index=index, columns=names
    )


def units(problem: Problem) -> tuple[str, ...]:
    """The unit of each unknown, in the order of ``problem.labels``; empty for numbers, and where it depends on the
    formulation: quasi-velocities of joints, internal states of forces, multipliers."""
    layout, turns = problem.layout, "" if problem.workspace.settings.chart.internal else "rad"
    out = []
    for k, label in enumerate(problem.labels):
        name = label.rpartition(".")[2]
        if k < layout.q.stop:
            out.append("m" if name in ("x", "y", "z") else turns)
        elif k < layout.v.stop:
            out.append(_velocity_unit(name))
        else:
            out.append("")
    return tuple(out)


def _velocity_unit(name: str) -> str:
    if name.startswith("nu"):
        return ""
    if name.startswith("pi_"):
        return "kg m^2/s"
    return _VELOCITIES.get(name, "1/s")


def _named(name: str, unit: str) -> str:
    return f"{name} [{unit}]" if unit else name


def _unknowns(trajectory: Trajectory) -> _Columns:
    problem = trajectory.problem
    known = units(problem) if isinstance(problem, Problem) else ("",) * trajectory.y.shape[1]
    for k, (label, unit) in enumerate(zip(problem.labels, known, strict=True)):
        yield _named(label, unit), trajectory.y[:, k]


def _states(trajectory: Trajectory) -> _Columns:
    from rbdae.plotting import continuous_quaternions  # not needed to solve

    for body, state in trajectory.states.items():
        yield from _vector(state.position, [f"{body}.position.{s} [m]" for s in "xyz"])
        yield from _vector(continuous_quaternions(state.orientation), [f"{body}.quaternion.{k}" for k in range(4)])
        yield from _vector(state.velocity, [f"{body}.velocity.{s} [m/s]" for s in "xyz"])
        yield from _vector(state.angular_velocity, [f"{body}.angular_velocity.{k} [rad/s]" for k in (1, 2, 3)])


def _energy(trajectory: Trajectory) -> _Columns:
    for name in ("kinetic", "potential", "total", "work", "balance"):
        yield f"energy.{name} [J]", getattr(trajectory.energy, name)


def _momentum(trajectory: Trajectory) -> _Columns:
    yield from _vector(trajectory.momentum.linear, [f"momentum.linear.{s} [kg m/s]" for s in "xyz"])
    yield from _vector(trajectory.momentum.angular, [f"momentum.angular.{s} [kg m^2/s]" for s in "xyz"])


def _drift(trajectory: Trajectory) -> _Columns:
    yield "drift.position", trajectory.drift.position
    yield "drift.velocity", trajectory.drift.velocity


def _reactions(trajectory: Trajectory) -> _Columns:
    for joint, of_bodies in trajectory.reactions.items():
        for body, reaction in of_bodies.items():
            yield from _vector(reaction.force, [f"{joint} on {body}.force.{s} [N]" for s in "xyz"])
            yield from _vector(reaction.torque, [f"{joint} on {body}.torque.{s} [N m]" for s in "xyz"])
    for joint, of_bodies in trajectory.reactions.items():  # columns that only redundant systems have
        for body, reaction in of_bodies.items():
            if not reaction.unique:
                sure = np.concatenate([reaction.unique_force_in_space, reaction.unique_torque_in_space])
                names = [f"{joint} on {body}.{what}.{s} is unique" for what in ("force", "torque") for s in "xyz"]
                yield from zip(names, np.repeat(sure[:, None], len(trajectory.t), axis=1), strict=True)


def _vector(values: Mat, names: list[str]) -> _Columns:
    return zip(names, np.asarray(values).T, strict=True)


QUANTITIES: Final[dict[str, Callable[[Trajectory], _Columns]]] = {
    "unknowns": _unknowns,
    "states": _states,
    "energy": _energy,
    "momentum": _momentum,
    "drift": _drift,
    "reactions": _reactions,
}
"""What a table can have, by name."""

__all__ = ["QUANTITIES", "Trajectory", "frame", "units"]
