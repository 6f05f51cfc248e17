"""The meaning of a state, whatever the unknowns: motion of bodies, energy, momentum, constraints, reactions, and
quantities of joints and forces.

Natural coordinates Z have the shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec, cross
from rbdae._frozen import brief, brief_repr, by_fields
from rbdae.graph.functions import select
from rbdae.machine.reading import OfNumbers
from rbdae.multibody.system.model import Model
from rbdae.rotations.vectors import angular_velocity, largest_row

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


_X, _D, _XD, _DD = 0, 3, 12, 15
"""Where x, d, xdot and ddot begin among the numbers of a body."""


@final
@dataclass(frozen=True, repr=False)
class BodyState:
    """Motion of one body, (3,) or (m, 3) arrays. A part is computed when it is first asked for; its value belongs to
    the state that was given, whatever has become of that array. Pickles and copies have all parts.

    Attributes
    ----------
    position, velocity : of the origin of the body frame (the pivot, where there is one), in space, m and m/s
    orientation : `scipy.spatial.transform.Rotation`, from body to space
    angular_velocity : in the body frame, rad/s
    center_of_mass : position of the centre of mass, in space
    """

    position: Vec
    orientation: Rotation
    velocity: Vec
    angular_velocity: Vec
    center_of_mass: Vec

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            return _read_once(self, name, BodyState.__dataclass_fields__, "a BodyState has no {!r}; it has {}")

    def __repr__(self) -> str:
        return brief_repr(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *BodyState.__dataclass_fields__} - {"_read"})

    __reduce__ = by_fields


def lazy_state(read: Callable[[str], Any]) -> BodyState:
    """A state whose parts `read` gives by their names."""
    out = object.__new__(BodyState)
    out.__dict__["_read"] = read
    return out


def _read_once(owner: Any, name: str, known: Iterable[str], refusal: str) -> Any:
    """The part of a lazy value with this name, which it keeps; AttributeError for other names."""
    read = owner.__dict__.get("_read")
    if read is None or name not in known:
        raise AttributeError(refusal.format(name, ", ".join(known)))
    value = owner.__dict__[name] = read(name)
    return value


def of_bodies(model: Model, Z: Mat, what: str, places: Sequence[int], out: Mat, k: int) -> None:
    """A field of `BodyState` of the bodies with these places in rows Z, into the rows of `out` (bodies, total, 3) from
    the k-th on; unit quaternions with (bodies, total, 4)."""
    z, m = Z.reshape(len(Z), model.n, 24), len(Z)
    if what in ("angular_velocity", "quaternion"):
        of = angular_velocities if what == "angular_velocity" else _quaternions
        out[:, k : k + m] = of(z)[:, places].swapaxes(0, 1)
        return
    x, d = (_XD, _DD) if what == "velocity" else (_X, _D)
    arms = _arms(model, what)
    found = z[:, places, x : x + 3]
    if arms.any():
        D = z[:, places, d : d + 9]
        found += arms[:, :1] * D[..., :3] + arms[:, 1:2] * D[..., 3:6] + arms[:, 2:] * D[..., 6:]
    out[:, k : k + m] = found.swapaxes(0, 1)


_ANGULAR_VELOCITY = OfNumbers(24, lambda z: angular_velocity(z[_D:_XD].reshape(3, 3), z[_DD:].reshape(3, 3)))


def angular_velocities(Z: Mat) -> Mat:
    """Material angular velocities (..., 3) at natural coordinates (..., 24)."""
    return _ANGULAR_VELOCITY(Z.reshape(-1, 24)).reshape(*Z.shape[:-1], 3)


def _quaternion(d: Any) -> list[Any]:
    """The unit quaternion of a rotation times a number, the scalar part last, and how far d is from one."""
    D = d.reshape(3, 3)
    size = np.sqrt((d @ d) / 3.0)
    p = largest_row((D / size).T)
    p = p / np.sqrt(p @ p)
    off = (D @ D.T) / (size * size) - np.eye(3)
    return [*p[1:], p[0], select(cross(D[1], D[2]) @ D[0] > 0.0, (off * off).sum(), 1.0)]


_QUATERNION = OfNumbers(9, _quaternion)

_OFF = 1e-24
"""Square of the difference from a rotation times a number that is rounding."""


def _quaternions(z: Mat) -> Mat:
    """Unit quaternions (..., 4), the scalar part last; of a frame that has drifted from a rotation times a number those
    of the nearest rotation, U V^T of its singular value decomposition. SciPy finds the same one since 1.12, and another
    one before."""
    d = np.ascontiguousarray(z[..., _D:_XD]).reshape(-1, 9)
    found = _QUATERNION(d)
    q, bad = np.ascontiguousarray(found[:, :4]), ~(found[:, 4] <= _OFF)
    if bad.any():
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        u, _, vt = np.linalg.svd(np.swapaxes(d[bad].reshape(-1, 3, 3), 1, 2))
        q[bad] = Rotation.from_matrix(u @ vt).as_quat()
    return q.reshape(*z.shape[:-1], 4)


def _arms(model: Model, what: str) -> Mat:
    """The vectors from x to a point of each body, in its frame: x is the centre of mass of a free body, and the pivot
    of one that has one."""
    B = model.bodies[: model.n]
    free, centers = (B["nt"] == 3)[:, None], B["center"]
    return np.where(free, 0.0, centers) if what == "center_of_mass" else np.where(free, -centers, 0.0)


def rotation(q: Vec | Mat) -> Rotation:
    """Rotations of unit quaternions (4,) or (m, 4), the scalar part last."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    return Rotation.from_quat(q)


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


