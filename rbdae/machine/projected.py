"""A projection, near the constraints and anywhere, as one machine function, for loops of a user."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from rbdae.machine import language, loops
from rbdae.machine.entries import loads
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.program import Program
from rbdae.machine.loops import correction
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.methods import LEVEL
from rbdae.machine.module import Module, compiled
from rbdae.machine.sources import sources

NOT_FINITE = 3
"""What the function returns where the projected state is not finite; 1 where an exception waits."""

_LOADS = loads("u", near=0, context=1, anywhere=2, p=5) + loads("u", "i64", n=3, result=4)

_TEXT = f"""
define i32 @projected(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{_LOADS}  %bytes = mul i64 %n, 8
  call void @llvm.memmove.p0.p0.i64(ptr %out, ptr %y, i64 %bytes, i1 false)
  %r = call i64 @"rbdae.machine.loops.correction.project"(
    ptr %near, ptr %context, ptr %anywhere, i64 %n, i64 %result, ptr %p, double %t, ptr %out)
  %done = icmp eq i64 %r, {at.DONE}
  %bad = icmp eq i64 %r, {at.PROJECTED_NOT_FINITE}
  %why = select i1 %bad, i32 {NOT_FINITE}, i32 1
  %status = select i1 %done, i32 0, i32 %why
  ret i32 %status
}}
declare void @llvm.memmove.p0.p0.i64(ptr, ptr, i64, i1)
"""


@cache
def _code() -> Module:
    program = Program((correction.project,))
    return compiled(lambda: program.text() + _TEXT, LEVEL, made_of=("projected", _TEXT, sources(loops, language)))


def projected(correction: Any, n: int) -> MachineFunction:
    """A machine function that projects y (n,) to out; it takes a `rbdae.problem.contract.CompiledProjection`, which is
    its own."""
    near, anywhere = correction.near, correction.anywhere
    context = np.array(
        [near.address, near.context, anywhere.address, n, correction.result, correction.memory.ctypes.data],
        dtype=np.int64,
    )
    owner = (_code(), correction, context)
    return MachineFunction(_code().address("projected"), context.ctypes.data, owner, anywhere.errors)
