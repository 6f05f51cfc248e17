"""Drives: joints whose right-hand side is a prescribed function of time (rheonomic constraints).

They are added with `System.add_joint`; their reactions are the driving forces and torques.
"""

from rbdae.drives.along_joints import PrescribedAngle as PrescribedAngle
from rbdae.drives.along_joints import PrescribedDisplacement as PrescribedDisplacement
from rbdae.drives.between_points import DrivenRod as DrivenRod
from rbdae.drives.between_points import PointMotion as PointMotion

__all__ = ["DrivenRod", "PointMotion", "PrescribedAngle", "PrescribedDisplacement"]
