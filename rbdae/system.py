"""The user's description of a mechanism: bodies, joints, forces, gravity."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, final

import numpy as np

from rbdae import _check, _frozen
from rbdae._arrays import ArrayLike, Vec
from rbdae._frozen import field_names, twin
from rbdae.actuators.block import Block, Sampled, sort_of
from rbdae.body import INITIAL_VALUES, caption, check_inertia, checked_orientation, ground
from rbdae.body import Body as Body
from rbdae.forces.base import AbstractForce
from rbdae.inputs import Input
from rbdae.joints.base import AbstractJoint

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation

_OF_JOINTS = ("joint", "along")
"""Fields of forces along joints."""

J = TypeVar("J", bound=AbstractJoint)
F = TypeVar("F", bound=AbstractForce)
B = TypeVar("B", bound=Block)


@final
class System:
    """A mechanism.

    Parameters
    ----------
    gravity : (3,) array_like
        Gravitational acceleration in space, m/s^2.

    Examples
    --------
    >>> from rbdae.joints import Spherical
    >>> system = System()
    >>> bob = system.add_body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, 0))
    >>> system.add_joint(Spherical(system.ground, bob, at_b=(-1, 0, 0))).name
    'spherical-1'
    """

    __slots__ = ("_bodies", "_counts", "_forces", "_given", "_gravity", "_ground", "_inputs", "_joints", "_sources")

    def __init__(self, gravity: ArrayLike = (0.0, 0.0, -9.81)) -> None:
        self._gravity = _check.vector("system", "gravity", gravity)
        self._ground = ground()
        self._bodies: dict[str, Body] = {self._ground.name: self._ground}
        self._joints: dict[str, AbstractJoint] = {}
        self._forces: dict[str, AbstractForce] = {}
        # Names of the objects as passed in; the dictionaries above may hold copies of them.
        self._given: dict[object, str] = {}
        self._counts: dict[str, int] = {}
        self._inputs: dict[str, Input] = {}
        self._sources: dict[Input, Callable[[float], Any]] = {}

    def __copy__(self) -> System:
        """A system with the same bodies, joints and forces; additions to one do not change the other."""
        out = object.__new__(System)
        for name in self.__slots__:
            value = getattr(self, name)
            setattr(out, name, value.copy() if isinstance(value, (dict, set)) else value)
        return out

    def __setstate__(self, state: tuple[None, dict[str, Any]]) -> None:
        for name, value in state[1].items():
            setattr(self, name, value)
        self._gravity.flags.writeable = False
        for part in (*self._bodies.values(), *self._joints.values(), *self._forces.values()):
            for content in (getattr(part, name) for name in field_names(type(part))):
                if isinstance(content, np.ndarray):  # copies and pickles forget it
                    content.flags.writeable = False

    @property
    def gravity(self) -> Vec:
        """Gravitational acceleration in space, (3,)."""
        return self._gravity

    @property
    def ground(self) -> Body:
        """The body that does not move."""
        return self._ground

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The bodies in order of addition, without the ground."""
        return tuple(self._bodies.values())[1:]

    @property
    def joints(self) -> tuple[AbstractJoint, ...]:
        """The joints in order of addition, each with its name."""
        return tuple(self._joints.values())

    @property
    def forces(self) -> tuple[AbstractForce, ...]:
        """The forces in order of addition, each with its name and all its bodies."""
        return tuple(self._forces.values())

    @property
    def inputs(self) -> tuple[Input, ...]:
        """The inputs in order of addition."""
        return tuple(self._inputs.values())

    @property
    def sources(self) -> Mapping[Input, Callable[[float], Any]]:
        """The inputs that are functions of time."""
        return MappingProxyType(self._sources)

    def source(self, given: Input) -> Callable[[float], Any]:
        """An input as a function of time: its source if it has one, otherwise its constant value. Raises ValueError for
        an input of another system."""
        if self._inputs.get(given.name) is not given:
            raise ValueError(
                f"input {given.name!r} does not belong to this system; use what its own add_input returned"
            )
        return self._sources.get(given, lambda t: given.value)

    def with_sources(self, sources: Mapping[str, Callable[[float], Any] | None]) -> System:
        """A system with the same parts and these sources by input name; None removes a source."""
        out = copy.copy(self)
        for name, function in sources.items():
            if name not in self._inputs:
                raise _check.unknown("input", name, self._inputs)
            out._sources.pop(self._inputs[name], None)
            if function is not None:
                out._sources[self._inputs[name]] = function
        return out

    def add_input(self, name: str, value: float = 0.0, *, unit: str = "") -> Input:
        """Add an input: a number that force laws read and that a run receives from outside.

        The result is for ``rbdae.forces.Motor(joint, torque=u)`` and other laws.

        Parameters
        ----------
        name : str
            Unique among the inputs of the system.
        value : float
            Used unless a run gives another.
        unit : str
            For labels.
        """
        _check.name("input", name, self._inputs)
        if not isinstance(unit, str):
            raise TypeError(f"input {name!r}: unit must be a string, got {_check.show(unit)}; give e.g. unit='N m'")
        out = Input(name, _check.number(f"input {name!r}", "value", value), unit)
        self._inputs[name] = out
        return out

    def add_body(
        self,
        name: str,
        *,
        mass: float,
        inertia: ArrayLike,
        center_of_mass: ArrayLike = (0.0, 0.0, 0.0),
        pivot: ArrayLike | None = None,
        position: ArrayLike | None = None,
        orientation: ArrayLike | Rotation | None = None,
        velocity: ArrayLike | None = None,
        angular_velocity: ArrayLike | None = None,
        allow_unphysical: bool = False,
    ) -> Body:
        """Add a rigid body.

        Raises ValueError and TypeError if the data describe no body.

        Parameters
        ----------
        name : str
            Unique among the bodies of the system; "ground" is taken.
        mass : float
            kg
        inertia : (3,) or (3, 3) array_like
            Principal moments along the axes of the body frame, or the whole tensor in it; kg m^2. About the
            centre of mass, or about the pivot if there is one.
        center_of_mass : (3,) array_like
            In the body frame.
        pivot : (3,) array_like, optional
            A point fixed in space about which the body rotates. It carries the origin of the body frame.
        position, velocity : (3,) array_like, optional
            Initial values of the body frame's origin, in space. With a pivot they follow from it.
        orientation : Rotation, (4,) or (3, 3) array_like, optional
            Initial rotation from body to space: a `scipy.spatial.transform.Rotation`, a unit quaternion (scalar first)
            or the matrix [d1 d2 d3].
        angular_velocity : (3,) array_like, optional
            Initial value in the body frame, rad/s.
        allow_unphysical : bool
            Accept an inertia that breaks the triangle inequality, like the top in [GR95], section 11.6.

        Notes
        -----
        Omitted initial values are unknown, not zero: `rbdae.formulate` finds values that satisfy the joints, and keeps
        given values as far as the joints allow. The search begins at the origin, without rotation; joints that take a
        direction or a length from the start take it from this placement.
        """
        if isinstance(name, Body):
            raise TypeError(
                f"body {name.name!r} exists already and belongs to the system that made it; "
                "add_body takes a name and makes a new body"
            )
        _check.name("body", name, self._bodies)
        owner = f"body {name!r}"
        kilograms = _check.positive(owner, "mass", mass, "use system.ground for a body that does not move")
        tensor = _check.symmetric(owner, "inertia", inertia, (3,), (3, 3))
        center = _check.vector(owner, "center_of_mass", center_of_mass)
        unphysical = _check.flag(owner, "allow_unphysical", allow_unphysical)
        point = None if pivot is None else _check.vector(owner, "pivot", pivot)
        origin = _check.vector(owner, "position", (0.0, 0.0, 0.0) if position is None else position)
        rate = _check.vector(owner, "velocity", (0.0, 0.0, 0.0) if velocity is None else velocity)
        spin = _check.vector(
            owner, "angular_velocity", (0.0, 0.0, 0.0) if angular_velocity is None else angular_velocity
        )
        attitude = checked_orientation(owner, (1.0, 0.0, 0.0, 0.0) if orientation is None else orientation)
        check_inertia(owner, tensor, kilograms, center, point is not None, unphysical)
        if point is not None:
            _check_pivot(owner, point, position, velocity)
            origin = point
        values = zip(INITIAL_VALUES, (position, orientation, velocity, angular_velocity), strict=True)
        follow = () if point is None else ("position", "velocity")
        body = Body(
            name=name,
            mass=kilograms,
            inertia=tensor,
            center_of_mass=center,
            pivot=point,
            position=origin,
            orientation=attitude,
            velocity=rate,
            angular_velocity=spin,
            allow_unphysical=unphysical,
            given=tuple(what for what, value in values if value is not None and what not in follow),
        )
        self._bodies[name] = body
        return body

    def add_joint(self, joint: J) -> J:
        """Add a joint between two bodies of this system.

        Returns it as the system has it: with its name, by default "spherical-1" and so on.
        """
        if not isinstance(joint, AbstractJoint):
            raise TypeError(
                "add_joint takes a joint such as rbdae.joints.Spherical(a, b), or a drive, got "
                f"{_check.show(joint)}; forces go to add_force, blocks to add_block"
            )
        name = self._admit("joint", joint, joint.bodies, self._joints)
        named = joint if joint.name is not None else joint.named(name)
        self._joints[name] = named
        self._given[named] = name
        for key, force in self._forces.items():
            for field in _OF_JOINTS:
                if getattr(force, field, None) is joint and named is not joint:
                    self._forces[key] = twin(force, **{field: named})
        return named

    def add_force(self, force: F) -> F:
        """Add a force on bodies of this system.

        Returns it as the system has it: with its name, by default "bushing-1" and so on, and with the ground as its
        second body unless one was given.
        """
        if not isinstance(force, AbstractForce):
            raise TypeError(
                "add_force takes a force such as rbdae.forces.Bushing(a, stiffness=1e4), or an actuator, got "
                f"{_check.show(force)}; joints and drives go to add_joint"
            )
        name = self._admit("force", force, force.bodies, self._forces)
        bound = force.bound(name, self._ground)
        for field in _OF_JOINTS:
            joint = getattr(force, field, None)
            if isinstance(joint, AbstractJoint) and joint in self._given:  # the joint as the system has it
                bound = twin(bound, **{field: self._joints[self._given[joint]]})
        self._forces[name] = bound
        if isinstance(bound, Sampled):
            for held in bound.held.values():
                _check.name("input", held.name, self._inputs)
                self._inputs[held.name] = held
        self._given[bound] = name
        return bound

    def add_block(self, block: B) -> B:
        """Add a block: equations without a force (`rbdae.Block`). Returns it as the system has it, with its name."""
        if not isinstance(block, Block):
            raise TypeError(f"add_block takes a rbdae.Block such as rbdae.block(...), got {_check.show(block)}")
        return self.add_force(block)

    def _admit(
        self, what: str, value: AbstractJoint | AbstractForce, bodies: tuple[Body, ...], taken: dict[str, Any]
    ) -> str:
        """The name under which a joint or force enters; refuses one that may not."""
        name, kind = value.name, value.default_name or type(value).__name__.lower()
        owner = caption(what, type(value).__name__, bodies, name)
        if name is not None:
            _check.name(what, name, taken)
        for body in bodies:
            if self._bodies.get(body.name) is not body:
                raise ValueError(
                    f"{owner}: body {body.name!r} does not belong to this system; "
                    "use the bodies that its own add_body returned, or its own ground"
                )
        if value in self._given:
            raise ValueError(f"{owner} has been added already; make a new one")
        while name is None:  # a user may have taken the next name
            self._counts[kind] = count = self._counts.get(kind, 0) + 1
            if (free := f"{kind}-{count}") not in taken:
                name = free
        self._given[value] = name
        return name

    def _repr_html_(self) -> str:
        gravity = ", ".join(f"{g:g}" for g in self._gravity)
        kinds = [(body.name, "body", f"{body.mass:g} kg") for body in self.bodies]
        for joint in self.joints:
            on = ", ".join(body.name for body in joint.bodies)
            kinds.append((joint.name or "", f"joint {type(joint).__name__}", on))
        sorts = [(force, *sort_of(force)) for force in self.forces]
        kinds += [(force.name or "", f"{what} {type(force).__name__}", details) for force, what, details in sorts]
        counts = f"bodies: {len(self.bodies)}, joints: {len(self.joints)}, forces: {len(self.forces)}"
        return _frozen.notebook(f"System; {counts}; gravity ({gravity}) m/s\N{SUPERSCRIPT TWO}", kinds)

    def __repr__(self) -> str:
        parts = {"bodies": list(self._bodies)[1:], "joints": list(self._joints), "forces": list(self._forces)}
        return f"System({', '.join(f'{part}={names}' for part, names in parts.items())})"


def name_in(system: System, part: object) -> str | None:
    """The name of a joint or force in a system, as passed in or as given back; None if it is not in the system."""
    return system._given.get(part)


def _check_pivot(owner: str, pivot: Vec, position: ArrayLike | None, velocity: ArrayLike | None) -> None:
    """Refuse a given position or velocity that contradicts the pivot."""
    given = pivot if position is None else _check.vector(owner, "position", position)
    if math.dist(given, pivot) > 1e-12 * max(math.hypot(*given), math.hypot(*pivot)):
        raise ValueError(
            f"{owner}: position must equal the pivot {_check.show(pivot)}, where the body frame's origin sits, got "
            f"{_check.show(position)}; leave it out"
        )
    if velocity is not None and _check.vector(owner, "velocity", velocity).any():
        raise ValueError(
            f"{owner}: velocity must be zero, as the body frame's origin sits at the pivot, got "
            f"{_check.show(velocity)}; leave it out and give angular_velocity"
        )
