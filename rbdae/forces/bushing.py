"""The linear translational bushing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self, final

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae._frozen import fill, twin
from rbdae.body import Body
from rbdae.forces.base import AbstractForce
from rbdae.joints.base import title
from rbdae.joints.primitives import Coincidence


@final
@dataclass(frozen=True, slots=True, eq=False, init=False)
class Bushing(AbstractForce):
    """Linear spring and damper between two points, in spatial directions (null-space paper, Example C).

    With P = (x_a + R_a at_a) - (x_b + R_b at_b) the force on `a` at its point is -K P - D Pdot; the opposite
    one acts on `b` at its own. The potential is P . K P / 2.

    Parameters
    ----------
    a : Body
    b : Body, optional
        Without it, the ground of the system to which the bushing is added.
    stiffness, damping : float, (3,) or (3, 3) array_like
        K in N/m and D in N s/m, in space: one number for all directions, one for each axis, or a symmetric
        positive semidefinite matrix.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "bushing-1" and so on.

    Attributes
    ----------
    A : (8,) array
        Coefficients of P in natural coordinates, as in `rbdae.joints.Coincidence`.
    """

    a: Body
    b: Body | None
    stiffness: Mat
    damping: Mat
    A: Vec
    name: str | None

    def __init__(
        self,
        a: Body,
        b: Body | None = None,
        *,
        stiffness: ArrayLike,
        damping: ArrayLike = 0.0,
        at_a: ArrayLike = (0.0, 0.0, 0.0),
        at_b: ArrayLike = (0.0, 0.0, 0.0),
        name: str | None = None,
    ) -> None:
        owner = title("Bushing", a, b, name, "force")
        fill(
            self,
            a=a,
            b=b,
            stiffness=_check.semidefinite(owner, "stiffness", stiffness),
            damping=_check.semidefinite(owner, "damping", damping),
            A=Coincidence(_check.vector(owner, "at_a", at_a), _check.vector(owner, "at_b", at_b)).A,
            name=name,
        )

    @property
    def at_a(self) -> Vec:
        """The point on `a` in its frame, (3,)."""
        return self.A[1:4]

    @property
    def at_b(self) -> Vec:
        """The point on `b` in its frame, (3,)."""
        return _check.frozen(-self.A[5:8])

    @property
    def bodies(self) -> tuple[Body, ...]:
        """(a, b), or (a,) as long as the ground stands in for `b` and no system has kept it."""
        return (self.a,) if self.b is None else (self.a, self.b)

    def kept(self, name: str, ground: Body) -> Self:
        """The same bushing with a name and two bodies."""
        return twin(self, name=name, b=ground if self.b is None else self.b)


__all__ = ["Bushing"]
