"""The mid-point rule of [GR95], section 11, in its readings: printed equations, invariants, order, symmetries."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conserving import newton_slopes
from inside import JIT
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.adapter import Unsupported
from rbdae.forces import Bushing, SpringDamper, TorsionalSpringDamper
from rbdae.joints import Cylindrical, Revolute, Spherical, Universal
from rbdae_papers.closed_form import SymmetricTop

VARIANTS = {
    "rodrigues": "MIDPOINT",
    "conformal": "MIDPOINT (conformal)",
    "average-momentum": "MIDPOINT (310)",
    "average-velocity": "MIDPOINT (326)",
}
SYMMETRIC = ("rodrigues", "conformal", "average-momentum")
"""Those that claim to be of order two, and reversible."""


def formulated(system: rbdae.System, **options: Any) -> rbdae.Problem:
    return rbdae.formulate(system, "index-0", velocity="angular", consistent="project", **options)


def run(
    system: rbdae.System | rbdae.Problem, variant: str, t_end: float, step: float, **options: Any
) -> rbdae.Solution:
    problem = formulated(system) if isinstance(system, rbdae.System) else system
    return rbdae.solve(problem, (0.0, t_end), solver="rbdae:midpoint", variant=variant, step=step, **options)


def pair(joint: Callable[[Any, Any, dict[str, Any]], Any], turn: Rotation | None = None) -> rbdae.System:
    """Two bodies, free in space, with a joint, a spring and a bushing; turned as a whole."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    turn = Rotation.identity() if turn is None else turn
    a, b = (
        system.add_body(
            f"b{k}",
            mass=1.0 + k,
            inertia=np.array((2.0, 2.5, 3.0)) * (1.0 + 0.5 * k),
            position=turn.apply((2.0 * k, 0.0, 0.0)),
            orientation=turn,
            velocity=turn.apply((0.3, 1.0 - 2.0 * k, 0.4)),
            angular_velocity=(1.0, 2.0 * k - 0.5, 0.7),
        )
        for k in range(2)
    )
    system.add_joint(joint(a, b, {"at_a": (1.0, 0.0, 0.0), "at_b": (-1.0, 0.0, 0.0)}))
    system.add_force(SpringDamper(a, b, stiffness=200.0, length=1.0, at_a=(0.3, 0.5, 0.0), at_b=(0.0, 0.7, 0.2)))
    system.add_force(Bushing(a, b, stiffness=50.0, rotational_stiffness=20.0))
    return system


JOINTS: dict[str, Any] = {
    "spherical": lambda a, b, at: Spherical(a, b, **at),
    "universal": lambda a, b, at: Universal(a, b, **at, axis_a=(0.0, 0.6, 0.8), axis_b=(1.0, 0.0, 0.0)),
    "revolute": lambda a, b, at: Revolute(a, b, **at, axis_a=(0.0, 0.6, 0.8), axis_b=(0.0, 0.6, 0.8)),
    "cylindrical": lambda a, b, at: Cylindrical(a, b, **at, axis_a=(0.0, 0.6, 0.8), axis_b=(0.0, 0.6, 0.8)),
}


def errors(found: rbdae.Solution) -> tuple[float, float]:
    """Largest changes of energy and angular momentum, relative to the kinetic energy and the size of the momentum."""
    e, L = found.energy, found.momentum.angular
    return (
        float(np.abs(e.total - e.total[0]).max() / e.kinetic.max()),
        float(np.abs(L - L[0]).max() / np.linalg.norm(L[0])),
    )


def top_errors(found: rbdae.Solution) -> tuple[float, float]:
    """Largest |E / E0 - 1| and |L_z / L_z0 - 1|."""
    e, L = found.energy.total, found.momentum.angular[:, 2]
    return float(np.abs(e / e[0] - 1.0).max()), float(np.abs(L / L[0] - 1.0).max())


# ---------------------------------------------------------------- the printed equations


