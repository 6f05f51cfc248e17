"""The forms of [SNS15]: gyroscopic terms, generalised forces, the projected equations; against the formulas of the
paper written out, in every form with the multiplier of the unit norm."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing, need
from inside import Mat, Vec

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae_papers.norm_multipliers import norm_defect, norm_multipliers

GYROSCOPIC = ("third-order", "fifth-order")
PULL_BACK = ("homogeneous", "moment", "inhomogeneous")
RADIAL = ("zero", "half-trace")
FORMS = list(product(GYROSCOPIC, PULL_BACK))
COMBINATIONS = list(product(GYROSCOPIC, PULL_BACK, RADIAL))
SYSTEMS = {name: cases.SYSTEMS[name] for name in ("skew-top", "bushed", "branched", "tied")}

POINT, FORCE, TORQUE = np.array([0.3, -0.2, 0.5]), np.array([1.4, -0.7, 2.1]), np.array([-0.4, 0.9, 0.6])


def pushed(force: Any = FORCE, torque: Any = TORQUE) -> rbdae.System:
    """A body about a pivot, without weight, with a force at a point and a torque."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    body = system.add_body(
        "body",
        mass=1.0,
        inertia=cases.INERTIA,
        pivot=(0.0, 0.0, 0.0),
        orientation=(0.5, -0.1, 0.7, 0.5),
        angular_velocity=(0.9, -1.3, 0.7),
    )
    system.add_force(rbdae.forces.Force(body, force, at=POINT))
    system.add_force(rbdae.forces.Torque(body, torque))
    return system


def formulate(system: rbdae.System, formulation: str, form: tuple[str, ...] = (), **options: Any) -> rbdae.Problem:
    named = dict(zip(("gyroscopic", "pull_back", "radial_inertia"), form, strict=False))
    return rbdae.formulate(system, formulation, velocity="coordinate", **named, **options)


# ---------------------------------------------------------------- the paper, written out


def tilde(v: Vec) -> Mat:
    """(6)."""
    return np.cross(np.eye(3), v)


def L_of(p: Vec) -> Mat:
    """(9)."""
    return np.column_stack([-p[1:], p[0] * np.eye(3) - tilde(p[1:])])


def G_of(p: Vec) -> Mat:
    """(8)."""
    return np.column_stack([-p[1:], p[0] * np.eye(3) + tilde(p[1:])])


def H_of(u: Vec) -> Mat:
    """(67)."""
    return np.block([[np.zeros((1, 1)), -u[None]], [u[:, None], -tilde(u)]])


def A_of(p: Vec) -> Mat:
    """(5), as it is printed: not homogeneous."""
    return (2.0 * p[0] ** 2 - 1.0) * np.eye(3) + 2.0 * (np.outer(p[1:], p[1:]) + p[0] * tilde(p[1:]))


GENERALISED = {
    "moment": lambda p, u, f: 2.0 * L_of(p).T @ tilde(u) @ (G_of(p) @ L_of(p).T).T @ f,  # (59), A = G L^T
    "homogeneous": lambda p, u, f: 2.0 * H_of(u).T @ G_of(p).T @ f,  # (75), (82)
    "inhomogeneous": lambda p, u, f: 2.0 * H_of(u).T @ G_of(p).T @ f + 2.0 * p * (u @ f),  # (69)
}


def gyroscopic_term(name: str, J: Mat, p: Vec, w: Vec) -> Vec:
    """(23) and (29), on the left side."""
    third = 8.0 * L_of(w).T @ J @ L_of(p) @ w
    return third if name == "third-order" else L_of(p).T @ L_of(p) @ third


# ---------------------------------------------------------------- the equations


