"""Drake: a continuous multibody plant of hinges, and its Runge-Kutta methods with control of the error."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .mechanisms import Array, Chain, LinkedBodies, Mechanism
from .method import PIP, Method, Peer, needed
from .trees import AXES, angles, gravity, links

TOLERANCES = tuple(10.0 ** (-0.5 * k) for k in range(4, 25))
LARGEST = 100
"""Links of a chain, to keep the run short."""


def built(mechanism: Mechanism) -> tuple[Any, list[Any], Array, Array]:
    """The plant, the bodies with mass, and the start: three hinges for a ball joint, three slides for a free body."""
    from pydrake.math import RigidTransform
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import PrismaticJoint, PrismaticSpring, RevoluteJoint, SpatialInertia, UnitInertia

    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(gravity(mechanism))
    axes, unit = AXES[type(mechanism)], {"X": (1.0, 0.0, 0.0), "Y": (0.0, 1.0, 0.0), "Z": (0.0, 0.0, 1.0)}
    bodies, q, v = [], [], []

    def joined(
        kind: Any, parent: Any, at: Array, axis: str, inertia: Any, position: float, rate: float
    ) -> tuple[Any, Any]:
        body = plant.AddRigidBody(f"b{len(q)}", inertia)
        place = RigidTransform(np.asarray(at, dtype=float))
        joint = plant.AddJoint(
            kind(
                f"j{len(q)}",
                plant.AddFrame(_frame(parent, place, len(q))),
                body.body_frame(),
                np.array(unit[axis]),
                damping=0.0,
            )
        )
        q.append(position)
        v.append(rate)
        return body, joint

    def _frame(parent: Any, place: Any, number: int) -> Any:
        from pydrake.multibody.tree import FixedOffsetFrame

        return FixedOffsetFrame(f"f{number}", parent.body_frame(), place)

    nothing = SpatialInertia.Zero()
    for link in links(mechanism):
        parent, at = bodies[link.parent] if link.parent >= 0 else plant.world_body(), link.at
        if link.free and link.velocity is not None:
            at = np.zeros(3)
            for k, axis in enumerate("XYZ"):
                parent, slide = joined(PrismaticJoint, parent, at, axis, nothing, link.at[k], link.velocity[k])
                plant.AddForceElement(PrismaticSpring(slide, 0.0, link.stiffness))
        turned, rates = angles(link, axes)
        moments = UnitInertia(*(link.inertia / link.mass))
        inertia = SpatialInertia(link.mass, link.centre, moments.ShiftFromCenterOfMass(-link.centre))
        for k in range(3):
            own = inertia if k == 2 else nothing
            parent, _ = joined(RevoluteJoint, parent, at, axes[k], own, turned[k], rates[k])
            at = np.zeros(3)
        bodies.append(parent)
    plant.Finalize()
    return plant, bodies, np.array(q), np.array(v)


def simulated(mechanism: Mechanism, scheme: str, accuracy: float) -> Callable[[], Any]:
    """A run with the accuracy asked for."""
    from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

    plant, bodies, q, v = built(mechanism)
    simulator = Simulator(plant)
    ResetIntegratorFromFlags(simulator, scheme, mechanism.t_end)
    integrator = simulator.get_mutable_integrator()
    integrator.set_fixed_step_mode(False)
    integrator.set_target_accuracy(accuracy)
    integrator.set_throw_on_minimum_step_size_violation(False)
    context = simulator.get_mutable_context()
    middles = [link.centre for link in links(mechanism)]

    def run() -> Any:
        context.SetTime(0.0)
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)
        simulator.Initialize()
        simulator.AdvanceTo(mechanism.t_end)
        return plant, context, bodies, middles

    return run


def centres(result: Any) -> Array:
    """(n, 3) of the links."""
    plant, context, bodies, middles = result
    return np.array([plant.EvalBodyPoseInWorld(context, b).multiply(m) for b, m in zip(bodies, middles, strict=True)])


def methods(mechanism: Mechanism) -> list[Method]:
    """Orders 3 and 5; of order 5 the linked bodies come to no end."""
    needed(PIP, ["pydrake"])
    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    schemes = ("runge_kutta3",) if isinstance(mechanism, LinkedBodies) else ("runge_kutta3", "runge_kutta5")
    return [
        Method(f"{scheme}, three hinges a joint", functools.partial(simulated, mechanism, scheme), centres, TOLERANCES)
        for scheme in schemes
    ]


PEER = Peer("Drake", methods, packages=("drake",))
