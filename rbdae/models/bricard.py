"""Bricard's mechanism: benchmark A04 of [IFToMM]."""

from __future__ import annotations

import numpy as np

from rbdae import _check
from rbdae._arrays import cross
from rbdae.joints import Revolute, Universal
from rbdae.system import System


def bricard(*, redundant: bool = True) -> System:
    """Five rods and six hinges in a loop that can move because of its special geometry: bodies "rod1" .. "rod5".

    The rods are 1 m long, of square cross-section 0.1 m, 1 kg; they start at rest along the edges of a cube, in gravity
    9.81 m/s^2 against the second axis, for 10 s. There is one degree of freedom although 30 coordinates have 30
    equations: one of them is redundant. No numbers are published, but the energy is constant. Source: [IFToMM],
    benchmark A04; the placement is taken from Exudyn's example bricardMechanism.

    Parameters
    ----------
    redundant : bool
        False leaves out one equation of the last hinge, which the others imply.
    """
    full = _check.flag("model bricard", "redundant", redundant)
    points = np.array(((0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)), dtype=float)
    ends = points[1:] - points[:-1]
    x, y, z = np.eye(3)
    axes = (y, z, x, y, z, x)
    width, mass = 0.1, 1.0
    inertia = (mass * width**2 / 6, mass * (1 + width**2) / 12, mass * (1 + width**2) / 12)
    system = System(gravity=(0.0, -9.81, 0.0))
    frames, bodies = [np.eye(3)], [system.ground]
    for k, (point, end) in enumerate(zip(points[:-1], ends, strict=True)):
        # first axis along the rod, second axis along the hinge at its beginning
        frame = np.stack([end, axes[k], cross(end, axes[k])], axis=1)
        body = system.add_body(
            f"rod{k + 1}", mass=mass, inertia=inertia, center_of_mass=(0.5, 0, 0), position=point, orientation=frame
        )
        before = (0.0, 0.0, 0.0) if k == 0 else (1.0, 0.0, 0.0)
        axis = frames[-1].T @ axes[k]
        system.add_joint(Revolute(bodies[-1], body, at_a=before, axis_a=axis, axis_b=(0, 1, 0), name=f"hinge{k + 1}"))
        frames.append(frame)
        bodies.append(body)
    last = {"at_a": (1.0, 0.0, 0.0), "at_b": points[-1], "name": "hinge6"}
    if full:
        system.add_joint(Revolute(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=x, **last))
    else:
        system.add_joint(Universal(bodies[-1], system.ground, axis_a=frames[-1].T @ x, axis_b=y, **last))
    return system
