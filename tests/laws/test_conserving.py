"""Steps of fixed size that keep energy and momentum: one law over all schemes for invariants, tangents, order,
symmetries, code and refusals. Their printed equations: tests/laws/test_conserving_steps.py."""

from __future__ import annotations

import copy
import dataclasses
import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import cases
import numpy as np
import pytest
from conserving import newton_slopes, taken
from conserving_systems import JOINTS, chain, free_body, momentum_error, relative_energy
from inside import FIXED_SCHEMES
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Reason, Unsupported
from rbdae.forces import Bushing, Force, SpringDamper, Torque, TorsionalSpringDamper, TranslationalSpringDamper
from rbdae.joints import Rod


@dataclass(frozen=True)
class Scheme:
    """How users call it, and what it keeps with joints and springs: a quantity that it does not keep errs with a power
    of the step, the order."""

    form: dict[str, Any]
    solver: str
    options: dict[str, Any] = field(default_factory=dict)
    energy: bool = True
    momentum: bool = True
    springs: bool = True
    order: float = 2.0


MOMENTA = {"formulation": "hamiltonian-eliminated", "velocity": "momentum"}
RATES = {"formulation": "index-0", "velocity": "angular"}
EM, SW, MID = "rbdae:energy-momentum", "rbdae:simo-wong", "rbdae:midpoint"
SCHEMES = {
    "QUAT.EM-R": Scheme(MOMENTA, EM),
    "QUAT.EM": Scheme(MOMENTA, EM, {"variant": "paper"}, momentum=False),
    "DIR.EM": Scheme(MOMENTA | {"rotation": "directors"}, EM),
    "QUAT.VI": Scheme(MOMENTA, "rbdae:variational", energy=False, springs=False),
    "ALGO.C1": Scheme(RATES, SW, energy=False, momentum=False),
    "ALGO.C1 (energy)": Scheme(RATES, SW, {"variant": "energy-momentum"}, momentum=False),
    "MIDPOINT": Scheme(RATES, MID, {"variant": "rodrigues"}),
    "MIDPOINT (conformal)": Scheme(RATES, MID, {"variant": "conformal"}, momentum=False),
    "MIDPOINT (310)": Scheme(RATES, MID, {"variant": "average-momentum"}, energy=False, momentum=False),
    "MIDPOINT (326)": Scheme(RATES, MID, {"variant": "average-velocity"}, momentum=False, order=1.0),
}
each_scheme = pytest.mark.parametrize("scheme", SCHEMES)
BOTH = [name for name, of in SCHEMES.items() if of.energy and of.momentum]
"""Those that keep both with every joint."""


def test_every_scheme_is_here():
    """A variant that is left out is the first one."""
    registered = {(f"rbdae:{method}", variant) for method, variants in FIXED_SCHEMES.items() for variant in variants}
    first = {f"rbdae:{method}": next(iter(variants)) for method, variants in FIXED_SCHEMES.items()}
    assert registered == {(of.solver, of.options.get("variant", first[of.solver])) for of in SCHEMES.values()}


def problem_of(system: rbdae.System, scheme: str, **options: Any) -> rbdae.Problem:
    return cases.formulated(system, **{"consistent": "project", **SCHEMES[scheme].form, **options})


def run(system: rbdae.System | rbdae.Problem, scheme: str, t_end: float, step: float, **options: Any) -> rbdae.Solution:
    of = SCHEMES[scheme]
    problem = problem_of(system, scheme) if isinstance(system, rbdae.System) else system
    span = (problem.t0, problem.t0 + t_end)
    return rbdae.solve(problem, span, solver=of.solver, step=step, **{**of.options, **options})


def order_of(coarse: float, fine: float) -> float:
    return math.log2(coarse / fine)


# ---------------------------------------------------------------- tangents


@pytest.mark.parametrize(
    ("scheme", "joint"),
    [
        ("QUAT.EM-R", "universal"),
        ("QUAT.EM", "prismatic"),
        ("ALGO.C1", "spherical"),
        ("ALGO.C1 (energy)", "planar"),
        ("DIR.EM", "prismatic"),
        ("DIR.EM", "rod"),
        ("QUAT.VI", "universal"),
        ("QUAT.VI", "prismatic"),
        ("MIDPOINT (310)", "universal"),
        ("MIDPOINT (326)", "cylindrical"),
    ],
)
def test_the_tangent_is_exact(scheme, joint):
    """u -> u - A^-1 r(u) has no slope where r = 0 if and only if A = dr/du: by complex steps, relative to I."""
    problem = problem_of(chain(joint, springs=SCHEMES[scheme].springs), scheme)
    assert np.abs(newton_slopes(problem, scheme, 0.1)).max() < 1e-9


