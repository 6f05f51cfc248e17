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
from rbdae._frozen import ByName
from rbdae.actuators.block import Block
from rbdae.actuators.network import Network
from rbdae.actuators.sampled import Sampled
from rbdae.graph.symbols import NotStraight
from rbdae.kernels.forces.by_force import WIDTH
from rbdae.machine.reading.host import slices
from rbdae.multibody.bound import evaluate_each
from rbdae.problem.owners import Owner
from rbdae.problem.quantities import Measured, angular_velocities
from rbdae.quantities.coordinate import Coordinate
from rbdae.quantities.quantity import Quantity


@final
class Measures:
    """Reads quantities of rows t (m,) and y (m, n), which nobody changes; of one state as numbers if `single`.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`, by whose selection the rows are read
    """

    _of_symbols = False

    def __init__(self, view: Any, t: Vec, y: Mat, single: bool) -> None:
        self._view, self._t, self._y, self._single = view, t, y, single
        self._owners = view.owners

    @classmethod
    def of_symbols(cls, view: Any, Z: Any, applied: Any, of_joints: Any, friction: Any) -> Measures:
        """Reads one state of numbers of any kind: Z (24 bodies,), what the kernel `by_force` gives, forces and torques
        of joints (21 joints,), margins and normal forces of frictions. Outputs of blocks it does not read."""
        out, n = cls(view, np.zeros(1), np.zeros((1, 0)), True), view.model.n
        out.__dict__ |= {
            "_Z": Z[None],
            "_applied": (applied[None, : 12 * n].reshape(1, n, 12), applied[None, 12 * n :].reshape(1, -1, WIDTH)),
            "_of_joints": of_joints.reshape(1, -1, 21)[..., :12].reshape(1, -1, 2, 2, 3),
            "_friction": friction[None],
            "_of_symbols": True,
        }
        return out

    def all(self, kind: str) -> dict[str, Measured]:
        """The quantities of all "joints" or "forces" by name."""

        def of(owner: Owner) -> Measured:
            return Measured(owner.units, lambda name: self.value(owner, owner.quantities[name]))

        owners: dict[str, Owner] = getattr(self._owners, kind)
        return ByName(kind.removesuffix("s"), ((name, of(owner)) for name, owner in owners.items()))

    def value(self, owner: Owner, quantity: Quantity) -> Any:
        """A quantity, (m,) or (m, components), or the one of the only row."""
        out = self._along(owner, quantity) if quantity.coordinate else self._own(owner, quantity)
        return out[0] if self._single else out

    def _along(self, owner: Owner, quantity: Quantity) -> Vec:
        k = owner.coordinates[quantity.coordinate]
        if quantity.aspect in ("value", "rate"):
            return self._coordinate(k, int(quantity.aspect == "rate"))
        if quantity.aspect == "acceleration":
            return np.asarray(self._acceleration(k))
        effort = self._effort(owner, quantity.coordinate)
        if quantity.aspect == "power":
            return np.asarray(effort * self._coordinate(k, 1))
        tension = self._owners.coordinates[k][0].shape == "root" and not owner.blocks
        return -effort if tension else effort

    def _own(self, owner: Owner, quantity: Quantity) -> Mat:
        if quantity.aspect == "own":
            return self._of_block(owner.blocks[0][0], quantity.name)
        if quantity.aspect == "pull":
            return self._load(owner.number, 0)
        read: dict[str, Callable[[Owner], Mat]] = {
            "turn": self._turned, "axis": self._axis, "spin": self._spin, "moment": self._moment,
            "normal": self._normal, "work": self._work,
        }  # fmt: skip
        return read[quantity.aspect](owner)

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
            return np.broadcast_to(_GROUND, (len(self._t), 24))
        place = 24 * self._view.places[b]
        return self._Z[:, place : place + 24]

    def _turn(self, owner: Owner) -> Any:
        """R_a^T R_b."""
        from scipy.spatial.transform import Rotation  # a slow import, not needed to solve

        a, b = (Rotation.from_matrix(frames(self._body(k)).copy()) for k in owner.bodies)
        return a.inv() * b

    def _axis(self, owner: Owner) -> Mat:
        """The axis of that rotation, in the frame of a."""
        vector = self._turn(owner).as_rotvec()
        size = np.linalg.norm(vector, axis=1, keepdims=True)
        return np.asarray(vector / np.where(size > 0.0, size, 1.0))

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

    def _coordinate(self, k: int, rate: int) -> Vec:
        """s or sdot of a coordinate."""
        if not self._of_symbols:
            return np.asarray(self._coordinates[k, rate])
        coordinate, _, x = self._on_bodies(k)
        return np.asarray(coordinate.at(x)[rate])

    def _acceleration(self, k: int) -> Vec:
        """sddot of a coordinate."""
        coordinate, pair, x = self._on_bodies(k)
        second = [self._second[:, 24 * p : 24 * p + 12].T for p in self._view.places] + [np.zeros((12, 1))]
        return np.asarray(coordinate.acceleration(x, [*second[pair[0]], *second[pair[1]]]))

    @cached_property
    def _second(self) -> Mat:
        """xddot and dddot at the places of x and d in rows."""
        return accelerations(self._view, self._Z, self._applied[0], self._of_joints)

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
    def _blocks(self) -> Values:
        return values_of_blocks(self._view, self._t, self._Z, self._y)

    def _of_block(self, block: Block, name: str) -> Vec:
        """The effort or an output of a block."""
        if self._of_symbols:
            raise NotStraight(f"{block.name} is a block")
        return self._blocks[block, name]

    @cached_property
    def _la(self) -> Mat:
        """Multipliers of all joint equations."""
        la = self._view.multipliers(self._t, self._y)
        return np.ascontiguousarray(la[:, self._view.workspace.layout.n_internal :])

    def _load(self, j: int, side: int, *, torque: bool = False) -> Mat:
        """The force of a joint on one of its bodies, or its torque about the joint's point."""
        return np.asarray(self._of_joints[:, j, side, int(torque)])

    @cached_property
    def _of_joints(self) -> Mat:
        """Forces of joints and torques about their points, (m, joints, 2, 2, 3)."""
        return np.asarray(self._view.joint_loads(self._t, self._y, self._la)[0])

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
                out += self._of_block(block, "effort")
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


