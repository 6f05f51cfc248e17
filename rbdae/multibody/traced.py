"""Kernels of one model as machine code of their own: recorded, compiled, and bound to a workspace.

Code depends on the model, on the dropped joint rows and on the shape of what is asked for; the rest of the selection is
an input. So it is made once for a memory, and a switch binds it to other numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints, Vec
from rbdae.compiler.jit import Entry
from rbdae.graph.symbols import NotStraight
from rbdae.machine.entries import guarded, matrix, python_entry
from rbdae.machine.function import OTHERWISE, Context, MachineFunction, Shapes, trampoline
from rbdae.machine.module import Module, NoMachineCode, compiled, say_once
from rbdae.machine.python_calls import callable_from_python, supported
from rbdae.machine.straight import DECLARATIONS, straight
from rbdae.multibody.recording import Recording, recorded, selected, selection_numbers
from rbdae.multibody.workspace import Workspace

Kernel = Callable[..., None]

LARGEST = 12_000
"""Nodes of a graph beyond which generic code is quicker to have."""

_FINE = 1000
"""Nodes up to which LLVM's most thorough passes pay (docs/decisions.md)."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Where the entries of a Jacobian's data are, column by column."""

    rows: Ints
    columns: Ints


@final
@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Machine code of one kernel, not bound to any selection yet."""

    module: Module
    signs: str
    shapes: Shapes
    functions: tuple[int, ...]
    has_guards: bool
    n_nodes: int


@final
class Elsewhere:
    """The generic kernel, made when a guard does not hold for the first time; it counts how often it runs."""

    def __init__(self, make: Callable[[], Kernel]) -> None:
        self.count = 0
        self._make = make
        self._kernel: Kernel | None = None

    def __call__(self, *arguments: Any) -> None:
        self.count += 1
        if self._kernel is None:
            self._kernel = self._make()
        self._kernel(*arguments)


@final
class TracedKernel:
    """Machine code bound to a workspace: `call` is for Python, `function` for machine code. `elsewhere` has the number
    of states that the generic kernel took."""

    def __init__(self, name: str, code: Code, workspace: Workspace, generic: Callable[[], Kernel]) -> None:
        self.code = code
        self.elsewhere = Elsewhere(generic)
        self._workspace = workspace
        context = self._context()
        address = code.module.address("python")
        self.call = workspace.raising(
            callable_from_python(address, name, context, code.signs, code.shapes, self.elsewhere)
        )

    def _context(self) -> Context:
        context = Context.of(selection_numbers(self._workspace), self.code.functions)
        context.alive += [self.code.module, self._workspace]
        return context

    def function(self) -> MachineFunction:
        """The C function."""
        context = self._context()
        other = trampoline(self.elsewhere, self.code.signs, self.code.shapes)
        context[OTHERWISE] = other.address
        context.alive.append(other)
        return MachineFunction(self.code.module.address("machine"), context.ctypes.data, context, other.errors)


def traced(
    workspace: Workspace,
    kernel: Entry,
    shapes: Shapes,
    *,
    generic: Callable[[], Kernel],
    pattern: Pattern | None = None,
    sparse: bool = False,
) -> TracedKernel | None:
    """The machine code of a kernel for this workspace; None if it has none.

    Parameters
    ----------
    shapes : of y, yd and out
    generic : makes the kernel for states where a guard does not hold
    pattern : of a Jacobian that the kernel can fill as data
    sparse : whether `out` is that data
    """
    key = (kernel.name, tuple(shapes.items()), sparse, workspace.selection.rows.dropped, tuple(selected(workspace)))
    known = workspace.memory.recorded
    if key not in known:
        known[key] = _code(workspace, kernel, shapes, pattern, sparse)
    code = known[key]
    return None if code is None else TracedKernel(kernel.name.rpartition(":")[2], code, workspace, generic)


def _code(workspace: Workspace, kernel: Entry, shapes: Shapes, pattern: Pattern | None, sparse: bool) -> Code | None:
    if not supported():
        return None
    room = shapes if pattern is None else {**shapes, "out": (1, len(pattern.rows))}
    try:
        recording = recorded(workspace, kernel, room, _point(workspace, shapes))
    except NotStraight:
        return None
    n_nodes = len(recording.graph.needed([*recording.outputs, *recording.guards]))
    if n_nodes > LARGEST:
        return None
    text, signs = _text(recording, kernel.signs[1:], shapes, pattern, sparse)
    try:
        module = compiled(text, 2 if n_nodes <= _FINE else 1)
    except NoMachineCode as error:
        say_once(str(error))
        return None
    functions = tuple(function.address for function in recording.functions)
    return Code(module, signs, shapes, functions, bool(recording.guards), n_nodes)


def _text(recording: Recording, signs: str, shapes: Shapes, pattern: Pattern | None, sparse: bool) -> tuple[str, str]:
    """The module's text, and the kinds of the arguments of its entries."""
    outputs, graph = recording.outputs, recording.graph
    if len(shapes["out"]) == 1:
        signs = signs.replace("M", "o")
        parts = [guarded("machine", "straight"), python_entry("python", "straight", signs, shapes)]
        return "\n".join([DECLARATIONS, straight("straight", graph, outputs, recording.guards), *parts]), signs
    n_rows, n_columns = shapes["out"]
    if pattern is None:
        places = [k for k, node in enumerate(outputs) if graph.value(node) != 0.0]
        rows, columns = [k // n_columns for k in places], [k % n_columns for k in places]
        outputs = [outputs[k] for k in places]
    else:
        rows, columns = pattern.rows.tolist(), pattern.columns.tolist()
    body = straight("straight", graph, outputs, recording.guards)
    filled = matrix("matrix", "straight", rows, columns, (n_rows, n_columns))
    parts = [guarded("machine", "matrix.whole"), python_entry("python", "matrix", signs, shapes)]
    return "\n".join([DECLARATIONS, body, filled, *parts]), signs


def _point(workspace: Workspace, shapes: Shapes) -> tuple[float, Vec, Vec, float]:
    """Where conditions are answered: the problem's regular state, moved a little, so that it is no special one."""
    rng = np.random.default_rng(12)
    y, yd = (rng.standard_normal(shapes.get(name, (0,))) for name in ("y", "yd"))
    regular = workspace.memory.regular
    return 0.1234, regular + 1e-4 * y if len(regular) == len(y) else y, yd, 1.5


__all__ = ["LARGEST", "Code", "Elsewhere", "Pattern", "TracedKernel", "traced"]
