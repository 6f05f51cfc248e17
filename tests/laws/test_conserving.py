"""Integrators that keep energy and momentum: the printed equations, the invariants, order, symmetries, refusals."""

from __future__ import annotations

import copy
import ctypes
import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import inside
import numpy as np
import pytest
from conserving import Body, Oracle, newton_slopes
from conserving_systems import JOINTS, chain, free_body, hinge, momentum_error, relative_energy, spring
from inside import JIT
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason, Unsupported
from rbdae.forces import Bushing, Force, SpringDamper, Torque, TranslationalSpringDamper
from rbdae.joints import Rod
from rbdae_adapters.rbdae_loops import ADAPTER

METHODS = {
    "QUAT.EM-R": ("rbdae:energy-momentum", {}),
    "QUAT.EM": ("rbdae:energy-momentum", {"variant": "paper"}),
    "ALGO.C1": ("rbdae:simo-wong", {}),
    "ALGO.C1 (energy)": ("rbdae:simo-wong", {"variant": "energy-momentum"}),
}
"""The schemes as users call them."""

FORMS: dict[str, dict[str, Any]] = {
    "rbdae:energy-momentum": {"formulation": "hamiltonian-eliminated", "velocity": "momentum"},
    "rbdae:simo-wong": {"formulation": "index-0", "velocity": "angular"},
}


def problem_of(system: rbdae.System, method: str, **options: Any) -> rbdae.Problem:
    form = dict(FORMS[METHODS[method][0]])
    return rbdae.formulate(system, form.pop("formulation"), consistent="project", **form, **options)


def run(system: rbdae.System | rbdae.Problem, method: str, t_end: float, step: float, **options: Any) -> rbdae.Solution:
    solver, own = METHODS[method]
    problem = problem_of(system, method) if isinstance(system, rbdae.System) else system
    return rbdae.solve(problem, (problem.t0, problem.t0 + t_end), solver=solver, step=step, **own, **options)


# ---------------------------------------------------------------- the printed equations


def split(problem: rbdae.Problem, y: Any) -> Any:
    """The unknowns of a Hamiltonian form, body after body."""
    n = problem.model.n
    return np.concatenate([[*y[7 * k : 7 * k + 7], *y[7 * n + 7 * k : 7 * n + 7 * k + 7]] for k in range(n)])


