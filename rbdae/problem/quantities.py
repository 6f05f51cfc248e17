"""The meaning of a state, whatever the unknowns: motion of bodies, energy, momentum, constraints, and quantities of
joints and forces.

Natural coordinates Z have the shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
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
            read = self.__dict__.get("_read")
            if read is None or name not in BodyState.__dataclass_fields__:
                raise AttributeError(f"a BodyState has no {name!r}; it has {', '.join(BodyState.__dataclass_fields__)}")
            value = self.__dict__[name] = read(name)
            return value

    def __repr__(self) -> str:
        return brief_repr(self)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *BodyState.__dataclass_fields__} - {"_read"})

    def __reduce__(self) -> tuple[Any, ...]:
        return by_fields(self)


def lazy_state(read: Callable[[str], Any]) -> BodyState:
    """A state whose parts `read` gives by their names."""
    out = object.__new__(BodyState)
    out.__dict__["_read"] = read
    return out


@final
class States:
    """Reads the bodies of rows, a part of `BodyState` for all of them at once.

    Parameters
    ----------
    read : gives ``(bodies, m, 3)`` of a part by its name, ``(bodies, m, 4)`` of ``"quaternion"``
    single : whether there is one row, whose states have no axis for it
    """

    def __init__(self, read: Callable[[str], Mat], single: bool) -> None:
        self._read, self._single = read, single
        self._found: dict[str, Mat] = {}

    def state(self, b: int) -> BodyState:
        """The state of body b."""
        return lazy_state(lambda what: self._part(b, what))

    def _part(self, b: int, what: str) -> Any:
        name = "quaternion" if what == "orientation" else what
        if name not in self._found:
            self._found[name] = self._read(name)
        found = self._found[name][b]
        value = found[0] if self._single else found
        return rotation(value) if what == "orientation" else value


def of_bodies(model: Model, Z: Mat, what: str, bodies: Sequence[int], places: Sequence[int], out: Mat, k: int) -> None:
    """A field of `BodyState` of some bodies with these places in rows Z, into the rows of `out` (bodies, total, 3) from
    the k-th on; unit quaternions with (bodies, total, 4)."""
    if what == "quaternion":
        for row, place in zip(out, places, strict=True):
            row[k : k + len(Z)] = quaternions(Z, place)
        return
    at, width = np.array(places, dtype=np.int64), Z.shape[1]
    first, m, total, n = k, len(Z), out.shape[1], len(bodies)
    if what == "angular_velocity":
        call(motion.angular_velocities, m, first, total, n, width, at, Z, np.empty(12), out)
        return
    x, d = (_XD, _DD) if what == "velocity" else (_X, _D)
    arms = np.array([_arm(model.bodies[b], what) for b in bodies])
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


def rotations(model: Model, R: Mat | None) -> dict[str, Rotation]:
    """Rotations (n, 3, 3) by the names of the bodies; None stands for the identity."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    known = np.tile(np.eye(3), (model.n, 1, 1)) if R is None else R
    return {name: Rotation.from_matrix(each) for name, each in zip(model.names, known, strict=True)}


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
        if name not in units:
            hint = _check.nearest(name, units)
            raise AttributeError(f"no quantity {name!r} here; {hint + ' There' if hint else 'there'} are {list(units)}")
        value = self.__dict__[name] = self.__dict__["_read"](name)
        return value

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


__all__ = [
    "BodyState",
    "Constraints",
    "Energy",
    "Momentum",
    "angular_velocities",
    "rotations",
]
