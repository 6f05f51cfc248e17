"""Kinematics of rigid bodies: rotations, screws, velocities, accelerations, variations; [GR95], sections 2 to 5.

All functions are vectorised over leading axes, such as time, which are broadcast. Rotations are passed as a scipy
`Rotation` or as matrices (..., 3, 3) from body to space, and returned as a `Rotation`, as in `Problem.states`; more
than one leading axis of a `Rotation` needs scipy 1.17. Derivatives of rotations are matrices (..., 3, 3), vectors are
(..., 3), angles and other numbers (...); SI units and radians. Omega is the material angular velocity, R^T Rdot =
Omega~, as everywhere in `rbdae`; omega = R Omega is the spatial one. Functions with results in both frames
return `Components`.

`docs/rotations.md` lists the equations with their functions and tests.
"""

from rbdae_papers.kinematics.components import Components, spin, to_material, to_spatial, vect
from rbdae_papers.kinematics.rotations import (
    AxisAngle,
    Invariants,
    composed,
    direction_cosines,
    displacement_matrix,
    exponential,
    from_axis_angle,
    half_rotation,
    increment,
    incremented,
    invariants,
    logarithm,
    relative_rotation,
    rotation_between,
    to_axis_angle,
)  # fmt: skip
from rbdae_papers.kinematics.screws import (
    InstantaneousScrew,
    Screw,
    displaced,
    displacement_of,
    instantaneous_screw,
    screw,
    screw_displacement,
    screw_velocity,
)  # fmt: skip
from rbdae_papers.kinematics.variations import (
    crossed_variations,
    infinitesimal_rotation,
    material_acceleration_variation,
    material_velocity_variation,
    spatial_acceleration_variation,
    spatial_velocity_variation,
    virtual_displacement,
)  # fmt: skip
from rbdae_papers.kinematics.velocities import (
    AccelerationMatrices,
    acceleration_matrices,
    angular_acceleration,
    angular_acceleration_of_axis_angle,
    angular_velocity,
    angular_velocity_of_axis_angle,
    axis_angle_rates,
    composed_angular_acceleration,
    composed_angular_velocity,
    incremental_angular_velocity,
    inertial_acceleration,
    inertial_velocity,
    point_acceleration,
    point_velocity,
    rotation_axis,
    rotation_axis_rate,
)  # fmt: skip

__all__ = [
    "AccelerationMatrices", "AxisAngle", "Components", "InstantaneousScrew", "Invariants", "Screw",
    "acceleration_matrices", "angular_acceleration", "angular_acceleration_of_axis_angle", "angular_velocity",
    "angular_velocity_of_axis_angle", "axis_angle_rates", "composed", "composed_angular_acceleration",
    "composed_angular_velocity", "crossed_variations", "direction_cosines", "displaced", "displacement_matrix",
    "displacement_of", "exponential", "from_axis_angle", "half_rotation", "increment", "incremental_angular_velocity",
    "incremented", "inertial_acceleration", "inertial_velocity", "infinitesimal_rotation", "instantaneous_screw",
    "invariants", "logarithm", "material_acceleration_variation", "material_velocity_variation", "point_acceleration",
    "point_velocity", "relative_rotation", "rotation_axis", "rotation_axis_rate", "rotation_between", "screw",
    "screw_displacement", "screw_velocity", "spatial_acceleration_variation", "spatial_velocity_variation", "spin",
    "to_axis_angle", "to_material", "to_spatial", "vect", "virtual_displacement",
]  # fmt: skip
