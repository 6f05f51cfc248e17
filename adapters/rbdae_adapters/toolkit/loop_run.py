"""Runs of both kinds of loops, as those who drive them know them."""

from __future__ import annotations

from typing import Any, Protocol

from rbdae._arrays import Vec
from rbdae.adapter import Stats
from rbdae_adapters.toolkit.events import Dense


class Run(Protocol):
    """A loop and the end of it.

    Attributes
    ----------
    loop : a `rbdae.machine.loops.host.Loop` or `rbdae.machine.loops.fixed_host.FixedLoop`
    continues : whether the loop can begin again from another state of the same unknowns, see `Loop.restart`
    """

    loop: Any
    continues: bool

    def failed(self, status: int) -> None:
        """Raise the exception behind a word of the loop, or `GaveUp`, or make the loop try again."""

    def replace(self, t: float, y: Vec) -> None:
        """Continue from another state at the same time."""

    def dense(self) -> Dense:
        """The dense output of the last step."""

    def finish(self, stats: Stats) -> None:
        """The loop's counts."""


__all__ = ["Run"]
