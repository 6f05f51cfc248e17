"""A mechanism that moves in a plane is shown in it: two components and an angle, and of reactions Fx, Fy, Mz."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import page_parts
import pytest
from scipy.spatial.transform import Rotation

import rbdae


def spinning(axis: tuple[float, float, float], rate: float, start: Rotation) -> rbdae.Solution:
    """A hinge that turns at a constant rate, at a few times."""
    system = rbdae.System(gravity=(0, 0, 0))
    spin = rate * start.inv().apply(axis)
    wheel = system.add_body("wheel", mass=1.0, inertia=(0.2, 0.2, 0.2), orientation=start, angular_velocity=spin)
    system.add_joint(rbdae.joints.Revolute(system.ground, wheel, axis_a=axis))
    times = np.linspace(0.0, 1.0, 5)
    return rbdae.solve(rbdae.formulate(system, "index-0"), (0.0, 1.0), t_eval=times, rtol=1e-9, atol=1e-9)


def headings(figure) -> list[str]:
    return [axis.get_title(loc="left") for axis in figure.axes]


@pytest.fixture(scope="module")
def crank() -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2")
    return rbdae.solve(problem, (0.0, 2.0), solver="sundials:ida")


@pytest.fixture(scope="module")
def bars() -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.n_four_bar(redundant=True), "index-0", redundant="minimum-norm")
    return rbdae.solve(problem, (0.0, 0.2))


@pytest.mark.parametrize(
    "plane, axis, about",
    [("xy", (0, 0, 1), 1.0), ("yx", (0, 0, 1), -1.0), ("xz", (0, 1, 0), -1.0), (True, (1, 0, 0), 1.0)],
)
def test_angles_count_all_turns(plane, axis, about):
    """Four turns and a half between two times; of a frame upside down the angle begins at zero."""
    rate = 9.0 * np.pi / 0.25
    aside, upside_down = Rotation.from_rotvec(np.multiply(0.4, axis)), Rotation.from_rotvec(np.pi * np.roll(axis, 1))
    for start, first in ((aside, 0.4 * about), (Rotation.from_rotvec([0.3, -0.2, 0.5]), None), (upside_down, 0.0)):
        run = spinning(axis, rate, start)
        table = run.to_pandas("states", plane=plane)
        angle = table["wheel.angle [rad]"].to_numpy()
        assert np.allclose(angle - angle[0], about * rate * run.t, rtol=0, atol=1e-5)
        assert -np.pi < angle[0] <= np.pi and (first is None or angle[0] == pytest.approx(first, abs=1e-6))
        assert np.allclose(table["wheel.angular_velocity [rad/s]"], about * rate)


def test_a_plane_that_the_motion_leaves_is_refused(crank):
    with pytest.raises(ValueError, match="to_pandas: plane='yz', but 1 of the motion leaves"):
        crank.to_pandas("states", plane="yz")
    with pytest.raises(ValueError, match=r"plane of plot 'sideways'.*'xy'"):
        crank.plot(plane="sideways")
    # the tennis racket of the paper leaves its axis by a part that the tolerance does not explain
    for model, t_end in ((rbdae.models.heavy_top, 0.1), (rbdae.models.tennis_racket, 0.02)):
        run = rbdae.solve(rbdae.formulate(model(), "index-0"), (0.0, t_end))
        with pytest.raises(ValueError, match="plane=True, but the motion is in no plane"):
            run.plot(plane=True)
        assert any("unit quaternion" in heading for heading in headings(run.plot()))
    # a plane across the axes has no letters, and its quantities are shown in space
    oblique = spinning((np.sqrt(0.5), np.sqrt(0.5), 0.0), 2.0, Rotation.identity())
    assert any("unit quaternion" in heading for heading in headings(oblique.plot()))


def test_unique_components_are_those_of_the_plane(bars, tmp_path):
    """The torques across a plane loop of hinges are not unique, and share a load: all are shown in space."""
    names = [axis.get_ylabel() for axis in bars.plot(quantities=["reactions"]).axes]
    assert not any("unique" in name for name in names)
    names = [axis.get_ylabel() for axis in bars.plot(quantities=["reactions"], plane=False).axes]
    assert any("unique: Fx, Fy, Mz" in name for name in names)
    page = bars.report(tmp_path / "bars.html")
    assert {row[6] for row in page_parts.tables(page)["reactions"]} <= {"yes", "Fx, Fy, Mz"}
    assert "are not unique" not in page.read_text("utf-8")
    assert "are not unique" in bars.report(tmp_path / "space.html", plane=False).read_text("utf-8")


def test_pictures_have_an_angle_and_no_panel_of_zeros(crank, bars):
    figure = crank.plot(quantities=["center_of_mass", "orientation", "angular_velocity", "reactions"])
    titles = headings(figure)
    assert "angle about z [rad]" in titles and "angular velocity about z [rad/s]" in titles
    assert not any("quaternion" in title or "torque" in title for title in titles)
    assert "The motion is in the xy plane" in figure.get_suptitle()
    assert all(len(axis.lines) <= 2 for axis in figure.axes)
    figure = bars.plot(quantities=["reactions"])
    assert {*headings(figure)} == {"reaction force [N]", ""}
    assert "Zero but for rounding: reaction torque about z" in figure.get_suptitle()


@pytest.fixture(scope="module")
def page(crank: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crank.report(tmp_path_factory.mktemp("plane") / "crank.html", title="Slider <crank>")


def test_a_report_of_a_plane_mechanism_has_no_panels_of_zeros(page, crank):
    drawn = page_parts.curves(page)
    labels = {curve.label for curve in drawn}
    assert {"position x [m]", "angle [rad]", "angular velocity [rad/s]", "force x [N]", "force y [N]"} <= labels
    assert not any("quaternion" in label or " z " in label or "torque" in label for label in labels)
    for label in labels:
        assert max(np.abs(curve.y).max() for curve in drawn if curve.label == label) > 0.0, label
    angle = next(curve for curve in drawn if curve.label == "angle [rad]" and curve.name == "rod")
    assert angle.y[-1] == pytest.approx(crank.to_pandas("states", plane="xy")["rod.angle [rad]"].iloc[-1], rel=1e-6)
    rows = page_parts.tables(page)["states"]
    assert [" ".join(row[1:3]).strip() for row in rows[:6]] == [
        "position x", "position y", "angle", "velocity x", "velocity y", "angular velocity"
    ]  # fmt: skip


def test_a_plane_mechanism_moves_in_its_plane(page, crank):
    t, points = page_parts.motion(page)
    assert points.shape[2] == 2
    k = len(t) // 2
    state = crank.problem.states(t[k], crank(t[k]))["rod"]
    end = (state.position + state.orientation.apply([1.0, 0, 0]))[:2]
    assert np.linalg.norm(points[k] - end, axis=1).min() < 1e-4
    spec = page_parts.figures(page)["motion"]
    assert {trace["type"] for trace in spec["data"]} == {"scatter"}
    assert spec["layout"]["yaxis"]["scaleanchor"] == "x"
