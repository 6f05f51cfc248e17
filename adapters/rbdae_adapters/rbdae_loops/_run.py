"""What runs of both kinds of loops are to those who drive them."""

from __future__ import annotations

from typing import Any, Protocol

from rbdae.adapter import Stats
from rbdae_adapters.toolkit import Dense


class Run(Protocol):
    """A loop and the end of it.

    Attributes
    ----------
    loop : a `rbdae.machine.loops.host.Loop` or `rbdae.machine.loops.fixed_host.FixedLoop`
    """

    loop: Any

    def failed(self, status: int) -> None:
        """Raise the exception behind a word of the loop, or `GaveUp`, or make the loop try again."""

    def seen(self) -> None:
        """The caller was asked about the last state."""

    def dense(self) -> Dense:
        """The dense output of the last step."""

    def finish(self, stats: Stats) -> None:
        """The loop's counts."""


__all__ = ["Run"]
