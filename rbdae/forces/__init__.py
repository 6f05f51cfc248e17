"""Forces: frozen values."""

from rbdae.forces.base import AbstractForce as AbstractForce
from rbdae.forces.base import AbstractPairForce as AbstractPairForce
from rbdae.forces.contact import Contact as Contact
from rbdae.forces.contact import Limit as Limit
from rbdae.forces.element import StateElement as StateElement
from rbdae.forces.friction import Coulomb as Coulomb
from rbdae.forces.friction import Friction as Friction
from rbdae.forces.joint_forces import Motor as Motor
from rbdae.forces.joint_forces import TorsionalSpringDamper as TorsionalSpringDamper
from rbdae.forces.joint_forces import TranslationalSpringDamper as TranslationalSpringDamper
from rbdae.forces.loads import Force as Force
from rbdae.forces.loads import Torque as Torque
from rbdae.forces.loads import UserForce as UserForce
from rbdae.forces.springs import Bushing as Bushing
from rbdae.forces.springs import SpringDamper as SpringDamper
from rbdae.laws.law import CalledBack as CalledBack

__all__ = [name for name in list(vars()) if name[0].isupper()]
