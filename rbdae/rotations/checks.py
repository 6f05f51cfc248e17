"""Checked arguments of vectorised functions: vectors, quaternions and rotations with any leading axes, such as time.

Messages have the style of `rbdae._check`: ``owner: what must be ..., got ...; remedy``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.rotations.vectors import spurrier_klumpp

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

ORTHONORMAL = 1e-8
"""Tolerance for R^T R = I, and for the length of a unit vector."""

_SINGLE = 2e-6
"""The same for matrices in single precision (rounding 1.2e-7), which are then made orthonormal."""

_COUNTS = {2: "two", 3: "three", 4: "four", 9: "nine"}
_EXAMPLES = {2: "(1.0, 0.0)", 3: "(0.0, 0.0, 1.0)", 4: "(1.0, 0.0, 0.0, 0.0)", 9: "numpy.eye(3).ravel()"}


def numbers(owner: str, what: str, value: object) -> Vec:
    """Finite real numbers of any shape, float64."""
    return _array(owner, what, value, (), "a real number or an array of them", "give float64")


def vectors(owner: str, what: str, value: object, n: int = 3) -> Vec:
    """Finite real numbers (..., n), float64."""
    wanted = f"{_COUNTS[n]} real numbers, or a stack of such vectors, (..., {n})"
    return _array(owner, what, value, (n,), wanted, f"pass e.g. {_EXAMPLES[n]}")


def matrices(owner: str, what: str, value: object) -> Mat:
    """Finite real numbers (..., 3, 3), float64."""
    wanted = "a (3, 3) array of real numbers, or a stack of them, (..., 3, 3)"
    return _array(owner, what, value, (3, 3), wanted, "pass e.g. numpy.eye(3)")


def axes(owner: str, what: str, value: object) -> Vec:
    """Unit vectors (..., 3) along vectors that are not zero."""
    return _directions(owner, what, value, 3, "the zero vector", "pass a direction, e.g. (0, 0, 1)")


def nonzero_quaternions(owner: str, what: str, value: object) -> Vec:
    """Unit quaternions (..., 4) along quaternions that are not zero, scalar first."""
    return _directions(owner, what, value, 4, "the zero quaternion", "pass (1, 0, 0, 0) for the identity")


def _directions(owner: str, what: str, value: object, n: int, zero: str, remedy: str) -> Vec:
    out = vectors(owner, what, value, n)
    largest = np.abs(out).max(axis=-1, keepdims=True, initial=0.0)
    if not largest.all():
        raise ValueError(f"{owner}: {what} must not be {zero}, got {_check.show(value)}; {remedy}")
    out = out / largest  # lengths that are subnormal have few digits
    unit: Vec = out / norm(out)[..., None]
    return unit


def rotation_matrices(owner: str, what: str, value: object) -> Mat:
    """Rotation matrices (..., 3, 3) from a `Rotation` or from rotation matrices."""
    rotation = _as_rotation(value)
    if rotation is not None:
        return np.asarray(rotation.as_matrix(), dtype=float)
    remedy = "pass a scipy Rotation, or [d1 d2 d3] with orthonormal columns"
    out = _array(owner, what, value, (3, 3), "a Rotation or rotation matrices (..., 3, 3)", remedy)
    # beyond two the product could overflow
    sized = np.abs(out).max(initial=0.0) <= 2.0
    defect = np.abs(np.swapaxes(out, -1, -2) @ out - np.eye(3)).max(initial=0.0) if sized else np.inf
    single = getattr(value, "dtype", None) == np.float32
    if not defect <= (_SINGLE if single else ORTHONORMAL):
        raise ValueError(
            f"{owner}: {what} must be a rotation, but its columns are not orthonormal (R^T R - I has an entry of size "
            f"{defect:.3g}), got {_check.show(value)}; {remedy}"
        )
    if (np.linalg.det(out) < 0.0).any():
        raise ValueError(
            f"{owner}: {what} must be a rotation, but it is improper (determinant -1, a reflection), "
            f"got {_check.show(value)}; use a right-handed frame, e.g. flip one column"
        )
    if single:  # the nearest rotation: the orthogonal factor
        left, _, right = np.linalg.svd(out)
        out = left @ right
    return out


def rotation_quaternions(owner: str, what: str, value: object) -> Vec:
    """Unit quaternions (..., 4), scalar first and nonnegative, from a `Rotation` or from rotation matrices."""
    rotation = _as_rotation(value)
    if rotation is None:
        out = spurrier_klumpp(rotation_matrices(owner, what, value))
    else:
        out = np.roll(rotation.as_quat(), 1, axis=-1)
        if not np.abs(norm(out) - 1.0).max(initial=0.0) <= ORTHONORMAL:
            raise ValueError(
                f"{owner}: {what} must be a rotation, but its quaternion is {_check.show(rotation.as_quat())}; make it "
                "of finite numbers that a double can square"
            )
    return np.where(out[..., :1] < 0.0, -out, out)


def to_rotation(q: Vec) -> Rotation:
    """A `scipy.spatial.transform.Rotation` of unit quaternions (..., 4), scalar first."""
    from scipy.spatial.transform import Rotation  # slow to import

    return Rotation.from_quat(np.roll(q, -1, axis=-1))


def norm(x: Vec) -> Vec:
    """Euclidean norms over the last axis, without overflow and underflow."""
    out: Vec = np.hypot.reduce(x, axis=-1)
    return out


def together(owner: str, **given: tuple[Vec, int]) -> None:
    """Refuse stacks whose leading axes cannot be broadcast; `given` has arrays, and how many other axes each has."""
    leading = {name: array.shape[: array.ndim - own] for name, (array, own) in given.items()}
    try:
        np.broadcast_shapes(*leading.values())
    except ValueError:
        listed = ", ".join(f"{name} {shape}" for name, shape in leading.items())
        raise ValueError(
            f"{owner}: the leading axes must go together, got {listed}; give equal ones, or one value for all"
        ) from None


def _as_rotation(value: object) -> Any:
    """The `Rotation` that a value is, or None."""
    if isinstance(value, (tuple, list, np.ndarray, int, float)):
        return None
    from scipy.spatial.transform import Rotation  # slow to import

    return value if isinstance(value, Rotation) else None


def _array(owner: str, what: str, value: object, shape: tuple[int, ...], wanted: str, remedy: str) -> Vec:
    raw: Any = None
    if not isinstance(value, np.ma.MaskedArray):
        try:
            raw = np.asarray(value)
        except Exception:  # ragged lists, and objects of other packages
            raw = None
    if raw is None or raw.dtype.kind not in "iuf":
        got = f"{_check.show(value)} of type {type(value).__name__}"
        raise TypeError(f"{owner}: {what} must be {wanted}, got {got}; {remedy}")
    with np.errstate(over="ignore"):  # a long double may not fit and becomes infinite
        out = np.array(raw, dtype=np.float64)
    if not np.isfinite(out).all():
        raise ValueError(f"{owner}: {what} must be finite, got {_check.show(value)}; remove nan and inf")
    if shape and out.shape[-len(shape) :] != shape:
        got = f"{_check.show(value)} of shape {out.shape}"
        raise ValueError(f"{owner}: {what} must be {wanted}, got {got}; {remedy}")
    return out
