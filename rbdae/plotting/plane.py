"""Whether a mechanism moves in a plane, and how to look at it."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.joints.axial import AbstractAxialJoint
from rbdae.plotting.placed import Placed
from rbdae.plotting.shapes import unit

# What leaves the plane by less, as a part of all motion, is error of the run.
_OUT_OF_PLANE = 1e-4
_TINY = 1e-12


def plane_of_motion(here: Placed, size: float) -> Mat | None:
    """The directions right, up and towards the eye, rows of (3, 3), if every body moves in parallels of one plane and
    turns about its normal; None if not.

    Up is against gravity, if that has a component in the plane, else the y or z axis of space.

    Parameters
    ----------
    here : at the times of a run
    size : of the mechanism, m, by which velocities are measured against angular velocities
    """
    normal = _normal(here, size)
    return None if normal is None else _frame(normal, here.system.gravity)


def departure(here: Placed, normal: Vec, size: float) -> float:
    """The largest velocity along a normal, or turn across it, as a part of all motion; 0 at rest."""
    turns, slides = _rates(here, size)
    largest = max(np.abs(turns).max(initial=0.0), np.abs(slides).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return 0.0
    across = turns - np.outer(turns @ normal, normal)
    return float(max(np.abs(across).max(initial=0.0), np.abs(slides @ normal).max(initial=0.0)) / largest)


def _rates(here: Placed, size: float) -> tuple[Mat, Mat]:
    """Angular velocities, and velocities over the size of the mechanism, of all bodies at all times, in space."""
    turns = [state.orientation.apply(state.angular_velocity).reshape(-1, 3) for state in here.states.values()]
    slides = [np.asarray(state.velocity).reshape(-1, 3) for state in here.states.values()]
    return np.concatenate(turns), np.concatenate(slides) / size


def _normal(here: Placed, size: float) -> Vec | None:
    turns, slides = _rates(here, size)
    largest = max(np.abs(turns).max(initial=0.0), np.abs(slides).max(initial=0.0))
    if not 0.0 < largest < np.inf:
        return _normal_of_axes(here)
    if np.abs(turns).max() > _OUT_OF_PLANE * largest:
        values, directions = np.linalg.svd(turns, full_matrices=False)[1:]
        plane = values[1] < _OUT_OF_PLANE * values[0] and np.abs(slides @ directions[0]).max() < _OUT_OF_PLANE * largest
        return np.asarray(directions[0]) if plane else None
    values, directions = np.linalg.svd(slides, full_matrices=True)[1:]
    values = np.pad(values, (0, 3 - len(values)))
    if values[2] > _OUT_OF_PLANE * values[0]:
        return None
    if values[1] > _OUT_OF_PLANE * values[0]:
        return np.asarray(directions[2])
    # along a line: the plane that has this and gravity, or the best of those that have an axis of space
    out: Vec = unit(np.cross(directions[0], here.system.gravity))
    if not out.any():
        out = unit(np.cross(directions[0], np.eye(3)[np.argmin(np.abs(directions[0]))]))
    return out


def _normal_of_axes(here: Placed) -> Vec | None:
    """The normal of a mechanism at rest: the direction of all axes about which its joints turn, if it is one."""
    axes = [
        here.along(joint.a, joint.axis_a)[0]
        for joint in here.system.joints
        if isinstance(joint, AbstractAxialJoint) and joint.free_motions == {"rotation"}
    ]
    if not axes or len(axes) < len(here.system.bodies):
        return None
    values, directions = np.linalg.svd(np.array(axes))[1:]
    return np.asarray(directions[0]) if len(values) == 1 or values[1] < _OUT_OF_PLANE * values[0] else None


def _frame(normal: Vec, gravity: Vec) -> Mat:
    """Right, up and the normal, such that right points along its largest component."""
    up = -(gravity - (gravity @ normal) * normal)
    if np.linalg.norm(up) < 1e-3 * (np.linalg.norm(gravity) + _TINY):
        axis = np.eye(3)[1 if abs(normal[1]) < 0.7 else 2]
        up = axis - (axis @ normal) * normal
    up = unit(up)
    right = np.cross(up, normal)
    if right[np.argmax(np.abs(right))] < 0.0:
        right, normal = -right, -normal
    return np.stack([right, up, normal])


__all__ = ["departure", "plane_of_motion"]