@pytest.mark.parametrize("method", ["QUAT.EM-R", "QUAT.EM"])
def test_steps_solve_the_printed_equations(method):
    """(51) in nine unknowns a body, or the four lines of QUAT.EM-R: three steps of two hinged bodies with weight and a
    spring. The oracle forms velocities from positions and differences of potentials: 1e-11."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    given = [(1.0, (2.0, 2.5, 3.0)), (2.0, (3.0, 3.75, 4.5))]
    a, b = (
        system.add_body(f"b{k}", mass=m, inertia=J, position=(2.0 * k, 0, 0), angular_velocity=(1.0, 2.0, 0.5 + k))
        for k, (m, J) in enumerate(given)
    )
    system.add_joint(JOINTS["revolute"](a, b))
    system.add_force(SpringDamper(a, b, stiffness=150.0, length=1.0, at_a=(0.3, 0.5, 0.0), at_b=(0.0, 0.7, 0.2)))
    problem = problem_of(system, method)
    h = 0.02
    found = run(problem, method, 3 * h, h)
    oracle = Oracle(
        [Body(m, J, (0.0, 0.0, -9.81 * m)) for m, J in given], hinge, 5, spring, rodrigues=method == "QUAT.EM-R"
    )
    y = split(problem, problem.y0)
    for row in found.y[1:]:
        y = oracle.step(y, h)
        np.testing.assert_allclose(split(problem, row), y, rtol=0, atol=1e-11 * np.abs(y).max())


@pytest.mark.parametrize(
    ("method", "joint"),
    [("QUAT.EM-R", "universal"), ("QUAT.EM", "prismatic"), ("ALGO.C1", "spherical"), ("ALGO.C1 (energy)", "planar")],
)
def test_the_tangent_is_exact(method, joint):
    """u -> u - A^-1 r(u) has no slope where r = 0 if and only if A = dr/du: by complex steps, relative to I."""
    slopes = newton_slopes(problem_of(chain(joint), method), method, 0.1)
    assert np.abs(slopes).max() < 1e-9


# ---------------------------------------------------------------- invariants


@pytest.mark.parametrize("method", [*METHODS])
def test_a_free_body_keeps_energy_and_momentum(method):
    """[BS09], section 5.1, with dt = 0.05: energy and all components of angular momentum, |q| = 1 and q . p = 0."""
    found = run(free_body(), method, 1000.0, 0.05)
    assert found.success and found.stats.steps == 20_000
    # code of one model has J and its inverse as constants, and rounds J J^-1 the same way in each step: ALGO.C1, whose
    # unknowns are velocities, may gain one unit in the last place a step (2.7e-16 seen)
    level = 1e-12 if method.startswith("QUAT") else 4 * np.finfo(float).eps * found.stats.steps
    assert relative_energy(found) < level
    assert momentum_error(found) < level
    q = found.y[:, 3:7]
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 1e-14
    if METHODS[method][0] == "rbdae:energy-momentum":
        p = found.y[:, 10:14]
        assert np.abs((q * p).sum(1) / np.linalg.norm(p, axis=1)).max() < 1e-14
    assert found.stats.jacobians == found.stats.evaluations > 2 * found.stats.steps


@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
@pytest.mark.parametrize(
    ("method", "rotation", "step"),
    [
        ("energy-momentum", "quaternion", 0.05),
        ("energy-momentum", "directors", 0.05),
        ("variational", "quaternion", 3e-3),
    ],
)
def test_code_of_one_model_divides_by_the_step_as_a_quotient_is_rounded(method, rotation, step, monkeypatch):
    """It multiplies by 1 / h, and velocities would come back with the same relative error in each step. Measured after
    20,000 of them: at most 1e-13; without the correction of the product 1.4e-12 to 2.9e-12. That is users' code, where
    products and sums are fused; code as it comes has 6e-13."""
    monkeypatch.delenv("RBDAE_LLVM", raising=False)
    more = {"velocity": "momentum", "rotation": rotation, "code": "traced"}
    problem = rbdae.formulate(free_body(), "hamiltonian-eliminated", **more)
    times = np.linspace(0.0, 20_000 * step, 201)
    found = rbdae.solve(problem, (0.0, times[-1]), solver=f"rbdae:{method}", step=step, t_eval=times)
    energy = found.energy.total
    assert np.abs(energy / energy[0] - 1.0).max() < 4e-13


@pytest.mark.parametrize("joint", [*JOINTS])
def test_joints_and_springs_keep_energy_and_momentum(joint):
    """QUAT.EM-R keeps both with every joint; the constraints hold to round-off."""
    found = run(chain(joint), "QUAT.EM-R", 20.0, 0.02)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11
    assert np.abs(found.drift.position).max() < 1e-12


@pytest.mark.parametrize("method", ["QUAT.EM", "ALGO.C1 (energy)"])
def test_other_schemes_keep_energy_with_joints_and_momentum_to_second_order(method):
    errors = []
    for h in (0.02, 0.01):
        found = run(chain("revolute"), method, 2.0, h)
        assert relative_energy(found) < 1e-11
        errors.append(momentum_error(found))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("case", [1, 2])
def test_the_top_keeps_energy_and_the_vertical_momentum(case):
    """Rotations paper, section 11.6: energy, L_z, and the constraint."""
    found = run(rbdae.models.rotations_top(case=case), "QUAT.EM-R", 5.0, 1e-3)
    L = found.momentum.angular[:, 2]
    assert relative_energy(found) < 1e-12
    assert np.abs(L / L[0] - 1.0).max() < 1e-12
    assert np.abs(found.drift.position).max() < 1e-13


def test_a_chain_of_five_with_a_closing_rod():
    system = chain("cylindrical", 5)
    bodies = [system.bodies[k] for k in range(5)]
    system.add_joint(Rod(bodies[0], bodies[4], at_a=(0.0, 1.0, 0.0), at_b=(0.0, 1.5, 0.0)))
    found = run(system, "QUAT.EM-R", 4.0, 0.02)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11
    assert np.abs(found.drift.position).max() < 1e-12


@pytest.mark.parametrize(("name", "step", "t_end"), [("n_four_bar", 1e-3, 0.2), ("spatial_slider_crank", 1e-3, 0.2)])
def test_closed_loops_keep_energy(name, step, t_end):
    """No joint of a loop is eliminated before what the others leave free is known: a window of rods between bodies
    that hang on the ground, and a spatial loop."""
    found = run(rbdae.models.MODELS[name](), "QUAT.EM-R", t_end, step)
    assert found.success, found.message
    assert relative_energy(found) < 1e-12
    assert np.abs(found.drift.position).max() < 1e-13


def test_dampers_take_energy_and_leave_momentum():
    found = run(chain("prismatic", damping=20.0), "QUAT.EM-R", 10.0, 0.02)
    assert momentum_error(found) < 1e-11
    assert np.diff(found.energy.total).max() < 1e-12 * found.energy.kinetic.max()
    assert found.energy.total[-1] < 0.99 * found.energy.total[0]


def test_springs_along_joints():
    system = chain("prismatic")
    system.add_force(TranslationalSpringDamper(system.joints[0], stiffness=300.0, displacement=0.3))
    found = run(system, "QUAT.EM-R", 10.0, 0.01)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11


# ---------------------------------------------------------------- order, symmetries


@pytest.mark.parametrize("method", [*METHODS])
def test_order_two(method):
    """Towards DOP853 at 1e-13 on the same mechanism, at the end and at output times between the steps."""
    times = np.array([0.25, 0.4975, 0.5])
    problem = rbdae.formulate(chain("universal", springs=False), "index-0", consistent="project")
    exact = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=times)
    errors = []
    for h in (0.01, 0.005):
        found = run(chain("universal", springs=False), method, 0.5, h, t_eval=times)
        one, two = (solution.states["b1"] for solution in (found, exact))
        turn = (one.orientation.inv() * two.orientation).magnitude()
        errors.append(max(np.abs(one.position - two.position).max(), turn.max()))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


LOADS: dict[str, Any] = {
    "force in the body": lambda a, b: Force(a, force=(1.0, 2.0, 3.0), at=(0.3, 0.2, 0.1), frame="body"),
    "torque of time": lambda a, b: Torque(a, torque=lambda t: (math.sin(3.0 * t), 2.0 * t, 1.0)),
    "bushing": lambda a, b: Bushing(
        a, b, stiffness=10.0, damping=1.0, rotational_stiffness=(3.0, 4.0, 5.0), rotational_damping=1.0
    ),
    "actuator": lambda a, b: SpringDamper(
        a, b, stiffness=100.0, length=1.0, damping=2.0, force=lambda t: math.sin(4.0 * t), at_a=(0.3, 0.5, 0.0)
    ),
}


@pytest.mark.parametrize("load", [*LOADS])
def test_order_two_with_loads_and_dampers(load):
    """Towards DOP853, where energy is not kept; the Newton iteration has the tangent of each of them."""
    system = chain("revolute", springs=False)
    system.add_force(LOADS[load](system.bodies[0], system.bodies[1]))
    problem = rbdae.formulate(system, "index-0", consistent="project")
    exact = rbdae.solve(problem, (0.0, 0.4), solver="rbdae:dop853", rtol=1e-12, atol=1e-12).states["b1"].position[-1]
    runs = [run(system, "QUAT.EM-R", 0.4, h) for h in (0.01, 0.005)]
    errors = [np.abs(found.states["b1"].position[-1] - exact).max() for found in runs]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert runs[0].stats.evaluations <= 3.5 * runs[0].stats.steps


@pytest.mark.parametrize("method", ["QUAT.EM-R", "QUAT.EM"])
def test_time_reversal(method, tmp_path):
    """Momenta of the end turned round, the way back leads to the start; after a file, too."""
    there = run(chain("revolute"), method, 2.0, 0.02)
    there.save(tmp_path / "there.npz")
    y = rbdae.load(tmp_path / "there.npz").y[-1].copy()
    y[14:] *= -1.0
    problem = problem_of(chain("revolute"), method)
    problem = dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y))
    back = run(problem, method, 2.0, 0.02)
    end = back.y[-1].copy()
    end[14:] *= -1.0
    np.testing.assert_allclose(end, there.y[0], rtol=0, atol=1e-12 * np.abs(there.y).max())


@pytest.mark.parametrize("method", ["QUAT.EM-R", "ALGO.C1"])
def test_rotating_the_start_rotates_the_motion(method):
    turn = Rotation.from_rotvec((0.3, -1.1, 0.7))
    one = run(free_body(), method, 2.0, 0.05)
    two = run(free_body(orientation=turn), method, 2.0, 0.05)
    expected = turn * one.states["body"].orientation
    assert (expected.inv() * two.states["body"].orientation).magnitude().max() < 1e-12


def test_multipliers_and_reactions_at_the_steps_are_of_second_order():
    """By elimination: those of `hamiltonian` in y are those of `reactions`."""
    problem = rbdae.formulate(rbdae.models.rotations_top(), "index-0")
    exact = (
        rbdae.solve(problem, (0.0, 0.2), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
        .reactions["tip"]["top"]
        .force[-1]
    )
    errors = []
    for h in (2e-3, 1e-3):
        form = rbdae.formulate(rbdae.models.rotations_top(), "hamiltonian", velocity="momentum")
        found = rbdae.solve(form, (0.0, 0.2), solver="rbdae:energy-momentum", step=h)
        force = found.reactions["tip"]["top"].force
        multipliers = form.layout.la
        np.testing.assert_allclose(np.abs(found.y[:, multipliers][:, 1:]), np.abs(force), rtol=0, atol=1e-9)
        errors.append(np.abs(force[-1] - exact).max())
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize("method", ["QUAT.EM-R", "ALGO.C1"])
def test_generic_code_takes_the_same_steps(method):
    system = chain("cylindrical", 3)
    if method == "QUAT.EM-R":  # a form with multipliers first: their kernel is there now, and this one has none
        rbdae.solve(
            rbdae.formulate(system, "hamiltonian", velocity="momentum", consistent="project", code="generic"),
            (0.0, 0.1),
            solver="rbdae:energy-momentum",
            step=0.01,
        )
    one, two = (run(problem_of(system, method, code=code), method, 0.5, 0.01) for code in ("traced", "generic"))
    assert (one.stats.code, two.stats.code) == ("traced", "generic")
    np.testing.assert_allclose(one.y, two.y, rtol=0, atol=1e-11 * np.abs(one.y).max())


def test_a_step_from_python_is_that_of_the_loop():
    """`Callbacks.steps`: three C functions for loops of one's own."""
    problem = problem_of(chain("revolute"), "QUAT.EM-R")
    functions, h = inside.steps_of(problem, "QUAT.EM-R"), 0.02
    n = functions.n_unknowns
    u, out, end = np.zeros(n + 1), np.zeros(n + 1), np.zeros(problem.n)

    def call(function: Any, result: Any) -> None:
        f = ctypes.CFUNCTYPE(
            ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double,
            ctypes.c_void_p,
        )(function.address)  # fmt: skip
        assert f(function.context, 0.0, problem.y0.ctypes.data, u.ctypes.data, h, result.ctypes.data) == 0

    call(functions.predict, out)
    out[n] = 1.0
    while out[n] > 1e-8:
        u[:] = out
        call(functions.newton, out)
    u[:n], u[n] = out[:n], 1.0
    call(functions.advance, end)
    assert np.array_equal(end, run(problem, "QUAT.EM-R", h, h).y[-1])


