"""`solution.energy.balance`: the change of energy minus the work of what has no potential, which is the run's error."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from typing import Any

import cases
import force_cases
import numpy as np
import pytest
import toy

import rbdae
from rbdae import study
from rbdae.forces import Bushing, Motor, TorsionalSpringDamper
from rbdae.joints import Revolute

TOLERANCE = 1e-9


def _run(system: rbdae.System, form: str = "index-0", *, end: float = 0.5, solver: str = "scipy:DOP853", **more: Any):
    cases.need(solver)
    where = {key: more.pop(key) for key in ("rotation", "velocity", "t0") if key in more}
    problem = rbdae.formulate(system, form, **where, consistent="project")
    tolerance = more.pop("tolerance", TOLERANCE)
    span = (problem.t0, problem.t0 + end)
    out = rbdae.solve(problem, span, solver=solver, rtol=tolerance, atol=tolerance, **more)
    assert out.success, out.message
    return out


def _size(run: rbdae.Solution) -> float:
    return float(run.energy.kinetic.max() + np.ptp(run.energy.potential))


@pytest.mark.parametrize("kind", [kind for kind in force_cases.FORCES if kind != "torsion"])
def test_every_force_is_in_balance(kind):
    """Measured: at most 3 tolerances of the energy, where the energy changes by 1e5 of them and more."""
    run = _run(force_cases.system_of(kind, jointed=True), end=0.2)
    energy = run.energy
    assert np.abs(energy.balance).max() < 30 * TOLERANCE * _size(run)
    work = np.abs(energy.work).max()
    assert work == 0.0 if kind == "spring" else work > 1e-4 * _size(run)
    assert np.array_equal(energy.balance, energy.total - energy.total[0] - energy.work)
    assert energy.balance[0] == energy.work[0] == 0.0


@pytest.mark.parametrize(
    "form, rotation, velocity, solver, most",
    [
        ("index-0", "bryant-321", "angular", "scipy:DOP853", 30),
        ("null-space", "quaternion", "angular", "scipy:DOP853", 30),
        ("hamiltonian-eliminated", "directors", "momentum", "scipy:DOP853", 30),
        ("index-1", "directors", "coordinate", "scikits.odes:ida", 1e3),
        ("index-3", "quaternion", "coordinate", "assimulo:Radau5DAE", 1e3),
        ("hiller-anantharaman", "quaternion", "angular", "sksundae:ida", 1e3),
    ],
)
def test_drives_are_in_balance_in_every_form(form, rotation, velocity, solver, most):
    """The energy changes by the work of the drives: a wrong sign, or multipliers of another scale, would double it."""
    more = {"rotation": rotation, "velocity": velocity, "solver": solver}
    run = _run(rbdae.models.driven_pendulum(), form, tolerance=1e-8, **more)
    assert np.ptp(run.energy.work) > 0.05 * _size(run)
    assert np.abs(run.energy.balance).max() < most * 1e-8 * _size(run)


def test_every_kind_of_drive_is_in_balance():
    run = _run(cases.driven(), t0=0.3)
    assert np.ptp(run.energy.work) > 0.1 * _size(run)
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


def test_forces_with_internal_states_are_in_balance():
    run = _run(cases.STATE_SYSTEMS["struts"](), end=0.2)
    assert np.ptp(run.energy.work) > 0.01 * _size(run)
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


# ---------------------------------------------------------------- closed forms


def _wheel(**load: Any) -> rbdae.System:
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    wheel = system.add_body("wheel", mass=1.0, inertia=(1.0, 1.0, 2.0), angular_velocity=(0.0, 0.0, 3.0))
    axle = system.add_joint(Revolute(system.ground, wheel, axis_a=(0, 0, 1), axis_b=(0, 0, 1)))
    if "torque" in load:
        system.add_force(Motor(axle, torque=load["torque"]))
    else:
        system.add_force(Bushing(wheel, stiffness=0.0, rotational_damping=load["damping"]))
    return system


def test_a_motor_does_torque_times_angle():
    """W = M (3 t + M t^2 / 4) for J = 2."""
    run = _run(_wheel(torque=1.5), end=2.0)
    t = run.t
    np.testing.assert_allclose(run.energy.work, 1.5 * (3.0 * t + 1.5 * t * t / 4.0), rtol=1e-8, atol=1e-9)


def test_a_torsional_spring_with_damping_is_in_balance():
    """Through more than one turn."""
    system = _wheel(damping=(0.0, 0.0, 0.3))
    (axle,) = system.joints
    system.add_force(TorsionalSpringDamper(axle, stiffness=0.2, damping=0.1, torque=lambda t: np.sin(t)))
    run = _run(system, end=5.0)
    assert run.y[:, -1].max() > 7.0
    assert np.ptp(run.energy.work) > 0.02 * _size(run)
    assert np.abs(run.energy.balance).max() < 30 * TOLERANCE * _size(run)


def test_a_torque_with_a_jump_is_integrated():
    """On for half a second: the steps that meet the jump are no obstacle."""
    run = _run(_wheel(torque=lambda t: 2.0 * float(t < 0.5)), end=1.0, tolerance=1e-7)
    np.testing.assert_allclose(run.energy.work[-1], 2.0 * (1.5 + 0.125), rtol=1e-5)


def test_output_times_and_files_change_nothing(tmp_path):
    whole = _run(rbdae.models.driven_pendulum(), solver="scipy:RK45")
    run = _run(rbdae.models.driven_pendulum(), solver="scipy:RK45", t_eval=[0.11, 0.23, 0.5])
    k = np.argmin(np.abs(whole.t - 0.5))
    bound = 10 * TOLERANCE * _size(whole)
    first = np.interp(0.11, whole.t, whole.energy.balance)
    assert abs(run.energy.balance[-1] - (whole.energy.balance[k] - first)) < bound
    assert run.energy.balance[0] == 0.0 and run.energy.work.shape == (3,)
    again = rbdae.load(run.save(tmp_path / "run"), run.problem)
    assert np.array_equal(again.energy.balance, run.energy.balance)


# ---------------------------------------------------------------- what it sees


@cache
def _driven() -> rbdae.Solution:
    return _run(rbdae.models.driven_pendulum())


def test_it_sees_energy_that_comes_from_nowhere():
    """A jump of the velocities by a part in a million between two runs that are read as one."""
    run = _driven()
    y = run.y.copy()
    half = len(y) // 2
    y[half:, run.problem.layout.v] *= 1.0 + 1e-6
    kinetic = run.energy.kinetic
    balance = replace(run, y=y).energy.balance
    jump = 2e-6 * kinetic[half]
    assert abs(balance[half] - jump) < 0.1 * jump
    assert np.abs(balance[: half - 1]).max() < 0.01 * jump


def test_the_study_reports_it():
    """A driven mechanism has no energy error, although its energy changes."""
    system = rbdae.models.driven_pendulum()
    chosen = {"formulations": ["index-0"], "rotations": ["quaternion"], "solvers": ["scipy:DOP853"]}
    found = study.compare(system, 0.5, velocities=["angular"], tolerances=[1e-8], **chosen)
    (row,) = found.rows
    assert 0.0 < row.energy_error < 1e-6


def test_energies_alone_can_be_pickled():
    energy = _driven().energy
    again = pickle.loads(pickle.dumps(energy))
    for name in ("kinetic", "potential", "total", "work", "balance"):
        assert np.array_equal(getattr(again, name), getattr(energy, name))


def test_a_problem_that_does_not_know_its_forces_is_refused_by_name():
    run = rbdae.solve(toy.Pendulum(), (0.0, 0.1), solver="scipy:RK45")
    assert run.energy.total.shape == run.t.shape
    with pytest.raises(TypeError, match=r"only a rbdae.Problem knows the work .* not <toy.Pendulum"):
        _ = run.energy.balance