@pytest.mark.parametrize("gyroscopic, pull_back", FORMS)
def test_the_residual_is_the_paper_at_any_p(gyroscopic, pull_back, rng):
    """(23) or (29) with each of the generalised forces, on and off the unit sphere."""
    problem = formulate(pushed(torque=(0, 0, 0)), "index-1", (gyroscopic, pull_back))
    J = problem.system.bodies[0].inertia
    for _ in range(3):
        y, yd = rng.standard_normal(9), rng.standard_normal(9)
        p, w, la, wd = y[:4], y[4:8], y[8], yd[4:8]
        wanted = 4.0 * L_of(p).T @ J @ L_of(p) @ wd + gyroscopic_term(gyroscopic, J, p, w) + la * p
        wanted -= GENERALISED[pull_back](p, POINT, FORCE)
        np.testing.assert_allclose(problem.residual(0.0, y, yd)[4:8], wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())


@pytest.mark.parametrize("formulation", ["projected-2", "projected-1"])
def test_the_projected_residual_is_the_paper_at_any_p(formulation, rng):
    """(25), and the unit norm in place of the fourth equation."""
    problem = formulate(pushed(torque=(0, 0, 0)), formulation)
    J = problem.system.bodies[0].inertia
    for _ in range(3):
        y, yd = rng.standard_normal(8), rng.standard_normal(8)
        p, w, wd = y[:4], y[4:8], yd[4:8]
        moment = tilde(POINT) @ (G_of(p) @ L_of(p).T).T @ FORCE
        wanted = 4.0 * J @ L_of(p) @ wd + 8.0 * L_of(p) @ L_of(w).T @ J @ L_of(p) @ w - 2.0 * moment
        found = problem.residual(0.0, y, yd)[4:8]
        np.testing.assert_allclose(found[:3], wanted, rtol=0, atol=1e-12 * np.abs(wanted).max())
        assert abs(found[3] - (p @ w if formulation == "projected-2" else p @ wd + w @ w)) < 1e-13


def test_the_projected_rates_are_those_of_the_paper(rng):
    """(38) on the unit sphere; (40) says the same."""
    problem = formulate(pushed(torque=(0, 0, 0)), "projected-0")
    J = problem.system.bodies[0].inertia
    p, w = problem.y0[:4], problem.y0[4:]
    n = tilde(POINT) @ A_of(p).T @ FORCE
    L, Ji = L_of(p), np.linalg.inv(J)
    wanted = -2.0 * L.T @ Ji @ L @ L_of(w).T @ J @ L @ w + 0.5 * L.T @ Ji @ n - p * (w @ w)
    np.testing.assert_allclose(problem.rhs(0.0, problem.y0)[4:], wanted, rtol=0, atol=1e-13)


def test_the_third_generalised_force_is_the_gradient_of_a_and_the_others_are_one_without_p(rng):
    """(54), (62): B_2 by differences; without their parts along p all three are 2 H^T G^T f, [SNS15] section 4.2."""
    p = rng.standard_normal(4)
    p /= np.linalg.norm(p)
    gradient = cases.differences(lambda q: A_of(q) @ POINT, p, 1e-3)
    np.testing.assert_allclose(gradient.T @ FORCE, GENERALISED["inhomogeneous"](p, POINT, FORCE), rtol=0, atol=1e-11)
    tangential = [(np.eye(4) - np.outer(p, p)) @ Q(p, POINT, FORCE) for Q in GENERALISED.values()]
    np.testing.assert_allclose(tangential[1:], [tangential[0]] * 2, rtol=0, atol=1e-14)


def test_bodies_are_eliminated_by_the_closed_inverse():
    """(35): what `rates` gives is the closed inverse times the right-hand side of (34), with any gyroscopic term."""
    for form in FORMS:
        problem = formulate(pushed(), "index-1", form)
        y, J = problem.y0, problem.system.bodies[0].inertia
        p, w, L = y[:4], y[4:8], L_of(y[:4])
        found = problem.matrices(0.0, y)
        matrix = np.block([[4.0 * L.T @ J @ L, p[:, None]], [p[None], np.zeros((1, 1))]])
        inverse = np.block([[0.25 * L.T @ np.linalg.inv(J) @ L, p[:, None]], [p[None], np.zeros((1, 1))]])
        np.testing.assert_allclose(matrix @ inverse, np.eye(5), rtol=0, atol=1e-14)
        np.testing.assert_allclose(found.M, matrix[:4, :4], rtol=0, atol=1e-14)
        rates, la = problem.rates(0.0, y)
        wanted = inverse @ np.append(found.psi, -w @ w)
        np.testing.assert_allclose(np.append(rates[4:], la), wanted, rtol=0, atol=1e-13 * np.abs(wanted).max())


