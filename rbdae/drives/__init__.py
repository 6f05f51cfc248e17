"""Drives: joints whose right-hand side is a prescribed function of time (rheonomic constraints).

They are added with `System.add_joint`; their reactions are the driving forces and torques. What they prescribe is a
`rbdae.motion.Law`, one input of the system, three for s, s', s'', or a law (t, u) that reads u.name of `inputs`, a
mapping of names to inputs of the system; its time derivatives are exact.
"""

from rbdae.drives.drives import DrivenRod as DrivenRod
from rbdae.drives.drives import PointMotion as PointMotion
from rbdae.drives.drives import PrescribedAngle as PrescribedAngle
from rbdae.drives.drives import PrescribedDisplacement as PrescribedDisplacement

__all__ = ["DrivenRod", "PointMotion", "PrescribedAngle", "PrescribedDisplacement"]