MASS, ARM, J = 5.0, np.array((0.0, 0.0, 1.3)), np.diag((0.8, 0.8, 1.8))
WEIGHT = np.array((0.0, 0.0, -9.81 * MASS))


def spin(a: Any) -> Any:
    return np.array([[0.0 * a[0], -a[2], a[1]], [a[2], 0.0 * a[0], -a[0]], [-a[1], a[0], 0.0 * a[0]]])


def halves(e: Any) -> Any:
    """F of (324), with (196)."""
    e0 = np.sqrt(1.0 - e @ e)
    return e0 * np.eye(3) + np.outer(e, e) / (1.0 + e0) + spin(e)


def conformal(c: Any) -> tuple[Any, Any, Any]:
    """4 - c0 of (254), R of (256) and F of (259)."""
    c0 = (16.0 - c @ c) / 8.0
    R = ((c0**2 + 8.0 * c0 - 16.0) * np.eye(3) + 2.0 * np.outer(c, c) + 2.0 * c0 * spin(c)) / (4.0 - c0) ** 2
    return 4.0 - c0, R, (c0 * np.eye(3) + np.outer(c, c) / 4.0 + spin(c)) / (4.0 - c0)


def printed(reading: str, start: Any, u: Any, h: float) -> tuple[Any, Any]:
    """The residual in u = (x1, parameters of the increment, lambda), and (x1, R1, v1, Om1)."""
    x0, R0, v0, Om0 = start
    x1, a, la = u[:3], u[3:6], u[6:]
    h0, v1 = R0 @ J @ Om0, 2.0 / h * (x1 - x0) - v0
    linear = 2.0 * MASS / h**2 * (x1 - x0) - 2.0 / h * MASS * v0 - la - WEIGHT  # (309)
    if reading == "rodrigues":  # b = h Om_mean / 2, (183), (306) with the sign of (301) on the mean of both ends
        R1 = R0 @ (np.eye(3) + 2.0 / (1.0 + a @ a) * (spin(a) + spin(a) @ spin(a)))
        Om1 = 4.0 * a / h - Om0
        angular = (R1 @ J @ Om1 - h0) / h + spin(0.5 * (x0 + x1)) @ la
        return np.concatenate([linear, angular, x1 - R1 @ ARM]), (x1, R1, v1, Om1)
    if reading == "conformal":  # c = h Om_mean, with the arm for which the work of lambda is exact
        scale, dR, F = conformal(a)
        R1, Om1 = R0 @ dR, 2.0 * a / h - Om0
        angular = (R1 @ J @ Om1 - h0) / h + spin(2.0 / scale * R0 @ F @ ARM) @ la
        return np.concatenate([linear, angular, x1 - R1 @ ARM]), (x1, R1, v1, Om1)
    if reading == "(332)":
        scale, _, F = conformal(a)
        e = a / scale  # (329): vect(F)
    else:
        F, e = halves(a), a
    Rh = R0 @ F
    angular = 4.0 / h**2 * R0 @ F @ J @ F.T @ e - 2.0 / h * h0 + spin(Rh @ ARM) @ la  # (331), (332)
    closed = x1 - x0 + 2.0 * Rh @ spin(ARM) @ F.T @ e  # (340)
    R1 = Rh @ F
    Om1 = 4.0 * e / h - Om0 if reading == "(326)" else np.linalg.solve(J, R1.T @ (4.0 / h * Rh @ J @ e - h0))
    return np.concatenate([linear, angular, closed]), (x1, R1, v1, Om1)


def step(reading: str, start: Any, h: float) -> Any:
    """(x1, R1, v1, Om1) of a step from `start`, by Newton's method with complex steps."""
    x0, _, v0, Om0 = start
    u = np.concatenate([x0 + h * v0, h * Om0 * {"conformal": 1.0, "(332)": 1.0}.get(reading, 0.5), np.zeros(3)])
    for _ in range(8):
        columns = []
        for i in range(9):
            v = u.astype(complex)
            v[i] += 1e-30j
            columns.append(printed(reading, start, v, h)[0].imag / 1e-30)
        u = u - np.linalg.solve(np.array(columns).T, printed(reading, start, u, h)[0])
    return printed(reading, start, u, h)[1]


