"""The meaning of rows of y, in loops of machine code and slice by slice: a million rows need memory for the result
alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.formulations.base import Derivative
from rbdae.joints.frames import joint_frame
from rbdae.kernels import outputs
from rbdae.kernels.records import ANGULAR, DIRECTOR_RATE, QUATERNION_RATE
from rbdae.machine.reading import motion, sums
from rbdae.machine.reading.host import call, slices
from rbdae.multibody.bound import Kernel, bound, evaluate_each
from rbdae.multibody.duals import derivative_kernel
from rbdae.multibody.joint_values import joint_force_rows, potential_rows
from rbdae.multibody.model import Model
from rbdae.multibody.settings import Settings
from rbdae.multibody.traced import traced
from rbdae.multibody.workspace import Workspace

_KINDS = {ANGULAR: sums.ANGULAR, DIRECTOR_RATE: sums.DIRECTORS, QUATERNION_RATE: sums.QUATERNIONS}

_X, _D, _XD, _DD = 0, 3, 12, 15
"""Where x, d, xdot and ddot begin among the numbers of a body."""


def of_bodies(model: Model, Z: Mat, what: str, bodies: Sequence[int], places: Sequence[int], out: Mat, k: int) -> None:
    """A field of `BodyState` of some bodies with these places in rows Z, into the rows of `out` (bodies, total, 3) from
    the k-th on."""
    at, width = np.array(places, dtype=np.int64), Z.shape[1]
    first, m, total, n = k, len(Z), out.shape[1], len(bodies)
    if what == "angular_velocity":
        call(motion.angular_velocities, m, first, total, n, width, at, Z, np.empty(12), out)
        return
    x, d = (_XD, _DD) if what == "velocity" else (_X, _D)
    arms = np.array([_arm(model.bodies[b], what) for b in bodies])
    call(motion.points, m, first, total, n, width, at, x, d, arms, Z, out)


def quaternions(Z: Mat, place: int) -> Mat:
    """Unit quaternions (m, 4), the scalar part last, of the body with this place; of a frame that has drifted from a
    rotation times a number those of the nearest rotation, U V^T of its singular value decomposition. SciPy finds the
    same one since 1.12, and another one before."""
    at, out = 24 * place + _D, np.empty((len(Z), 4))
    if call(motion.quaternions, len(Z), Z.shape[1], at, Z, out):
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        rest = np.isnan(out[:, 0])
        frames = np.swapaxes(Z[rest, at : at + 9].reshape(-1, 3, 3), 1, 2)
        u, _, vt = np.linalg.svd(frames)
        out[rest] = Rotation.from_matrix(u @ vt).as_quat()
    return out


def _arm(body: Any, what: str) -> Vec:
    """The vector from x to a point, in the frame of the body: x is the centre of mass of a free body, and the pivot of
    one that has one."""
    free = body["nt"] == 3
    if what == "center_of_mass":
        return np.zeros(3) if free else np.array(body["center"])
    return -body["center"] if free else np.zeros(3)


def table(model: Model, settings: Settings, order: Sequence[int]) -> Mat:
    """The bodies in this order for `rbdae.machine.reading.sums`."""
    out = np.zeros((model.n, sums.WIDTH))
    tensor = "euler" if settings.kind.number == DIRECTOR_RATE else "inertia"
    for row, b in zip(out, order[: model.n], strict=True):
        body = model.bodies[b]
        row[sums.MASS if body["nt"] == 3 else sums.PIVOT_MASS] = body["mass"]
        row[sums.TENSOR : sums.RADIAL] = body[tensor].ravel()
        row[sums.RADIAL] = body["radial"] * (1.0 if settings.momenta else settings.radial)
        row[sums.WEIGHT : sums.WEIGHT_D] = body["weight"]
        row[sums.WEIGHT_D : sums.CENTER] = body["weight_d"]
        row[sums.CENTER : sums.PIVOT_MASS] = body["center"]
    return out


@final
class RowReader:
    """Reads rows (t, y), (m,) and (m, n), by one selection. Natural coordinates Z are (m, 24 bodies) here, with the
    bodies as they are in memory.

    Parameters
    ----------
    workspace : the memory with the selection

    Attributes
    ----------
    places : where each body is in Z
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._model = workspace.model
        self._n = workspace.model.n
        self.places = [int(k) for k in workspace.layout.rank[: self._n]]

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    @cached_property
    def kernel(self) -> Kernel:
        """The kernel for Z."""
        return bound(self._workspace, outputs.natural)

    @cached_property
    def jacobian(self) -> Callable[..., None]:
        """f(t, y, out): dZ/dy of a state, (24 bodies, n)."""
        workspace, kernel = self._workspace, Derivative(outputs.natural)
        n = workspace.layout.n
        shapes = {"y": (n,), "out": (24 * self._n, n)}

        def generic() -> Callable[..., None]:
            return derivative_kernel(workspace, kernel, shapes, None)

        found = traced(workspace, kernel, shapes, generic=generic) if workspace.memory.traced else None
        return generic() if found is None else found.call

    def natural(self, t: Vec, y: Mat) -> Mat:
        """Z of all rows."""
        out = np.empty((len(t), 24 * self._n))
        evaluate_each(self.kernel, t, (y,), out)
        return out

    # ------------------------------------------------------------ motion

    def of_bodies(self, t: Vec, y: Mat, what: str) -> Mat:
        """A field of `BodyState` of all bodies, (bodies, m, 3), or their unit ``"quaternion"``, (bodies, m, 4)."""
        turning = what == "quaternion"
        out = np.empty((self._n, len(t), 4 if turning else 3))
        for part in slices(len(t), 28 * self._n):
            Z = self.natural(t[part], y[part])
            if not turning:
                of_bodies(self._model, Z, what, range(self._n), self.places, out, part.start)
                continue
            for b, place in enumerate(self.places):
                out[b, part] = quaternions(Z, place)
        return out

    # ------------------------------------------------------------ energy and momentum

    @cached_property
    def _table(self) -> Vec:
        return table(self._model, self._workspace.settings, self._workspace.layout.order)

    @cached_property
    def _level(self) -> float:
        """The part of the weight's potential that pivots have: it is zero at the origin of space."""
        B = self._model.bodies[: self._n]
        pivots = B["nt"] == 0
        return float(np.sum(B["mass"][pivots][:, None] * B["origin"][pivots] * self._model.system.gravity))

    @cached_property
    def _potentials(self) -> tuple[int, Callable[..., None]]:
        """How many potentials forces have, and the rows of them."""
        model = self._model
        return len(model.bushings) + len(model.forces.elements), potential_rows(self._workspace)

    def energies(self, t: Vec, y: Mat) -> tuple[Vec, Vec]:
        """Kinetic and potential energies, (m,); see `rbdae.problem.quantities.Energy`."""
        n_P, potentials = self._potentials
        settings, out = self._workspace.settings, np.empty((len(t), 2))
        kind, scaled = _KINDS[settings.kind.number], not settings.momenta
        for part in slices(len(t), 24 * self._n + n_P):
            Z = self.natural(t[part], y[part])
            P = np.empty((len(Z), n_P))
            if n_P:
                potentials(t[part], Z, np.ascontiguousarray(y[part, self._workspace.layout.s]), out=P)
            arrays = self._level, Z, P, n_P, np.empty(12), out[part]
            call(sums.energies, len(Z), self._n, kind, scaled, self._table, *arrays)
        return out[:, 0].copy(), out[:, 1].copy()

    def momenta(self, t: Vec, y: Mat) -> Mat:
        """Linear and angular momentum, (m, 6)."""
        out, kind = np.empty((len(t), 6)), _KINDS[self._workspace.settings.kind.number]
        for part in slices(len(t), 24 * self._n):
            Z = self.natural(t[part], y[part])
            call(sums.momenta, len(Z), self._n, kind, self._table, Z, np.empty(24), out[part])
        return out

    # ------------------------------------------------------------ joints

    @cached_property
    def sides(self) -> tuple[Ints, Mat]:
        """The arguments of `rbdae.machine.reading.loads.reactions`, two sides for each joint."""
        sides, points = [], []
        for joint in self._model.joints:
            for side, b in enumerate(joint.bodies):
                place = -1 if b == self._n else self.places[b]
                sides.append((joint.primitives.start, joint.primitives.stop, side, place))
                points.append(joint.points[side])
        return np.array(sides, dtype=np.int64), np.array(points, dtype=float)

    @cached_property
    def _joint_forces(self) -> Callable[..., None]:
        return joint_force_rows(self._workspace)

    def primitive_loads(self, t: Vec, Z: Mat, la: Mat) -> Any:
        """Forces of all primitives on their two bodies and torques about their reference points, (rows, primitives, 2,
        6)."""
        n = len(self._model.primitives)
        out = np.empty((len(t), 12 * n))
        if n:
            self._joint_forces(t, Z, la, out=out)
        return out.reshape(len(t), n, 2, 6)

    @cached_property
    def joint_axes(self) -> tuple[Ints, Mat]:
        """The place of the first body of each joint, -1 for the ground, and its frame there."""
        model = self._model
        firsts = [joint.bodies[0] for joint in model.joints]
        axes = [joint_frame(model.system.joints[k]) for k in range(len(firsts))]
        places = [-1 if b == self._n else self.places[b] for b in firsts]
        return np.array(places, dtype=np.int64), np.array(axes, dtype=float)


__all__ = ["RowReader", "of_bodies", "quaternions", "table"]
