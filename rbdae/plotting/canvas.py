"""A scene drawn with matplotlib, time by time: in its plane if it has one, else in space, with equal scales."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, final

import numpy as np

from rbdae._arrays import Mat, Vec, sense
from rbdae.plotting.figures import OF_BODIES, new_figure, plain
from rbdae.plotting.scene import Part, Scene

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# in the order in which they are drawn: colour (of bodies their own) and width
_LOOK: Final[dict[Part, tuple[str, float]]] = {
    "ground": ("0.45", 1.0),
    "spring": ("#4d4d4d", 1.1),
    "body": ("", 2.4),
    "joint": ("black", 1.0),
    "drive": ("#c00000", 1.3),
}
_MOST_NAMES = len(OF_BODIES)  # bodies in the legend
_THINNEST = 0.15  # of the largest extent: less room has no side of a picture in space
_MARGIN = 0.04
_THIN = 1.1  # points, of thin lines


@final
class Canvas:
    """A figure that shows a scene at one of its times.

    Parameters
    ----------
    scene : what is drawn, at m times
    trails : times (k,) and by name points (k, 3): the traces, which are drawn as far as the time that is shown
    view : elevation and azimuth in degrees; None for the plane of the scene
    size : inches
    title : before the time
    """

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
        self._sense = sense(scene.t)  # of a run back in time the trails begin at its start
        self._title = title
        self._frame = scene.plane[:2] if view is None and scene.plane is not None else np.eye(3)
        names = list(dict.fromkeys(line.name for line in scene.lines if line.kind == "body"))
        self._colours = {name: OF_BODIES[k % len(OF_BODIES)] for k, name in enumerate(names)}
        self.figure: Figure = new_figure("animate", size, layout="constrained")
        self._axis: Any = self.figure.add_subplot(projection=None if self._flat else "3d")
        self._parts = self._add_parts()
        self._paths = {name: self._line(name, linewidth=0.9, alpha=0.6) for name in trails[1]}
        self._heads = {name: self._line(name, marker="o", markersize=4, linestyle="none") for name in trails[1]}
        bounds = self._seen(scene.bounds())
        (self._plane_axes if self._flat else self._space_axes)(np.sort(bounds, axis=0), view)
        if 1 < len(names) <= _MOST_NAMES:
            from matplotlib.lines import Line2D

            handles = [Line2D([], [], color=self._colours[name], linewidth=2.4, label=plain(name)) for name in names]
            self.figure.legend(handles=handles, loc="outside right upper", fontsize="small", frameon=False)
        self.show(0)
        self.figure.canvas.draw()
        self.figure.set_layout_engine("none")  # the same for all times

    @property
    def _flat(self) -> bool:
        return len(self._frame) == 2

    def _seen(self, points: Any) -> Any:
        """Points (..., 3) in the coordinates of the axes."""
        return points @ self._frame.T

    def show(self, k: int) -> None:
        """Draw the k-th time."""
        t = self._scene.t
        for kind, collection in self._parts.items():
            shown = [self._seen(line.points[k]) for line in self._scene.lines if line.kind == kind]
            collection.set_segments(shown)
        until = int(np.searchsorted(self._sense * self._trails[0], self._sense * t[k], side="right"))
        for name, points in self._trails[1].items():
            path = self._seen(points[: max(until, 1)])
            self._extend(self._paths[name], path)
            self._extend(self._heads[name], path[-1:])
        digits = 0 if len(t) == 1 else max(0, math.ceil(-math.log10(abs(t[-1] - t[0]) / (len(t) - 1))))
        self._axis.set_title(f"{self._title}t = {t[k]:.{digits}f} s", fontsize="medium")

    def _extend(self, artist: Any, path: Mat) -> None:
        if self._flat:
            artist.set_data(*path.T)
        else:
            artist.set_data_3d(*path.T)

    def _line(self, name: str, **look: Any) -> Any:
        color = self._colours.get(name, "0.3")
        return self._axis.plot(*np.empty((len(self._frame), 0)), color=color, zorder=3, **look)[0]

    def _add_parts(self) -> dict[Part, Any]:
        """Empty collections of lines by their kind."""
        from matplotlib.collections import LineCollection
        from mpl_toolkits.mplot3d.art3d import Line3DCollection

        out: dict[Part, Any] = {}
        for order, (kind, (colour, width)) in enumerate(_LOOK.items()):
            lines = [line for line in self._scene.lines if line.kind == kind]
            if lines:
                colours = [colour or self._colours[line.name] for line in lines]
                shown = [self._seen(line.points[0]) for line in lines]
                widths = [_THIN if line.thin else width for line in lines]
                make = LineCollection if self._flat else Line3DCollection
                out[kind] = make(shown, colors=colours, linewidths=widths, capstyle="round", zorder=2 + 0.1 * order)
                (self._axis.add_collection if self._flat else self._axis.add_collection3d)(out[kind])
        return out

    # ------------------------------------------------------------ axes

    def _plane_axes(self, bounds: Mat, view: tuple[float, float] | None) -> None:
        low, high = _with_margin(bounds, 0.05)
        self._axis.set_xlim(low[0], high[0])
        self._axis.set_ylim(low[1], high[1])
        self._axis.set_aspect("equal")
        self._axis.grid(True, alpha=0.3)
        self._axis.set_xlabel(_direction(self._frame[0]))
        self._axis.set_ylabel(_direction(self._frame[1]))

    def _space_axes(self, bounds: Mat, view: tuple[float, float] | None) -> None:
        from matplotlib.ticker import MaxNLocator

        low, high = _with_margin(bounds, _THINNEST)
        extent = high - low
        self._axis.set_box_aspect(extent / extent.max(), zoom=0.92)
        self._axis.tick_params(labelsize="small")
        axes = (self._axis.xaxis, self._axis.yaxis, self._axis.zaxis)
        limits = (self._axis.set_xlim, self._axis.set_ylim, self._axis.set_zlim)
        for k, (axis, limit) in enumerate(zip(axes, limits, strict=True)):
            limit(low[k], high[k])
            axis.set_major_locator(MaxNLocator(max(2, round(5 * extent[k] / extent.max()))))
            axis.set_label_text(f"{'xyz'[k]} [m]")
            axis.labelpad = 7.0
        up = self._scene.up
        upright = int(np.argmax(np.abs(up)))
        elevation, azimuth = (20.0, -60.0) if view is None else view
        downward = up[upright] < 0.0
        self._axis.view_init(
            elev=-elevation if downward else elevation,
            azim=azimuth,
            roll=180.0 if downward else 0.0,
            vertical_axis="xyz"[upright],
        )


def _with_margin(bounds: Mat, thinnest: float) -> tuple[Vec, Vec]:
    """Limits around bounds (2, k), no side thinner than a part of the largest one."""
    middle, half = bounds.mean(axis=0), 0.5 * np.ptp(bounds, axis=0)
    largest = float(half.max()) or 1.0
    half = np.maximum(half, thinnest * largest) + _MARGIN * largest
    return middle - half, middle + half


def _direction(v: Vec) -> str:
    """The label of an axis along a unit vector."""
    k = int(np.argmax(np.abs(v)))
    if abs(v[k]) < 1.0 - 1e-9:
        return f"along ({', '.join(f'{x:.3g}' for x in v)}) [m]"
    return f"{'' if v[k] > 0.0 else '-'}{'xyz'[k]} [m]"


__all__ = ["Canvas"]
