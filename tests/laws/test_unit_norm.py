"""`norm="unit"`: the right-hand side of index 0 that takes |p| = 1 for granted, [NS] (40)."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
import test_derivatives as derivatives
from cases import Pairing
from inside import Vec

import rbdae

PAIRING = Pairing("index-0", "quaternion", "coordinate")
OPTIONS: tuple[dict[str, Any], ...] = (
    {},
    {"radial_inertia": "half-trace"},
    {"gyroscopic": "fifth-order", "pull_back": "moment"},
    {"pull_back": "inhomogeneous"},
)
CASES = [
    ("bushed", OPTIONS[0]),
    *(("skew-top", options) for options in OPTIONS[1:]),
    ("tied", OPTIONS[0]),
    ("tied", OPTIONS[2]),
]


def both(system: str, **options: Any) -> tuple[rbdae.Problem, rbdae.Problem]:
    """The problems for every norm and for the unit norm."""
    any_norm, unit = (cases.problem(system, PAIRING, norm=norm, **options) for norm in ("any", "unit"))
    return any_norm, unit


def quaternions(problem: rbdae.Problem) -> list[slice]:
    """Where p of each body is in y; pdot is n_q further on."""
    width = problem.layout.q.stop
    at = [k for k, label in enumerate(problem.labels[:width]) if label.endswith("p0")]
    return [slice(k, k + 4) for k in at]


def beside(problem: rbdae.Problem, rng: np.random.Generator) -> Vec:
    """A state off all constraints, with p . pdot not zero either."""
    return np.asarray(problem.y0 + 0.1 * rng.standard_normal(problem.n))


def on_the_sphere(problem: rbdae.Problem, y: Vec) -> Vec:
    y = y.copy()
    for p in quaternions(problem):
        y[p] /= np.linalg.norm(y[p])
    return y


@pytest.mark.parametrize("system, options", CASES, ids=lambda x: x if isinstance(x, str) else "-".join(x.values()))
def test_on_the_unit_sphere_it_is_the_default(system, options, rng):
    any_norm, unit = both(system, **options)
    assert len(quaternions(unit)) == len(unit.system.bodies)
    y = on_the_sphere(unit, beside(unit, rng))
    wanted = any_norm.rhs(0.3, y)
    assert np.abs(unit.rhs(0.3, y) - wanted).max() < 1e-12 * np.abs(wanted).max()
    la = any_norm.multipliers(0.3, y)
    assert np.abs(unit.multipliers(0.3, y) - la).max() < 1e-11 * (1.0 + np.abs(la).max())


@pytest.mark.parametrize("system", ["skew-top", "tied"])
def test_off_it_is_another_continuation(system, rng):
    any_norm, unit = both(system)
    y = beside(unit, rng)
    n = unit.layout.q.stop
    for problem, swings in ((any_norm, 0.0), (unit, 1.0)):
        rate = problem.rhs(0.3, y)
        for at in quaternions(problem):
            p, v = y[at], y[n + at.start : n + at.stop]
            a = rate[n + at.start : n + at.stop]
            same = swings * (v @ v) * (1.0 - p @ p)
            assert abs(p @ a + v @ v - same) < 1e-12 * np.linalg.norm(a) + 1e-12
    differs = np.abs(unit.rhs(0.3, y) - any_norm.rhs(0.3, y)).max()
    assert differs > 1e-3 * np.abs(unit.rhs(0.3, y)).max()


@pytest.mark.parametrize("system, options", [("skew-top", OPTIONS[1]), ("C", OPTIONS[2])])
def test_jacobians(system, options, rng):
    derivatives.check(system, PAIRING, rng, norm="unit", **options)


def test_projections_are_those_of_the_default(rng):
    """They take no norm for granted, whichever of both is projected."""
    any_norm, unit = both("tied")
    y = beside(unit, rng)
    for what in (rbdae.Projection(), rbdae.Projection(position=False)):
        assert np.array_equal(unit.project(0.3, y, what), any_norm.project(0.3, y, what))


def test_the_norm_swings_where_the_default_drifts():
    """u = |p|^2 - 1 has u'' = -2 |pdot|^2 u; the default has u'' = 0, of which errors make a straight line."""
    drift = {}
    for norm in ("any", "unit"):
        problem = rbdae.formulate(rbdae.models.heavy_top(), *PAIRING[:1], velocity="coordinate", norm=norm)
        for t in (2.0, 20.0):
            run = rbdae.solve(problem, (0.0, t), solver="rbdae:dopri5", rtol=1e-6, atol=1e-6, projection=False)
            drift[norm, t] = np.abs(run.drift.position).max()
    assert drift["any", 20.0] > 5.0 * drift["any", 2.0]
    assert drift["unit", 20.0] < 3.0 * drift["unit", 2.0] < 3.0 * drift["any", 2.0]


def test_three_fifths_of_the_operations():
    """conj(p) o pdot has 28, |pdot|^2 7, products of W and their coefficients 6, the part along W 7, the product with p
    28: 76 and a change of sign."""
    top = rbdae.models.heavy_top(gravity=0.0)
    found = {
        norm: rbdae.formulate(top, "index-0", velocity="coordinate", norm=norm, code="folded").callbacks.operations
        for norm in ("any", "unit")
    }
    assert found["unit"]("rhs").total <= 77
    assert found["unit"]("rhs").reciprocals == 0 < found["any"]("rhs").reciprocals
    assert found["unit"]("rhs").total < 0.62 * found["any"]("rhs").total
    assert found["unit"]("rhs_jacobian").total < 0.75 * found["any"]("rhs_jacobian").total