# ---------------------------------------------------------------- multipliers


@pytest.mark.parametrize("gyroscopic, pull_back, radial", COMBINATIONS)
def test_closed_forms_of_a_point_force_and_a_torque(gyroscopic, pull_back, radial):
    """0, (30), (84), and those that the paper leaves out, from the formulas of the paper."""
    problem = formulate(pushed(), "index-1", (gyroscopic, pull_back, radial))
    J = problem.system.bodies[0].inertia
    p, w = problem.y0[:4], problem.y0[4:8]
    assert abs(8.0 * p @ L_of(w).T @ J @ L_of(p) @ w + 4.0 * problem.energy(0.0, problem.y0).kinetic) < 1e-12
    wanted = -8.0 * p @ L_of(w).T @ J @ L_of(p) @ w if gyroscopic == "third-order" else 0.0
    wanted += 4.0 * (0.5 * np.trace(J) if radial == "half-trace" else 0.0) * w @ w
    if pull_back != "moment":
        wanted += 2.0 * p @ H_of(POINT).T @ G_of(p).T @ FORCE
    if pull_back == "inhomogeneous":
        wanted += 2.0 * POINT @ FORCE - 4.0 * p[0] * p[1:] @ TORQUE
    assert abs(norm_multipliers(problem, 0.0, problem.y0)[0] - wanted) < 1e-12 * max(1.0, abs(wanted))
    assert abs(problem.multipliers(0.0, problem.y0)[0] - wanted) < 1e-12 * max(1.0, abs(wanted))


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("formulation", cases.WITH_NORM_MULTIPLIER)
@pytest.mark.parametrize("system", SYSTEMS)
def test_closed_forms_in_every_mechanism(system, formulation):
    """Joints, bushings and weights; the multipliers of the joints are the same in all combinations."""
    joints = None
    for form in COMBINATIONS:
        problem = formulate(SYSTEMS[system](), formulation, form, consistent="project")
        la = problem.multipliers(0.0, problem.y0)
        n = len(problem.system.bodies)
        size = max(1.0, np.abs(la).max())
        np.testing.assert_allclose(la[:n], norm_multipliers(problem, 0.0, problem.y0), rtol=0, atol=1e-11 * size)
        joints = la[n:] if joints is None else joints
        np.testing.assert_allclose(la[n:], joints, rtol=0, atol=1e-11 * size)
        if FORMULATIONS[formulation].multipliers == "values":
            # the start is found by the kernel on floats
            np.testing.assert_allclose(problem.run_multipliers(0.0, problem.y0), la, rtol=0, atol=1.5e-13 * size)


