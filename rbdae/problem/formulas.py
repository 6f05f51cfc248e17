"""The quantities of joints and forces at one state, as formulas of what kernels and blocks say of it.

An effort is the torque or force on the second body along the coordinate, of everything that acts along it: forces along
the joint, and drives, by their reactions. That of a length is the tension, which pulls the points together. Power is
that of the effort on the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from rbdae._arrays import Vec, cross
from rbdae.actuators.block import Block
from rbdae.graph.derivatives import tangents
from rbdae.graph.functions import select
from rbdae.kernels.readings import WIDTH
from rbdae.problem.owners import Owner
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity
from rbdae.rotations.vectors import angular_velocity, axial, largest_row, skew

GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])

Values = Mapping[tuple[Block, str], Any]
"""Of each block by name: "effort", and its own quantities."""


@final
class Formulas:
    """The quantities of a model, for which an `Interpretation` has the places of the bodies in memory, by their natural
    coordinates Z (24 bodies,), what the kernels `by_force`, `joint_loads` (21 joints,) and `friction_margins` give, and
    the values of blocks."""

    def __init__(self, view: Any, Z: Any, applied: Any, loads: Any = None, friction: Any = None, blocks: Any = None):
        self._model, self._places = view.model, view.places
        n = self._model.n
        self._Z, self._blocks, self._friction = Z.reshape(n, 24), blocks, friction
        self._applied, self._by_force = applied[: 12 * n].reshape(n, 12), applied[12 * n :].reshape(-1, WIDTH)
        self._loads: Any = None if loads is None else loads.reshape(-1, 21)[:, :12].reshape(-1, 2, 2, 3)

    def value(self, owner: Owner, quantity: Quantity) -> Any:
        """A quantity: a number, or (components,)."""
        if quantity.coordinate:
            return self._along(owner, quantity)
        if quantity.aspect == "own":
            return self._blocks[owner.blocks[0][0], quantity.name]
        read: dict[str, Callable[[Owner], Any]] = {
            "turn": self._turned, "axis": self._axis, "spin": self._spin, "moment": self._moment, "work": self._work,
            "normal": self._normal, "pull": lambda owner: self._load(owner.number, 0),
        }  # fmt: skip
        return read[quantity.aspect](owner)

    def _along(self, owner: Owner, quantity: Quantity) -> Any:
        coordinate, x = self._on_bodies(owner, quantity.coordinate)
        s, rate = coordinate.at(x)[:2]
        if quantity.aspect in ("value", "rate"):
            return rate if quantity.aspect == "rate" else s
        if quantity.aspect == "acceleration":
            a, b = map(self._second, owner.bodies)
            return _rate_of(rate, x, [*x[24:], *a, *b])
        effort = self._effort(owner, quantity.coordinate)
        if quantity.aspect == "power":
            return effort * rate
        tension = coordinate.shape == "root" and not owner.blocks
        return -effort if tension else effort

    # ------------------------------------------------------------ motion

    def _body(self, b: int) -> Any:
        """(x, d, xdot, ddot) of a body, (24,); the ground is the last."""
        return GROUND if b == self._model.n else self._Z[self._places[b]]

    def _directors(self, b: int) -> Any:
        """The directors of a body, the rows of R^T."""
        return self._body(b)[3:12].reshape(3, 3)

    def _on_bodies(self, owner: Owner, name: str) -> tuple[Coordinate, Any]:
        """A coordinate of the reference points of its bodies, and (Z, Zdot) of both, (48,)."""
        shift = [*(body.reference for body in self._model.system.bodies), np.zeros(3)]
        (a, b), (one, other) = owner.bodies, map(self._body, owner.bodies)
        x = np.concatenate([one[:12], other[:12], one[12:], other[12:]])
        return owner.coordinates[name].referred(shift[a], shift[b]), x

    def _relative(self, owner: Owner) -> Any:
        """R_a^T R_b, whose size does not count, divided by it."""
        a, b = owner.bodies
        R = self._directors(a) @ self._directors(b).T
        return R / np.sqrt((R * R).sum() / 3.0)

    def _axis(self, owner: Owner) -> Any:
        """The axis of that rotation, in the frame of a: the vector part of its quaternion, zero without a rotation."""
        p = largest_row(self._relative(owner))
        v = p[1:]
        size = np.sqrt(v @ v) * select(p[0] < 0.0, -1.0, 1.0)
        return v / select(v @ v > 0.0, size, 1.0)

    def _turned(self, owner: Owner) -> Any:
        """The angle of R_a^T R_b."""
        R = self._relative(owner)
        v = axial(R)
        return np.arctan2(np.sqrt(v @ v), R.trace() - 1.0)

    def _spin(self, owner: Owner) -> Any:
        """The angular velocity of b relative to a, in the frame of a."""
        a, b = (angular_velocity(z[3:12].reshape(3, 3), z[15:].reshape(3, 3)) for z in map(self._body, owner.bodies))
        first, second = map(self._directors, owner.bodies)
        return first @ (b @ second - a @ first)

    def _second(self, b: int) -> Any:
        """(xddot, dddot) of a body, (12,), from the forces on it."""
        if b == self._model.n:
            return np.zeros(12)
        B, place, D = self._model.bodies[b], self._places[b], self._directors(b)
        F = self._applied[place] + np.concatenate([B["weight"], B["weight_d"]])
        force, torque = F[:3], cross(D, F[3:].reshape(3, 3)).sum(axis=0)
        for k, joint in enumerate(self._model.joints):
            for side in (side for side in range(2) if joint.bodies[side] == b):
                own, moment = self._loads[k, side]
                force, torque = force + own, torque + moment + cross(joint.points[side] @ D, own)
        Om = angular_velocity(D, self._body(b)[15:].reshape(3, 3))
        J = B["inertia"]
        W = skew(Om)
        second = W @ W + skew(np.linalg.inv(J) @ (D @ torque - cross(Om, J @ Om)))
        return np.concatenate([force / B["mass"] if B["nt"] == 3 else np.zeros(3), (second.T @ D).ravel()])

    # ------------------------------------------------------------ forces

    def _load(self, j: int, side: int, *, torque: bool = False) -> Any:
        """The force of a joint on one of its bodies, or its torque about the joint's point."""
        return self._loads[j, side, int(torque)]

    def _on_second(self, owner: Owner) -> tuple[Any, Any]:
        """Force on the second body of what belongs to an owner, and torque about its reference point."""
        F = self._by_force[list(owner.elements), 12:24].sum(axis=0)
        return F[:3], cross(self._directors(owner.bodies[1]), F[3:].reshape(3, 3)).sum(axis=0)

    def _effort(self, owner: Owner, name: str) -> Any:
        """The torque or force on the second body along a coordinate."""
        coordinate = owner.coordinates[name]
        along, turning = self._direction(owner, coordinate), coordinate.shape == "angle"
        out, torque = self._on_second(owner)
        if turning:
            arm = self._point(owner, 1, coordinate.at_b) - self._body(owner.bodies[1])[:3]
            out = torque - cross(arm, out)
        for j in owner.joints[name]:
            out = out + self._load(j, 1, torque=turning)
        return sum((self._blocks[block, "effort"] for block, of in owner.blocks if of == name), along @ out)

    def _direction(self, owner: Owner, coordinate: Coordinate) -> Any:
        """The direction of a torque or force along a coordinate, in space."""
        if coordinate.axis is not None:
            return coordinate.axis @ self._directors(owner.bodies[coordinate.side])
        line = self._point(owner, 1, coordinate.at_b) - self._point(owner, 0, coordinate.at_a)
        return line / np.sqrt(line @ line)

    def _point(self, owner: Owner, side: int, at: Vec, first: int = 0) -> Any:
        """A point of a body in space, or its velocity from the place 12 on."""
        b = owner.bodies[side]
        z, n = self._body(b)[first : first + 12], self._model.n
        arm = at - (self._model.system.bodies[b].reference if b < n else 0.0)
        return z[:3] + arm @ z[3:].reshape(3, 3)

    def _moment(self, owner: Owner) -> Any:
        """The torque on b of what acts along a joint without coordinates, in the frame of a."""
        return self._directors(owner.bodies[0]) @ self._on_second(owner)[1]

    def _normal(self, owner: Owner) -> Any:
        """The normal force of friction under a reaction."""
        frictions = self._model.frictions
        (k,) = np.flatnonzero(np.isin(frictions["element"], owner.elements))
        return self._friction[len(frictions) + k]

    def _work(self, owner: Owner) -> Any:
        """The power of a force on all bodies, of friction in a joint, or of a drive of a point."""
        if owner.number < 0:
            return self._by_force[list(owner.elements), 24].sum()
        if "torque" in owner.quantities:
            return self._moment(owner) @ self._spin(owner)
        joint = self._model.system.joints[owner.number]
        rate = self._point(owner, 0, joint.at_a, 12) - self._point(owner, 1, joint.at_b, 12)
        return self._load(owner.number, 0) @ rate


def _rate_of(value: Any, x: Any, rates: Any) -> Any:
    """The rate of a symbol whose numbers x have these rates."""
    recorder = value.recorder
    along = {
        each.node: {0: recorder.number(rate)} for each, rate in zip(x, rates, strict=True) if hasattr(each, "node")
    }
    (change,) = tangents(recorder.graph, [value.node], along)
    return recorder.result(change[0]) if change else 0.0
