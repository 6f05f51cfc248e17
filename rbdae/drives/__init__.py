"""Drives: joints whose right-hand side is a prescribed function of time (rheonomic constraints).

They are added with `System.add_joint`, and their reactions are the forces and torques that the drive needs.
"""

from rbdae.drives.driven_rod import DrivenRod as DrivenRod
from rbdae.drives.point_motion import PointMotion as PointMotion
from rbdae.drives.prescribed_angle import PrescribedAngle as PrescribedAngle
from rbdae.drives.prescribed_displacement import PrescribedDisplacement as PrescribedDisplacement

__all__ = ["DrivenRod", "PointMotion", "PrescribedAngle", "PrescribedDisplacement"]
