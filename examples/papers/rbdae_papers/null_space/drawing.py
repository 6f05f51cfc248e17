"""Styles of the forms in all pictures of [NS]: a colour for each parametrisation, dashes and hollow marks for index
0."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from rbdae._arrays import Vec
from rbdae._figure import COLOURS
from rbdae_papers.finding import Finding
from rbdae_papers.null_space.equations import KEEPING, NAMES

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_BLUE, _VERMILION, _GREEN, _PURPLE = COLOURS[:4]
_DASHED = (0, (4, 1.5))
_LOOK: Final[dict[str, dict[str, Any]]] = {
    "q42": {"color": _BLUE, "linestyle": "-", "marker": "o"},
    "d25": {"color": _VERMILION, "linestyle": "-", "marker": "^"},
    "q40": {"color": _BLUE, "linestyle": _DASHED, "marker": "o", "markerfacecolor": "white"},
    "d23": {"color": _VERMILION, "linestyle": _DASHED, "marker": "^", "markerfacecolor": "white"},
    "q40*": {"color": _GREEN, "linestyle": _DASHED, "marker": "D", "markerfacecolor": "white"},
    "d23*": {"color": _PURPLE, "linestyle": _DASHED, "marker": "v", "markerfacecolor": "white"},
    "E66": {"color": "black", "linestyle": (0, (1, 1.2)), "marker": "x"},
}


def look(form: str, *, marks: bool = False) -> dict[str, Any]:
    """Colour, dashes, optional marks and legend name of a form's curve."""
    chosen = dict(_LOOK[form])
    chosen |= {"markersize": 4.5} if marks else {"marker": None}
    return {"linewidth": 1.3, "label": (NAMES | KEEPING)[form], **chosen}


def legend(figure: Figure, axes: Iterable[Axes], columns: int = 5) -> None:
    """Add one legend for all panels, below them."""
    entries: dict[str, Any] = {}
    for each in axes:
        handles, names = each.get_legend_handles_labels()
        entries |= dict(zip(names, handles, strict=True))
    figure.legend(
        entries.values(), entries.keys(), loc="outside lower center", ncols=columns, fontsize="small", frameon=False
    )


def draw_work(axes: Axes, finding: Finding, quantity: str, **where: Any) -> None:
    """Draw errors over evaluations, a curve for each form."""
    from matplotlib.ticker import LogLocator, NullLocator

    for form in finding.values("form"):
        chosen = {**where, "form": form}
        work, found = finding.column("evaluations", **chosen), finding.column(quantity, **chosen)
        if len(work):
            axes.loglog(work, found, **look(form, marks=True))
    decades = float(np.log10(np.divide(*axes.get_xlim()[::-1])))
    if decades < 2.5:  # the labels of minor ticks would overlap
        axes.xaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if decades < 1.2 else (1.0, 3.0)))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_formatter("{x:g}")


def thinned_by_logarithm(t: Vec, count: int = 300) -> Any:
    """Indices of times spread about evenly on a logarithmic axis."""
    wanted = np.geomspace(t[t > 0.0][0], t[-1], count)
    return np.unique(np.clip(np.searchsorted(t, wanted), 0, len(t) - 1))
