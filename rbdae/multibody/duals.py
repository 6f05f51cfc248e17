"""Jacobians of generic kernels by dual numbers: where there is no code of the model, and where its guards do not hold.

The memory on dual numbers is a copy of the workspace's: numbers that depend on the state have eight doubles there, a
value and derivatives in seven directions (`rbdae.compiler.duals`). It is made when the first Jacobian is asked for.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np

from rbdae._arrays import Vec, copied
from rbdae._frozen import KeptAlive
from rbdae.compiler.duals import dual_kernel
from rbdae.compiler.machine_entry import context
from rbdae.compiler.options import ENABLED
from rbdae.formulations.base import Derivative
from rbdae.kernels.entry import Entry
from rbdae.kernels.memory import Content, named, of_scalars
from rbdae.machine.directions import by_directions
from rbdae.machine.entries_on_disk import say_once
from rbdae.machine.function import MachineFunction, Shapes, trampoline
from rbdae.machine.language.kinds import DUAL_WIDTH, VARIES
from rbdae.machine.module import NoMachineCode
from rbdae.multibody.code_text import Pattern
from rbdae.multibody.derived import evaluated
from rbdae.multibody.workspace import Workspace

_PROTOTYPE = ctypes.PYFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p
)
"""As `rbdae.machine.function.PROTOTYPE`, while the interpreter's lock is held."""


def derivative_kernel(
    workspace: Workspace, kernel: Derivative, shapes: Shapes, pattern: Pattern | None
) -> Callable[..., None]:
    """A Jacobian that Python calls, f(t, y, out) or f(t, y, yd, c, out): `out` is a matrix of any strides, or its data
    with a pattern. Without machine code it is evaluated in Python."""
    if workspace.memory.code == "plain" or not ENABLED:
        return workspace.raising(evaluated(workspace, kernel, shapes, pattern))
    try:
        function = _by_duals(workspace, kernel.of, shapes, pattern)
    except NoMachineCode as error:
        say_once(str(error))
        return workspace.raising(evaluated(workspace, kernel, shapes, pattern))
    run, results = _PROTOTYPE(function.address), np.zeros(shapes["out"])

    def fill(t: float, y: Vec, *others: Any) -> None:
        yd, c, out = others if len(others) == 3 else (y, 0.0, *others)
        if run(function.context, t, y.ctypes.data, yd.ctypes.data, c, results.ctypes.data):
            raise RuntimeError(f"{kernel.name} was called for a problem without the kernels that it needs")
        out[...] = results

    fill.owner = function  # type: ignore[attr-defined]
    return workspace.raising(fill)


def derivative_function(
    workspace: Workspace, kernel: Derivative, shapes: Shapes, pattern: Pattern | None
) -> MachineFunction:
    """The same as a C function, with a matrix row after row. A user's function in Python is called through Python, for
    its exceptions."""
    if workspace.memory.code != "plain" and ENABLED and not workspace.calls_python:
        with suppress(NoMachineCode):
            return _by_duals(workspace, kernel.of, shapes, pattern)
    signs = kernel.signs[1:].replace("M", "o")
    return trampoline(derivative_kernel(workspace, kernel, shapes, pattern), signs, shapes)


def _by_duals(workspace: Workspace, of: Entry, shapes: Shapes, pattern: Pattern | None) -> MachineFunction:
    """The Jacobian of a kernel. It has memory of its own, so that calls must not overlap."""
    n = workspace.layout.n
    n_rows = workspace.n_equations if pattern is not None else shapes["out"][0]
    memory = _memory(workspace)
    module = dual_kernel(of, workspace.memory.features)
    numbers = context(memory.ctypes.data, {"y": (n,), "yd": (n,), "out": (n_rows,)})
    owner = (module, memory, numbers, KeptAlive(workspace))
    kernel = MachineFunction(module.address("dual.machine"), numbers.ctypes.data, owner, [])
    entries = None if pattern is None else (pattern.rows, pattern.columns)
    return by_directions(kernel, n, n_rows, of.signs == "ityyo", entries, len(shapes["out"]) == 2)


_DUAL = np.dtype((np.float64, (DUAL_WIDTH,)))
"""A dual number."""


def _widen(array: Any) -> Any:
    """A copy on dual numbers, whose derivatives are zero."""
    dtype = array.dtype
    if dtype.kind == "i" or (dtype.fields is not None and VARIES not in (dtype.metadata or ())):
        return copied(array)
    out = np.zeros(array.shape, dtype=of_scalars(dtype, _DUAL))
    for to, of in [(out[name], array[name]) for name in dtype.names] if dtype.names else [(out, array)]:
        if of.dtype.kind == "f":
            to[..., 0] = of
        else:
            to[...] = of
    return out


def _memory(workspace: Workspace) -> Any:
    """The head of a memory on dual numbers; it keeps the arrays alive."""
    head = copied(workspace.head).view(_Head)
    needed = workspace.arrays.keys() - named(Content.DEMAND)
    head.arrays = {name: _widen(workspace.arrays[name]) for name in needed}
    for name, array in head.arrays.items():
        head[name] = array.ctypes.data
    if "inputs" in workspace.owned:
        workspace.inputs_at.append(head.arrays["inputs"][:, 0])
    return head


class _Head(np.ndarray):
    """The head of a memory, with its arrays."""

    arrays: dict[str, Any]
