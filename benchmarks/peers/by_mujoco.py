"""MuJoCo: ball joints and its Runge-Kutta method of order 4 with fixed steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .mechanisms import Array, Chain, LinkedBodies, Mechanism
from .method import PIP, Method, Peer, needed, steps
from .trees import Link, gravity, links

LARGEST = 100
"""Links of a chain: its trees cost more than O(n)."""


def written(numbers: Array) -> str:
    """Numbers of its XML files, none rounded."""
    return " ".join(repr(float(x)) for x in numbers)


def model(mechanism: Mechanism, step: float) -> Any:
    """The model; a free body is on three slides with springs and a ball joint."""
    import mujoco

    def body(k: int, link: Link) -> str:
        joints = "".join(
            f'<joint type="slide" axis="{axis}" stiffness="{link.stiffness!r}"/>'
            for axis in ("1 0 0", "0 1 0", "0 0 1")
        )
        inertial = f'pos="{written(link.centre)}" mass="{link.mass!r}" diaginertia="{written(link.inertia)}"'
        inner = "".join(body(i, other) for i, other in enumerate(all_links) if other.parent == k)
        at = np.zeros(3) if link.free else link.at
        own = f'<inertial {inertial}/>{joints if link.free else ""}<joint type="ball"/>'
        return f'<body name="{k}" pos="{written(at)}">{own}{inner}</body>'

    all_links = links(mechanism)
    roots = "".join(body(k, link) for k, link in enumerate(all_links) if link.parent < 0)
    option = f'timestep="{step!r}" integrator="RK4" gravity="{written(gravity(mechanism))}"'
    flags = '<flag contact="disable" constraint="disable" energy="disable"/>'
    head = f'<compiler inertiafromgeom="false"/><option {option}>{flags}</option>'
    return mujoco.MjModel.from_xml_string(f"<mujoco>{head}<worldbody>{roots}</worldbody></mujoco>")


def start(mechanism: Mechanism) -> tuple[Array, Array]:
    """qpos and qvel: of ball joints the quaternion, and the angular velocity in the link's frame."""
    q, v = [], []
    for link in links(mechanism):
        if link.free and link.velocity is not None:
            q.append(link.at)
            v.append(link.velocity)
        q.append(link.rotation.as_quat(scalar_first=True))
        v.append(link.spin)
    return np.concatenate(q), np.concatenate(v)


def stepped(mechanism: Mechanism, step: float) -> Callable[[], Any]:
    """A run with fixed steps."""
    import mujoco

    n = max(1, round(mechanism.t_end / step))
    made = model(mechanism, mechanism.t_end / n)
    data = mujoco.MjData(made)
    q, v = start(mechanism)

    def run() -> Any:
        mujoco.mj_resetData(made, data)
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_step(made, data, nstep=n)
        return made, data

    return run


def centres(result: Any) -> Array:
    """(n, 3) of the bodies."""
    import mujoco

    made, data = result
    mujoco.mj_kinematics(made, data)
    mujoco.mj_comPos(made, data)
    return np.array(data.xipos[1:])


def methods(mechanism: Mechanism) -> list[Method]:
    """Its Runge-Kutta method."""
    needed(PIP, ["mujoco"])
    if isinstance(mechanism, Chain) and mechanism.n > LARGEST:
        return []
    coarse = 2e-3 if isinstance(mechanism, LinkedBodies) else 2e-2
    return [Method("RK4, fixed steps", lambda knob: stepped(mechanism, knob), centres, steps(coarse, 1e-6))]


PEER = Peer("MuJoCo", methods, packages=("mujoco",))
