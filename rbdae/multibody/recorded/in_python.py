"""Kernels and their derivatives without machine code: recordings, evaluated in Python.

That is what runs where there is no machine code, and at states where a guard of it does not hold. A recording holds
where conditions fall as they did when it was made. So at each state there is one that counts, whatever was evaluated
before.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, final

import numpy as np

from rbdae._frozen import refuse_copies
from rbdae.formulations.base import Callback, Derivative
from rbdae.graph.in_python import InPython
from rbdae.graph.symbols import NotStraight
from rbdae.kernels.entry import Entry
from rbdae.machine.function import Shapes, names_of
from rbdae.machine.module import collector_off
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import along_directions, recorded_kernel
from rbdae.multibody.recorded.recording import Pattern, Point, Recording

_MOST = 8
"""Recordings that are kept."""

_LONGEST = 1_000_000
"""Nodes of a recording beyond which a kernel runs on floats: its recording would take ten seconds."""


@final
class Recordings:
    """A function of (t, y, yd, c) on a workspace, recorded where it is asked for and evaluated in Python.

    Parameters
    ----------
    record : from (t, y, yd, c), where conditions are answered, to a recording and what belongs to it
    """

    def __init__(self, workspace: Workspace, record: Callable[[Point], tuple[Recording, Any]]) -> None:
        self._workspace, self._record = workspace, record
        self._known: list[tuple[InPython, list[bool], Any]] = []

    def at(self, t: float, y: Any, yd: Any, c: float = 0.0, directions: Any = ()) -> tuple[list[Any], Any]:
        """The outputs, and what belongs to the recording that holds there."""
        inputs = {"t": [t], "y": y, "yd": yd, "c": [c], "parameter": [0.0], "direction": directions}
        inputs["selection"] = self._workspace.numbers
        for function, falls, more in self._known:
            values = function(inputs)
            if list(map(bool, values[: len(falls)])) == falls:
                return values[len(falls) :], more
        with collector_off():
            found, more = self._record((t, np.real(y), np.real(yd), c))
            functions, falls = [each.plain for each in found.functions], [*found.guards.values()]
            function = InPython(found.graph, [*found.guards, *found.outputs], functions)
        self._known = [(function, falls, more), *self._known[: _MOST - 1]]
        return function(inputs)[len(falls) :], more


@final
class Recorded:
    """A kernel, or a derivative, evaluated in Python: a derivative along many directions at once, which are the columns
    of a Jacobian, or groups of columns that share no row of the pattern.

    Parameters
    ----------
    pattern : of a Jacobian; its data are the results, also where they fill a matrix
    """

    def __init__(self, workspace: Workspace, kernel: Callback, pattern: Pattern | None = None) -> None:
        self._workspace, self._kernel, self._pattern = workspace, kernel, pattern
        self._known: dict[tuple[Any, ...], Recordings] = {}
        self._too_long: set[tuple[Any, ...]] = set()
        self._groups: Any = None if pattern is None else pattern.groups(workspace.layout.n)

    __reduce__ = refuse_copies

    def __call__(self, *arguments: Any) -> None:
        """Fill the last argument; the others are those of the kernel without m."""
        given, out = dict(zip(names_of(self._kernel.signs[1:]), arguments, strict=True)), arguments[-1]
        t, c, y = given["t"], given.get("c", 0.0), given["y"]
        vectors = [given[name] for name in ("y", "yd") if name in given]
        key = (out.shape, *map(len, vectors))
        if key in self._too_long:
            self._on_floats(*arguments)
            return
        if key not in self._known:
            self._known[key] = Recordings(self._workspace, partial(self._made, list(map(len, vectors)), out.shape))
        directions = None
        if isinstance(self._kernel, Derivative):
            groups = self._groups
            directions = np.eye(out.shape[1]) if groups is None else np.eye(groups.max() + 1)[groups]
        try:
            results, _ = self._known[key].at(t, y, vectors[-1], c, directions)
        except NotStraight:
            self._too_long.add(key)
            self._on_floats(*arguments)
            return
        if directions is not None:
            changes = results[: len(results) // 2]
            results = [np.broadcast_to(change, directions.shape[1]) for change in changes]
        if self._pattern is None:
            out[...] = np.reshape(results, out.shape)
            return
        rows, columns = self._pattern.rows, self._pattern.columns
        out[...] = 0.0
        out[... if out.ndim == 1 else (rows, columns)] = np.array(results)[rows, self._groups[columns]]

    def _made(self, lengths: list[int], shape: tuple[int, ...], point: Point) -> tuple[Recording, None]:
        workspace, kernel = self._workspace, self._kernel
        shapes: Shapes = dict(zip(("y", "yd"), ((n,) for n in lengths), strict=False))
        if isinstance(kernel, Entry):
            return recorded_kernel(workspace, kernel, {**shapes, "out": shape}, point, _LONGEST), None
        shape = shape[:1] if self._pattern is None else (workspace.n_equations,)
        return along_directions(workspace, kernel, {**shapes, "out": shape}, point, _LONGEST), None

    def _on_floats(self, *arguments: Any) -> None:
        """The kernel itself, where it is too long to be recorded."""
        if not isinstance(self._kernel, Entry):
            raise RuntimeError(
                f"{self._kernel.name.rpartition(':')[2]!r} of {self._workspace.settings.formulation.name}, a model of "
                f"{self._workspace.model.n} bodies, has more than {_LONGEST} operations; choose index-2 or another "
                "DAE form: they have code for models of any size"
            )
        self._workspace.plain(self._kernel)(*arguments)


def in_python(workspace: Workspace, kernel: Callback, pattern: Pattern | None = None) -> Callable[..., None]:
    """A kernel, or a derivative, on a workspace without machine code; and then what the user's functions that other
    code calls in it have raised. Kernels of a problem without any machine code run on floats, as they stand."""
    if isinstance(kernel, Entry) and not workspace.memory.traced:
        return workspace.plain(kernel)
    return workspace.raising(Recorded(workspace, kernel, pattern))
