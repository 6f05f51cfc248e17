"""Given initial values that contradict the joints: the warning, and the joint that they contradict most, in words."""

from __future__ import annotations

import math
import warnings

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae.joints.base import AbstractJoint
from rbdae.joints.primitives import Coincidence, Distance, Dot1, Dot2, Primitive
from rbdae.multibody.layout import BodyMotion
from rbdae.multibody.model import Model
from rbdae.problem.assembly_report import Assembly, InitialValuesWarning, listed
from rbdae.rotations.euler_map import rotation_matrices

REMEDY = "correct them, leave them out to have them found, or say consistent='project' if these changes are wanted"


def warn_of_changes(assembly: Assembly) -> None:
    """One warning for all given values that had to change; none if there are none.

    It points to the line that called `formulate`, so that by Python's usual filter a loop gives it once.
    """
    if assembly.changes:
        text = (
            f"the given initial values contradict the joints and were changed: {listed(assembly.changes)}; largest "
            f"gap: {assembly.disagreement}; {REMEDY}"
        )
        warnings.warn(text, InitialValuesWarning, stacklevel=3)


def of_positions(model: Model, motion: BodyMotion, g: Vec) -> str:
    """The joint with the largest of the gaps g (rows,) of a motion of the reference points, and what disagrees."""
    k, kind, gaps = _worst(model, g)
    joint, (a, b) = model.system.joints[k], model.joints[k].bodies
    R = np.concatenate([rotation_matrices(motion.p), np.eye(3)[None]])
    x = np.concatenate([motion.x, np.zeros((1, 3))])
    apart = x[b] + R[b] @ model.joints[k].points[1] - x[a] - R[a] @ model.joints[k].points[0]
    return f"joint {joint.name!r}: {_said(joint, kind, gaps, apart, R[a], R[b])}"


def of_velocities(model: Model, rates: Vec) -> str:
    """The joint with the largest of the rates of its gaps (rows,)."""
    k, kind, gaps = _worst(model, rates)
    size = float(np.linalg.norm(gaps))
    said = {
        Coincidence: f"velocities of the points differ by {size:.3g} m/s",
        Dot1: f"angular velocities disagree by {size:.3g} rad/s",
        Dot2: f"velocities of the points disagree by {size:.3g} m/s",
    }
    return f"joint {model.joints[k].name!r}: {said.get(type(kind), 'velocities along the rod disagree')}"


def _worst(model: Model, gaps: Vec) -> tuple[int, Primitive, Vec]:
    """The number of the joint with the largest gap over its size, the primitive that has it, and its gaps."""
    at = int(np.argmax(np.abs(gaps / model.scales.sizes(model.scales.length))))
    ends = np.cumsum(model.primitives["n"])
    i = int(np.searchsorted(ends, at, side="right"))
    k = next(k for k, joint in enumerate(model.joints) if i in joint.primitives)
    kind = model.system.joints[k].primitives()[i - model.joints[k].primitives.start]
    return k, kind, gaps[ends[i] - model.primitives["n"][i] : ends[i]]


def _said(joint: AbstractJoint, kind: Primitive, g: Vec, apart: Vec, Ra: Mat, Rb: Mat) -> str:
    """The disagreement in a primitive: points that are apart, directions with a wrong angle."""
    if isinstance(kind, Coincidence):
        return f"points are {np.linalg.norm(g):.3g} m apart"
    if isinstance(kind, Dot2):
        where = "off the plane" if joint.n_constraints == 1 or len(_of_kind(joint, Dot2)) == 1 else "off the axis"
        return f"points are {abs(float(g[0])):.3g} m {where}"
    if isinstance(kind, Distance):
        return f"points are {np.linalg.norm(apart):.3g} m apart, which is not the length"
    aligned = len(_of_kind(joint, Dot1)) > 1
    if aligned and hasattr(joint, "axis_a") and hasattr(joint, "axis_b"):
        angle = _angle(Ra @ joint.axis_a, Rb @ joint.axis_b)
        angle = min(angle, 180.0 - angle) if not joint.agreements() else angle
        if angle > 1e-3:
            return f"axes differ by {angle:.3g} deg"
        if hasattr(joint, "normal_a") and hasattr(joint, "normal_b"):
            return f"normals differ by {_angle(Ra @ joint.normal_a, Rb @ joint.normal_b):.3g} deg"
    off = math.degrees(math.asin(min(1.0, abs(float(g[0])))))
    what = "the angle is" if joint.rheonomic() is not None else "axes are"
    return f"{what} {off:.3g} deg off" + ("" if joint.rheonomic() is not None else " a right angle")


def _of_kind(joint: AbstractJoint, kind: type) -> list[Primitive]:
    return [each for each in joint.primitives() if isinstance(each, kind)]


def _angle(u: Vec, v: Vec) -> float:
    """Between two directions, in degrees."""
    return math.degrees(math.atan2(float(np.linalg.norm(cross(u, v))), float(u @ v)))
