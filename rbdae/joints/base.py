"""The definition of a joint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Self, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import field_names, twin
from rbdae.body import Body, caption, describe
from rbdae.joints.primitives import Primitive
from rbdae.motion import Motion
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity, named, of_coordinates

ALL_ROTATIONS: Mat = _check.frozen(np.eye(6)[3:])
"""Rows of a twist that select the angular velocity."""


@final
@dataclass(frozen=True, slots=True)
class Rheonomic:
    """Time dependence of a joint's first primitive: kind (`rbdae.kernels.constraints.drives`), law, and for ANGLE the
    two directions between which its first direction turns."""

    kind: int
    motion: Motion
    e1: Vec | None = None
    e2: Vec | None = None


def _second_body(b: Body, joint: Any = None, field: Any = None) -> Body:
    """The second body of a joint; also checks the first body and the name."""
    describe("joint", type(joint).__name__, joint.a, b, joint.name)
    return b


@attrs.define(eq=False, field_transformer=_check.of_parts, on_setattr=attrs.setters.NO_OP)
class AbstractJoint(ABC):
    """A joint between two bodies, as data: a list of primitive constraints.

    All joints and drives take two different bodies `a` and `b` of one system, one of which may be its ground, points
    `at_a` and `at_b` in their frames, and a `name`, by default that of the class with a number, such as "rod-1".

    A joint supplies the following; `tests/laws` checks the laws for every joint of `rbdae.joints.JOINTS`:

    1. It is a final frozen value that is equal only to itself, ``attrs.frozen(eq=False)``; a class such as `Revolute`
       that adds no field to a frozen class needs no decorator. Its fields include the bodies `a` and `b`, the points
       `at_a` and `at_b` on them, each in its body's frame, and `name`. The torque of a reaction on a body is about the
       joint's point of that body.
    2. Converters of its fields (`rbdae._check.of_parts`) check everything that does not need the system.
    3. `primitives` gives the constraints. They count `a` as the first body and `b` as the second, with points and axes
       in the frames of the bodies. Laws: the number of rows never changes, and the rows are independent in every
       position in which the joint can work.
    4. `velocity_rows` gives the independent velocities of a body that hangs from another one by this joint. Law:
       [G; S] is regular in every position of the joint. A joint with an axis has them, and its coordinates, by
       `AbstractAxialJoint.slides` and `.turns`.
    5. `ball`, for a joint that leaves rotations about a point free: viscous friction acts on all of them as on one.
    6. `rheonomic`, for a drive, is the time dependence of the first primitive.
    7. `agreements`, for a joint that keeps the relative rotation, select the intended position at the start.
    8. `coordinates` are the numbers that it leaves free, along which forces act, and from which its quantities follow
       (`quantity`). Law: on the constraints the relative motion has no other part. `prescribed`, for a rod or a drive,
       is the coordinate that its first equation prescribes.
    9. `default_name`, the name without its number ("revolute" for "revolute-1"), only if it differs from the class name
       in lower case. It is a part of labels, so it stays if the class is renamed.
    """

    ball: ClassVar[bool] = False
    default_name: ClassVar[str] = ""

    name: str | None = attrs.field(default=None, kw_only=True)
    a: Body = attrs.field()
    b: Body = attrs.field(converter=_second_body)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    @property
    def _owner(self) -> str:
        return caption("joint", type(self).__name__, (self.a, self.b), self.name)

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The joint's constraints."""

    def rheonomic(self) -> Rheonomic | None:
        """Time dependence of its first primitive; None if there is no dependence."""
        return None

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates of `b` relative to `a` that it leaves free; empty if the joint names no coordinates."""
        return ()

    def prescribed(self) -> Coordinate | None:
        """The coordinate that the first equation of a rod or a drive prescribes; its force or torque acts along it."""
        return None

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its quantities by name, which are attributes too: ``angle``, ``rate``, ``acceleration``, ``torque`` (on `b`,
        of motors, springs and drives), ``power``, ..."""
        prescribed = self.prescribed()
        return of_coordinates(self, self.coordinates() if prescribed is None else (*self.coordinates(), prescribed))

    def quantity(self, name: str) -> Quantity:
        """One of its quantities. Raises ValueError for an unknown name."""
        return named(self, name)

    def __getattr__(self, name: str) -> Quantity:
        if name.startswith("_") or name in field_names(type(self)) or name not in (found := self.quantities):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        return found[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.quantities]

    def agreements(self) -> tuple[tuple[Vec, Vec], ...]:
        """Pairs of unit vectors in the frames of `a` and `b` that point the same way, although the equations also hold
        for opposite vectors; empty for joints that allow both."""
        return ()

    def velocity_rows(self) -> tuple[Mat | None, Mat | None]:
        """Constant rows S, one (6 - n_constraints, 6) matrix per body, such that [G; S] is regular in every position of
        the joint, with G the joint's gradient with respect to the twist of that body at any of its points.

        S acts on the body's twist (R^T xdot, Omega) in its own frame and gives the quasi-velocities of that body as a
        child in the null-space form. None for a body without constant S; a tree in which it is the child takes the
        dense form for loops, at O(n^3) in place of O(n).
        """
        return None, None

    @property
    def n_constraints(self) -> int:
        """Number of equations; [NS], Table 2."""
        return sum(primitive.rows for primitive in self.primitives())

    @property
    def bodies(self) -> tuple[Body, Body]:
        """The first and the second body."""
        return self.a, self.b

    def named(self, name: str) -> Self:
        """The same joint with a name."""
        return twin(self, name=name)
