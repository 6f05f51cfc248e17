"""Forces and torques of joints on bodies, and which of their components redundant equations leave undetermined."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae._frozen import ByName, brief, refuse_copies
from rbdae.kernels.joint_rows import least_norm
from rbdae.machine.reading import slices


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


_MOVED = 1e-6
"""Components that unit multipliers move by more are not unique; forces count times the model's length."""

_PER_VIOLATION, _MOST_MOVED = 100.0, 1e-2
"""The same where the constraints are violated: rows that follow from the others do so as far as these hold."""


@final
class Loads:
    """Reads multipliers and reactions from rows (t, y).

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`, by whose selection the rows are read

    Attributes
    ----------
    width : how many numbers a row needs
    """

    def __init__(self, view: Any) -> None:
        self._view, self._model = view, view.model
        layout, n_joints = view.workspace.layout, len(view.model.joints)
        self._n_null = len(view.workspace.selection.rows.dropped)
        self._sizes = self._model.scales.sizes(self._model.scales.length)
        self.width = 2 * layout.n + layout.n_constraints + 21 * n_joints + self._n_null * layout.n_rows

    __reduce__ = refuse_copies

    def multipliers(self, t: Vec, y: Mat) -> tuple[Mat, Mat, Vec]:
        """Multipliers (m, constraints), of least norm where equations may follow from others; then for these bases (m,
        k, rows) of the multipliers of joints, times the sizes of their equations, that give no force, and the largest
        violation of a constraint on positions over its size (m,)."""
        view, m = self._view, len(t)
        la, n_rows = view.multipliers_of_selection(t, y), view.workspace.layout.n_rows
        if not view.ambiguous:
            return la, np.empty((m, 0, n_rows)), np.zeros(m)
        given = np.concatenate([la, np.broadcast_to(self._sizes, (m, n_rows))], axis=1)
        n_la, n_null = la.shape[1], self._n_null * n_rows
        out = view.evaluated(least_norm, t, (y, given), n_la + n_null + 2)
        la, null = np.ascontiguousarray(out[:, :n_la]), out[:, n_la:-2].reshape(m, self._n_null, n_rows)
        g = np.abs(view.constraints(t, y).position)
        g[:, g.shape[1] - n_rows :] /= self._sizes
        return la, view.repaired(t, y, la, null, out[:, -2:]), g.max(axis=1, initial=0.0)

    def reactions(self, t: Vec, y: Mat, *, single: bool) -> dict[str, dict[str, Reaction]]:
        """The reactions by the names of joint and body; of one state if the rows are a `single` one."""
        view, m, n = self._view, len(t), len(self._model.joints)
        if not n:
            return ByName[dict[str, Reaction]]("joint")
        out = np.empty((m, n, 21))
        own, in_space = np.ones((2, n, 2, 2, 3))
        for part in slices(m, self.width):
            at = t[part], y[part]
            la, null, violations = self.multipliers(*at)
            _, frames = view.joint_loads(*at, la[:, view.workspace.layout.n_internal :], out[part])
            if null.shape[1]:
                pulls = [view.joint_loads(*at, null[:, k] / self._sizes)[0] for k in range(null.shape[1])]
                limit = np.minimum(_MOVED + _PER_VIOLATION * violations, _MOST_MOVED)
                self._fix(pulls, frames, limit[:, None, None, None, None], own, in_space)
            if not np.isfinite(la).all():
                self._doubt(la, own, in_space)
        return self._named(out[0] if single else out, own > 0.0, in_space > 0.0)

    def _fix(self, pulls: list[Mat], frames: Mat, limit: Mat, own: Mat, in_space: Mat) -> None:
        """Components (joints, 2, 2, 3) become 0 where what multipliers without a force pull, (m, joints, 2, 2, 3) each,
        moves one in the joint's frame or in space; forces count times the model's length."""
        E = frames[:, :, None, None]
        in_frame = [sum(pull[..., i, None] * E[..., i, :] for i in range(3)) for pull in pulls]
        scale = np.array([self._model.scales.length, 1.0])[:, None]
        for components, pulled in ((in_space, pulls), (own, in_frame)):
            moved = ~(scale * np.sqrt(sum(pull * pull for pull in pulled)) <= limit)
            components[moved.any(axis=0)] = 0.0

    def _doubt(self, la: Mat, own: Mat, in_space: Mat) -> None:
        """Joints with multipliers that are not finite have no unique reactions."""
        row = self._view.workspace.layout.n_internal
        known: Any = np.isfinite(la).all(axis=0)
        for k, joint in enumerate(self._model.joints):
            n = sum(int(self._model.primitives["n"][i]) for i in joint.primitives)
            if not known[row : row + n].all():
                own[k] = in_space[k] = 0.0
            row += n

    def _named(self, numbers: Mat, own: Bools, in_space: Bools) -> dict[str, dict[str, Reaction]]:
        model, out = self._model, ByName[dict[str, Reaction]]("joint")
        unique: Any = own.all(axis=(2, 3)).tolist()
        rows = numbers.shape[:-2]
        for k, joint in enumerate(model.joints):
            entry: ByName[Reaction] = ByName("body of this joint")
            frame = numbers[..., k, 12:].reshape(*rows, 3, 3)
            for side, b in enumerate(joint.bodies):
                name, load = model.system.ground.name if b == model.n else model.names[b], numbers[..., k, 6 * side :]
                sure = own[k, side, 0], own[k, side, 1], in_space[k, side, 0], in_space[k, side, 1]
                entry[name] = Reaction(load[..., :3], load[..., 3:6], unique[k][side], *sure, frame)
            out[joint.name] = entry
        return out
