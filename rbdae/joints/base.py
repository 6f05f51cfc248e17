"""What a joint is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Self, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import twin
from rbdae.body import Body
from rbdae.joints.primitives import Primitive
from rbdae.motion import Motion


@final
@dataclass(frozen=True, slots=True)
class Rheonomic:
    """How a joint's first primitive depends on time: its kind, the law, and for ANGLE the two directions between which
    its first direction turns (`rbdae.kernels.constraints.drives` has the kinds)."""

    kind: int
    motion: Motion
    e1: Vec | None = None
    e2: Vec | None = None


ALL_TURNS: Mat = _check.frozen(np.eye(6)[3:])
"""Rows of a twist: the angular velocity."""


class AbstractJoint(ABC):
    """A joint between two bodies, which is data: a list of primitive constraints.

    Duties of a joint:

    1. it is a final frozen dataclass with identity as equality (``eq=False``) and fields `a`, `b` and `name`;
    2. its constructor checks everything that does not need the system, beginning with `title`;
    3. `primitives` counts body `a` as the first and `b` as the second, with points and axes in their frames,
       and has always the same number of rows; its equations are independent where the joint can work.
    """

    __slots__ = ()

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    name: str | None

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The constraints that the joint consists of."""

    def rheonomic(self) -> Rheonomic | None:
        """How its first primitive depends on time; None where it does not."""
        return None

    def freedoms(self) -> tuple[Mat | None, Mat | None]:
        """For either body rows (6 - n_constraints, 6) on its twist (R^T xdot, Omega), in its own frame and of any of
        its points, that are independent of the joint's equations wherever the joint stands: the quasi-velocities of
        that body as a child in the null-space form. None where no constant rows are so; trees with such a joint are
        treated as loops are."""
        return None, None

    @property
    def n_constraints(self) -> int:
        """Number of equations; [NS], Table 2."""
        return sum(primitive.rows for primitive in self.primitives())

    @property
    def degrees_of_freedom(self) -> int:
        """Of one body relative to the other, where the equations are independent."""
        return 6 - self.n_constraints

    @property
    def default_name(self) -> str:
        """What a system calls a joint without a name: "revolute" for "revolute-1", "revolute-2".

        It is a part of labels, so it stays if the class is renamed.
        """
        return type(self).__name__.lower()

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The first and the second body."""
        return self.a, self.b

    def named(self, name: str) -> Self:
        """The same joint with a name."""
        return twin(self, name=name)


def title(kind: str, a: Body, b: Body | None, name: str | None, what: str = "joint") -> str:
    """How messages call a joint or force; refuses what is no pair of different bodies and no name.

    `b` is None where the ground stands in for it.
    """
    bodies = (a,) if b is None and what == "force" else (a, b)
    for body in bodies:
        if not isinstance(body, Body):
            raise TypeError(
                f"{what} {kind}: bodies must be what System.add_body returned, or system.ground, got "
                f"{_check.show(body)} of type {type(body).__name__}"
            )
    out = f"{what} {kind}({', '.join(repr(body.name) for body in bodies if body is not None)})"
    if name is not None:
        out = f"{what} {_check.name(what, name, ())!r}"
    if a is b or (b is None and a.fixed):
        raise ValueError(f"{out}: it connects body {a.name!r} with itself; name two different bodies")
    return out


__all__ = ["ALL_TURNS", "AbstractJoint", "Rheonomic", "title"]
