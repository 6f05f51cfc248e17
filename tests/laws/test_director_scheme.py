"""DIR.EM, the energy-momentum scheme in director momenta: its equations, invariants, order, symmetries, refusals."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from conserving import Body, DirectorOracle, newton_slopes
from conserving_systems import JOINTS, chain, free_body, hinge, momentum_error, relative_energy, spring
from inside import JIT
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason, Unsupported
from rbdae.forces import Bushing, Force, SpringDamper, Torque
from rbdae_adapters.rbdae_loops import ADAPTER


def problem_of(system: rbdae.System, formulation: str = "hamiltonian-eliminated", **options: Any) -> rbdae.Problem:
    given = {"rotation": "directors", "velocity": "momentum", "consistent": "project", **options}
    return rbdae.formulate(system, formulation, **given)


def run(system: rbdae.System | rbdae.Problem, t_end: float, step: float, **options: Any) -> rbdae.Solution:
    problem = problem_of(system) if isinstance(system, rbdae.System) else system
    return rbdae.solve(problem, (problem.t0, problem.t0 + t_end), solver="rbdae:energy-momentum", step=step, **options)


# ---------------------------------------------------------------- the printed equations


def split(problem: rbdae.Problem, y: Any) -> Any:
    """(x, d, P, p) of one body after the other."""
    n = problem.model.n
    return np.stack([y[: 12 * n].reshape(n, 12), y[12 * n : 24 * n].reshape(n, 12)], axis=1).ravel()


def test_steps_solve_the_equations_in_all_their_unknowns():
    """Nine directors, nine momenta, six multipliers a body: three steps of two hinged bodies with weight and a spring.
    The oracle forms velocities from positions and differences of potentials: 1e-11. Its internal constraints are those
    of the columns, whatever the form has."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    given = [(1.0, (2.0, 2.5, 3.0)), (2.0, (3.0, 3.75, 4.5))]
    a, b = (
        system.add_body(f"b{k}", mass=m, inertia=J, position=(2.0 * k, 0, 0), angular_velocity=(1.0, 2.0, 0.5 + k))
        for k, (m, J) in enumerate(given)
    )
    system.add_joint(JOINTS["revolute"](a, b))
    system.add_force(SpringDamper(a, b, stiffness=150.0, length=1.0, at_a=(0.3, 0.5, 0.0), at_b=(0.0, 0.7, 0.2)))
    problems = [problem_of(system, formulation) for formulation in ("hamiltonian-eliminated", "hamiltonian")]
    h = 0.02
    runs = [run(problem, 3 * h, h) for problem in problems]
    oracle = DirectorOracle([Body(m, J, (0.0, 0.0, -9.81 * m)) for m, J in given], hinge, 5, spring)
    y = split(problems[0], problems[0].y0)
    for k in (1, 2, 3):
        y = oracle.step(y, h)
        for problem, found in zip(problems, runs, strict=True):
            np.testing.assert_allclose(split(problem, found.y[k]), y, rtol=0, atol=1e-11 * np.abs(y).max())


def test_steps_of_a_body_with_products_of_inertia():
    """A matrix J, no principal axes, a centre of mass off the pivot: the same motion as in principal axes."""
    turn = Rotation.from_rotvec((0.4, 0.3, -0.8))
    Q = turn.as_matrix()
    runs = []
    for J, c, q, om in (
        (np.diag((2.0, 2.5, 3.0)), np.array((0.1, 0.2, 0.3)), Rotation.identity(), np.array((1.0, 2.0, 3.0))),
        (Q.T @ np.diag((2.0, 2.5, 3.0)) @ Q, Q.T @ (0.1, 0.2, 0.3), turn, Q.T @ (1.0, 2.0, 3.0)),
    ):
        system = rbdae.System(gravity=(0.0, 0.0, -9.81))
        system.add_body(
            "b", mass=4.0, inertia=J, pivot=(0.0, 0.0, 0.0), center_of_mass=c, orientation=q, angular_velocity=om
        )
        runs.append(run(system, 2.0, 0.02))
    one, two = (found.states["b"] for found in runs)
    assert (one.orientation.inv() * two.orientation * turn.inv()).magnitude().max() < 1e-12
    assert relative_energy(runs[1]) < 1e-13


