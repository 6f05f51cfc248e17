"""`Code`: a kernel of one model, or of a structure, as machine code that is not bound to any selection yet.

It is recorded, written as text and compiled; or found on disk by its structure, without recording it.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, final

from rbdae._arrays import Vec
from rbdae.formulations.base import Callback, ImplicitStep
from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.factoring import LEAST_NODES
from rbdae.graph.symbols import NotStraight
from rbdae.machine.cache import say_once
from rbdae.machine.data import Data
from rbdae.machine.elements import Elements
from rbdae.machine.function import Context, MachineFunction, Shapes
from rbdae.machine.loops.fixed import SAYS
from rbdae.machine.module import Module, NoMachineCode, Written, as_it_comes, collector_off, from_cache
from rbdae.machine.python_calls import supported
from rbdae.multibody.code import closing_elements
from rbdae.multibody.code.code_text import CodeText, code_text, text_of_elements, text_of_step
from rbdae.multibody.elements import rhs_elements, step_elements
from rbdae.multibody.elements.elements import apply_to, elements_of
from rbdae.multibody.memory.contents import on_disk
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import recorded_kernel
from rbdae.multibody.recorded.recording import Pattern, Recording, recording_point, run

LARGEST = 400_000
"""Nodes in LLVM's text beyond which code of one model is not made: it would be large, and late
(docs/decisions.md)."""

_FINE, _USUAL = 2000, 50_000
"""Nodes up to which LLVM's passes pay, and those that are usual; beyond, code that is written down as it comes is
slower, and there sooner (docs/decisions.md)."""

_TEXTS = OrderedDict[bytes, tuple[str, Data]]()
"""What has been written lately, by all that it depends on: forms have readings in common."""

_MOST_TEXTS = 16

_RECORDED, _RECORDED_A_BODY, _MOST_RECORDED = 200_000, 4_000, 600_000
"""Nodes that a recording may have: at least, for each body, and at most."""


@final
@dataclass(frozen=True, slots=True, eq=False)
class Code:
    """Machine code of one kernel; `variant` tells it from that where conditions fall another way."""

    module: Module
    signs: str
    shapes: Shapes
    functions: tuple[int, ...]
    data: Data
    begun: Context
    n_nodes: int
    guarded: bool
    variant: tuple[bytes, ...] = ()

    def context(self, workspace: Workspace) -> Context:
        """The numbers of a selection and of its model, for a single caller."""
        found: Context | None = workspace.contexts.pop(self, None)
        if found is None:
            numbers = workspace.open_numbers.values if len(self.data.loaded) else workspace.numbers
            found = self.context_with(workspace.numbers, numbers)
            found.alive += [self.module, workspace]
        return found

    def context_with(self, selection: Vec, numbers: Vec) -> Context:
        """The same with these numbers."""
        return Context.of(self.begun, selection, self.data, numbers)

    def sound(self, workspace: Workspace) -> bool:
        """Whether all numbers that follow from those of the model are finite."""
        return self.data.always_finite or self.tried(workspace).sound

    def tried(self, workspace: Workspace) -> Context:
        """A context that is kept for its first caller."""
        found = workspace.contexts[self] = self.context(workspace)
        return found

    def function(self, workspace: Workspace, context: Context | None = None) -> MachineFunction:
        """The C function for a workspace; it returns 1 where a guard does not hold."""
        context = self.context(workspace) if context is None else context
        return MachineFunction(self.module["machine"], context.address, context, [])


@final
@dataclass(frozen=True, slots=True, eq=False)
class Wanted:
    """A kernel, the shapes of y, yd and out, and how a Jacobian is filled (`rbdae.multibody.code.traced.traced`)."""

    kernel: Callback | ImplicitStep
    shapes: Shapes
    pattern: Pattern | None
    sparse: bool

    @property
    def signs(self) -> str:
        """The kinds of the arguments that Python gives (`rbdae.kernels.entry.Entry`)."""
        signs = self.kernel.signs[1:]
        return signs.replace("M", "o") if self.sparse else signs


@final
class _NotHad(Exception):
    """Code that is not made, and why."""


def code_of(workspace: Workspace, wanted: Wanted, variant: tuple[bytes, ...]) -> Code | None:
    """The code of a kernel, from the cache on disk without recording it if its structure is known there."""
    if not supported():
        return None
    name, signs, shapes = wanted.kernel.name, wanted.signs, wanted.shapes
    pattern = None if wanted.pattern is None else wanted.pattern.to_bytes()
    try:
        with collector_off():
            known = on_disk(workspace, name)
            if known is None:
                functions, text = _text(workspace, wanted)
                return replace(compiled(signs, shapes, lambda: text, functions=functions), variant=variant)
            key = (known, signs, sorted(shapes.items()), pattern, variant)
            return replace(compiled(signs, shapes, lambda: _text(workspace, wanted)[1], key), variant=variant)
    except _NotHad as error:
        _not_had(workspace, wanted.kernel, str(error))
    except NoMachineCode as error:
        say_once(str(error))
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a kernel from elsewhere, such as a
        # user's joint or chart, may do with its numbers what cannot be recorded
        say_once(f"{name} cannot be recorded ({type(error).__name__}: {error})")
    return None


def _text(workspace: Workspace, wanted: Wanted) -> tuple[Sequence[Any], CodeText]:
    if isinstance(wanted.kernel, ImplicitStep):
        return _of_step(workspace, wanted.kernel, wanted.shapes)
    elements = elements_for(workspace, wanted)
    if elements is not None:
        return (), text_of_elements(elements, wanted.signs, wanted.shapes, wanted.pattern)
    at, most = recording_point(workspace, wanted.shapes), most_nodes(workspace)
    try:
        recording = recorded_kernel(workspace, wanted.kernel, wanted.shapes, at, most, wanted.pattern)
    except NotStraight as error:
        raise _NotHad(str(error)) from error
    made = code_text(recording, wanted.signs, wanted.shapes, wanted.pattern)
    if made.length > LARGEST:
        raise _NotHad(f"it has {made.length} operations")
    return recording.functions, made


def elements_for(workspace: Workspace, wanted: Wanted) -> Elements | None:
    """The elements of which code of a kernel is made; None where that is not quicker, or not possible."""
    kernel, n_results = wanted.kernel, wanted.shapes["out"][0]
    try:
        if rhs_elements.apply_to(workspace, kernel, wanted.shapes["out"]):
            return rhs_elements.rhs_elements(workspace, kernel, n_results)
        if closing_elements.apply_to(workspace, kernel):
            return closing_elements.closing_elements(workspace, kernel)
        if step_elements.apply_to(workspace, kernel):
            return step_elements.step_elements(workspace, kernel)
        if apply_to(workspace, kernel, wanted.pattern):
            return elements_of(workspace, wanted.pattern)
    except (NotStraight, NoDerivative):
        pass
    return None


def _of_step(workspace: Workspace, step: ImplicitStep, shapes: Shapes) -> tuple[Sequence[Any], CodeText]:
    """The functions that code of a step calls, and its text."""
    n = (shapes["yd"][0] - SAYS) // 2
    at = recording_point(workspace, {**shapes, "yd": (n + 1,)})
    ran = run(workspace, step.newton, {"out": (n + 1,)}, at, most_nodes(workspace))
    newton = ran.recording(ran.nodes(ran.out))
    guards = dict(newton.guards)
    both = ran.recording(ran.nodes(ran.results(step.advance, shapes["out"])))
    later = {guard: fall for guard, fall in both.guards.items() if guard not in guards}
    text = text_of_step(replace(newton, guards=guards), replace(both, guards=later), n)
    return both.functions, text


def _not_had(workspace: Workspace, kernel: Callback | ImplicitStep, why: str) -> None:
    names = workspace.model.names
    bodies = f"{len(names)} bod{'y' if len(names) == 1 else 'ies'} ({names[0]!r}{', ...' if len(names) > 1 else ''})"
    what = f"{kernel.name.rpartition(':')[2]!r} of {workspace.settings.formulation.name}, a model of {bodies}"
    say_once(
        f"there is no machine code for {what}: {why}; at most {LARGEST} are compiled. Plain Python does its work, a "
        "millisecond a body: index-2, ggl and other DAE forms have code for models of any size"
    )


def most_nodes(workspace: Workspace) -> int:
    """Nodes that a recording of a model may have."""
    return min(max(_RECORDED, _RECORDED_A_BODY * workspace.model.n), _MOST_RECORDED)


def compiled(
    signs: str, shapes: Shapes, text: Callable[[], CodeText], key: object = None, functions: Sequence[Any] = ()
) -> Code:
    """Code by a key of all that its text depends on, or, without one, by the text. Raises NoMachineCode."""
    if key is None:
        made = text()
        key, text = (made.made_of, made.guarded, _level(made)), lambda: made
    module, beside = from_cache(key, lambda: _written(text()))
    length, guarded = int.from_bytes(beside[:8], "little"), beside[8] == 1
    addresses = tuple(function.address for function in functions)
    data = Data.from_bytes(beside[9:])
    return Code(module, signs, shapes, addresses, data, Context.begun(addresses, data), length, guarded)


def of_recording(recording: Recording, signs: str, shapes: Shapes) -> Code:
    """The code of a recording. Raises NoMachineCode."""
    return compiled(signs, shapes, lambda: code_text(recording, signs, shapes, None), functions=recording.functions)


def _level(made: CodeText) -> int:
    return 2 if made.length <= _FINE else int(made.length <= _USUAL)


def _written(made: CodeText) -> Written:
    like = hashlib.sha256(repr((made.made_of, as_it_comes())).encode()).digest()
    known = _TEXTS.pop(like, None)  # in one go: another thread may take it meanwhile
    text, data = _TEXTS[like] = known or made.write()
    if len(_TEXTS) > _MOST_TEXTS:
        _TEXTS.popitem(last=False)
    beside = made.length.to_bytes(8, "little") + bytes([made.guarded]) + data.to_bytes()
    level = _level(made)
    return Written(text, level, made.length < LEAST_NODES, beside, passes=level > 1 or made.loops)
