"""A joint with an axis: points, axes and normals on both bodies."""

from __future__ import annotations

from dataclasses import dataclass

from rbdae import _check
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import fill
from rbdae.body import Body
from rbdae.joints.base import AbstractJoint, title
from rbdae.joints.frames import frames


@dataclass(frozen=True, slots=True, eq=False, init=False)
class AbstractAxialJoint(AbstractJoint):
    """What the joints with an axis have in common: their fields and the checks of their constructor."""

    a: Body
    b: Body
    at_a: Vec
    at_b: Vec
    axis_a: Vec
    axis_b: Vec
    normal_a: Vec
    normal_b: Vec
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        axis_a: ArrayLike = (0.0, 0.0, 1.0),
        axis_b: ArrayLike | None = (0.0, 0.0, 1.0),
        name: str | None = None,
        *,
        normal_a: ArrayLike | None = None,
        normal_b: ArrayLike | None = None,
    ) -> None:
        self._place(a, b, at_a, at_b, axis_a, axis_b, name, normal_a, normal_b)

    def _place(
        self,
        a: Body,
        b: Body,
        at_a: ArrayLike,
        at_b: ArrayLike,
        axis_a: ArrayLike,
        axis_b: ArrayLike | None,
        name: str | None,
        normal_a: ArrayLike | None,
        normal_b: ArrayLike | None,
        crossed: bool = False,
    ) -> None:
        """Check and set all fields; only for constructors."""
        owner = title(type(self).__name__, a, b, name)
        fill(
            self,
            a=a,
            b=b,
            at_a=_check.vector(owner, "at_a", at_a),
            at_b=_check.vector(owner, "at_b", at_b),
            name=name,
            **frames(owner, a, b, axis_a, axis_b, normal_a, normal_b, crossed),
        )


__all__ = ["AbstractAxialJoint"]
