"""Figures without a window. Matplotlib is imported with the first one."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any

from rbdae import _check

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def need_matplotlib(what: str) -> None:
    """Raise ImportError with the remedy unless matplotlib is installed."""
    _check.package(what, "matplotlib.figure")


def new_figure(what: str, size: tuple[float, float], **options: Any) -> Figure:
    """A figure without a window, unknown to pyplot; a notebook shows it."""
    need_matplotlib(what)
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, **options)
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


def _png(figure: Figure) -> bytes:
    out = io.BytesIO()
    figure.savefig(out, format="png", dpi=100)
    return out.getvalue()


def plain(text: str) -> str:
    """A name escaped for matplotlib, which reads text between dollars as mathtext and omits names with a leading
    underscore from legends."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped
