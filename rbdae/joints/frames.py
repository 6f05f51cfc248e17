"""Axes and normals of a joint: one frame (normal, axis x normal, axis) on each body.

A direction that the user leaves out follows from the placement of the bodies at the start.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec, cross
from rbdae.body import Body


def axis_a(value: ArrayLike, joint: Any = None, field: Any = None) -> Vec:
    """The axis in the frame of the first body."""
    return _check.frozen(_unit(_check.axis(joint._owner, "axis_a", value)))


def axis_b(value: ArrayLike | None, joint: Any = None, field: Any = None) -> Vec:
    """The axis in the frame of the second body, by default the direction of `axis_a` at the start."""
    if value is None:
        return _check.frozen(_seen_from(joint.b, joint.a, joint.axis_a))
    return _check.frozen(_unit(_check.axis(joint._owner, "axis_b", value)))


def normal_a(value: ArrayLike | None, joint: Any = None, field: Any = None) -> Vec:
    """A perpendicular of `axis_a`, by default any."""
    if value is None:
        return _check.frozen(perpendicular(joint.axis_a))
    return _normal(joint._owner, "a", value, joint.axis_a)


def normal_of_cross(value: ArrayLike | None, joint: Any = None, field: Any = None) -> Vec:
    """A perpendicular of `axis_a`, by default also perpendicular to `axis_b` at the start."""
    across = cross(joint.axis_a, _seen_from(joint.a, joint.b, joint.axis_b))
    if value is None and np.linalg.norm(across) > 1e-6:
        return _check.frozen(_unit(across))
    return normal_a(value, joint)


def normal_b(value: ArrayLike | None, joint: Any = None, field: Any = None) -> Vec:
    """A perpendicular of `axis_b`, by default the direction of `normal_a` at the start, made perpendicular."""
    if value is not None:
        return _normal(joint._owner, "b", value, joint.axis_b)
    return normal_as_placed(joint, joint.normal_a)


def normal_as_placed(joint: Any, v: Vec) -> Vec:
    """A direction of the first body, across the axis of the second body and in its frame."""
    out = _across(_seen_from(joint.b, joint.a, v), joint.axis_b)
    if np.linalg.norm(out) < 1e-6:  # the axes are at right angles, far from the joint's position
        out = perpendicular(joint.axis_b)
    return _check.frozen(_unit(out))


def joint_frame(joint: object) -> Mat:
    """A joint's frame in its body `a`, (3, 3): columns normal_a, axis_a x normal_a and axis_a, with an arbitrary normal
    if the joint has no normal; the body's own frame for a joint without an axis."""
    axis = getattr(joint, "axis_a", None)
    if axis is None:
        return np.eye(3)
    normal = getattr(joint, "normal_a", None)
    normal = perpendicular(axis) if normal is None else normal
    return np.column_stack([normal, cross(axis, normal), axis])


def perpendicular(axis: Vec) -> Vec:
    """A unit vector perpendicular to a unit vector, from the coordinate axis farthest from it."""
    return _unit(_across(np.eye(3)[int(np.argmin(np.abs(axis)))], axis))


def _unit(v: Vec) -> Vec:
    scaled = v / np.max(np.abs(v))  # no overflow in the squares
    return np.asarray(scaled / np.linalg.norm(scaled))


def _across(v: Vec, axis: Vec) -> Vec:
    return np.asarray(v - np.dot(v, axis) * axis)


def _normal(owner: str, side: str, value: ArrayLike, axis: Vec) -> Vec:
    normal = _check.axis(owner, f"normal_{side}", value)
    out = _across(_unit(normal), axis)
    if np.linalg.norm(out) < 1e-6:
        raise ValueError(
            f"{owner}: normal_{side} must not be parallel to axis_{side}, got {_check.show(normal)}; "
            "leave it out, or give a direction across the axis"
        )
    return _check.frozen(_unit(out))


def _seen_from(body: Body, other: Body, v: Vec) -> Vec:
    """A unit vector of another body in a body's frame; exact if the orientations are equal."""
    if np.array_equal(body.orientation, other.orientation):
        return v.copy()
    return _unit(body.rotation.T @ (other.rotation @ v))
