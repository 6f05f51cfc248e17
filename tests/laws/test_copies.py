"""Copies and pickles of problems, solutions and systems: independent, and right."""

from __future__ import annotations

import copy
import math
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import cases
import cloudpickle
import inside
import numpy as np
import pytest
from by_numba import njit
from cases import Pairing
from scipy.interpolate import CubicSpline
from toy_formulation import StiffJoints

import rbdae
from rbdae.drives import PrescribedAngle
from rbdae.forces import CalledBack, Force, Motor, UserForce
from rbdae.joints import Revolute

CLONES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}
clones = pytest.mark.parametrize("clone", CLONES.values(), ids=CLONES)

OPTIONS: dict[str, Any] = {"solver": "scipy:DOP853", "rtol": 1e-10, "atol": 1e-10}


def disc(*forces: Callable[[Any, Any], Any], law: Any = None) -> rbdae.System:
    """A disc on a hinge, with forces by (hinge, disc), and turned by a law if there is one."""
    system = rbdae.System()
    body = system.add_body("disc", mass=2.0, inertia=(0.3, 0.3, 0.5), angular_velocity=(0, 0, 1.0))
    hinge = system.add_joint(Revolute(system.ground, body))
    for make in forces:
        system.add_force(make(hinge, body))
    if law is not None:
        system.add_joint(PrescribedAngle(hinge, law))
    return system


@clones
def test_a_copied_problem_does_not_work_in_the_memory_of_its_original(clone: Callable[[Any], Any]):
    """The original is evaluated elsewhere between the steps of its copy: the energy of the copy stays."""
    problem = rbdae.formulate(rbdae.models.chain(n=2), "index-0")
    twin = clone(problem)
    assert problem.workspace.memory is not twin.workspace.memory
    far = problem.y0 + 0.3
    options = OPTIONS | {"events": lambda t, y: 1.0 + 0.0 * problem.rhs(t, far)[0]}
    found, wanted = (rbdae.solve(p, (0.0, 0.2), **o) for p, o in ((twin, options), (problem, OPTIONS)))
    assert found.success
    assert np.ptp(found.energy.total) < 1e-8
    assert np.array_equal(found.y[-1], wanted.y[-1])


@clones
def test_copies_of_a_run_that_selected_again(clone: Callable[[Any], Any]):
    problem = cases.formulated(cases.turning_four_bar(spin=9.0), "null-space", consistent="project")
    solution = rbdae.solve(problem, (0.0, 2.0), **OPTIONS)
    times = inside.segment_times(solution)
    assert len(times) > 1
    twin = clone(solution)
    assert inside.segment_times(twin) == times
    assert np.array_equal(twin.energy.total, solution.energy.total)
    assert np.array_equal(twin.drift.position, solution.drift.position)
    for name, state in solution.states.items():
        assert np.array_equal(twin.states[name].position, state.position)
    t = 0.5 * (times[0] + times[1])
    here, there = solution.problem_at(t), twin.problem_at(t)
    assert np.array_equal(here.rhs(t, here.y0), there.rhs(t, there.y0))
    assert here.workspace.memory is not there.workspace.memory
    # those that shared a memory share one again
    assert there.workspace.memory is twin.problem_at(0.0).workspace.memory


@clones
def test_copies_of_a_system_are_whole_and_frozen(clone: Callable[[Any], Any]):
    system = disc(lambda hinge, body: Force(body, (1.0, 2.0, 3.0)))
    twin = clone(system)
    twin.add_body("late", mass=1.0, inertia=(1.0, 1.0, 1.0))
    twin.add_force(Force(twin.bodies[0], (1.0, 0.0, 0.0)))
    assert [body.name for body in system.bodies] == ["disc"]
    assert (len(system.forces), len(twin.forces)) == (1, 2)
    assert twin.joints[0].bodies == (twin.ground, twin.bodies[0])
    for part in (twin.bodies[0].inertia, twin.joints[0].at_a, twin.gravity):
        assert not part.flags.writeable
    y = rbdae.formulate(system, "index-2").y0
    assert np.array_equal(rbdae.formulate(clone(system), "index-2").y0, y)


# ---------------------------------------------------------------- functions of the user


