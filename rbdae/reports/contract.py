"""The part of a run that a report asks for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.adapter import Reason, Stats, Steps
from rbdae.plotting.quantities import Trajectory


class Run(Trajectory, Protocol):
    """A run, for example a `rbdae.Solution`; it has the observables that are shown (`rbdae.observables.TABLE`)."""

    @property
    def problem(self) -> Any:
        """The problem that was solved; None for a run loaded without its problem."""

    @property
    def y(self) -> Mat:
        """Unknowns, (m, n)."""

    @property
    def reason(self) -> Reason:
        """How it ended."""

    @property
    def success(self) -> bool:
        """Whether it reached its end."""

    @property
    def message(self) -> str:
        """The same in a sentence."""

    @property
    def stats(self) -> Stats:
        """The cost of the run."""

    @property
    def rtol(self) -> float:
        """Relative tolerance."""

    @property
    def atol(self) -> float | Vec:
        """Absolute tolerance."""

    @property
    def events(self) -> tuple[Any, ...]:
        """Occurrences of each event."""

    @property
    def segments(self) -> Any:
        """The problems of a run that changed its selection."""

    @property
    def steps(self) -> Steps | None:
        """Accepted steps, if they are not the times."""

    @property
    def options(self) -> Mapping[str, str]:
        """The other options that were asked for."""

    @property
    def forces(self) -> Mapping[str, Any]:
        """The quantities of forces, actuators and blocks by name."""

    @property
    def singular_times(self) -> Vec:
        """When the joints passed a singular position."""

    def __call__(self, t: ArrayLike) -> Mat:
        """y at times."""


__all__ = ["Run"]
