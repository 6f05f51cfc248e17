"""Jacobians of right-hand sides by the form of index 1 are the derivatives of what the right-hand side computes."""

from __future__ import annotations

import zlib

import cases
import inside
import numpy as np
import pytest
import traced_cases
from cases import Pairing
from test_redundancy import _windows

import rbdae
from rbdae.formulations.base import Derivative

FORMS = ("index-0", "baumgarte-ode", "projected-0", "hamiltonian-eliminated", "null-space")
LEVELS = {"tied": 5e-12, "model-bricard": 5e-12, "model-flyball_governor": 1e-8}
"""Of the largest entry, where ties are nearly dependent, and for light bodies in angles; off its constraints the
governor's loop has small pivots in the order of the loops over joints, which models of its size do not have (1e-9; on
them it has 1e-13); 3e-13 for all others: both
solve linear systems, in another order."""

CASES = [case for case in traced_cases.drawn(40) if case.pairing.formulation in FORMS][: cases.count(3, 300)]
FEW = [
    traced_cases.Case(system, Pairing(*pairing))
    for system, pairing in (
        ("loop", ("hamiltonian-eliminated", "quaternion", "coordinate")),
        ("tied", ("projected-0", "quaternion", "coordinate")),
        ("redundant", ("baumgarte-ode", "quaternion", "angular")),
        ("drives", ("index-0", "directors", "coordinate")),
        ("user-python", ("index-0", "quaternion", "spatial")),
        ("model-double_pendulum", ("null-space", "directors", "spatial")),
        ("struts-tree", ("null-space", "quaternion", "angular")),
    )
]


def as_derived(problem, t, y):
    """The same by differentiating what the right-hand side has recorded at the state."""
    n = problem.n
    out = np.empty((n, n))
    inside.in_python(problem.workspace, Derivative(problem.workspace.settings.kernels.rates))(t, y, out)
    return out


@pytest.mark.sampled
@pytest.mark.parametrize("case", dict.fromkeys([*FEW, *CASES]), ids=str)
def test_derivatives_by_the_residual_are_those_of_the_right_hand_side(monkeypatch, case):
    """On the constraints and off them: all forms, velocities and charts, forces, drives, users' laws, dropped rows."""
    try:
        problem = case.problem("auto")
    except ValueError as error:
        assert "singular" in str(error)  # a chart or a director mass that does not fit the system
        return
    monkeypatch.setattr(inside.rates_jacobian, "RATES_FROM", 1)
    made = inside.rates_jacobian.rates_code(problem.workspace, inside.traced.Tally())
    if made is None:
        loops = problem.workspace.settings.structure == "loops"
        assert loops or len(problem.workspace.arrays["frictions"])
        return
    rng = np.random.default_rng(zlib.crc32(str(case).encode()))
    for off in (0.0, 0.01):
        y = problem.y0 + off * rng.standard_normal(problem.n)
        found, wanted = np.full((problem.n, problem.n), np.nan), as_derived(problem, 0.1, y)
        made.call(0.1, y, found)
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        assert error <= LEVELS.get(case.system, 3e-13), (
            off,
            error,
            problem.labels[int(np.argmax(np.abs(found - wanted).max(axis=0)))],
        )


def test_one_equation_that_is_suspended_has_no_multiplier(monkeypatch):
    """Where all rods of windows are in line, two equations follow from the others."""
    monkeypatch.setattr(inside.rates_jacobian, "RATES_FROM", 1)
    problem, flat = _windows(Pairing("index-0", "quaternion", "angular"), 0.0)
    assert np.count_nonzero(inside.pivots(problem, 0.0, flat) == 0.0) == 2
    found, wanted = problem.rhs_jacobian(0.0, flat), as_derived(problem, 0.0, flat)
    np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-11 * np.abs(wanted).max())
    assert problem.callbacks._fallbacks == 0


@pytest.fixture(scope="module")
def chain():
    """A chain of twelve bodies, from which on the form of index 1 serves."""
    return rbdae.formulate(rbdae.models.chain(12), "index-0")


def test_long_models_have_the_slopes_of_their_right_hand_side(chain, rng):
    y = chain.y0 + 0.01 * rng.standard_normal(chain.n)
    J, h = chain.rhs_jacobian(0.1, y), 1e-6
    for j in rng.choice(chain.n, 12, replace=False):
        step = h * np.eye(chain.n)[j]
        slope = (chain.rhs(0.1, y + step) - chain.rhs(0.1, y - step)) / (2.0 * h)
        np.testing.assert_allclose(J[:, j], slope, rtol=0.0, atol=1e-8 * np.abs(J).max(), err_msg=chain.labels[j])
    assert chain.callbacks.code("rhs_jacobian") == "machine"
    with pytest.raises(ValueError, match="rhs_jacobian"):
        chain.callbacks.operations("rhs_jacobian")


def test_python_and_machine_code_fill_the_same_matrix_in_any_order_of_calls(chain, rng):
    """To the last bit, whatever the strides."""
    states = [chain.y0 + 0.01 * rng.standard_normal(chain.n) for _ in range(2)]
    first, second = (chain.rhs_jacobian(0.1, y) for y in states)
    columns, out = np.empty((chain.n, chain.n), order="F"), np.empty((chain.n, chain.n))
    chain.callbacks.rhs_jacobian(0.1, states[0], columns)
    np.testing.assert_array_equal(columns, first)
    function = chain.callbacks.machine("rhs_jacobian")
    run = inside.machine_call(function.address)
    assert run(function.context, 0.1, states[1].ctypes.data, None, 0.0, out.ctypes.data) == 0
    np.testing.assert_array_equal(out, second)


def test_states_without_a_solution_are_left_to_the_recorded_derivative(monkeypatch):
    """Parameters that are all zero belong to no attitude."""
    monkeypatch.setattr(inside.rates_jacobian, "RATES_FROM", 1)
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", velocity="coordinate")
    y = problem.y0.copy()
    y[problem.workspace.layout.q] = 0.0
    with np.errstate(all="ignore"):
        problem.callbacks.rhs_jacobian(0.0, y, np.empty((problem.n, problem.n)))
    assert problem.callbacks._fallbacks == 1
