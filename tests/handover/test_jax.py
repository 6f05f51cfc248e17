"""JAX's functions of a problem compute what the problem does, under jit, vmap, grad and diffrax."""

from __future__ import annotations

import zlib

import diffrax
import jax
import numpy as np
import pytest
import traced_cases
from cases import Pairing, count

import rbdae
from rbdae.joints import Prismatic

jax.config.update("jax_enable_x64", True)

SMALL = {"A": "index-1/rodrigues/angular", "model-pendulum": "null-space/rotation-vector/angular"}
DRAWN = [case for case in traced_cases.drawn(8) if not case.system.startswith("user-")]
CASES = [*(traced_cases.Case(system, Pairing(*pairing.split("/"))) for system, pairing in SMALL.items()), *DRAWN]


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES[: count(2, 200)], ids=str)
def test_values_and_derivatives_agree(case):
    problem, rng = case.problem("auto"), np.random.default_rng(zlib.crc32(str(case).encode()))
    name = "rhs" if problem.kind == "ode" else "residual"
    function, along = getattr(problem.jax(), name), rng.standard_normal(problem.n)
    for _, (t, y, yd) in [*traced_cases.states(problem, rng)][:2]:
        rates = () if name == "rhs" else (yd,)
        with jax.disable_jit():  # which compiles each kind of operation once
            found, slope = jax.jvp(lambda y, t=t, rates=rates: function(t, y, *rates), (y,), (along,))
        wanted = getattr(problem, name)(t, y, *rates)
        slopes = problem.rhs_jacobian(t, y) if name == "rhs" else problem.jacobian(t, y, yd, 0.0)
        assert np.abs(found - wanted).max() <= 1e-13 * max(1.0, np.abs(wanted).max())
        assert np.abs(slope - slopes @ along).max() <= 1e-12 * max(1.0, np.abs(slopes).max())


def test_what_is_not_chosen_has_no_part_in_derivatives():
    """A stop of the power 3/2, which is a number on one side alone."""
    system = rbdae.System()
    slide = system.add_joint(
        Prismatic(system.ground, system.add_body("slide", mass=1.0, inertia=(1, 1, 1)), axis_a=(1, 0, 0))
    )
    stop = rbdae.forces.Motor(slide, force=lambda t, s, rate: np.where(s > 0.0, -1e3 * s * np.sqrt(s), 0.0))
    system.add_force(stop)
    problem = rbdae.formulate(system, "null-space")
    by_y = jax.jacrev(problem.jax().rhs, 1)
    for x in (-0.3, 0.3):
        y = np.where(np.arange(problem.n) == 0, x, problem.y0)
        np.testing.assert_allclose(by_y(0.0, y), problem.rhs_jacobian(0.0, y), rtol=1e-12)


@pytest.fixture(scope="module")
def top():
    return rbdae.formulate(rbdae.models.heavy_top(), "null-space", rotation="euler-313")


def end(top, method, y0):
    """After 0.2 s, by diffrax."""
    term, control = diffrax.ODETerm(top.jax().rhs), diffrax.PIDController(rtol=1e-10, atol=1e-10)
    return diffrax.diffeqsolve(term, method, 0.0, 0.2, 1e-3, y0, stepsize_controller=control).ys[-1]


def by_rbdae(top, y0):
    return rbdae.solve(top.at(0.0, y0), (0.0, 0.2), rtol=1e-12, atol=1e-12).y[-1]


def test_diffrax_runs_in_batches_with_derivatives(top):
    starts, step = top.y0 * np.array([[1.0], [1.01]]), 1e-4 * np.eye(top.n)[-1]
    one = jax.value_and_grad(lambda y0: end(top, diffrax.Tsit5(), y0)[0])
    found, slopes = jax.jit(jax.vmap(one))(starts)
    for y0, value, slope in zip(starts, found, slopes, strict=True):
        assert value == pytest.approx(by_rbdae(top, y0)[0], rel=1e-7)
        change = (by_rbdae(top, y0 + step)[0] - by_rbdae(top, y0 - step)[0]) / 2e-4
        assert slope[-1] == pytest.approx(change, rel=1e-5)


def test_an_implicit_method_of_diffrax_runs(top):
    found = jax.jit(lambda y0: end(top, diffrax.Kvaerno5(), y0))(top.y0)
    np.testing.assert_allclose(found, by_rbdae(top, top.y0), rtol=1e-7, atol=1e-7)


def test_parameters_are_arguments(top):
    model, new = top.jax(parameters=["top.mass", "gravity.z"]), {"top.mass": 20.0, "gravity.z": -3.0}
    along, y = np.cos(np.arange(top.n)), top.y0 + 0.1
    for p, wanted in ((model.p0, top), (np.array([*new.values()]), top.with_parameters(new))):
        found, slope = jax.value_and_grad(lambda p: along @ model.rhs(0.0, y, p=p))(p)
        assert found == pytest.approx(along @ wanted.rhs(0.0, y), rel=1e-12)
        np.testing.assert_allclose(slope, along @ wanted.rhs_parameter_jacobian(0.0, y, [*new]), rtol=1e-11)
