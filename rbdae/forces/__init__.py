"""Forces: frozen values."""

from rbdae.forces.base import AbstractForce as AbstractForce
from rbdae.forces.bushing import Bushing as Bushing
from rbdae.forces.force import Force as Force
from rbdae.forces.friction import Friction as Friction
from rbdae.forces.motor import Motor as Motor
from rbdae.forces.slide import Slide as Slide
from rbdae.forces.spring_damper import SpringDamper as SpringDamper
from rbdae.forces.torque import Torque as Torque
from rbdae.forces.torsion import Torsion as Torsion
from rbdae.forces.user import User as User

__all__ = [
    "AbstractForce",
    "Bushing",
    "Force",
    "Friction",
    "Motor",
    "Slide",
    "SpringDamper",
    "Torque",
    "Torsion",
    "User",
]
