"""Animations of runs: in a notebook, or as a GIF, MP4 or HTML file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Vec, sense
from rbdae._files import checked, replacing
from rbdae.plotting import choices
from rbdae.plotting.canvas import Canvas
from rbdae.plotting.figures import need_matplotlib
from rbdae.plotting.placed import Motion
from rbdae.plotting.scene import Scene, Traces, scene, traces_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS: Final = (".gif", ".mp4", ".html")
DURATION = 4.0  # s, where neither duration nor speed is given
MOST_FRAMES = 10_000
_TRAIL = 4  # points of a trace for each frame

# matplotlib's player loads its icons from the net; these characters are in every font
_ICONS = {
    "fast-backward": "|◀",
    "step-backward": "‹",
    "pause": "||",
    "play": "▶",
    "step-forward": "›",
    "fast-forward": "▶|",
    "minus": "−",
    "plus": "+",
}


class Run(Motion, Protocol):
    """A run that `animate` draws, for example a `rbdae.Solution`."""

    @property
    def steps(self) -> Any:
        """With the times `t` of the accepted steps, none if they were not kept; None if they are those of the run."""


@final
class Animation:
    """A run in pictures; a notebook shows it with a player.

    Attributes
    ----------
    scene : the mechanism at the times of the frames
    fps : frames per second
    dpi : of the frames
    """

    def __init__(self, scene: Scene, make: Callable[[], Canvas], fps: float, dpi: float) -> None:
        self.scene = scene
        self.fps = fps
        self.dpi = dpi
        self._make = make

    @cached_property
    def _canvas(self) -> Canvas:
        return self._make()

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.scene.t)

    def __repr__(self) -> str:
        t = self.scene.t
        return f"Animation({len(t)} frames from {t[0]:g} s to {t[-1]:g} s, {len(t) / self.fps:g} s long)"

    def frame(self, t: float) -> Figure:
        """The picture of the frame next to a time, a figure of its own; for `savefig`."""
        time = _check.time("t", t)
        canvas = self._make()
        canvas.show(int(np.argmin(np.abs(self.scene.t - time))))
        return canvas.figure

    def save(self, path: str | Path) -> Path:
        """Write a file by its ending: ``.gif``, ``.mp4`` (with ffmpeg) or ``.html``.

        Returns
        -------
        Path
            where it was written

        Raises
        ------
        ValueError, FileNotFoundError, ImportError, RuntimeError
            for another ending, without the folder, without Pillow, without ffmpeg: before anything is drawn
        """
        target = checked_path(path)
        if target.suffix.lower() == ".html":
            page = _PAGE.format(self._html).encode("utf-8", "backslashreplace")
            with replacing(target) as new:
                new.write_bytes(page)
            return target
        from matplotlib import animation

        gif = target.suffix.lower() == ".gif"
        writer: Any = animation.PillowWriter if gif else animation.FFMpegWriter
        with replacing(target) as new:
            self._film().save(new, writer=writer(fps=self.fps), dpi=self.dpi)
        return target

    def to_html(self) -> str:
        """A player for a page, with the pictures in it; it needs nothing from the net."""
        return self._html

    def _repr_html_(self) -> str:
        return self._html

    @cached_property
    def _html(self) -> str:
        import matplotlib

        # the limit of the size would drop frames
        with matplotlib.rc_context({"animation.embed_limit": math.inf, "savefig.dpi": self.dpi}):
            text = str(self._film().to_jshtml(fps=self.fps, embed_frames=True))
        return re.sub(r"<link[^>]*font-awesome[^>]*>", lambda _: _style(), text)

    def _film(self) -> Any:
        from matplotlib.animation import FuncAnimation

        return FuncAnimation(self._canvas.figure, self._show, frames=len(self), interval=1000.0 / self.fps)

    def _show(self, k: int) -> tuple[()]:
        self._canvas.show(k)
        return ()


def _style() -> str:
    """In place of the icons from the net."""
    rules = [".fa { font-style: normal }", ".fa-flip-horizontal { transform: scaleX(-1); display: inline-block }"]
    rules += [f".fa-{name}::before {{ content: '{icon}' }}" for name, icon in _ICONS.items()]
    return "\n".join(("<style>", *rules, "</style>"))


_PAGE = (
    "<!DOCTYPE html>\n<html>\n<head><meta charset='utf-8'><title>rbdae</title></head>\n<body>\n{}\n</body>\n</html>\n"
)


def animate(
    solution: Run,
    path: str | Path | None = None,
    *,
    fps: float = 25.0,
    duration: float | None = None,
    speed: float | None = None,
    bodies: Iterable[str] | None = None,
    traces: Traces = True,
    elevation: float | None = None,
    azimuth: float | None = None,
    size: tuple[float, float] = (7.0, 5.5),
    dpi: float = 100.0,
    title: str | None = None,
) -> Animation:
    """The motion of a mechanism, with equal scales.

    A mechanism that moves in a plane is drawn in it, unless `elevation` or `azimuth` is given.

    Parameters
    ----------
    solution : a run; also one that ended on its way
    path : a file to write, by its ending ``.gif``, ``.mp4`` (with ffmpeg) or ``.html``
    fps : frames per second
    duration : of the animation, s; 4 if `speed` is not given either
    speed : seconds of the run per second of the animation; 1 is real time
    bodies : names of those that are drawn, with what acts on them; None for all
    traces : True for the centres of mass of these bodies, False for none, names of bodies, or points by names of your
        own: ``{"coupler": ("rod", (0.3, 0.1, 0.0))}``
    elevation, azimuth : of the eye over the horizontal and about the vertical, degrees; 20 and -60 in space
    size : of a frame, inches
    dpi : pixels per inch
    title : before the time

    Returns
    -------
    Animation
        A notebook shows it; `save` writes a file, `frame` gives a single picture.

    Raises
    ------
    ValueError, TypeError, FileNotFoundError, ImportError, RuntimeError
        for wrong choices, another ending, a missing folder, missing matplotlib or Pillow, and a missing ffmpeg: before
        anything is drawn
    """
    need_matplotlib("animate")
    target = None if path is None else checked_path(path)
    rate = _positive("fps", fps, "25")
    view = _view(elevation, azimuth)
    pixels = _positive("dpi", dpi, "100")
    inches = _inches(size)
    heading = "" if title is None else f"{choices.heading('title', title)}, "
    times, fine = _times(solution, rate, duration, speed)
    shown = scene(solution, times, bodies=bodies, traces=traces)
    trails = (fine, traces_at(solution, fine, bodies=bodies, traces=traces))
    out = Animation(shown, lambda: Canvas(shown, trails, view, inches, heading), rate, pixels)
    if target is not None:
        out.save(target)
    return out


def _positive(what: str, value: object, example: str) -> float:
    return _check.positive("animate", what, value, f"give e.g. {example}")


def _inches(size: object) -> tuple[float, float]:
    width, height = _check.array("animate", "size", size, (2,), remedy="pass e.g. (7, 5.5)").tolist()
    if not (width > 0.0 and height > 0.0):
        raise ValueError(f"animate: size must be two positive numbers, got {_check.show(size)}; pass e.g. (7, 5.5)")
    return width, height


def _view(elevation: float | None, azimuth: float | None) -> tuple[float, float] | None:
    if elevation is None and azimuth is None:
        return None
    given = (20.0 if elevation is None else elevation, -60.0 if azimuth is None else azimuth)
    return _check.number("animate", "elevation", given[0]), _check.number("animate", "azimuth", given[1])


def checked_path(path: str | Path) -> Path:
    """A file that can be written; see `Animation.save` for what is refused."""
    target = checked("animate: path", path, "run.gif")
    ending = target.suffix.lower()
    if ending not in FORMATS:
        raise ValueError(
            f"animate: path {target.name!r} must end with .gif, .mp4 or .html; e.g. {target.stem + '.gif'!r}"
        )
    if not target.absolute().parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent} to write {target.name} to; make it first")
    need_matplotlib("animate")
    if ending == ".gif":
        try:
            import PIL  # noqa: F401
        except ImportError:
            raise ImportError("a GIF needs Pillow: run `pip install pillow`") from None
    if ending == ".mp4":
        from matplotlib.animation import FFMpegWriter

        if not FFMpegWriter.isAvailable():
            raise RuntimeError(
                f"animate: {target.name!r} needs the program ffmpeg, which is not there: install it (Debian: apt "
                "install ffmpeg; conda: conda install -c conda-forge ffmpeg), or write a .gif or .html file"
            )
    return target


def _times(solution: Run, fps: float, duration: float | None, speed: float | None) -> tuple[Vec, Vec]:
    """The times of the frames, and of the points of traces."""
    if duration is not None and speed is not None:
        raise ValueError("animate: duration and speed say the same in two ways; give one of them")
    kept = solution.steps is None or len(solution.steps.t) > 0
    t = np.asarray(solution.t if solution.steps is None or not kept else solution.steps.t)
    if not len(t):
        raise ValueError("animate: this run has no times, so there is nothing to draw; its message says why it ended")
    span = abs(float(t[-1] - t[0]))
    if speed is not None:
        seconds = span / _positive("speed", speed, "1")
    else:
        seconds = DURATION if duration is None else _positive("duration", duration, "4")
    if not span > 0.0:
        return t[:1], t[:1]
    count = max(2, round(seconds * fps))
    if count > MOST_FRAMES:
        raise ValueError(
            f"animate: {seconds:g} s with {fps:g} frames per second are {count} frames, more than {MOST_FRAMES}; lower "
            "duration or fps, or raise speed"
        )
    frames = np.linspace(t[0], t[-1], count)
    if kept:
        return frames, np.linspace(t[0], t[-1], _TRAIL * (count - 1) + 1)
    # a run that kept no steps is known at its own times alone: those next to the frames
    rising = t[:: sense(t)]
    after = np.clip(np.searchsorted(rising, frames), 1, max(len(t) - 1, 1))
    return rising[np.where(frames - rising[after - 1] < rising[after] - frames, after - 1, after)], t


__all__ = ["DURATION", "FORMATS", "MOST_FRAMES", "Animation", "Run", "animate", "checked_path"]