def _push(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0
    out[0] = 1.0 + t * x[0]


def _slope(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0
    out[0] = t


@njit
def _gust(t):
    return np.array((t, 1.0, 2.0))


PUSH = CalledBack(_push, difference_step=1e-5)

PICKLES: dict[str, Callable[[], rbdae.System]] = {
    "a function of time": lambda: disc(lambda hinge, body: Motor(hinge, torque=math.cos)),
    "a function of numba": lambda: disc(lambda hinge, body: Force(body, _gust)),
    "a user's force": lambda: disc(lambda hinge, body: UserForce(body, _push, _slope)),
    "a user's force with differences": lambda: disc(
        lambda hinge, body: UserForce(body, CalledBack(_push, difference_step=1e-5))
    ),
    "a spline": lambda: disc(law=CubicSpline([0.0, 1.0, 2.0, 3.0], [0.0, 1.0, 2.1, 3.5])),
    "three functions": lambda: disc(law=(math.sin, math.cos, _minus_sine)),
}


def _minus_sine(t: float) -> float:
    return -math.sin(t)


@clones
@pytest.mark.parametrize("build", PICKLES.values(), ids=PICKLES)
def test_functions_of_the_user_are_copied(build: Callable[[], rbdae.System], clone: Callable[[Any], Any]):
    problem = rbdae.formulate(build(), "index-2", consistent="project")
    twin = clone(problem)
    y = problem.y0 + 0.01
    assert np.array_equal(twin.residual(0.4, y, y), problem.residual(0.4, y, y))
    assert np.array_equal(twin.jacobian(0.4, y, y, 2.0), problem.jacobian(0.4, y, y, 2.0))


LAMBDAS: dict[str, Callable[[], rbdae.System]] = {
    "torque": lambda: disc(lambda hinge, body: Motor(hinge, torque=lambda t: 1.0)),
    "force": lambda: disc(lambda hinge, body: Force(body, lambda t: (1.0, t, 0.0))),
    "user": lambda: disc(lambda hinge, body: UserForce(body, lambda t, x, o: o.fill(0.0), _slope)),
    "law": lambda: disc(law=(math.sin, math.cos, lambda t: -math.sin(t))),
}


@pytest.mark.parametrize("clone", [copy.copy, copy.deepcopy, lambda x: pickle.loads(cloudpickle.dumps(x))])
@pytest.mark.parametrize("build", LAMBDAS.values(), ids=LAMBDAS)
def test_lambdas_are_copied_and_sent_by_cloudpickle(build, clone):
    problem = rbdae.formulate(build(), "index-2")
    twin, y, yd = clone(problem), problem.y0, problem.yd0
    assert np.array_equal(twin.residual(0.4, y, yd), problem.residual(0.4, y, yd))


@pytest.mark.parametrize("code", ["plain", "auto"])
def test_callbacks_are_not_copied(code):
    problem = cases.formulated(disc(), "index-2", code=code)
    for clone in CLONES.values():
        with pytest.raises(TypeError, match=r"callbacks cannot be copied or pickled.*copy or pickle the problem"):
            clone(problem.callbacks)
    residual = problem.callbacks.residual
    with pytest.raises(TypeError):
        pickle.dumps(residual)
    if problem.code == "machine":  # to `copy`, functions in machine code are constants, as `math.sin` is
        assert copy.deepcopy(residual) is residual
        return
    with pytest.raises(TypeError, match="callbacks cannot be copied"):
        copy.deepcopy(residual)


def test_a_pickle_is_read_by_another_process(tmp_path):
    problem = rbdae.formulate(disc(lambda hinge, body: Motor(hinge, torque=math.cos)), "index-2")
    (tmp_path / "problem").write_bytes(pickle.dumps(problem))
    reading = "import pickle, sys; p = pickle.load(open(sys.argv[1], 'rb'))"
    script = f"{reading}; print(p.residual(0.4, p.y0, p.yd0).tobytes().hex())"
    done = subprocess.run(
        [sys.executable, "-c", script, str(tmp_path / "problem")], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == problem.residual(0.4, problem.y0, problem.yd0).tobytes().hex()


def test_a_formulation_of_ones_own_is_copied():
    form: Any = StiffJoints(alpha=2.0, beta=3.0)
    problem = cases.formulate(disc(), Pairing(form, "quaternion", "angular"))
    y = problem.y0 + 0.01
    for clone in CLONES.values():
        assert np.array_equal(clone(problem).rhs(0.0, y), problem.rhs(0.0, y))
