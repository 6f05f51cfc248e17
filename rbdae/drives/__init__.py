"""Drives: joints whose right-hand side is a prescribed function of time (rheonomic constraints).

They are added with `System.add_joint`; their reactions are the driving forces and torques. What they prescribe is a
`rbdae.motion.Law`, one input of the system, three for s, s', s'', or a law (t, u) that reads u.name of `inputs`, a
mapping of names to inputs of the system; its time derivatives are exact.
"""

from rbdae.drives.along_joints import PrescribedAngle as PrescribedAngle
from rbdae.drives.along_joints import PrescribedDisplacement as PrescribedDisplacement
from rbdae.drives.between_points import DrivenRod as DrivenRod
from rbdae.drives.between_points import PointMotion as PointMotion

__all__ = ["DrivenRod", "PointMotion", "PrescribedAngle", "PrescribedDisplacement"]
