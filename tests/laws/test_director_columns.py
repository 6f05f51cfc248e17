"""Remark 4.6 of [NS]: directors with the constraints of the columns of R, and T* of the spatial angular velocity."""

from __future__ import annotations

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing, close

from rbdae.formulations import FORMULATIONS

COLUMNS = {"director_constraints": "columns"}
INTERNAL = [p for p in cases.ALL_PAIRINGS if p.rotation == "directors" and not p.angular]
ANGULAR = [Pairing(f, "directors", "angular") for f in ("index-0", "null-space-overdetermined")]
FORMS = [*INTERNAL, *ANGULAR]
FEW = cases.covering(FORMS, 1)


def _symmetric(la):
    return np.array([[la[0], la[3], la[4]], [la[3], la[1], la[5]], [la[4], la[5], la[2]]])


@pytest.mark.parametrize("pairing", FORMS if cases.NIGHTLY else FEW[::3], ids=str)
def test_derivatives(pairing, rng):
    derivatives.check("C", pairing, rng, **COLUMNS)


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("pairing", FEW, ids=str)
def test_the_motion_is_the_same(pairing):
    columns, rows = (cases.problem("C", pairing, **options) for options in (COLUMNS, {}))
    moving = slice(0, columns.layout.s.start)
    assert close(columns.y0[moving], rows.y0[moving], 1e-13)
    assert close(columns.rates(0.0, columns.y0)[0], rows.rates(0.0, rows.y0)[0], 1e-9)
    residual = columns.residual(0.0, columns.y0, columns.yd0)
    assert np.abs(residual).max() < 1e-11 * max(1.0, np.abs(columns.yd0).max())


@pytest.mark.parametrize("pairing", INTERNAL, ids=str)
def test_multipliers_are_turned_with_the_body(pairing):
    """G_int^T la = G_int*^T la*: R La* = La R, and those of the joints are the same."""
    columns, rows = (cases.problem("C", pairing, **options) for options in (COLUMNS, {}))
    found, wanted = (p.rates(0.0, p.y0)[1] for p in (columns, rows))
    n = columns.layout.n_internal
    size = np.abs(wanted).max()
    assert np.abs(found[n:] - wanted[n:]).max() < 1e-9 * size
    for b, z in enumerate(columns.natural(0.0, columns.y0)):
        R = z[3:12].reshape(3, 3).T
        turned = R.T @ _symmetric(wanted[6 * b : 6 * b + 6]) @ R
        assert np.abs(_symmetric(found[6 * b : 6 * b + 6]) - turned).max() < 1e-9 * size


@pytest.mark.parametrize("pairing", FEW, ids=str)
def test_off_the_manifold(pairing, rng):
    """The constraints are (44) and their rates, and elimination and residual agree wherever the directors are."""
    problem = cases.problem("C", pairing, **COLUMNS)
    y = problem.y0.copy()
    y[: problem.layout.v.stop] += 0.02 * rng.standard_normal(problem.layout.v.stop)
    found = problem.constraints(0.0, y)
    for b, z in enumerate(problem.natural(0.0, y)):
        R, Rd = z[3:12].reshape(3, 3).T, z[15:24].reshape(3, 3).T
        excess, rate = R.T @ R - np.eye(3), R.T @ Rd + Rd.T @ R
        for values, E in ((found.position, excess), (found.velocity, rate)):
            wanted = [*(0.5 * np.diag(E)), E[0, 1], E[2, 0], E[1, 2]]
            np.testing.assert_allclose(values[6 * b : 6 * b + 6], wanted, rtol=0, atol=1e-11)
    form = FORMULATIONS[pairing.formulation]
    if pairing.angular or form.multipliers == "integrals" or form.unknowns != "velocities":
        return
    rates, la = problem.rates(0.0, y)
    yd = np.zeros(problem.n)
    yd[: len(rates)] = rates
    if form.multipliers == "values":
        y[problem.layout.la] = la
        y[problem.layout.mu] = 0.0
    residual = problem.residual(0.0, y, yd)[: problem.layout.v.stop]
    assert np.abs(residual).max() < 1e-11 * max(1.0, np.abs(la).max(initial=0.0), np.abs(rates).max())


# ---------------------------------------------------------------- T* of the spatial angular velocity


def _skew(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def test_the_kinematic_matrix_is_the_one_of_the_spatial_velocity():
    """(45): ddot = -E(d) omega; (46): pdot = (0, omega) o p / 2; both G T* = 0."""
    for rotation in ("directors", "quaternion"):
        problem = cases.problem("A", Pairing("index-1", rotation, "spatial"))
        a = problem.y0[problem.layout.q]
        K = problem.matrices(0.0, problem.y0).K
        if rotation == "directors":
            wanted = np.vstack([-_skew(d) for d in a.reshape(3, 3)])
            T = problem.constraints(0.0, problem.y0)
            assert np.abs(T.velocity).max() < 1e-13
        else:
            wanted = 0.5 * np.vstack([-a[1:], a[0] * np.eye(3) - _skew(a[1:])])
        assert close(K, wanted, 1e-14)


@pytest.mark.parametrize("formulation", ["index-1", "null-space"])
def test_the_mass_matrix_depends_on_the_attitude(formulation):
    """Remark 4.6: R J R^T, where the material velocities have J; T of two bodies has +-(R rho)^ in its rows of x."""
    spatial, material = (cases.problem("C", Pairing(formulation, "quaternion", v)) for v in ("spatial", "angular"))
    found, known = (p.matrices(0.0, p.y0) for p in (spatial, material))
    R = [z[3:12].reshape(3, 3).T for z in spatial.natural(0.0, spatial.y0)]
    P = np.eye(len(found.psi))
    for b in range(2):
        P[6 * b + 3 : 6 * b + 6, 6 * b + 3 : 6 * b + 6] = R[b]
    assert close(found.M, P @ known.M @ P.T, 1e-14) and close(found.G, known.G @ P.T, 1e-14)
    assert close(found.psi, P @ known.psi, 1e-12)
    if found.T is not None:
        turned = np.eye(found.T.shape[1])
        turned[3:6, 3:6], turned[6:9, 6:9] = R[0], R[1]
        assert close(found.T, P @ known.T @ turned.T, 1e-13)
        assert np.allclose(found.T[9:12, 6:9], np.eye(3)) and np.allclose(found.T[6:9, 3:6], -found.T[6:9, 3:6].T)
