"""Kernels bound to a workspace, as its memory says: generic machine code, machine code of this model, plain Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, final

from rbdae._frozen import refuse_copies
from rbdae.compiler.jit import Entry
from rbdae.multibody.traced import traced
from rbdae.multibody.workspace import Workspace

Kernel = Callable[..., None]


def bound(workspace: Workspace, kernel: Entry) -> Kernel:
    """A kernel that reads states, of any lengths of its arguments."""
    if workspace.memory.traced:
        return _ByShape(workspace, kernel)
    return in_memory(workspace, kernel)


def in_memory(workspace: Workspace, kernel: Entry) -> Kernel:
    """A kernel that leaves what it finds on the way in the memory of the workspace, for those who read it there, or one
    with loops on values."""
    if workspace.memory.code == "plain":
        return workspace.raising(workspace.plain(kernel))
    return workspace.compiled(kernel)


@final
class _ByShape:
    """A traced kernel that is recorded when it is called with arguments of new lengths."""

    def __init__(self, workspace: Workspace, kernel: Entry) -> None:
        self._workspace = workspace
        self._kernel = kernel
        self._known: dict[tuple[int, ...], Kernel] = {}

    def __call__(self, *arguments: Any) -> None:
        key = tuple(len(a) for a, sign in zip(arguments, self._kernel.signs[1:], strict=True) if sign != "t")
        call = self._known.get(key)
        if call is None:
            call = self._known[key] = self._made(arguments)
        call(*arguments)

    def _made(self, arguments: tuple[Any, ...]) -> Kernel:
        names = iter(("y", "yd"))
        pairs = zip(arguments, self._kernel.signs[1:], strict=True)
        shapes = {next(names) if sign == "y" else "out": value.shape for value, sign in pairs if sign != "t"}
        found = traced(self._workspace, self._kernel, shapes, generic=lambda: self._workspace.compiled(self._kernel))
        return self._workspace.compiled(self._kernel) if found is None else found.call

    def __reduce__(self) -> Any:
        refuse_copies()


__all__ = ["Kernel", "bound", "in_memory"]
