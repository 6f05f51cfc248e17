"""A recorded kernel as text for the compiler, with the ways into it.

Straight code is written from fewer operations where that is quicker, which takes its time; so it is written only if
the code is not kept on disk, under all that the text depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import final

import numpy as np

from rbdae import graph as graphs
from rbdae import machine
from rbdae.graph.factoring import Factored, factored
from rbdae.graph.order import few_alive
from rbdae.machine.data import Data, Table
from rbdae.machine.element_text import declarations
from rbdae.machine.elements import Elements, scheduled
from rbdae.machine.entries import guarded, python_entry
from rbdae.machine.function import FIRST_FUNCTION, Shapes, machine_text
from rbdae.machine.language.program import Program
from rbdae.machine.loops import fixed
from rbdae.machine.matrix import matrix, places
from rbdae.machine.module import as_it_comes, sources
from rbdae.machine.pieces import in_pieces, is_long
from rbdae.machine.solving import PROGRAM
from rbdae.machine.straight import DECLARATIONS, straight
from rbdae.multibody.recorded.recording import Pattern, Recording

_FOLDERS = [Path(package.__path__[0]) for package in (graphs, machine)]
"""The files that text is written by."""

_MOST_DIRECT = 1500
"""Nodes up to which a matrix has functions of its own that store by rows and by columns."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class CodeText:
    """LLVM text.

    Parameters
    ----------
    write : writes the text and the tables beside it
    made_of : all that they depend on
    length : nodes of the recording, or of one element of each kind
    guarded : whether it holds only where conditions fall as they did in the recording
    loops : whether it has loops whose variables are in memory until passes of LLVM have been over them
    """

    write: Callable[[], tuple[str, Data]]
    made_of: object
    length: int
    guarded: bool
    loops: bool = False


def code_text(recording: Recording, signs: str, shapes: Shapes, pattern: Pattern | None) -> CodeText:
    """The module of a recording: the functions ``machine`` and ``python``.

    Parameters
    ----------
    signs : the arguments that Python gives, see `rbdae.kernels.entry.Entry`; ``M`` at the end for a matrix
    shapes : of y, yd and out
    pattern : of a Jacobian whose data alone were recorded
    """
    outputs, graph, guards = recording.outputs, recording.graph, recording.guards
    layouts: dict[str, list[int] | None] = {"straight": None}
    is_matrix = signs[-1] == "M"
    if is_matrix and pattern is None:
        pattern = _not_zero(recording, shapes["out"][1])
        outputs = [outputs[i * shapes["out"][1] + j] for i, j in zip(pattern.rows, pattern.columns, strict=True)]
    needed = graph.needed([*guards, *outputs])
    long = is_long(needed, outputs)
    direct = len(needed) <= _MOST_DIRECT and not long
    entries = _entries(signs, shapes, pattern, direct=direct)
    if is_matrix and pattern is not None and direct:
        rows, columns = pattern.rows.tolist(), pattern.columns.tolist()
        layouts["straight.byrows"], layouts["straight.bycolumns"] = places(rows, columns, _shape(shapes))

    if long:
        return _by_elements(in_pieces(graph, needed, outputs, guards, recording.loaded), entries)

    def written() -> tuple[str, Data]:
        numbers = Table(FIRST_FUNCTION + len(recording.functions))
        text = "\n".join([DECLARATIONS, _straight(recording, outputs, layouts, numbers), *entries])
        return text, Data.of(numbers, recording.loaded)

    nodes = [(k, graph.nodes[k]) for k in needed]
    made_of = (layouts, sources(*_FOLDERS), nodes, outputs, guards, recording.alike, entries)
    return CodeText(written, (made_of, recording.loaded and recording.loaded.contents()), len(needed), bool(guards))


