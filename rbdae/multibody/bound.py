"""Kernels bound to a workspace, as its memory says: machine code of this model, or plain Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels.entry import Entry
from rbdae.machine.function import MachineFunction, Shapes, trampoline
from rbdae.machine.reading import evaluate_rows
from rbdae.multibody.in_python import in_python
from rbdae.multibody.traced import TracedKernel, traced
from rbdae.multibody.workspace import Workspace

Kernel = Callable[..., None]


def bound(workspace: Workspace, kernel: Entry) -> Kernel:
    """A kernel that reads states, of any lengths of its arguments."""
    return _ByShape(workspace, kernel) if workspace.memory.traced else in_python(workspace, kernel)


def evaluate_each(kernel: Kernel, t: Vec, inputs: Sequence[Mat], out: Mat) -> None:
    """out (m, n) = kernel(t, *inputs) row by row: in one loop of machine code where the kernel is code of the model
    that calls no Python. A single row goes the shorter way; its bits are the same."""
    m = len(t)
    function = machine_of(kernel, [*(x[0] for x in inputs), out[0]]) if m > 1 else None
    if function is not None:
        evaluate_rows(function, t, inputs, out)
        return
    for k in range(m):
        kernel(float(t[k]), *(x[k] for x in inputs), out[k])


def machine_of(kernel: Kernel, vectors: Sequence[Vec]) -> MachineFunction | None:
    """A kernel as a C function for vectors of these lengths; None if it is not code of the model, or calls Python."""
    return kernel.machine(vectors) if isinstance(kernel, _ByShape) else None


@final
class _ByShape:
    """A traced kernel that is recorded when it is called with arguments of new lengths."""

    def __init__(self, workspace: Workspace, kernel: Entry) -> None:
        self._workspace = workspace
        self._kernel = kernel
        self._known: dict[tuple[int, ...], Kernel] = {}
        self._traced: dict[tuple[int, ...], TracedKernel | None] = {}
        self._machine: dict[tuple[int, ...], MachineFunction | None] = {}

    def __call__(self, *arguments: Any) -> None:
        vectors = arguments[1:]
        key = tuple(map(len, vectors))
        call = self._known.get(key)
        if call is None:
            found = self._of_this_model(key, vectors)
            call = self._known[key] = in_python(self._workspace, self._kernel) if found is None else found.call
        call(*arguments)

    def machine(self, vectors: Sequence[Vec]) -> MachineFunction | None:
        """The kernel as a C function for vectors of these lengths; None where it goes through Python anyway."""
        key = tuple(map(len, vectors))
        if key not in self._machine:
            found = None if self._workspace.code_calls_python else self._of_this_model(key, vectors)
            self._machine[key] = None if found is None else found.function()
        return self._machine[key]

    def _of_this_model(self, key: tuple[int, ...], vectors: Sequence[Vec]) -> TracedKernel | None:
        if key not in self._traced:
            names = iter(("y", "yd"))
            signs = self._kernel.signs[2:]
            shapes = {next(names) if sign == "y" else "out": x.shape for x, sign in zip(vectors, signs, strict=True)}
            self._traced[key] = traced(
                self._workspace, self._kernel, shapes, otherwise=lambda: in_python(self._workspace, self._kernel)
            )
        return self._traced[key]

    def __reduce__(self) -> Any:
        refuse_copies()


def function_of(workspace: Workspace, entry: Entry, kernel: Kernel, *lengths: int) -> MachineFunction:
    """A kernel that is bound already as a C function, whatever is behind it, for y, yd and out of these lengths."""
    found = machine_of(kernel, [np.empty(n) for n in lengths])
    if found is not None:
        return found
    names = ("y", "yd")[: len(lengths) - 1]
    shapes: Shapes = dict(zip((*names, "out"), ((n,) for n in lengths), strict=True))
    return trampoline(in_python(workspace, entry), entry.signs[1:], shapes)
