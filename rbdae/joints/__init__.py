"""Joints: frozen values made of primitive constraints."""

from rbdae.joints.base import AbstractJoint as AbstractJoint
from rbdae.joints.primitives import Coincidence as Coincidence
from rbdae.joints.primitives import Distance as Distance
from rbdae.joints.primitives import Dot1 as Dot1
from rbdae.joints.primitives import Dot2 as Dot2
from rbdae.joints.primitives import Primitive as Primitive
from rbdae.joints.spherical import Spherical as Spherical

__all__ = ["AbstractJoint", "Coincidence", "Distance", "Dot1", "Dot2", "Primitive", "Spherical"]
