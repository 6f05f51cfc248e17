"""A mechanism that moves in a plane is drawn in it, and what is zero all the time has no panel."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import page_parts
import pytest

import rbdae
from rbdae.show import scene


@pytest.fixture(scope="module")
def crank() -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.planar_slider_crank(), "index-2")
    return rbdae.solve(problem, (0.0, 1.0), solver="sundials:ida")


@pytest.fixture(scope="module")
def page(crank: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return crank.report(tmp_path_factory.mktemp("plane") / "crank.html", title="Slider <crank>")


def test_only_a_plane_motion_has_a_plane(crank):
    """The tennis racket of the paper leaves its axis by a part that the tolerance does not explain."""
    assert np.allclose(scene(crank, [0.0]).plane, np.eye(3))
    for model, t_end in ((rbdae.models.heavy_top, 0.1), (rbdae.models.tennis_racket, 0.02)):
        run = rbdae.solve(rbdae.formulate(model(), "index-0"), (0.0, t_end))
        assert scene(run, [0.0]).plane is None


def test_a_report_has_no_panels_of_zeros(page):
    drawn = page_parts.curves(page)
    labels = {curve.label for curve in drawn}
    assert {"position x [m]", "quaternion 3", "force x [N]", "force y [N]"} <= labels
    assert not any(label in labels for label in ("position z [m]", "velocity z [m/s]", "force z [N]", "torque x [N m]"))
    for label in labels:
        assert max(np.abs(curve.y).max() for curve in drawn if curve.label == label) > 0.0, label


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
