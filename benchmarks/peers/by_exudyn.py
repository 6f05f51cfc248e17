"""Exudyn: its kinematic trees with its explicit solvers, and bodies with joints by the generalised alpha method."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .mechanisms import Array, Chain, HeavyTop, LinkedBodies, Mechanism
from .method import PIP, Method, Peer, needed, steps
from .trees import AXES, angles, gravity, links

ADAPTIVE = tuple(10.0 ** (-0.5 * k) for k in range(6, 25))
LARGEST = 100
"""Links of a chain; its trees cost O(n^3)."""


def settings(mechanism: Mechanism) -> Any:
    """What all runs share: nothing is written, one thread."""
    import exudyn as exu

    found = exu.SimulationSettings()
    found.timeIntegration.endTime = mechanism.t_end
    found.timeIntegration.verboseMode = 0
    found.solutionSettings.writeSolutionToFile = False
    found.solutionSettings.sensorsWritePeriod = mechanism.t_end
    found.displayStatistics = False
    found.displayComputationTime = False
    found.parallel.numberOfThreads = 1
    return found


def tree(mechanism: Mechanism) -> tuple[Any, list[int]]:
    """A system with one kinematic tree, three hinges for each ball joint, and its sensors."""
    import exudyn as exu
    from exudyn.itemInterface import NodeGenericODE2, ObjectKinematicTree, SensorKinematicTree

    axes = AXES[type(mechanism)]
    types, parents, offsets, masses, centres, inertias, q, v, control, last = ([] for _ in range(10))  # type: ignore[var-annotated]

    def hinge(kind: str, parent: int, at: Array, position: float, rate: float, stiffness: float = 0.0) -> None:
        types.append(getattr(exu.JointType, kind))
        parents.append(parent)
        offsets.append(np.asarray(at, dtype=float))
        q.append(position)
        v.append(rate)
        control.append(stiffness)
        masses.append(0.0)
        centres.append(np.zeros(3))
        inertias.append(np.zeros((3, 3)))

    for link in links(mechanism):
        parent, at = last[link.parent] if link.parent >= 0 else -1, link.at
        if link.free:
            assert link.velocity is not None
            for k in range(3):
                hinge(f"Prismatic{'XYZ'[k]}", parent, np.zeros(3), link.at[k], link.velocity[k], link.stiffness)
                parent = len(types) - 1
            at = np.zeros(3)
        turned, rates = angles(link, axes)
        for k in range(3):
            hinge(f"Revolute{axes[k]}", parent, at if k == 0 else np.zeros(3), turned[k], rates[k])
            parent = len(types) - 1
        masses[-1], centres[-1], inertias[-1] = link.mass, link.centre, np.diag(link.inertia)
        last.append(parent)
    container = exu.SystemContainer()
    system = container.AddSystem()
    n = len(types)
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n, initialCoordinates=q, initialCoordinates_t=v, numberOfODE2Coordinates=n
        )
    )
    body = system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            gravity=list(gravity(mechanism)),
            jointTypes=types,
            linkParents=parents,
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList(offsets),
            linkInertiasCOM=exu.Matrix3DList(inertias),
            linkCOMs=exu.Vector3DList(centres),
            linkMasses=masses,
            jointPControlVector=control,
            jointDControlVector=[0.0] * n,
            jointPositionOffsetVector=[0.0] * n,
            jointVelocityOffsetVector=[0.0] * n,
        )
    )
    sensors = [
        system.AddSensor(
            SensorKinematicTree(
                objectNumber=body,
                linkNumber=number,
                localPosition=link.centre,
                writeToFile=False,
                outputVariableType=exu.OutputVariableType.Position,
            )
        )
        for link, number in zip(links(mechanism), last, strict=True)
    ]
    system.Assemble()
    return (container, system), sensors


def bodies(mechanism: Mechanism) -> tuple[Any, list[int]]:
    """A system of bodies with Euler parameters and spherical joints, and its sensors."""
    import exudyn as exu
    from exudyn.itemInterface import SensorBody
    from exudyn.utilities import RigidBodyInertia
    from scipy.spatial.transform import Rotation

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground = system.CreateGround()
    made: list[int] = []
    poses: list[tuple[Rotation, Array, Array, Array]] = []
    for link in links(mechanism):
        if link.parent < 0:
            R, at, om = link.rotation, link.at, link.rotation.apply(link.spin)
            v = np.zeros(3) if link.velocity is None else link.velocity
        else:
            R0, x0, v0, om0 = poses[link.parent]
            R, at = R0 * link.rotation, x0 + R0.apply(link.at)
            om, v = om0 + R.apply(link.spin), v0 + np.cross(om0, R0.apply(link.at))
        poses.append((R, at, v, om))
        arm = R.apply(link.centre)
        inertia = RigidBodyInertia(mass=link.mass, inertiaTensor=np.diag(link.inertia))
        body = system.CreateRigidBody(
            inertia=inertia,
            nodeType=exu.NodeType.RotationEulerParameters,
            referencePosition=at + arm,
            referenceRotationMatrix=R.as_matrix(),
            initialVelocity=v + np.cross(om, arm),
            initialAngularVelocity=om,
            gravity=list(gravity(mechanism)),
        )
        made.append(body)
        if link.free:
            system.CreateCartesianSpringDamper(bodyNumbers=[ground, body], stiffness=[link.stiffness] * 3)
        else:
            system.CreateSphericalJoint(
                bodyNumbers=[ground if link.parent < 0 else made[link.parent], body], position=at, useGlobalFrame=True
            )
    sensors = [
        system.AddSensor(
            SensorBody(bodyNumber=body, writeToFile=False, outputVariableType=exu.OutputVariableType.Position)
        )
        for body in made
    ]
    system.Assemble()
    return (container, system), sensors


def pinned(mechanism: HeavyTop) -> tuple[Any, list[int]]:
    """The top as one body with a rotation vector on a Lie group, held by the coordinates of its reference point.

    Explicit solvers eliminate such constraints behind the mass matrix: the inertia is that about the fixed point, as of
    a centre there, and the weight a force beside it.
    """
    import exudyn as exu
    from exudyn.itemInterface import (
        CoordinateConstraint,
        MarkerNodeCoordinate,
        NodePointGround,
        SensorBody,
    )
    from exudyn.utilities import RigidBodyInertia

    container = exu.SystemContainer()
    system = container.AddSystem()
    (link,) = links(mechanism)
    body = system.CreateRigidBody(
        inertia=RigidBodyInertia(mass=link.mass, inertiaTensor=np.diag(mechanism.inertia)),
        nodeType=exu.NodeType.RotationRotationVector,
        referenceRotationMatrix=link.rotation.as_matrix(),
        initialAngularVelocity=link.rotation.apply(link.spin),
    )
    system.CreateForce(
        bodyNumber=body, loadVector=list(link.mass * gravity(mechanism)), localPosition=list(link.centre)
    )
    node = system.GetObject(body)["nodeNumber"]
    ground = system.AddMarker(MarkerNodeCoordinate(nodeNumber=system.AddNode(NodePointGround()), coordinate=0))
    for k in range(3):
        held = system.AddMarker(MarkerNodeCoordinate(nodeNumber=node, coordinate=k))
        system.AddObject(CoordinateConstraint(markerNumbers=[ground, held]))
    sensor = system.AddSensor(
        SensorBody(
            bodyNumber=body,
            localPosition=list(link.centre),
            writeToFile=False,
            outputVariableType=exu.OutputVariableType.Position,
        )
    )
    system.Assemble()
    return (container, system), [sensor]


def solved(
    mechanism: Mechanism, build: Callable[..., Any], solver: str, adaptive: bool, knob: float
) -> Callable[[], Any]:
    """A run; the knob is a tolerance or a step."""
    import exudyn as exu

    (container, system), sensors = build(mechanism)
    chosen = settings(mechanism)
    integration = chosen.timeIntegration
    integration.numberOfSteps = max(1, round(mechanism.t_end / knob))
    if adaptive:
        integration.numberOfSteps = 1
        integration.automaticStepSize = True
        integration.absoluteTolerance = integration.relativeTolerance = knob
        integration.minimumStepSize = 1e-12
        integration.initialStepSize = 1e-3 * mechanism.t_end
    else:
        integration.automaticStepSize = False
        integration.adaptiveStep = False
    kind = getattr(exu.DynamicSolverType, solver)

    def run() -> Any:
        if not system.SolveDynamic(chosen, solverType=kind, showHints=False):
            raise ArithmeticError(f"Exudyn's {solver} has stopped before the end")
        return container, system, sensors

    return run


def centres(result: Any) -> Array:
    """(n, 3) of the links, from the sensors."""
    _, system, sensors = result
    return np.array([system.GetSensorValues(s) for s in sensors])


def methods(mechanism: Mechanism) -> list[Method]:
    """Explicit with minimal coordinates, implicit with Euler parameters and constraints."""
    needed(PIP, ["exudyn"])
    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    hinges = functools.partial(solved, mechanism, tree)
    constrained = functools.partial(solved, mechanism, bodies)
    coarse = steps(1e-3 if isinstance(mechanism, LinkedBodies) else 1e-2, 1e-6)
    found = [
        Method("DOPRI5, three hinges a joint", functools.partial(hinges, "DOPRI5", True), centres, ADAPTIVE),
        Method("RK67, three hinges a joint", functools.partial(hinges, "RK67", False), centres, coarse),
        Method(
            "generalised alpha, Euler parameters",
            functools.partial(constrained, "GeneralizedAlpha", False),
            centres,
            coarse,
        ),
    ]
    if isinstance(mechanism, HeavyTop):
        held = functools.partial(solved, mechanism, pinned)
        found.append(
            Method("RK67, rotation vector, Lie group", functools.partial(held, "RK67", False), centres, coarse)
        )
        found.append(
            Method("RK44, rotation vector, Lie group", functools.partial(held, "RK44", False), centres, coarse)
        )
    return found


PEER = Peer("Exudyn", methods, packages=("exudyn",))
