"""solve_dae on the toy pendulum at every index."""

from __future__ import annotations

import os

import numpy as np
import pytest
import toy
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Unsupported

if "CI" not in os.environ:
    pytest.importorskip("solve_dae")

METHODS = ["Radau", "BDF"]


def solve(problem, method, t_end=2.0, tol=1e-10, **arguments):
    return rbdae.solve(problem, (0.0, t_end), solver=f"solve_dae:{method}", rtol=tol, atol=tol, **arguments)


def test_radau_does_not_stagnate_on_a_fast_top():
    """What Newton's iteration left added up: 4e-9 here, more than at a tolerance of 1e-8."""
    system = rbdae.models.heavy_top()
    problem, other = (rbdae.formulate(system, form, velocity="coordinate") for form in ("index-2", "index-0"))
    run = solve(problem, "Radau", 0.5)
    exact = rbdae.solve(other, (0.0, 0.5), solver="scipy:DOP853", rtol=1e-12, atol=1e-12)
    apart = problem.natural(0.5, run.y[-1])[:, :12] - other.natural(0.5, exact.y[-1])[:, :12]
    assert np.abs(apart).max() < 1e-10


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rotation, tol", [("directors", 1e-8), ("quaternion", 1e-10)])
def test_a_top_of_500_radians_a_second_in_momenta_with_both_constraints(method, rotation, tol):
    """It stopped at its first step, of 1.9e-254 s: at every tolerance with directors, at 1e-10 with quaternions."""
    system = rbdae.models.heavy_top(angular_velocity=(0.0, 0.0, 500.0))
    problem = rbdae.formulate(system, "hamiltonian-ggl", rotation=rotation, velocity="momentum")
    run = solve(problem, method, 0.01, tol)
    assert run.success, run.message
    other = rbdae.formulate(system, "index-0")
    exact = rbdae.solve(other, (0.0, 0.01), solver="rbdae:dop853", rtol=1e-12, atol=1e-12)
    apart = problem.natural(0.01, run.y[-1])[:, :12] - other.natural(0.01, exact.y[-1])[:, :12]
    assert np.abs(apart).max() < 5e3 * tol


@pytest.mark.parametrize("form", ["index-3", "index-2"])
def test_radau_leaves_no_rest_that_is_lost_in_rounding(form):
    """A rest of 1.5e-7 s at index 3 ended a run of a random model: "Required step size is less than spacing"."""
    problem = toy.Pendulum(form)
    before = solve(problem, "Radau", tol=1e-7)
    for t in before.t[4:12]:
        solution = solve(problem, "Radau", t_end=t + 1e-7, tol=1e-7)
        assert solution.success, solution.message
        *_, one, last = np.diff(solution.t)
        assert last > 0.3 * one


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("form", ["index-3", "index-2", "index-1", "ggl", "hiller-anantharaman", "hamiltonian-ggl"])
def test_a_motion_that_is_prescribed_altogether(form, method):
    """An actuator of constant speed in a tilted frame, where no unknown accelerates: solvers stopped at 4e-255 s at
    1e-10, or raised."""
    turn, speed = Rotation.from_rotvec((0.0, 0.25 * np.pi, 0.0)), 0.5
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    velocity = turn.apply((0.0, 0.0, speed))
    body = system.add_body(
        "b", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0, 0, 0), orientation=turn, velocity=velocity
    )
    axis = turn.apply((0.0, 0.0, 1.0))
    slide = system.add_joint(rbdae.joints.Prismatic(system.ground, body, axis_a=axis, axis_b=(0, 0, 1)))
    law = (lambda t: speed * t, lambda t: speed, lambda t: 0.0)
    drive = system.add_joint(rbdae.drives.PrescribedDisplacement(slide, law))
    run = solve(rbdae.formulate(system, form), method, 0.5)
    assert run.success, run.message
    assert np.abs(run.states["b"].position[-1] - 0.5 * velocity).max() < 1e-9
    # the actuator carries the weight along the axis
    held = run.reactions[drive.name]["b"].force[-1]
    assert abs(abs(held @ axis) - 9.81 * axis[2]) < 1e-5


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("sparse", [False, True])
def test_our_jacobians_are_called(method, sparse):
    problem = toy.Pendulum("index-2")
    solution = solve(problem, method, tol=1e-7, sparse=sparse)
    called, other = ("jacobian_data", "jacobian") if sparse else ("jacobian", "jacobian_data")
    # One pair of matrices takes two calls of ours; finite differences would show as residuals.
    assert problem.calls[called] == 2 * solution.stats.jacobians > 0
    assert problem.calls[other] == 0
    assert problem.calls["residual"] == solution.stats.evaluations


def test_options_reach_the_package_and_unknown_ones_are_refused():
    higher = solve(toy.Pendulum("index-2"), "Radau", stages=5)
    assert higher.stats.steps < 0.6 * solve(toy.Pendulum("index-2"), "Radau").stats.steps
    with pytest.raises(Unsupported, match=r"option of .* 'stages'.*max_order"):
        solve(toy.Pendulum("index-2"), "BDF", stages=5)


@pytest.mark.parametrize("form", ["index-1", "index-0"])
def test_a_rounding_of_the_time_is_no_step(form):
    """Ten steps of 0.1 end one rounding before 1: the last step of 1e-16 s could fail, and with it the run."""
    solution = solve(toy.Pendulum(form), "Radau", 1.0, 1e-2, first_step=0.1, max_step=0.1)
    assert solution.success, solution.message
    assert solution.t[-1] == 1.0
    assert np.diff(solution.t).min() > 0.05