# ---------------------------------------------------------------- invariants


@pytest.mark.sampled
@each_scheme
def test_a_free_body_keeps_energy_and_momentum(scheme):
    """[BS09], section 5.1, with dt = 0.05, or less where such steps have no solution; |q| = 1, q . p = 0."""
    own = scheme.startswith(("QUAT.EM", "DIR", "ALGO"))
    h, n = (0.05, cases.count(20_000, 100_000)) if own else (0.01, 5_000)
    if scheme == "MIDPOINT (326)":
        h, n = 1e-3, 1_000
    found = run(free_body(), scheme, n * h, h)
    assert found.success and found.stats.steps == n
    # code of one model rounds J J^-1 the same way in each step: schemes in velocities may gain one unit in the last
    # place a step (2.7e-16 seen)
    level = 4 * np.finfo(float).eps * n if scheme.startswith("ALGO") else 1e-12
    for kept, error in (
        (scheme != "MIDPOINT (310)", relative_energy(found)),
        (scheme != "MIDPOINT (326)", momentum_error(found)),
    ):
        assert error < level if kept else 1e-4 < error < 0.1
    if scheme != "DIR.EM":
        q = found.y[:, 3:7]
        assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 1e-14
    if scheme.startswith("QUAT"):
        p = found.y[:, 10:14]
        assert np.abs((q * p).sum(1) / np.linalg.norm(p, axis=1)).max() < 1e-13


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("scheme", "joint"),
    [(s, j) for s in ("QUAT.EM-R", "DIR.EM") for j in JOINTS]
    + [(s, j) for s in ("MIDPOINT", "QUAT.VI") for j in ("spherical", "universal", "prismatic", "rod")]
    + [(s, j) for s in SCHEMES if s not in (*BOTH, "QUAT.VI", "ALGO.C1") for j in ("revolute", "universal")],
)
def test_what_joints_and_springs_leave_constant(scheme, joint):
    """What a scheme keeps, it keeps to rounding; all else errs with the power of the step. Constraints always hold."""
    of = SCHEMES[scheme]
    problem = problem_of(chain(joint, springs=of.springs), scheme)
    runs = (
        [run(problem, scheme, 10.0, 0.02)] if scheme in BOTH else [run(problem, scheme, 2.0, h) for h in (0.02, 0.01)]
    )
    for kept, error in ((of.energy, relative_energy), (of.momentum, momentum_error)):
        found = [error(one) for one in runs]
        if kept:
            assert max(found) < 1e-11
        else:
            assert order_of(*found) == pytest.approx(of.order, abs=0.3) and found[0] < 0.5
    assert max(np.abs(found.drift.position).max() for found in runs) < 1e-12
    if scheme == "QUAT.VI":
        assert np.abs(runs[0].drift.velocity).max() < 1e-12


@pytest.mark.sampled
@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("scheme", BOTH)
def test_the_top_keeps_energy_and_the_vertical_momentum(scheme, case):
    """[GR95], section 11.6: energy, L_z, and the constraint. A rounding a step, in one direction, would be 1.1e-12."""
    found = run(rbdae.models.rotations_top(case=case), scheme, cases.count(5, 100), 1e-3)
    L = found.momentum.angular[:, 2]
    assert relative_energy(found) < 3e-12
    assert np.abs(L / L[0] - 1.0).max() < 3e-12
    assert np.abs(found.drift.position).max() < 1e-13


@pytest.mark.sampled
@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM"])
@pytest.mark.parametrize("name", ["n_four_bar", "spatial_slider_crank"])
def test_closed_loops_keep_energy(scheme, name):
    """No joint of a loop is eliminated before what the others leave free is known: a window of rods between bodies
    that hang on the ground, and a spatial loop."""
    found = run(rbdae.models.MODELS[name](), scheme, cases.count(1, 500) / 5, 1e-3)
    assert found.success, found.message
    assert relative_energy(found) < 1e-12
    assert np.abs(found.drift.position).max() < 1e-13


def _closed_chain() -> rbdae.System:
    system = chain("cylindrical", 5)
    first, last = system.bodies[0], system.bodies[4]
    system.add_joint(Rod(first, last, at_a=(0.0, 1.0, 0.0), at_b=(0.0, 1.5, 0.0)))
    return system


