"""A rigid body as the user describes it, checks of its inertia, and names of joints and forces in messages."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae.rotations.vectors import rotation_matrices, unit_quaternion

# Quaternions and rotation matrices within this tolerance are normalised, others refused.
_UNIT = 1e-6
_ORIGIN = _check.frozen(np.zeros(3))

INITIAL_VALUES: Final = ("position", "orientation", "velocity", "angular_velocity")
"""Initial values that a user may give a body; `rbdae.formulate` finds the others."""


@final
@dataclass(frozen=True, slots=True, weakref_slot=True, eq=False, repr=False)
class Body:
    """A rigid body of a system; made by `System.add_body`, which checks everything. Equal only to itself.

    Attributes
    ----------
    name : str
    mass : float
        In kg; 0 for the ground, where it has no meaning.
    inertia : (3, 3) array
        In the body frame, kg m^2; about the centre of mass, or about the pivot if there is one.
    center_of_mass : (3,) array
        In the body frame.
    pivot : (3,) array or None
        The point fixed in space about which the body rotates; the origin of the body frame sits there.
    position, velocity : (3,) arrays
        Initial values of the body frame's origin, in space. Zero if not given.
    orientation : (4,) array
        Initial unit quaternion, scalar first, from body components to spatial ones. (1, 0, 0, 0) if not given.
    angular_velocity : (3,) array
        Initial value in the body frame. Zero if not given.
    fixed : bool
        True for the ground only.
    allow_unphysical : bool
        The inertia may break the triangle inequality.
    given : tuple of str
        The members of `INITIAL_VALUES` that were given. The others are unknown, and the search for them begins at the
        values here. A pivot determines position and velocity, which are then not in the list.
    """

    name: str
    mass: float
    inertia: Mat
    center_of_mass: Vec
    pivot: Vec | None
    position: Vec
    orientation: Vec
    velocity: Vec
    angular_velocity: Vec
    fixed: bool = False
    allow_unphysical: bool = False
    given: tuple[str, ...] = INITIAL_VALUES

    @property
    def central_inertia(self) -> Mat:
        """Inertia about the centre of mass (by Steiner's theorem if there is a pivot), (3, 3)."""
        if self.pivot is None:
            return self.inertia
        return _check.frozen(self.inertia - steiner(self.mass, self.center_of_mass))

    @property
    def rotation(self) -> Mat:
        """R = [d1 d2 d3] at the start, (3, 3)."""
        return _check.frozen(rotation_matrices(self.orientation))

    @property
    def reference(self) -> Vec:
        """The point of the body frame to which natural coordinates refer, (3,): the centre of mass, or the pivot."""
        return self.center_of_mass if self.pivot is None else _ORIGIN

    def __repr__(self) -> str:
        return f"Body({self.name!r})"


def describe(what: str, kind: str, a: Body, b: Body | None, name: str | None) -> str:
    """The name of a joint or force (`what`) in error messages: "joint Rod('crank', 'ground')", or "joint 'strut'".

    Raises unless `a` and `b` are two different bodies and the name, if there is one, is a non-empty string. A force may
    lack `b`; the ground then takes its place.
    """
    bodies = (a,) if b is None and what == "force" else (a, b)
    for body in bodies:
        if not isinstance(body, Body):
            raise TypeError(
                f"{what} {kind}: bodies must be what System.add_body returned, or system.ground, got "
                f"{_check.show(body)} of type {type(body).__name__}"
            )
    out = caption(what, kind, [body for body in bodies if body is not None], name)
    if a is b or (b is None and a.fixed):
        raise ValueError(f"{out}: it connects body {a.name!r} with itself; name two different bodies")
    return out


def caption(what: str, kind: str, bodies: Sequence[Body], name: str | None) -> str:
    """`describe` for bodies that have been checked."""
    if name is not None:
        return f"{what} {_check.name(what, name, ())!r}"
    return f"{what} {kind}({', '.join(repr(body.name) for body in bodies)})"


def ground() -> Body:
    return Body(
        name="ground",
        mass=0.0,
        inertia=_check.frozen(np.zeros((3, 3))),
        center_of_mass=_ORIGIN,
        pivot=None,
        position=_ORIGIN,
        orientation=_check.frozen(np.array((1.0, 0.0, 0.0, 0.0))),
        velocity=_ORIGIN,
        angular_velocity=_ORIGIN,
        fixed=True,
    )


def steiner(mass: float, arm: Vec) -> Mat:
    """Inertia of a point mass at `arm` about the origin."""
    out: Mat = mass * (np.dot(arm, arm) * np.eye(3) - np.outer(arm, arm))
    return out


def checked_orientation(owner: str, value: object, what: str = "orientation") -> Vec:
    """A unit quaternion, scalar first, from a `Rotation`, a quaternion or a rotation matrix."""
    remedy = "for angles use scipy.spatial.transform.Rotation.from_euler"
    if not isinstance(value, (tuple, list, np.ndarray)):
        from scipy.spatial.transform import Rotation  # slow to import

        if isinstance(value, Rotation):
            if not value.single:
                raise ValueError(
                    f"{owner}: {what} must be one rotation, got a stack of {len(value)}; pick one, e.g. rotation[0]"
                )
            x, y, z, w = value.as_quat()
            return _check.array(owner, what, (w, x, y, z), (4,))
    entries = _check.array(owner, what, value, (4,), (3, 3), remedy=remedy)
    if entries.ndim == 2:
        return _check.frozen(_from_matrix(owner, entries, what))
    norm = math.hypot(*entries)
    if norm == 0.0:
        raise ValueError(
            f"{owner}: {what} is the zero quaternion, which is no rotation; pass (1, 0, 0, 0) for the identity"
        )
    if abs(norm - 1.0) > _UNIT:
        raise ValueError(
            f"{owner}: {what} must be a unit quaternion (scalar first), got {_check.show(value)} "
            f"of norm {norm:.9g}; divide it by its norm"
        )
    return _check.frozen(entries / norm)


def _from_matrix(owner: str, given: Mat, what: str) -> Vec:
    defect = math.inf
    if _check.largest(given) <= 2.0:  # beyond this the product could overflow
        defect = _check.largest(given.T @ given - np.eye(3))
    if defect > _UNIT:
        raise ValueError(
            f"{owner}: {what} must be a rotation matrix, but its columns are not orthonormal "
            f"(R^T R - I has an entry of size {defect:.3g}), got {_check.show(given)}; "
            "pass [d1 d2 d3] with unit columns"
        )
    left, _, right = np.linalg.svd(given)
    matrix = left @ right
    if float(np.linalg.det(matrix)) < 0.0:
        raise ValueError(
            f"{owner}: {what} is improper (determinant -1, a reflection), got {_check.show(given)}; "
            "use a right-handed frame, e.g. flip one column"
        )
    return unit_quaternion(matrix)


def check_inertia(
    owner: str, inertia: Mat, mass: float, center_of_mass: Vec, pivot: bool, allow_unphysical: bool
) -> None:
    """Refuse an inertia that is not positive definite or that no distribution of the mass can have."""
    scale = _check.largest(inertia) or 1.0
    moments = principal(inertia, scale)
    if moments[0] <= 8 * np.finfo(float).eps:
        raise ValueError(
            f"{owner}: inertia must be positive definite, got {_check.show(inertia)}; "
            "give every principal moment a positive value"
        )
    if not pivot:
        if not allow_unphysical:
            _check_triangle(owner, moments, scale, "the centre of mass")
        return
    with np.errstate(all="ignore"):
        central = inertia - steiner(mass, center_of_mass)
    if not np.isfinite(central).all():
        raise ValueError(
            f"{owner}: mass {mass:g} times the squared distance of center_of_mass "
            f"{_check.show(center_of_mass)} from the pivot is too large for a float; use SI units"
        )
    if not allow_unphysical:
        _check_triangle(owner, moments, scale, "the pivot")
        # The director form about the centre of mass needs this inertia too.
        wider = max(scale, _check.largest(central))
        central_moments = principal(central, wider)
        derived = f"from mass {mass:g} and center_of_mass {_check.show(center_of_mass)} by Steiner's theorem"
        _check_triangle(owner, central_moments, wider, f"the centre of mass ({derived})")


def _check_triangle(owner: str, moments: list[float], scale: float, about: str) -> None:
    # An eigenvalue of the Euler tensor, the second moment of the mass: never negative for a real body.
    if 0.5 * sum(moments) - moments[2] < -_check.ROUNDING:
        shown = ", ".join(f"{scale * moment:.6g}" for moment in moments)
        raise ValueError(
            f"{owner}: inertia about {about} breaks the triangle inequality: of its principal moments "
            f"({shown}) the largest exceeds the sum of the others, which no distribution of mass can have; "
            "check the point and the axes that it refers to, or pass allow_unphysical=True"
        )


def principal(matrix: Mat, scale: float) -> list[float]:
    """Eigenvalues of a symmetric (3, 3) matrix in ascending order, as multiples of a positive `scale`."""
    (a, b, c), (_, d, e), (_, _, f) = matrix.tolist()
    if b == c == e == 0.0:  # the common case: exact and much faster
        return sorted((a / scale, d / scale, f / scale))
    values: list[float] = np.linalg.eigvalsh(matrix / scale).tolist()
    return values
