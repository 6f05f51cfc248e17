"""Jacobians as matrices of any strides, as LLVM text.

Where a matrix has no gaps, by rows or by columns, straight code stores its entries at their places: it is there once
for each. Elsewhere, and for long graphs, straight code computes the entries alone, and tables say where they go.
"""

from __future__ import annotations

from collections.abc import Sequence

from rbdae.machine.straight import ARGUMENTS, PASSED

STRIDED = f"{ARGUMENTS}, i64 %rs, i64 %cs"


def matrix(
    name: str, straight: str, rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int], *, direct: bool
) -> str:
    """A function that fills a matrix with entries that are in the order of `rows` and `columns`, and one that fills
    one by rows, ``name.whole``. With `direct` there are ``straight.byrows`` and ``straight.bycolumns``, too."""
    n, (n_rows, n_columns) = len(rows), shape
    some = _true_if(n)
    tables = [_table(f"{name}.rows", rows), _table(f"{name}.columns", columns)]
    if direct:
        contiguous = _called("rows", f"{straight}.byrows") + _called("columns", f"{straight}.bycolumns")
        contiguous = ["  br i1 %plain, label %rows, label %columns", *contiguous]
    else:
        by_rows, by_columns = places(rows, columns, shape)
        tables += [_table(f"{name}.byrows", by_rows), _table(f"{name}.bycolumns", by_columns)]
        contiguous = [
            *_values("clear", straight),
            f"  %table = select i1 %plain, ptr @{name}.byrows, ptr @{name}.bycolumns",
            f"  br i1 {some}, label %close, label %cleared",
            _scattered("close", "clear", n, _number("close", "%table", "place"), "cleared"),
            "cleared:",
            "  ret i32 %clear.status",
        ]
    lines = "\n".join
    return f"""{lines(tables)}
define internal i32 @{name}({STRIDED}) nounwind {{
entry:
  %values = alloca [{max(n, 1)} x double], align 64
  %byrows = icmp eq i64 %cs, 1
  %wide = icmp eq i64 %rs, {n_columns}
  %plain = and i1 %byrows, %wide
  %bycolumns = icmp eq i64 %rs, 1
  %high = icmp eq i64 %cs, {n_rows}
  %turned = and i1 %bycolumns, %high
  %whole = or i1 %plain, %turned
  br i1 %whole, label %clear, label %gaps
clear:
  call void @llvm.memset.p0.i64(ptr %out, i8 0, i64 {8 * n_rows * n_columns}, i1 false)
{lines(contiguous)}
{_with_gaps(name, straight, n, shape)}
}}
define internal i32 @{name}.whole({ARGUMENTS}) nounwind {{
  %status = call i32 @{name}({PASSED}, i64 {n_columns}, i64 1)
  ret i32 %status
}}"""


def _with_gaps(name: str, straight: str, n: int, shape: tuple[int, int]) -> str:
    """The blocks that fill a matrix of any strides."""
    n_rows, n_columns = shape
    return f"""gaps:
{chr(10).join(_values("gaps", straight))}
  br label %row
row:
  %i = phi i64 [0, %gaps], [%i1, %rowdone]
  %first = mul i64 %i, %rs
  br label %column
column:
  %j = phi i64 [0, %row], [%j1, %column]
  %jo = mul i64 %j, %cs
  %at = add i64 %first, %jo
  %p = getelementptr double, ptr %out, i64 %at
  store double 0.0, ptr %p
  %j1 = add i64 %j, 1
  %more = icmp slt i64 %j1, {n_columns}
  br i1 %more, label %column, label %rowdone
rowdone:
  %i1 = add i64 %i, 1
  %morerows = icmp slt i64 %i1, {n_rows}
  br i1 %morerows, label %row, label %fill
fill:
  br i1 {_true_if(n)}, label %apart, label %done
{_scattered("apart", "fill", n, _with_strides(name), "done")}
done:
  ret i32 %gaps.status"""


def _true_if(n: int) -> str:
    return "true" if n else "false"


def places(rows: Sequence[int], columns: Sequence[int], shape: tuple[int, int]) -> tuple[list[int], list[int]]:
    """The places of entries in a matrix by rows, and in one by columns."""
    entries = list(zip(rows, columns, strict=True))
    return [i * shape[1] + j for i, j in entries], [j * shape[0] + i for i, j in entries]


def _called(label: str, function: str) -> list[str]:
    """A function that stores at the places of `out`, and the end."""
    return [
        f"{label}:",
        f"  %{label}.status = call i32 @{function}({PASSED})",
        f"  ret i32 %{label}.status",
    ]


def _values(label: str, straight: str) -> list[str]:
    """The entries alone."""
    return [
        f"  %{label}.status = call i32 @{straight}(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %values)"
    ]


def _table(name: str, numbers: Sequence[int]) -> str:
    listed = ", ".join(f"i32 {i}" for i in numbers) or "i32 0"
    return f"@{name} = internal constant [{max(len(numbers), 1)} x i32] [{listed}], align 64"


def _number(loop: str, table: str, name: str) -> list[str]:
    """The number that belongs to the present entry."""
    return [
        f"  %{loop}.{name}p = getelementptr i32, ptr {table}, i64 %{loop}.k",
        f"  %{loop}.{name}i = load i32, ptr %{loop}.{name}p",
        f"  %{loop}.{name} = sext i32 %{loop}.{name}i to i64",
    ]


def _with_strides(matrix: str) -> list[str]:
    """The place of an entry from its row and column."""
    return [
        *_number("apart", f"@{matrix}.rows", "r"),
        *_number("apart", f"@{matrix}.columns", "c"),
        "  %apart.ro = mul i64 %apart.r, %rs",
        "  %apart.co = mul i64 %apart.c, %cs",
        "  %apart.place = add i64 %apart.ro, %apart.co",
    ]


def _scattered(loop: str, before: str, n: int, place: Sequence[str], after: str) -> str:
    """A loop that stores the values at their places, which the lines `place` compute."""
    return "\n".join(
        [
            f"{loop}:",
            f"  %{loop}.k = phi i64 [0, %{before}], [%{loop}.k1, %{loop}]",
            *place,
            f"  %{loop}.vp = getelementptr double, ptr %values, i64 %{loop}.k",
            f"  %{loop}.v = load double, ptr %{loop}.vp",
            f"  %{loop}.q = getelementptr double, ptr %out, i64 %{loop}.place",
            f"  store double %{loop}.v, ptr %{loop}.q",
            f"  %{loop}.k1 = add i64 %{loop}.k, 1",
            f"  %{loop}.more = icmp slt i64 %{loop}.k1, {n}",
            f"  br i1 %{loop}.more, label %{loop}, label %{after}",
        ]
    )
