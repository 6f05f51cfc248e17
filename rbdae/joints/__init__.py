"""Joints: frozen values made of primitive constraints.

A joint is a file and a line here; messages and tests iterate over `JOINTS`.
"""

from rbdae.joints.axial import AbstractAxialJoint as AbstractAxialJoint
from rbdae.joints.base import AbstractJoint as AbstractJoint
from rbdae.joints.lower_pairs import Cylindrical as Cylindrical
from rbdae.joints.lower_pairs import Fixed as Fixed
from rbdae.joints.lower_pairs import Planar as Planar
from rbdae.joints.lower_pairs import Prismatic as Prismatic
from rbdae.joints.lower_pairs import Revolute as Revolute
from rbdae.joints.lower_pairs import Spherical as Spherical
from rbdae.joints.lower_pairs import Universal as Universal
from rbdae.joints.points import PointOnLine as PointOnLine
from rbdae.joints.points import PointOnPlane as PointOnPlane
from rbdae.joints.points import Rod as Rod
from rbdae.joints.primitives import Coincidence as Coincidence
from rbdae.joints.primitives import Combination as Combination
from rbdae.joints.primitives import Distance as Distance
from rbdae.joints.primitives import Dot1 as Dot1
from rbdae.joints.primitives import Dot2 as Dot2
from rbdae.joints.primitives import Primitive as Primitive
from rbdae.joints.screw import Screw as Screw

JOINTS: tuple[type[AbstractJoint], ...] = tuple(
    kind
    for kind in list(vars().values())
    if isinstance(kind, type) and issubclass(kind, AbstractJoint) and "__final__" in vars(kind)
)
"""Every joint that is imported above."""

__all__ = [name for name in list(vars()) if name[0].isupper()]
