"""The null-space form with g = 0 kept by a kinematic correction: its index, its rows, and runs that do not drift."""

from __future__ import annotations

from math import comb, factorial

import cases
import numpy as np
import pytest
from cases import close, differences

import rbdae
from rbdae.formulations import NullSpaceGGL

MODELS = {
    "A": rbdae.models.heavy_top,
    "B": rbdae.models.tennis_racket,
    "C": rbdae.models.linked_bodies,
    "slider crank": rbdae.models.spatial_slider_crank,
}


def _problem(model, correction="integral", rotation="quaternion"):
    return rbdae.formulate(MODELS[model](), NullSpaceGGL(correction=correction), rotation=rotation)


# ---------------------------------------------------------------- the index


def _index(problem, most=3):
    """The differentiation index near the start, by ranks of the derivative array of the equations linearised along a
    curve, E(t) x' + A(t) x = 0: the least k for which its derivatives up to the k-th determine x' ([HW96]
    VII.1). Block (j, i) of the array, the factor of the (i + 1)-th derivative of x in the j-th of the equations, is
    C(j, i) E^(j - i) + C(j, i + 1) A^(j - i - 1)."""
    n = problem.n
    E, A = _along_a_curve(problem, most)
    for k in range(most + 1):
        J = np.zeros((k + 1, n, k + 1, n))
        for j in range(k + 1):
            for i in range(j + 1):
                J[j, :, i] = comb(j, i) * E[j - i]
                if i < j:
                    J[j, :, i] += comb(j, i + 1) * A[j - i - 1]
        J = _equilibrated(J.reshape((k + 1) * n, (k + 1) * n))
        if _rank(J) - _rank(J[:, n:]) == n:
            return k
    return None


def _along_a_curve(problem, most):
    """E, A and their derivatives at t0 along y0 + t yd0, by polynomials through nine points; time in units in which no
    unknown changes fast."""
    t, y, yd = problem.t0, problem.y0, problem.yd0
    slow = 0.05 / max(1.0, np.abs(yd).max())
    nodes = np.cos(np.pi * (np.arange(9) + 0.5) / 9)
    values = []
    for s in nodes * slow:
        A = problem.jacobian(t + s, y + s * yd, yd, 0.0)
        values.append((problem.jacobian(t + s, y + s * yd, yd, 1.0) - A, A))
    found = []
    for part in zip(*values, strict=True):
        coefficients = np.linalg.solve(np.vander(nodes, increasing=True), np.reshape(part, (9, -1)))
        shape = part[0].shape
        found.append([factorial(j) * coefficients[j].reshape(shape) for j in range(most + 1)])
    E, A = found
    return E, [slow * a for a in A]


def _equilibrated(J):
    """Rows and columns of size one: units do not matter for ranks."""
    for _ in range(20):
        for axis in (0, 1):
            size = np.sqrt(np.abs(J).max(axis=axis, keepdims=True))
            J = J / np.where(size > 1e-12, size, 1.0)
    return J


def _rank(J):
    """The rank, where there is a gap between singular values."""
    values = np.linalg.svd(J, compute_uv=False) if J.shape[1] else np.zeros(1)
    rank = int(np.count_nonzero(values > 1e-7))
    assert rank in (0, len(values)) or values[rank] < 1e-2 * values[rank - 1], values
    return rank


@pytest.mark.parametrize("model", ["C", "slider crank"])
@pytest.mark.parametrize("correction, index", [("integral", 1), ("value", 2)])
def test_the_index_by_the_derivative_array(model, correction, index):
    problem = _problem(model, correction)
    assert problem.index == index
    assert _index(problem) == index


@pytest.mark.parametrize("form, index", [("index-3", 3), ("ggl", 2)])
def test_the_derivative_array_knows_other_forms(form, index):
    assert _index(rbdae.formulate(MODELS["C"](), form, rotation="euler-313")) == index


# ---------------------------------------------------------------- the rows


@pytest.mark.parametrize("system, rotation", [("C", "directors"), ("tied", "euler-313"), ("loop", "quaternion")])
def test_rows(system, rotation, rng):
    """Those of the null-space form with G^T mu, G by differences of g, then g; the integrals enter nowhere."""
    plain = cases.formulate(cases.SYSTEMS[system](), ("null-space", rotation, "angular"))
    forms = [
        cases.formulate(cases.SYSTEMS[system](), (NullSpaceGGL(correction=c), rotation, "angular"))
        for c in ("integral", "value")
    ]
    problem, n = forms[0], plain.n
    q, mu = problem.layout.q, problem.layout.mu
    y, yd = rng.standard_normal((2, problem.n))
    y[:n] = plain.y0 + 0.02 * y[:n]
    found = problem.residual(0.3, y, yd)
    g = plain.constraints(0.3, y[:n]).position
    assert close(found[mu], g, 1e-12) and len(g) == mu.stop - mu.start
    assert close(found[q.stop : n], plain.residual(0.3, y[:n], yd[:n])[q.stop :], 1e-12)
    # the correction turns bodies as velocities do: K K^T in the charts' metric
    K = plain.matrices(0.3, y[:n], sparse=False).K
    G = differences(lambda x: plain.constraints(0.3, np.concatenate([x, y[q.stop : n]])).position, y[q])
    joints = G.copy()
    internal = {"quaternion": 1, "directors": 6}.get(rotation, 0) * len(plain.system.bodies)
    wanted = K @ (K.T @ joints[internal:].T) @ yd[mu][internal:] + G[:internal].T @ yd[mu][:internal]
    assert close(found[q] - plain.residual(0.3, y[:n], yd[:n])[q], wanted, 1e-7)
    moved = y.copy()
    moved[mu] += 1.0
    assert np.array_equal(problem.residual(0.3, moved, yd), found)
    # with mu among the unknowns
    moved[mu] = yd[mu]
    assert close(forms[1].residual(0.3, moved, np.where(forms[1].differential, yd, 0.0)), found, 1e-13)


# ---------------------------------------------------------------- runs


@pytest.mark.parametrize(
    "model, rotation, solver, correction, error",
    [
        ("A", "quaternion", "sksundae:ida", "integral", 1e-7),
        ("B", "quaternion", "solve_dae:Radau", "integral", 1e-7),
        ("C", "directors", "solve_dae:Radau", "value", 1e-7),
        ("slider crank", "bryant-321", "assimulo:Radau5DAE", "value", 1e-8),
    ],
)
def test_runs_do_not_drift(model, rotation, solver, correction, error):
    """Drift below the tolerance, velocities on their constraints to rounding, the motion of the null-space form."""
    cases.need(solver)
    tolerance, t_end = 1e-8, 0.3
    problem = _problem(model, correction, rotation)
    run = rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=tolerance, atol=tolerance)
    assert run.success, run.message
    g = problem.constraints(run.t, run.y)
    assert np.abs(g.position).max() < tolerance
    exact = rbdae.solve(
        rbdae.formulate(MODELS[model](), "null-space", rotation="quaternion"),
        (0.0, t_end),
        solver="rbdae:dop853",
        rtol=1e-12,
        atol=1e-12,
    )
    for body in problem.system.bodies:
        here, there = run.states[body.name], exact.states[body.name]
        e = np.abs(here.position[-1] - there.position[-1]).max()
        d = np.abs(here.orientation[-1].as_matrix() - there.orientation[-1].as_matrix()).max()
        assert e < error and d < error
