"""An animation shows the scene at its times, in a notebook and in files."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import rbdae
from rbdae.show import scene

pytest.importorskip("matplotlib")

FEW = {"fps": 2.0, "duration": 1.5, "dpi": 40.0}  # three frames


@cache
def run(name: str = "planar_slider_crank", t_end: float = 0.5) -> rbdae.Solution:
    problem = rbdae.formulate(rbdae.models.MODELS[name](), "index-0")
    return rbdae.solve(problem, (0.0, t_end), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)


def drawn(figure):
    """The corners of all lines of bodies, joints and forces."""
    collections = figure.axes[0].collections
    return np.concatenate([segment for lines in collections for segment in lines.get_segments()])


def test_a_frame_shows_the_scene_in_its_plane():
    solution = run()
    film = solution.animate(**FEW)
    assert np.array_equal(film.scene.t, [0.0, 0.25, 0.5]) and len(film) == 3
    for t in film.scene.t:
        shown = scene(solution, [t])
        wanted = np.concatenate([line.points[0] for line in shown.lines]) @ shown.plane[:2].T
        found = drawn(film.frame(t))
        assert len(found) == len(wanted)
        order = [np.lexsort(np.round(points, 9).T) for points in (found, wanted)]
        assert np.allclose(found[order[0]], wanted[order[1]], atol=1e-9)
        assert film.frame(t).axes[0].get_title() == f"t = {t:.1f} s"
    axis = film.frame(0.0).axes[0]
    assert axis.get_aspect() == 1.0 and axis.get_xlabel() == "x [m]"


def test_traces_end_at_the_body():
    solution = run()
    film = solution.animate(**FEW, traces={"pin": ("rod", (0.0, 0.0, 0.0))})
    path, head = film.frame(0.25).axes[0].lines
    assert len(path.get_xdata()) > 1
    where = solution.problem.states(0.25, solution(0.25))["rod"].position
    assert np.allclose([head.get_xdata()[0], head.get_ydata()[0]], where[:2])
    assert np.allclose(path.get_xdata()[-1], where[0])


def test_speed_and_duration():
    assert len(run().animate(fps=4.0, speed=0.5)) == 4  # half a second at half speed
    assert len(run().animate(fps=4.0, duration=5.0)) == 20


def test_gif(tmp_path):
    from PIL import Image

    film = run().animate(tmp_path / "run.gif", **FEW)
    with Image.open(tmp_path / "run.gif") as image:
        assert image.n_frames == len(film) == 3
        assert image.info["duration"] == 500
        frames = []
        for k in range(3):
            image.seek(k)
            frames.append(np.asarray(image.convert("L")).astype(float))
    assert all((np.abs(a - b) > 50).sum() > 20 for a, b in zip(frames[1:], frames[:-1], strict=True))


def test_html_needs_nothing_from_the_net(tmp_path):
    film = run().animate(tmp_path / "run.html", **FEW)
    text = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert "http" not in text
    assert text.count("data:image/png;base64") == len(film)
    assert film._repr_html_() in text
