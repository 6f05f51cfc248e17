"""Forces and torques of joints on bodies, and which of their components redundant equations leave undetermined.

All functions take natural coordinates Z of shape (..., n, 24), (x, d, xdot, ddot) per body in the order of addition.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.joints.frames import joint_frame
from rbdae.multibody.joint_values import joint_forces
from rbdae.multibody.workspace import Workspace

_MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

_PER_VIOLATION, _MOST_MOVED = 100.0, 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


def _all() -> Bools:
    return np.ones(3, dtype=bool)


@final
@dataclass(frozen=True, slots=True)
class Reaction:
    """Force and torque of a joint on a body, (3,) or (m, 3) arrays.

    Where joint equations follow from the others, G^T la = 0 has solutions la != 0, which change no motion: reactions
    are determined up to the forces of these la, and those of least norm are given. A component is unique if no such la
    moves it. In a plane loop of revolute joints those are the forces in the plane and the torque about the axes.

    Attributes
    ----------
    force, torque : N and N m, spatial components; the torque about the joint's point on the body
    unique : whether all components are; False where multipliers are not finite, as in singular positions without
        ``redundant="minimum-norm"``
    unique_force, unique_torque : (3,) bool, at all times
        The components in the joint's frame that are unique: along normal_a, axis_a x normal_a and axis_a, which turn
        with the joint's body `a`; along the axes of that body for a joint without an axis.
    unique_force_in_space, unique_torque_in_space : (3,) bool, at all times
        The spatial components that are unique.
    frame : (3, 3), or (m, 3, 3)
        The joint's frame: its columns are the three directions in space, so that ``frame.T @ force`` is the force in
        it.
    """

    force: Vec
    torque: Vec
    unique: bool = True
    unique_force: Bools = field(default_factory=_all)
    unique_torque: Bools = field(default_factory=_all)
    unique_force_in_space: Bools = field(default_factory=_all)
    unique_torque_in_space: Bools = field(default_factory=_all)
    frame: Mat = field(default_factory=partial(np.eye, 3))


def reactions(
    workspace: Workspace, t: Vec, Z: Mat, la: Mat, null: Mat | None = None, g: Mat | None = None
) -> dict[str, dict[str, Reaction]]:
    """Reactions by the names of joint and body; `la` (..., rows) are the joints' multipliers. `null` (..., rows, k) are
    directions in which they are undetermined (`null_directions`), as exact as the constraints are satisfied: up to
    their violations `g` (..., internal ones and joints)."""
    model = workspace.model
    found = _wrenches(workspace, t, Z, la)
    moved: Mat = np.zeros((*found.shape, 0))
    if null is not None and null.shape[-1]:
        sizes = model.scales.sizes(model.scales.length)
        each = [_wrenches(workspace, t, Z, null[..., k] / sizes) for k in range(null.shape[-1])]
        moved = np.stack(each, axis=-1)
    limit = np.minimum(_MOVED + _PER_VIOLATION * _violation(workspace, g), _MOST_MOVED)
    units = np.repeat((model.scales.length, 1.0), 3)[:, None]
    D = Z[..., 3:12].reshape(*Z.shape[:-1], 3, 3)  # d_i = D[..., i, :]
    out: dict[str, dict[str, Reaction]] = {}
    row = 0
    for k, joint in enumerate(model.joints):
        n = sum(int(model.primitives["n"][i]) for i in joint.primitives)
        finite = bool(np.isfinite(la[..., row : row + n]).all())
        row += n
        a = joint.bodies[0]
        frame = joint_frame(model.system.joints[k])
        axes = (
            np.broadcast_to(frame, (*Z.shape[:-2], 3, 3))
            if a == model.n
            else np.swapaxes(D[..., a, :, :], -1, -2) @ frame
        )
        entry = {}
        for side, b in enumerate(joint.bodies):
            name = model.system.ground.name if b == model.n else model.names[b]
            spatial = units * moved[..., k, side, :, :]
            own = np.concatenate([np.swapaxes(axes, -1, -2) @ part for part in np.split(spatial, 2, axis=-2)], axis=-2)
            sure, in_space = (_unmoved(pull, limit, finite) for pull in (own, spatial))
            entry[name] = Reaction(
                found[..., k, side, :3],
                found[..., k, side, 3:],
                bool(sure.all()),
                sure[:3],
                sure[3:],
                in_space[:3],
                in_space[3:],
                axes,
            )
        out[joint.name] = entry
    return out


def _violation(workspace: Workspace, g: Mat | None) -> Vec:
    """The largest violation of a constraint on positions over its size, (...)."""
    if g is None:
        return np.zeros(())
    scales = workspace.model.scales
    sizes = np.ones(g.shape[-1])
    sizes[g.shape[-1] - workspace.layout.n_rows :] = scales.sizes(scales.length)
    return np.asarray(np.max(np.abs(g) / sizes, axis=-1, initial=0.0))


def _unmoved(pulls: Mat, limit: Vec, finite: bool) -> Bools:
    """Which of the 6 components (..., 6, k) stay below a limit (...) at all times."""
    size = np.linalg.norm(pulls, axis=-1)
    small = (size <= limit[..., None]).reshape(-1, 6).all(axis=0)
    return np.asarray(small & finite)


def _wrenches(workspace: Workspace, t: Vec, Z: Mat, la: Mat) -> Mat:
    """Force of each joint on its two bodies, and torque about the joint's point on each, (..., joints, 2, 6)."""
    model = workspace.model
    D = Z[..., 3:12].reshape(*Z.shape[:-1], 3, 3)  # d_i = D[..., i, :]
    out = np.zeros((*Z.shape[:-2], len(model.joints), 2, 6))
    if not model.joints:
        return out
    forces = joint_forces(workspace, t, Z, la)
    for k, joint in enumerate(model.joints):
        own = forces[..., joint.primitives.start : joint.primitives.stop, :, :].sum(axis=-3)
        for side, b in enumerate(joint.bodies):
            point = joint.points[side]
            arm = point if b == model.n else np.einsum("...ik,i->...k", D[..., b, :, :], point)
            force = own[..., side, :3]
            out[..., k, side, :3] = force
            out[..., k, side, 3:] = own[..., side, 3:] - np.cross(arm, force)
    return out


__all__ = ["Reaction", "reactions"]
