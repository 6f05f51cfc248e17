"""Animations of runs with matplotlib: in a notebook, or as a GIF, MP4 or HTML file."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Mat, Vec, sense
from rbdae._figure import OF_BODIES, new_figure, plain
from rbdae.output_files import replacing, writable
from rbdae.show.scene import Kind, Scene, Traces, axis_label, scene, traces_at

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_DURATION = 4.0  # s, if neither duration nor speed is given
_MOST_FRAMES = 10_000
_TRAIL = 4  # points of a trace for each frame
_LOOK: Final[dict[Kind, tuple[str, float]]] = {  # in the order of drawing: colour (bodies have their own) and width
    "ground": ("0.45", 1.0),
    "spring": ("#4d4d4d", 1.1),
    "body": ("", 2.4),
    "joint": ("black", 1.0),
    "drive": ("#c00000", 1.3),
}
_THIN = 1.1  # width of thin lines, points
_THINNEST = 0.15  # least side of a picture in space, as a part of the largest extent
_MARGIN = 0.04
_STYLE = (Path(__file__).parent / "page" / "player.css").read_text("utf-8")  # matplotlib's icons are on the network
_PAGE = (
    "<!DOCTYPE html>\n<html>\n<head><meta charset='utf-8'><title>rbdae</title></head>\n<body>\n{}\n</body>\n</html>\n"
)


def animate(
    solution: Any,
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
    """Animate the motion of a mechanism, with equal scales.

    A mechanism that moves in a plane is drawn in it, unless `elevation` or `azimuth` is given.

    A notebook shows the result; `save` writes a file, `frame` returns a single picture. Raises ValueError, TypeError,
    FileNotFoundError, ImportError or RuntimeError for wrong choices, another ending, a missing folder, missing
    matplotlib or ffmpeg, before anything is drawn.

    Parameters
    ----------
    solution : a run, possibly one that stopped early
    path : a file to write, with ending ``.gif``, ``.mp4`` (with ffmpeg) or ``.html``
    fps : frames per second
    duration : of the animation, s; 4 if `speed` is not given either
    speed : seconds of the run per second of the animation; 1 is real time
    bodies : names of the bodies to draw, with their joints and forces; None for all
    traces : True for the centres of mass of these bodies, False for no traces, names of bodies, or named points:
        ``{"coupler": ("rod", (0.3, 0.1, 0.0))}``
    elevation, azimuth : of the eye above the horizontal and about the vertical, degrees; by default 20 and -60 in space
    size : size of a frame, inches
    dpi : pixels per inch
    title : shown before the time
    """
    _check.package("animate", "matplotlib")
    target = None if path is None else _checked_path(path)
    rate, view = _check.positive("animate", "fps", fps, "give e.g. 25"), None
    if elevation is not None or azimuth is not None:
        view = (
            20.0 if elevation is None else _check.number("animate", "elevation", elevation),
            -60.0 if azimuth is None else _check.number("animate", "azimuth", azimuth),
        )
    pixels = _check.positive("animate", "dpi", dpi, "give e.g. 100")
    times, fine = _times(solution, rate, duration, speed)
    shown = scene(solution, times, bodies=bodies, traces=traces)
    trails = (fine, traces_at(solution, fine, bodies=bodies, traces=traces))
    heading = "" if title is None else f"{title}, "
    out = Animation(shown, lambda: Canvas(shown, trails, view, size, heading), rate, pixels)
    if target is not None:
        out.save(target)
    return out


@final
class Animation:
    """An animated run; a notebook shows it with a player.

    Attributes
    ----------
    scene : the mechanism at the times of the frames
    fps : frames per second
    dpi : resolution of the frames
    """

    def __init__(self, scene: Scene, make: Callable[[], Canvas], fps: float, dpi: float) -> None:
        self.scene = scene
        self.fps = fps
        self.dpi = dpi
        self._make = make

    def __len__(self) -> int:
        return len(self.scene.t)

    def __repr__(self) -> str:
        t = self.scene.t
        return f"Animation({len(t)} frames from {t[0]:g} s to {t[-1]:g} s, {len(t) / self.fps:g} s long)"

    def frame(self, t: float) -> Figure:
        """The frame nearest to a time, as a separate figure; for `savefig`."""
        time = _check.time("t", t)
        canvas = self._make()
        canvas.show(int(np.argmin(np.abs(self.scene.t - time))))
        return canvas.figure

    def save(self, path: str | Path) -> Path:
        """Write a file by its ending: ``.gif``, ``.mp4`` (with ffmpeg) or ``.html``; returns its path. Raises as
        `animate`, before anything is drawn."""
        from matplotlib.animation import FFMpegWriter, PillowWriter

        target = _checked_path(path)
        with replacing(target) as new:
            if target.suffix.lower() == ".html":
                new.write_bytes(_PAGE.format(self._html).encode("utf-8", "backslashreplace"))
            else:
                writer: Any = PillowWriter if target.suffix.lower() == ".gif" else FFMpegWriter
                self._film().save(new, writer=writer(fps=self.fps), dpi=self.dpi)
        return target

    def _repr_html_(self) -> str:
        """A player with its pictures, which needs no network."""
        return self._html

    @cached_property
    def _html(self) -> str:
        import matplotlib

        # the limit of the size would drop frames
        with matplotlib.rc_context({"animation.embed_limit": math.inf, "savefig.dpi": self.dpi}):
            text = str(self._film().to_jshtml(fps=self.fps, embed_frames=True))
        return re.sub(r"<link[^>]*font-awesome[^>]*>", lambda _: f"<style>\n{_STYLE}</style>", text)

    def _film(self) -> Any:
        from matplotlib.animation import FuncAnimation

        canvas = self._make()
        return FuncAnimation(canvas.figure, canvas.show, frames=len(self), interval=1000.0 / self.fps)


def _checked_path(path: str | Path) -> Path:
    from matplotlib.animation import FFMpegWriter

    target = writable("animate: path", path, "run.gif", (".gif", ".mp4", ".html"))
    if target.suffix.lower() == ".mp4" and not FFMpegWriter.isAvailable():
        raise RuntimeError(f"animate: {target.name!r} needs the program ffmpeg; install it, or write a .gif or .html")
    return target


def _times(solution: Any, fps: float, duration: float | None, speed: float | None) -> tuple[Vec, Vec]:
    """Times of the frames, and of the points of traces."""
    if duration is not None and speed is not None:
        raise ValueError("animate: duration and speed say the same in two ways; give one of them")
    kept = solution.steps is None or len(solution.steps.t) > 0
    t = np.asarray(solution.t if solution.steps is None or not kept else solution.steps.t)
    if not len(t):
        raise ValueError("animate: this run has no times, so there is nothing to draw; its message says why it ended")
    span = abs(float(t[-1] - t[0]))
    if speed is not None:
        seconds = span / _check.positive("animate", "speed", speed, "give e.g. 1")
    else:
        seconds = _check.positive("animate", "duration", _DURATION if duration is None else duration, "give e.g. 4")
    if not span > 0.0:
        return t[:1], t[:1]
    count = max(2, round(seconds * fps))
    if count > _MOST_FRAMES:
        raise ValueError(f"animate: {seconds:g} s with {fps:g} frames per second are {count} frames; lower one of them")
    frames = np.linspace(t[0], t[-1], count)
    if kept:
        return frames, np.linspace(t[0], t[-1], _TRAIL * (count - 1) + 1)
    # a run that kept no steps is known only at its own times: take those nearest to the frames
    return t[np.abs(t[:, None] - frames).argmin(axis=0)], t


@final
class Canvas:
    """A figure of a scene with equal scales: in its plane if it has one and no `view` (elevation and azimuth, degrees)
    is given, else in space. `trails` are times (k,) and points (k, 3) by name, drawn up to the time shown."""

    def __init__(
        self,
        scene: Scene,
        trails: tuple[Vec, dict[str, Mat]],
        view: tuple[float, float] | None,
        size: tuple[float, float],
        title: str,
    ) -> None:
        self._scene = scene
        self._trails = trails
        self._title = title
        self._frame = scene.plane[:2] if view is None and scene.plane is not None else np.eye(3)
        self._flat = len(self._frame) == 2
        names = list(dict.fromkeys(line.name for line in scene.lines if line.kind == "body"))
        self._colours = {name: OF_BODIES[k % len(OF_BODIES)] for k, name in enumerate(names)}
        self.figure: Figure = new_figure("animate", size, layout="constrained")
        self._axis: Any = self.figure.add_subplot(projection=None if self._flat else "3d")
        self._parts = self._add_parts()
        self._paths = {name: self._line(name, linewidth=0.9, alpha=0.6) for name in trails[1]}
        self._heads = {name: self._line(name, marker="o", markersize=4, linestyle="none") for name in trails[1]}
        bounds = np.sort(scene.bounds() @ self._frame.T, axis=0)
        middle, half = bounds.mean(axis=0), 0.5 * np.ptp(bounds, axis=0)
        largest = float(half.max()) or 1.0
        half = np.maximum(half, (0.05 if self._flat else _THINNEST) * largest) + _MARGIN * largest
        for letter, low, high, row in zip("xyz", middle - half, middle + half, self._frame, strict=False):
            self._axis.set(**{f"{letter}lim": (low, high), f"{letter}label": axis_label(row)})
        if self._flat:
            self._axis.set_aspect("equal")
            self._axis.grid(True, alpha=0.3)
        else:
            self._in_space(half / half.max(), *(view or (20.0, -60.0)))
        if 1 < len(names) <= len(OF_BODIES):
            from matplotlib.lines import Line2D

            handles = [Line2D([], [], color=self._colours[name], linewidth=2.4, label=plain(name)) for name in names]
            self.figure.legend(handles=handles, loc="outside right upper", fontsize="small", frameon=False)
        self.show(0)
        self.figure.canvas.draw()
        self.figure.set_layout_engine("none")  # the same for all times

    def show(self, k: int) -> tuple[()]:
        t = self._scene.t
        for kind, collection in self._parts.items():
            collection.set_segments([line.points[k] @ self._frame.T for line in self._lines(kind)])
        direction = sense(t)  # in a run back in time the trails begin at its start
        until = int(np.searchsorted(direction * self._trails[0], direction * t[k], side="right"))
        for name, points in self._trails[1].items():
            path = points[: max(until, 1)] @ self._frame.T
            for artist, some in ((self._paths[name], path), (self._heads[name], path[-1:])):
                (artist.set_data if self._flat else artist.set_data_3d)(*some.T)
        digits = 0 if len(t) == 1 else max(0, math.ceil(-math.log10(abs(t[-1] - t[0]) / (len(t) - 1))))
        self._axis.set_title(f"{self._title}t = {t[k]:.{digits}f} s", fontsize="medium")
        return ()

    def _lines(self, kind: Kind) -> list[Any]:
        return [line for line in self._scene.lines if line.kind == kind]

    def _line(self, name: str, **look: Any) -> Any:
        color = self._colours.get(name, "0.3")
        return self._axis.plot(*np.empty((len(self._frame), 0)), color=color, zorder=3, **look)[0]

    def _add_parts(self) -> dict[Kind, Any]:
        from matplotlib.collections import LineCollection
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        out: dict[Kind, Any] = {}
        for order, (kind, (colour, width)) in enumerate(_LOOK.items()):
            if lines := self._lines(kind):
                colours = [colour or self._colours[line.name] for line in lines]
                shown = [line.points[0] @ self._frame.T for line in lines]
                widths = [_THIN if line.thin else width for line in lines]
                make = LineCollection if self._flat else Line3DCollection
                out[kind] = make(shown, colors=colours, linewidths=widths, capstyle="round", zorder=2 + 0.1 * order)
                (self._axis.add_collection if self._flat else self._axis.add_collection3d)(out[kind])
        return out

    def _in_space(self, sides: Vec, elevation: float, azimuth: float) -> None:
        """Set equal scales for these relative lengths of sides, spacing of ticks, and the eye."""
        from matplotlib.ticker import MaxNLocator

        self._axis.set_box_aspect(sides, zoom=0.92)
        self._axis.tick_params(labelsize="small")
        for letter, side in zip("xyz", sides, strict=True):
            axis = getattr(self._axis, f"{letter}axis")
            axis.set_major_locator(MaxNLocator(max(2, round(5 * side))))
            axis.labelpad = 7.0
        upright = int(np.argmax(np.abs(self._scene.up)))
        down = bool(self._scene.up[upright] < 0.0)
        turn = {"roll": 180.0 if down else 0.0, "vertical_axis": "xyz"[upright]}
        self._axis.view_init(elev=-elevation if down else elevation, azim=azimuth, **turn)