def _with(make: Any, joint: str) -> rbdae.System:
    system = chain(joint)
    system.add_force(make(system.joints[0]))
    return system


@pytest.mark.parametrize(
    ("scheme", "system"),
    [
        ("QUAT.EM-R", _closed_chain),
        (
            "QUAT.EM-R",
            lambda: _with(lambda j: TranslationalSpringDamper(j, stiffness=300.0, displacement=0.3), "prismatic"),
        ),
        ("MIDPOINT", lambda: _with(lambda j: TorsionalSpringDamper(j, stiffness=30.0, angle=0.4), "revolute")),
        ("MIDPOINT (326)", lambda: _with(lambda j: TorsionalSpringDamper(j, stiffness=30.0, angle=0.4), "revolute")),
    ],
    ids=["closing rod", "spring along a joint", "spring about a joint", "spring about a joint (326)"],
)
def test_forces_of_joints_keep_energy(scheme, system):
    """The discrete gradient of a torsional spring acts on the directors, too, so that (326) keeps the energy."""
    found = run(system(), scheme, 4.0, 0.01)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11 or not SCHEMES[scheme].momentum
    assert np.ptp(found.energy.potential) > 0.1


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM"])
def test_dampers_take_energy_and_leave_momentum(scheme):
    found = run(chain("prismatic", damping=20.0), scheme, 10.0, 0.02)
    assert momentum_error(found) < 1e-11
    assert np.diff(found.energy.total).max() < 1e-12 * found.energy.kinetic.max()
    assert found.energy.total[-1] < 0.99 * found.energy.total[0]


@pytest.mark.parametrize(("scheme", "step"), [("QUAT.EM-R", 0.05), ("DIR.EM", 0.05), ("QUAT.VI", 3e-3)])
def test_code_of_one_model_divides_by_the_step_as_a_quotient_is_rounded(scheme, step, monkeypatch):
    """It multiplies by 1 / h, and velocities would come back with the same relative error in each step. Measured after
    20,000 of them: at most 1e-13; without the correction of the product 1.4e-12 to 2.9e-12. That is users' code, where
    products and sums are fused; code as it comes has 6e-13."""
    monkeypatch.delenv("RBDAE_LLVM", raising=False)
    times = np.linspace(0.0, 20_000 * step, 201)
    found = run(problem_of(free_body(), scheme), scheme, times[-1], step, t_eval=times)
    energy = found.energy.total
    assert np.abs(energy / energy[0] - 1.0).max() < 4e-13


