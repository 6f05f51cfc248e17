"""`solution(t)`: between its steps a run is as accurate as at its steps, whatever solver and form it had."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import cases
import inside
import numpy as np
import pytest
from inside import Mat, Vec

import rbdae
from rbdae.formulations import FORMULATIONS

END = 1.0

RUNS = [
    ("index-0", "quaternion", "angular", "scipy:DOP853", 1e-6),
    ("index-0", "quaternion", "angular", "scipy:DOP853", 1e-10),
    ("index-0", "directors", "coordinate", "scipy:RK45", 1e-7),
    ("index-1", "quaternion", "coordinate", "scikits.odes:ida", 1e-7),
    ("index-2", "quaternion", "angular", "assimulo:Radau5DAE", 1e-7),
    ("index-3", "quaternion", "coordinate", "sksundae:ida", 1e-6),
    ("ggl", "quaternion", "coordinate", "sksundae:ida", 1e-7),
    ("hiller-anantharaman", "quaternion", "angular", "sksundae:ida", 1e-7),
    ("null-space", "quaternion", "angular", "scipy:RK45", 1e-7),
    ("hamiltonian-eliminated", "quaternion", "momentum", "scipy:DOP853", 1e-8),
    ("index-0", "quaternion", "angular", "rbdae:dop853", 1e-6),
    ("null-space", "quaternion", "angular", "rbdae:dopri5", 1e-5),
]


@cache
def _reference() -> tuple[rbdae.Problem, rbdae.Solution]:
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    return problem, rbdae.solve(problem, (0.0, END), solver="scipy:DOP853", rtol=1e-13, atol=1e-13)


@cache
def _run(formulation: str, rotation: str, velocity: str, solver: str, tolerance: float, **more: Any) -> rbdae.Solution:
    cases.need(solver)
    problem = rbdae.formulate(rbdae.models.heavy_top(), formulation, rotation=rotation, velocity=velocity)
    out = rbdae.solve(problem, (0.0, END), solver=solver, rtol=tolerance, atol=tolerance, **more)
    assert out.success, out.message
    return out


def _natural(problem: rbdae.Problem, t: Vec, y: Mat) -> Mat:
    return problem.natural(t, y).reshape(len(t), -1)


def _errors(run: rbdae.Solution, exact: rbdae.Solution, t: Vec, y: Mat) -> Vec:
    """Of natural positions and velocities, in tolerances, the largest of each time."""
    wanted = _natural(exact.problem, t, exact(t))
    scale = run.rtol * (1.0 + np.abs(_natural(exact.problem, exact.t, exact.y)).max(axis=0))
    return (np.abs(_natural(run.problem, t, y) - wanted) / scale).max(axis=1)


def _between(run: rbdae.Solution, n: int) -> Vec:
    """Times inside of some steps of the run."""
    k = np.unique(np.linspace(0, len(run.t) - 2, n).astype(int))
    parts = np.array([0.13, 0.5, 0.81])
    return (run.t[k, None] + (run.t[k + 1] - run.t[k])[:, None] * parts).reshape(-1)


def _excess(run: rbdae.Solution, exact: rbdae.Solution, n: int = 12) -> float:
    """How much larger the error is inside of steps than at their ends, in tolerances."""
    t = _between(run, n)
    k = np.searchsorted(run.t, t)
    at_steps = _errors(run, exact, run.t, run.y)
    return float(np.max(_errors(run, exact, t, run(t)) - np.maximum(at_steps[k - 1], at_steps[k])))


@pytest.mark.parametrize("case", RUNS, ids=lambda c: "/".join(map(str, c)))
def test_between_steps_the_error_is_that_of_the_steps(case):
    """Measured: at most 0.3 tolerances more, or 0.01 of an error of many tolerances. A cubic through states and rates
    has 4e3 more in the first run and 4e5 in the second."""
    run = _run(*case)
    largest = _errors(run, _reference()[1], run.t, run.y).max()
    assert _excess(run, _reference()[1]) < 3.0 + 0.03 * largest


def test_a_driven_motion_between_steps():
    """Rates depend on time: with those of other times the polynomials are off by thousands of tolerances."""
    problem = rbdae.formulate(rbdae.models.driven_pendulum(frequency=30.0), "index-0")
    exact = rbdae.solve(problem, (0.0, 0.3), solver="scipy:DOP853", rtol=1e-13, atol=1e-13)
    run = rbdae.solve(problem, (0.0, 0.3), solver="scipy:RK45", rtol=1e-6, atol=1e-6)
    assert _excess(run, exact) < 3.0


def test_a_stiff_motion_between_steps():
    """Rates at the states are no guide there: the damper turns an error of a tolerance into 2e4 of them."""
    system = rbdae.System()
    a = system.add_body("a", mass=1, inertia=(0.1, 0.2, 0.25), position=(1, 0, 0), angular_velocity=(1, 2, 0.5))
    b = system.add_body("b", mass=1, inertia=(0.1, 0.2, 0.25), position=(2, 0, 0), velocity=(0, 1, 0))
    system.add_force(rbdae.forces.Bushing(system.ground, a, stiffness=1e6, damping=2e4, at_b=(-1, 0, 0)))
    system.add_joint(rbdae.joints.Spherical(a, b, at_a=(0.5, 0, 0), at_b=(-0.5, 0, 0)))
    problem = rbdae.formulate(system, "index-0")
    exact = rbdae.solve(problem, (0.0, 0.3), solver="scipy:Radau", rtol=1e-11, atol=1e-12)
    run = rbdae.solve(problem, (0.0, 0.3), solver="scipy:BDF", rtol=1e-5, atol=1e-5)
    assert len(run.t) < 200
    assert _excess(run, exact) < 10.0


# ---------------------------------------------------------------- which values


@pytest.mark.parametrize("case", [RUNS[0], RUNS[5], RUNS[7]], ids=lambda c: c[0])
def test_at_its_steps_it_is_what_was_recorded(case):
    run = _run(*case)
    d = run.problem.layout.n_differential
    assert np.array_equal(run(run.t)[:, :d], run.y[:, :d])
    if case[0] == "hiller-anantharaman":  # integrals of multipliers are recorded as well
        assert np.array_equal(run(run.t), run.y)


def test_output_times_change_nothing():
    """A run keeps its steps whatever its output times are; from the first step on, not from the first output."""
    case = RUNS[1]
    wanted = _run(*case)
    run = rbdae.solve(wanted.problem, (0.0, END), solver=case[3], rtol=case[4], atol=case[4], t_eval=[0.5, 0.9])
    assert len(run.t) == 2 and run.options["t_eval"] == "2 times"
    assert np.array_equal(run.steps.t, wanted.t) and run.stats.steps == len(wanted.t) - 1
    assert np.array_equal(run.steps.y, wanted.y) and np.array_equal(run.dense.steps, wanted.t)
    t = np.linspace(0.0, END, 31)
    assert np.array_equal(run(t), wanted(t))
    assert np.abs(run(run.t) - run.y).max() < 10 * case[4]


def test_multipliers_belong_to_positions_and_velocities():
    for case in RUNS[5:7]:
        run = _run(*case)
        layout = run.problem.layout
        t = np.concatenate([_between(run, 3), run.t[:3]])
        y = run(t)
        assert np.array_equal(y[:, layout.la], run.problem.rates(t, y)[1])
        assert not y[:, layout.mu].any()


def test_rates_are_those_of_the_equations():
    """The derivative of the dense output satisfies the residual, at steps and between them."""
    for case in (RUNS[0], RUNS[4], RUNS[7], RUNS[8]):
        run = _run(*case)
        layout = run.problem.layout
        d = layout.n_differential if case[0] != "hiller-anantharaman" else layout.la.stop
        h = 1e-4
        for t in np.append(_between(run, 6)[6:-3], run.t[len(run.t) // 2]):
            y, around = run(t), run(t + h * np.array([-2.0, -1.0, 1.0, 2.0]))
            yd = np.zeros(run.problem.n)
            yd[:d] = ((around[0] - around[3]) + 8.0 * (around[2] - around[1]))[:d] / (12.0 * h)
            assert np.abs(yd[: layout.v.stop] - run.problem.rates(t, y)[0]).max() < 1e-2
            size = 1.0 + np.abs(run.problem.rates(t, y)[1]).max(initial=0.0)
            assert np.abs(run.problem.residual(t, y, yd)).max() < 1e-3 * size


def test_quaternions_have_the_norms_of_the_steps():
    case = RUNS[1]
    run = _run(*case, projection=True)
    t = _between(run, 10)
    norms, ends = (np.linalg.norm(y[:, :4], axis=1) for y in (run(t), run.y))  # of a body with a pivot
    assert ends.min() - 4e-16 < norms.min() and norms.max() < ends.max() + 4e-16
    assert np.abs(norms - 1.0).max() < 1e-13


def test_the_order_of_asking_changes_nothing():
    case = RUNS[0]
    run = _run(*case)
    t = _between(run, 6)
    wanted = run(t)
    other = rbdae.solve(run.problem, (0.0, END), solver=case[3], rtol=case[4], atol=case[4])
    one_by_one = np.array([other(s) for s in t[::-1]])[::-1]
    assert np.abs(one_by_one - wanted).max() < 1e-14
    assert np.array_equal(other(t), wanted)
    assert np.array_equal(run(t), wanted)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_every_form_with_a_joint_has_its_multipliers_between_steps(formulation):
    """Unit norms and joint rows are in it, so that what is among the unknowns has its place; those of the kinematic
    correction are zero. Then the residual holds there, too."""
    velocity = FORMULATIONS[formulation].velocities[-1]
    system, chart = rbdae.models.linked_bodies(), {"rotation": "quaternion", "velocity": velocity}
    problem = rbdae.formulate(system, formulation, **chart)
    # no solver takes this one: the states of another form with the same unknowns
    solved = rbdae.formulate(system, "index-1", **chart) if formulation == "overdetermined-1" else problem
    solver = {"ode": "scipy:DOP853", "dae": "sksundae:ida", "overdetermined": "assimulo:ODASSL"}[solved.kind]
    cases.need(solver)
    run = rbdae.solve(solved, (0.0, 0.02), solver=solver, rtol=1e-7, atol=1e-7)
    assert run.success, run.message
    run = replace(run, problem=problem)
    t = _between(run, 3)
    y, layout = run(t), problem.layout
    yd = np.zeros_like(y)
    rates, la = problem.rates(t, y)
    yd[:, : layout.n_differential] = rates
    if FORMULATIONS[formulation].multipliers == "values":
        hidden = layout.n_hidden  # unit norms of projected forms: zero, and rounding by elimination
        assert np.array_equal(problem.run_multipliers(t, y)[:, hidden:], la[:, hidden:])
    elif FORMULATIONS[formulation].multipliers == "integrals":
        yd[:, layout.la] = la
    else:
        assert layout.la.stop == layout.la.start
    size = np.abs(problem.matrices(0.0, y[0]).psi).max()
    for time, state, rate in zip(t, y, yd, strict=True):
        assert np.abs(problem.residual(time, state, rate)).max() < 1e-4 * size
    assert np.isfinite(run.energy.balance).all()


# ---------------------------------------------------------------- changes of selection


def test_a_change_of_selection_has_two_sides():
    """Before it y has the old unknowns, from it on the new ones; the motion is one."""
    problem = rbdae.formulate(rbdae.models.bricard(), "null-space", redundant="minimum-norm")
    problem = inside.dropping(problem, (16,))  # which is needed from 1 s on
    run = rbdae.solve(problem, (0.0, 1.6), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)
    assert run.success and inside.segment_times(run)
    exact = rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")
    exact = rbdae.solve(exact, (0.0, 1.6), solver="scipy:DOP853", rtol=1e-11, atol=1e-11)
    assert _excess(run, exact, 40) < 10.0
    for t in inside.segment_times(run):
        sides = np.array([np.nextafter(t, 0.0), t])
        y = run(sides)
        Z = _natural(run.problem, sides, y)
        assert np.abs(Z[1] - Z[0]).max() < 1e-7
        k = int(np.searchsorted(run.t, t))
        assert run.t[k] == t and np.array_equal(y[1], run.y[k])
        assert np.array_equal(run.problem_at(t).natural(t, y[1]).reshape(-1), Z[1])


def test_a_projected_run_is_projected_between_steps():
    run = _run("index-0", "quaternion", "angular", "scipy:RK45", 1e-5, t_eval=(0.0, 1.0))
    t = run.dense.steps
    assert len(t) > len(run.t)
    drift, rest = (np.abs(s.problem.constraints(t, s(t)).position).max() for s in (run, run.projected()))
    assert rest < 1e-13 < 1e-8 < drift


# ---------------------------------------------------------------- what cannot be asked


def test_times_outside_of_the_run_are_refused(tmp_path):
    run = _run(*RUNS[0])
    assert run(0.5).shape == (run.problem.n,) and run([0.5]).shape == (1, run.problem.n)
    assert run([]).shape == (0, run.problem.n)
    for t in (-1e-9, 1.0 + 1e-9):
        with pytest.raises(ValueError, match=r"t = .* is outside of this run; give times from 0.0 to 1.0"):
            run(t)
    with pytest.raises(ValueError, match=r"rbdae.load\(path, problem\)"):
        rbdae.load(run.save(tmp_path / "run"))(0.5)
