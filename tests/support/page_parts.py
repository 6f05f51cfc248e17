"""What a written page has in it: the curves of its figures and the cells of its tables, without a browser."""

from __future__ import annotations

import base64
import html
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Drawn:
    """A curve: its figure, what its vertical axis says, its name, and its points."""

    figure: str
    label: str
    name: str
    x: np.ndarray
    y: np.ndarray


def _numbers(given: Any) -> np.ndarray:
    if isinstance(given, dict):
        return np.frombuffer(base64.b64decode(given["bdata"]), f"<{given['dtype']}").astype(float)
    return np.array([np.nan if value is None else value for value in given], dtype=float)


def figures(path: Path) -> dict[str, dict[str, Any]]:
    """Plotly's specifications by the names of figures."""
    pattern = r'<script type="application/json" data-for="figure-([^"]*)">(.*?)</script>'
    return {name: json.loads(spec) for name, spec in re.findall(pattern, path.read_text("utf-8"), flags=re.DOTALL)}


def curves(path: Path) -> list[Drawn]:
    """All curves of figures over time, or over work."""
    out = []
    for figure, spec in figures(path).items():
        for trace in spec["data"]:
            if trace["type"] == "scatter" and "yaxis" in trace:  # that of a mechanism in its plane has none
                axis = "yaxis" + trace["yaxis"].removeprefix("y")
                label = html.unescape(spec["layout"][axis]["title"]["text"]).replace("<br>", " ")
                x, y = _numbers(trace["x"]), _numbers(trace["y"])
                out.append(Drawn(figure, label, html.unescape(trace["name"]), x, y))
    return out


def motion(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Times, and points (moments, points, 3), of the animation."""
    (text,) = re.findall(
        r'<script type="application/json" class="motion">(.*?)</script>', path.read_text("utf-8"), flags=re.DOTALL
    )
    given = json.loads(html.unescape(text))
    whole = np.frombuffer(base64.b64decode(given["points"]), "<u2").astype(float)
    t = np.array(given["t"])
    return t, given["lower"] + given["unit"] * whole.reshape(len(t), -1, len(given["axes"]))


def points(trace: dict[str, Any]) -> np.ndarray:
    """The points of a curve in space, (m, 3); not a number between its parts."""
    return np.stack([_numbers(trace[axis]) for axis in "xyz"], axis=-1)


def tables(path: Path) -> dict[str, list[list[str]]]:
    """Rows of cells by the names of tables; of a number all its digits."""
    out = {}
    text = path.read_text("utf-8")
    for name, body in re.findall(r'<table id="table-([^"]*)".*?<tbody>(.*?)</tbody>', text, flags=re.DOTALL):
        out[name] = [_cells(row) for row in re.findall(r"<tr[^>]*>(.*?)</tr>", body, flags=re.DOTALL)]
    return out


def _cells(row: str) -> list[str]:
    found = re.findall(r'<td(?:[^>]*data-order="([^"]*)")?[^>]*>(.*?)</td>', row, flags=re.DOTALL)
    return [html.unescape(order or text).strip() for order, text in found]
