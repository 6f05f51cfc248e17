"""An animation shows the scene at its times, in a notebook and in files, and refuses before it draws."""

from __future__ import annotations

import sys
from dataclasses import replace
from functools import cache

import browser
import numpy as np
import pytest

import rbdae
from rbdae.adapter import Reason, Steps
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


def test_in_space_the_scales_are_equal():
    film = run("spatial_slider_crank", 0.01).animate(**FEW)
    axis = film.frame(0.0).axes[0]
    axis.set_proj_type("ortho")
    across, up = axis.get_proj()[:2, :3]  # of a rotation, but for one factor, where the scales are equal
    assert abs(across @ up) < 1e-9 * (up @ up) and np.isclose(across @ across, up @ up)
    low, high = film.scene.bounds()
    for limits, least, most in zip((axis.get_xlim(), axis.get_ylim(), axis.get_zlim()), low, high, strict=True):
        assert limits[0] < least and most < limits[1]
    # a plane mechanism is seen in space where the eye is chosen
    assert run().animate(**FEW, azimuth=30.0).frame(0.0).axes[0].azim == 30.0


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
    assert film.to_html() in text and film._repr_html_() == film.to_html()


def test_the_player_plays_without_the_net(tmp_path):
    run().animate(tmp_path / "run.html", **FEW)
    with browser.browser() as opened:
        player = opened(tmp_path / "run.html", "input[type=range]")
        assert player.value("document.querySelector('input[type=range]').value") == "0"
        player.page.get_by_role("button", name="Play", exact=True).click()
        player.wait("document.querySelector('input[type=range]').value == '2'")
        assert player.errors == [] and player.requests[0].startswith("file:")
        assert all(url.startswith(("file:", "data:")) for url in player.requests)


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"path": "run.avi"}, ValueError, r"\.gif.*'run.avi'"),
        ({"path": "missing/run.gif"}, FileNotFoundError, "missing.*run.gif"),
        ({"path": 3}, TypeError, "path .*3"),
        ({"fps": 0}, ValueError, "fps .*0"),
        ({"speed": -1.0}, ValueError, "speed"),
        ({"duration": float("nan")}, ValueError, "duration"),
        ({"duration": 1e6}, ValueError, "25000000 frames"),
        ({"duration": 1.0, "speed": 1.0}, ValueError, "duration and speed"),
        ({"bodies": ["cranc"]}, ValueError, "'cranc'.*'crank'"),
        ({"traces": ["rot"]}, ValueError, "'rot'.*'rod'"),
        ({"traces": {"pin": ("rod", (0.0, 0.0))}}, ValueError, "trace 'pin': point"),
        ({"traces": {"pin": "rod"}}, TypeError, "traces"),
    ],
)
def test_what_cannot_be_drawn_is_refused(options, error, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error, match=message):
        run().animate(**options)
    assert not list(tmp_path.iterdir())


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setenv("PATH", str(tmp_path))
        with pytest.raises(RuntimeError, match=r"'run.mp4' needs the program ffmpeg"):
            run().animate(tmp_path / "run.mp4")
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install matplotlib"):
        run().animate(tmp_path / "run.gif")


def test_short_and_broken_runs_are_shown():
    whole = run()
    film = replace(whole, t=whole.t[:1], y=whole.y[:1]).animate(**FEW)
    assert len(film) == 1 and film.frame(0.0).axes[0].get_title() == "t = 0 s"
    broken = replace(whole, t=whole.t[:2], y=whole.y[:2], reason=Reason.SOLVER)
    assert broken.animate(**FEW).scene.t[-1] == whole.t[1]
    with pytest.raises(ValueError, match="no times"):
        replace(whole, t=whole.t[:0], y=whole.y[:0]).animate()
    # a run that kept no steps is shown at its own times
    kept = replace(whole, t=whole.t[:2], y=whole.y[:2], steps=Steps(whole.t, whole.y))
    assert np.array_equal(kept.animate(**FEW).scene.t, [0.0, 0.25, 0.5])  # beyond its output times
    lost = replace(kept, steps=Steps(whole.t[:0], whole.y[:0]))
    assert set(lost.animate(**FEW).scene.t) <= set(lost.t)
