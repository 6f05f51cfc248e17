"""Style of panels in all pictures."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def framed(axes: Axes, heading: str, across: str, up: str) -> None:
    """Set heading, labels and grid of a panel."""
    axes.set_title(heading, loc="left", fontsize="medium")
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    axes.grid(True, which="major", alpha=0.3)
