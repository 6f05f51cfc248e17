"""The quantities of joints and forces at rows (t, y): coordinates, efforts along them, powers, accelerations.

An effort is the torque or force on the second body along the coordinate, of everything that acts along it: forces along
the joint, and drives, by their reactions. That of a length is the tension, which pulls the points together. Power is
that of the effort on the bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, cross
from rbdae._show import ByName
from rbdae.actuators.block import Block
from rbdae.graph.symbols import NotStraight
from rbdae.kernels.forces.by_force import WIDTH
from rbdae.machine.reading.host import slices
from rbdae.multibody.bound import evaluate_each
from rbdae.problem.measured import Measured
from rbdae.problem.natural_accelerations import accelerations, frames, on_frame, torques
from rbdae.problem.network_values import Values, values_of_blocks
from rbdae.problem.owners import Owner
from rbdae.problem.quantities import angular_velocities
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
class Measures:
    """Reads quantities of rows t (m,) and y (m, n), which nobody changes; of one state as numbers if `single`.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`, by whose selection the rows are read
    """

    def __init__(self, view: Any, t: Vec, y: Mat, single: bool) -> None:
        self._view, self._t, self._y, self._single = view, t, y, single
        self._owners = view.owners

    @classmethod
    def of_symbols(cls, view: Any, Z: Any, applied: Any, primitives: Any, friction: Any) -> Measures:
        """Reads one state of numbers of any kind: Z (24 bodies,), what the kernel `by_force` gives, forces and torques
        of primitives (12 primitives,), margins and normal forces of frictions. Outputs of blocks it does not read."""
        out, n = cls(view, np.zeros(1), np.zeros((1, 0)), True), view.model.n
        out.__dict__ |= {
            "_Z": Z[None],
            "_applied": (applied[None, : 12 * n].reshape(1, n, 12), applied[None, 12 * n :].reshape(1, -1, WIDTH)),
            "_of_primitives": primitives.reshape(1, -1, 2, 6),
            "_friction": friction[None],
            "_coordinates": _Found(out._coordinate),
            "_of_blocks": _Found(_not_straight),
        }
        return out

    def joints(self) -> dict[str, Measured]:
        """The quantities of all joints by name."""
        return ByName("joint", ((name, self._of(owner)) for name, owner in self._owners.joints.items()))

    def forces(self) -> dict[str, Measured]:
        """The quantities of all forces by name."""
        return ByName("force", ((name, self._of(owner)) for name, owner in self._owners.forces.items()))

    def _of(self, owner: Owner) -> Measured:
        return Measured(owner.units, lambda name: self.value(owner, owner.quantities[name]))

    def value(self, owner: Owner, quantity: Quantity) -> Any:
        """A quantity, (m,) or (m, components), or the one of the only row."""
        out = self._along(owner, quantity) if quantity.coordinate else self._own(owner, quantity)
        return out[0] if self._single else out

    def _along(self, owner: Owner, quantity: Quantity) -> Vec:
        k = owner.coordinates[quantity.coordinate]
        if quantity.aspect == "value":
            return np.asarray(self._coordinates[k, 0])
        if quantity.aspect == "rate":
            return np.asarray(self._coordinates[k, 1])
        if quantity.aspect == "acceleration":
            return self._acceleration(k)
        effort = self._effort(owner, quantity.coordinate)
        if quantity.aspect == "power":
            return np.asarray(effort * self._coordinates[k, 1])
        tension = self._owners.coordinates[k][0].shape == "root" and not owner.blocks
        return -effort if tension else effort

    def _own(self, owner: Owner, quantity: Quantity) -> Mat:
        if quantity.aspect == "own":
            return self._of_blocks[owner.blocks[0][0], quantity.name]
        if quantity.aspect == "turn":
            return self._turned(owner)
        if quantity.aspect == "axis":
            vector = self._turn(owner).as_rotvec()
            size = np.linalg.norm(vector, axis=1, keepdims=True)
            return np.asarray(vector / np.where(size > 0.0, size, 1.0))
        if quantity.aspect == "spin":
            return self._spin(owner)
        if quantity.aspect == "moment":
            return self._moment(owner)
        if quantity.aspect == "pull":
            return self._load(owner.number, 0)
        if quantity.aspect == "normal":
            return self._normal(owner)
        return self._work(owner)

    # ------------------------------------------------------------ motion

    @cached_property
    def _coordinates(self) -> Any:
        """s and sdot of all coordinates, (n, 2, m)."""
        reader = self._view.coordinate_reader
        out = np.empty((reader.n, 2, len(self._t)))
        for part in slices(len(self._t), 24 * self._view.model.n + 2 * reader.n):
            reader.read(self._view.in_memory(self._t[part], self._y[part]), out, part.start)
        return out

    @cached_property
    def _Z(self) -> Mat:
        return np.asarray(self._view.in_memory(self._t, self._y))

    def _body(self, b: int) -> Mat:
        """(x, d, xdot, ddot) of a body, (m, 24); the ground is the last."""
        if b == self._view.model.n:
            ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])
            return np.broadcast_to(ground, (len(self._t), 24))
        place = 24 * self._view.places[b]
        return self._Z[:, place : place + 24]

    def _turn(self, owner: Owner) -> Any:
        """R_a^T R_b."""
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        a, b = (Rotation.from_matrix(frames(self._body(k)).copy()) for k in owner.bodies)
        return a.inv() * b

    def _turned(self, owner: Owner) -> Vec:
        """The angle of R_a^T R_b, whose size does not count."""
        a, b = (frames(self._body(k)) for k in owner.bodies)
        R = np.swapaxes(a, 1, 2) @ b
        size = np.sqrt(np.sum(R * R, axis=(1, 2)) / 3.0)
        skew = [R[:, j, i] - R[:, i, j] for i, j in ((1, 2), (2, 0), (0, 1))]
        return np.asarray(np.arctan2(np.sqrt(sum(x * x for x in skew)), R[:, 0, 0] + R[:, 1, 1] + R[:, 2, 2] - size))

    def _spin(self, owner: Owner) -> Mat:
        """The angular velocity of b relative to a, in the frame of a."""
        a, b = (self._body(k) for k in owner.bodies)
        in_space = [on_frame(frames(z), angular_velocities(z)) for z in (a, b)]
        return on_frame(np.swapaxes(frames(a), 1, 2), in_space[1] - in_space[0])

    def _on_bodies(self, k: int) -> tuple[Coordinate, tuple[int, int], list[Any]]:
        """A coordinate of the reference points of its bodies, these, and (Z, Zdot) of both, 48 arrays (m,)."""
        coordinate, (a, b) = self._owners.coordinates[k]
        shift = [*(body.reference for body in self._view.model.system.bodies), np.zeros(3)]
        first, second = self._body(a).T, self._body(b).T
        x = [*first[:12], *second[:12], *first[12:], *second[12:]]
        return coordinate.referred(shift[a], shift[b]), (a, b), x

    def _coordinate(self, key: tuple[int, int]) -> Any:
        """s or sdot of a coordinate."""
        coordinate, _, x = self._on_bodies(key[0])
        return coordinate.at(x)[key[1]]

    def _acceleration(self, k: int) -> Vec:
        """sddot of a coordinate."""
        coordinate, pair, x = self._on_bodies(k)
        second = [self._second[:, 24 * p : 24 * p + 12].T for p in self._view.places] + [np.zeros((12, 1))]
        return np.asarray(coordinate.acceleration(x, [*second[pair[0]], *second[pair[1]]]))

    @cached_property
    def _second(self) -> Mat:
        """xddot and dddot at the places of x and d in rows."""
        return accelerations(self._view, self._Z, self._applied[0], self._of_primitives)

    # ------------------------------------------------------------ forces

    @cached_property
    def _applied(self) -> tuple[Any, Any]:
        """Applied forces on bodies as they are in memory, (m, bodies, 12), and natural forces and powers of bushings
        and elements, (m, n, 25)."""
        model, m = self._view.model, len(self._t)
        n = len(model.bushings) + len(model.forces.elements)
        out = np.zeros((m, 12 * model.n + WIDTH * n))
        if n:
            evaluate_each(self._view.by_force, self._t, (self._y,), out)
        return out[:, : 12 * model.n].reshape(m, model.n, 12), out[:, 12 * model.n :].reshape(m, n, WIDTH)

    @cached_property
    def _of_blocks(self) -> Values:
        """Efforts and outputs of blocks."""
        return values_of_blocks(self._view, self._t, self._Z, self._y)

    @cached_property
    def _la(self) -> Mat:
        """Multipliers of all joint equations."""
        la = self._view.multipliers(self._t, self._y)
        return np.ascontiguousarray(la[:, self._view.workspace.layout.n_internal :])

    def _load(self, j: int, side: int, *, torque: bool = False) -> Mat:
        """The force of a joint on one of its bodies, or its torque about the joint's point."""
        joint = self._view.model.joints[j]
        loads = self._of_primitives[:, joint.primitives.start : joint.primitives.stop, side].sum(axis=1)
        if not torque:
            return np.asarray(loads[:, :3])
        arm = on_frame(frames(self._body(joint.bodies[side])), joint.points[side])
        return np.asarray(loads[:, 3:] - cross(arm, loads[:, :3]))

    @cached_property
    def _of_primitives(self) -> Mat:
        """Forces and torques of primitives about reference points, (m, primitives, 2, 6)."""
        return np.asarray(self._view.primitive_loads(self._t, self._Z, self._la))

    def _on_second(self, owner: Owner) -> tuple[Mat, Mat]:
        """Force on the second body of what belongs to an owner, and torque about its reference point."""
        F = self._applied[1][:, list(owner.elements), 12:24].sum(axis=1)
        return F[:, :3], torques(self._body(owner.bodies[1]), F)

    def _effort(self, owner: Owner, name: str) -> Vec:
        """The torque or force on the second body along a coordinate."""
        coordinate = self._owners.coordinates[owner.coordinates[name]][0]
        along = self._direction(owner, coordinate)
        force, torque = self._on_second(owner)
        if coordinate.shape == "angle":
            arm = self._point(owner, 1, coordinate.at_b) - self._body(owner.bodies[1])[:, :3]
            force = torque - cross(arm, force)
        out = np.sum(along * force, axis=1)
        for block, coordinate_name in owner.blocks:
            if coordinate_name == name:
                out += self._of_blocks[block, "effort"]
        for j in owner.joints[name]:
            out += np.sum(along * self._load(j, 1, torque=coordinate.shape == "angle"), axis=1)
        return np.asarray(out)

    def _direction(self, owner: Owner, coordinate: Coordinate) -> Mat:
        """The direction of a torque or force along a coordinate, in space."""
        if coordinate.axis is not None:
            return on_frame(frames(self._body(owner.bodies[coordinate.side])), coordinate.axis)
        line = self._point(owner, 1, coordinate.at_b) - self._point(owner, 0, coordinate.at_a)
        return np.asarray(line / np.sqrt(np.sum(line * line, axis=1, keepdims=True)))

    def _point(self, owner: Owner, side: int, at: Vec, first: int = 0) -> Mat:
        """A point of a body in space, or its velocity from the place 12 on."""
        b = owner.bodies[side]
        z = self._body(b)[:, first : first + 12]
        model = self._view.model
        arm = at - (model.system.bodies[b].reference if b < model.n else 0.0)
        return np.asarray(z[:, :3] + np.einsum("k,mkj->mj", arm, z[:, 3:].reshape(-1, 3, 3)))

    def _moment(self, owner: Owner) -> Mat:
        """The torque on b of what acts along a joint without coordinates, in the frame of a."""
        _, torque = self._on_second(owner)
        return on_frame(np.swapaxes(frames(self._body(owner.bodies[0])), 1, 2), torque)

    def _normal(self, owner: Owner) -> Vec:
        """The normal force of friction under a reaction."""
        model = self._view.model
        mine = [e - len(model.bushings) for e in owner.elements]
        (k,) = np.flatnonzero(np.isin(model.frictions["element"], mine))
        return np.asarray(self._friction[:, len(model.frictions) + k])

    @cached_property
    def _friction(self) -> Mat:
        """Margins and normal forces of the frictions under reactions."""
        return np.asarray(self._view.friction(self._t, self._y))

    def _work(self, owner: Owner) -> Vec:
        """The power of a force on all bodies, of friction in a joint, or of a drive of a point."""
        if owner.number < 0:
            return np.asarray(self._applied[1][:, list(owner.elements), 24].sum(axis=1))
        if "torque" in owner.quantities:
            return np.asarray(np.sum(self._moment(owner) * self._spin(owner), axis=1))
        joint = self._view.model.system.joints[owner.number]
        rate = self._point(owner, 0, joint.at_a, 12) - self._point(owner, 1, joint.at_b, 12)
        return np.asarray(np.sum(self._load(owner.number, 0) * rate, axis=1))


def _not_straight(key: tuple[Block, str]) -> Any:
    raise NotStraight(f"{key[0].name} is a block")


@final
class _Found:
    """Numbers by their places, found when they are asked for."""

    def __init__(self, find: Callable[[Any], Any]) -> None:
        self._find = find

    def __getitem__(self, key: Any) -> Any:
        return self._find(key)
