"""What a page says and leaves out: quantities with their units, zeros, words, and how it looks."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path

import actuator_cases
import browser
import cases
import numpy as np
import page_checks
import page_parts
import pytest
from actuator_cases import mechanism, setpoint

import rbdae
from rbdae import _figure, actuators

for package in ("plotly", "jinja2", "itables"):
    pytest.importorskip(package, reason=f"{package} is not installed: pip install 'rbdae[report]'")


def controlled() -> rbdae.System:
    """A pendulum that a DC motor turns under PI control of its current, and a carriage that nobody moves."""
    system = mechanism()
    pin, _ = system.joints
    control = system.add_block(
        actuators.PI(measured="motor.current", setpoint=setpoint, kp=2.0, ki=3.0, name="control")
    )
    system.add_force(
        actuators.DCMotor(pin, voltage=control.out, resistance=1.2, inductance=0.3, constant=0.6, name="motor")
    )
    system.add_block(actuators.PD(measured=pin.angle, rate=pin.rate, setpoint=0.1, kp=1.0, kd=0.5, name="watch"))
    return system


@pytest.fixture(scope="module")
def run() -> rbdae.Solution:
    problem = rbdae.formulate(controlled(), "null-space")
    return rbdae.solve(problem, (0.0, 2.0), solver="rbdae:dop853", rtol=1e-7, atol=1e-7)


@pytest.fixture(scope="module")
def page(run: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run.report(tmp_path_factory.mktemp("pages") / "run.html", title="A motor under control")


def test_quantities_have_names_and_units(page):
    """A figure for each name and unit, and one for each block; the pin's angle is not shown twice."""
    curves = page_parts.curves(page)
    labels = {(curve.figure, curve.label, curve.name) for curve in curves}
    assert {("joints-rate", "rate [rad/s]", "pin"), ("joints-rate-m-s", "rate [m/s]", "rail")} <= labels
    assert not any(name == "rail" and label == "rate [rad/s]" for _, label, name in labels)
    labels = {(label, name) for _, label, name in labels}
    assert {("current [A]", "motor"), ("voltage [V]", "motor"), ("torque [N m]", "motor")} <= labels
    assert not any(name == "motor" and label in ("angle [rad]", "rate [rad/s]") for label, name in labels)
    of_blocks = {(curve.label, curve.name) for curve in curves if curve.figure.startswith("block-")}
    wanted = {("control", name) for name in ("integral", "out", "error", "measured", "setpoint")}
    wanted |= {("watch", "out"), ("watch [rad]", "measured"), ("watch [rad]", "setpoint"), ("watch [rad/s]", "rate")}
    assert of_blocks == wanted


def test_a_page_of_a_sampled_controller(tmp_path):
    """What it holds is a curve, and its samples are no wall of dotted lines."""
    problem = rbdae.formulate(actuator_cases.system_of(actuators.Sampled), "null-space")
    run = rbdae.solve(problem, (0.0, 1.3), solver="rbdae:dop853")
    path = run.report(tmp_path / "sampled.html")
    assert len(run.segments.times) == 64 and "shapes" not in page_parts.figures(path)["step-sizes"]["layout"]
    assert "continued 64 times with other unknowns, equations or held inputs" in path.read_text("utf-8")
    torque = next(c for c in page_parts.curves(path) if c.figure == "block-1" and c.name == "torque")
    held = next(c for c in page_parts.curves(path) if c.name == "held" and c.label == "torque [N m]")
    np.testing.assert_array_equal(torque.y, held.y)


# ---------------------------------------------------------------- in the browser


@pytest.fixture(scope="module")
def tall(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A page of a mechanism in space that is high and narrow, with twelve bodies, whose joints have long names."""
    system = rbdae.System()
    mast = system.add_body("K0", mass=1.0, inertia=(1, 1, 0.1), position=(0, 0, 2), angular_velocity=(0, 0, 3))
    system.add_joint(
        rbdae.joints.Revolute(system.ground, mast, at_b=(0, 0, -2), axis_a=(0, 0, 1), name="the bearing of the mast")
    )
    for k in range(1, 12):
        lift = system.add_body(
            f"K{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, k / 3), velocity=(0, 0, 2 + k / 9)
        )
        system.add_joint(rbdae.joints.Cylindrical(mast, lift, axis_a=(0, 0, 1), name=f"the guide of lift {k}"))
    run = rbdae.solve(cases.formulated(system, "index-0", code="plain"), (0.0, 0.3))
    return run.report(tmp_path_factory.mktemp("pages") / "tall.html")


@pytest.fixture(scope="module")
def opened() -> Iterator[Callable[..., browser.Opened]]:
    with browser.browser() as function:
        yield function


def test_curves_are_seen_on_dark_pages():
    """Of all colours that figures have, by the table of the page's script."""
    script = (Path(rbdae.__file__).parent / "show" / "page" / "page.js").read_text("utf-8")
    darkened = dict(re.findall(r'"(#\w{6})": "(#\w{6})"', script))
    for colour in {*_figure.COLOURS, *_figure.OF_BODIES, "#1d2733", "#c4273b", "#5f6b73", "#8a6d00", "#98a2ac"}:
        assert page_checks.contrast(darkened.get(colour, colour), darkened["#ffffff"]) > 3.3, colour
        assert page_checks.contrast(colour, "#ffffff") > 2.2, colour
    for one, other in combinations([darkened.get(colour, colour) for colour in _figure.COLOURS], 2):
        rgb = [np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) for colour in (one, other)]
        assert np.linalg.norm(rgb[0] - rgb[1]) > 60, (one, other)


@pytest.mark.parametrize(
    ("kind", "width", "scheme"), [("page", 420, "dark"), ("page", 1300, "light"), ("tall", 1300, "dark")]
)
def test_a_page_has_nothing_that_collides_is_cut_or_weak(kind, width, scheme, opened, request):
    seen = opened(request.getfixturevalue(kind), width=width, scheme=scheme)
    for _ in range(20):  # a busy machine is late to fit figures to the width that scroll bars leave
        if seen.value(f"({page_checks.LAYOUT})()") == []:
            break
        seen.page.wait_for_timeout(200)
    assert seen.value(f"({page_checks.LAYOUT})()") == []
    found, ground = seen.value(f"({page_checks.COLOURS})()")
    assert len(found) > 6
    for colour, what in found:
        least = 3.0 if scheme == "dark" else 2.2  # of the colours that all eyes tell apart, two are light
        assert page_checks.contrast(colour, ground) > least, (colour, what)
    if kind == "tall":
        names = "getComputedStyle(document.querySelector('#table-states tbody tr:last-child td')).textAlign"
        assert seen.value(names) != "right"  # K1 is a name