@pytest.mark.parametrize("inertia", [(0.8, 0.8, 1.5), (0.3, 0.4, 0.5)])
def test_last_digits_of_the_inertia_do_not_drift(inertia):
    """J and E = tr(J)/2 I - J are rounded by themselves; rows with J and momenta with E gained 5e-16 a step."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    system.add_body("body", mass=1.0, inertia=inertia, angular_velocity=(0.0, 1.0, 50.0))
    energy = run(system, "DIR.EM", 10.0, 1e-3).energy.total
    assert abs(energy[-1] / energy[0] - 1.0) < 1e-12


def test_a_variational_run_has_no_trend_of_energy():
    """Weight on a body in no principal axes, and on a closed loop: with a trend the parts of a run would err by 1 to 4;
    the vertical momentum stays."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    J = np.array([[2.0, 0.1, -0.2], [0.1, 2.5, 0.3], [-0.2, 0.3, 3.0]])
    turn = Rotation.from_rotvec((0.4, 0.3, -0.8))
    system.add_body(
        "body", mass=4.0, inertia=J, pivot=(0, 0, 0), center_of_mass=(0.1, -0.2, 0.3), orientation=turn,
        angular_velocity=(1.0, -2.0, 3.0),
    )  # fmt: skip
    for build, t_end, h in ((system, 200.0, 0.02), (rbdae.models.spatial_slider_crank(), 2.0, 1e-3)):
        found = run(build, "QUAT.VI", t_end, h)
        error = np.abs(found.energy.total - found.energy.total[0]) / found.energy.kinetic.max()
        parts = error[: len(error) // 2 * 2].reshape(2, -1).max(axis=1)
        assert found.success and parts[1] < 1.5 * parts[0] < 0.1
        assert np.abs(found.drift.position).max() < 1e-12
        if build is system:
            L = found.momentum.angular
            assert np.abs(L[:, 2] - L[0, 2]).max() < 1e-12 * np.abs(L).max()


# ---------------------------------------------------------------- order, symmetries


@each_scheme
def test_order_two(scheme):
    """Towards DOP853 at 1e-13, at the end and at output times between steps: places, rotations; velocities at steps."""
    times, system = np.array([0.25, 0.4975, 0.5]), chain("universal", springs=False)
    problem = rbdae.formulate(system, "index-0", consistent="project")
    exact = rbdae.solve(problem, (0.0, 0.5), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=times)
    errors = []
    for h in (0.005, 0.0025):
        one, two = (solution.states["b1"] for solution in (run(system, scheme, 0.5, h, t_eval=times), exact))
        turn = (one.orientation.inv() * two.orientation).magnitude()
        rates = np.abs(one.angular_velocity - two.angular_velocity)[[0, 2]]
        errors.append(max(np.abs(one.position - two.position).max(), turn.max(), rates.max()))
    assert order_of(*errors) == pytest.approx(SCHEMES[scheme].order, abs=0.1)


SPANS = {"andrews": (5e-3, 5e-5), "bruels_cardona_top": (0.1, 5e-4), "linked_bodies": (0.1, 5e-4)}
"""End and larger step of fast motions."""


def _forces_of(problem: rbdae.Problem, t: float, y: Any) -> Any:
    """Forces and torques of all joints on all bodies, one after the other."""
    found = [[*one.force, *one.torque] for on in problem.reactions(t, y).values() for one in on.values()]
    return np.array(found).ravel()


@pytest.mark.parametrize("name", rbdae.models.MODELS)
def test_order_two_on_every_model(name):
    """Towards DOP853, states and reactions at the end; schemes take turns. In directors a flat body has no momenta."""
    names = [*rbdae.models.MODELS]
    scheme = "DIR.EM" if names.index(name) % 2 and name != "bruels_cardona_top" else "QUAT.EM-R"
    system, (t_end, step) = rbdae.models.MODELS[name](), SPANS.get(name, (0.1, 2e-3))
    more = {"redundant": "minimum-norm"} if name == "bricard" else {}
    exact = rbdae.formulate(system, "index-0", consistent="project", **more)
    y = rbdae.solve(exact, (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13).y[-1]
    natural, reactions = exact.natural(t_end, y), _forces_of(exact, t_end, y)
    problem, errors = problem_of(system, scheme, **more), []
    for h in (step, 0.5 * step):
        found = run(problem, scheme, t_end, h)
        assert found.success, found.message
        one, other = problem.natural(t_end, found.y[-1]), _forces_of(problem, t_end, found.y[-1])
        errors.append((np.abs(one - natural)[:, :12].max(), np.abs(other - reactions).max(initial=0.0)))
    size = np.abs(reactions).max(initial=0.0)
    for coarse, fine, floor in zip(*errors, (3e-12, 1e-9 * size), strict=True):
        if fine > floor:  # else it is what DOP853 leaves
            assert order_of(coarse, fine) == pytest.approx(2.0, abs=0.1)
    assert errors[1][0] < 0.02 and errors[1][1] <= 0.05 * size


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


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM"])
@pytest.mark.parametrize("load", LOADS)
def test_order_two_with_loads_and_dampers(load, scheme):
    """Towards DOP853, where energy is not kept; the Newton iteration has the tangent of each of them."""
    system = chain("revolute", springs=False)
    system.add_force(LOADS[load](system.bodies[0], system.bodies[1]))
    problem = problem_of(system, scheme)
    exact = rbdae.solve(problem, (0.0, 0.4), solver="rbdae:dop853", rtol=1e-12, atol=1e-12).y[-1]
    runs = [run(problem, scheme, 0.4, h) for h in (0.01, 0.005)]
    assert order_of(*(np.abs(found.y[-1] - exact).max() for found in runs)) == pytest.approx(2.0, abs=0.1)
    assert runs[0].stats.evaluations <= 3.5 * runs[0].stats.steps


@each_scheme
def test_time_reversal(scheme, tmp_path):
    """Velocities or momenta of the end turned round, the way back leads to the start; after a file, too."""
    problem = problem_of(chain("revolute", springs=SCHEMES[scheme].springs), scheme)
    there = run(problem, scheme, 1.0, 0.01)
    there.save(tmp_path / "there.npz")
    y, v = rbdae.load(tmp_path / "there.npz").y[-1].copy(), problem.layout.v
    y[v] *= -1.0
    end = run(dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y)), scheme, 1.0, 0.01).y[-1]
    end = end.copy()
    end[v] *= -1.0
    missed = np.abs(end - there.y[0]).max() / np.abs(there.y).max()
    assert missed > 1e-4 if scheme == "MIDPOINT (326)" else missed < 1e-12


