"""Inputs of runs: numbers, functions of the time and tables, against closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from input_systems import pendulum

import rbdae

INERTIA, RATE = 0.3 + 1.5, 0.3
"""About the pin, and the angular velocity at the start: without weight the torque is all there is."""

T, V = np.array([-1.0, 0.4, 0.9, 1.3]), np.array([0.5, -2.0, 3.0, 1.0])

FORMS = [
    ("index-0", "rbdae:dop853"),
    ("index-0", "scipy:RK45"),
    ("null-space", "sundials:cvode"),
    ("index-2", "sundials:ida"),
    ("index-2", "solve_dae:Radau"),
]


def problem(form="index-0"):
    return rbdae.formulate(pendulum(fan=False, weight=False), form)


def rates_of_steps(t):
    """The angular velocity under V from T on, by the lengths of the steps."""
    first, last = np.maximum(T, 0.0), np.append(T[1:], 9.0)
    lengths = np.clip(np.asarray(t)[..., None] - first, 0.0, last - first)
    return RATE + lengths @ V / INERTIA


def angular_velocity(solution):
    return solution.states["bob"].angular_velocity[:, 0]


@pytest.mark.parametrize(("form", "solver"), FORMS)
def test_steps_of_inputs_cut_a_run(form, solver):
    options = {"solver": solver, "rtol": 1e-8, "atol": 1e-8, "inputs": {"torque": (T, V, "previous")}}
    solution = rbdae.solve(problem(form), (0.0, 2.0), **options)
    assert solution.success, solution.message
    assert set(T[1:]) <= set(solution.t)
    assert len(np.unique(solution.t)) == len(solution.t)
    assert solution.stats.restarts >= 3
    np.testing.assert_allclose(angular_velocity(solution), rates_of_steps(solution.t), rtol=0, atol=1.2e-6)
    found = [solution.problem_at(t).inputs["torque"] for t in (0.0, 0.399, 0.4, 1.0, 2.0)]
    assert found == [0.5, 0.5, -2.0, 3.0, 1.0]
    wanted = np.array([0.1, 0.4, 0.65, 2.0])
    for keeps in (True, False):
        rows = rbdae.solve(problem(form), (0.0, 2.0), t_eval=wanted, dense_output=keeps, **options)
        np.testing.assert_array_equal(rows.t, wanted)
        np.testing.assert_allclose(angular_velocity(rows), rates_of_steps(wanted), rtol=0, atol=1.2e-6)
    between = solution.problem.states(wanted, solution(wanted))["bob"].angular_velocity[:, 0]
    np.testing.assert_allclose(between, rates_of_steps(wanted), rtol=0, atol=1.2e-6)


def test_steps_of_inputs_backward_and_in_a_file(tmp_path):
    """The torque is that before a step on the way back; segments come back with their inputs."""
    inputs = {"torque": rbdae.Table(T, V, "previous")}
    options = {"solver": "rbdae:dop853", "rtol": 1e-10, "atol": 1e-10, "inputs": inputs}
    p = problem()
    there = rbdae.solve(p, (0.0, 2.0), **options)
    end = p.at(2.0, there.y[-1])
    back = rbdae.solve(end, (2.0, 0.0), **options)
    np.testing.assert_allclose(back.y[-1], p.y0, rtol=0, atol=1e-8)
    assert [back.problem_at(t).inputs["torque"] for t in (1.31, 1.3, 0.91, 0.9, 0.1)] == [1.0, 3.0, 3.0, -2.0, 0.5]
    read = rbdae.load(back.save(tmp_path / "run.npz"), end)
    assert [read.problem_at(t).inputs for t in (1.0, 0.1)] == [{"torque": 3.0}, {"torque": 0.5}]
    np.testing.assert_array_equal(read(1.1), back(1.1))


@pytest.mark.parametrize(
    "given, impulse",
    [
        (2.0, lambda t: 2.0 * t),
        (lambda t: np.cos(3.0 * t), lambda t: np.sin(3.0 * t) / 3.0),
        (([0.0, 1.0, 2.0], [0.0, 2.0, 2.0]), lambda t: np.where(t < 1.0, t**2, 2.0 * t - 1.0)),
        (rbdae.Table([0, 1, 2, 3], [0, 1, 4, 9], "cubic"), lambda t: t**3 / 3.0),
    ],
    ids=["number", "function", "lines", "spline"],
)
def test_inputs_over_a_run(given, impulse):
    p = problem()
    solution = rbdae.solve(p, (0.0, 2.0), solver="rbdae:dop853", rtol=1e-10, atol=1e-10, inputs={"torque": given})
    wanted = RATE + impulse(solution.t) / INERTIA
    np.testing.assert_allclose(angular_velocity(solution), wanted, rtol=0, atol=1e-8)
    assert p.inputs == {"torque": 0.5}
    assert np.abs(solution.energy.work).max() > 0.05
    assert np.abs(solution.energy.balance).max() < 1e-8
