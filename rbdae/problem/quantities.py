"""The meaning of a state, whatever the unknowns: motion of bodies, energy, momentum, constraints, and quantities of
joints and forces.

Natural coordinates Z have the shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec
from rbdae._frozen import brief_repr, by_fields
from rbdae.machine.reading import motion
from rbdae.machine.reading.host import call
from rbdae.multibody.model import Model

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
    if what == "quaternion":
        for row, place in zip(out, places, strict=True):
            row[k : k + len(Z)] = quaternions(Z, place)
        return
    at, width = np.array(places, dtype=np.int64), Z.shape[1]
    first, m, total, n = k, len(Z), out.shape[1], len(places)
    if what == "angular_velocity":
        call(motion.angular_velocities, m, first, total, n, width, at, Z, np.empty(12), out)
        return
    x, d = (_XD, _DD) if what == "velocity" else (_X, _D)
    arms = np.array([_arm(body, what) for body in model.bodies[:n]])
    call(motion.points, m, first, total, n, width, at, x, d, arms, Z, out)


def quaternions(Z: Mat, place: int) -> Mat:
    """Unit quaternions (m, 4), the scalar part last, of the body with this place; of a frame that has drifted from a
    rotation times a number those of the nearest rotation, U V^T of its singular value decomposition. SciPy finds the
    same one since 1.12, and another one before."""
    at, out = 24 * place + _D, np.empty((len(Z), 4))
    if call(motion.quaternions, len(Z), Z.shape[1], at, Z, out):
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        rest = np.isnan(out[:, 0])
        frames = np.swapaxes(Z[rest, at : at + 9].reshape(-1, 3, 3), 1, 2)
        u, _, vt = np.linalg.svd(frames)
        out[rest] = Rotation.from_matrix(u @ vt).as_quat()
    return out


def _arm(body: Any, what: str) -> Vec:
    """The vector from x to a point, in the frame of the body: x is the centre of mass of a free body, and the pivot of
    one that has one."""
    free = body["nt"] == 3
    if what == "center_of_mass":
        return np.zeros(3) if free else np.array(body["center"])
    return -body["center"] if free else np.zeros(3)


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