@each_scheme
def test_a_rotation_of_the_start_rotates_the_motion(scheme):
    turn, system = Rotation.from_rotvec((0.3, -1.1, 0.7)), chain("universal", springs=False)
    one = run(system, scheme, 0.5, 0.01).states["b1"]
    two = run(cases.rebuild(system, turn=turn), scheme, 0.5, 0.01).states["b1"]
    assert ((turn * one.orientation).inv() * two.orientation).magnitude().max() < 1e-12
    np.testing.assert_allclose(turn.apply(one.position), two.position, rtol=0, atol=1e-12)


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
def test_multipliers_at_the_steps_are_of_second_order(rotation):
    """By elimination, those of internal constraints, too, which a step itself has to first order alone."""
    scheme = "DIR.EM" if rotation == "directors" else "QUAT.EM-R"
    problem = problem_of(rbdae.models.rotations_top(case=2), scheme)
    exact = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853", rtol=1e-13, atol=1e-13).y[-1]
    wanted = problem.multipliers(0.1, exact)
    form = problem_of(problem.system, scheme, formulation="hamiltonian")
    runs = [run(form, scheme, 0.1, h) for h in (1e-3, 5e-4)]
    errors = [np.abs(found.y[-1, form.layout.la] - wanted) for found in runs]
    n = form.layout.n_internal
    for part in (slice(0, n), slice(n, None)):
        assert order_of(*(error[part].max() for error in errors)) == pytest.approx(2.0, abs=0.15)
    if rotation == "quaternion":
        force = runs[0].reactions["tip"]["top"].force
        np.testing.assert_allclose(np.abs(runs[0].y[:, form.layout.la][:, n:]), np.abs(force), rtol=0, atol=1e-9)


# ---------------------------------------------------------------- runs


