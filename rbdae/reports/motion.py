"""A mechanism in motion for a page: one trace for each body, one for all joints, and so on, at many times."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.plotting.figures import OF_BODIES
from rbdae.plotting.scene import Line, Scene
from rbdae.reports.blocks import Animation
from rbdae.reports.figures import ENTRY, as_json, axis, escaped, layout, numbers

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
_LOWEST, _HIGHEST = 300, 520  # px, of a figure in its plane
_FRAME, _WIDTH = 82, 690  # px: above and below its axes, and how wide they are on a page of 1,300
_AWAY = 2.4  # of the eye, in radii of the sphere about the box
_TALL = 1.65  # of the eye, in heights of the box: with its labels it fills the picture from there
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
    frame = np.eye(3) if scene.plane is None else scene.plane[:2]
    look = _space(scene) if scene.plane is None else _flat(scene)
    entries = len({trace["name"] for trace in traces}) + 1
    look["height"] = max(look["height"], _FRAME + ENTRY * entries)
    spec: dict[str, Any] = {
        "data": [_at_start(trace, frame) for trace in traces] + _paths(scene, frame),
        "layout": look,
    }
    if scene.plane is not None:
        spec["ratio"] = _ratio(look)
    coordinates = np.concatenate([line.points for trace in traces for line in trace["lines"]], axis=1) @ frame.T
    lengths = [[line.points.shape[1] for line in trace["lines"]] for trace in traces]
    lower, size = coordinates.min(), np.ptp(coordinates)
    # in whole numbers of the 65535th part of the largest extent, which no screen can show
    unit = float(size) / 65535.0 or 1.0
    motion = {
        "axes": "xyz"[: len(frame)],
        "t": [float(f"{t:.9g}") for t in scene.t],
        "lengths": lengths,
        "lower": float(lower),
        "unit": unit,
        "points": base64.b64encode(np.rint((coordinates - lower) / unit).astype("<u2").tobytes()).decode("ascii"),
    }
    return Animation(name, as_json(spec), motion, int(look["height"]), caption)


def _traces(scene: Scene) -> list[dict[str, Any]]:
    """The traces, each one entry of the legend: its name, colour and lines."""
    bodies = list(dict.fromkeys(line.name for line in scene.lines if line.kind == "body"))
    out: dict[tuple[str, bool, str], dict[str, Any]] = {}
    for line in scene.lines:
        if line.kind == "body":
            number = bodies.index(line.name) % len(OF_BODIES)
            name = line.name if len(bodies) <= _BODIES else "bodies"
            key = ("body", line.thin, line.name if len(bodies) <= _BODIES else f"bodies {number}")
            look = (name, OF_BODIES[number], _THIN if line.thin else 5.0)
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


def _at_start(trace: Mapping[str, Any], frame: Mat) -> dict[str, Any]:
    """A trace of plotly; the script fills in the coordinates, which are those along the rows of a frame."""
    lines: list[Line] = trace["lines"]
    texts: list[str | None] = []
    for line in lines:
        texts += [escaped(line.name)] * line.points.shape[1] + [None]
    first = [_broken([line.points[0] @ row for line in lines]) for row in frame]
    return {
        "type": _kind(frame),
        "mode": "lines",
        "name": escaped(trace["name"]),
        "legendgroup": escaped(trace["name"]),
        "showlegend": trace["first"],
        **dict(zip("xyz", first, strict=False)),
        "text": texts[:-1],
        "hovertemplate": f"%{{text}}<br>{_place(frame)}<extra></extra>",
        "line": {"color": trace["color"], "width": trace["width"]},
    }


def _broken(values_of_lines: list[Vec]) -> list[float | None]:
    """Coordinates one after the other, None between two lines."""
    out: list[float | None] = []
    for values in values_of_lines:
        out += [*(float(v) for v in values), None]
    return out[:-1]


def _kind(frame: Mat) -> str:
    """The trace of plotly for these coordinates."""
    return "scatter3d" if len(frame) == 3 else "scatter"


def _place(frame: Mat) -> str:
    """The coordinates in plotly's hover text."""
    return "(" + ", ".join(f"%{{{axis}:.4g}}" for axis in "xyz"[: len(frame)]) + ") m"


def _paths(scene: Scene, frame: Mat) -> list[dict[str, Any]]:
    """The paths of points, as thin lines; one entry in the legend."""
    names = [name for name, path in scene.traces.items() if np.ptp(path, axis=0).max() > 0.0]
    return [
        {
            "type": _kind(frame),
            "mode": "lines",
            "name": "paths of the centres of mass",
            "legendgroup": "paths of the centres of mass",
            "showlegend": k == 0,
            **{axis: numbers(path @ row) for axis, row in zip("xyz", frame, strict=False)},
            "text": escaped(name),
            "hovertemplate": f"path of %{{text}}<br>{_place(frame)}<extra></extra>",
            "line": {"color": "#98a2ac", "width": 1.5},
        }
        for k, name in enumerate(names)
        for path in [scene.traces[name]]
    ]


def _flat(scene: Scene) -> dict[str, Any]:
    """Axes of a plane motion with equal scales, which hold all of it."""
    assert scene.plane is not None
    bounds = np.sort(scene.bounds() @ scene.plane[:2].T, axis=0)
    margin = 0.05 * float(np.ptp(bounds, axis=0).max()) or 1.0
    limits = [[float(low - margin), float(high + margin)] for low, high in bounds.T]
    x = axis(_direction(scene.plane[0]), range=limits[0], constrain="domain")
    y = axis(_direction(scene.plane[1]), range=limits[1], scaleanchor="x", constrain="domain")
    out = layout(xaxis=x, yaxis=y, dragmode="pan", uirevision="motion")
    return out | {"height": int(np.clip(_FRAME + _WIDTH * _ratio(out), _LOWEST, _HIGHEST))}


def _ratio(look: Mapping[str, Any]) -> float:
    """Height of a picture in its plane over its width."""
    wide, high = (np.ptp(look[f"{axis}axis"]["range"]) for axis in "xy")
    return float(high / wide)


def _direction(v: Vec) -> str:
    """The label of an axis along a unit vector."""
    k = int(np.argmax(np.abs(v)))
    if abs(v[k]) < 1.0 - 1e-6:
        return f"along ({', '.join(f'{x:.3g}' for x in v)}) [m]"
    return f"{'' if v[k] > 0.0 else '-'}{'xyz'[k]} [m]"


def _space(scene: Scene) -> dict[str, Any]:
    """Axes that hold the whole motion, and an eye that sees it from above and aside."""
    lower, upper = _box(scene.bounds())
    sides = (upper - lower) / (upper - lower).max()
    look = {"gridcolor": "#d8dde2", "backgroundcolor": "#fbfcfd", "showbackground": True, "zeroline": False}
    axes = {
        f"{letter}axis": {**look, "title": {"text": f"{letter} [m]"}, "range": [float(lower[k]), float(upper[k])]}
        for k, letter in enumerate("xyz")
    }
    up = scene.up
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    eye = 0.55 * up + 0.9 * (side + 0.7 * np.cross(side, up)) / np.linalg.norm(side)
    away = max(_AWAY * float(np.linalg.norm(0.5 * sides)), _TALL * float(np.abs(up) @ sides))
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
