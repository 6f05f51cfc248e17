"""Pinocchio: its articulated body algorithm as the right-hand side of scipy's solvers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .by_scipy import Rhs, integrated, rate
from .mechanisms import Array, Chain, Mechanism
from .method import PIP, Method, Peer, needed
from .trees import gravity, links

LARGEST = 100
"""Links of a chain, to keep the run short."""


def built(mechanism: Mechanism) -> tuple[Any, Array, Array]:
    """The model, and its start; a free body is on a translation and a spherical joint."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = gravity(mechanism)
    joints, q, v = [], [], []
    for link in links(mechanism):
        parent, at = joints[link.parent] if link.parent >= 0 else 0, link.at
        if link.free and link.velocity is not None:
            parent = model.addJoint(0, pin.JointModelTranslation(), pin.SE3.Identity(), f"t{len(joints)}")
            at = np.zeros(3)
            q.append(link.at)
            v.append(link.velocity)
        place = pin.SE3(np.eye(3), np.asarray(at, dtype=float))
        joint = model.addJoint(parent, pin.JointModelSpherical(), place, f"s{len(joints)}")
        model.appendBodyToJoint(joint, pin.Inertia(link.mass, link.centre, np.diag(link.inertia)), pin.SE3.Identity())
        joints.append(joint)
        q.append(link.rotation.as_quat())
        v.append(link.spin)
    return model, np.concatenate(q), np.concatenate(v)


class Run:
    """A mechanism as a system of first order: y = (q, v), quaternions with the scalar last."""

    def __init__(self, mechanism: Mechanism) -> None:
        import pinocchio as pin

        self.name, self.t_end = mechanism.name, mechanism.t_end
        self.links = links(mechanism)
        self.model, q, v = built(mechanism)
        self.data = self.model.createData()
        self.y0 = np.concatenate((q, v))
        self._aba, self._placed = pin.aba, pin.forwardKinematics
        self._free = 3 if self.links[0].free else 0

    def rhs(self) -> Rhs:
        """(qdot, vdot)."""
        nq, free, model, data, aba = self.model.nq, self._free, self.model, self.data, self._aba
        order, tau, stiffness = [3, 0, 1, 2], np.zeros(self.model.nv), self.links[0].stiffness

        def rhs(t: float, y: Array) -> Array:
            q, v = y[:nq], y[nq:]
            turned = q[free:].reshape(-1, 4)
            unit = turned / np.linalg.norm(turned, axis=1)[:, None]
            tau[:free] = -stiffness * q[:free]
            rates = np.empty_like(y)
            rates[:free] = v[:free]
            rates[free:nq] = np.roll(rate(turned[:, order], v[free:].reshape(-1, 3)), -1, axis=1).ravel()
            rates[nq:] = aba(model, data, np.concatenate((q[:free], unit.ravel())), v, tau)
            return rates

        return rhs

    def centres(self, y: Array) -> Array:
        """(n, 3) of the links."""
        import pinocchio as pin

        self._placed(self.model, self.data, pin.normalize(self.model, y[: self.model.nq]))
        placed = list(self.data.oMi)[-len(self.links) :]
        return np.array([p.act(link.centre) for p, link in zip(placed, self.links, strict=True)])


def methods(mechanism: Mechanism) -> list[Method]:
    """It has no integrator of its own."""
    needed(PIP, ["pinocchio"])
    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    made = Run(mechanism)
    rhs = made.rhs()
    return [Method("ABA with scipy's DOP853", lambda knob: integrated(rhs, made, "DOP853", knob), made.centres)]


PEER = Peer("Pinocchio", methods, packages=("pin",))
