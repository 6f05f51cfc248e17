"""Axes and normals of a joint: one frame (normal, axis x normal, axis) on each body.

A direction that the user leaves out follows from the placement of the bodies at the start.
"""

from __future__ import annotations

from typing import TypedDict

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec, cross
from rbdae.body import Body


class Frames(TypedDict):
    """Unit vectors, each in the frame of its body; the normals are perpendicular to the axes."""

    axis_a: Vec
    axis_b: Vec
    normal_a: Vec
    normal_b: Vec


def frames(
    owner: str,
    a: Body,
    b: Body,
    axis_a: ArrayLike,
    axis_b: ArrayLike | None,
    normal_a: ArrayLike | None,
    normal_b: ArrayLike | None,
    crossed: bool = False,
) -> Frames:
    """The checked directions of a joint.

    Without `axis_b` it is the direction that `axis_a` has in space at the start. Without `normal_a` it is a
    perpendicular of `axis_a`, for `crossed` axes the one that is perpendicular to both. Without `normal_b`
    it is the direction that `normal_a` has in space at the start, made perpendicular to `axis_b`.
    """
    first = _unit(_check.axis(owner, "axis_a", axis_a))
    second = _seen_from(b, a, first) if axis_b is None else _unit(_check.axis(owner, "axis_b", axis_b))
    if normal_a is not None:
        normal = _normal(owner, "a", _check.axis(owner, "normal_a", normal_a), first)
    else:
        across = cross(first, _seen_from(a, b, second)) if crossed else np.zeros(3)
        normal = _unit(across) if np.linalg.norm(across) > 1e-6 else perpendicular(first)
    if normal_b is not None:
        other = _normal(owner, "b", _check.axis(owner, "normal_b", normal_b), second)
    else:
        other = _across(_seen_from(b, a, normal), second)
        if np.linalg.norm(other) < 1e-6:  # the axes are at right angles, far from where the joint wants them
            other = perpendicular(second)
        other = _unit(other)
    return {
        "axis_a": _check.frozen(first),
        "axis_b": _check.frozen(second),
        "normal_a": _check.frozen(normal),
        "normal_b": _check.frozen(other),
    }


def joint_frame(joint: object) -> Mat:
    """The frame that a joint has in its body `a`, (3, 3): the columns are normal_a, axis_a x normal_a and axis_a, with
    any normal where the joint has none; those of the body's own frame for a joint without an axis."""
    axis = getattr(joint, "axis_a", None)
    if axis is None:
        return np.eye(3)
    normal = getattr(joint, "normal_a", None)
    normal = perpendicular(axis) if normal is None else normal
    return np.column_stack([normal, cross(axis, normal), axis])


def perpendicular(axis: Vec) -> Vec:
    """A unit vector perpendicular to a unit vector: the coordinate axis that is farthest from it, made so."""
    return _unit(_across(np.eye(3)[int(np.argmin(np.abs(axis)))], axis))


def _unit(v: Vec) -> Vec:
    scaled = v / np.max(np.abs(v))  # no overflow in the squares
    return np.asarray(scaled / np.linalg.norm(scaled))


def _across(v: Vec, axis: Vec) -> Vec:
    return np.asarray(v - np.dot(v, axis) * axis)


def _normal(owner: str, side: str, given: Vec, axis: Vec) -> Vec:
    out = _across(_unit(given), axis)
    if np.linalg.norm(out) < 1e-6:
        raise ValueError(
            f"{owner}: normal_{side} must not be parallel to axis_{side}, got {_check.show(given)}; "
            "leave it out, or give a direction across the axis"
        )
    return _unit(out)


def _seen_from(body: Body, other: Body, v: Vec) -> Vec:
    """A unit vector of another body in the frame of a body; without rounding if the orientations are equal."""
    if np.array_equal(body.orientation, other.orientation):
        return v.copy()
    return _unit(body.rotation.T @ (other.rotation @ v))


__all__ = ["Frames", "frames", "joint_frame", "perpendicular"]
