"""Quantities: named numbers of a mechanism, such as ``pin.angle``."""

from rbdae.quantities.coordinate import Coordinate as Coordinate
from rbdae.quantities.quantity import Quantity as Quantity

__all__ = [name for name in list(vars()) if name[0].isupper()]
