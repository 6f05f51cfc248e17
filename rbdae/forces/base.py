"""The definition of a force."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self, TypeAlias, final

import attrs

from rbdae import _check
from rbdae._arrays import Vec
from rbdae._frozen import twin
from rbdae.body import Body, caption, describe
from rbdae.forces.element import AnyElement, Load, load
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity, named, of_coordinates

Look: TypeAlias = Literal["spring", "coil", "arrow", "turn", "force", "torque", "stops", "surface"]


@final
@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """A force as pictures show it.

    Attributes
    ----------
    look : "spring" (a zigzag between two points), "arrow" (between two points), "coil" or "turn" (about an axis at the
        first point), "force" or "torque" (at the first point, by the `law`), "stops" (bars at all points, across the
        axis), "surface" (a piece of a plane at the first point, whose normal is the axis, or a sphere of the `radius`
        about it)
    points : a body and a point in its frame, (3,), for each end
    axis : (3,) in the frame of the first point's body, for "coil", "turn" and "stops", and of a plane
    law : components of a "force" or "torque" over time, with `turning` in the frame of its body, else in space
    """

    look: Look
    points: tuple[tuple[Body, Vec], ...]
    axis: Vec | None = None
    law: Load | None = None
    turning: bool = False
    radius: float = 0.0


@attrs.define(eq=False, field_transformer=_check.of_parts, on_setattr=attrs.setters.NO_OP)
class AbstractForce(ABC):
    """A force between bodies, which is data. All take a `name`, by default "bushing-1" and so on.

    What a force supplies, with its laws:

    1. It is a final frozen class of attrs (or a frozen dataclass) that is equal only to itself (``eq=False``), with a
       field `name`.
    2. Its fields have converters (`rbdae._check.of_parts`) that check everything that does not need the system.
    3. `bodies` are those that the user gave, one or two. One body stands for the pair of it and the ground.
    4. `bound` gives the force with a name. A force whose second body may be left out puts the ground there.
    5. `elements` gives what it consists of, in natural coordinates of its bodies; `rbdae.forces.element` has the kinds.
       The kernels know elements, no classes of forces. Laws: the number of elements, and which numbers in them are
       zero, do not change, because the sparsity of Jacobians is recorded once; the Jacobian of an element by functions
       is the derivative of its forces.
    6. A force that has internal states says so by a `StateElement`, with their names and initial values, or by an
       angle with a stiffness, which has its winding. Law: a force is a function of t, Z, Zdot and its states alone. It
       remembers nothing between calls.
    7. `acts_along`: the coordinates of its two bodies along which it acts, of which its quantities are made.
    8. `symbol`: how pictures show it, if they do.
    9. `default_name`, the name without its number ("bushing" for "bushing-1"), only if it is not the name of the class
       in small letters. It is a part of labels, so it stays if the class is renamed.
    """

    default_name: ClassVar[str] = ""

    name: str | None = attrs.field(default=None, kw_only=True)

    @property
    def _owner(self) -> str:
        return caption("force", type(self).__name__, self.bodies, self.name)

    @property
    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """The bodies on which it acts."""

    def bound(self, name: str, ground: Body) -> Self:
        """The force as a system has it: with a name, and on the ground if no second body was given."""
        return twin(self, name=name)

    def acts_along(self) -> tuple[Coordinate, ...]:
        """The coordinates of its bodies along which it acts; none if it does not act along any."""
        return ()

    @property
    def quantities(self) -> dict[str, Quantity]:
        """Its quantities, by name: those of its coordinates, such as ``length``, ``rate``, ``force``; its
        ``power`` on the bodies."""
        found = of_coordinates(self, self.acts_along())
        return found or {"power": Quantity(self, "power", "W", aspect="work")}

    def quantity(self, name: str) -> Quantity:
        """One of its quantities; names of its own fields are no attributes. Raises ValueError for others."""
        return named(self, name)

    @abstractmethod
    def elements(self) -> tuple[AnyElement, ...]:
        """The elements that it consists of."""

    @property
    def symbol(self) -> Symbol | None:
        """How pictures show it; None if they do not."""
        return None


def law_along(value: Any, force: Any = None, field: Any = None) -> Load:
    """A field with a load along the coordinate of a force, which may read the `inputs` of the force."""
    if isinstance(value, Load):
        return value
    (of,) = force.acts_along()
    return load(force._owner, field.name, value, of, force.inputs)


def _body(body: Body, force: Any = None, field: Any = None) -> Body:
    describe("force", type(force).__name__, body, None, force.name)
    return body


def _second_body(b: Body | None, force: Any = None, field: Any = None) -> Body | None:
    """The second body, perhaps left out; the first one and the name are checked here, too."""
    describe("force", type(force).__name__, force.a, b, force.name)
    return b


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractBodyForce(AbstractForce):
    """A force on one body."""

    body: Body = attrs.field(converter=_body)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """(body,)."""
        return (self.body,)


@attrs.frozen(eq=False, field_transformer=_check.of_parts)
class AbstractPairForce(AbstractForce):
    """A force between a body `a` and a body `b`, for which the ground stands in if it is left out."""

    a: Body
    b: Body | None = attrs.field(default=None, converter=_second_body)

    @property
    def bodies(self) -> tuple[Body, ...]:
        """(a, b), or (a,) until a system puts the ground in the place of `b`."""
        return (self.a,) if self.b is None else (self.a, self.b)

    def bound(self, name: str, ground: Body) -> Self:
        """The same force with a name and two bodies."""
        return twin(self, name=name, b=ground if self.b is None else self.b)
