"""The examples of mechanisms with actuators: three forms by three kinds of solvers, and reductions by hand."""

from __future__ import annotations

import importlib.util
from functools import cache
from pathlib import Path
from typing import Any

import cases
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

import rbdae

WAYS = [
    ("null-space", "rbdae:dop853", 1e-9),
    ("index-2", "sksundae:ida", 1e-9),
    ("index-1", "assimulo:Radau5DAE", 1e-8),
]
ENDS = {"quick_return": 0.2, "motor_on_four_bar": 0.4, "quarter_car": 0.08, "arm_with_pd": 0.01}
READ = {
    "quick_return": ("bearing.angle", "bearing.rate", "guide.displacement"),
    "motor_on_four_bar": ("pin of crank.angle", "pin of crank.rate", "bearing.angle"),
    "quarter_car": ("strut.displacement", "strut.rate", "wheel guide.displacement"),
    "arm_with_pd": ("axis 1.angle", "axis 2.angle", "axis 5.rate"),
}


@cache
def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parents[2] / "examples" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXAMPLES = {
    "quick_return": lambda: load("quick_return"),
    "motor_on_four_bar": lambda: load("motor_on_four_bar"),
    "quarter_car": lambda: load("quarter_car"),
    "arm_with_pd": lambda: load("arm_with_pd"),
}


@cache
def run(name: str, way: tuple[str, str, float]) -> rbdae.Solution:
    """An example, by a form and a solver."""
    form, solver, tolerance = way
    example = EXAMPLES[name]()
    problem = rbdae.formulate(example.build(), form, redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, ENDS[name]), solver=solver, rtol=tolerance, atol=tolerance)
    assert solution.success, solution.message
    return solution


def test_the_examples_have_sixty_lines_at_most_and_three_forms():
    for name in EXAMPLES:
        assert len(Path(load(name).__file__).read_text("utf-8").splitlines()) <= 60, name
    assert len({form for form, _, _ in WAYS}) == 3
    assert all(any(word in solver for _, solver, _ in WAYS) for word in ("dop853", "ida", "Radau5"))


def at_end(name: str, way: Any) -> Any:
    joints = run(name, way).joints
    return np.array([getattr(joints[of], what)[-1] for of, what in (label.split(".") for label in READ[name])])


@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.parametrize("name", ENDS)
def test_forms_and_solvers_agree(name, number):
    way = WAYS[number]
    cases.need(way[1])
    error = np.abs(at_end(name, way) - at_end(name, WAYS[0])).max()
    assert error < 1e-6
    energy = run(name, way).energy
    assert np.abs(energy.balance).max() < 1e-5 * np.ptp(energy.kinetic)


def test_the_quick_return_is_a_mechanism_of_one_degree_of_freedom():
    """I(phi) phi'' + I'(phi) phi'^2 / 2 + V'(phi) = torque(phi'), from the positions of all bodies."""
    e = load("quick_return")
    centres = np.array([4.0, 0.5, 8.0, 2.0, 15.0])
    inertias = np.array([0.02, 1e-3, 0.4, 0.01, 0.1])

    def motion(phi: Any) -> tuple[Any, Any, Any]:
        """Centres of mass by x and y, and angles."""
        zero = 0.0 * phi
        die = np.array([e.CRANK * np.cos(phi), e.CRANK * np.sin(phi)])
        tilt = np.arctan((die[0]) / (die[1] + e.PIVOT))
        end = np.array([e.LEVER * np.sin(tilt), e.LEVER * np.cos(tilt) - e.PIVOT])
        lever = np.array([end[0] / 2, (end[1] - e.PIVOT) / 2])
        rise = np.arcsin((e.RAM - e.PIVOT - end[1]) / e.LINK)
        ram = end + e.LINK * np.array([np.cos(rise), np.sin(rise)])
        x, y = np.array([die / 2, die, lever, (end + ram) / 2, ram]).T
        return x, y, np.array([phi, -tilt, -tilt, rise, zero])

    def reduced(phi: float) -> tuple[float, float]:
        """I, and dV/dphi, by complex steps."""
        x, y, angle = (part.imag / 1e-30 for part in motion(phi + 1e-30j))
        return centres @ (x * x + y * y) + inertias @ (angle * angle), 9.81 * centres @ y

    def rates(t: float, s: Any) -> Any:
        inertia, slope = reduced(s[0])
        bend = (reduced(s[0] + 1e-5)[0] - reduced(s[0] - 1e-5)[0]) / 2e-5
        return [s[1], (60.0 - 6.0 * s[1] - 0.5 * bend * s[1] ** 2 - slope) / inertia]

    exact = solve_ivp(rates, (0.0, 0.2), [0.0, 2.0], method="DOP853", rtol=1e-10, atol=1e-10).y[:, -1]
    solution = run("quick_return", WAYS[0])
    crank = solution.joints["bearing"]
    assert crank.angle[-1] == pytest.approx(exact[0], abs=3e-8)
    assert crank.rate[-1] == pytest.approx(exact[1], abs=3e-7)
    assert solution.joints["guide"].displacement[-1] == pytest.approx(motion(exact[0])[0][-1], abs=3e-8)
    np.testing.assert_allclose(solution.forces["motor"].power, (60.0 - 6.0 * crank.rate) * crank.rate, rtol=1e-12)


def test_the_quarter_car_has_two_degrees_of_freedom():
    e = load("quarter_car")

    def drop(rate: float) -> float:
        flow = lambda d: 4e-7 * d / (d * d + 1e8) ** 0.25 - 8e-4 * rate  # noqa: E731
        return float(brentq(flow, -1e9, 1e9, xtol=1e-9, rtol=1e-14))

    def rates(t: float, s: Any) -> Any:
        wheel, body, wheel_rate, body_rate = s
        strut = -2e4 * (body - wheel) + 300.0 * 9.81 - 8e-4 * drop(body_rate - wheel_rate)
        up = e.tyre(t, wheel, wheel_rate)
        return [wheel_rate, body_rate, (up - strut) / 40.0 - 9.81, strut / 300.0 - 9.81]

    options = {"rtol": 1e-9, "atol": 1e-10, "max_step": 0.01}
    wheel, body, wheel_rate, body_rate = solve_ivp(rates, (0.0, 0.08), np.zeros(4), **options).y[:, -1]
    found = at_end("quarter_car", WAYS[0])
    np.testing.assert_allclose(found, [body - wheel, body_rate - wheel_rate, wheel], rtol=0, atol=1e-6)
    damper = run("quarter_car", WAYS[0]).forces["damper"]
    np.testing.assert_allclose(damper.drop[-1], drop(body_rate - wheel_rate), rtol=1e-4)


def test_the_arm_follows_its_controller():
    """Torques are held between samples, and are those of the law at the last one."""
    e = load("arm_with_pd")
    solution = run("arm_with_pd", WAYS[0])
    samples = np.isin(np.round(solution.t, 9), np.round(np.arange(11) * 1e-3, 9))
    assert samples.sum() == 11
    angles = np.array([solution.joints[f"axis {k}"].angle for k in range(1, 7)])
    rates = np.array([solution.joints[f"axis {k}"].rate for k in range(1, 7)])
    held = np.array([solution.joints[f"axis {k}"].torque for k in range(1, 7)])
    for j in np.flatnonzero(samples)[:-1]:
        wanted = e.law(float(solution.t[j]), [*angles[:, j], *rates[:, j]], None)
        np.testing.assert_allclose(held[:, j], wanted, rtol=1e-9, atol=1e-9)
    control = solution.forces["control"]
    np.testing.assert_array_equal(held, [getattr(control, f"torque{k}") for k in range(6)])