def _all() -> Bools:
    return np.ones(3, dtype=bool)


@final
@dataclass(frozen=True, slots=True, repr=False)
class Reaction:
    """Force and torque of a joint on a body, (3,) or (m, 3) arrays.

    Where joint equations follow from the others, G^T la = 0 has solutions la != 0, which change no motion: reactions
    are determined up to the forces of these la, and those of least norm are given. A component is unique if no such la
    moves it. In a plane loop of revolute joints those are the forces in the plane and the torque about the axes.

    Attributes
    ----------
    force, torque : N and N m, spatial components; the torque about the joint's point on the body
    unique : whether all components are; False where multipliers are not finite, as in singular positions without
        ``redundant="minimum-norm"``
    unique_force, unique_torque : (3,) bool, at all times
        The components in the joint's frame that are unique: along normal_a, axis_a x normal_a and axis_a, which turn
        with the joint's body `a`; along the axes of that body for a joint without an axis.
    unique_force_in_space, unique_torque_in_space : (3,) bool, at all times
        The spatial components that are unique.
    frame : (3, 3), or (m, 3, 3)
        The joint's frame: its columns are the three directions in space, so that ``frame.T @ force`` is the force in
        it.
    """

    force: Vec
    torque: Vec
    unique: bool = True
    unique_force: Bools = field(default_factory=_all)
    unique_torque: Bools = field(default_factory=_all)
    unique_force_in_space: Bools = field(default_factory=_all)
    unique_torque_in_space: Bools = field(default_factory=_all)
    frame: Mat = field(default_factory=partial(np.eye, 3))

    def __repr__(self) -> str:
        names = [f"{letter}{axis}" for letter in "FM" for axis in "xyz"]
        sure = [n for n, each in zip(names, [*self.unique_force, *self.unique_torque], strict=True) if each]
        unique = "all" if self.unique else ", ".join(sure) or "no"
        return f"Reaction(force={brief(self.force)}, torque={brief(self.torque)}, unique: {unique})"


Units = Mapping[str, tuple[str, str]]
"""Unit and components, "" for a number, of each quantity by name."""


@final
class Measured:
    """Quantities of one joint or force, at one state or at m of them, by name: ``.angle``, ``.rate``, ``.torque``.

    Numbers have the shape (m,), vectors (m, 3), of one state () and (3,). What is not asked for is not computed; what
    was asked for belongs to the state that was given, whatever has become of that array. Pickles and copies have all of
    them.

    Attributes
    ----------
    units : unit and components of each by name
    """

    def __init__(self, units: Units, read: Callable[[str], Any]) -> None:
        self.__dict__.update(units=units, _read=read)

    def __getattr__(self, name: str) -> Any:
        units = self.__dict__.get("units", {})
        hint = "" if name in units else _check.nearest(name, units)
        return _read_once(
            self, name, units, f"no quantity {{!r}} here; {hint + ' There' if hint else 'there'} are {{}}"
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Measured cannot be changed, got a new {name}")

    def __iter__(self) -> Iterator[str]:
        """The names of the quantities."""
        return iter(self.units)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *self.units} - {"_read"})

    def __repr__(self) -> str:
        return f"Measured({', '.join(f'{name} [{unit}]' if unit else name for name, (unit, _) in self.units.items())})"

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (dict(self.units), {name: getattr(self, name) for name in self.units})


def _again(units: Units, values: dict[str, Any]) -> Measured:
    return Measured(units, values.__getitem__)
