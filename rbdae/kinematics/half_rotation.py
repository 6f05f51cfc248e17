"""Half of a rotation: R = F F."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rbdae import _stacks
from rbdae._arrays import ArrayLike
from rbdae.rotations.quaternions.maps import halved

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


@_stacks.finite
def half_rotation(rotation: Rotation | ArrayLike) -> Rotation:
    """F with F F = R, about the same axis by half the angle, which is in [0, pi / 2]; [GR95] (257)-(259), (274), (275).

    Of half a turn there are two, and one of them is given. (258) is misprinted: `docs/references.md`.

    Parameters
    ----------
    rotation : Rotation or (..., 3, 3) array_like
    """
    return _stacks.to_rotation(halved(_stacks.rotation_quaternions("half_rotation", "rotation", rotation)))


__all__ = ["half_rotation"]
