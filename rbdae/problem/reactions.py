"""Forces and torques of joints on bodies, and which of their components redundant equations leave undetermined."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae._show import ByName, brief
from rbdae.machine.reading.host import call
from rbdae.machine.reading.loads import unmoved
from rbdae.multibody.workspace import Workspace
from rbdae.problem.row_reader import RowReader

_MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

_PER_VIOLATION, _MOST_MOVED = 100.0, 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


def _all() -> Bools:
    return np.ones(3, dtype=bool)


@final
@dataclass(frozen=True, slots=True, repr=False)
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

    def __repr__(self) -> str:
        names = [f"{letter}{axis}" for letter in "FM" for axis in "xyz"]
        sure = [n for n, each in zip(names, [*self.unique_force, *self.unique_torque], strict=True) if each]
        unique = "all" if self.unique else ", ".join(sure) or "no"
        return f"Reaction(force={brief(self.force)}, torque={brief(self.torque)}, unique: {unique})"


@final
class Loads:
    """Forces and torques of all joints for rows that come in slices, and which components are unique at all of them.

    Parameters
    ----------
    workspace, reader : what reads the rows
    m : how many rows there are

    Attributes
    ----------
    width : numbers that a row needs here
    """

    def __init__(self, workspace: Workspace, reader: RowReader, m: int) -> None:
        self._workspace, self._model, self._reader = workspace, workspace.model, reader
        joints = self._model.joints
        self._axes = np.empty((len(joints), m, 3, 3))
        self._loads = np.empty((2 * len(joints), 2, m, 3))
        self._sure, self._in_space = np.ones((2, 2 * len(joints), 6))
        self.width = 24 * self._model.n + 33 * len(joints)

    def add(self, part: slice, t: Vec, Z: Mat, la: Mat) -> None:
        """Rows of natural coordinates Z (k, 24 bodies), as `reader` has them, and of the multipliers la (k, rows) of
        the joint equations."""
        if not self._model.joints:
            return
        self._reader.reactions(t, Z, np.ascontiguousarray(la), self._loads, part.start)
        self._reader.joint_frames(Z, self._axes, part.start)
        finite = np.isfinite(la)
        if finite.all():
            return
        known, row = np.asarray(finite.all(axis=0)), 0
        for k, joint in enumerate(self._model.joints):
            n = sum(int(self._model.primitives["n"][i]) for i in joint.primitives)
            if not bool(np.all(known[row : row + n])):
                self._sure[2 * k : 2 * k + 2] = self._in_space[2 * k : 2 * k + 2] = 0.0
            row += n

    def doubt(self, part: slice, t: Vec, Z: Mat, null: Mat, g: Mat) -> None:
        """The same rows: `null` (k, j, rows) are directions in which multipliers times the sizes of their equations are
        undetermined, as exact as the constraints are satisfied: up to their violations g (k, internal ones and joints).
        """
        n, m = null.shape[1], len(t)
        if not (self._model.joints and n):
            return
        scales = self._model.scales
        la = (null / scales.sizes(scales.length)).reshape(n * m, -1)
        pulls = np.empty((*self._loads.shape[:2], n * m, 3))
        self._reader.reactions(np.repeat(t, n), np.repeat(Z, n, axis=0), la, pulls, 0)
        limit = np.minimum(_MOVED + _PER_VIOLATION * _violation(self._workspace, g), _MOST_MOVED)
        call(
            unmoved, m, part.start, self._axes.shape[1], len(self._axes), n, scales.length, pulls, self._axes, limit,
            self._sure, self._in_space,
        )  # fmt: skip

    def reactions(self, *, single: bool) -> dict[str, dict[str, Reaction]]:
        """The reactions by the names of joint and body; of one state if the rows are a `single` one."""
        model, out = self._model, ByName[dict[str, Reaction]]("joint")
        unique, unique_in_space = self._sure > 0.0, self._in_space > 0.0
        for k, joint in enumerate(model.joints):
            entry: ByName[Reaction] = ByName("body of this joint")
            for side, b in enumerate(joint.bodies):
                name = model.system.ground.name if b == model.n else model.names[b]
                force, torque = self._loads[2 * k + side]
                sure, in_space = unique[2 * k + side], unique_in_space[2 * k + side]
                axes = self._axes[k]
                entry[name] = Reaction(
                    force[0] if single else force,
                    torque[0] if single else torque,
                    bool(sure.all()),
                    sure[:3],
                    sure[3:],
                    in_space[:3],
                    in_space[3:],
                    axes[0] if single else axes,
                )
            out[joint.name] = entry
        return out


def _violation(workspace: Workspace, g: Mat) -> Vec:
    """The largest violation of a constraint on positions over its size, (...)."""
    scales = workspace.model.scales
    sizes = np.ones(g.shape[-1])
    sizes[g.shape[-1] - workspace.layout.n_rows :] = scales.sizes(scales.length)
    return np.asarray(np.max(np.abs(g) / sizes, axis=-1, initial=0.0))


__all__ = ["Loads", "Reaction"]
