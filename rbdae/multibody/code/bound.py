"""`BoundKernel`: a kernel on a workspace, of any lengths of its arguments: machine code of this model, or Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, final

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels.entry import Entry
from rbdae.machine.function import MachineFunction, Shapes, names_of, trampoline
from rbdae.machine.reading import evaluate_rows
from rbdae.multibody.code.traced import TracedKernel, traced
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import in_python


@final
class BoundKernel:
    """A kernel that reads states. There is code for arguments of some lengths when they are first asked for."""

    def __init__(self, workspace: Workspace, kernel: Entry) -> None:
        self._workspace, self._kernel = workspace, kernel
        self._calls: dict[tuple[int, ...], Callable[..., None]] = {}
        self._machine: dict[tuple[int, ...], MachineFunction | None] = {}

    __reduce__ = refuse_copies

    @cached_property
    def _in_python(self) -> Callable[..., None]:
        return in_python(self._workspace, self._kernel)

    def __call__(self, *arguments: Any) -> None:
        """The kernel, without m."""
        key = tuple(map(len, arguments[1:]))
        call = self._calls.get(key)
        if call is None:
            found = self._of_this_model(key)
            call = self._calls[key] = self._in_python if found is None else found.call
        call(*arguments)

    def each(self, t: Vec, inputs: Sequence[Mat], out: Mat) -> None:
        """out (m, n) = kernel(t, *inputs) row by row: in one loop of machine code where the kernel is code of the model
        that calls no Python. A single row goes the shorter way; its bits are the same."""
        m = len(t)
        function = self.machine(*(x.shape[1] for x in (*inputs, out))) if m > 1 else None
        if function is not None:
            evaluate_rows(function, t, inputs, out)
            return
        for k in range(m):
            self(float(t[k]), *(x[k] for x in inputs), out[k])

    def machine(self, *lengths: int) -> MachineFunction | None:
        """The kernel as a C function for vectors of these lengths; None where it goes through Python anyway."""
        if lengths not in self._machine:
            found = None if self._workspace.code_calls_python else self._of_this_model(lengths)
            self._machine[lengths] = None if found is None else found.function()
        return self._machine[lengths]

    def function(self, *lengths: int) -> MachineFunction:
        """The same, whatever is behind it."""
        found = self.machine(*lengths)
        return trampoline(self._in_python, self._kernel.signs[1:], self._shapes(lengths)) if found is None else found

    def _shapes(self, lengths: tuple[int, ...]) -> Shapes:
        return {name: (n,) for n, name in zip(lengths, names_of(self._kernel.signs[2:]), strict=True)}

    def _of_this_model(self, lengths: tuple[int, ...]) -> TracedKernel | None:
        return traced(self._workspace, self._kernel, self._shapes(lengths))
