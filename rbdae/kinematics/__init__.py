"""Kinematics of rigid bodies: rotations, screws, velocities, accelerations, variations; [GR95], sections 2 to 5.

All functions are vectorised over leading axes, such as time, which are broadcast. A rotation comes in as a scipy
`Rotation` or as matrices (..., 3, 3) from body to space, and goes out as a `Rotation`, as in `Problem.states`; more
than one leading axis of a `Rotation` needs scipy 1.17. Derivatives of rotations are matrices. Omega is the material
angular velocity, R^T Rdot = Omega~, as everywhere in `rbdae`; omega = R Omega is the spatial one. Functions that have a
result in either frame return `Components`.

`docs/rotations.md` lists the equations with their functions and tests.
"""

from rbdae.kinematics.angular_acceleration import AccelerationMatrices as AccelerationMatrices
from rbdae.kinematics.angular_acceleration import acceleration_matrices as acceleration_matrices
from rbdae.kinematics.angular_acceleration import angular_acceleration as angular_acceleration
from rbdae.kinematics.angular_acceleration import (
    angular_acceleration_of_axis_angle as angular_acceleration_of_axis_angle,
)
from rbdae.kinematics.angular_velocity import angular_velocity as angular_velocity
from rbdae.kinematics.angular_velocity import angular_velocity_of_axis_angle as angular_velocity_of_axis_angle
from rbdae.kinematics.angular_velocity import axis_angle_rates as axis_angle_rates
from rbdae.kinematics.axis_angle import AxisAngle as AxisAngle
from rbdae.kinematics.axis_angle import Invariants as Invariants
from rbdae.kinematics.axis_angle import displacement_matrix as displacement_matrix
from rbdae.kinematics.axis_angle import from_axis_angle as from_axis_angle
from rbdae.kinematics.axis_angle import invariants as invariants
from rbdae.kinematics.axis_angle import to_axis_angle as to_axis_angle
from rbdae.kinematics.components import Components as Components
from rbdae.kinematics.components import spin as spin
from rbdae.kinematics.components import to_material as to_material
from rbdae.kinematics.components import to_spatial as to_spatial
from rbdae.kinematics.components import vect as vect
from rbdae.kinematics.direction_cosines import direction_cosines as direction_cosines
from rbdae.kinematics.direction_cosines import rotation_between as rotation_between
from rbdae.kinematics.exponential import exponential as exponential
from rbdae.kinematics.exponential import logarithm as logarithm
from rbdae.kinematics.half_rotation import half_rotation as half_rotation
from rbdae.kinematics.increments import increment as increment
from rbdae.kinematics.increments import incremental_angular_velocity as incremental_angular_velocity
from rbdae.kinematics.increments import incremented as incremented
from rbdae.kinematics.points import point_acceleration as point_acceleration
from rbdae.kinematics.points import point_velocity as point_velocity
from rbdae.kinematics.relative_motion import composed as composed
from rbdae.kinematics.relative_motion import composed_angular_acceleration as composed_angular_acceleration
from rbdae.kinematics.relative_motion import composed_angular_velocity as composed_angular_velocity
from rbdae.kinematics.relative_motion import inertial_acceleration as inertial_acceleration
from rbdae.kinematics.relative_motion import inertial_velocity as inertial_velocity
from rbdae.kinematics.relative_motion import relative_rotation as relative_rotation
from rbdae.kinematics.rotation_axis import rotation_axis as rotation_axis
from rbdae.kinematics.rotation_axis import rotation_axis_rate as rotation_axis_rate
from rbdae.kinematics.screw import Screw as Screw
from rbdae.kinematics.screw import displaced as displaced
from rbdae.kinematics.screw import displacement_of as displacement_of
from rbdae.kinematics.screw import screw as screw
from rbdae.kinematics.screw import screw_displacement as screw_displacement
from rbdae.kinematics.screw_axis import InstantaneousScrew as InstantaneousScrew
from rbdae.kinematics.screw_axis import instantaneous_screw as instantaneous_screw
from rbdae.kinematics.screw_axis import screw_velocity as screw_velocity
from rbdae.kinematics.variations import crossed_variations as crossed_variations
from rbdae.kinematics.variations import infinitesimal_rotation as infinitesimal_rotation
from rbdae.kinematics.variations import material_acceleration_variation as material_acceleration_variation
from rbdae.kinematics.variations import material_velocity_variation as material_velocity_variation
from rbdae.kinematics.variations import spatial_acceleration_variation as spatial_acceleration_variation
from rbdae.kinematics.variations import spatial_velocity_variation as spatial_velocity_variation
from rbdae.kinematics.variations import virtual_displacement as virtual_displacement

__all__ = [
    "AccelerationMatrices",
    "AxisAngle",
    "Components",
    "InstantaneousScrew",
    "Invariants",
    "Screw",
    "acceleration_matrices",
    "angular_acceleration",
    "angular_acceleration_of_axis_angle",
    "angular_velocity",
    "angular_velocity_of_axis_angle",
    "axis_angle_rates",
    "composed",
    "composed_angular_acceleration",
    "composed_angular_velocity",
    "crossed_variations",
    "direction_cosines",
    "displaced",
    "displacement_matrix",
    "displacement_of",
    "exponential",
    "from_axis_angle",
    "half_rotation",
    "increment",
    "incremental_angular_velocity",
    "incremented",
    "inertial_acceleration",
    "inertial_velocity",
    "infinitesimal_rotation",
    "instantaneous_screw",
    "invariants",
    "logarithm",
    "material_acceleration_variation",
    "material_velocity_variation",
    "point_acceleration",
    "point_velocity",
    "relative_rotation",
    "rotation_axis",
    "rotation_axis_rate",
    "rotation_between",
    "screw",
    "screw_displacement",
    "screw_velocity",
    "spatial_acceleration_variation",
    "spatial_velocity_variation",
    "spin",
    "to_axis_angle",
    "to_material",
    "to_spatial",
    "vect",
    "virtual_displacement",
]
