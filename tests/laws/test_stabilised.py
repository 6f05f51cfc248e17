"""What the stabilised, Baumgarte and overdetermined forms promise: constraints that stay, violations that decay as a
linear equation says, and the same motion."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import PAIRINGS, Pairing, close
from scipy.linalg import expm

import rbdae
from rbdae.formulations import FORMULATIONS

# ---------------------------------------------------------------- both constraints are kept


@pytest.mark.parametrize(
    "formulation, rotation, velocity, solver",
    # solvers in turn; both at night
    [
        pytest.param(form, *unknowns, solver, marks=[pytest.mark.nightly] * ((i + j + k) % 2))
        for i, form in enumerate(("ggl", "hiller-anantharaman"))
        for j, unknowns in enumerate((("quaternion", "angular"), ("directors", "coordinate")))
        for k, solver in enumerate(("sksundae:ida", "scikits.odes:ida"))
    ],
)
def test_positions_and_velocities_stay_on_their_constraints(formulation, rotation, velocity, solver):
    cases.need(solver)
    problem = cases.formulate(
        cases.turning_four_bar("redundant"), Pairing(formulation, rotation, velocity), redundant="minimum-norm"
    )
    tolerance = 1e-8
    run = rbdae.solve(problem, (0.0, 5.0), solver=solver, rtol=tolerance, atol=tolerance)
    assert run.success, run.message
    g = problem.constraints(run.t, run.y)
    n_bodies = 3 if velocity == "angular" else 0
    # the corrected rates of parameters have no constraint of the chart with angular velocities
    assert np.abs(g.position[:, n_bodies:]).max() < 100 * tolerance
    assert np.abs(g.velocity[:, n_bodies:]).max() < 1000 * tolerance
    mu = run.y[:, problem.layout.mu]
    assert mu.shape[1] > 0
    if formulation == "ggl":
        # tolerance over the step: single tiny steps of a start or restart make it large
        assert np.quantile(np.abs(mu).max(axis=1), 0.95) < 2e-2
    else:
        assert np.abs(mu).max() < 1e-5  # their integral
    # the linkage has gone through a good part of its range
    states = run.states["a"]
    assert np.ptp(states.position[:, 0]) > 0.3


CORRECTED = [p for p in PAIRINGS if (f := FORMULATIONS[p.formulation]).corrected and f.multipliers != "none"]


@pytest.mark.parametrize("pairing", CORRECTED, ids=str)
def test_the_correction_is_the_force_on_velocities(pairing, rng):
    """G^T mu enters qdot as G^T la enters the balance of momentum: the columns are the same, through K(a) where the
    velocities are angular."""
    problem = cases.problem("tied", pairing)
    y = problem.y0 + 0.05 * rng.standard_normal(problem.n)
    yd = rng.standard_normal(problem.n)
    J0, J1 = (problem.jacobian(0.0, y, yd, c) for c in (0.0, 1.0))
    J = J1 - J0 if (FORMULATIONS[pairing.formulation].multipliers == "integrals") else J0
    q, v, la, mu = problem.layout.q, problem.layout.v, problem.layout.la, problem.layout.mu
    assert np.abs(J[q, la]).max() == 0.0
    assert np.abs(J[v, mu]).max() == 0.0
    kinematics = np.eye(q.stop) if not pairing.angular else -J0[q, v]  # qdot = K v - K G^T mu
    force = J[v, la]
    if pairing.velocity == "spatial":  # whose rows are those of the material ones
        force = np.linalg.solve(cases.turned_rows(problem, 0.0, y).T, force)
    wanted = kinematics @ force
    assert np.abs(wanted).max() > 0.1
    assert close(J[q, mu], wanted, 1e-12)


INTEGRATED = ["C", "tied", "loop"]


@pytest.mark.parametrize("system", INTEGRATED)
def test_hiller_anantharamans_unknowns_are_integrals(system, rng):
    its = [pairing for pairing in PAIRINGS if pairing.formulation == "hiller-anantharaman"]
    for pairing in its if cases.NIGHTLY else its[INTEGRATED.index(system) :: len(INTEGRATED)]:
        problem = cases.problem(system, pairing)
        plain = cases.problem(system, pairing._replace(formulation="ggl"))
        assert problem.differential.all()
        la, mu = problem.layout.la, problem.layout.mu
        y, yd = plain.y0 + 0.1 * rng.standard_normal(plain.n), plain.yd0 + rng.standard_normal(plain.n)
        other = y.copy()
        other[la], other[mu] = rng.standard_normal((2, la.stop - la.start))  # the integrals themselves enter nowhere
        rates = yd.copy()
        rates[la], rates[mu] = y[la], y[mu]
        np.testing.assert_allclose(
            problem.residual(0.0, other, rates), plain.residual(0.0, y, yd), rtol=0, atol=1e-12 * np.abs(yd).max() * 10
        )
        np.testing.assert_allclose(
            problem.multipliers(0.0, problem.y0), plain.y0[plain.layout.la], atol=1e-9 * (1 + np.abs(plain.y0).max())
        )


# ---------------------------------------------------------------- Baumgarte


@pytest.mark.parametrize("alpha, beta", [(2.0, 2.0), (0.5, 4.0), (5.0, 0.0), (0.0, 0.0)])
@pytest.mark.parametrize("rotation, velocity", [("quaternion", "coordinate"), ("directors", "angular")])
def test_violations_decay_as_the_linear_equation_says(alpha, beta, rotation, velocity, rng):
    """gddot + 2 alpha gdot + beta^2 g = 0 along the exact solution, from an inconsistent start."""
    pairing = Pairing("baumgarte-ode", rotation, velocity)
    problem = cases.formulate(cases.turning_four_bar(), pairing, alpha=alpha, beta=beta)
    y = problem.y0 + 1e-3 * rng.standard_normal(problem.n)
    problem.y0[:] = y
    t = np.linspace(0.0, 0.8, 9)
    run = rbdae.solve(problem, (0.0, 0.8), solver="scipy:DOP853", rtol=1e-12, atol=1e-12, t_eval=t)
    assert run.success, run.message
    g = problem.constraints(run.t, run.y)
    # what angular velocities keep of the charts' own constraints obeys no such equation
    first = 0 if velocity == "coordinate" else 3 * 6
    position, speed = g.position[:, first:], g.velocity[:, first:]
    assert np.abs(position[0]).max() > 1e-4
    A = np.array(((0.0, 1.0), (-(beta**2), -2.0 * alpha)))
    for k, time in enumerate(t):
        wanted = expm(A * time) @ np.array((position[0], speed[0]))
        np.testing.assert_allclose(position[k], wanted[0], rtol=0, atol=1e-9)
        np.testing.assert_allclose(speed[k], wanted[1], rtol=0, atol=1e-8)


@pytest.mark.plain  # two forms have the same bits by the same kernels alone
@pytest.mark.parametrize("name", ["C", "tied", "loop"])
def test_baumgarte_without_parameters_is_index_1(name, rng):
    for p in PAIRINGS:
        if p.formulation != "baumgarte":
            continue
        problem = cases.problem(name, p, alpha=0.0, beta=0.0)
        plain = cases.problem(name, p._replace(formulation="index-1"))
        y, yd = plain.y0 + 0.1 * rng.standard_normal(plain.n), rng.standard_normal(plain.n)
        np.testing.assert_array_equal(problem.residual(0.0, y, yd), plain.residual(0.0, y, yd))


# ---------------------------------------------------------------- overdetermined


# that of the null-space form has a test of its own
OVERDETERMINED = [
    p
    for p in PAIRINGS
    if FORMULATIONS[p.formulation].kind == "overdetermined"
    and FORMULATIONS[p.formulation].unknowns != "quasi-velocities"
]


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("pairing", OVERDETERMINED, ids=str)
def test_further_equations_are_the_constraints(pairing, rng):
    problem = cases.problem("tied", pairing)
    form = FORMULATIONS[pairing.formulation]
    name = "hamiltonian-momentum" if form.unknowns == "momenta" else f"index-{form.index}"
    square = cases.problem("tied", pairing._replace(formulation=name))
    y, yd = problem.y0 + 0.1 * rng.standard_normal(problem.n), rng.standard_normal(problem.n)
    residual = problem.residual(0.0, y, yd)
    wanted_first = square.residual(0.0, y, yd)
    # two kernels of all models share their loops, two recordings are compiled each for itself
    level = 0.0 if problem.code == "plain" else 1e-13 * np.abs(wanted_first).max()
    np.testing.assert_allclose(residual[: problem.n], wanted_first, rtol=0, atol=level)
    g = problem.constraints(0.0, y)
    internal = len(g.position) - int(problem.model.primitives["n"].sum())
    # constraints of the chart are equations only where the velocities do not keep them by themselves
    first = internal if pairing.angular else 0
    wanted = [g.position[first:], g.velocity[first:]][: len(form.further_levels)]
    np.testing.assert_allclose(residual[problem.n :], np.concatenate(wanted), rtol=0, atol=1e-13)