@pytest.mark.parametrize("joint", ["universal", "prismatic", "rod"])
def test_the_tangent_is_exact(joint):
    """u -> u - A^-1 r(u) has no slope where r = 0 if and only if A = dr/du: by complex steps, relative to I."""
    assert np.abs(newton_slopes(problem_of(chain(joint)), "DIR.EM", 0.1)).max() < 1e-9


def test_a_free_step_is_a_linear_system():
    """One iteration solves it, and one more says so; |Om| h = 30 is no obstacle."""
    for step in (0.05, 1.0):
        found = run(free_body(), 20 * step, step)
        assert found.success and found.stats.evaluations == 2 * found.stats.steps
        assert relative_energy(found) < 1e-12 and momentum_error(found) < 1e-12


# ---------------------------------------------------------------- invariants


def test_the_free_body_keeps_energy_and_momentum():
    """[BS09], section 5.1, with dt = 0.05: energy, all components of angular momentum, and the frame."""
    found = run(rbdae.models.free_body(), 1000.0, 0.05)
    assert found.success and found.stats.steps == 20_000
    assert relative_energy(found) < 1e-12
    assert momentum_error(found) < 1e-12
    assert np.abs(found.drift.position).max() < 1e-14


@pytest.mark.parametrize("inertia", [(0.8, 0.8, 1.5), (0.3, 0.4, 0.5)])
def test_last_digits_of_the_inertia_do_not_drift(inertia):
    """J and E = tr(J)/2 I - J are rounded by themselves; rows with J and momenta with E gained 5e-16 a step."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body("body", mass=1.0, inertia=inertia, angular_velocity=(0.0, 1.0, 50.0))
    energy = run(system, 10.0, 1e-3).energy.total
    assert abs(energy[-1] / energy[0] - 1.0) < 1e-12


@pytest.mark.parametrize("joint", [*JOINTS])
def test_joints_and_springs_keep_energy_and_momentum(joint):
    found = run(chain(joint), 10.0, 0.02)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11
    assert np.abs(found.drift.position).max() < 1e-12


def test_the_gyro_top_keeps_energy_and_the_vertical_momentum():
    """[BS09], section 5.2, with dt = 0.01: 1.4 rad a step."""
    found = run(rbdae.models.gyro_top(), 1.0, 0.01)
    L = found.momentum.angular[:, 2]
    assert relative_energy(found) < 1e-12
    assert np.abs(L / L[0] - 1.0).max() < 1e-12


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.filterwarnings("ignore:body 'top' has an indefinite director mass")
def test_the_top_keeps_energy_and_the_vertical_momentum(case):
    """[GR95], section 11.6: its director mass is indefinite."""
    found = run(rbdae.models.rotations_top(case=case), 2.0, 1e-3)
    L = found.momentum.angular[:, 2]
    assert relative_energy(found) < 1e-12
    assert np.abs(L / L[0] - 1.0).max() < 1e-12
    assert np.abs(found.drift.position).max() < 1e-13


@pytest.mark.parametrize(("name", "step", "t_end"), [("n_four_bar", 1e-3, 0.2), ("spatial_slider_crank", 1e-3, 0.2)])
def test_closed_loops_keep_energy(name, step, t_end):
    found = run(rbdae.models.MODELS[name](), t_end, step)
    assert found.success, found.message
    assert relative_energy(found) < 1e-12
    assert np.abs(found.drift.position).max() < 1e-13


def test_dampers_take_energy_and_leave_momentum():
    found = run(chain("prismatic", damping=20.0), 10.0, 0.02)
    assert momentum_error(found) < 1e-11
    assert np.diff(found.energy.total).max() < 1e-12 * found.energy.kinetic.max()
    assert found.energy.total[-1] < 0.99 * found.energy.total[0]


# ---------------------------------------------------------------- order, symmetries


def test_order_two():
    """Towards DOP853 at 1e-13, at the end and at output times between the steps: positions, rotations, momenta."""
    times = np.array([0.25, 0.4975, 0.5])
    system = chain("universal", springs=False)
    exact = rbdae.solve(problem_of(system), (0.0, 0.5), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=times)
    errors = []
    for h in (0.01, 0.005):
        found = run(system, 0.5, h, t_eval=times)
        errors.append(np.abs(found.y - exact.y).max(axis=0))
    positions, momenta = slice(0, 24), slice(24, 48)
    for part in (positions, momenta):
        assert math.log2(errors[0][part].max() / errors[1][part].max()) == pytest.approx(2.0, abs=0.15)


LOADS: dict[str, Any] = {
    "force in the body": lambda a, b: Force(a, force=(1.0, 2.0, 3.0), at=(0.3, 0.2, 0.1), frame="body"),
    "torque of time": lambda a, b: Torque(a, torque=lambda t: (math.sin(3.0 * t), 2.0 * t, 1.0)),
    "bushing": lambda a, b: Bushing(
        a, b, stiffness=10.0, damping=1.0, rotational_stiffness=(3.0, 4.0, 5.0), rotational_damping=1.0
    ),
}


@pytest.mark.parametrize("load", [*LOADS])
def test_order_two_with_loads_and_dampers(load):
    system = chain("revolute", springs=False)
    system.add_force(LOADS[load](system.bodies[0], system.bodies[1]))
    exact = rbdae.solve(problem_of(system), (0.0, 0.4), solver="rbdae:dop853", rtol=1e-12, atol=1e-12).y[-1]
    errors = [np.abs(run(system, 0.4, h).y[-1] - exact).max() for h in (0.01, 0.005)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def test_it_is_the_most_accurate_one_for_the_gyro_top():
    """[BS09], Figure 3, at h = 1e-3: relative errors of the centre of mass at t = 1, where the closed form is known."""
    others = {
        "QUAT.EM-R": ("hamiltonian-eliminated", "momentum", "rbdae:energy-momentum", {}),
        "QUAT.EM": ("hamiltonian-eliminated", "momentum", "rbdae:energy-momentum", {"variant": "paper"}),
        "ALGO.C1": ("index-0", "angular", "rbdae:simo-wong", {}),
    }
    system = rbdae.models.gyro_top()
    s, c = math.sin(math.pi / 3), math.cos(math.pi / 3)
    exact = 0.075 * np.array((s * math.sin(10.0), -s * math.cos(10.0), c))

    def error(solution: rbdae.Solution) -> float:
        return float(np.linalg.norm(solution.states["top"].center_of_mass[-1] - exact) / np.linalg.norm(exact))

    own = error(run(system, 1.0, 1e-3))
    for form, velocity, solver, options in others.values():
        problem = rbdae.formulate(system, form, velocity=velocity)
        assert error(rbdae.solve(problem, (0.0, 1.0), solver=solver, step=1e-3, **options)) > 5.0 * own


def test_time_reversal(tmp_path):
    """Momenta of the end turned round, the way back leads to the start; after a file, too. With momenta rebuilt from
    the angular velocities it does not: they have parts off the tangent space, which a step reflects."""
    there = run(chain("revolute"), 2.0, 0.02)
    there.save(tmp_path / "there.npz")
    y = rbdae.load(tmp_path / "there.npz").y[-1].copy()
    y[24:] *= -1.0
    problem = problem_of(chain("revolute"))

    def back_from(y0: Any) -> Any:
        end = run(dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y0)), 2.0, 0.02).y[-1].copy()
        end[24:] *= -1.0
        return np.abs(end - there.y[0]).max() / np.abs(there.y).max()

    assert back_from(y) < 1e-12
    rebuilt = y.copy()
    om = {name: body.angular_velocity for name, body in problem.states(0.0, y).items()}
    for k, body in enumerate(problem.system.bodies):
        d = y[12 * k + 3 : 12 * k + 12].reshape(3, 3)
        E = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
        rates = np.cross(om[body.name] @ d, d)
        rebuilt[24 + 12 * k + 3 : 24 + 12 * k + 12] = (E @ rates).ravel()
    assert back_from(rebuilt) > 1e-6


def test_rotating_the_start_rotates_the_motion():
    turn = Rotation.from_rotvec((0.3, -1.1, 0.7))
    one, two = run(free_body(), 2.0, 0.05), run(free_body(orientation=turn), 2.0, 0.05)
    expected = turn * one.states["body"].orientation
    assert (expected.inv() * two.states["body"].orientation).magnitude().max() < 1e-12


def test_multipliers_at_the_steps_are_of_second_order():
    """By elimination, those of the internal constraints, too, which a step itself has to first order alone."""
    system = rbdae.models.rotations_top(case=2)
    problem = problem_of(system)
    exact = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853", rtol=1e-13, atol=1e-13).y[-1]
    wanted = problem.multipliers(0.1, exact)
    form = problem_of(system, "hamiltonian")
    with pytest.warns(RuntimeWarning, match="indefinite director mass"):
        errors = [np.abs(run(form, 0.1, h).y[-1, form.layout.la] - wanted) for h in (1e-3, 5e-4)]
    assert len(wanted) == 9
    for part in (slice(0, 6), slice(6, 9)):
        assert math.log2(errors[0][part].max() / errors[1][part].max()) == pytest.approx(2.0, abs=0.15)


# ---------------------------------------------------------------- runs


@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
def test_generic_code_takes_the_same_steps():
    system = chain("cylindrical", 3)
    for form in ("hamiltonian", "hamiltonian-eliminated"):
        one, two = (run(problem_of(system, form, code=code), 0.5, 0.01) for code in ("traced", "generic"))
        assert (one.stats.code, two.stats.code) == ("traced", "generic")
        np.testing.assert_allclose(one.y, two.y, rtol=0, atol=1e-11 * np.abs(one.y).max())


def test_events_output_times_and_files(tmp_path):
    """The same steps with events; all nine momenta are linear between the ends of a step; frames are orthonormal."""
    system = chain("revolute")
    plain = run(system, 1.0, 0.015)
    watched = run(system, 1.0, 0.015, events=lambda t, y: y[0] - 100.0)
    assert np.array_equal(plain.t, watched.t) and np.array_equal(plain.y, watched.y)
    out = run(system, 1.0, 0.015, t_eval=(0.1, 0.507, 1.0))
    k = int(np.searchsorted(plain.t, 0.507)) - 1
    r = (0.507 - plain.t[k]) / 0.015
    between = (1.0 - r) * plain.y[k, 24:] + r * plain.y[k + 1, 24:]
    np.testing.assert_allclose(out.y[1, 24:], between, rtol=0, atol=1e-12 * np.abs(between).max())
    assert np.abs(out.problem.constraints(out.t, out.y).position[:, :12]).max() < 1e-14
    assert np.array_equal(out.y[2], plain.y[-1])
    out.save(tmp_path / "out.npz")
    assert np.array_equal(rbdae.load(tmp_path / "out.npz").y, out.y)


def test_runs_end_with_what_there_is():
    """A torque without measure; the steps before are there."""
    system = chain("spherical")
    system.add_force(Torque(system.bodies[0], torque=lambda t: (1e160 if t > 0.05 else 0.0, 0.0, 0.0)))
    found = run(system, 1.0, 0.02)
    assert not found.success and found.reason in (Reason.NOT_CONVERGED, Reason.NOT_FINITE)
    assert f"step {len(found.t)} of 0.02 s" in found.message and len(found.t) > 3
    assert np.isfinite(found.y).all()


def test_steps_leave_the_equations_alone():
    """Directors have tangents that are constant: memory of a step must not be there."""
    problem = problem_of(chain("universal"))
    before = problem.rhs_jacobian(0.0, problem.y0).copy()
    run(problem, 0.1, 0.02)
    assert np.array_equal(problem.rhs_jacobian(0.0, problem.y0), before)


@pytest.mark.parametrize("code", ["generic", "traced"] if JIT else ["generic"])
def test_a_run_depends_on_its_problem_alone(code):
    problem = problem_of(rbdae.models.gyro_top(), code=code)
    first = run(problem, 0.1, 2e-3)
    run(problem, 0.1, 5e-3)
    np.testing.assert_array_equal(run(problem, 0.1, 2e-3).y, first.y)


def test_what_is_refused_and_what_is_said():
    flat = rbdae.System()
    flat.add_body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0))
    with pytest.raises(ValueError, match=r"'disc'.*a flat body.* use rotation='quaternion'"):
        problem_of(flat)
    with pytest.warns(RuntimeWarning, match=r"'top' has an indefinite director mass .*-0\.1.* rotation='quaternion'"):
        run(rbdae.models.rotations_top(), 0.01, 1e-3)
    with pytest.raises(Unsupported, match=r"takes .* with rotation='directors', velocity='momentum' and .*quaternion"):
        rbdae.solve(
            rbdae.formulate(free_body(), "index-2", rotation="directors"),
            (0.0, 1.0),
            solver="rbdae:energy-momentum",
            step=0.1,
        )
    problem = problem_of(free_body())
    one, two = (run(problem, 0.5, 0.05, variant=variant) for variant in ("rodrigues", "paper"))
    assert np.array_equal(one.y, two.y)  # the paper's scheme has Rodrigues parameters here
    assert ADAPTER.native(problem, "energy-momentum").function.n_unknowns == 6