@pytest.mark.parametrize("formulation", ["hamiltonian", "projected-1", "projected-0"])
def test_closed_forms_of_momenta_and_of_projected_forms(formulation):
    problem = rbdae.formulate(cases.branched(), formulation, consistent="project")
    found = norm_multipliers(problem, 0.0, problem.y0)
    la = problem.multipliers(0.0, problem.y0)
    assert np.abs(la[:4] - found).max() < 1e-11 * np.abs(la).max()
    assert formulation == "hamiltonian" or not found.any()


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system", SYSTEMS)
@pytest.mark.parametrize("form", FORMS)
def test_matrices_and_rates_agree_with_the_forms_off_the_constraints(system, form, rng):
    """M vdot - psi + W la = 0, and the residual vanishes at the rates, wherever the state is; W is not G^T there."""
    problem = formulate(SYSTEMS[system](), "index-1", form, consistent="project")
    y = problem.y0 + 0.02 * rng.standard_normal(problem.n)
    found = problem.matrices(0.0, y)
    rates, la = problem.rates(0.0, y)
    size = max(1.0, np.abs(found.psi).max(), np.abs(la).max())
    assert np.abs(found.M @ rates[problem.layout.v] - found.psi + found.W @ la).max() < 1e-12 * size
    y[problem.layout.la] = la
    yd = np.append(rates, np.zeros(len(la)))
    assert np.abs(problem.residual(0.0, y, yd)).max() < 1e-11 * size
    n = len(problem.system.bodies)
    assert np.allclose(found.W[:, :n], found.G.T[:, :n])
    if form[1] == "homogeneous" or not problem.system.joints:
        # derivatives of equations in other orders
        assert np.abs(found.W - found.G.T).max() <= 1e-14 * np.abs(found.G).max()
    else:
        assert np.abs(found.W - found.G.T).max() > 0.1
    sparse = problem.matrices(0.0, y, sparse=True)
    assert np.array_equal(sparse.W.toarray(), found.W)


WITH_JACOBIANS = ("index-1", "index-0", "ggl", "hiller-anantharaman", "overdetermined")


@pytest.mark.parametrize(
    "system, formulation, form",
    # each formulation with a form, each form with a formulation or two; all at night, most of those with many joints
    [
        pytest.param(*case, marks=[pytest.mark.nightly] * ((i + j + k) % 6 != 0 or i * j > 0))
        for i, system in enumerate(("bushed", "tied"))
        for j, formulation in enumerate(WITH_JACOBIANS)
        for k, form in enumerate(FORMS)
        for case in [(system, formulation, form)]
    ],
)
def test_jacobians(system, formulation, form, rng):
    pairing = Pairing(formulation, "quaternion", "coordinate")
    derivatives.check(system, pairing, rng, gyroscopic=form[0], pull_back=form[1])


# ---------------------------------------------------------------- one motion

T_END = 0.5
RUNS = {
    "scipy:DOP853": ("index-0", "projected-0"),
    "solve_dae:Radau": ("index-2", "projected-2"),
    "assimulo:Radau5DAE": ("index-1", "projected-1"),
    "scikits.odes:ida": ("index-2", "projected-2"),
    "sksundae:ida": ("index-1", "projected-1"),
}


def linked() -> rbdae.System:
    """Two bodies, a pivot and a joint, with a force, a torque and a bushing."""
    system = cases.mixed()
    bodies = system.bodies
    system.add_force(rbdae.forces.Force(bodies[1], FORCE, at=POINT))
    system.add_force(rbdae.forces.Torque(bodies[0], TORQUE))
    return system


@cache
def end() -> Mat:
    problem = rbdae.formulate(linked(), "null-space", consistent="project")
    run = rbdae.solve(problem, (0.0, T_END), solver="scipy:DOP853", rtol=1e-13, atol=1e-13)
    return problem.natural(run.t[-1], run.y[-1])


def _run(solver: str, formulation: str, form: tuple[str, ...]) -> tuple[rbdae.Problem, rbdae.Solution]:
    need(solver)
    problem = formulate(linked(), formulation, form, consistent="project")
    run = rbdae.solve(
        problem, (0.0, T_END), solver=solver, rtol=1e-11, atol=1e-11, t_eval=np.linspace(0.0, T_END, 6), projection=True
    )
    assert run.success, run.message
    return problem, run


