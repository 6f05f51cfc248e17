"""`Solution`: a trajectory and everything that its problem can say about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.adapter import Reason, Stats
from rbdae.solving.singular import singular_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from rbdae.problem.problem import Problem
    from rbdae.problem.projection import Projection

_FORMAT = 1


@final
@dataclass(frozen=True, slots=True)
class EventLog:
    """Occurrences of one event: times `t` (k,) and unknowns `y` (k, n)."""

    t: Vec
    y: Mat


@final
@dataclass(frozen=True, slots=True)
class Drift:
    """Largest violation of the constraints over time: `position` (m,), `velocity` (m,), in their own units."""

    position: Vec
    velocity: Vec


@final
@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """A trajectory.

    Parameters
    ----------
    problem : what was solved; None for a solution loaded without its problem
    t : times, shape (m,)
    y : unknowns, shape (m, n), in the order of ``problem.labels``
    solver : ``"package:method"``
    reason : how the run ended
    message : the same in a sentence, with the time, the solver's own words and what to try
    stats : what it cost
    rtol, atol : tolerances that were asked for
    events : one `EventLog` for each event function
    """

    problem: Problem | None
    t: Vec
    y: Mat
    solver: str
    reason: Reason
    message: str
    stats: Stats
    rtol: float
    atol: float | Vec
    events: tuple[EventLog, ...] = ()

    @property
    def success(self) -> bool:
        """Whether the run reached its end or a terminal event."""
        return self.reason in (Reason.FINISHED, Reason.EVENT)

    def __repr__(self) -> str:
        span = f"{len(self.t)} times from {self.t[0]:g} to {self.t[-1]:g}" if len(self.t) else "no times"
        return f"Solution({self.solver}, {span}, success={self.success}: {self.message})"

    @property
    def _problem(self) -> Problem:
        if self.problem is None:
            raise ValueError("this solution was loaded without its problem: use rbdae.load(path, problem)")
        return self.problem

    @cached_property
    def states(self) -> Mapping[str, Any]:
        """`BodyState` s by the name of the body, vectorised over `t`."""
        return self._problem.states(self.t, self.y)

    @cached_property
    def energy(self) -> Any:
        """`Energy`: `kinetic`, `potential` and `total`, shape (m,), in joules."""
        return self._problem.energy(self.t, self.y)

    @cached_property
    def singular_times(self) -> Vec:
        """Times near which the joints of a loop passed a singular position, see `rbdae.solving.singular`."""
        return singular_times(self._problem, self.t, self.y)

    @cached_property
    def momentum(self) -> Any:
        """`Momentum`: `linear` and `angular` (about the origin), shape (m, 3)."""
        return self._problem.momentum(self.t, self.y)

    @cached_property
    def drift(self) -> Drift:
        """Largest violation of the position and velocity constraints at each time."""
        if not len(self.t):
            return Drift(np.empty(0), np.empty(0))
        c = self._problem.constraints(self.t, self.y)
        return Drift(
            np.abs(c.position).max(axis=1, initial=0.0),
            np.abs(c.velocity).max(axis=1, initial=0.0),
        )

    @cached_property
    def multipliers(self) -> Mat:
        """Lagrange multipliers, shape (m, number of constraints)."""
        return self._problem.multipliers(self.t, self.y)

    @cached_property
    def reactions(self) -> Mapping[str, Mapping[str, Any]]:
        """Spatial force and torque, shape (m, 3), of each joint on each of its bodies."""
        return self._problem.reactions(self.t, self.y)

    def projected(self, projection: Projection | None = None) -> Solution:
        """This trajectory with every row projected onto the constraints ([NS], section 6)."""
        from rbdae.solving.run import bind_projection

        projector = bind_projection(self._problem, True if projection is None else projection)
        y = self.y.copy()
        if projector is None:
            raise ValueError(f"projected needs a rbdae.Projection, got {projection!r}")
        for t, row in zip(self.t, y, strict=True):
            projector(float(t), row)
        return replace(self, y=y, stats=replace(self.stats, projections=projector.count))

    def save(self, path: str | Path) -> Path:
        """Write a ``.npz`` file: `t`, `y`, events, and the rest as JSON text under ``metadata``.

        Returns
        -------
        Path
            where it was written; ``.npz`` is added to names without it
        """
        target = Path(path)
        if target.suffix != ".npz":
            target = target.with_name(target.name + ".npz")
        metadata = {
            "format": _FORMAT,
            "solver": self.solver,
            "reason": self.reason.name,
            "message": self.message,
            "stats": asdict(self.stats),
            "rtol": self.rtol,
            "atol": np.asarray(self.atol).tolist(),
            "events": len(self.events),
            "problem": None if self.problem is None else _signature(self.problem),
        }
        arrays = {"t": self.t, "y": self.y, "metadata": np.array(json.dumps(metadata))}
        if self.problem is not None and self.problem.has_gauges:
            arrays |= self.problem.gauge_arrays()
        for k, event in enumerate(self.events):
            arrays[f"event_{k}_t"], arrays[f"event_{k}_y"] = event.t, event.y
        np.savez_compressed(target, **arrays)  # type: ignore[arg-type]  # numpy's stub for **kwargs
        return target

    def plot(self) -> Figure:
        """Positions, orientations, energy error and drift over time; needs matplotlib."""
        from rbdae.plotting.pictures import plot_solution

        return plot_solution(self)


def _signature(problem: Problem) -> dict[str, Any]:
    """What must agree between a stored trajectory and the problem it is read with."""
    return {
        "formulation": problem.formulation,
        "rotation": problem.rotation,
        "velocity": problem.velocity,
        "labels": list(problem.labels),
    }


def load(path: str | Path, problem: Problem | None = None) -> Solution:
    """Read what `Solution.save` wrote.

    Parameters
    ----------
    path : the ``.npz`` file
    problem : the problem that was solved, formulated anew; without it only the arrays are there

    Raises
    ------
    ValueError
        for another kind of file, and for a problem whose form or unknowns differ from the stored ones
    """
    with np.load(Path(path), allow_pickle=False) as stored:
        if "metadata" not in stored:
            raise ValueError(f"{path} was not written by Solution.save: it has no metadata")
        metadata = json.loads(str(stored["metadata"]))
        if metadata["format"] != _FORMAT:
            raise ValueError(f"{path} has format {metadata['format']}, this version reads format {_FORMAT}")
        t, y = stored["t"], stored["y"]
        events = tuple(EventLog(stored[f"event_{k}_t"], stored[f"event_{k}_y"]) for k in range(metadata["events"]))
        gauges = {name: stored[name] for name in stored if name.startswith("gauge_")}
    if problem is not None and metadata["problem"] is not None:
        mine = _signature(problem)
        for key, value in metadata["problem"].items():
            if mine[key] != value:
                raise ValueError(f"{path} was solved with {key} {value!r}, but the problem has {mine[key]!r}")
        if gauges:
            problem = problem.with_gauges(gauges)
    atol = np.asarray(metadata["atol"], dtype=float)
    return Solution(
        problem=problem,
        t=t,
        y=y,
        solver=metadata["solver"],
        reason=Reason[metadata["reason"]],
        message=metadata["message"],
        stats=Stats(**metadata["stats"]),
        rtol=metadata["rtol"],
        atol=float(atol) if atol.ndim == 0 else atol,
        events=events,
    )


__all__ = ["Drift", "EventLog", "Solution", "load"]
