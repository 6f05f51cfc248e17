"""Viscous and dry friction of a joint.

Dry friction is regularised: mu N tanh(|v| / v0) against the velocity v replaces the jump of Coulomb's law at v = 0
(`Coulomb` says what v0 does).
"""

from __future__ import annotations

from typing import Any, final

import attrs
import numpy as np

from rbdae import _check
from rbdae.forces.element import AnyElement, Element, Load, UnderReaction, along, of_numbers, time_function
from rbdae.forces.joint_forces import AbstractJointForce, coordinate_of, describe_force, describe_joint
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.joints.base import AbstractJoint
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity, of_rotation

_FLOOR = 1e-6
_ONE = Load(_check.frozen(np.ones(1)))

_SMALL = 1e-6
"""Of v0: a velocity that is added under the root, so that its direction has a derivative at zero. It changes the
friction by 1e-12 of itself at v0."""

VELOCITY = 1e-3
"""v0 that forces have without another one, m/s."""

# ---------------------------------------------------------------- viscous friction


@final
@attrs.frozen(eq=False, init=False, kw_only=True)
class Friction(AbstractJointForce):
    """Viscous friction on the free motions of a joint; `rbdae.forces.Coulomb` is dry friction.

    On the body `b`, and the opposite on `a`:

    * the torque -rotational phidot of each angle among the coordinates of a joint, such as a revolute one;
    * the torque -rotational (omega_b - omega_a) of a spherical or universal joint, by directors as in
      `rbdae.forces.Torque`: it balances between the bodies as exactly as the directors are orthonormal;
    * the force -translational udot of each displacement, such as both of a planar joint.

    Parameters
    ----------
    joint : AbstractJoint
    coefficient : float
        For all free motions, if these are only rotations (N m s/rad) or only translations (N s/m).
    rotational, translational : float
        For each sort of motion; needed if the joint has both.
    """

    rotational: float
    translational: float

    def __init__(
        self,
        joint: AbstractJoint,
        coefficient: float | None = None,
        *,
        rotational: float | None = None,
        translational: float | None = None,
        name: str | None = None,
    ) -> None:
        owner, of = describe_force("Friction", joint, name), describe_joint(joint)
        given = {"rotational": rotational, "translational": translational}
        units = {each.unit for each in joint.coordinates()}
        fits = {"rotational": joint.ball or "rad" in units, "translational": "m" in units}
        if not any(fits.values()):
            raise ValueError(f"{owner}: {of} leaves no motion free that could have friction")
        if coefficient is not None:
            _check.not_negative(owner, "coefficient", coefficient)
            if all(fits.values()):
                raise ValueError(f"{owner}: {of} turns and slides; give rotational= and translational=")
            if rotational is not None or translational is not None:
                raise ValueError(f"{owner}: give either coefficient or rotational= and translational=, not both")
            given["rotational" if fits["rotational"] else "translational"] = coefficient
        if rotational is None and translational is None and coefficient is None:
            raise ValueError(f"{owner}: it has no coefficient; give one, e.g. Friction(joint, 0.1)")
        for what, value in given.items():
            if value is not None and not fits[what]:
                raise ValueError(f"{owner}: {of} has no such motion for {what}=; leave it out")
        numbers = {what: _check.not_negative(owner, what, value or 0.0) for what, value in given.items()}
        self.__attrs_init__(joint=joint, name=name, **numbers)

    def acts_along(self) -> tuple[Coordinate, ...]:
        friction = {"rad": self.rotational, "m": self.translational}
        return tuple(each for each in self.joint.coordinates() if friction[each.unit])

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The quantities of its coordinates; of a spherical joint the torque on `b`, in the frame of `a`, and its
        power."""
        if self.joint.ball and not self.joint.coordinates():
            return {name: each for name, each in of_rotation(self).items() if name in ("torque", "power")}
        return super().quantities

    def elements(self) -> tuple[AnyElement, ...]:
        """One element for each free motion that has friction."""
        if self.joint.ball:
            spin = Element((), damping=self.rotational * np.eye(3), shape="turn", holonomic=False)
            return (spin,) if self.rotational else ()
        friction = {"rad": self.rotational, "m": self.translational}
        return tuple(along(each, damping=friction[each.unit]) for each in self.acts_along())


# ---------------------------------------------------------------- dry friction


def friction_over(v: list[Any], v0: Any) -> Any:
    """tanh(|v| / v0) / |v|, by which a velocity v of several components is multiplied."""
    size = np.sqrt(sum(each * each for each in v) + (_SMALL * v0) * (_SMALL * v0))
    return np.tanh(size / v0) / size


def _normal(normal: Any, force: Any = None, field: Any = None) -> Load | str:
    owner = force._owner
    if isinstance(normal, str):
        if normal != "reaction":
            raise ValueError(
                f"{owner}: normal must be a number, a function of the time, or 'reaction', got {_check.show(normal)}"
            )
        return normal
    law = time_function(owner, "normal", normal)
    if not law.users:
        _check.not_negative(owner, "normal", law.inputs[0].value if law.inputs else float(law.constant[0]))
    return law


def _slides_along(coordinate: str | None, force: Any = None, field: Any = None) -> tuple[str, ...]:
    joint = force.joint
    slides = tuple(each.name for each in joint.coordinates() if each.unit == "m")
    if coordinate is None and len(slides) == 2:
        return slides
    return (coordinate_of(force._owner, joint, coordinate).name,)


def _of_a_reaction(value: float | None, force: Any = None, field: Any = None) -> float | None:
    """A length of bearings, or a floor, which only reactions have."""
    if isinstance(force.normal, Load):
        if value is not None:
            raise ValueError(f"{force._owner}: {field.name} belongs to normal='reaction'; leave it out")
    elif field.name == "floor" and value is None:
        return _FLOOR
    elif field.name == "length" and value is not None and not isinstance(force.joint, AbstractAxialJoint):
        raise ValueError(f"{force._owner}: {describe_joint(force.joint)} has no axis; leave length out")
    return _check.optional_size(value, force, field)


@final
@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class Coulomb(AbstractJointForce):
    """Coulomb friction on a free motion of a joint under a normal force N, regularised.

    On `b`, and the opposite on `a`, with the rate v of the displacement, or omega of the angle:

        force along the axis    -mu N tanh(v / v0)
        in a plane              -mu N tanh(|v| / v0) v / |v|
        torque about the axis   -mu N r tanh(r omega / v0)

    v0 is the velocity up to which friction is viscous: at v0 it has 0.76 of its size, at 3 v0 0.995. In place of
    sticking under a load F < mu N a joint creeps, with v0 artanh(F / (mu N)). The smaller v0 is, the stiffer are the
    equations: mu N / (m v0) is the rate of the fastest motion. [PRSV16] compares such laws with others.

    N is given, or the size of the joint's own constraint force R(q, la), which the friction changes in turn. Two
    bearings at a distance `length` along the axis take the moment M about the joint's point of `b`, too, with
    c = M x axis / length:

        N = |R|,    or with a length    N = |R / 2 + c| + |R / 2 - c|

    after [HWY86]. Forms with multipliers have R(q, la) in their equations; others solve for N at every state. If
    friction is so large that N or the accelerations do not exist or are not unique (Painleve's paradox), formulating
    raises ValueError, and a run ends with the names of the joints.

    Parameters
    ----------
    joint : AbstractJoint
        With coordinates: revolute and prismatic have one; in a planar joint it slides in the plane if no coordinate is
        named.
    mu : float
        Coefficient of friction.
    normal : float, Input, callable or ``"reaction"``
        N, the normal force: a number that is not negative, an input of the system, or a function of the time (plain
        Python), whose values must not be negative; or that of the joint's own reaction, which then has to be unique.
    radius : float, optional
        r of the bearing, m; needed for turning.
    velocity : float
        v0 in m/s, where the surfaces slide.
    length : float, optional
        The distance of the bearings along the axis, m; without it moments do not count. Of reactions only.
    floor : float
        Smooths the size of a reaction where it vanishes: |h| is the root of h . h + (floor / 2)^2, of a whole reaction
        that of h . h + floor^2, N. Of reactions only.
    coordinate : str, optional
        The name of the coordinate, if the joint has several: "angle", "displacement", ...
    """

    mu: float = attrs.field(converter=_check.amount)
    normal: Load | str = attrs.field(converter=_normal, kw_only=True)
    along: tuple[str, ...] = attrs.field(default=None, alias="coordinate", converter=_slides_along, kw_only=True)
    radius: float | None = attrs.field(default=None, converter=_check.optional_size, kw_only=True)
    velocity: float = attrs.field(default=VELOCITY, converter=_check.size, kw_only=True)
    length: float | None = attrs.field(default=None, converter=_of_a_reaction, kw_only=True)
    floor: float | None = attrs.field(default=None, converter=_of_a_reaction, kw_only=True)

    def __attrs_post_init__(self) -> None:
        turns, joint = self.acts_along()[0].unit == "rad", describe_joint(self.joint)
        if turns and self.radius is None:
            raise ValueError(f"{self._owner}: {joint} turns; give radius=, that of its bearing, e.g. 0.01")
        if not turns and self.radius is not None:
            raise ValueError(f"{self._owner}: {joint} slides, without a radius; leave it out")

    def acts_along(self) -> tuple[Coordinate, ...]:
        return tuple(each for each in self.joint.coordinates() if each.name in self.along)

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The quantities of its coordinates, and ``normal``, N, of a reaction."""
        found = super().quantities
        if isinstance(self.normal, Load):
            return found
        return found | {"normal": Quantity(self, "normal", "N", aspect="normal")}

    def elements(self) -> tuple[AnyElement, ...]:
        of = self.acts_along()
        given, reaction = self.normal, None
        if not isinstance(given, Load):
            assert self.floor is not None
            given, reaction = _ONE, UnderReaction(self.joint, self.length, self.floor)
        p = [self.mu, self.velocity, 1.0 if self.radius is None else self.radius]
        p += [] if given.users or given.inputs else [given.constant[0]]
        n, fill = len(of), _in_a_plane if len(of) == 2 else _along
        load = Load(np.zeros(n), "normal", given.users, fill, given.inputs, np.array(p))
        return (along(*of, load=load, reaction=reaction),)


@of_numbers
def _along(s: Any, v: Any, mu: Any, v0: Any, radius: Any, N: Any) -> tuple[Any]:
    return (-mu * N * radius * np.tanh(radius * v[0] / v0),)


@of_numbers
def _in_a_plane(s: Any, v: Any, mu: Any, v0: Any, radius: Any, N: Any) -> tuple[Any, Any]:
    f = -mu * N * friction_over([v[0], v[1]], v0)
    return f * v[0], f * v[1]
