"""The numbers that the search for positions brings to zero: the gaps of the joints over their sizes, and those of
`sides`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.initial.given import Known, turned
from rbdae.initial.natural import Joints
from rbdae.initial.sides import Sides
from rbdae.multibody.layout import BodyMotion
from rbdae.rotations.euler_map import rotation_matrices


@final
@dataclass(frozen=True, slots=True, eq=False)
class Merit:
    """Parameters
    ----------
    known, sides : what may move, and directions that agree
    joints : whose equations these are
    counted : (rows,) bool, the joint equations that count; the others are zero
    """

    known: Known
    sides: Sides
    joints: Joints
    counted: Bools

    @property
    def units(self) -> Vec:
        """(6,), what displacements and turns are measured by."""
        length = self.known.model.scales.length
        return np.array((length, length, length, 1.0, 1.0, 1.0))

    def by_sides(self) -> Merit:
        """Without the equations that the sides stand for."""
        return replace(self, counted=~self.sides.rows)

    def gaps(self, here: BodyMotion) -> Vec:
        """At a motion of the origins: the joints', then the sides'."""
        g = self.joints.values(self.known.at_references(here)) / self.joints.sizes
        return np.concatenate([np.where(self.counted, g, 0.0), self.sides.gaps(here.p)])

    def slopes(self, here: BodyMotion) -> Mat:
        """Their gradient, (rows, n, 6), in displacements of the origins and turns about the axes of the bodies."""
        T = self.known.columns(rotation_matrices(here.p))
        G = self.joints.matrix(self.known.at_references(here)).reshape(-1, len(T), 6)
        G = np.einsum("rni,nij->rnj", G, T) * (self.counted / self.joints.sizes)[:, None, None]
        return np.concatenate([G, self.sides.slopes(here.p)])

    def rates(self, motion: BodyMotion) -> Vec:
        """gdot of the joints over their sizes."""
        return np.asarray(self.joints.violation(self.known.at_references(motion))[1] / self.joints.sizes)


def displaced(here: BodyMotion, step: Mat) -> BodyMotion:
    """The origins after displacements and turns (n, 6)."""
    return replace(here, x=here.x + step[:, :3], p=turned(here.p, step[:, 3:]))


__all__ = ["Merit", "displaced"]
