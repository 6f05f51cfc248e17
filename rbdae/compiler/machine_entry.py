"""The way from loops in machine code into a kernel, as LLVM text: a function of `rbdae.machine.function`.

Its context is what `context` makes: the address of the memory, then the lengths of y, yd and out, and the steps of out
if it is a matrix.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Ints
from rbdae.compiler.translation import MESSAGE
from rbdae.machine.function import Shapes

_MEMORY, _Y, _YD, _ROWS, _ROW_STEP, _COLUMNS, _COLUMN_STEP = range(7)


def machine_entry(symbol: str, signs: str) -> str:
    """The text of a function with the symbol ``symbol.machine``, which calls that with the symbol. It returns 1 if the
    kernel leaves a message behind, which it takes away."""
    lines = [f'define i32 @"{symbol}.machine"(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out) {{']
    for name, place in (("m", _MEMORY), ("ny", _Y), ("nyd", _YD)):
        lines += _loaded(name, place)
    lines += _loaded("rows", _ROWS) + _loaded("rowstep", _ROW_STEP)
    lines += _loaded("columns", _COLUMNS) + _loaded("columnstep", _COLUMN_STEP)
    numbers = iter(("double %t", "double %c"))
    vectors = iter(("ptr %y, i64 %ny", "ptr %yd, i64 %nyd"))
    outputs = {"o": "ptr %out, i64 %rows", "M": "ptr %out, i64 %rows, i64 %rowstep, i64 %columns, i64 %columnstep"}
    given = ["i64 %m"]
    for sign in signs[1:]:
        given.append(next(numbers) if sign == "t" else next(vectors) if sign == "y" else outputs[sign])
    lines += [
        f'  call void @"{symbol}"({", ".join(given)})',
        f"  %message = load ptr, ptr @{MESSAGE}",
        f"  store ptr null, ptr @{MESSAGE}",
        "  %bad = icmp ne ptr %message, null",
        "  %status = zext i1 %bad to i32",
        "  ret i32 %status",
        "}",
    ]
    return "\n".join(lines)


def _loaded(name: str, place: int) -> list[str]:
    return [f"  %{name}p = getelementptr i64, ptr %context, i64 {place}", f"  %{name} = load i64, ptr %{name}p"]


def context(memory: int, shapes: Shapes) -> Ints:
    """The context of a function for arrays of these shapes, matrices in the order of C."""
    out = np.zeros(7, dtype=np.int64)
    out[_MEMORY] = memory
    out[_Y], out[_YD] = (shapes.get(name, (0,))[0] for name in ("y", "yd"))
    rows, columns = (*shapes["out"], 1)[:2]
    out[_ROWS], out[_ROW_STEP], out[_COLUMNS], out[_COLUMN_STEP] = rows, columns, columns, 1
    return out
