"""Forces and torques of joints on bodies, and which of their components redundant equations leave undetermined."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae._frozen import ByName, brief, refuse_copies
from rbdae.joints.frames import joint_frame
from rbdae.kernels.joint_outputs import joint_forces
from rbdae.kernels.joint_rows import least_norm
from rbdae.kernels.outputs import constraints, natural
from rbdae.machine.function import MachineFunction
from rbdae.machine.reading import loads
from rbdae.machine.reading.host import call_rows, slices


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
    """Reads multipliers and reactions from rows (t, y), in machine code.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`, by whose selection the rows are read

    Attributes
    ----------
    width : how many numbers a row needs
    """

    def __init__(self, view: Any) -> None:
        self._view, self._model = view, view.model
        workspace, layout, n = view.workspace, view.workspace.layout, view.model.n
        self._n_null = len(workspace.selection.rows.dropped)
        joints, primitives = self._model.joints, self._model.primitives
        sizes = [
            layout.n, n, len(primitives), len(joints), layout.n_differential, layout.n_internal, layout.n_rows,
            view.n_constraints, int(view.ambiguous), self._n_null,
        ]  # fmt: skip
        self._s = np.array(sizes, dtype=np.int64)
        self._sizes = self._model.scales.sizes(self._model.scales.length)
        n_rates, n_la = layout.n_differential + layout.n_constraints, layout.n_constraints
        functions: list[tuple[Any, tuple[int, ...]]] = [
            (natural, (layout.n, 24 * n)),
            (workspace.settings.kernels.rates, (layout.n, n_rates)),
        ]
        n_out = n_la + self._n_null * layout.n_rows + 2
        if view.ambiguous:
            functions.append((least_norm, (layout.n, n_la + layout.n_rows, n_out)))
            functions.append((constraints, (layout.n, 2 * view.n_constraints)))
        self._functions = [view.function(entry, *lengths) for entry, lengths in functions]
        self._functions += self._functions[: 4 - len(functions)]  # these are not called
        self._w = np.empty(n_rates + layout.n_rows + max(n_out, 2 * view.n_constraints))
        self.width = 24 * n + n_la + 36 * len(joints) + self._n_null * layout.n_rows

    __reduce__ = refuse_copies

    def multipliers(self, t: Vec, y: Mat) -> tuple[Mat, Mat, Mat, Mat]:
        """Z (m, 24 bodies) and multipliers (m, constraints), of least norm where equations may follow from others; then
        for these bases (m, k, rows) of the multipliers of joints, times the sizes of their equations, that give no
        force, and (m, 3): the smallest sine between rows, squared, the need of dropped ones, and violations."""
        m, rows = len(t), self._view.workspace.layout.n_rows
        Z, la = np.empty((m, 24 * self._model.n)), np.empty((m, self._view.workspace.layout.n_constraints))
        null, sure = np.empty((m, self._n_null, rows)), np.empty((m, 3))
        call_rows(loads.multipliers, self._functions, t, self._s, t, y, self._sizes, self._w, Z, la, null, sure)
        if self._s[loads.AMBIGUOUS]:
            null = self._view.repaired(t, y, la, null, sure)
        return Z, la, null, sure

    @cached_property
    def _of_joints(self) -> tuple[list[MachineFunction], list[Any]]:
        """The function for forces of primitives, and what it reads: two sides for each joint, points on them, places of
        the first bodies, -1 for the ground, and the frames of the joints there."""
        view, model, n_rows = self._view, self._model, self._view.workspace.layout.n_rows
        function = view.function(joint_forces, 24 * model.n, n_rows, 12 * len(model.primitives))
        places = [*view.places, -1]
        of_sides = [
            (joint.primitives.start, joint.primitives.stop, side, places[b])
            for joint in model.joints
            for side, b in enumerate(joint.bodies)
        ]
        sides = np.array(of_sides, dtype=np.int64), np.array([p for j in model.joints for p in j.points], dtype=float)
        firsts = np.array([places[joint.bodies[0]] for joint in model.joints], dtype=np.int64)
        frames = np.array([joint_frame(model.system.joints[k]) for k in range(len(model.joints))], dtype=float)
        return [function], [self._s, *sides, firsts, frames, self._sizes]

    def reactions(self, t: Vec, y: Mat, *, single: bool) -> dict[str, dict[str, Reaction]]:
        """The reactions by the names of joint and body; of one state if the rows are a `single` one."""
        model, m, n = self._model, len(t), len(self._model.joints)
        if not n:
            return ByName[dict[str, Reaction]]("joint")
        turned, out = np.empty((n, m, 3, 3)), np.empty((2 * n, 2, m, 3))
        own, in_space = np.ones((2, 2 * n, 2, 3))
        functions, given = self._of_joints
        for part in slices(m, self.width):
            times = t[part]
            Z, la, null, sure = self.multipliers(times, y[part])
            k = null.shape[1]
            w = np.empty(12 + null.shape[2] + 12 * len(model.primitives) + 12 * n * k)
            arrays = (times, Z, la, null, sure, w, out, turned, own, in_space)
            call_rows(loads.reactions, functions, times, part.start, m, k, model.scales.length, *given, *arrays)
            if not np.isfinite(la).all():
                self._doubt(la, own, in_space)
        return self._named(single, out, turned, own > 0.0, in_space > 0.0)

    def _doubt(self, la: Mat, own: Mat, in_space: Mat) -> None:
        """Joints with multipliers that are not finite have no unique reactions."""
        row = self._view.workspace.layout.n_internal
        known: Any = np.isfinite(la).all(axis=0)
        for k, joint in enumerate(self._model.joints):
            n = sum(int(self._model.primitives["n"][i]) for i in joint.primitives)
            if not known[row : row + n].all():
                own[2 * k : 2 * k + 2] = in_space[2 * k : 2 * k + 2] = 0.0
            row += n

    def _named(self, single: bool, loads: Any, axes: Any, own: Any, in_space: Any) -> dict[str, dict[str, Reaction]]:
        model, out = self._model, ByName[dict[str, Reaction]]("joint")
        unique = own.all(axis=(1, 2)).tolist()
        if single:
            loads, axes = loads[:, :, 0], axes[:, 0]
        for k, joint in enumerate(model.joints):
            entry: ByName[Reaction] = ByName("body of this joint")
            for side, b in enumerate(joint.bodies):
                name, j = model.system.ground.name if b == model.n else model.names[b], 2 * k + side
                entry[name] = Reaction(
                    loads[j, 0], loads[j, 1], unique[j], own[j, 0], own[j, 1], in_space[j, 0], in_space[j, 1], axes[k]
                )
            out[joint.name] = entry
        return out
