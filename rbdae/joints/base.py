"""The definition of a joint."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import twin
from rbdae.body import Body, caption, describe
from rbdae.joints.primitives import Primitive
from rbdae.motion import Motion
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity, named, of_coordinates

FreeMotion: TypeAlias = Literal["rotation", "translation", "plane", "ball"]
"""A relative motion that a joint leaves free and that a force can act on: the rotation about its axis, the translation
along its axis, the two translations across its axis ("plane"), or the rotations about a point ("ball")."""

ALL_ROTATIONS: Mat = _check.frozen(np.eye(6)[3:])
"""Rows of a twist: the angular velocity."""


@final
@dataclass(frozen=True, slots=True)
class Rheonomic:
    """How a joint's first primitive depends on time: its kind, the law, and for ANGLE the two directions between which
    its first direction turns (`rbdae.kernels.constraints.drives` has the kinds)."""

    kind: int
    motion: Motion
    e1: Vec | None = None
    e2: Vec | None = None


def _second_body(b: Body, joint: Any = None, field: Any = None) -> Body:
    """The second body of a joint; the first one and the name are checked here, too."""
    describe("joint", type(joint).__name__, joint.a, b, joint.name)
    return b


@attrs.define(eq=False, field_transformer=_check.of_parts, on_setattr=attrs.setters.NO_OP)
class AbstractJoint(ABC):
    """A joint between two bodies, which is data: a list of primitive constraints.

    What a joint supplies, with the laws that `tests/laws` checks for every joint of the registry `rbdae.joints.JOINTS`:

    1. It is a final frozen value that is equal only to itself, ``attrs.frozen(eq=False)``; one that adds no field to a
       frozen class, such as `Revolute`, needs no decorator. Its fields include the bodies `a` and `b`, the points
       `at_a` and `at_b` on them, each in its body's frame, and `name`. The torque of a reaction on a body is about the
       joint's point of that body.
    2. Its fields have converters (`rbdae._check.of_parts`) that check everything that does not need the system.
    3. `primitives` gives the constraints. They count `a` as the first body and `b` as the second, with points and axes
       in the frames of the bodies. Laws: the number of rows never changes, and the rows are independent in every
       position in which the joint can work.
    4. `velocity_rows` gives the independent velocities of a body that hangs from another one by this joint. Law:
       [G; S] is regular in every position of the joint. A joint that leaves this method out works in every formulation,
       but trees that contain it take the dense form for loops: O(n^3) in place of O(n). A joint for which no constant
       S exists says so by (None, None).
    5. `free_motions` are the relative motions on which forces along joints may act. Law: the primitives leave them
       free. The default is none: `rbdae.forces.Friction` and its like then refuse the joint.
    6. `rheonomic`, for a drive: how the first primitive depends on time.
    7. `agreements`, for a joint that keeps the relative rotation: the directions that agree in it, where the equations
       hold half a turn away, too. The start is then found on the side that is meant.
    8. `coordinates`: the numbers that it leaves free, of which its quantities are made (`quantity`). Law: on the
       constraints the relative motion has no other part. `prescribed`, for a rod or a drive: the one that its first
       equation prescribes.
    9. `default_name`: only if it is not the name of the class in small letters.
    """

    free_motions: ClassVar[frozenset[FreeMotion]] = frozenset()

    name: str | None = attrs.field(default=None, kw_only=True)
    a: Body = attrs.field()
    b: Body = attrs.field(converter=_second_body)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point)

    @property
    def _owner(self) -> str:
        """The name in error messages."""
        return caption("joint", type(self).__name__, (self.a, self.b), self.name)

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The constraints that the joint consists of."""

    def rheonomic(self) -> Rheonomic | None:
        """How its first primitive depends on time; None if it does not."""
        return None

    def coordinates(self) -> tuple[Coordinate, ...]:
        """The coordinates that it leaves free, of the body `a` and the body `b`; none if the joint does not say."""
        return ()

    def prescribed(self) -> Coordinate | None:
        """The coordinate that its first equation prescribes, of a rod or a drive: its own force or torque acts along
        it."""
        return None

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its quantities, by name: ``angle``, ``rate``, ``acceleration``, ``torque``, ``power``, ..."""
        own = self.prescribed()
        return of_coordinates(self, self.coordinates() if own is None else (*self.coordinates(), own))

    def quantity(self, name: str) -> Quantity:
        """One of its quantities; `Revolute` and others have them as attributes, too. Raises ValueError for others."""
        return named(self, name)

    def agreements(self) -> tuple[tuple[Vec, Vec], ...]:
        """Pairs of unit vectors, in the frames of `a` and `b`, that are the same direction in the joint's position,
        where its equations hold for opposite ones, too; none for joints that mean both."""
        return ()

    def velocity_rows(self) -> tuple[Mat | None, Mat | None]:
        """Constant rows S, one (6 - n_constraints, 6) matrix per body, such that [G; S] is regular in every position of
        the joint, with G the joint's gradient with respect to the twist of that body at any of its points.

        S acts on the body's twist (R^T xdot, Omega) in its own frame and gives the quasi-velocities of that body as a
        child in the null-space form. None for a body if no constant S exists; a tree in which it is the child takes the
        dense form for loops, which costs O(n^3) in place of O(n).
        """
        return None, None

    @property
    def n_constraints(self) -> int:
        """Number of equations; [NS], Table 2."""
        return sum(primitive.rows for primitive in self.primitives())

    @property
    def degrees_of_freedom(self) -> int:
        """The degrees of freedom of one body relative to the other, if the equations are independent."""
        return 6 - self.n_constraints

    @property
    def default_name(self) -> str:
        """The name of a joint to which the user gave none, without its number: "revolute" for "revolute-1",
        "revolute-2".

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
