"""Matrices in a notebook: zeros are dots, large ones are their shape."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

import numpy as np

from rbdae import _show
from rbdae._arrays import Mat
from rbdae._show import brief

_MOST: Final = 24  # rows and columns of a matrix that is shown with all its entries
_ROUNDING: Final = 1e-14  # of the largest entry


def matrices_html(matrices: Any) -> str:
    """The HTML of a `rbdae.problem.matrices.Matrices`."""
    out = []
    for field in fields(matrices):
        value = getattr(matrices, field.name)
        if value is None:
            continue
        shape = " x ".join(map(str, value.shape))
        if 0 in value.shape:
            shown = "no entries"
        elif max(value.shape) > _MOST:
            shown = brief(value)
        else:
            shown = ""
        said = _show.text(f"{field.name}: {shape}" + (f", {shown}" if shown else ""))
        out.append(f"<details open><summary>{said}</summary>{'' if shown else _grid(value)}</details>")
    return _show.block("Matrices", *out)


def _grid(value: Any) -> str:
    dense: Mat = np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
    rows = dense if dense.ndim == 2 else dense[None]
    small = _ROUNDING * float(np.abs(rows).max(initial=0.0))
    shown = [["\N{MIDDLE DOT}" if abs(x) <= small else f"{x:.4g}" for x in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    lines = ("  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in shown)
    return _show.preformatted("\n".join(lines))
