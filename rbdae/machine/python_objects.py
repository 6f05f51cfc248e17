"""The places of numbers and addresses in CPython's floats and in NumPy's arrays (`rbdae.machine.python_calls.supported`
says whether they hold here)."""

from __future__ import annotations

TYPE, CONTENT = 8, 16
"""Bytes from the beginning of an object to its type, and to the number of a float or the address of an array's data."""

DIMENSIONS, LENGTHS, STRIDES, DTYPE, FLAGS = 24, 32, 40, 56, 64
"""The same in NumPy's arrays."""

BYTE_ORDER, NUMBER = 26, 28
"""The same in NumPy's dtypes."""

NATIVE, DOUBLE = ord("="), 12
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400


def loaded(name: str, kind: str, base: str, offset: int) -> list[str]:
    """LLVM text: %name = what is at an offset from the beginning of an object."""
    return [
        f"  %{name}p = getelementptr i8, ptr %{base}, i64 {offset}",
        f"  %{name} = load {kind}, ptr %{name}p",
    ]


def argument(k: int) -> list[str]:
    """LLVM text: the block ``a{k}``, with the k-th argument of a fast call and its type."""
    return [f"a{k}:", *loaded(f"o{k}", "ptr", "args", 8 * k), *loaded(f"type{k}", "ptr", f"o{k}", TYPE)]


def array_of_doubles(k: int, n_axes: int, flags: int, otherwise: str) -> list[str]:
    """LLVM text: the block ``b{k}``, with the address of the numbers of the k-th argument, an array. Where it has that
    number of axes, these flags and doubles of this machine, ``l{k}`` follows, which begins here with the address of the
    lengths; else `otherwise`."""
    return [
        f"b{k}:",
        *loaded(f"v{k}", "ptr", f"o{k}", CONTENT),
        *loaded(f"nd{k}", "i32", f"o{k}", DIMENSIONS),
        *loaded(f"flags{k}", "i32", f"o{k}", FLAGS),
        *loaded(f"dtype{k}", "ptr", f"o{k}", DTYPE),
        *loaded(f"number{k}", "i32", f"dtype{k}", NUMBER),
        *loaded(f"order{k}", "i8", f"dtype{k}", BYTE_ORDER),
        f"  %c{k}.0 = icmp eq i32 %nd{k}, {n_axes}",
        f"  %m{k} = and i32 %flags{k}, {flags}",
        f"  %c{k}.1 = icmp eq i32 %m{k}, {flags}",
        f"  %c{k}.2 = icmp eq i32 %number{k}, {DOUBLE}",
        f"  %c{k}.3 = icmp eq i8 %order{k}, {NATIVE}",
        f"  %d{k}.1 = and i1 %c{k}.0, %c{k}.1",
        f"  %d{k}.2 = and i1 %c{k}.2, %c{k}.3",
        f"  %ok{k} = and i1 %d{k}.1, %d{k}.2",
        f"  br i1 %ok{k}, label %l{k}, label %{otherwise}",
        f"l{k}:",
        *loaded(f"lengths{k}", "ptr", f"o{k}", LENGTHS),
    ]
