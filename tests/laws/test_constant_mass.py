"""A u' = f(t, u) with a constant A, [NS] (13): its rows, derivatives and classes, and runs by a code that knows
nothing of rbdae."""

from __future__ import annotations

import cases
import numpy as np
import pytest
from cases import close, differences
from scipy.linalg import lu_factor, lu_solve

import rbdae
from rbdae.formulations import FORMULATIONS

SQUARE = [*{p.formulation: p for p in cases.turns(1) if FORMULATIONS[p.formulation].kind != "overdetermined"}.values()]


def _apart(form, u):
    """w, y and yd of u, where yd is that of the differential equations: A u' = f."""
    problem = form.problem
    y = form.unknowns(u)
    f = form.f(form.t0, u)
    yd = np.zeros(problem.n)
    rates = f[form.diagonal == 1.0]
    yd[problem.differential] = rates
    return y, yd, f


@pytest.mark.parametrize("pairing", SQUARE, ids=str)
def test_rows_are_those_of_the_residual(pairing, rng):
    """Where w is any, rates by the rows with a one in A make the rest of the residual what the other rows are."""
    problem = cases.problem("C", pairing)
    form = problem.with_constant_mass()
    assert form.n == len(form.labels) == len(set(form.labels)) == problem.n + len(form.u0[form.w])
    assert np.abs(form.f(form.t0, form.u0) * (1.0 - form.diagonal)).max() < 1e-10 * (1.0 + np.abs(form.u0).max())
    u = form.u0 + 0.02 * rng.standard_normal(form.n)
    y, yd, f = _apart(form, u)
    if form.w.start == form.w.stop:
        assert form.mass.trace() == form.n and close(f, problem.rhs(form.t0, y), 1e-13)
    else:
        F = problem.residual(form.t0, y, yd)
        rest = np.sort(np.abs(f[form.diagonal == 0.0]))
        size = np.abs(F).max()
        assert np.abs(F[problem.layout.q]).max() < 1e-12 * size
        found = np.sort(np.abs(F))[-len(rest) :]
        assert np.abs(found - rest).max() < 1e-12 * size
    J = form.jacobian(form.t0, u)
    assert close(J, differences(lambda x: form.f(form.t0, x), u, 1e-4), 1e-6)


@pytest.mark.parametrize("pairing", SQUARE, ids=str)
def test_classes(pairing):
    """By the response to disturbances of the equations, [HW96] VII.1: row k of (r A - J)^-1 grows as r^(class - 1)."""
    problem = cases.problem("C", pairing)
    form = problem.with_constant_mass()
    if not (form.diagonal == 0.0).any():
        assert not form.variable_index.any()
        return
    A, J = form.mass, form.jacobian(form.t0, form.u0)
    fast = [np.abs(np.linalg.inv(r * A - J)).max(axis=1) for r in (1e6, 1e7)]
    found = np.maximum(np.rint(np.log10(fast[1] / fast[0])).astype(int) + 1, 1)
    assert np.array_equal(form.variable_index, found), (form.variable_index, found)


# ---------------------------------------------------------------- a code of another house

ROOT = np.sqrt(6.0)
RADAU = (
    np.array(
        [
            [(88 - 7 * ROOT) / 360, (296 - 169 * ROOT) / 1800, (-2 + 3 * ROOT) / 225],
            [(296 + 169 * ROOT) / 1800, (88 + 7 * ROOT) / 360, (-2 - 3 * ROOT) / 225],
            [(16 - ROOT) / 36, (16 + ROOT) / 36, 1 / 9],
        ]
    ),
    np.array([(4 - ROOT) / 10, (4 + ROOT) / 10, 1.0]),
)
"""The method of RADAU5, [HW96] IV.5."""


def radau(A, f, jacobian, t, u, t_end, n):
    """u at t_end after n equal steps of Radau IIA with three stages, for A u' = f(t, u)."""
    a, c = RADAU
    h, m = (t_end - t) / n, len(u)
    for k in range(n):
        start = t + k * h
        factors = lu_factor(np.kron(np.eye(3), A) - h * np.kron(a, jacobian(start, u)))
        Z = np.zeros((3, m))
        for _ in range(30):
            values = np.array([f(start + c[i] * h, u + Z[i]) for i in range(3)])
            step = lu_solve(factors, (h * (a @ values) - Z @ A.T).ravel()).reshape(3, m)
            Z += step
            if np.abs(step).max() < 1e-13 * (1.0 + np.abs(u).max()):
                break
        else:
            raise AssertionError("Newton's iteration has not converged")
        u = u + Z[2]
    return u


@pytest.mark.parametrize(
    "model, form, rotation, velocity, t_end",
    [
        ("heavy_top", "index-1", "quaternion", "coordinate", 0.1),
        ("linked_bodies", "index-1", "quaternion", "angular", 0.01),
        ("linked_bodies", "null-space", "quaternion", "angular", 0.01),
        ("linked_bodies", "ggl", "bryant-321", "angular", 0.01),
    ],
)
def test_a_code_for_constant_masses_runs_it(model, form, rotation, velocity, t_end):
    """With the order of the method, 5."""
    system = rbdae.models.MODELS[model]()
    problem = rbdae.formulate(system, form, rotation=rotation, velocity=velocity)
    found = problem.with_constant_mass()
    exact = rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13)
    errors = []
    for n in (8, 16):
        u = radau(found.mass, found.f, found.jacobian, found.t0, found.u0, t_end, n)
        Z = problem.natural(t_end, found.unknowns(u))
        wanted = exact.problem.natural(t_end, exact.y[-1])
        errors.append(np.abs(Z - wanted).max() / np.abs(wanted).max())
    assert errors[1] < 1e-9
    assert 4.7 < np.log2(errors[0] / errors[1]) < 5.3, errors


def test_what_has_no_constant_mass_is_refused():
    problem = rbdae.formulate(cases.heavy_top(), "null-space-overdetermined")
    with pytest.raises(ValueError, match="more equations than unknowns"):
        problem.with_constant_mass()
    form = rbdae.formulate(cases.heavy_top(), "index-1").with_constant_mass()
    with pytest.raises(ValueError, match="u must have"):
        form.unknowns(np.zeros(2))
    with pytest.raises(ValueError, match="u, the"):
        form.f(0.0, np.zeros(2))