READINGS = {
    "rodrigues": ("rodrigues",),
    "conformal": ("conformal",),
    "average-momentum": ("(310)", "(332)"),
    "average-velocity": ("(326)",),
}


@pytest.mark.parametrize(("variant", "reading"), [(v, r) for v, rs in READINGS.items() for r in rs])
@pytest.mark.parametrize("case", [1, 2])
def test_steps_solve_the_printed_equations(variant, reading, case):
    """Three steps of the top of 11.6, each from the state of the run; the conformal vector of (332) is (331) again."""
    h = 0.01
    found = run(rbdae.models.rotations_top(case=case), variant, 3 * h, h)
    body = found.states["top"]
    for k in range(3):
        turn = body.orientation[k].as_matrix()
        x, R, v, Om = step(reading, (body.position[k], turn, body.velocity[k], body.angular_velocity[k]), h)
        np.testing.assert_allclose(body.position[k + 1], x, rtol=0, atol=1e-11)
        np.testing.assert_allclose(body.orientation[k + 1].as_matrix(), R, rtol=0, atol=1e-11)
        np.testing.assert_allclose(body.velocity[k + 1], v, rtol=0, atol=1e-11 * 65.0)
        np.testing.assert_allclose(body.angular_velocity[k + 1], Om, rtol=0, atol=1e-11 * 50.0)


@pytest.mark.parametrize(("variant", "joint"), [("average-momentum", "universal"), ("average-velocity", "cylindrical")])
def test_the_tangent_is_exact(variant, joint):
    """u -> u - A^-1 r(u) has no slope where r = 0 if and only if A = dr/du: by complex steps, relative to I."""
    assert np.abs(newton_slopes(formulated(pair(JOINTS[joint])), VARIANTS[variant], 0.1)).max() < 1e-9


@pytest.mark.parametrize(("variant", "other"), [("rodrigues", "rodrigues"), ("conformal", "paper")])
def test_rodrigues_and_conformal_take_the_steps_of_the_hamiltonian_paper(variant, other):
    """QUAT.EM-R and QUAT.EM, there in momenta, here in angular velocities."""
    system = rbdae.models.rotations_top(case=2)
    form = rbdae.formulate(system, "hamiltonian-eliminated", velocity="momentum")
    one = run(system, variant, 0.2, 1e-3)
    two = rbdae.solve(form, (0.0, 0.2), solver="rbdae:energy-momentum", variant=other, step=1e-3)
    np.testing.assert_allclose(one.y[:, :7], two.y[:, :7], rtol=0, atol=1e-11)


# ---------------------------------------------------------------- invariants


TOP = SymmetricTop(0.8 + MASS * 1.3**2, 1.8, 9.81 * MASS * 1.3)
"""The top of 11.6 about its fixed point."""


def overshoot(found: rbdae.Solution) -> tuple[float, float]:
    """How far theta is outside of the nutation limits, below and above; negative inside. Of the steps: 1e-3 s are a
    hundredth of a nutation."""
    body = found.states["top"]
    low, high = TOP.nutation_limits(*TOP.integrals(body.orientation[0], body.angular_velocity[0]))
    theta = np.arccos(body.orientation.as_matrix()[:, 2, 2])
    return float(low - theta.min()), float(theta.max() - high)


