"""`BodyState`: the motion of one body, each part of it computed when it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import by_fields
from rbdae._show import brief_repr
from rbdae.multibody.model import Model
from rbdae.problem.row_reader import RowReader, of_bodies, quaternions

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


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
class OneState:
    """Reads the bodies of one state from its natural coordinates (1, 24 bodies); `places` says where they are there."""

    __slots__ = ("_Z", "_model", "_places")

    def __init__(self, model: Model, Z: Mat, places: Sequence[int]) -> None:
        self._model, self._Z, self._places = model, Z, places

    def state(self, b: int) -> BodyState:
        """The state of body b."""
        return lazy_state(lambda what: self._read(b, what))

    def _read(self, b: int, what: str) -> Any:
        if what == "orientation":
            return rotation(quaternions(self._Z, self._places[b])[0])
        out = np.empty((1, 1, 3))
        of_bodies(self._model, self._Z, what, (b,), (self._places[b],), out, 0)
        return out[0, 0]


@final
class ManyStates:
    """Reads the bodies of rows (t, y), which nobody changes. A part is read for all bodies at once, since the rows have
    to be gone through for one of them, too."""

    def __init__(self, reader: RowReader, t: Vec, y: Mat) -> None:
        self._reader, self._t, self._y = reader, t, y
        self._found: dict[str, Mat] = {}

    def state(self, b: int) -> BodyState:
        """The state of body b."""
        return lazy_state(lambda what: self._read(b, what))

    def _read(self, b: int, what: str) -> Any:
        name = "quaternion" if what == "orientation" else what
        if name not in self._found:
            self._found[name] = self._reader.of_bodies(self._t, self._y, name)
        found = self._found[name][b]
        return rotation(found) if what == "orientation" else found


def rotation(q: Vec | Mat) -> Rotation:
    """Rotations of unit quaternions (4,) or (m, 4), the scalar part last."""
    from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

    return Rotation.from_quat(q)


__all__ = ["BodyState", "ManyStates", "OneState", "lazy_state", "rotation"]
