"""Mechanisms from the literature, as functions that return a `System`; `MODELS` lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, final

from rbdae.models.heavy_top import heavy_top as heavy_top
from rbdae.models.linked_bodies import linked_bodies as linked_bodies
from rbdae.models.tennis_racket import tennis_racket as tennis_racket
from rbdae.system import System


@final
@dataclass(frozen=True, slots=True)
class Entry:
    """A line of `MODELS`; calling it builds the system.

    Attributes
    ----------
    build : the function, whose keyword arguments are what the source varies
    t_end : until when two good solvers can be compared, s
    summary : one line
    """

    build: Callable[..., System]
    t_end: float
    summary: str

    def __call__(self, **options: Any) -> System:
        """The system."""
        return self.build(**options)


MODELS: Final[dict[str, Entry]] = {
    "heavy_top": Entry(heavy_top, 2.0, "heavy top on a fixed point (null-space paper, Example A)"),
    "tennis_racket": Entry(
        tennis_racket, 1.0, "unstable free rotation about the medial axis (null-space paper, Example B)"
    ),
    "linked_bodies": Entry(
        linked_bodies, 0.5, "two bodies, spherical joint and bushing, chaotic (null-space paper, Example C)"
    ),
}

__all__ = ["MODELS", "Entry", "heavy_top", "linked_bodies", "tennis_racket"]
