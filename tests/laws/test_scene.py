"""A scene shows every mechanism as it moves: points of two bodies that a joint holds together are one."""

from __future__ import annotations

from functools import cache

import cases
import numpy as np
import pytest

import rbdae
from rbdae.joints import Coincidence, Distance
from rbdae.plotting import scene

# a state projected onto the constraints, rounding, and the drift of one short run
CLOSED = 1e-7
STEPS = 0.01  # of the time that a model is followed


@cache
def run(name: str) -> rbdae.Solution:
    entry = rbdae.models.MODELS[name]
    problem = rbdae.formulate(entry(), "index-0", redundant="minimum-norm" if name == "bricard" else "error")
    return rbdae.solve(problem, (0.0, STEPS * entry.t_end), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)


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


FORMS = [p for p in cases.PAIRINGS if p.formulation in ("index-0", "null-space", "hamiltonian-eliminated")]


@pytest.mark.parametrize("pairing", FORMS, ids=str)
def test_joint_points_meet_in_every_chart(pairing):
    problem = cases.formulate(cases.branched(), pairing)
    solution = rbdae.solve(problem, (0.0, 0.02), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)
    assert 0.0 < gaps(solution, np.linspace(0.0, 0.02, 5)) < CLOSED


@pytest.mark.parametrize("scale", [1e-3, 1e3])
def test_a_scene_has_no_size_of_its_own(scale):
    """A pendulum that is a thousand times longer, and slower by the root of it, has the same picture."""
    shown = []
    for length in (1.0, scale):
        system = rbdae.System()
        bob = system.add_body(
            "bob", mass=1.0, inertia=np.array((0.01, 0.02, 0.03)) * length**2, position=(length, 0, 0)
        )
        system.add_joint(rbdae.joints.Revolute(system.ground, bob, at_b=(-length, 0, 0), axis_a=(0, 1, 0), axis_b=None))
        t_end = 0.1 * length**0.5
        solution = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, t_end), solver="scipy:DOP853", rtol=1e-9)
        shown.append(scene(solution, [0.0, t_end]))
    small, large = shown
    assert np.allclose(small.plane, large.plane)
    for first, second in zip(small.lines, large.lines, strict=True):
        assert np.allclose(scale * first.points, second.points, rtol=0, atol=1e-6 * scale)


def test_plane_motion_is_found():
    plane = {name for name in rbdae.models.MODELS if scene(run(name), [0.0]).plane is not None}
    assert plane >= {"pendulum", "cv_pendulum", "n_four_bar", "andrews", "planar_slider_crank", "double_pendulum"}
    assert not plane & {"linked_bodies", "bricard", "spatial_slider_crank", "flyball_governor", "heavy_top"}
    for name in plane:
        right, up, eye = scene(run(name), [0.0]).plane
        assert np.allclose(np.cross(right, up), eye)
        assert up @ run(name).problem.system.gravity <= 1e-12


def test_bodies_and_traces_are_chosen():
    solution = run("andrews")
    some = scene(solution, [0.0], bodies=["K3"], traces=False)
    assert {line.name for line in some.lines if line.kind == "body"} == {"K3"}
    assert {line.name for line in some.lines if line.kind == "joint"} == {"B", "E3"}
    assert some.traces == {}
    assert list(scene(solution, [0.0], traces=["K5"]).traces) == ["K5"]
    with pytest.raises(ValueError, match=r"unknown body 'k3'; did you mean 'K3'"):
        scene(solution, [0.0], bodies=["k3"])
    with pytest.raises(TypeError, match=r"bodies must be a list of strings"):
        scene(solution, [0.0], bodies="K3")
    with pytest.raises(ValueError, match=r"outside of this run"):
        scene(solution, [1.0])
    with pytest.raises(ValueError, match=r"at least one time"):
        scene(solution, [])
