"""The owners of quantities that blocks read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, final

from rbdae import _check
from rbdae.actuators.block import Block
from rbdae.actuators.sampled import Sampled
from rbdae.inputs import Input
from rbdae.quantities.quantity import Quantity


def held_by(source: Any, owner_of: Owners) -> Any:
    """A source; the quantity that a label names, and the input of the system for what a sampled controller holds."""
    if isinstance(source, str):
        source = owner_of.labelled(source)
    if isinstance(source, Quantity) and source.aspect == "own" and isinstance(source.owner, Sampled):
        held: Input | None = owner_of(source).held.get(source.name)
        return source if held is None else held
    return source


@final
class Owners:
    """The joints, forces and blocks of a system, to which quantities belong; one that was given without a name has a
    named twin there."""

    def __init__(self, owners: Sequence[Any]) -> None:
        self._owners = owners

    def __call__(self, quantity: Quantity) -> Any:
        owner = quantity.owner
        for each in self._owners:
            if each is owner:
                return each
        named = [each for each in self._owners if type(each) is type(owner) and each.name == owner.name]
        if owner.name is not None and len(named) == 1:
            return named[0]
        if not isinstance(owner, Block) and owner.coordinates() and owner.name is not None:
            return owner  # a joint that is no constraint of the system
        raise ValueError(
            f"{quantity!r} belongs to a part that is not in the system; use what add_joint and add_force return"
        )

    @cached_property
    def _by_label(self) -> dict[str, Quantity]:
        return {f"{owner.name}.{name}": each for owner in self._owners for name, each in owner.quantities.items()}

    def labelled(self, label: str) -> Quantity:
        """The quantity with a label, such as "motor.current"."""
        if label not in self._by_label:
            raise _check.unknown("quantity", label, self._by_label)
        return self._by_label[label]


__all__ = ["Owners", "held_by"]
