"""Kernels of one model as machine code of their own: recorded, compiled, and bound to a workspace.

Code depends on the model, on the dropped joint rows and on the shape of what is asked for; the rest of the selection is
an input. So it is made once for a memory, and a switch binds it to other numbers.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, final

import numpy as np

from rbdae import _forks
from rbdae.compiler.options import collector_off
from rbdae.formulations.base import Jacobian
from rbdae.graph.factoring import LEAST_NODES
from rbdae.graph.symbols import NotStraight
from rbdae.machine.data import Data
from rbdae.machine.function import OTHERWISE, PROTOTYPE, Context, MachineFunction, Shapes, trampoline
from rbdae.machine.module import Module, NoMachineCode, Written, kept, say_once
from rbdae.machine.python_calls import callable_from_python, supported
from rbdae.multibody.code_text import CodeText, Pattern, code_text
from rbdae.multibody.contents import all_recorded, contents, on_disk
from rbdae.multibody.derived import recorded_kernel
from rbdae.multibody.recording import (
    MOST_NODES,
    Recording,
    first_numbers,
    opened_numbers,
    own_constants,
    recording_point,
    selected,
    selection_numbers,
)
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

    def context(self, workspace: Workspace) -> Context:
        """The numbers of a selection and of its model, with what they are used by."""
        data = self.data.filled(opened_numbers(workspace).values) if len(self.data.loaded) else self.data
        context = Context.of(selection_numbers(workspace), self.functions, data)
        context.alive += [self.module, workspace]
        return context


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
        return self.code.context(self._workspace)

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
        known[key] = _found(workspace, key, shapes, _Wanted(kernel, shapes, pattern, sparse))
    code = known[key]
    if code is None:
        return None
    return TracedKernel(kernel.name.rpartition(":")[2], code, workspace, generic, tally or Tally())


@final
@dataclass(frozen=True, slots=True, eq=False)
class _Wanted:
    """The arguments of `traced` that code depends on."""

    kernel: Jacobian
    shapes: Shapes
    pattern: Pattern | None
    sparse: bool


def _found(workspace: Workspace, key: tuple[Any, ...], shapes: Shapes, wanted: _Wanted) -> Code | None:
    """The code of a kernel. Of a structure, conditions are answered with the numbers of one model: where they fall in
    another way with those of this one, it has code of its own. So the code is the one that this model would have
    alone."""
    memory = workspace.memory
    if not memory.opened:
        return shared(workspace, key, lambda: _code(workspace, wanted, ()))
    if all_recorded(memory):
        code = shared(workspace, key, lambda: _code(workspace, wanted, ()))
        if code is None or _holds(workspace, code, shapes):
            return code
    mine = own_point(workspace)
    return shared(workspace, (*key, mine), lambda: _code(workspace, wanted, (mine,)))


def own_point(workspace: Workspace) -> bytes:
    """A digest of the numbers, the state and the selection at which conditions are answered."""
    arrays = opened_numbers(workspace).values, workspace.memory.regular, first_numbers(workspace)
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).digest()


def _holds(workspace: Workspace, code: Code, shapes: Shapes) -> bool:
    """Whether conditions fall as the code has them where this workspace answers them."""
    data = code.data.filled(opened_numbers(workspace).values)
    context = Context.of(first_numbers(workspace), code.functions, data)
    t, y, yd, c = recording_point(workspace, shapes)
    out = np.empty(int(np.prod(shapes["out"])))
    run = PROTOTYPE(code.module.address("machine"))
    return not run(context.ctypes.data, t, y.ctypes.data, yd.ctypes.data, c, out.ctypes.data)


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


@final
class _NotHad(Exception):
    """Code that is not made, and why."""


def _code(workspace: Workspace, wanted: _Wanted, variant: tuple[bytes, ...]) -> Code | None:
    """The code of a kernel, from the cache on disk without recording it if its structure is known there."""
    if not supported():
        return None
    signs = wanted.kernel.signs[1:].replace("M", "o") if wanted.sparse else wanted.kernel.signs[1:]
    known = on_disk(workspace.memory, wanted.kernel.name)
    with collector_off():
        try:
            if known is None:
                return _compiled(*_texts(workspace, wanted, signs), signs, wanted.shapes)
            pattern = (
                None if wanted.pattern is None else (wanted.pattern.rows.tobytes(), wanted.pattern.columns.tobytes())
            )
            chosen = [(name, array.shape) for name, array in selected(workspace).items()]
            rest = (signs, sorted(wanted.shapes.items()), pattern, workspace.selection.rows.dropped, chosen)
            key = (known, rest, own_constants(workspace), variant)
            return _of_structure(key, lambda: _texts(workspace, wanted, signs)[1], signs, wanted.shapes)
        except _NotHad as error:
            _not_had(workspace, wanted.kernel, str(error))
        except NoMachineCode as error:
            say_once(str(error))
        except (TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a kernel from elsewhere, such as a
            # user's joint or chart, may do with its numbers what cannot be recorded
            name = wanted.kernel.name
            say_once(f"{name} cannot be recorded ({type(error).__name__}: {error}); generic code does its work")
    return None


def _texts(workspace: Workspace, wanted: _Wanted, signs: str) -> tuple[Recording, CodeText]:
    """The recording of a kernel and its text."""
    at, most_nodes = recording_point(workspace, wanted.shapes), _most_nodes(workspace)
    try:
        recording = recorded_kernel(workspace, wanted.kernel, wanted.shapes, at, most_nodes, wanted.pattern)
    except NotStraight as error:
        raise _NotHad(str(error)) from error
    made = code_text(recording, signs, wanted.shapes, wanted.pattern)
    if made.length > LARGEST:
        raise _NotHad(f"{made.length} operations are left where repetitions are loops")
    return recording, made


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
    try:
        return _compiled(recording, code_text(recording, signs, shapes, None), signs, shapes)
    except NoMachineCode as error:
        say_once(str(error))
        return None


def _compiled(recording: Recording, made: CodeText, signs: str, shapes: Shapes) -> Code:
    module, beside = kept((made.made_of, _level(made)), lambda: _written(made))
    functions = tuple(function.address for function in recording.functions)
    return _of_file(module, beside, signs, shapes, functions)


def _of_structure(key: object, text: Callable[[], CodeText], signs: str, shapes: Shapes) -> Code:
    """Code that calls no functions, by a key of all that its text depends on."""
    module, beside = kept(key, lambda: _written(text()))
    return _of_file(module, beside, signs, shapes, ())


def _level(made: CodeText) -> int:
    return 2 if made.length <= _FINE else int(made.length <= _USUAL)


def _written(made: CodeText) -> Written:
    text, data = made.write()
    beside = made.length.to_bytes(8, "little") + data.to_bytes()
    return Written(text, _level(made), made.length < LEAST_NODES, beside)


def _of_file(module: Module, beside: bytes, signs: str, shapes: Shapes, functions: tuple[int, ...]) -> Code:
    return Code(module, signs, shapes, functions, Data.from_bytes(beside[8:]), int.from_bytes(beside[:8], "little"))


__all__ = [
    "LARGEST",
    "Code",
    "Elsewhere",
    "Pattern",
    "Tally",
    "TracedKernel",
    "made",
    "own_point",
    "shared",
    "traced",
]
