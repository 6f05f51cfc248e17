"""Viscous friction of a joint."""

from __future__ import annotations

from typing import final

import attrs

from rbdae import _check
from rbdae._arrays import cross
from rbdae.forces.element import AnyElement, along, displacement, rotational_damping
from rbdae.forces.joint_force import AbstractJointForce, describe_force, describe_joint, with_axis
from rbdae.joints.base import AbstractJoint, FreeMotion
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity, of_rotation


@final
@attrs.frozen(eq=False, init=False, kw_only=True)
class Friction(AbstractJointForce):
    """Viscous friction on the free motions of a joint; `rbdae.forces.Coulomb` is dry friction.

    On the body `b`, and the opposite on `a`:

    * the torque -rotational phidot about the axis of a joint that leaves this rotation free, such as a revolute one;
    * the torque -rotational (omega_b - omega_a) of a spherical or universal joint, by directors as in
      `rbdae.forces.Torque`: it balances between the bodies as exactly as the directors are orthonormal;
    * the force -translational udot along the axis of a prismatic or cylindrical joint, and along the two directions
      that a planar one leaves free.

    Parameters
    ----------
    joint : AbstractJoint
    coefficient : float
        For all free motions, if these are only rotations (N m s/rad) or only translations (N s/m).
    rotational, translational : float
        For each sort of motion; needed if the joint has both.
    name : str, optional
        Unique among the forces of the system; without it the system chooses "friction-1" and so on.
    """

    rotational: float
    translational: float
    motions: frozenset[FreeMotion]

    def __init__(
        self,
        joint: AbstractJoint,
        coefficient: float | None = None,
        *,
        rotational: float | None = None,
        translational: float | None = None,
        name: str | None = None,
    ) -> None:
        owner = describe_force("Friction", joint, name)
        given = {"coefficient": coefficient, "rotational": rotational, "translational": translational}
        for what, value in given.items():
            if value is not None:
                _check.not_negative(owner, what, value)
        free = joint.free_motions
        turns, slides = bool(free & {"rotation", "ball"}), bool(free & {"translation", "plane"})
        if not free:
            raise ValueError(f"{owner}: {describe_joint(joint)} leaves no motion free that could have friction")
        if coefficient is not None:
            if turns and slides:
                raise ValueError(
                    f"{owner}: {describe_joint(joint)} turns and slides; give rotational= and translational="
                )
            if rotational is not None or translational is not None:
                raise ValueError(f"{owner}: give either coefficient or rotational= and translational=, not both")
            rotational, translational = (coefficient, None) if turns else (None, coefficient)
        if rotational is None and translational is None:
            raise ValueError(f"{owner}: it has no coefficient; give one, e.g. Friction(joint, 0.1)")
        for what, value, fits in (("rotational", rotational, turns), ("translational", translational, slides)):
            if value is not None and not fits:
                raise ValueError(f"{owner}: {describe_joint(joint)} has no such motion for {what}=; leave it out")
        if "ball" not in free:
            with_axis(owner, joint)
        self.__attrs_init__(
            joint=joint,
            rotational=0.0 if rotational is None else float(rotational),
            translational=0.0 if translational is None else float(translational),
            motions=free,
            name=name,
        )

    def acts_along(self) -> tuple[Coordinate, ...]:
        """Those of the joint that have friction; none of a spherical joint."""
        friction = {"rad": self.rotational, "m": self.translational}
        return tuple(each for each in self.joint.coordinates() if friction[each.unit])

    @property
    def quantities(self) -> dict[str, Quantity]:
        """The quantities of its coordinates; of a spherical joint the torque on `b`, in the frame of `a`, and its
        power."""
        if "ball" in self.motions and not self.joint.coordinates():
            return {name: each for name, each in of_rotation(self).items() if name in ("torque", "power")}
        return super().quantities

    def elements(self) -> tuple[AnyElement, ...]:
        """One element for each free motion that has friction."""
        if "ball" in self.motions:
            return (rotational_damping(self.rotational),) if self.rotational else ()
        joint = with_axis("", self.joint)  # as the constructor has checked
        out: list[AnyElement] = []
        if self.rotational:
            out.append(along(joint.angle_about_axis(), damping=self.rotational))
        if self.translational:
            across = (joint.normal_a, cross(joint.axis_a, joint.normal_a))
            for axis in across if "plane" in self.motions else (joint.axis_a,):
                out.append(displacement(axis, joint.at_a, joint.at_b, damping=self.translational))
        return tuple(out)
