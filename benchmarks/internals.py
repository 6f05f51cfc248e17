"""The one place where the benchmarks reach inside rbdae: its kernels without their callbacks, and their memory."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import rbdae
from rbdae.machine.module import compiled
from rbdae.multibody.code import code, traced
from rbdae.multibody.elements import rhs_elements


def memory_bytes(problem: rbdae.Problem) -> int:
    """Bytes of the arrays that the kernels work on."""
    return sum(array.nbytes for array in problem.workspace.arrays.values())


def many() -> Any:
    """many(f, context, t, y, yd, c, out, n) calls a machine function n times."""
    function = _MANY.get("many")
    if function is None:
        code = compiled(_CALLS)
        kinds = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double)
        function = ctypes.CFUNCTYPE(None, *kinds, ctypes.c_void_p, ctypes.c_int64)(code["many"])
        _MANY.update(many=function, code=code)
    return function


@contextmanager
def right_hand_sides(*, by_elements: bool) -> Iterator[None]:
    """Make all right-hand sides that can be made so by elements, or none, and use no code that is there."""
    names = ("BODIES_FROM", "REDUCED_FROM")
    before, at = rhs_elements.enough, code.on_disk
    numbers = {name: getattr(rhs_elements, name) for name in names}
    for name in names:
        setattr(rhs_elements, name, 1 if by_elements else 10**9)
    rhs_elements.enough = lambda *_: True
    code.on_disk = lambda *_: None
    traced._RECENT.clear()
    try:
        yield
    finally:
        rhs_elements.enough, code.on_disk = before, at
        for name, number in numbers.items():
            setattr(rhs_elements, name, number)


_MANY: dict[str, Any] = {}
_CALLS = """
define void @many(ptr %f, ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out, i64 %n) {
entry:
  br label %again
again:
  %i = phi i64 [0, %entry], [%j, %again]
  %s = call i32 %f(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out)
  %j = add i64 %i, 1
  %more = icmp slt i64 %j, %n
  br i1 %more, label %again, label %done
done:
  ret void
}"""
