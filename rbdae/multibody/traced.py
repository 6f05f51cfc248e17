"""Kernels of one model as machine code of their own: recorded, compiled, and bound to a workspace.

Code depends on the model, on the dropped joint rows and on the shape of what is asked for; the rest of the selection is
an input. So it is made once for a memory, and a switch binds it to other numbers.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, final

from rbdae import _forks
from rbdae.compiler.options import collector_off
from rbdae.formulations.base import Jacobian
from rbdae.graph.factoring import LEAST_NODES
from rbdae.graph.symbols import NotStraight
from rbdae.machine.function import OTHERWISE, Context, Data, MachineFunction, Shapes, trampoline
from rbdae.machine.module import Module, NoMachineCode, compiled, say_once
from rbdae.machine.python_calls import callable_from_python, supported
from rbdae.multibody.code_text import CodeText, Pattern, code_text
from rbdae.multibody.contents import contents
from rbdae.multibody.derived import recorded_kernel
from rbdae.multibody.recording import MOST_NODES, Recording, own_constants, recording_point, selected, selection_numbers
from rbdae.multibody.workspace import Workspace

Kernel = Callable[..., None]

LARGEST = 120_000
"""Nodes in LLVM's text beyond which code of one model is not made: it would be megabytes, and no quicker than generic
code, which is loops (docs/decisions.md)."""

_FINE, _USUAL = 1500, 50_000
"""Nodes up to which LLVM's most thorough passes pay, and those that are usual; beyond, code that is written down as it
comes is twice as slow and there in a fifth of the time (docs/decisions.md)."""

_RECORDED, _RECORDED_A_BODY, _MOST_RECORDED = 200_000, 2_000, 600_000
"""Nodes that a recording may have with ``code="auto"``: what repeats has few for each body."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Machine code of one kernel, not bound to any selection yet."""

    module: Module
    signs: str
    shapes: Shapes
    functions: tuple[int, ...]
    data: Data
    n_nodes: int


@final
class Tally:
    """How often traced code has handed over to the generic kernel."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


@final
class Elsewhere:
    """The generic kernel, made when a guard does not hold for the first time."""

    def __init__(self, make: Callable[[], Kernel], tally: Tally) -> None:
        self._tally = tally
        self._make = make
        self._kernel: Kernel | None = None

    def __call__(self, *arguments: Any) -> None:
        self._tally.count += 1
        if self._kernel is None:
            self._kernel = self._make()
        self._kernel(*arguments)


@final
class TracedKernel:
    """Machine code bound to a workspace: `call` is for Python, `function` for machine code."""

    def __init__(
        self, name: str, code: Code, workspace: Workspace, generic: Callable[[], Kernel], tally: Tally
    ) -> None:
        self.code = code
        self.elsewhere = Elsewhere(generic, tally)
        self._workspace = workspace
        self._name = name

    @cached_property
    def call(self) -> Kernel:
        """The kernel that Python calls."""
        code, context = self.code, self._context()
        address = code.module.address("python")
        made = callable_from_python(address, self._name, context, code.signs, code.shapes, self.elsewhere)
        return self._workspace.raising(made) if code.functions else made

    def _context(self) -> Context:
        context = Context.of(selection_numbers(self._workspace), self.code.functions, self.code.data)
        context.alive += [self.code.module, self._workspace]
        return context

    def bare(self) -> MachineFunction:
        """The C function, with a context of its own; it returns 1 where a guard does not hold."""
        context = self._context()
        return MachineFunction(self.code.module.address("machine"), context.ctypes.data, context, [])

    def function(self) -> MachineFunction:
        """The C function. Where a user's function is Python, it goes through Python, too, for its exceptions."""
        if self.code.functions and self._workspace.calls_python:
            return trampoline(self.call, self.code.signs, self.code.shapes)
        context = self._context()
        other = trampoline(self.elsewhere, self.code.signs, self.code.shapes)
        context[OTHERWISE] = other.address
        context.alive.append(other)
        return MachineFunction(self.code.module.address("machine"), context.ctypes.data, context, other.errors)