@pytest.mark.parametrize("case", [1, 2])
def test_rodrigues_keeps_energy_and_the_vertical_momentum_of_the_top(case):
    """Section 11.6, 5,000 steps of 1e-3 s; and nutation between the limits that the first integrals give. A rounding a
    step, in one direction, would be 1.1e-12; generic kernels come to 1.02e-12."""
    found = run(rbdae.models.rotations_top(case=case), "rodrigues", 5.0, 1e-3)
    assert max(top_errors(found)) < 3e-12
    assert np.abs(found.drift.position).max() < 1e-14 * 3
    below, above = overshoot(found)
    assert below < 1e-12  # it begins there
    assert abs(above) < {1: 1.5e-5, 2: 2e-5}[case]
    finer = run(rbdae.models.rotations_top(case=case), "rodrigues", 5.0, 5e-4)
    assert above / overshoot(finer)[1] == pytest.approx(4.0, abs=0.5)


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize(
    ("variant", "energy", "momentum"),
    [
        ("conformal", (1e-12, 1e-12), (1.1e-5, 2.8e-4)),
        ("average-momentum", (6.6e-8, 2e-6), (2.8e-7, 1.6e-5)),
        ("average-velocity", (1e-12, 1e-12), (0.034, 0.52)),
    ],
)
def test_what_the_other_readings_keep_of_the_top(variant, energy, momentum, case):
    """Three times what was measured with 1e-3 s; what is not exact falls with h^2, with (326) L_z with h."""
    coarse, fine = (run(rbdae.models.rotations_top(case=case), variant, 5.0, h) for h in (1e-3, 5e-4))
    bounds = (energy[case - 1], momentum[case - 1])
    order = 1.0 if variant == "average-velocity" else 2.0
    for bound, large, small in zip(bounds, top_errors(coarse), top_errors(fine), strict=True):
        assert large < bound
        if bound > 1e-11:
            assert large > bound / 10.0
            assert math.log2(large / small) == pytest.approx(order, abs=0.3)
    assert max(np.abs(s.drift.position).max() for s in (coarse, fine)) < 3e-14


@pytest.mark.parametrize("variant", [*SYMMETRIC])
def test_a_free_body_keeps_its_momentum(variant):
    """[BS09], section 5.1; energy, too, but with (310), where it errs by a bounded O(h^2)."""
    coarse, fine = (errors(run(rbdae.models.free_body(), variant, 50.0, h)) for h in (0.01, 0.005))
    assert max(coarse[1], fine[1]) < 1e-12
    if variant == "average-momentum":
        assert coarse[0] < 0.02 and math.log2(coarse[0] / fine[0]) == pytest.approx(2.0, abs=0.1)
    else:
        assert max(coarse[0], fine[0]) < 1e-12


def test_the_velocities_of_326_keep_energy_and_lose_momentum():
    coarse, fine = (errors(run(rbdae.models.free_body(), "average-velocity", 1.0, h)) for h in (1e-3, 5e-4))
    assert max(coarse[0], fine[0]) < 1e-12
    assert coarse[1] > 0.01 and math.log2(coarse[1] / fine[1]) == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("joint", [*JOINTS])
def test_joints_and_springs(joint):
    """Work is exact in all readings but (310), momentum with Rodrigues parameters; constraints always."""
    for variant, keeps in {
        "rodrigues": (True, True),
        "conformal": (True, False),
        "average-momentum": (False, False),
        "average-velocity": (True, False),
    }.items():
        found = run(pair(JOINTS[joint]), variant, 2.0, 0.01)
        assert found.success, found.message
        for kept, error in zip(keeps, errors(found), strict=True):
            assert error < 1e-11 if kept else 1e-5 < error < 0.5
        assert np.abs(found.drift.position).max() < 1e-13


@pytest.mark.parametrize("variant", ["rodrigues", "average-velocity"])
def test_a_torsional_spring(variant):
    """Its discrete gradient acts on the directors, too, so that (326) keeps the energy with it."""
    system = pair(JOINTS["revolute"])
    system.add_force(TorsionalSpringDamper(system.joints[0], stiffness=30.0, angle=0.4))
    found = run(system, variant, 2.0, 0.01)
    assert errors(found)[0] < 1e-11
    assert np.ptp(found.energy.potential) > 1.0


# ---------------------------------------------------------------- order, symmetries