def frames(Z: Mat) -> Mat:
    """R (..., 3, 3) of bodies (..., 24)."""
    return np.swapaxes(Z[..., 3:12].reshape(*Z.shape[:-1], 3, 3), -1, -2)


def on_frame(R: Mat, v: Vec | Mat) -> Mat:
    """R v of vectors."""
    return np.asarray(np.sum(R * v[..., None, :], axis=-1))


def torques(Z: Mat, F: Mat) -> Mat:
    """Torques (..., 3) about the reference points, of natural forces (..., 12) on bodies (..., 24)."""
    d, f = (x.reshape(*x.shape[:-1], 3, 3) for x in (Z[..., 3:12], F[..., 3:12]))
    return np.asarray(cross(d, f).sum(axis=-2))


def accelerations(view: Any, Z: Mat, applied: Any, of_joints: Any) -> Mat:
    """xddot and dddot at the places of x and d in rows Z (m, 24 bodies), zero elsewhere.

    Parameters
    ----------
    view : `rbdae.problem.interpretation.Interpretation`
    Z : rows of natural coordinates, with the bodies as they are in memory; all three are numbers of any kind
    applied : (m, bodies, 12), applied forces on them as they are in memory
    of_joints : (m, joints, 2, 2, 3), forces of the joints and torques about their points
    """
    model, n = view.model, view.model.n
    B, order, m = model.bodies, list(view.workspace.layout.order[:n]), len(Z)
    F = applied + np.concatenate([B["weight"], B["weight_d"]], axis=1)[order]
    z, loads = Z.reshape(m, n, 24), np.zeros((m, n + 1, 6), dtype=of_joints.dtype)
    for k, joint in enumerate(model.joints):
        for side, b in enumerate(joint.bodies):
            if b < n:
                force, torque = of_joints[:, k, side, 0], of_joints[:, k, side, 1]
                arm = on_frame(frames(z[:, view.places[b]]), joint.points[side])
                loads[:, b] += np.concatenate([force, torque + cross(arm, force)], axis=1)
    loads = loads[:, order]
    free, J = (B["nt"][order] == 3)[:, None], B["inertia"][order]
    R, Om = frames(z), angular_velocities(z)
    moment = on_frame(np.swapaxes(R, -1, -2), torques(z, F) + loads[..., 3:]) - cross(Om, on_frame(J, Om))
    W = _skew(Om)
    second = R @ (W @ W + _skew(on_frame(np.linalg.inv(J), moment)))
    out = np.zeros((m, n, 24), dtype=Z.dtype)
    out[..., :3] = np.where(free, (F[..., :3] + loads[..., :3]) / B["mass"][order][:, None], 0.0)
    out[..., 3:12] = np.swapaxes(second, -1, -2).reshape(m, n, 9)
    return out.reshape(m, 24 * n)