@pytest.mark.parametrize(
    "solver, form",
    # two forms with each solver, each form with a solver; all at night
    [
        pytest.param(solver, form, marks=[pytest.mark.nightly] * ((k - 2 * i) % 6 > 1), id=f"{solver}-{'-'.join(form)}")
        for i, solver in enumerate(RUNS)
        for k, form in enumerate(FORMS)
    ],
)
def test_one_motion_and_its_multipliers(solver, form):
    problem, run = _run(solver, RUNS[solver][0], form)
    Z = problem.natural(run.t[-1], run.y[-1])
    assert np.abs(Z - end()).max() < 1e-9 * np.abs(end()).max()
    la, n = problem.multipliers(run.t, run.y), len(problem.system.bodies)
    closed = norm_multipliers(problem, run.t, run.y)
    assert np.abs(la[:, :n] - closed).max() < 1e-9 * np.abs(la).max()
    assert (np.abs(closed).max() < 1e-9) == (form == ("fifth-order", "moment"))
    if problem.kind == "dae":  # the solver's own: 5e-8 is the worst of ten starts within rounding; the first are given
        own = run.run_multipliers[1:, :n]
        assert np.abs(own - closed[1:]).max() < 1.5e-7 * np.abs(la).max()


@pytest.mark.parametrize("solver", RUNS)
def test_one_motion_of_the_projected_forms(solver):
    problem, run = _run(solver, RUNS[solver][1], ())
    Z = problem.natural(run.t[-1], run.y[-1])
    assert np.abs(Z - end()).max() < 1e-9 * np.abs(end()).max()


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize(
    "formulation, options, words",
    [
        ("index-2", {"pull_back": "momet", "velocity": "coordinate"}, "'momet'.*'moment'"),
        ("index-2", {"gyroscopic": "fifth-order"}, "velocity='coordinate'"),
        ("null-space", {"pull_back": "homogeneous"}, "'index-2'.*'null-space'"),
        ("projected-2", {"gyroscopic": "third-order"}, "'projected-2'"),
        ("projected-0", {"rotation": "directors"}, "'directors'.*quaternion"),
    ],
)
def test_what_has_no_meaning_is_refused(formulation, options, words):
    with pytest.raises(ValueError, match=words):
        rbdae.formulate(pushed(), formulation, **options)


def test_multipliers_of_norms_that_are_not_there_are_refused():
    problem = rbdae.formulate(pushed(), "index-2")
    with pytest.raises(ValueError, match="velocity='coordinate'"):
        norm_multipliers(problem, 0.0, problem.y0)
    with pytest.raises(ValueError, match=r"norm_defect: .* has no multiplier of a unit norm"):
        norm_defect(problem, 0.0, problem.y0)
    with pytest.raises(TypeError, match=r"problem must be made by rbdae\.formulate"):
        norm_multipliers(pushed(), 0.0, problem.y0)  # type: ignore[arg-type]


def test_the_norm_multiplier_as_a_check_of_a_solution():
    """[SNS15], section 3: of (23) with (59) it is zero by elimination in every state, so that it says nothing there; as
    an unknown of index 2 it misses zero by the errors of the run. Of (29) it sees the drift: p . (29) by hand."""
    linear = {"form": ("fifth-order", "moment")}
    for formulation, zero in (("index-1", True), ("index-2", False)):
        problem = formulate(rbdae.models.heavy_top(), formulation, **linear)
        sizes = []
        for tol in (1e-4, 1e-6):
            run = rbdae.solve(problem, (0.0, 0.5), solver="sksundae:ida", rtol=tol, atol=tol)
            defect = np.abs(norm_defect(problem, run.t, run.y)["top"])
            sizes.append(np.median(defect))
            if zero:
                assert run.drift.position.max() > 1e-7
                assert defect.max() < 1e-10
        assert zero or sizes[0] > 5.0 * sizes[1] > 1e-4
    problem = formulate(pushed(torque=(0, 0, 0)), "index-0")
    y = 1.01 * problem.y0
    p, w, J = y[:4], y[4:], problem.system.bodies[0].inertia
    la = (8.0 * (L_of(p) @ w) @ J @ L_of(p) @ w + 2.0 * p @ H_of(POINT).T @ G_of(p).T @ FORCE) / (p @ p)
    found = norm_defect(problem, 0.0, y)["body"]
    assert found == pytest.approx(la - norm_multipliers(problem, 0.0, y)[0], rel=1e-10)
    assert abs(found) > 1e-3