@each_scheme
def test_plain_code_takes_the_same_steps_in_all_forms(scheme):
    """Also between the steps, and at output times where a Newton iteration is not what was called last."""
    of, times = SCHEMES[scheme], np.linspace(0.0, 0.2, 37)
    system = chain("cylindrical", springs=of.springs)
    forms = ["hamiltonian", "hamiltonian-eliminated"] if of.form is not RATES else ["index-0"]
    runs = [
        run(problem_of(system, scheme, formulation=form, code=code), scheme, 0.2, 0.01, t_eval=times)
        for form in forms
        for code in ("auto", "plain")
    ]
    wanted = runs[-1].y
    for found, code in zip(runs, len(forms) * ("machine", "plain"), strict=True):
        assert found.stats.code == code
        np.testing.assert_allclose(found.y[:, : wanted.shape[1]], wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


def test_a_step_from_python_is_that_of_the_loop():
    """`Callbacks.steps`: three C functions for loops of one's own."""
    problem, h = problem_of(chain("revolute"), "QUAT.EM-R"), 0.02
    assert np.array_equal(taken(problem, "QUAT.EM-R", h, 1)[1], run(problem, "QUAT.EM-R", h, h).y)


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM"])
def test_events_and_output_times_leave_the_steps(scheme):
    """Momenta are linear between the ends of a step; frames are orthonormal at output times."""
    problem = problem_of(chain("revolute"), scheme)
    plain = run(problem, scheme, 1.0, 0.015)
    watched = run(problem, scheme, 1.0, 0.015, events=lambda t, y: y[0] - 100.0)
    assert np.array_equal(plain.t, watched.t) and np.array_equal(plain.y, watched.y)
    assert plain.t[-1] == 1.0 and plain.t[-2] == 66 * 0.015
    out, v = run(problem, scheme, 1.0, 0.015, t_eval=(0.1, 0.507, 1.0)), problem.layout.v
    assert np.array_equal(out.y[2], plain.y[-1])
    internal = out.problem.constraints(out.t, out.y).position[:, : problem.layout.n_internal]
    assert np.abs(internal).max() < 1e-14
    if scheme == "DIR.EM":
        k = int(np.searchsorted(plain.t, 0.507)) - 1
        r = (0.507 - plain.t[k]) / 0.015
        between = (1.0 - r) * plain.y[k, v] + r * plain.y[k + 1, v]
        np.testing.assert_allclose(out.y[1, v], between, rtol=0, atol=1e-12 * np.abs(between).max())


def test_runs_end_with_what_there_is():
    """|Om| h = 6 is too much for QUAT.EM; sin(theta) = h Om_3 of the gyro top of [BS09], section 5.2, has no solution
    beyond h = 1 / 140.6 = 0.00711; a torque without measure, and the steps before are there."""
    pushed = chain("spherical")
    pushed.add_force(Torque(pushed.bodies[0], torque=lambda t: (1e160 if t > 0.05 else 0.0, 0.0, 0.0)))
    assert run(rbdae.models.gyro_top(), "QUAT.VI", 1.0, 0.0071).success
    for system, scheme, h, least, said in (
        (free_body(), "QUAT.EM", 0.2, 1, "step 1 of 0.2 s"),
        (rbdae.models.gyro_top(), "QUAT.VI", 0.0072, 1, "there is none beyond step * Omega = 1"),
        (pushed, "DIR.EM", 0.02, 4, "of 0.02 s"),
    ):
        found = run(system, scheme, 1.0, h)
        assert not found.success and found.reason in (Reason.NOT_CONVERGED, Reason.NOT_FINITE)
        assert said in found.message and len(found.t) >= least and np.isfinite(found.y).all()


@pytest.mark.parametrize("scheme", ["QUAT.EM-R", "DIR.EM"])
def test_a_run_depends_on_its_problem_alone(scheme):
    """Again after another run, on a copy, and while another thread runs a copy of its own: the same bits. Directors
    have tangents that are constant: memory of a step must not be there."""
    problem = problem_of(chain("universal"), scheme)
    before = problem.rhs_jacobian(0.0, problem.y0).copy()
    first = run(problem, scheme, 0.2, 2e-3)
    run(problem, scheme, 0.1, 5e-3)
    twins = [copy.copy(problem) for _ in range(3)]
    with ThreadPoolExecutor(3) as threads:
        beside = list(threads.map(lambda twin: run(twin, scheme, 0.2, 2e-3), twins))
    for other in (run(problem, scheme, 0.2, 2e-3), *beside):
        np.testing.assert_array_equal(other.y, first.y)
        assert other.stats.evaluations == first.stats.evaluations
    assert np.array_equal(problem.rhs_jacobian(0.0, problem.y0), before)


def _sprung() -> rbdae.System:
    system = free_body()
    system.add_force(SpringDamper(system.ground, system.bodies[0], stiffness=1.0, length=1.0, at_b=(1.0, 0.0, 0.0)))
    return system


def _flat() -> rbdae.System:
    system = rbdae.System()
    system.add_body("disc", mass=1.0, inertia=(1.0, 1.0, 2.0))
    return system


@pytest.mark.parametrize(
    ("scheme", "build", "form", "options", "said"),
    [
        ("QUAT.EM-R", free_body, {}, {"projection": True}, "leave out projection"),
        ("MIDPOINT", free_body, {}, {"projection": True}, "leave out projection"),
        ("QUAT.EM-R", free_body, {}, {"variant": "other"}, "variant must be one of 'rodrigues', 'paper'"),
        ("MIDPOINT", free_body, {}, {"variant": "euler"}, "variant must be one of 'rodrigues', 'conformal'"),
        ("QUAT.EM-R", free_body, RATES | {"formulation": "index-2"}, {}, "'index-2' is a DAE .* takes 'hamiltonian'"),
        ("MIDPOINT", free_body, {"formulation": "index-2"}, {}, "'index-2' is a DAE .* takes 'index-0'"),
        ("ALGO.C1", free_body, {"rotation": "rotation-vector"}, {}, "takes 'index-0' with rotation='quaternion'"),
        ("QUAT.VI", rbdae.models.driven_pendulum, {}, {}, "QUAT.VI has no discrete form of drives"),
        ("QUAT.VI", _sprung, {}, {}, "QUAT.VI has no discrete form of applied forces"),
        ("QUAT.VI", free_body, {"rotation": "directors"}, {}, "rotation='quaternion', velocity='momentum'"),
        ("DIR.EM", _flat, {}, {}, "'disc'.*a flat body.* use rotation='quaternion'"),
    ],
)
def test_what_is_refused(scheme, build, form, options, said):
    with pytest.raises((Unsupported, ValueError), match=said):
        run(problem_of(build(), scheme, **form), scheme, 1.0, 0.01, **options)
