"""A joint that the library does not have, in one file: what a joint of one's own needs."""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from rbdae.joints import AbstractAxialJoint, Dot1, Dot2


@final
class PinInSlot(AbstractAxialJoint):
    """A pin of `b` in a slot of `a`: it slides along normal_a and turns about axis_a; four equations.

    at_a is a point of the slot, at_b the point of the pin that stays in it; axis_a and axis_b, the axis of the pin in
    either frame; normal_a, across axis_a, the direction of the slot.
    """

    __slots__ = ()

    slides, turns = "n", "u"

    def velocity_rows(self) -> tuple[NDArray[np.float64], None]:
        """Of the body with the slot: the slide along it and the turn. In the body with the pin the slot turns."""
        return self._rows(0), None

    def primitives(self) -> tuple[Dot1, Dot1, Dot2, Dot2]:
        """The axes stay parallel; the point of `b` stays in the plane of the slot's motion and in the slot."""
        across = np.cross(self.axis_a, self.normal_a)
        return (
            Dot1(self.normal_a, self.axis_b),
            Dot1(across, self.axis_b),
            Dot2(self.axis_a, self.at_a, self.at_b),
            Dot2(across, self.at_a, self.at_b),
        )
