"""The table of observables: the quantities that problems and runs have, and tables, files, pictures and reports show.

A line of the table and a function are a new one, here or in a user's file:

    def lagrangian(problem, t, y):
        energy = problem.energy(t, y)
        return energy.kinetic - energy.potential

    rbdae.observables.register("lagrangian", "J", lagrangian)

Then ``problem.lagrangian(t, y)`` and ``solution.lagrangian`` are there, ``"lagrangian"`` is a quantity of
`Solution.to_pandas` and `Solution.plot`, and the CSV files of the command line and reports have it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

Owner = Literal["system", "bodies", "joints", "named"]
Function = Callable[[Any, Vec, Mat], Any]
"""``of(problem, t, y)``: values at times (m,) and states (m, n) that are read by one selection, that of `problem`."""

_DEPTH = {"system": 0, "bodies": 1, "joints": 2}  # mappings around the values of what users register
_taken = {"unknowns", "steps"}
_classes: dict[type, Callable[[Observable], Any]] = {}


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
        found = np.asarray(self.of(value) if self.of else getattr(value, self.name) if self.name else value)
        return found if self.components else found[:, None]

    def labels(self, stem: str, dot: str = ".") -> list[str]:
        """The names of the components with their unit, such as "top.position.x [m]"."""
        return [with_unit(dot.join(filter(None, (stem, each))), self.unit) for each in self.components or ("",)]

    @property
    def said(self) -> str:
        """The name in words."""
        return (self.column or self.name).replace("_", " ") or self.heading


@final
@dataclass(frozen=True, slots=True, eq=False)
class Observable:
    """A quantity by its name, that of the attribute of problems and runs.

    Attributes
    ----------
    name, parts
    owner : whose it is; values are in a mapping by the names of bodies, or of joints and of their bodies; "named" for
        quantities that each joint or force has by names of its own
    of : gives the values; None if problems and runs have a method and an attribute of this name with types of their own
    """

    name: str
    parts: tuple[Part, ...]
    owner: Owner = "system"
    of: Function | None = None

    def parts_of(self, value: Any) -> tuple[Part, ...]:
        """The parts of the value of one owner."""
        if self.owner != "named":
            return self.parts
        words = {name: name.replace("_", " ") for name in value.units}
        return tuple(
            Part(name, unit, components, words[name], f"{words[name]} {{}}" if components else "{}")
            for name, (unit, components) in value.units.items()
        )

    @property
    def note(self) -> str:
        """The docstring of its function."""
        return (getattr(self.of, "__doc__", None) or "").strip()

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

    def rows(self, problem: Any, t: Vec, y: Mat) -> Any:
        """The values at times (m,) and states (m, n), as arrays; refuses other shapes."""
        components = self.parts[0].components
        shape = (len(t), len(components)) if components else (len(t),)

        def checked(values: Any) -> Mat:
            if isinstance(values, dict) or np.shape(values) != shape:
                got = "a dict" if isinstance(values, dict) else f"shape {np.shape(values)}"
                by = ("", ", by body", ", [joint][body]")[_DEPTH[self.owner]]
                raise ValueError(
                    f"observable {self.name!r}: values must have shape {shape}, got {got}; return a value for each time"
                    + by
                )
            return np.asarray(values, dtype=float)

        assert self.of is not None
        return _mapped(self.of(problem, t, y), _DEPTH[self.owner], checked)

    def first(self, value: Any) -> Any:
        """The values of the first row."""
        return _mapped(value, _DEPTH[self.owner], lambda each: each[0])


def _mapped(value: Any, depth: int, function: Callable[[Any], Any]) -> Any:
    if depth == 0:
        return function(value)
    return {name: _mapped(each, depth - 1, function) for name, each in value.items()}


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


def register(
    name: str, unit: str, of: Function, *, components: Iterable[str] = (), owner: Owner = "system"
) -> Observable:
    """Add an observable to the table, for all problems and runs of this process.

    Parameters
    ----------
    name : of the attribute; a second one of this name takes the place of the first
    unit : such as "kg m^2/s"; "" for numbers
    of : ``of(problem, t, y)`` for times (m,) and states (m, n): an array (m,), or (m, components); with an owner in a
        dict by the name of the body, or ``[joint][body]``. Rows are those of one selection, which `problem` has
    components : names, such as "xyz"; none for a scalar
    owner : "system", "bodies" or "joints"

    Raises
    ------
    ValueError, TypeError
        for a name that problems or runs have already, and for what is no name and no function of three arguments
    """
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("_"):
        raise ValueError(f"register: name must be a Python name without underscore in front, got {_check.show(name)}")
    if name in _taken or (name in TABLE and TABLE[name].of is None):
        raise ValueError(f"register: problems and runs have {name!r} already; choose another name")
    if owner not in _DEPTH:
        raise _check.unknown("owner", owner, _DEPTH)
    _check.takes("register", "of", of, "problem", "t", "y")
    named, own = _check.names("components", tuple(components)), "" if owner == "system" else name
    part = Part(own, unit, tuple(named), name.replace("_", " "), of=lambda value: value)
    line = TABLE[name] = Observable(name, (part,), owner, of)
    for kind, made in _classes.items():
        setattr(kind, name, made(line))
    return line


def unregister(name: str) -> None:
    """Take an observable that was registered out of the table; KeyError if there is none."""
    if TABLE[name].of is None:
        raise KeyError(name)
    del TABLE[name]
    for kind in _classes:
        delattr(kind, name)


def further() -> list[Observable]:
    """Those with a function: problems and runs have their attributes from the table."""
    return [each for each in TABLE.values() if each.of is not None]


def attach(kind: type, made: Callable[[Observable], Any]) -> None:
    """Give a class the attributes of these lines, now and when one is registered; no line can have names of its own."""
    _taken.update(dir(kind), getattr(kind, "__dataclass_fields__", ()))
    _classes[kind] = made
    for each in further():
        setattr(kind, each.name, made(each))


__all__ = ["TABLE", "Observable", "Part", "register", "unregister"]
