"""What an assembly has moved: the report that `rbdae.assemble` prints and a problem keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.multibody.layout import BodyMotion
from rbdae.multibody.model import Model


@final
@dataclass(frozen=True, slots=True)
class Assembly:
    """What an assembly did.

    Attributes
    ----------
    names : names of the bodies
    position, orientation, velocity, angular_velocity : (n, 3), (n, 4) scalar-first, (n, 3), (n, 3)
        The consistent state; reference points (centre of mass, or pivot), angular velocities in the body frames.
    moved, turned : (n,)
        How far each body was displaced, m, and turned, rad.
    velocity_change, spin_change : (n,)
        Changes of the velocities, m/s and rad/s.
    gap : largest violation of a joint before, m (or the square root of m^2, or 1)
    steps : Gauss-Newton steps
    redundant : names of the joint equations that follow from the others
    """

    names: tuple[str, ...]
    position: Mat
    orientation: Mat
    velocity: Mat
    angular_velocity: Mat
    moved: Vec
    turned: Vec
    velocity_change: Vec
    spin_change: Vec
    gap: float
    steps: int
    redundant: tuple[str, ...] = ()

    def __str__(self) -> str:
        lines = [f"{'body':16s} {'moved/m':>10s} {'turned/rad':>11s} {'dv/(m/s)':>10s} {'dOmega/(rad/s)':>15s}"]
        for k, name in enumerate(self.names):
            lines.append(
                f"{name:16s} {self.moved[k]:10.3g} {self.turned[k]:11.3g} {self.velocity_change[k]:10.3g} "
                f"{self.spin_change[k]:15.3g}"
            )
        lines.append(f"largest gap before {self.gap:.3g}, {self.steps} steps")
        lines += [f"redundant: {name}" for name in self.redundant]
        return "\n".join(lines)


def report(model: Model, motion: BodyMotion, gap: float, steps: int) -> Assembly:
    """What has moved from the given placement to this state."""
    from scipy.spatial.transform import Rotation

    turned = Rotation.from_quat(model.p[:, [1, 2, 3, 0]]).inv() * Rotation.from_quat(motion.p[:, [1, 2, 3, 0]])
    return Assembly(
        names=model.names,
        position=motion.x,
        orientation=motion.p,
        velocity=motion.xd,
        angular_velocity=motion.om,
        moved=np.linalg.norm(motion.x - model.x, axis=1),
        turned=turned.magnitude(),
        velocity_change=np.linalg.norm(motion.xd - model.xd, axis=1),
        spin_change=np.linalg.norm(motion.om - model.om, axis=1),
        gap=gap,
        steps=steps,
    )


__all__ = ["Assembly", "report"]