def _skew(v: Mat) -> Mat:
    out = np.zeros((*v.shape, 3), dtype=v.dtype)
    out[..., 2, 1], out[..., 0, 2], out[..., 1, 0] = np.moveaxis(v, -1, 0)
    return out - np.swapaxes(out, -1, -2)


Values = dict[tuple[Block, str], Vec]
"""Of each block by name, (m,): "effort", and its own quantities."""


def _of_network(view: Any, network: Network, number: int, t: Vec, Z: Mat, y: Mat) -> Values:
    """The values of one network, which is this element of the model; algebraic unknowns that are eliminated are solved
    for again.

    Parameters
    ----------
    Z, y : (m, 24 bodies), with the bodies as they are in memory, and (m, n)
    """
    forces, workspace = view.model.forces, view.workspace
    row = forces.elements[number]
    s = y[:, workspace.layout.s][:, row["state"] : row["state"] + row["n_states"]]
    bodies = forces.bodies[row["first_body"] : row["first_body"] + row["n_bodies"]]
    motion = np.empty((len(t), len(bodies), 24))
    for k, b in enumerate(bodies):
        first = 24 * view.places[b] if b < view.model.n else -1
        motion[:, k] = _GROUND if first < 0 else Z[:, first : first + 24]
    values = np.asarray(workspace.arrays["inputs"], dtype=float) if forces.inputs else np.zeros(0)
    if row["n_states"] < len(network.names):
        names = network.names[network.n_differential :]
        solving = next(each for each in forces.unknowns if each.of.names == names)
        s = np.concatenate([s, solving.solved(t, motion, s, values)], axis=1)
    x = [motion[..., :12].reshape(len(t), -1), motion[..., 12:].reshape(len(t), -1), s]
    sources, place = view.model.system.sources, {each: k for k, each in enumerate(forces.inputs)}
    for each in network.inputs:
        if each in sources:
            x.append(np.array([[float(sources[each](time))] for time in t.tolist()]).reshape(-1, 1))
        else:
            x.append(np.full((len(t), 1), values[place[each]]))
    return network.values_at(t, np.concatenate(x, axis=1))


def values_of_blocks(view: Any, t: Vec, Z: Mat, y: Mat) -> Values:
    """Those of all networks, and what sampled controllers hold in the selection of the view: inputs of its system."""
    held = np.asarray(view.workspace.arrays["inputs"], dtype=float)
    place = {each.name: k for k, each in enumerate(view.model.forces.inputs)}
    out: Values = {}
    for block in view.model.system.forces:
        if isinstance(block, Sampled):
            of = {name: place[each.name] for name, each in block.held.items() if each.name in place}
            out |= {(block, name): np.full(len(t), held[k]) for name, k in of.items()}
    for network, number in view.owners.networks:
        out |= _of_network(view, network, number, t, Z, y)
    return out


_GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])
