"""`rbdae:odex`: orders of the rows and of dense output, and tolerances."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from inside import loop_control, odex
from scipy.integrate import solve_ivp

import rbdae
from rbdae.machine.loops import memory as at

row, attempt, dense, interpolate = odex.row, odex.attempt, odex.dense, odex.interpolate
END, MEMORY, TABLE = odex.END, odex.MEMORY, odex.TABLE


def pendulum(context, t, y, yd, c, out):
    """A driven pendulum, with the signature of machine functions."""
    out[0] = y[1]
    out[1] = -np.sin(y[0]) + 0.3 * np.cos(t)
    return 0


START = np.array([0.7, -0.4])


def exact(t):
    found = solve_ivp(
        lambda s, y: [y[1], -np.sin(y[0]) + 0.3 * np.cos(s)], (0, 1), START, "DOP853", t, rtol=1e-13, atol=1e-15
    )
    return found.y.T


def prepared(h):
    """The memory of a step of size h from the start, as plain Python has it."""
    m = at.LANES
    s = SimpleNamespace(**dict.fromkeys(at.StepMemory.names, 0), vectors=np.zeros(MEMORY * m))
    s.n, s.m, s.h = 2, m, h
    s.h_max = s.t_end = s.direction = 1.0
    s.rtol, s.safe, s.shrinks, s.grows = 1e-6, 0.9, 50.0, 0.25
    vectors = s.vectors.reshape(MEMORY, m)
    vectors[at.ATOL] = 1e-6
    vectors[at.Y, :2] = START
    pendulum(None, 0.0, vectors[at.Y], None, 0.0, vectors[at.K1])
    return s, vectors


def test_the_order_of_a_row_is_twice_its_number():
    sizes = np.array([0.4, 0.2])
    wanted = exact(sizes[::-1])[::-1]
    for j in (1, 2, 3, 4):
        errors = []
        for h, end in zip(sizes, wanted, strict=True):
            s, vectors = prepared(h)
            for k in range(1, j + 1):
                assert row(pendulum, None, s, k) == at.DONE
            errors.append(np.abs(vectors[TABLE, :2] - end).max())
        order = np.log2(errors[0] / errors[1]) - 1.0  # of a step less one
        assert 2 * j - 0.6 < order < 2 * j + 1.2, (j, errors)


def test_dense_output_has_the_order_of_the_step():
    """By k + 2 rows, where the k-th has converged: an error of order H^(2 k + 4), since the errors of odd points do not
    vanish at the start of the step; that of the step is H^(2 k + 1). Here k = 1."""
    sizes, theta = np.array([0.4, 0.2]), np.array([0.13, 0.35, 0.5, 0.81])
    errors = []
    for h in sizes:
        s, vectors = prepared(h)
        s.code = 1
        vectors[at.Y_NEW, :2] = exact([h])[0]
        pendulum(None, h, vectors[at.Y_NEW], None, 0.0, vectors[END])
        s.h_done = h
        assert dense(pendulum, None, s) == at.DONE
        out = np.empty((len(theta), 2))
        for x, each in zip(theta, out, strict=True):
            interpolate(s, x, each)
        errors.append(np.abs(out - exact(theta * h)).max())
        for x, end in ((0.0, START), (1.0, vectors[at.Y_NEW, :2])):
            interpolate(s, x, out[0])
            np.testing.assert_allclose(out[0], end, rtol=0, atol=1e-14)
    assert np.log2(errors[0] / errors[1]) > 5.8, errors


def test_the_order_rises_with_the_accuracy(monkeypatch):
    """A step after the other in plain Python: at 1e-10 by more rows than at 1e-4."""
    monkeypatch.setattr(loop_control, "RATES_NEW", END)  # as the compiled loop has it bound
    rows = {}
    for tolerance in (1e-4, 1e-10):
        s, vectors = prepared(0.0)
        s.rtol, vectors[at.ATOL] = tolerance, tolerance
        found = []
        while s.t_new < 1.0:
            status = attempt(pendulum, None, s)
            assert status in (at.DONE, at.REJECTION)
            found += [s.code] * (status == at.DONE)
        assert np.abs(vectors[at.Y_NEW, :2] - exact([1.0])[0]).max() < 30 * tolerance
        rows[tolerance] = max(found)
    assert 2 <= rows[1e-4] < rows[1e-10] <= 9


# ---------------------------------------------------------------- as a solver

TOP = rbdae.models.heavy_top


@pytest.fixture(scope="module")
def top():
    return rbdae.formulate(TOP(), "null-space", rotation="quaternion")


T = np.linspace(0.0, 1.0, 38)


@pytest.fixture(scope="module")
def wanted(top):
    return rbdae.solve(top, (0.0, 1.0), solver="scipy:DOP853", rtol=1e-13, atol=1e-14, t_eval=T).y


def test_errors_follow_tolerances(top, wanted):
    """At steps and between them."""
    for tolerance in (1e-5, 1e-8, 1e-11):
        run = rbdae.solve(top, (0.0, 1.0), solver="rbdae:odex", rtol=tolerance, atol=tolerance, t_eval=T)
        assert run.success
        error = np.abs(run.y - wanted).max()
        assert error < 60 * tolerance
