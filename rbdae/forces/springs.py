"""The linear bushing, with three or six components; a spring with a damper and a load between two points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.body import checked_orientation, principal
from rbdae.forces.base import AbstractPairForce, Symbol, law_along
from rbdae.forces.element import NONE, AnyElement, Element, Load, along
from rbdae.inputs import Input
from rbdae.joints.primitives import Coincidence
from rbdae.quantities.coordinate import Coordinate, axes, distance
from rbdae.rotations.vectors import rotation_matrices

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


def _rest(value: ArrayLike | Rotation | None, force: Any = None, field: Any = None) -> Vec | None:
    return None if value is None else checked_orientation(force._owner, value, "rest")


def _tensor(value: ArrayLike, force: Any = None, field: Any = None) -> Mat:
    """A symmetric positive semidefinite matrix from one number, its diagonal or itself."""
    out = _check.symmetric(force._owner, field.name, value, (), (3,), (3, 3))
    if principal(out, _check.largest(out) or 1.0)[0] < -_check.ROUNDING:
        raise ValueError(
            f"{force._owner}: {field.name} must not be negative (positive semidefinite as a matrix), got "
            f"{_check.show(value)}; check its sign"
        )
    return out


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Bushing(AbstractPairForce):
    """Linear spring and damper between two points, in spatial directions ([NS], Example C).

    With P = (x_a + R_a at_a) - (x_b + R_b at_b) the force on `a` at its point is -K P - D Pdot; the opposite
    one acts on `b` at its own. The potential is P . K P / 2.

    With a rotational stiffness or damping it has six components. R = R_b^T R_a R_rest^T, the rotation of `a` relative
    to `b` from the position of rest, is a turn by phi about a unit vector n. The potential is

        (1 - cos phi) n . Kr n = tr((tr(Kr) I/2 - Kr) (I - R)),

    for small angles half (phi n) . Kr (phi n). About a principal axis of Kr the torque on `a` is -k sin phi, and the
    opposite one acts on `b`. It is smaller than that of a linear spring by phi^2/6 (1 % at 14 degrees, 10 % at 45), has
    its maximum at a quarter of a turn, and is zero at half a turn. The damping acts on the rate of theta = sin(phi) n:
    about a fixed axis the torque is -d cos(phi)^2 phidot, which is zero at a quarter of a turn. Use
    `rbdae.forces.TorsionalSpringDamper` for large angles about the axis of a joint.

    Parameters
    ----------
    a, b : Body
        Without b, the ground.
    stiffness, damping : float, (3,) or (3, 3) array_like
        K in N/m and D in N s/m, in space: one number for all directions, one for each axis, or a symmetric
        positive semidefinite matrix.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    rotational_stiffness, rotational_damping : float, (3,) or (3, 3) array_like, optional
        Kr in N m/rad and Dr in N m s/rad, as the translational ones; about the axes of the frame of `b` (for the ground
        those of space).
    rest : Rotation, (4,) or (3, 3) array_like, optional
        The orientation of `a` relative to `b` at which there is no torque; without it that in which the bodies were
        added.
    """

    stiffness: Mat = attrs.field(converter=_tensor, kw_only=True)
    damping: Mat = attrs.field(default=0.0, converter=_tensor, kw_only=True)
    rotational_stiffness: Mat = attrs.field(default=0.0, converter=_tensor, kw_only=True)
    rotational_damping: Mat = attrs.field(default=0.0, converter=_tensor, kw_only=True)
    rest: Vec | None = attrs.field(default=None, converter=_rest, kw_only=True)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)

    @property
    def symbol(self) -> Symbol:
        return Symbol("spring", tuple(zip(self.bodies, (self.at_a, self.at_b), strict=False)))

    def elements(self) -> tuple[AnyElement, ...]:
        """The translational spring, and elements for the rotation if it has stiffness or damping."""
        between = ((Coincidence(self.at_a, self.at_b).A, np.zeros(8)),)
        out: list[AnyElement] = [Element((between,), stiffness=self.stiffness, damping=self.damping, shape="point")]
        if not (self.rotational_stiffness.any() or self.rotational_damping.any()):
            return tuple(out)
        if self.rest is not None:
            rest = rotation_matrices(self.rest)
        elif self.b is not None:
            rest = self.b.rotation.T @ self.a.rotation
        else:
            rest = self.a.rotation
        d, e = axes(1), axes(0, rest)
        if self.rotational_stiffness.any():  # R_ij = d_i . e_j: a constant force along one form
            E = 0.5 * np.trace(self.rotational_stiffness) * np.eye(3) - self.rotational_stiffness
            form, one = tuple(zip(d, E @ e, strict=True)), Load(_check.frozen(np.ones(1)))
            out.append(Element((form,), one, level=np.trace(E)))
        if self.rotational_damping.any():
            theta = tuple(((0.5 * d[j], e[i]), (-0.5 * d[i], e[j])) for i, j in ((1, 2), (2, 0), (0, 1)))
            out.append(Element(theta, damping=self.rotational_damping))
        return tuple(out)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class SpringDamper(AbstractPairForce):
    """Spring, damper and actuator along the line between two points.

    With l the distance of the points, the tension (which pulls them together) is

        f = stiffness (l - length) + damping ldot + force(t).

    The potential is stiffness (l - length)^2 / 2, plus force l if that is constant. The points must not meet: the line
    would have no direction (`rbdae.forces.Bushing` has no such limit).

    Parameters
    ----------
    a, b : Body
        Without b, the ground.
    stiffness, damping : float
        N/m and N s/m.
    length : float
        Free length, m.
    force : float, Input or callable, optional
        Tension of an actuator, N: a number, a function (t), or a law (t, length, rate) of the distance of the points
        (m) and its rate (m/s), with `inputs`, as of `rbdae.forces.Motor`.
    at_a, at_b : (3,) array_like
        The points in the body frames.
    """

    inputs: Mapping[str, Input] | None = attrs.field(default=None, kw_only=True)
    stiffness: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    damping: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    length: float = attrs.field(default=0.0, converter=_check.amount, kw_only=True)
    at_a: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    at_b: Vec = attrs.field(default=_check.ORIGIN, converter=_check.point, kw_only=True)
    force: Load = attrs.field(default=NONE, converter=law_along, kw_only=True)

    def acts_along(self) -> tuple[Coordinate]:
        """The distance of the points; ``quantity("force")`` is the tension."""
        return (distance("length", self.at_a, self.at_b),)

    @property
    def symbol(self) -> Symbol:
        return Symbol("spring", tuple(zip(self.bodies, (self.at_a, self.at_b), strict=False)))

    def elements(self) -> tuple[AnyElement, ...]:
        numbers = {"stiffness": self.stiffness, "damping": self.damping, "rest": self.length}
        return (along(*self.acts_along(), load=self.force, sign=-1.0, **numbers),)
