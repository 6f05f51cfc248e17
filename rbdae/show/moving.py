"""A moving scene for a page, with one trace for each body, one for all joints, and so on."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._figure import OF_BODIES
from rbdae.show.page import ENTRY, Figure, as_json, axis, escaped, layout, numbers
from rbdae.show.scene import Scene, axis_label

MOMENTS: Final = 301
"""Frames of an animation: ten seconds at thirty per second."""

_THIN = 2.0  # width of the edges of boxes
_BODIES = 20  # more bodies share one entry of the legend
_LOOKS: Final[Mapping[str, tuple[str, str, float]]] = {  # in the order of drawing, behind and before the bodies
    "ground": ("ground", "#8a949e", 2.0),
    "body": ("", "", 5.0),
    "spring": ("springs", "#8a6d00", 2.0),
    "drive": ("drives and loads", "#c4273b", 3.0),
    "joint": ("joints", "#5f6b73", 2.0),
}
_PATHS = "paths of the centres of mass"
_LOWEST, _HIGHEST = 300, 520  # height limits of a plane figure, px
_FRAME, _WIDTH = 82, 690  # px: above and below its axes, and how wide they are on a page of 1,300
_AWAY = 2.4  # distance of the eye, in radii of the sphere about the box
_TALL = 1.65  # distance of the eye, in heights of the box: from there the box with its labels fills the picture
_SMALLEST_SIDE = 0.25  # of the box shown, as a part of its largest side


def moving(name: str, scene: Scene, caption: str) -> Figure:
    """The figure of a scene."""
    frame = np.eye(3) if scene.plane is None else scene.plane[:2]
    look, ratio = _space(scene) if scene.plane is None else _flat(scene, frame)
    traces = _traces(scene)
    data = [_at_start(trace, frame) for trace in traces] + _paths(scene, frame)
    look["height"] = max(look["height"], _FRAME + ENTRY * (len({trace["name"] for trace in traces}) + 1))
    spec: dict[str, Any] = {"data": data, "layout": look}
    if ratio:
        spec["ratio"] = ratio
    coordinates = np.concatenate([line.points for trace in traces for line in trace["lines"]], axis=1) @ frame.T
    lower = coordinates.min()
    # in integers of 1/65535 of the largest extent, finer than any screen
    unit = float(np.ptp(coordinates)) / 65535.0 or 1.0
    motion = {
        "axes": "xyz"[: len(frame)],
        "t": [float(f"{t:.9g}") for t in scene.t],
        "lengths": [[line.points.shape[1] for line in trace["lines"]] for trace in traces],
        "lower": float(lower),
        "unit": unit,
        "points": base64.b64encode(np.rint((coordinates - lower) / unit).astype("<u2").tobytes()).decode("ascii"),
    }
    return Figure(name, as_json(spec), int(look["height"]), caption, motion)


def _traces(scene: Scene) -> list[dict[str, Any]]:
    """Traces as entries of the legend: name, colour and lines."""
    bodies = list(dict.fromkeys(line.name for line in scene.lines if line.kind == "body"))
    out: dict[tuple[int, bool, str], dict[str, Any]] = {}
    for line in scene.lines:
        name, colour, width = _LOOKS[line.kind]
        key = ""
        if line.kind == "body":
            number = bodies.index(line.name) % len(OF_BODIES)
            name, colour = line.name if len(bodies) <= _BODIES else "bodies", OF_BODIES[number]
            key = name if len(bodies) <= _BODIES else f"bodies {number}"
        width = _THIN if line.thin else width
        where = (list(_LOOKS).index(line.kind), line.thin, key)
        trace = out.setdefault(where, {"name": name, "color": colour, "width": width, "lines": []})
        trace["lines"].append(line)
    traces = [out[key] for key in sorted(out, key=lambda key: key[:2])]
    first = {trace["name"]: trace for trace in reversed(traces)}
    return [trace | {"first": first[trace["name"]] is trace} for trace in traces]


def _at_start(trace: Mapping[str, Any], frame: Mat) -> dict[str, Any]:
    """A plotly trace; the script fills in its coordinates along the rows of a frame."""
    texts: list[str | None] = []
    places: list[list[float | None]] = [[] for _ in frame]
    for line in trace["lines"]:  # None between two lines
        texts += [escaped(line.name)] * line.points.shape[1] + [None]
        for place, row in zip(places, frame, strict=True):
            place += [*(line.points[0] @ row).tolist(), None]
    return {
        **_look(trace["name"], frame, shown=trace["first"], said="%{text}"),
        **{letter: place[:-1] for letter, place in zip("xyz", places, strict=False)},
        "text": texts[:-1],
        "line": {"color": trace["color"], "width": trace["width"]},
    }


def _look(name: str, frame: Mat, *, shown: bool, said: str) -> dict[str, Any]:
    place = ", ".join(f"%{{{letter}:.4g}}" for letter in "xyz"[: len(frame)])
    return {
        "type": "scatter3d" if len(frame) == 3 else "scatter",
        "mode": "lines",
        "name": escaped(name),
        "legendgroup": escaped(name),
        "showlegend": shown,
        "hovertemplate": f"{said}<br>({place}) m<extra></extra>",
    }


def _paths(scene: Scene, frame: Mat) -> list[dict[str, Any]]:
    """Paths of points, as thin lines with one entry in the legend."""
    paths = {name: path for name, path in scene.traces.items() if np.ptp(path, axis=0).max() > 0.0}
    return [
        {
            **_look(_PATHS, frame, shown=k == 0, said="path of %{text}"),
            **{letter: numbers(path @ row) for letter, row in zip("xyz", frame, strict=False)},
            "text": escaped(name),
            "line": {"color": "#98a2ac", "width": 1.5},
        }
        for k, (name, path) in enumerate(paths.items())
    ]


def _flat(scene: Scene, frame: Mat) -> tuple[dict[str, Any], float]:
    """Axes with equal scales that hold a whole plane motion, and height over width."""
    bounds = np.sort(scene.bounds() @ frame.T, axis=0)
    margin = 0.05 * float(np.ptp(bounds, axis=0).max()) or 1.0
    limits = [[float(low - margin), float(high + margin)] for low, high in bounds.T]
    x = axis(axis_label(frame[0]), range=limits[0], constrain="domain")
    y = axis(axis_label(frame[1]), range=limits[1], scaleanchor="x", constrain="domain")
    wide, high = np.ptp(limits, axis=1)
    height = int(np.clip(_FRAME + _WIDTH * high / wide, _LOWEST, _HIGHEST))
    return layout(xaxis=x, yaxis=y, dragmode="pan", uirevision="motion", height=height), float(high / wide)


def _space(scene: Scene) -> tuple[dict[str, Any], float]:
    """Axes that hold the whole motion without thin sides, and an eye above and to the side."""
    bounds = scene.bounds()
    middle, half = bounds.mean(axis=0), 0.5 * np.ptp(bounds, axis=0)
    half = np.maximum(1.06 * half, _SMALLEST_SIDE * half.max()) if half.any() else np.ones(3)
    look = {"gridcolor": "#d8dde2", "backgroundcolor": "#fbfcfd", "showbackground": True, "zeroline": False}
    axes = {
        f"{letter}axis": {**look, "title": {"text": f"{letter} [m]"}, "range": [float(m - h), float(m + h)]}
        for letter, m, h in zip("xyz", middle, half, strict=True)
    }
    sides, up = half / half.max(), scene.up
    side = np.cross(up, np.eye(3)[np.argmin(np.abs(up))])
    eye = 0.55 * up + 0.9 * (side + 0.7 * np.cross(side, up)) / np.linalg.norm(side)
    away = max(_AWAY * float(np.linalg.norm(0.5 * sides)), _TALL * float(np.abs(up) @ sides))
    space = {
        "camera": {"eye": _xyz(away * eye / np.linalg.norm(eye)), "up": _xyz(up)},
        "aspectmode": "manual",
        "aspectratio": _xyz(sides),
        "dragmode": "orbit",
        "domain": {"x": [0.16, 1.0]},
        **axes,
    }
    margin = dict.fromkeys("lrtb", 0)
    return layout(scene=space, height=520, margin=margin, legend={"x": 0.0, "y": 1.0}, uirevision="motion"), 0.0


def _xyz(v: Vec) -> dict[str, float]:
    return dict(zip("xyz", map(float, v), strict=True))
