"""The fixed joint: two bodies are one."""

from __future__ import annotations

from typing import final

from rbdae._arrays import Mat, cross
from rbdae.joints.axial import AbstractAlignedJoint
from rbdae.joints.primitives import Coincidence, Dot1


@final
class Fixed(AbstractAlignedJoint):
    """Weld: a common point and no relative rotation; six equations.

    Parameters
    ----------
    a, b : Body
        Two different bodies of one system; one may be its ground.
    at_a, at_b : (3,) array_like
        A point in each body's frame; the two stay together.
    axis_a, axis_b : (3,) array_like
        A direction on which the bodies agree; in each body's frame, of any length. By default axis_b has the
        direction of axis_a at the start.
    name : str, by default "fixed-1" and so on
    normal_a, normal_b : (3,) array_like, optional
        Perpendicular to the axes. Axes and normals agree in the rotation that is kept, by default the rotation at the
        start. The equations also hold half a turn away: bodies placed nearer to that position are turned.
    """

    __slots__ = ()

    def velocity_rows(self) -> tuple[Mat, Mat]:
        """No rows."""
        return self._rows(0, "", ""), self._rows(1, "", "")

    def primitives(self) -> tuple[Coincidence, Dot1, Dot1, Dot1]:
        """One coincidence and a fixed rotation."""
        across = cross(self.axis_a, self.normal_a)
        return (
            Coincidence(self.at_a, self.at_b),
            Dot1(self.normal_a, self.axis_b),
            Dot1(across, self.axis_b),
            Dot1(self.normal_a, cross(self.axis_b, self.normal_b)),
        )
