"""A mechanism in motion for a page: one trace for each body, one for all joints, and so on, at many times."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.plotting.figures import COLOURS
from rbdae.plotting.scene import Line, Scene
from rbdae.reports.blocks import Animation
from rbdae.reports.figures import as_json, escaped, layout, numbers

MOMENTS: Final = 301
"""Of an animation: ten seconds at thirty a second."""

_NUMBERS = 400_000  # coordinates of an animation at most: 1 MB in the page
_THIN = 2.0  # of the edges of boxes
_BODIES = 20  # of more than these one entry in the legend is for all
_LOOKS: Final[Mapping[str, tuple[str, str, float]]] = {
    "joint": ("joints", "#5f6b73", 2.0),
    "spring": ("springs", "#8a6d00", 2.0),
    "drive": ("drives and loads", "#c4273b", 3.0),
    "ground": ("ground", "#8a949e", 2.0),
}
_AWAY = 2.4  # of the eye, in radii of the sphere about the box
_WIDE, _HIGH = 2.4, 1.75  # what a view of parallel rays shows, in units of plotly's
_SMALLEST_SIDE = 0.25  # of the box that is shown, as a part of its largest


def moments(scene_at_start: Scene, times: Vec) -> Vec:
    """The times that are drawn, a part of these: fewer where a mechanism has many points."""
    points = sum(line.points.shape[1] for line in scene_at_start.lines)
    most = int(np.clip(_NUMBERS // (3 * max(points, 1)), 31, MOMENTS))
    if len(times) <= most:
        return times
    return np.asarray(times[np.unique(np.linspace(0, len(times) - 1, most).astype(int))])


def animation(name: str, scene: Scene, caption: str) -> Animation:
    """The block of a scene."""
    traces = _traces(scene)
    spec = {"data": [_at_start(trace) for trace in traces] + _paths(scene), "layout": _space(scene)}
    coordinates = np.concatenate([line.points for trace in traces for line in trace["lines"]], axis=1)
    lengths = [[line.points.shape[1] for line in trace["lines"]] for trace in traces]
    lower, size = coordinates.min(), np.ptp(coordinates)
    # in whole numbers of the 65535th part of the largest extent, which no screen can show
    unit = float(size) / 65535.0 or 1.0
    motion = {
        "t": [float(f"{t:.9g}") for t in scene.t],
        "lengths": lengths,
        "lower": float(lower),
        "unit": unit,
        "points": base64.b64encode(np.rint((coordinates - lower) / unit).astype("<u2").tobytes()).decode("ascii"),
    }
    return Animation(name, as_json(spec), motion, caption)


def _traces(scene: Scene) -> list[dict[str, Any]]:
    """The traces, each one entry of the legend: its name, colour and lines."""
    bodies = list(dict.fromkeys(line.name for line in scene.lines if line.kind == "body"))
    out: dict[tuple[str, bool, str], dict[str, Any]] = {}
    for line in scene.lines:
        if line.kind == "body":
            number = bodies.index(line.name) % len(COLOURS)
            name = line.name if len(bodies) <= _BODIES else "bodies"
            key = ("body", line.thin, line.name if len(bodies) <= _BODIES else f"bodies {number}")
            look = (name, COLOURS[number], _THIN if line.thin else 5.0)
        else:
            key, look = (line.kind, False, ""), _LOOKS[line.kind]
        trace = out.setdefault(key, {"name": look[0], "color": look[1], "width": look[2], "lines": []})
        trace["lines"].append(line)
    order = ["ground", "body", "spring", "drive", "joint"]
    traces = [out[key] for key in sorted(out, key=lambda key: (order.index(key[0]), key[1]))]
    seen: set[str] = set()
    for trace in traces:
        trace["first"] = trace["name"] not in seen
        seen.add(trace["name"])
    return traces


def _at_start(trace: Mapping[str, Any]) -> dict[str, Any]:
    """A trace of plotly; the script fills in the coordinates."""
    lines: list[Line] = trace["lines"]
    texts: list[str | None] = []
    for line in lines:
        texts += [escaped(line.name)] * line.points.shape[1] + [None]
    first = [_broken([line.points[0, :, k] for line in lines]) for k in range(3)]
    return {
        "type": "scatter3d",
        "mode": "lines",
        "name": escaped(trace["name"]),
        "legendgroup": escaped(trace["name"]),
        "showlegend": trace["first"],
        "x": first[0],
        "y": first[1],
        "z": first[2],
        "text": texts[:-1],
        "hovertemplate": "%{text}<br>(%{x:.4g}, %{y:.4g}, %{z:.4g}) m<extra></extra>",
        "line": {"color": trace["color"], "width": trace["width"]},
    }


def _broken(values_of_lines: list[Vec]) -> list[float | None]:
    """Coordinates one after the other, None between two lines."""
    out: list[float | None] = []
    for values in values_of_lines:
        out += [*(float(v) for v in values), None]
    return out[:-1]


def _paths(scene: Scene) -> list[dict[str, Any]]:
    """The paths of points, as thin lines; one entry in the legend."""
    names = [name for name, path in scene.traces.items() if np.ptp(path, axis=0).max() > 0.0]
    return [
        {
            "type": "scatter3d",
            "mode": "lines",
            "name": "paths of the centres of mass",
            "legendgroup": "paths of the centres of mass",
            "showlegend": k == 0,
            **{axis: numbers(path[:, i]) for i, axis in enumerate("xyz")},
            "text": escaped(name),
            "hovertemplate": "path of %{text}<br>(%{x:.4g}, %{y:.4g}, %{z:.4g}) m<extra></extra>",
            "line": {"color": "#aab3bc", "width": 1.5},
        }
        for k, name in enumerate(names)
        for path in [scene.traces[name]]
    ]


def _space(scene: Scene) -> dict[str, Any]:
    """Axes that hold the whole motion, and an eye that sees it: across a plane motion, else from above and aside."""
    lower, upper = _box(scene.bounds())
    frame = scene.plane
    sides = (upper - lower) / (upper - lower).max()
    look = {"gridcolor": "#d8dde2", "backgroundcolor": "#fbfcfd", "showbackground": True, "zeroline": False}
    axes = {
        f"{letter}axis": {**look, "title": {"text": f"{letter} [m]"}, "range": [float(lower[k]), float(upper[k])]}
        for k, letter in enumerate("xyz")
    }
    if frame is not None:
        camera = {"eye": _xyz(2.0 * frame[2]), "up": _xyz(frame[1]), "projection": {"type": "orthographic"}}
        # of parallel rays the size does not depend on the distance
        width, height = np.abs(frame[:2]) @ sides
        sides = sides * min(_WIDE / width, _HIGH / height)
        across = int(np.argmax(np.abs(frame[2])))
        if abs(frame[2, across]) > 0.999:  # this axis is a point
            axes[f"{'xyz'[across]}axis"] |= {"title": {"text": ""}, "showticklabels": False}
    else:
        up = scene.up
        side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
        eye = 0.55 * up + 0.9 * (side + 0.7 * np.cross(side, up)) / np.linalg.norm(side)
        away = _AWAY * float(np.linalg.norm(0.5 * sides))
        camera = {"eye": _xyz(away * eye / np.linalg.norm(eye)), "up": _xyz(up)}
    space = {
        "camera": camera,
        "aspectmode": "manual",
        "aspectratio": _xyz(sides),
        "dragmode": "orbit",
        "domain": {"x": [0.16, 1.0]},
        **axes,
    }
    margin = dict.fromkeys("lrtb", 0)
    return layout(scene=space, height=520, margin=margin, legend={"x": 0.0, "y": 1.0}, uirevision="motion")


def _box(bounds: Mat) -> tuple[Vec, Vec]:
    """A box about all points, no side of which is thin."""
    middle, half = bounds.mean(axis=0), 0.5 * np.ptp(bounds, axis=0)
    half = np.maximum(1.06 * half, _SMALLEST_SIDE * half.max())
    if not half.max() > 0.0:
        half = np.ones(3)
    return middle - half, middle + half


def _xyz(v: Vec) -> dict[str, float]:
    return dict(zip("xyz", map(float, v), strict=True))


__all__ = ["MOMENTS", "animation", "moments"]
