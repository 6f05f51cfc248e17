"""The pattern of the Jacobian as a picture, with the names of its blocks."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any, TypeAlias

from rbdae._figure import new_figure, plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Block: TypeAlias = tuple[str, int, int]
"""A name, and the first of its rows or columns and the one after the last."""

_MOST = 40  # blocks with a name: more would be unreadable
_ROWS = ("kinematics of {}", "momentum of {}", "states of {}", "constraints of {}", "corrections of {}")
_UNKNOWNS = ("q of {}", "v of {}", "states of {}", "multipliers of {}", "corrections of {}")


def blocks(problem: Any, words: tuple[str, ...]) -> Iterator[Block]:
    """The blocks of the equations or unknowns, of bodies, joints and forces within the parts q, v, s, la, mu of y."""
    layout, begin = problem.layout, 0
    for word, part in zip(words, (layout.q, layout.v, layout.s, layout.la, layout.mu), strict=True):
        owners = (each.removesuffix(".mu").removesuffix(".integral").rpartition(".")[0] for each in layout.labels[part])
        for owner, of in groupby(owners):
            end = begin + len([*of])
            yield word.format(owner or "all bodies"), begin, end
            begin = end
    if words is _ROWS and begin < problem.n_equations:
        yield "further constraints", begin, problem.n_equations


def plot_sparsity(problem: Any) -> Figure:
    """See `rbdae.Problem.plot_sparsity`."""
    pattern, rows, unknowns = problem.sparsity.tocoo(), [*blocks(problem, _ROWS)], [*blocks(problem, _UNKNOWNS)]
    size = min(3.0 + 0.25 * len(rows), 12.0)
    figure = new_figure("plot_sparsity", (size, size), layout="constrained")
    axis = figure.add_subplot()
    axis.plot(pattern.col, pattern.row, "s", markersize=max(0.5, min(6.0, 40.0 * size / problem.n)))
    axis.set(xlim=(-0.5, problem.n - 0.5), ylim=(problem.n_equations - 0.5, -0.5), aspect="equal")
    for along, named, line in ((axis.yaxis, rows, axis.axhline), (axis.xaxis, unknowns, axis.axvline)):
        for _, begin, _ in named[1:]:
            line(begin - 0.5, color="0.75", linewidth=0.6, zorder=0)
        shown = named[:: -(-len(named) // _MOST)]
        along.set_ticks(
            [0.5 * (a + b - 1) for _, a, b in shown], [plain(name) for name, _, _ in shown], fontsize="small"
        )
    axis.xaxis.tick_top()
    axis.tick_params(axis="x", rotation=90)
    axis.set_xlabel(f"{pattern.nnz} of {problem.n_equations * problem.n} entries of dF/dy + c dF/dyd")
    return figure
