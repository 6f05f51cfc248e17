"""Values of blocks at many rows, and algebraic unknowns between the steps of a run, by recorded laws."""

from __future__ import annotations

import re
from typing import Any

import cases
import numpy as np
import pytest
from actuator_cases import mechanism, system_of, together

import rbdae
from rbdae import actuators
from rbdae.problem.start import solve_unknowns

ROOTS = {"states": {"s": 2.0}, "algebraic": {"z": 1.0, "w": 1.0}}


def falling(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
    """z = sqrt(s - 1), which there is not from t = 1 on, and w = 3 - s: the first equation does not have z."""
    return [-1.0 + 0.0 * z.z], [z.w - (3.0 - s.s), z.z * z.z - (s.s - 1.0)]


def with_block(law: Any, **given: Any) -> rbdae.System:
    system = mechanism()
    system.add_block(rbdae.block(law, name="block", **given))
    return system


@pytest.mark.parametrize("form", ["null-space", "index-1"])
def test_rows_at_once_are_those_one_by_one_and_by_hand(form):
    """Of an ODE form, which solves for its unknown again, and of one that has it in y."""
    problem = rbdae.formulate(together(), form)
    rng = np.random.default_rng(5)
    y = problem.y0 + 0.05 * rng.standard_normal((7, problem.n))
    t = np.linspace(0.0, 1.0, 7)
    heat = problem.forces(t, y)["heat"]
    w = problem.joints(t, y)["pin"].rate
    if form == "null-space":
        np.testing.assert_allclose(heat.flow + 0.1 * heat.flow**3, w + 0.3 * heat.heat, rtol=1e-14)
    np.testing.assert_array_equal(heat.flow + heat.heat, heat.shown)
    for k in range(7):
        alone = problem.forces(float(t[k]), y[k])
        for name, found in problem.forces(t, y).items():
            for each in ("effort", "flow", "shown", "current", "out", "pressure_a", "power"):
                if hasattr(found, each):
                    np.testing.assert_allclose(getattr(alone[name], each), getattr(found, each)[k], rtol=1e-13)


def test_outputs_that_cannot_be_recorded():
    """They are computed in Python, row by row."""

    def counted(t: Any, s: Any, z: Any, u: Any, p: Any) -> Any:
        return [float(len(f"{s.s:.0f}"))]

    problem = rbdae.formulate(
        with_block(lambda t, s, z, u, p: [0.0], states={"s": 2.0}, outputs=("digits",), observe=counted), "index-0"
    )
    y = np.tile(problem.y0, (3, 1))
    y[:, problem.labels.index("block.s")] = [3.0, 44.0, 555.0]
    np.testing.assert_array_equal(problem.forces(np.zeros(3), y)["block"].digits, [1.0, 2.0, 3.0])


@pytest.mark.parametrize("code", ["auto", "plain"])
def test_unknowns_between_the_steps(code):
    """The rows of one call are those of a row alone, in any order. A row without a solution is refused by its time."""
    cases.need("sundials:ida")
    problem = cases.formulated(with_block(falling, **ROOTS), "index-1", code=code)
    solution = rbdae.solve(problem, (0.0, 0.8), solver="sundials:ida", rtol=1e-6, atol=1e-6)
    t = np.linspace(0.8, 0.0, 41)
    y = solution(t)
    s, z, w = (y[:, problem.labels.index(f"block.{name}")] for name in "szw")
    np.testing.assert_allclose(s, 2.0 - t, rtol=0, atol=1e-6)
    between = ~np.isin(t, solution.t)
    np.testing.assert_allclose(z[between] ** 2, s[between] - 1.0, rtol=1e-13)
    np.testing.assert_allclose(w[between], 3.0 - s[between], rtol=1e-14)
    for k in (3, 20):
        np.testing.assert_array_equal(solution(float(t[k])), y[k])
    y[7, problem.labels.index("block.s")] = 0.5
    with pytest.raises(ValueError, match=re.escape(f"block.z, block.w was found at t = {t[7]:g}")):
        solve_unknowns(problem.interpretation, t, y)


def test_the_work_of_a_run_of_many_steps_has_its_balance():
    """More steps than are evaluated together."""
    cases.need("sundials:ida")
    problem = rbdae.formulate(together(), "index-1")
    solution = rbdae.solve(problem, (0.0, 1.0), solver="sundials:ida", rtol=1e-9, atol=1e-9)
    assert len(solution.t) > 260
    work = solution.energy.work
    assert np.abs(work).max() > 0.1
    np.testing.assert_allclose(solution.energy.balance, 0.0, rtol=0, atol=1e-6)


def test_what_a_sampled_controller_holds_is_one_of_its_quantities():
    """A number that changes at the samples alone, and the torque of the actuator that reads it."""
    problem = rbdae.formulate(system_of(actuators.Sampled), "null-space")
    solution = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dop853")
    control = solution.forces["control"]
    np.testing.assert_array_equal(control.torque, solution.forces["held"].effort)
    first = solution.t < 0.02
    assert first.any() and len(set(control.torque[first])) == 1 and len(set(control.torque)) >= 5
    np.testing.assert_allclose(control.torque[0], -0.3 * control.rate[0] - 0.1, rtol=1e-14)
