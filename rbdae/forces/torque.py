"""A given torque on a body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, final

from rbdae._arrays import ArrayLike
from rbdae._frozen import fill
from rbdae.body import Body, describe
from rbdae.forces.base import AbstractForce
from rbdae.forces.element import AnyElement, TimeFunction, frame_of, time_function
from rbdae.forces.forms import torque as torque_element
from rbdae.forces.symbol import Symbol


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Torque(AbstractForce):
    """A given torque on a body.

    The natural forces are tau x d_k / 2 on d_k, since sum d_k x (tau x d_k) = 2 tau for orthonormal directors. If
    these have drifted by a relative delta, the torque has the relative error delta. A torque has no potential.

    Parameters
    ----------
    body : Body
    torque : (3,) array_like, or callable
        N m; a function tau(t) -> (3,) of the time, plain Python or compiled by numba.
    frame : "space" or "body"
        Where the components are.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "torque-1" and so on.
    """

    body: Body
    torque: TimeFunction
    frame: Literal["space", "body"]
    name: str | None

    def __init__(
        self,
        body: Body,
        torque: ArrayLike | Callable[[float], Any],
        frame: Literal["space", "body"] = "space",
        name: str | None = None,
    ) -> None:
        owner = describe("force", "Torque", body, None, name)
        fill(self, body=body, torque=time_function(owner, "torque", torque, 3), frame=frame_of(owner, frame), name=name)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """(body,)."""
        return (self.body,)

    @property
    def symbol(self) -> Symbol:
        """A turn about the vector, at the centre of mass."""
        return Symbol("torque", ((self.body, self.body.center_of_mass),), law=self.torque, turning=self.frame == "body")

    def elements(self) -> tuple[AnyElement, ...]:
        """One element."""
        return (torque_element(self.torque, self.frame == "body"),)


__all__ = ["Torque"]
