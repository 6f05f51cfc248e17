"""The table of observables: the quantities of problems and runs, which tables, files, pictures and reports show."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from rbdae._arrays import Mat, Vec

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Owner = Literal["system", "bodies", "joints", "named"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A scalar (no components) or a vector of an observable, in the attribute of its name, or as `of` gives it.

    Pictures have its heading, with which scalars are drawn together, its symbol of a component and the limits of its
    values; columns of tables, unless it is not `tabled`, have `column` in place of its name; the figure of a report has
    its anchor and caption.
    """

    name: str
    unit: str
    components: Sequence[str] = ""
    heading: str = ""
    symbol: str = "{}"
    column: str = ""
    of: Callable[[Any], Mat] | None = None
    anchor: str = ""
    caption: str = ""
    limits: tuple[float, float] | None = None
    tabled: bool = True

    def values(self, value: Any) -> Mat:
        """The numbers (m, components), (m, 1) of a scalar."""
        found = np.asarray(self.of(value) if self.of else getattr(value, self.name))
        return found if self.components else found[:, None]

    def labels(self, stem: str, dot: str = ".") -> list[str]:
        """The names of the components with their unit, such as "top.position.x [m]"."""
        return [with_unit(dot.join(filter(None, (stem, each))), self.unit) for each in self.components or ("",)]

    @property
    def said(self) -> str:
        """The name in words."""
        return (self.column or self.name).replace("_", " ")


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observable:
    """A quantity by its name, that of the attribute of problems and runs. Its values are in a mapping by its owners'
    names: of bodies, or of joints and of their bodies; each "named" joint or force has quantities by names of its own.
    """

    name: str
    parts: tuple[Part, ...]
    owner: Owner = "system"

    def parts_of(self, value: Any) -> tuple[Part, ...]:
        """The parts of the value of one owner."""
        if self.owner != "named":
            return self.parts
        words = {name: name.replace("_", " ") for name in value.units}
        return tuple(
            Part(name, unit, components, words[name], f"{words[name]} {{}}" if components else "{}")
            for name, (unit, components) in value.units.items()
        )

    def owned(self, value: Any) -> Iterator[tuple[str, Any]]:
        """The values with the names of what they belong to: that of the observable, a body, a joint on a body."""
        if self.owner == "system":
            yield self.name, value
        elif self.owner in ("bodies", "named"):
            yield from value.items()
        else:
            yield from ((f"{joint} on {body}", each) for joint, sides in value.items() for body, each in sides.items())

    def columns(self, value: Any) -> Iterator[tuple[str, Vec]]:
        """Names with units, and values (m,)."""
        for owner, each in self.owned(value):
            for part in self.parts_of(each):
                if part.tabled:
                    stem = ".".join(filter(None, (owner, part.column or part.name)))
                    yield from zip(part.labels(stem), part.values(each).T, strict=True)


def with_unit(name: str, unit: str) -> str:
    """A name with its unit; numbers have none."""
    return f"{name} [{unit}]" if unit else name


def continuous_quaternions(orientation: Rotation) -> Mat:
    """Scalar-first quaternions, shape (m, 4), of m rotations; signs such that neighbours do not jump."""
    q = np.roll(np.atleast_2d(orientation.as_quat()), 1, axis=1)
    jumps = np.sum(q[1:] * q[:-1], axis=1) < 0
    q[1:] *= np.where(np.cumsum(jumps) % 2, -1.0, 1.0)[:, None]
    return np.asarray(q)


_POSITIONS = "Positions of the origins of the bodies' frames (of their pivots, if they have one), in space."
_QUATERNIONS = "Orientations as unit quaternions, scalar first, from body to space."
_SPEEDS, _SPINS = "Velocities of the same points, in space.", "Angular velocities, in the bodies' frames."

STATES = Observable(
    "states",
    (
        Part("position", "m", "xyz", "position", anchor="positions", caption=_POSITIONS),
        Part(
            "orientation", "", "0123", "orientation: unit quaternion", "$p_{}$", "quaternion",
            lambda state: continuous_quaternions(state.orientation), "orientations", _QUATERNIONS, (-1.08, 1.08),
        ),
        Part("velocity", "m/s", "xyz", "velocity", "v{}", anchor="velocities", caption=_SPEEDS),
        Part(
            "angular_velocity", "rad/s", "123", "angular velocity in the body frame", r"$\Omega_{}$",
            anchor="angular-velocities", caption=_SPINS,
        ),
        Part("center_of_mass", "m", "xyz", "centre of mass", tabled=False),
    ),
    "bodies",
)  # fmt: skip
ENERGY = Observable(
    "energy", tuple(Part(name, "J", heading="energy") for name in ("kinetic", "potential", "total", "work", "balance"))
)
MOMENTUM = Observable(
    "momentum",
    (
        Part("linear", "kg m/s", "xyz", "linear momentum", "$P_{}$"),
        Part("angular", "kg m^2/s", "xyz", "angular momentum about the origin", "$L_{}$"),
    ),
)
DRIFT = Observable("drift", (Part("position", ""), Part("velocity", "")))
REACTIONS = Observable(
    "reactions",
    (
        Part("force", "N", "xyz", "reaction force", "$F_{}$", anchor="reaction-forces"),
        Part("torque", "N m", "xyz", "reaction torque", "$M_{}$", anchor="reaction-torques"),
    ),
    "joints",
)

JOINTS, FORCES = Observable("joints", (), "named"), Observable("forces", (), "named")

_LINES = (STATES, ENERGY, MOMENTUM, DRIFT, REACTIONS, JOINTS, FORCES)

TABLE: dict[str, Observable] = {each.name: each for each in _LINES}
"""All observables by name, in the order in which they are listed."""
