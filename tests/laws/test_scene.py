"""A scene shows every mechanism as it moves: points of two bodies that a joint holds together are one."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import cases
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Coincidence, Cylindrical, Distance, Prismatic, Screw
from rbdae.show import Scene, scene

# a state projected onto the constraints, rounding, and the drift of one short run
CLOSED = 1e-7
STEPS = {"flyball_governor": 1e-4, "andrews": 1e-3}  # of the time that a model is followed; of the others 0.01


@cache
def run(name: str) -> rbdae.Solution:
    entry = rbdae.models.MODELS[name]
    problem = rbdae.formulate(entry(), "index-0", redundant="minimum-norm" if name == "bricard" else "error")
    return rbdae.solve(problem, (0.0, STEPS.get(name, 0.01) * entry.t_end), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)


def gaps(solution: rbdae.Solution, times: np.ndarray) -> float:
    """The largest distance of points that joints hold together, and deviation of a rod's length, by the size."""
    system = solution.problem.system
    worst = 0.0
    for joint in system.joints:
        parts = joint.primitives()
        if joint.rheonomic() is not None or not isinstance(parts[0], (Coincidence, Distance)):
            continue
        ends = {}
        for side, (body, point) in enumerate(zip(joint.bodies, (joint.at_a, joint.at_b), strict=True)):
            if body is system.ground:
                ends[side] = np.broadcast_to(point, (len(times), 3))
            else:
                ends[side] = scene(solution, times, traces={"end": (body.name, point)}).traces["end"]
        distance = np.linalg.norm(ends[1] - ends[0], axis=1)
        wanted = np.sqrt(2.0 * parts[0].offset[0]) if isinstance(parts[0], Distance) else 0.0
        worst = max(worst, np.abs(distance - wanted).max() / (scene(solution, times).size / 0.03))
    return worst


@pytest.mark.parametrize("name", list(rbdae.models.MODELS))
def test_every_model_has_a_scene(name):
    solution = run(name)
    times = np.linspace(solution.t[0], solution.t[-1], 7)
    shown = scene(solution, times)
    system = solution.problem.system
    assert {line.name for line in shown.lines if line.kind == "body"} == {body.name for body in system.bodies}
    assert {joint.name for joint in system.joints} <= {line.name for line in shown.lines}
    for line in shown.lines:
        assert line.points.shape == (7, line.points.shape[1], 3) and line.points.shape[1] >= 2
        assert np.isfinite(line.points).all()
    assert gaps(solution, times) < CLOSED
    # traces are the centres of mass
    states = solution.problem.states(times, solution(times))
    assert all(np.allclose(shown.traces[name], state.center_of_mass) for name, state in states.items())


def test_plane_motion_is_found():
    plane = {name for name in rbdae.models.MODELS if scene(run(name), [0.0]).plane is not None}
    assert plane >= {"pendulum", "cv_pendulum", "n_four_bar", "andrews", "planar_slider_crank", "double_pendulum"}
    assert not plane & {"linked_bodies", "bricard", "spatial_slider_crank", "heavy_top"}
    for name in plane:
        right, up, eye = scene(run(name), [0.0]).plane
        assert np.allclose(np.cross(right, up), eye)
        assert up @ run(name).problem.system.gravity <= 1e-12


# ---------------------------------------------------------------- every joint, drive and force, where it stands


def at_start(system: rbdae.System) -> SimpleNamespace:
    """The start of a problem, as a run of one point."""
    problem = rbdae.formulate(system, "index-0", redundant="minimum-norm", consistent="project")
    return SimpleNamespace(problem=problem, t=np.array([problem.t0]), y=problem.y0[None])


def of(shown: Scene, name: str, kind: str) -> list[np.ndarray]:
    return [line.points[0] for line in shown.lines if line.name == name and line.kind == kind]


def place(start: SimpleNamespace, body: rbdae.body.Body, point: np.ndarray) -> np.ndarray:
    if body is start.problem.system.ground:
        return np.array(point)
    state = start.problem.states(start.t[0], start.y[0])[body.name]
    return state.position + state.orientation.apply(np.array(point))


@pytest.mark.parametrize("kind", [*cases.JOINTS, *cases.TOY_JOINTS])
def test_every_joint_is_drawn_where_it_is(kind):
    start = at_start(cases.jointed(kind))
    shown = scene(start, start.t)
    for joint in start.problem.system.joints:
        lines = of(shown, joint.name, "joint")
        assert lines
        ends = place(start, joint.a, joint.at_a), place(start, joint.b, joint.at_b)
        if kind == "rod":
            assert any(np.allclose(line, ends) for line in lines)
        # something of it is at the point of b, for a sleeve on a rail at that of the body which is not the rail, and no
        # symbol is larger than four of its size, but for the rail
        points = np.concatenate(lines)
        near = [np.linalg.norm(points - end, axis=1).min() for end in ends]
        assert (min(near) if isinstance(joint, Cylindrical | Prismatic | Screw) else near[1]) < 1.1 * shown.size
        apart = np.linalg.norm(ends[1] - ends[0])
        assert np.linalg.norm(points - ends[1], axis=1).max() < 2 * apart + 4 * shown.size


def test_every_drive_is_drawn_between_its_points():
    start = at_start(cases.driven())
    shown = scene(start, start.t)
    drives = [joint for joint in start.problem.system.joints if joint.rheonomic() is not None]
    assert len(drives) == 4
    for drive in drives:
        (line,) = of(shown, drive.name, "drive")
        p, q = place(start, drive.a, drive.at_a), place(start, drive.b, drive.at_b)
        if drive.name == "motor":
            assert np.linalg.norm(line - q, axis=1).max() < 2 * shown.size
        else:
            first, last = (q, p) if drive.name == "guide" else (p, q)
            assert np.allclose(line[0], first) and np.allclose(line[1], last)


def test_a_free_body_is_the_cuboid_of_its_inertia():
    edges, turn = np.array((1.0, 2.0, 3.0)), Rotation.from_rotvec((0.4, -0.3, 0.8))
    axes = Rotation.from_rotvec((-0.5, 0.2, 0.1)).as_matrix()  # of inertia, in the body frame
    moments = 5.0 / 12.0 * (edges @ edges - edges**2)
    system = rbdae.System()
    center = np.array((0.1, -0.2, 0.3))
    system.add_body(
        "brick",
        mass=5.0,
        inertia=axes @ np.diag(moments) @ axes.T,
        center_of_mass=center,
        position=(7, 8, 9),
        orientation=turn,
    )
    start = at_start(system)
    (box,) = of(scene(start, start.t), "brick", "body")
    corners = turn.inv().apply(box - (7, 8, 9)) - center
    assert np.allclose(np.abs(corners @ axes), 0.5 * edges)
    assert len(np.unique(np.sign(corners @ axes), axis=0)) == 8


def test_up_is_against_gravity_also_where_the_motion_is_level():
    """A camera stands upright beside a level motion, whose own up is an axis of the plane."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    arm = system.add_body("arm", mass=1.0, inertia=(0.1, 0.2, 0.2), position=(0.5, 0, 0), angular_velocity=(0, 0, 2.0))
    system.add_joint(rbdae.joints.Revolute(system.ground, arm, at_b=(-0.5, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 1.0))
    shown = scene(solution, [0.0, 1.0])
    assert shown.plane is not None and abs(shown.plane[1] @ shown.up) < 1e-12
    np.testing.assert_allclose(shown.up, (0.0, 0.0, 1.0), atol=1e-12)
