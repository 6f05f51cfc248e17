"""Forces: frozen values."""

from rbdae.forces.base import AbstractForce as AbstractForce
from rbdae.forces.bushing import Bushing as Bushing

__all__ = ["AbstractForce", "Bushing"]
