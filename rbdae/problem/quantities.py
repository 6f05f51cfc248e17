"""The meaning of a state, whatever the unknowns: energy, momentum, constraints.

Natural coordinates Z have the shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._show import brief_repr
from rbdae.multibody.model import Model
from rbdae.problem.body_state import BodyState

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@final
@dataclass(frozen=True, slots=True, repr=False)
class Energy:
    """Kinetic, potential (weight and forces that have one) and total energy, J."""

    kinetic: Vec
    potential: Vec
    total: Vec

    __repr__ = brief_repr


@final
@dataclass(frozen=True, slots=True, repr=False)
class Momentum:
    """Linear momentum, and angular momentum about the origin of space; spatial components."""

    linear: Vec
    angular: Vec

    __repr__ = brief_repr


@final
@dataclass(frozen=True, slots=True, repr=False)
class Constraints:
    """Constraint violations g and gdot (internal ones of the chart body by body, then the joints)."""

    position: Vec
    velocity: Vec

    __repr__ = brief_repr


def angular_velocities(Z: Mat) -> Mat:
    """Material angular velocities (..., n, 3): the skew part of R^-1 Rdot; why the inverse, says
    `rbdae.machine.reading.motion.turning`."""
    d1, d2, d3 = (Z[..., 3 + 3 * i : 6 + 3 * i] for i in range(3))
    dual = np.stack([np.cross(d2, d3), np.cross(d3, d1), np.cross(d1, d2)], axis=-2)
    det = np.einsum("...k,...k->...", dual[..., 0, :], d1)
    W = np.einsum("...ik,...jk->...ij", dual, Z[..., 15:24].reshape(*Z.shape[:-1], 3, 3)) / det[..., None, None]
    return 0.5 * np.stack(
        [W[..., 2, 1] - W[..., 1, 2], W[..., 0, 2] - W[..., 2, 0], W[..., 1, 0] - W[..., 0, 1]], axis=-1
    )


def rotations(model: Model, R: Mat | None) -> dict[str, Rotation]:
    """Rotations (n, 3, 3) by the names of the bodies; None stands for the identity."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    known = np.tile(np.eye(3), (model.n, 1, 1)) if R is None else R
    return {name: Rotation.from_matrix(each) for name, each in zip(model.names, known, strict=True)}


__all__ = [
    "BodyState",
    "Constraints",
    "Energy",
    "Momentum",
    "angular_velocities",
    "rotations",
]
