"""Names that do not exist are answered with those that do, and what is forgotten in a call with a word."""

from __future__ import annotations

import copy
import pickle
from typing import get_args, get_type_hints

import numpy as np
import pytest

import rbdae
from rbdae.adapter import Unsupported
from rbdae.formulations.table import FORMULATIONS, SPELLINGS, FormulationName, VelocityName
from rbdae.rotations import CHARTS
from rbdae.rotations.chart import RotationName

LAW = (lambda t: t, lambda t: 1.0, lambda t: 0.0)


@pytest.fixture(scope="module")
def problem() -> rbdae.Problem:
    return rbdae.formulate(rbdae.models.pendulum(), "index-0")


@pytest.fixture(scope="module")
def solution(problem: rbdae.Problem) -> rbdae.Solution:
    return rbdae.solve(problem, (0.0, 0.1), t_eval=[0.0, 0.1])


def test_joints_and_forces_are_told_apart():
    system = rbdae.models.pendulum()
    hinge = system.joints[0]
    with pytest.raises(TypeError, match=r"add_force takes a force .* got PrescribedAngle.*add_joint"):
        system.add_force(rbdae.drives.PrescribedAngle(hinge, LAW))
    with pytest.raises(TypeError, match=r"add_force takes a force .* got Revolute.*add_joint"):
        system.add_force(hinge)
    with pytest.raises(TypeError, match=r"add_joint takes a joint .* got Friction.*add_force"):
        system.add_joint(rbdae.forces.Friction(hinge, 0.1))
    with pytest.raises(TypeError, match=r"add_joint takes a joint .*got <class .*Revolute"):
        system.add_joint(rbdae.joints.Revolute)


def test_a_wrong_name_of_a_body_or_joint(problem, solution):
    for states in (solution.states, problem.states(0.0, problem.y0), copy.deepcopy(solution.states),
                   pickle.loads(pickle.dumps(problem.states(0.0, problem.y0)))):  # fmt: skip
        with pytest.raises(KeyError) as caught:
            states["Bob"]
        assert str(caught.value) == r"unknown body 'Bob'; did you mean 'bob'? There are bob"
        assert states.get("Bob") is None and list(states) == ["bob"]
    with pytest.raises(KeyError, match=r"unknown joint 'hing'; did you mean 'hinge'"):
        solution.reactions["hing"]
    with pytest.raises(KeyError, match=r"unknown body of this joint 'earth'; there are ground, bob"):
        solution.reactions["hinge"]["earth"]


def test_a_solver_is_chosen_and_said(problem, solution):
    assert solution.solver == "rbdae:dop853"
    assert solution.message.endswith("no solver was named: rbdae:dop853 was chosen")
    assert "no solver" not in rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853").message
    chosen = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853", t_eval=[0.0, 0.1])
    assert np.array_equal(chosen.y, solution.y)


@pytest.mark.parametrize("form", ["index-3", "index-2", "index-1", "ggl", "overdetermined"])
def test_a_chosen_solver_takes_the_form(form):
    run = rbdae.solve(rbdae.formulate(rbdae.models.pendulum(), form), (0.0, 0.05))
    assert run.success and run.solver == ("assimulo:ODASSL" if form == "overdetermined" else "sundials:ida")


def test_a_step_chooses_a_scheme_that_keeps_energy():
    form = rbdae.formulate(rbdae.models.gyro_top(), "hamiltonian", rotation="quaternion")
    run = rbdae.solve(form, (0.0, 0.01), step=1e-3)
    assert run.success and run.solver == "rbdae:energy-momentum"
    with pytest.raises(Unsupported, match=r"takes 'index-2'"):
        rbdae.solve(rbdae.formulate(rbdae.models.pendulum(), "index-2"), (0.0, 0.01), step=1e-3)


def test_a_failed_run_warns_at_the_users_line(problem):
    with pytest.warns(
        rbdae.FailedRunWarning, match=r"the run did not reach its end: rbdae:dop853 stopped at"
    ) as caught:
        run = rbdae.solve(problem, (0.0, 1.0), solver="rbdae:dop853", max_steps=2)
    assert not run.success and caught[0].filename == __file__ and len(caught) == 1


def test_types_have_the_names_of_the_registries():
    """Editors complete them, and a type checker finds "indx-0"; charts of other tests are registered, too."""
    own = set(get_args(FormulationName))
    assert own == {*FORMULATIONS, *SPELLINGS}
    assert set(get_args(RotationName)) <= set(CHARTS) and len(get_args(RotationName)) == 9
    assert set(get_args(VelocityName)) == {velocity for form in FORMULATIONS.values() for velocity in form.velocities}
    hints = get_type_hints(rbdae.formulate)
    assert set(get_args(get_args(hints["formulation"])[0])) == own and hints["rotation"] == RotationName


def test_joints_forces_and_parameters_answer_unknown_names(problem, solution):
    """Of problems and of runs, as bodies do."""
    joint = problem.system.joints[0].name
    for found in (solution.joints, problem.joints(0.0, problem.y0)):
        with pytest.raises(KeyError, match=f"unknown joint 'Pinn'.*{joint}"):
            found["Pinn"]
    with pytest.raises(KeyError, match="unknown force 'spring'"):
        solution.forces["spring"]
    with pytest.raises(KeyError, match=r"unknown parameter 'gravity_z'; did you mean 'gravity\.z'"):
        problem.parameters["gravity_z"]