@pytest.mark.parametrize("variant", [*VARIANTS])
def test_order(variant):
    """Towards DOP853 at 1e-13, at the end and at output times between the steps."""
    times = np.array([0.125, 0.2485, 0.25])
    exact = rbdae.solve(
        formulated(pair(JOINTS["universal"])), (0.0, 0.25), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=times
    )
    missed = []
    for h in (5e-3, 2.5e-3, 1.25e-3):
        found = run(pair(JOINTS["universal"]), variant, 0.25, h, t_eval=times)
        one, two = (solution.states["b1"] for solution in (found, exact))
        turn = (one.orientation.inv() * two.orientation).magnitude()
        rates = np.abs(one.angular_velocity - two.angular_velocity)[times != 0.2485]  # at ends of steps
        missed.append(max(np.abs(one.position - two.position).max(), turn.max(), rates.max()))
    order = 1.0 if variant == "average-velocity" else 2.0
    assert math.log2(missed[1] / missed[2]) == pytest.approx(order, abs=0.1)


def back(problem: rbdae.Problem, y: Any, variant: str, t_end: float, step: float) -> Any:
    """The end of the way back from y, velocities turned round before and after it; two bodies."""
    y = y.copy()
    y[14:] *= -1.0
    start = dataclasses.replace(problem, start=dataclasses.replace(problem.start, y0=y))
    end = run(start, variant, t_end, step).y[-1].copy()
    end[14:] *= -1.0
    return end


@pytest.mark.parametrize("variant", [*VARIANTS])
def test_time_reversal(variant, tmp_path):
    """Velocities of the end turned round, the way back leads to the start; after a file, too. Not with (326)."""
    problem = formulated(pair(JOINTS["cylindrical"]))
    there = run(problem, variant, 1.0, 0.01)
    there.save(tmp_path / "there.npz")
    end = back(problem, rbdae.load(tmp_path / "there.npz").y[-1], variant, 1.0, 0.01)
    missed = np.abs(end - there.y[0]).max() / np.abs(there.y).max()
    assert missed < 1e-12 if variant in SYMMETRIC else missed > 1e-4


@pytest.mark.parametrize("variant", [*VARIANTS])
def test_turning_the_start_turns_the_motion(variant):
    turn = Rotation.from_rotvec((0.3, -1.1, 0.7))
    one = run(pair(JOINTS["universal"]), variant, 0.5, 0.01).states["b1"]
    two = run(pair(JOINTS["universal"], turn), variant, 0.5, 0.01).states["b1"]
    assert ((turn * one.orientation).inv() * two.orientation).magnitude().max() < 1e-12
    np.testing.assert_allclose(turn.apply(one.position), two.position, rtol=0, atol=1e-12)


# ---------------------------------------------------------------- runs


@pytest.mark.skipif(not JIT, reason="without the JIT there is no code of one model")
@pytest.mark.parametrize("variant", [*VARIANTS])
def test_code_of_one_model_takes_the_same_steps(variant):
    """Also between the steps, and at output times where a Newton iteration is not what was called last."""
    times = np.linspace(0.0, 0.2, 37)
    problems = [formulated(pair(JOINTS["cylindrical"]), code=code) for code in ("traced", "generic")]
    one, two = (run(problem, variant, 0.2, 0.01, t_eval=times) for problem in problems)
    assert (one.stats.code, two.stats.code) == ("traced", "generic")
    np.testing.assert_allclose(one.y, two.y, rtol=0, atol=1e-11 * np.abs(one.y).max())


def test_what_is_refused():
    system = rbdae.models.rotations_top()
    with pytest.raises(Unsupported, match="leave out projection"):
        run(system, "rodrigues", 1.0, 0.1, projection=True)
    with pytest.raises(ValueError, match="variant must be one of 'rodrigues', 'conformal', 'average-momentum'"):
        run(system, "euler", 1.0, 0.1)
    with pytest.raises(Unsupported, match=r"'index-2' is a DAE .* takes 'index-0'"):
        rbdae.solve(rbdae.formulate(system, "index-2"), (0.0, 1.0), solver="rbdae:midpoint", step=0.1)
