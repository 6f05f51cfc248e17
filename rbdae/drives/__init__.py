"""Drives: motions that are prescribed as functions of time."""

from rbdae.drives.all import Angle as Angle
from rbdae.drives.all import Displacement as Displacement
from rbdae.drives.all import DrivenRod as DrivenRod
from rbdae.drives.all import PointMotion as PointMotion
