"""What a force is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from rbdae.body import Body
from rbdae.forces.element import Piece


class AbstractForce(ABC):
    """A force between bodies, which is data.

    Duties of a force:

    1. it is a final frozen dataclass with identity as equality (``eq=False``), with a field `name`;
    2. its constructor checks everything that does not need the system;
    3. `bodies` names those that the user gave; once `kept` by a system, all on which it acts, one or two;
    4. `pieces` says what it consists of, in natural coordinates of its bodies with the origins of the body frames as
       points (the kernels know pieces, no classes of forces); one body stands for the pair with the ground. How many
       there are, and which numbers in them are zero, does not change.
    """

    __slots__ = ()

    name: str | None

    @property
    @abstractmethod
    def bodies(self) -> tuple[Body, ...]:
        """The bodies on which it acts."""

    @property
    def default_name(self) -> str:
        """What a system calls a force without a name: "bushing" for "bushing-1", "bushing-2".

        It is a part of labels, so it stays if the class is renamed.
        """
        return type(self).__name__.lower()

    @abstractmethod
    def kept(self, name: str, ground: Body) -> Self:
        """The force as a system keeps it: with a name, and the ground where no other body was given."""

    @abstractmethod
    def pieces(self) -> tuple[Piece, ...]:
        """What it consists of."""


__all__ = ["AbstractForce"]