def _entries(signs: str, shapes: Shapes, pattern: Pattern | None, *, direct: bool) -> list[str]:
    """The ways into ``straight``, which computes results, or those of a matrix that a pattern has."""
    if signs[-1] != "M" or pattern is None:
        return [guarded("machine", "straight"), python_entry("python", "straight", signs, shapes)]
    rows, columns = pattern.rows.tolist(), pattern.columns.tolist()
    filled = matrix("matrix", "straight", rows, columns, _shape(shapes), direct=direct)
    return [filled, guarded("machine", "matrix.whole"), python_entry("python", "matrix", signs, shapes)]


def _shape(shapes: Shapes) -> tuple[int, int]:
    return shapes["out"][0], shapes["out"][1]


def text_of_step(newton: Recording, advance: Recording, n_unknowns: int) -> CodeText:
    """The module of a step in one function, from recordings with one graph."""
    numbers = Table(FIRST_FUNCTION)
    kernels = [
        _straight(recording, recording.outputs, {name: None}, numbers)
        for name, recording in (("newton", newton), ("advance", advance))
    ]
    bound = {"UNKNOWNS": n_unknowns, "STATES": len(advance.outputs), "newton": "newton", "advance": "advance"}
    step = Program((fixed.whole,), bound).text() + machine_text("machine", fixed.whole)
    declared = [line for line in DECLARATIONS.splitlines() if line not in step]
    text, data = "\n".join([*declared, *kernels, step]), Data.of(numbers, newton.loaded)
    length = sum(len(one.graph.needed([*one.guards, *one.outputs])) for one in (newton, advance))
    is_guarded = bool(newton.guards or advance.guards)
    return CodeText(lambda: (text, data), (text, data.to_bytes()), length, is_guarded)


def text_of_elements(found: Elements, signs: str, shapes: Shapes, pattern: Pattern | None) -> CodeText:
    """The module of elements; those of a matrix compute the entries of its pattern."""
    return _by_elements(found, _entries(signs, shapes, pattern, direct=False))


def _by_elements(found: Elements, entries: Sequence[str]) -> CodeText:
    body, indices = scheduled("straight", found)
    in_lanes = [declarations(width) for width in {kind.lanes for kind in found.kinds} - {1}]
    solved = "" if found.solving is None else PROGRAM.text()
    declared = "\n".join([DECLARATIONS, *in_lanes]).splitlines()
    text = "\n".join([*(line for line in declared if line not in solved), body, *entries, solved])
    data, length = Data.on_tape(indices, found.tape, found.size), sum(kind.length for kind in found.kinds)
    is_guarded = found.solving is not None or any(kind.guards for kind in found.kinds)
    return CodeText(lambda: (text, data), (text, data.to_bytes()), length, is_guarded, found.solving is not None)


def _not_zero(recording: Recording, n_columns: int) -> Pattern:
    """The entries of a matrix that are not 0 whatever the state."""
    found = [k for k, node in enumerate(recording.outputs) if recording.graph.value(node) != 0.0]
    rows, columns = np.divmod(np.array(found, dtype=np.int64), n_columns)
    return Pattern(rows, columns)


def _straight(
    recording: Recording, outputs: list[int], layouts: Mapping[str, Sequence[int] | None], numbers: Table
) -> str:
    """Functions in one go, which store the outputs one after the other, or at places."""
    of, order = shortened(recording, outputs)
    texts = (
        straight(name, of.graph, order, of.outputs, of.guards, numbers, at, in_pairs=not as_it_comes())
        for name, at in layouts.items()
    )
    return "\n".join(texts)


def shortened(recording: Recording, outputs: list[int]) -> tuple[Factored, list[int]]:
    """The graph that straight code is written from, shorter where that is quicker, and its needed nodes."""
    graph, guards = recording.graph, recording.guards
    short = None if as_it_comes() else factored(graph, outputs, guards, recording.alike)
    if short is None:
        return Factored(graph, outputs, guards), graph.needed([*guards, *outputs])
    return short, few_alive(short.graph, [*short.guards, *short.outputs])
