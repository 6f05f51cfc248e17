"""Rotations by axis and angle, by rotation vectors and between bases, their invariants, halves and compositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations import checks, quaternions
from rbdae.rotations.quaternions import conjugated, multiplied
from rbdae.rotations.vectors import spurrier_klumpp
from rbdae_papers.kinematics.components import Rotations, checked, skew

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class AxisAngle(NamedTuple):
    """Axis and angle of a rotation.

    Attributes
    ----------
    axis : (..., 3) array, of unit length
    angle : (...) array, rad
    """

    axis: Vec
    angle: Vec


class Invariants(NamedTuple):
    """The linear invariants of a rotation, and its eigenvalues.

    Attributes
    ----------
    trace : (...) array, 1 + 2 cos phi
    vector : (..., 3) array, vect(R) = n sin phi
    eigenvalues : (..., 3) complex array, 1, exp(i phi), exp(-i phi)
    """

    trace: Vec
    vector: Vec
    eigenvalues: Mat


def from_axis_angle(axis: ArrayLike, angle: ArrayLike) -> Rotation:
    """R = cos phi I + (1 - cos phi) n n^T + sin phi n~, [GR95] (46), for any angle.

    The axis may have any length; ValueError if it is zero.
    """
    return checks.to_rotation(quaternions.from_axis_angle(axis, angle))


def to_axis_angle(rotation: Rotations) -> AxisAngle:
    """The axis n, R n = n, and the angle in [0, pi], [GR95] (22), (47); accurate at both ends.

    The axis of the identity is (1, 0, 0) by convention; for half a turn one of the two axes is returned.
    """
    return AxisAngle(*quaternions.to_axis_angle(checks.rotation_quaternions("to_axis_angle", "rotation", rotation)))


def invariants(rotation: Rotations) -> Invariants:
    """tr(R) = 1 + 2 cos phi and vect(R) = n sin phi, [GR95] (47), and the eigenvalues (21)."""
    q = checks.rotation_quaternions("invariants", "rotation", rotation)
    e0, e = q[..., 0], q[..., 1:]
    cosine, sine = 2.0 * e0 * e0 - 1.0, 2.0 * e0 * checks.norm(e)
    turning = cosine + 1j * sine
    values = np.stack((np.ones_like(turning), turning, turning.conj()), -1)
    return Invariants(1.0 + 2.0 * cosine, 2.0 * e0[..., None] * e, values)


def displacement_matrix(rotation: Rotations) -> Mat:
    """D = R - I, (..., 3, 3), [GR95] (57), with no loss of digits for small rotations; D n = D^T n = 0, (58)."""
    q = checks.rotation_quaternions("displacement_matrix", "rotation", rotation)
    S = skew(q[..., 1:])
    out: Mat = 2.0 * (q[..., :1, None] * S + S @ S)
    return out


def exponential(vector: ArrayLike) -> Rotation:
    """R = exp(psi~), the rotation by |psi| rad about psi, of any length; [GR95] (53), (54), (165), (166)."""
    return checks.to_rotation(quaternions.from_rotation_vector(checks.vectors("exponential", "vector", vector)))


def logarithm(rotation: Rotations) -> Vec:
    """The rotation vector psi (..., 3), no longer than pi, with R = exp(psi~); the inverse of [GR95] (54).

    At half a turn psi and -psi are both correct, and one of them is returned.
    """
    return quaternions.to_rotation_vector(checks.rotation_quaternions("logarithm", "rotation", rotation))


def half_rotation(rotation: Rotations) -> Rotation:
    """F with F F = R, about the same axis by half the angle, which is in [0, pi / 2]; [GR95] (257)-(259), (274), (275).

    For half a turn one of the two results is returned. (258) is misprinted: `docs/references.md`.
    """
    return checks.to_rotation(quaternions.half(checks.rotation_quaternions("half_rotation", "rotation", rotation)))


def direction_cosines(fixed: Rotations, moved: Rotations) -> Mat:
    """r_ij = E_i . e_j, (..., 3, 3), [GR95] (34), (35): the rotation from E to e in components along E.

    The bases [E1 E2 E3] and [e1 e2 e3] are columns, orthonormal and right-handed.
    """
    A, B = _bases("direction_cosines", fixed, moved)
    out: Mat = np.swapaxes(A, -1, -2) @ B
    return out


def rotation_between(fixed: Rotations, moved: Rotations) -> Rotation:
    """R = sum_i e_i E_i^T, with e_i = R E_i, [GR95] (4), (13), (32), for bases as in `direction_cosines`."""
    A, B = _bases("rotation_between", fixed, moved)
    return checks.to_rotation(spurrier_klumpp(B @ np.swapaxes(A, -1, -2)))


def _bases(owner: str, fixed: Rotations, moved: Rotations) -> tuple[Mat, Mat]:
    A, B = checks.rotation_matrices(owner, "fixed", fixed), checks.rotation_matrices(owner, "moved", moved)
    checks.together(owner, fixed=(A, 2), moved=(B, 2))
    return A, B


def composed(frame: Rotations, relative: Rotations) -> Rotation:
    """R = R_0 R_rel, [GR95] (155), (226): R_0 from the moving frame to space, R_rel from the body to the frame."""
    return checks.to_rotation(multiplied(*checked("composed", {"frame": frame, "relative": relative})))


def relative_rotation(frame: Rotations, rotation: Rotations) -> Rotation:
    """R_rel = R_0^T R, the solution of [GR95] (155)."""
    q0, q = checked("relative_rotation", {"frame": frame, "rotation": rotation})
    return checks.to_rotation(multiplied(conjugated(q0), q))


def incremented(reference: Rotations, vector: ArrayLike) -> Rotation:
    """R = R_0 exp(Psi_inc~), [GR95] (159): the rotation vector of the increment is material, in axes of the body."""
    q, w = checked("incremented", {"reference": reference}, vector=vector)
    return checks.to_rotation(multiplied(q, quaternions.from_rotation_vector(w)))


def increment(reference: Rotations, rotation: Rotations) -> Vec:
    """The rotation vector (..., 3), no longer than pi, of R_inc = R_0^T R, [GR95] (159)."""
    q0, q = checked("increment", {"reference": reference, "rotation": rotation})
    return quaternions.to_rotation_vector(multiplied(conjugated(q0), q))
