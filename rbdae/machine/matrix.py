"""Jacobians as matrices without gaps, by rows or by columns, as LLVM text.

Straight code stores its entries at their places: it is there once for each order. For long graphs straight code
computes the entries alone, and tables say where they go.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdae.machine.straight import ARGUMENTS, PASSED


def matrix(
    name: str, straight: str, rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int], *, direct: bool
) -> str:
    """A function that fills a matrix with entries that are in the order of `rows` and `columns`, and one that fills
    one by rows, ``name.whole``. With `direct` there are ``straight.byrows`` and ``straight.bycolumns``, too."""
    n, tables = len(rows), list[str]()
    if direct:
        filled = ["br i1 %byrows, label %rows, label %columns"]
        for order in ("rows", "columns"):
            filled += [f"{order}:", f"%{order}.status = call i32 @{straight}.by{order}({PASSED})"]
            filled += [f"ret i32 %{order}.status"]
    else:
        orders = zip((f"{name}.byrows", f"{name}.bycolumns"), places(rows, columns, shape), strict=True)
        tables = [_table(order, found) for order, found in orders]
        filled = [
            f"%values = alloca [{max(n, 1)} x double], align 64",
            f"%status = call i32 @{straight}(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %values)",
            f"%table = select i1 %byrows, ptr @{name}.byrows, ptr @{name}.bycolumns",
            f"br i1 {'true' if n else 'false'}, label %store, label %stored",
            "store:",
            "%k = phi i64 [0, %entry], [%k1, %store]",
            "%at = getelementptr i32, ptr %table, i64 %k",
            "%place = load i32, ptr %at",
            "%wide = sext i32 %place to i64",
            "%from = getelementptr double, ptr %values, i64 %k",
            "%value = load double, ptr %from",
            "%to = getelementptr double, ptr %out, i64 %wide",
            "store double %value, ptr %to",
            "%k1 = add i64 %k, 1",
            f"%more = icmp slt i64 %k1, {n}",
            "br i1 %more, label %store, label %stored",
            "stored:",
            "ret i32 %status",
        ]
    return "\n".join(
        [
            *tables,
            f"define internal i32 @{name}({ARGUMENTS}, i1 %byrows) nounwind {{",
            "entry:",
            f"call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {8 * shape[0] * shape[1]}, i1 false)",
            *filled,
            "}",
            f"define internal i32 @{name}.whole({ARGUMENTS}) nounwind {{",
            f"%status = call i32 @{name}({PASSED}, i1 true)",
            "ret i32 %status",
            "}",
        ]
    )


def places(rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]) -> tuple[list[int], list[int]]:
    """The places of entries in a matrix by rows, and in one by columns."""
    entries = list(zip(rows, columns, strict=True))
    return [i * shape[1] + j for i, j in entries], [j * shape[0] + i for i, j in entries]


def _table(name: str, numbers: Sequence[int]) -> str:
    listed = ", ".join(f"i32 {i}" for i in numbers) or "i32 0"
    return f"@{name} = internal constant [{max(len(numbers), 1)} x i32] [{listed}], align 64"