def test_a_run_with_events_takes_the_same_steps():
    plain = run(chain("revolute"), "QUAT.EM-R", 1.0, 0.015)
    watched = run(chain("revolute"), "QUAT.EM-R", 1.0, 0.015, events=lambda t, y: y[0] - 100.0)
    assert np.array_equal(plain.t, watched.t) and np.array_equal(plain.y, watched.y)
    assert plain.t[-1] == 1.0 and plain.t[-2] == 66 * 0.015


def test_a_step_that_is_too_large_ends_the_run_with_what_there_is():
    """|Om| h = 6 is too much for QUAT.EM."""
    found = run(free_body(), "QUAT.EM", 10.0, 0.2)
    assert not found.success and found.reason in (Reason.NOT_CONVERGED, Reason.NOT_FINITE)
    assert "step 1 of 0.2 s" in found.message and "smaller step" in found.message
    assert found.t[0] == 0.0 and np.isfinite(found.y).all()


def test_what_is_refused():
    system = free_body()
    problem = problem_of(system, "QUAT.EM-R")
    with pytest.raises(Unsupported, match="leave out projection"):
        run(problem, "QUAT.EM-R", 1.0, 0.1, projection=True)
    with pytest.raises(Unsupported, match=r"'index-2' is a DAE .* takes 'hamiltonian', .* with rotation='quaternion'"):
        rbdae.solve(rbdae.formulate(system, "index-2"), (0.0, 1.0), solver="rbdae:energy-momentum", step=0.1)
    with pytest.raises(ValueError, match="variant must be one of 'rodrigues', 'paper'"):
        rbdae.solve(problem, (0.0, 1.0), solver="rbdae:energy-momentum", step=0.1, variant="other")
    with pytest.raises(Unsupported, match=r"rotation='rotation-vector'.* takes 'index-0' with rotation='quaternion'"):
        rbdae.solve(
            rbdae.formulate(system, "index-0", rotation="rotation-vector"),
            (0.0, 1.0),
            solver="rbdae:simo-wong",
            step=0.1,
        )


