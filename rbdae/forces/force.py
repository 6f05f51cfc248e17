"""A given force at a point of a body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement, TimeFunction, frame_of, time_function
from rbdae.forces.forms import point_force
from rbdae.forces.symbol import Symbol


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Force(AbstractForce):
    """A given force at a point that is fixed in a body.

    With R = [d1 d2 d3] and r the point in the body frame, the natural forces are f on x and r_k f on d_k. A constant
    force in space has the potential -f . (x + R r); one that turns with the body has none.

    Parameters
    ----------
    body : Body
    force : (3,) array_like, or callable
        N; a function f(t) -> (3,) of the time, plain Python or compiled by numba.
    at : (3,) array_like
        The point in the body frame.
    frame : "space" or "body"
        Where the components are: in space, or in the frame of the body (a thrust that turns with it).
    name : str, optional
        Unique among the forces of the system; without it the system chooses "force-1" and so on.
    """

    body: Body
    force: TimeFunction
    at: Vec
    frame: Literal["space", "body"]
    name: str | None

    def __init__(
        self,
        body: Body,
        force: ArrayLike | Callable[[float], Any],
        at: ArrayLike = (0.0, 0.0, 0.0),
        frame: Literal["space", "body"] = "space",
        name: str | None = None,
    ) -> None:
        owner = describe("force", "Force", body, None, name)
        fill(
            self,
            body=body,
            force=time_function(owner, "force", force, 3),
            at=_check.vector(owner, "at", at),
            frame=frame_of(owner, frame),
            name=name,
        )

    @property
    def bodies(self) -> tuple[Body, ...]:
        """(body,)."""
        return (self.body,)

    @property
    def symbol(self) -> Symbol:
        """A vector at the point."""
        return Symbol("force", ((self.body, self.at),), law=self.force, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (point_force(self.at, self.force, self.frame == "body"),)


__all__ = ["Force"]
