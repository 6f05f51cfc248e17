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


__all__ = [
    "ALIGNED",
    "BYTE_ORDER",
    "CONTENT",
    "CONTIGUOUS",
    "DIMENSIONS",
    "DOUBLE",
    "DTYPE",
    "FLAGS",
    "LENGTHS",
    "NATIVE",
    "NUMBER",
    "STRIDES",
    "TYPE",
    "WRITEABLE",
    "loaded",
]
