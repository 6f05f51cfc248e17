"""Code of kernels (`rbdae.multibody.code.code`), shared by all problems that it is for, and bound to their workspaces.

Code depends on the model, on the dropped joint rows and on the shape of what is asked for; the rest of the selection is
an input. So it is made once for a memory, and a switch binds it to other numbers.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable
from functools import cached_property, partial
from math import prod
from typing import Any, TypeVar, final

import numpy as np

from rbdae import _process
from rbdae._arrays import address_of
from rbdae.formulations.base import Callback, ImplicitStep
from rbdae.machine.function import OTHERWISE, PROTOTYPE, MachineFunction, Shapes, trampoline
from rbdae.machine.python_calls import callable_from_python
from rbdae.multibody.code.code import Code, Wanted, code_of
from rbdae.multibody.memory.contents import all_recorded, contents
from rbdae.multibody.memory.saddle_order import order_for
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.in_python import in_python
from rbdae.multibody.recorded.recording import Pattern, recording_point

Kernel = Callable[..., None]

_UNKNOWN: Any = object()
"""In place of code that has not been asked for; None stands for a kernel that has none."""


@final
class Tally:
    """How often machine code has fallen back to plain Python."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0


@final
class Elsewhere:
    """The kernel in Python, made when a guard does not hold for the first time."""

    def __init__(self, make: Callable[[], Kernel], tally: Tally) -> None:
        self._make, self._tally = make, tally
        self._kernel: Kernel | None = None

    def __call__(self, *arguments: Any) -> None:
        self._tally.count += 1
        self._kernel = self._kernel or self._make()
        self._kernel(*arguments)


@final
class TracedKernel:
    """Machine code bound to a workspace: `call` is for Python, `function` for machine code."""

    def __init__(
        self, name: str, code: Code, workspace: Workspace, otherwise: Callable[[], Kernel], tally: Tally
    ) -> None:
        self.code = code
        self.elsewhere = Elsewhere(otherwise, tally)
        self._workspace = workspace
        self._name = name

    @cached_property
    def call(self) -> Kernel:
        """The kernel that Python calls."""
        code, context = self.code, self.code.context(self._workspace)
        address = code.module["python"]
        made = callable_from_python(address, self._name, context, code.signs, code.shapes, self.elsewhere)
        return self._workspace.raising(made) if code.functions else made

    def function(self) -> MachineFunction:
        """The C function. Where a user's function is Python, it goes through Python, too, for its exceptions."""
        if self.code.functions:
            return trampoline(self.call, self.code.signs, self.code.shapes)
        context = self.code.context(self._workspace)
        out = self.code.function(self._workspace, context)
        if self.code.guarded:
            other = trampoline(self.elsewhere, self.code.signs, self.code.shapes, context.address)
            context[OTHERWISE] = other.address
            context.alive.append(other)
            out.errors = other.errors
        return out


def traced(
    workspace: Workspace,
    kernel: Callback | ImplicitStep,
    shapes: Shapes,
    *,
    pattern: Pattern | None = None,
    sparse: bool = False,
    tally: Tally | None = None,
    otherwise: Callable[[], Kernel] | None = None,
) -> TracedKernel | None:
    """The machine code of a kernel for this workspace; None if it has none.

    Parameters
    ----------
    shapes : of y, yd and out
    pattern : of a Jacobian that the kernel can fill as data
    sparse : whether `out` is that data
    tally : where states are counted at which a guard does not hold
    otherwise : makes the kernel for these; `in_python` if nothing is given. With an order of elimination of the
        problem's own, code with bodies before joints comes before it
    """
    if not workspace.memory.traced:
        return None
    order = order_for(workspace, kernel)
    key = (kernel, tuple(shapes.items()), sparse, workspace.structure, order)
    known = workspace.memory.recorded
    code = known.get(key, _UNKNOWN)
    if code is _UNKNOWN:
        code = known[key] = _found(workspace, key, shapes, Wanted(kernel, shapes, pattern, sparse), order)
    if code is None:
        return None
    name, tally = kernel.name.rpartition(":")[2], tally or Tally()
    if otherwise is None:
        newton = kernel.newton if isinstance(kernel, ImplicitStep) else kernel
        otherwise = partial(in_python, workspace, newton, pattern)
    if not order or isinstance(kernel, ImplicitStep):
        return TracedKernel(name, code, workspace, otherwise, tally)

    def in_another_order() -> Kernel:
        other = traced(
            workspace, kernel.bodies_first, shapes, otherwise=otherwise, pattern=pattern, sparse=sparse, tally=tally
        )
        return otherwise() if other is None else other.call

    return TracedKernel(name, code, workspace, in_another_order, Tally())


def _found(
    workspace: Workspace, key: tuple[Any, ...], shapes: Shapes, wanted: Wanted, order: tuple[Any, ...]
) -> Code | None:
    """The code of a kernel. Of a structure, conditions are answered with the numbers of one model: where they fall in
    another way with those of this one, it has code of its own. So the code is the one that this model would have
    alone."""

    def make(*variant: bytes) -> Code | None:
        return code_of(workspace, wanted, ((repr(order).encode(),) if order else ()) + variant)

    memory = workspace.memory
    if not memory.opened:
        return shared(workspace, key, make)
    if all_recorded(memory):
        code = shared(workspace, key, make)
        if code is None or _holds(workspace, code, shapes):
            return code
    mine = own_point(workspace)
    return shared(workspace, (*key, mine), lambda: make(mine))


def own_point(workspace: Workspace) -> bytes:
    """A digest of the numbers, the state and the selection at which conditions are answered."""
    arrays = workspace.open_numbers.values, workspace.memory.regular, workspace.first_numbers
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).digest()


def _holds(workspace: Workspace, code: Code, shapes: Shapes) -> bool:
    """Whether conditions fall as the code has them where this workspace answers them, and its numbers are finite."""
    if not code.sound(workspace):
        return False
    if not code.guarded:
        return True
    first, context = workspace.first_numbers, code.tried(workspace)
    if first.tobytes() != workspace.numbers.tobytes():
        context = code.context_with(first, workspace.open_numbers.values)
    t, y, yd, c = recording_point(workspace, shapes)
    out, run = np.empty(prod(shapes["out"])), PROTOTYPE(code.module["machine"])
    arrays = y, yd.copy(), out
    state, rates, place = map(address_of, arrays)
    return int(run(context.address, t, state, rates, c, place)) != 1


_RECENT: OrderedDict[Any, Any] = OrderedDict()
_MOST_RECENT = 64
_LOCK = threading.Lock()
"""Of `_RECENT`; free while code is made, because the user's functions may run then and make problems of their own."""
_process.protect(lambda: _LOCK, 50)


Made = TypeVar("Made")


def shared(workspace: Workspace, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """The result of `make`, such as the code of a kernel; that of a model with other numbers, or of another problem
    with the same contents and key, if there was one recently."""
    memory = workspace.memory
    found: Made = memory.known.get(key, _UNKNOWN)
    if found is not _UNKNOWN:
        return found
    whole = (contents(memory), key)
    with _LOCK:
        found = _RECENT.get(whole, _UNKNOWN)
    if found is _UNKNOWN:
        with memory.preparation:
            found = make()
    with _LOCK:
        found = memory.known[key] = _RECENT.setdefault(whole, found)
        _RECENT.move_to_end(whole)
        while len(_RECENT) > _MOST_RECENT:
            _RECENT.popitem(last=False)
    return found