@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
@pytest.mark.parametrize("code", ["auto", "generic"])
def test_small_models_have_steps_of_their_own(code, monkeypatch):
    """And none of their functions goes through Python, 30 times the time of a step; generic kernels neither."""
    monkeypatch.delenv("RBDAE_CODE", raising=False)
    problem = rbdae.formulate(rbdae.models.free_body(), "hamiltonian-eliminated", velocity="momentum", code=code)
    functions = ADAPTER.native(problem, "energy-momentum").function
    assert functions.code == ("traced" if code == "auto" else "generic")
    assert all(function.context != 0 for function in (functions.newton, functions.advance, functions.predict))
    found, exact = run(problem, "QUAT.EM-R", 5.0, 0.05), problem.energy(0.0, problem.y0).total
    assert abs(problem.energy(5.0, found.y[-1]).total - exact) < 1e-12 * exact


@pytest.mark.parametrize("code", ["generic", "traced"] if JIT else ["generic"])
def test_a_run_depends_on_its_problem_alone(code):
    """Again after another run, on a copy, and while another thread runs a copy of its own: the same bits."""
    problem = problem_of(rbdae.models.rotations_top(), "QUAT.EM-R", code=code)
    first = run(problem, "QUAT.EM-R", 0.2, 2e-3)
    run(problem, "QUAT.EM", 0.1, 5e-3)
    twins = [copy.copy(problem) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        beside = list(threads.map(lambda twin: run(twin, "QUAT.EM-R", 0.2, 2e-3), twins))
    for other in (run(problem, "QUAT.EM-R", 0.2, 2e-3), *beside):
        np.testing.assert_array_equal(other.y, first.y)
        assert dataclasses.replace(other.stats, seconds=0.0, wall_seconds=0.0) == dataclasses.replace(
            first.stats, seconds=0.0, wall_seconds=0.0
        )
