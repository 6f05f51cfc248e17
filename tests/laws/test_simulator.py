"""A simulator gives the answers of `solve` with the same inputs, whatever takes its steps."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from input_systems import arm, pendulum

import rbdae
from rbdae.joints import Prismatic, Revolute

DT = 0.05
U = np.array([(0.5, 0.7), (0.5, 0.7), (2.0, 0.7), (2.0, -1.0), (2.0, -1.0), (0.0, 0.0)])
TIMES = DT * np.arange(len(U))
TABLES = {name: rbdae.Table(TIMES, U[:, k], "previous") for k, name in enumerate(("torque", "voltage"))}
TIGHT = {"rtol": 1e-9, "atol": 1e-9}


def problem(form="index-0"):
    return rbdae.formulate(pendulum(), form)


@pytest.fixture(scope="module")
def reference():
    return rbdae.solve(problem(), (0.0, 0.3), solver="rbdae:dop853", rtol=1e-11, atol=1e-11, inputs=TABLES)


def driven(solver="rbdae:dop853", form="index-0", **options):
    sim = rbdae.Simulator(problem(form), solver, dt=DT, **{**TIGHT, **options})
    for k, u in enumerate(U):
        sim.step({"torque": u[0]} if k == 2 else None if k == 4 else u)
    return sim


def position(p, t, y):
    return p.states(t, y)["bob"].position


@pytest.mark.parametrize(
    ("solver", "form", "level"),
    [
        ("rbdae:dop853", "index-0", 1e-9),
        ("rbdae:dopri5", "null-space", 3e-8),
        ("rbdae:odex", "index-0", 3e-8),
        ("scipy:RK45", "index-0", 3e-8),
        ("sundials:ida", "index-2", 3e-5),
    ],
)
def test_steps_are_those_of_a_run(solver, form, level, reference):
    sim = driven(solver, form, **({"rtol": 1e-6, "atol": 1e-6} if solver == "sundials:ida" else {}))
    assert sim.t == pytest.approx(0.3, abs=1e-15)
    wanted = reference.states["bob"]
    np.testing.assert_allclose(sim.states["bob"].position, wanted.position[-1], rtol=0, atol=level)
    np.testing.assert_allclose(sim.states["bob"].velocity, wanted.velocity[-1], rtol=0, atol=10 * level)
    assert dict(sim.inputs) == {"torque": 0.0, "voltage": 0.0}
    solution = sim.solution()
    assert (solution.t[0], solution.t[-1]) == (0.0, sim.t)
    np.testing.assert_array_equal(solution.y[-1], sim.y)
    assert (np.diff(solution.t) > 0.0).all()
    between = np.linspace(0.0, 0.3, 37)
    found = position(solution.problem, between, solution(between))
    np.testing.assert_allclose(found, position(reference.problem, between, reference(between)), rtol=0, atol=3 * level)
    for t, u in zip(TIMES, U, strict=True):
        assert list(solution.problem_at(t + 0.02).inputs.values()) == list(u)
    if form != "index-2":  # the rows between IDA's steps solve the circuit in Python: nine seconds
        balance = solution.energy.balance
        assert np.abs(balance - balance[0]).max() < 100 * level


def test_a_step_of_another_length(reference):
    sim = rbdae.Simulator(problem(), dt=DT, **TIGHT)
    assert sim.solver == "rbdae:dop853"
    sim.step(U[0], dt=2 * DT)
    assert sim.t == 2 * DT
    sim.step(U[2])
    np.testing.assert_allclose(sim.y, reference(3 * DT), rtol=0, atol=1e-9)


def test_quantities_belong_to_the_state_at_which_they_were_asked_for():
    sim = driven()
    before, t, y = sim.joints["pin"], sim.t, sim.y
    same = problem().with_inputs(dict(sim.inputs)).at(t, y)
    sim.step({"torque": 7.0})
    wanted = same.joints(t, y)["pin"]
    for name in ("angle", "rate", "acceleration", "torque", "power"):
        np.testing.assert_allclose(getattr(before, name), getattr(wanted, name), rtol=0, atol=1e-9, err_msg=name)
    assert float(sim.forces["motor"].torque) == pytest.approx(7.0, abs=1e-12)
    assert float(sim.joints["pin"].angle) != pytest.approx(float(before.angle), abs=1e-4)


def test_a_reset_goes_to_any_state():
    sim = driven()
    end, t = sim.y, sim.t
    sim.reset()
    assert (sim.t, dict(sim.inputs)) == (0.0, {"torque": 0.5, "voltage": 0.7})
    np.testing.assert_array_equal(sim.y, sim.problem.y0)
    for u in U:
        sim.step(u)
    np.testing.assert_allclose(sim.y, end, rtol=0, atol=1e-12)
    sim.reset(t, end, inputs={"torque": -1.0})
    assert (sim.t, sim.inputs["torque"], sim.inputs["voltage"]) == (t, -1.0, 0.7)
    np.testing.assert_allclose(sim.y, end, rtol=0, atol=1e-12)
    assert len(sim.solution().t) == 1


def test_a_reset_by_joints_keeps_the_others():
    sim = rbdae.Simulator(cases.formulated(arm(), "index-0", code="plain"))
    wanted = {"axis 2": (2.0, 0.5), "axis 3": (-1.0, 0.7), "axis 5": 0.4, "axis 1": (-3.0, 1.0)}
    sim.reset(joints=wanted)
    rates = {name: given[1] if isinstance(given, tuple) else 0.0 for name, given in wanted.items()}
    angles = {name: given[0] if isinstance(given, tuple) else given for name, given in wanted.items()}
    for name, joint in sim.joints.items():
        assert float(joint.angle) == pytest.approx(angles.get(name, 0.0), abs=1e-12), name
        assert float(joint.rate) == pytest.approx(rates.get(name, 0.0), abs=1e-12), name
    held = sim.problem.constraints(sim.t, sim.y)
    assert max(np.abs(held.position).max(), np.abs(held.velocity).max()) < 1e-12


def slide(ground_last):
    """A slide with a hinge on it; the ground is the second body of the slide, or the first one."""
    system = rbdae.System()
    cart = system.add_body("cart", mass=1.0, inertia=(1, 1, 1), center_of_mass=(0.1, 0.2, 0), velocity=(0, 0, 0.5))
    rod = system.add_body("rod", mass=1.0, inertia=(1, 1, 1), position=(0.0, 0.0, -1.0))
    pair = (cart, system.ground) if ground_last else (system.ground, cart)
    system.add_joint(Prismatic(*pair, axis_a=(0, 0, 1), name="slide"))
    system.add_joint(Revolute(rod, cart, at_a=(0, 0, 1), axis_a=(1, 0, 0), name="pin"))
    return cases.formulated(system, "index-0", code="plain", consistent="project")


@pytest.mark.parametrize("ground_last", [False, True])
def test_a_reset_by_joints_moves_the_side_that_is_free(ground_last):
    sim = rbdae.Simulator(slide(ground_last))
    before = {name: float(joint.rate) for name, joint in sim.joints.items()}
    sim.reset(joints={"pin": (0.6, 2.0), "slide": 0.3})
    assert float(sim.joints["slide"].displacement) == pytest.approx(0.3, abs=1e-12)
    assert float(sim.joints["slide"].rate) == pytest.approx(before["slide"], abs=1e-12)
    assert (float(sim.joints["pin"].angle), float(sim.joints["pin"].rate)) == pytest.approx((0.6, 2.0), abs=1e-12)
    assert np.abs(sim.problem.constraints(0.0, sim.y).velocity).max() < 1e-12


def test_a_joint_in_a_loop_is_refused_by_name():
    sim = rbdae.Simulator(rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2"))
    with pytest.raises(ValueError, match=r"joint '.*' is in a closed loop"):
        sim.reset(joints={next(iter(sim.joints)): 0.3})


def test_projected_steps_stay_on_the_constraints():
    drift = []
    for solver, projection in (("rbdae:dopri5", False), ("rbdae:dopri5", True), ("scipy:RK45", True)):
        sim = rbdae.Simulator(problem(), solver, dt=1.0, rtol=1e-3, atol=1e-3, projection=projection)
        for k in range(3):
            sim.step({"torque": float(k)})
        drift.append(np.abs(sim.problem.constraints(sim.t, sim.y).position).max())
        assert (sim.solution().stats.projections > 0) == projection
    assert drift[0] > 1e-6
    assert max(drift[1:]) < 1e-12


@pytest.mark.parametrize(
    ("solver", "form", "level"),
    [("rbdae:dop853", "index-0", 1e-9), ("scipy:RK45", "index-0", 1e-7), ("sundials:ida", "index-2", 3e-6)],
)
def test_sampled_controllers_keep_their_memory(solver, form, level):
    """The period is no part of dt, nor dt of it; a sample is taken once, whatever takes the steps."""
    system = pendulum(fan=False)
    (pin,) = system.joints
    calls = list[float]()

    def law(t, u, m):
        calls.append(t)
        return (-5.0 * u.angle - 2.0 * u.rate + m.n,), {"n": m.n + 0.1}

    sampled = rbdae.Sampled(
        0.04, law, ("torque",), inputs={"angle": pin.angle, "rate": pin.rate}, memory={"n": 0.0}, name="control"
    )
    control = system.add_block(sampled)
    system.add_force(rbdae.actuators.Source(pin, effort=control.torque))
    p = rbdae.formulate(system, form)
    run = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 0.3), solver="rbdae:dop853", **TIGHT)
    calls.clear()
    sim = rbdae.Simulator(p, solver, dt=0.1, **TIGHT)
    for _ in range(3):
        sim.step()
    np.testing.assert_allclose(calls, 0.04 * np.arange(8), rtol=0, atol=1e-12)
    wanted = run.states["bob"]
    np.testing.assert_allclose(sim.states["bob"].position, wanted.position[-1], rtol=0, atol=level)
    np.testing.assert_allclose(sim.states["bob"].velocity, wanted.velocity[-1], rtol=0, atol=level)
    assert sim.inputs["control.torque"] == pytest.approx(run.problem_at(0.3).inputs["control.torque"], abs=10 * level)
    found = sim.solution()
    assert found.problem_at(0.01).inputs["control.torque"] != found.problem_at(0.29).inputs["control.torque"]
    sim.reset()
    assert calls[8:] == [0.0]


def test_states_are_read_in_the_chart_that_a_step_has_switched_to():
    """A body that turns through the singular attitude of its angles, by a solver that begins again in each step."""
    system = rbdae.System(gravity=(0, 0, 0))
    system.add_body("body", mass=1.0, inertia=(1, 1, 1), angular_velocity=(0, 3.0, 0), velocity=(1, 0, 0))
    p = rbdae.formulate(system, "index-0", rotation="bryant-321", reference="start")
    sim = rbdae.Simulator(p, "scipy:RK45", dt=0.2, on_singularity="switch", **TIGHT)
    for _ in range(6):
        sim.step()
    turned = sim.states["body"].orientation.as_rotvec()
    np.testing.assert_allclose(turned, (0, 3.0 * sim.t - 2 * np.pi, 0), rtol=0, atol=1e-6)


def test_a_step_that_fails_says_where_and_the_simulator_stands():
    def law(t):
        return 1.0 / (0.12 - t) if t < 0.12 else np.nan

    p = rbdae.formulate(pendulum(fan=False), "index-0").with_inputs({"torque": rbdae.forces.CalledBack(law)})
    for solver in ("rbdae:dop853", "scipy:RK45"):
        sim = rbdae.Simulator(p, solver, dt=DT)
        sim.step()
        sim.step()
        with pytest.raises(rbdae.StepError, match=f"{solver} did not reach t = 0.15, and stands at t = 0.1"):
            sim.step()
        assert sim.t == 0.1
        sim.reset()
        sim.step()
        assert sim.t == DT


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda sim: sim.step({"torq": 1.0}), "unknown input 'torq'; did you mean 'torque'"),
        (lambda sim: sim.step({"torque": np.inf}), "step: input 'torque' must be finite"),
        (lambda sim: sim.step(dict.fromkeys(sim.inputs, 3.0), dt=-1.0), "step: dt must be positive"),
        (lambda sim: sim.reset(joints={"pim": 0.3}), "unknown joint 'pim'; did you mean 'pin'"),
        (lambda sim: sim.reset(joints={"pin": {"angel": 1.0}}), "unknown coordinate of joint 'pin' 'angel'"),
    ],
)
def test_wrong_calls_are_refused_by_name(call, words):
    sim = rbdae.Simulator(problem(), "rbdae:dop853", dt=DT)
    with pytest.raises((TypeError, ValueError), match=words):
        call(sim)
    assert sim.t == 0.0 and dict(sim.inputs) == dict(sim.problem.inputs)
    np.testing.assert_array_equal(sim.y, sim.problem.y0)


@pytest.mark.parametrize(
    ("solver", "form", "record"),
    [
        ("rbdae:dop853", "null-space", True),
        ("rbdae:odex", "null-space", False),
        ("sundials:cvode", "null-space", False),
        ("sundials:ida", "index-2", True),
        ("scipy:RK45", "null-space", False),
        ("assimulo:Radau5DAE", "index-2", True),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # scipy's
def test_after_a_step_that_fails_the_next_one_works(solver, form, record):
    """Seen: states of NaN, later steps that all fail, and runs whose times do not rise."""
    cases.need(solver)
    sim, other = (rbdae.Simulator(problem(form), solver, dt=DT, record=record) for _ in range(2))
    for one in (sim, other):
        one.step({"torque": 1.0})
    t, y, inputs = sim.t, sim.y, dict(sim.inputs)
    for torque in (1e300, 1e200, 1e30):
        with pytest.raises(rbdae.StepError):
            sim.step({"torque": torque})
        assert sim.t == t and dict(sim.inputs) == inputs
        np.testing.assert_array_equal(sim.y, y)
    for one in (sim, other):
        one.step({"torque": -1.0})
        one.step()
    assert sim.t == other.t
    np.testing.assert_allclose(sim.y, other.y, rtol=0, atol=1e-5)
    run = sim.solution()
    assert (np.diff(run.t) > 0.0).all() and np.isfinite(run.y).all()


def test_recorded_null_space_code_holds_in_all_attitudes():
    """Its pivots are those of one attitude: the same accelerations as without them, and no hand-over."""
    p, other = (rbdae.formulate(pendulum(fan=False), form) for form in ("null-space", "index-0"))
    sim, beside = rbdae.Simulator(p), rbdae.Simulator(other)
    for angle in 0.1 + np.arange(0.0, 6.2, 0.4):
        for each in (sim, beside):
            each.reset(joints={"pin": (angle, 1.0)}, inputs={"torque": 2.0})
        found = [float(each.joints["pin"].acceleration) for each in (sim, beside)]
        assert found[0] == pytest.approx(found[1], abs=1e-11)
        sim.problem.rhs(0.0, sim.y)
        assert sim.problem.callbacks._fallbacks == 0
