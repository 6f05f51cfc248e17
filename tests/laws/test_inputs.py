"""Inputs of a system: their values are no structure, all code sees the same ones, and derivatives are exact."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from input_systems import pendulum

import rbdae
from rbdae import Table

U = {"torque": 2.0, "voltage": -1.1}

FORMS = [
    ("index-2", "generic"),
    ("index-0", "generic"),
    ("index-0", "auto"),
    ("null-space", "folded"),
    ("hamiltonian", "auto"),
    ("overdetermined", "auto"),
]


def problem(form: str = "index-0", code: str = "auto") -> rbdae.Problem:
    return rbdae.formulate(pendulum(), form, code=code)


def state(p, seed=4):
    rng = np.random.default_rng(seed)
    return p.y0 + 0.05 * rng.standard_normal(p.n), rng.standard_normal(p.n)


@pytest.mark.parametrize(("form", "code"), FORMS)
def test_all_code_has_the_values_of_its_inputs(form, code):
    """u= for one call, `with_inputs` for good, and a system that begins with these values."""
    p = problem(form, code)
    other, first = p.with_inputs(U), rbdae.formulate(pendulum(*U.values()), form, code=code)
    assert p.inputs == {"torque": 0.5, "voltage": 0.7}
    assert other.inputs == first.inputs == U
    t, (y, yd) = 0.3, state(p)
    own = p.residual(t, y, yd)
    calls = [("residual", (y, yd)), ("jacobian", (y, yd, 1.3)), ("sparse_jacobian", (y, yd, 1.3))]
    calls += [("rhs", (y,)), ("rhs_jacobian", (y,))] if p.kind == "ode" else []
    for name, arguments in calls:
        getattr(p, name)(t, *arguments, u=[0.1, 0.2])
        found = [
            getattr(p, name)(t, *arguments, u=U),
            getattr(p, name)(t, *arguments, u=[*U.values()]),
            getattr(other, name)(t, *arguments),
            getattr(first, name)(t, *arguments),
        ]
        dense = [x.toarray() if name == "sparse_jacobian" else x for x in found]
        for one in dense[:3]:
            np.testing.assert_allclose(one, dense[3], rtol=0, atol=1e-13 * max(1.0, np.abs(dense[3]).max()))
        assert np.array_equal(dense[0], dense[1])
    assert np.array_equal(own, p.residual(t, y, yd))
    assert np.abs(own - p.residual(t, y, yd, u=U)).max() > 0.1
    np.testing.assert_allclose(p.residual(t, y, yd, u={"torque": 2.0}), p.residual(t, y, yd, u=[2.0, 0.7]), rtol=0)


@pytest.mark.parametrize(("form", "code"), FORMS)
def test_the_input_jacobian_is_that_of_differences(form, code):
    """Of sixth order, on a law that is not linear in its input."""
    p = problem(form, code)
    t, (y, yd), h = 0.3, state(p), 0.02
    given = np.array([*U.values()])

    def differences(f):
        columns = []
        for e in np.eye(2):
            w = zip((-1, 9, -45, 45, -9, 1), (-3, -2, -1, 1, 2, 3), strict=True)
            columns.append(sum(a * f(given + k * h * e) for a, k in w) / (60 * h))
        return np.array(columns).T

    found = p.input_jacobian(t, y, yd, u=U)
    wanted = differences(lambda u: p.residual(t, y, yd, u=u))
    assert found.shape == (p.n_equations, 2)
    assert np.abs(wanted).max(axis=0).min() > 0.05
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8)
    np.testing.assert_allclose(p.with_inputs(U).input_jacobian(t, y, yd), found, rtol=0, atol=1e-13)
    if p.kind == "ode":
        found = p.input_jacobian(t, y, u=U)
        np.testing.assert_allclose(found, differences(lambda u: p.rhs(t, y, u=u)), rtol=0, atol=1e-8)
    else:
        with pytest.raises(AttributeError, match="is a DAE and has no right-hand side"):
            p.input_jacobian(t, y)


def test_a_start_belongs_to_its_inputs():
    """Multipliers, rates and algebraic unknowns; positions and velocities stay."""
    p, other = problem("index-2").with_inputs(U), rbdae.formulate(pendulum(*U.values()), "index-2")
    np.testing.assert_allclose(p.y0, other.y0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(p.yd0, other.yd0, rtol=0, atol=1e-12)
    assert np.abs(p.residual(p.t0, p.y0, p.yd0)).max() < 1e-11
    again = pickle.loads(pickle.dumps(p))
    assert again.inputs == U
    np.testing.assert_array_equal(again.residual(0.1, p.y0, p.yd0), p.residual(0.1, p.y0, p.yd0))


def test_a_problem_from_another_state():
    p = problem("index-2").with_inputs(U)
    y = p.y0.copy()
    y[p.layout.v] *= 2.0
    y[p.layout.s] = 0.2
    y[p.layout.la] = 7.0
    q = p.at(0.4, y)
    assert (q.t0, q.inputs) == (0.4, U)
    np.testing.assert_array_equal(q.y0[: p.layout.s.start], y[: p.layout.s.start])
    assert q.y0[p.layout.s][0] == 0.2
    assert np.abs(q.residual(q.t0, q.y0, q.yd0)).max() < 1e-11
    y[2] += 0.1
    assert np.abs(p.constraints(0.4, y).position).max() > 0.09
    assert np.abs(p.constraints(0.4, p.at(0.4, y).y0).position).max() < 1e-12


T = np.linspace(0.0, 1.0, 6)
CURVES = {
    "function": lambda t: np.sin(3.0 * t),
    "lines": (T, np.sin(3.0 * T)),
    "spline": Table(T, np.sin(3.0 * T), "cubic"),
}


@pytest.mark.parametrize("curve", CURVES)
def test_inputs_that_are_functions_of_the_time(curve):
    p = problem()
    given = CURVES[curve]
    q = p.with_inputs({"torque": given, "voltage": -1.1})
    value = Table(*given) if isinstance(given, tuple) else given
    y, _ = state(p)
    assert q.inputs == {"voltage": -1.1}
    for t in (-0.5, 0.0, 0.13, 0.97, 1.5):
        wanted = p.rhs(t, y, u=[float(value(t)), -1.1])
        np.testing.assert_allclose(q.rhs(t, y), wanted, rtol=0, atol=1e-12)
    assert q.input_jacobian(0.1, y).shape == (p.n, 1)
    back = q.with_inputs({"torque": 0.25})
    assert back.inputs == {"torque": 0.25, "voltage": -1.1}
    np.testing.assert_allclose(back.rhs(0.2, y), p.rhs(0.2, y, u=[0.25, -1.1]), rtol=0, atol=1e-13)


def test_tables():
    t, values = np.array([0.0, 1.0, 3.0, 4.0]), np.array([1.0, 3.0, -1.0, 0.5])
    assert [float(Table(t, values)(x)) for x in (-1, 0.5, 2.0, 9)] == [1.0, 2.0, 1.0, 0.5]
    assert [float(Table(t, values, "previous")(x)) for x in (-1, 0.99, 1.0, 2.9, 9)] == [1.0, 1.0, 3.0, 3.0, 0.5]
    cubic = Table(t, t**3, "cubic")
    np.testing.assert_allclose([cubic(x) for x in (-1, 0.5, 2.5, 9)], [0.0, 0.125, 15.625, 64.0], atol=1e-12)
    assert pickle.loads(pickle.dumps(cubic))(2.5) == cubic(2.5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda p: p.rhs(0.0, p.y0, u={"torq": 1.0}), "unknown input 'torq'; did you mean 'torque'"),
        (lambda p: p.rhs(0.0, p.y0, u=[1.0]), r"in the order of add_input, must be real numbers of shape \(2,\)"),
        (lambda p: p.rhs(0.0, p.y0, u={"torque": np.nan}), "input 'torque' must be finite"),
        (lambda p: p.with_inputs({"torq": 1.0}), "unknown input 'torq'"),
        (lambda p: rbdae.System().add_input("k", unit=5), "input 'k': unit must be a string, got 5"),
        (lambda p: p.with_inputs([1.0, 2.0]), "must be a mapping by name"),
        (lambda p: p.with_inputs({"torque": "x"}), "input 'torque' must be a real number"),
        (lambda p: p.with_inputs({"torque": lambda: 1.0}), "input 'torque'"),
        (lambda p: p.with_inputs({"torque": (T, T, "previous")}), "cuts the run there"),
        (lambda p: p.with_inputs({"torque": (T, T[:3])}), "a value for each time"),
        (lambda p: Table(T[::-1], T), "the times must rise"),
        (lambda p: Table(T[:3], T[:3], "cubic"), "at least 4 times"),
        (lambda p: Table(T, T, "quadratic"), "unknown kind of table 'quadratic'"),
    ],
)
def test_wrong_inputs_are_refused_by_name(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call(problem())
