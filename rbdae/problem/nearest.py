"""The projection of a model: the loop of `rbdae.machine.loops.correction` around the model's own functions."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, NamedTuple, final

import numpy as np

from rbdae._arrays import Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels import projection
from rbdae.kernels.entry import Entry
from rbdae.machine import language, loops
from rbdae.machine.entries import loads
from rbdae.machine.function import PROTOTYPE, MachineFunction, Shapes, trampoline
from rbdae.machine.language.native import symbol
from rbdae.machine.language.program import Program
from rbdae.machine.loops import correction as at
from rbdae.machine.loops.methods import LEVEL
from rbdae.machine.module import Module, NoMachineCode, compiled
from rbdae.machine.sources import sources
from rbdae.multibody.closing_elements import code_of_closing
from rbdae.multibody.traced import Tally, TracedKernel, traced
from rbdae.multibody.workspace import Workspace

_PROGRAM = Program((at.nearest,))
_TEXT = f"""
define i32 @nearest(ptr %u, double %t, ptr %y, ptr %info, double %c, ptr %out) nounwind {{
  %r = call i64 @"{symbol(at.nearest)}"(ptr %u, double %t, ptr %y, ptr %info, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
define i32 @projected(ptr %own, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads("own", u=0, info=1)}  %status = call i32 @nearest(ptr %u, double %t, ptr %y, ptr %info, double %c, ptr %out)
  ret i32 %status
}}
"""


@cache
def _code() -> Module | None:
    """The loop in machine code; None where there is none."""
    try:
        return compiled(
            lambda: _PROGRAM.text() + _TEXT, LEVEL, made_of=("nearest", _TEXT, sources(loops, language))
        )
    except NoMachineCode:
        return None


class _Sizes(NamedTuple):
    """Numbers of unknowns, positions, velocities, constraints, and those of joints."""

    n: int
    n_q: int
    n_v: int
    n_g: int
    n_joints: int

    @classmethod
    def of(cls, workspace: Workspace) -> _Sizes:
        layout = workspace.layout
        internal = workspace.model.n * len(workspace.settings.chart.internal)
        return cls(layout.n, layout.q.stop, layout.n_velocities, internal + layout.n_rows, layout.n_rows)


def info_of(workspace: Workspace, weights: Vec) -> Vec:
    """An `info` for a model with these weights of violations, all else of which is zero."""
    n, n_q, n_v, n_g, _ = _Sizes.of(workspace)
    info = np.zeros(at.size(n, n_q, n_v, n_g))
    info[at.N_INFO : at.N_INFO + n_g] = weights
    return info


@final
class Nearest:
    """``project(t, y, info)``: y in place to the nearest state on the constraints, as `info` says, see
    `rbdae.machine.loops.correction`."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    __reduce__ = refuse_copies

    @cached_property
    def _functions(self) -> tuple[MachineFunction, MachineFunction]:
        """Violations at a state, and a step from there."""
        n, n_q, n_v, n_g, _ = _Sizes.of(self._workspace)
        n_y = n_q + n_v
        return (
            self._function(projection.violated, {"y": (n,), "yd": (1,), "out": (2 * n_g + n_y,)}),
            self._function(
                projection.step, {"y": (n,), "yd": (n_v + projection.MORE_GIVEN,), "out": (n_v + n_y + n_g + 1,)}
            ),
        )

    def _function(self, kernel: Entry, shapes: Shapes) -> MachineFunction:
        workspace = self._workspace
        found = None
        if workspace.memory.traced:
            code = code_of_closing(workspace, kernel, shapes)
            if code is not None:
                found = TracedKernel("projection", code, workspace, lambda: workspace.plain(kernel), Tally())
            else:
                found = traced(workspace, kernel, shapes, otherwise=lambda: workspace.plain(kernel))
        return trampoline(workspace.plain(kernel), "tyyo", shapes) if found is None else found.function()

    @cached_property
    def _steps(self) -> Vec:
        """The numbers of `rbdae.machine.loops.correction.ConstraintSteps`."""
        memory = np.zeros(len(at.ConstraintSteps.names), dtype=np.int64)
        u = at.ConstraintSteps.of(memory)
        self._fill(u)
        for (name, context), function in zip(_FUNCTIONS, self._functions, strict=True):
            setattr(u, name, function.address)
            setattr(u, context, function.context)
        return memory

    def _fill(self, u: at.ConstraintSteps) -> None:
        u.n, u.n_q, u.n_v, u.n_g, u.n_joints = _Sizes.of(self._workspace)
        u.has_velocities = int(not self._workspace.settings.reduced)

    def machine(self) -> MachineFunction | None:
        """``nearest(t, y, info, out)`` of `rbdae.machine.loops.correction` as a C function; None without LLVM."""
        code = _code()
        if code is None:
            return None
        steps = self._steps
        return MachineFunction(code.address("nearest"), steps.ctypes.data, (code, steps), [], self._functions)

    @cached_property
    def _call(self) -> Callable[[float, Vec, Vec, Vec], int]:
        function = self.machine()
        if function is None:
            return self._plain()
        run, context = _WITH_LOCK(function.address), function.context

        def call(t: float, y: Vec, info: Vec, out: Vec) -> int:
            status: int = run(context, t, y.ctypes.data, info.ctypes.data, 0.0, out.ctypes.data)
            return status

        return call

    def _plain(self) -> Callable[[float, Vec, Vec, Vec], int]:
        """The loop in plain Python."""
        u = at.ConstraintSteps(0)
        self._fill(u)
        for (name, _), function in zip(_FUNCTIONS, self._functions, strict=True):
            setattr(u, name, _called(function))
        (run,) = _PROGRAM.plain()
        return lambda t, y, info, out: run(u, t, y, info, out)

    def __call__(self, t: float, y: Vec, info: Vec) -> None:
        """Project y; where that fails it stays, and `info` says so."""
        out = np.empty(len(y))
        if self._call(t, np.ascontiguousarray(y), info, out) == 1:
            for function in self._functions:
                function.check()
        elif info[at.CHANGED] != 0.0:
            y[:] = out


_FUNCTIONS = (("violations", "violations_context"), ("step", "step_context"))

_WITH_LOCK = ctypes.PYFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p
)
"""As `rbdae.machine.function.PROTOTYPE`, while the interpreter's lock is held: `info` is memory of the caller."""


def _called(function: MachineFunction) -> Callable[..., int]:
    """A machine function that takes arrays."""
    run = PROTOTYPE(function.address)

    def call(_: Any, t: float, y: Vec, yd: Vec, c: float, out: Vec) -> int:
        status: int = run(function.context, t, y.ctypes.data, yd.ctypes.data, c, out.ctypes.data)
        return status

    return call


def with_info(function: MachineFunction, info: Vec, owner: Any) -> MachineFunction:
    """``nearest`` with an `info` of its own as f(t, y, out), for loops of a user; `owner` says why a call has failed,
    in a method ``check``."""
    code = _code()
    assert code is not None
    own = np.array([function.context, info.ctypes.data], dtype=np.int64)
    return MachineFunction(code.address("projected"), own.ctypes.data, (function, info, own, owner), [], [owner])
