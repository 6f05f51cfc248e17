"""Jacobians of generic kernels by dual numbers: where there is no code of the model, and where its guards do not hold.

The memory on dual numbers is a copy of the workspace's: numbers that depend on the state have eight doubles there, a
value and derivatives in seven directions (`rbdae.compiler.duals`). It is made when the first Jacobian is asked for.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rbdae._arrays import copied
from rbdae._frozen import KeptAlive
from rbdae.compiler.duals import dual_kernel
from rbdae.compiler.jit import Entry
from rbdae.compiler.machine_entry import context
from rbdae.machine.directions import by_directions
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.kinds import DUAL_WIDTH, VARIES
from rbdae.multibody.code_text import Pattern
from rbdae.multibody.workspace import Workspace

_NOT_NEEDED = ("rhs_tangent", "planes", "newton_matrix", "blocks", "block_starts")


def by_duals(workspace: Workspace, of: Entry, n_rows: int, pattern: Pattern | None) -> MachineFunction:
    """The Jacobian of a kernel as a machine function: a matrix, or its data with a pattern.

    It has memory of its own, so that calls must not overlap.
    """
    n = workspace.layout.n
    memory = _memory(workspace)
    module = dual_kernel(of, workspace.memory.features)
    numbers = context(memory.ctypes.data, {"y": (n,), "yd": (n,), "out": (n_rows,)})
    owner = (module, memory, numbers, KeptAlive(workspace))
    kernel = MachineFunction(module.address("dual.machine"), numbers.ctypes.data, owner, [])
    entries = None if pattern is None else (pattern.rows, pattern.columns)
    return by_directions(kernel, n, n_rows, of.signs == "ityyo", entries)


@cache
def _widened(dtype: np.dtype[Any]) -> Any:
    """A dtype with eight doubles in place of each."""
    base, shape = dtype.subdtype or (dtype, ())
    if base.fields is not None:
        fields = [(name, _widened(field[0])) for name, field in base.fields.items()]
        return np.dtype((np.dtype(fields), shape))
    return np.dtype((base, (*shape, DUAL_WIDTH))) if base.kind == "f" else dtype


def _widen(array: Any) -> Any:
    """A copy on dual numbers, whose derivatives are zero."""
    dtype = array.dtype
    if dtype.kind == "i" or (dtype.fields is not None and VARIES not in (dtype.metadata or ())):
        return copied(array)
    if dtype.fields is None:
        out = np.zeros((*array.shape, DUAL_WIDTH))
        out[..., 0] = array
        return out
    made = np.zeros(array.shape, dtype=_widened(dtype))
    _fill(made, array)
    return made


def _fill(to: Any, of: Any) -> None:
    for name in of.dtype.names:
        if of[name].dtype.fields is not None:
            _fill(to[name], of[name])
        elif of[name].dtype.kind == "f":
            to[name][..., 0] = of[name]
        else:
            to[name] = of[name]


def _memory(workspace: Workspace) -> Any:
    """The head of a memory on dual numbers; it keeps the arrays alive."""
    head = copied(workspace.head).view(_Head)
    head.arrays = {name: _widen(array) for name, array in workspace.arrays.items() if name not in _NOT_NEEDED}
    for name, array in head.arrays.items():
        head[name] = array.ctypes.data
    return head


class _Head(np.ndarray):
    """The head of a memory, with its arrays."""

    arrays: dict[str, Any]


__all__ = ["by_duals"]
