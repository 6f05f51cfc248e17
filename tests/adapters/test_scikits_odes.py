"""scikits.odes' IDA, CVODE and DASPK on the toy pendulum, whose exact motion is known."""

from __future__ import annotations

import os

import numpy as np
import pytest
import toy
from toy_runs import error, solve

from rbdae import solving

if not os.environ.get("CI"):
    pytest.importorskip("scikits_odes")


def native(problem, method, **options):
    return solving.adapter("scikits.odes").native(problem, method, **options)


def test_native_objects_have_no_limit_of_500_steps():
    from scikits_odes import dae
    from scikits_odes_sundials.cvode import CVODE

    times = np.array([0.0, 10.0])
    p = native(toy.Pendulum("index-2"), "ida", rtol=1e-9, atol=1e-9)
    found = dae("ida", p.resfn, old_api=False, **p.options).solve(times, p.y0, p.yd0)
    assert found.flag == 0 and np.abs(found.values.y[-1] - toy.exact(10.0)).max() < 1e-4
    p = native(toy.Pendulum(), "cvode", rtol=1e-9, atol=1e-9)
    ended = CVODE(p.rhsfn, **p.options).solve(times, p.y0)
    assert ended.flag == 0 and np.abs(ended.values.y[-1] - toy.exact(10.0)[:6]).max() < 1e-5
    few = native(toy.Pendulum(), "cvode", rtol=1e-9, atol=1e-9, max_steps=20)
    assert CVODE(few.rhsfn, **few.options).solve(times, few.y0).flag < 0


def test_daspk_gets_the_jacobian_the_right_way_round():
    straight, turned = toy.Pendulum("index-2"), toy.Pendulum("index-2")
    filled = turned.callbacks.jacobian

    def transposed(t, y, yp, c, out):
        filled(t, y, yp, c, out.T)

    turned.callbacks.jacobian = transposed
    assert solve(straight, "scikits.odes:ddaspk", tol=1e-8).success
    assert not solve(turned, "scikits.odes:ddaspk", tol=1e-8, max_steps=20000).success


@pytest.mark.parametrize("method", ["cvode", "ddaspk"])
def test_rejected_steps_are_told_where_they_are_known(method):
    solution = solve(toy.Pendulum(), f"scikits.odes:{method}", t_end=5.0, tol=1e-6, projection=toy.Options())
    assert solution.stats.rejected > 0


def test_cvode_takes_fixed_points():
    problem = toy.Pendulum()
    fixed = solve(problem, "scikits.odes:cvode", nonlinsolver="fixedpoint")
    assert fixed.success and error(fixed) < 1e-7
    assert problem.calls["rhs_jacobian"] == 0