def traced(
    workspace: Workspace,
    kernel: Jacobian,
    shapes: Shapes,
    *,
    generic: Callable[[], Kernel],
    pattern: Pattern | None = None,
    sparse: bool = False,
    tally: Tally | None = None,
) -> TracedKernel | None:
    """The machine code of a kernel for this workspace; None if it has none.

    Parameters
    ----------
    shapes : of y, yd and out
    generic : makes the kernel for states where a guard does not hold
    pattern : of a Jacobian that the kernel can fill as data
    sparse : whether `out` is that data
    tally : where states are counted that the generic kernel took
    """
    dropped = workspace.selection.rows.dropped
    key = (kernel, tuple(shapes.items()), sparse, dropped, tuple(selected(workspace)), own_constants(workspace))
    known = workspace.memory.recorded
    if key not in known:
        known[key] = shared(workspace, key, lambda: _code(workspace, kernel, shapes, pattern, sparse))
    code = known[key]
    if code is None:
        return None
    return TracedKernel(kernel.name.rpartition(":")[2], code, workspace, generic, tally or Tally())


_RECENT: OrderedDict[Any, Any] = OrderedDict()
_MOST_RECENT = 64
_LOCK = threading.Lock()
"""Of `_RECENT`; free while code is made, because the user's functions may run then and make problems of their own."""
_forks.protect(lambda: _LOCK, 50)


Made = TypeVar("Made")


def shared(workspace: Workspace, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """The result of `make`, such as the code of a kernel; that of another problem with the same contents and key, if
    there was one recently."""
    whole = (contents(workspace.memory), key)
    found: Made
    with _LOCK:
        if whole in _RECENT:
            _RECENT.move_to_end(whole)
            found = _RECENT[whole]
            return found
    code = make()
    with _LOCK:
        found = _RECENT.setdefault(whole, code)
        _RECENT.move_to_end(whole)
        while len(_RECENT) > _MOST_RECENT:
            _RECENT.popitem(last=False)
    return found


def _code(workspace: Workspace, kernel: Jacobian, shapes: Shapes, pattern: Pattern | None, sparse: bool) -> Code | None:
    if not supported():
        return None
    with collector_off():
        try:
            at, most_nodes = recording_point(workspace, shapes), _most_nodes(workspace)
            recording = recorded_kernel(workspace, kernel, shapes, at, most_nodes, pattern)
        except NotStraight as error:
            _not_had(workspace, kernel, str(error))
            return None
        except (TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a kernel from elsewhere, such as a
            # user's joint or chart, may do with its numbers what cannot be recorded
            say_once(f"{kernel.name} cannot be recorded ({type(error).__name__}: {error}); generic code does its work")
            return None
        signs = kernel.signs[1:].replace("M", "o") if sparse else kernel.signs[1:]
        made = code_text(recording, signs, shapes, pattern)
        if made.length > LARGEST:
            _not_had(workspace, kernel, f"{made.length} operations are left where repetitions are loops")
            return None
        return _compiled(recording, made, signs, shapes)


def _not_had(workspace: Workspace, kernel: Jacobian, why: str) -> None:
    """A warning where code of the model was asked for and cannot be had."""
    if workspace.memory.code == "traced":
        names = workspace.model.names
        bodies = (
            f"{len(names)} bod{'y' if len(names) == 1 else 'ies'} ({names[0]!r}{', ...' if len(names) > 1 else ''})"
        )
        what = f"{kernel.name.rpartition(':')[2]!r} of {workspace.settings.formulation.name}, a model of {bodies}"
        say_once(
            f"code='traced' cannot be had for {what}: {why}; at most {LARGEST} are compiled. Generic code does its work"
        )


def _most_nodes(workspace: Workspace) -> int:
    if workspace.memory.code == "traced":
        return MOST_NODES
    return min(max(_RECORDED, _RECORDED_A_BODY * workspace.model.n), _MOST_RECORDED)


def made(recording: Recording, signs: str, shapes: Shapes) -> Code | None:
    """The code of a recording; None if LLVM cannot make any."""
    return _compiled(recording, code_text(recording, signs, shapes, None), signs, shapes)


def _compiled(recording: Recording, made: CodeText, signs: str, shapes: Shapes) -> Code | None:
    try:
        level = 2 if made.length <= _FINE else int(made.length <= _USUAL)
        module = compiled(made.text, level, pairing=made.length < LEAST_NODES, made_of=made.made_of)
    except NoMachineCode as error:
        say_once(str(error))
        return None
    functions = tuple(function.address for function in recording.functions)
    return Code(module, signs, shapes, functions, made.data, made.length)


__all__ = ["LARGEST", "Code", "Elsewhere", "Pattern", "Tally", "TracedKernel", "made", "shared", "traced"]
