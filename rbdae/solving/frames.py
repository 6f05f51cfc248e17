"""A trajectory as a table of pandas: a row for each time, a column for each quantity, with its unit in its name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec
from rbdae.problem.observables import TABLE, with_unit
from rbdae.problem.problem import Problem

if TYPE_CHECKING:
    from pandas import DataFrame

FrameName: TypeAlias = Literal[
    "unknowns", "states", "energy", "momentum", "drift", "reactions", "joints", "forces",
]  # fmt: skip
"""A quantity of `Solution.to_pandas`; observables that are registered are further ones."""

_Columns = Iterator[tuple[str, Vec]]

_VELOCITIES: Final = {
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("px", "py", "pz"), "kg m/s"),
    **dict.fromkeys(("Omega1", "Omega2", "Omega3", "omega1", "omega2", "omega3"), "rad/s"),
}


def frame(run: Any, quantities: str | Iterable[str]) -> DataFrame:
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
        if name not in (known := ("unknowns", *TABLE)):
            raise _check.unknown("quantity", name, known)
    try:
        import pandas
    except ImportError:
        raise ImportError("to_pandas needs pandas: run `pip install pandas`") from None
    if run.problem is None:
        raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
    listed = [column for name in wanted for column in columns(run, name)]
    names, index = [name for name, _ in listed], pandas.Index(run.t, name="t [s]")
    # names of bodies are free: a dictionary would lose one of two columns that happen to have the same name
    if any(values.dtype == bool for _, values in listed):
        out = pandas.DataFrame({k: values for k, (_, values) in enumerate(listed)})
        return out.set_axis(names, axis=1).set_axis(index, axis=0)
    return pandas.DataFrame(
        np.stack([values for _, values in listed], axis=1) if listed else None, index=index, columns=names
    )


def columns(run: Any, name: str) -> _Columns:
    """The columns of the unknowns, or of an observable."""
    if name == "unknowns":
        known = units(run.problem) if isinstance(run.problem, Problem) else ("",) * run.y.shape[1]
        yield from zip(map(with_unit, run.problem.labels, known), run.y.T, strict=True)
        return
    value = getattr(run, name)
    yield from TABLE[name].columns(value)
    if name == "reactions":
        yield from _uniqueness(run)


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


def _uniqueness(run: Any) -> _Columns:
    """Columns that only redundant systems have."""
    for joint, of_bodies in run.reactions.items():
        for body, reaction in of_bodies.items():
            if not reaction.unique:
                sure = np.concatenate([reaction.unique_force_in_space, reaction.unique_torque_in_space])
                each = [f"{what}.{s}" for what in ("force", "torque") for s in "xyz"]
                names = [f"{joint} on {body}.{part} is unique" for part in each]
                yield from zip(names, np.repeat(sure[:, None], len(run.t), axis=1), strict=True)
