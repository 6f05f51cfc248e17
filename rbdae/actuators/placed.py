"""Bodies where they are placed."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rbdae._arrays import Vec
from rbdae.body import Body
from rbdae.quantities.coordinate import Coordinate


def placed(coordinate: Coordinate, bodies: Sequence[Body]) -> float:
    """The coordinate where the bodies are placed."""
    return float(coordinate.values(natural(bodies), np.zeros(24))[0])


def natural(bodies: Sequence[Body]) -> Vec:
    """Natural coordinates of bodies where they are placed, (12 bodies,)."""
    found = [np.concatenate([body.position, body.rotation.T.reshape(9)]) for body in bodies]
    return np.concatenate([*found, np.zeros(0)])


__all__ = ["natural", "placed"]
