"""The ways into straight code, as LLVM text: as a C function of one signature, and from Python without a detour.

Python's calls are CPython's fast ones (``METH_FASTCALL``): an array of objects. Numbers are read out of floats and
addresses out of arrays at their places in CPython's and NumPy's structures. What is not just a float and an array of
contiguous doubles that is long enough goes to a Python function that converts it or refuses it. So does a matrix with
gaps, and an output that shares memory with an input: straight code stores results before it has read all that it needs.
"""

from __future__ import annotations

import sys
from math import prod

from rbdae.machine import function as at
from rbdae.machine.function import Shapes, names_of
from rbdae.machine.straight import ARGUMENTS, PASSED

TYPE, CONTENT = 8, 16
"""Bytes from the beginning of an object to its type, and to the number of a float or the address of an array's data."""

DIMENSIONS, LENGTHS, STRIDES, DTYPE, FLAGS = 24, 32, 40, 56, 64
"""The same in NumPy's arrays."""

BYTE_ORDER, NUMBER = 26, 28
"""The same in NumPy's dtypes."""

NATIVE, DOUBLE = ord("="), 12
CONTIGUOUS, ALIGNED, WRITEABLE = 0x1, 0x100, 0x400


def loads(of: str, kind: str = "ptr", /, **places: int) -> str:
    """The instructions that load registers, by name, from these places of the array of addresses and numbers `of`."""
    return "".join(
        f"  %{name}.p = getelementptr ptr, ptr %{of}, i64 {k}\n  %{name} = load {kind}, ptr %{name}.p\n"
        for name, k in places.items()
    )


def guarded(name: str, straight: str) -> str:
    """A C function that calls straight code, and what stands in the context where a guard does not hold."""
    return f"""define i32 @{name}({ARGUMENTS}) nounwind {{
  %status = call i32 @{straight}({PASSED})
  %bad = icmp ne i32 %status, 0
  br i1 %bad, label %elsewhere, label %done
elsewhere:
  %at = getelementptr ptr, ptr %context, i64 {at.OTHERWISE}
  %function = load ptr, ptr %at
  %there = icmp ne ptr %function, null
  br i1 %there, label %other, label %done
other:
  %result = call i32 %function(ptr %context, double %t, ptr %y, ptr %yd, double %c, ptr %out)
  ret i32 %result
done:
  ret i32 %status
}}"""


def python_entry(name: str, target: str, signs: str, shapes: Shapes) -> str:
    """A function for Python's fast calls: arguments by the kinds in `signs` (see `rbdae.kernels.entry.Entry`)."""
    lines = [f"define ptr @{name}(ptr %self, ptr %args, i64 %n) nounwind {{", "entry:"]
    lines += ["  %contextp = getelementptr i8, ptr %self, i64 16", "  %context = load ptr, ptr %contextp"]
    lines.append(loads("context", arraytype=at.ARRAY_TYPE, floattype=at.FLOAT_TYPE, float64type=at.FLOAT64_TYPE))
    lines += [f"  %right = icmp eq i64 %n, {len(signs)}", "  br i1 %right, label %a0, label %convert"]
    given = {"t": "0.0", "c": "0.0", "y": "null", "yd": "null", "out": "null"}
    for k, which in enumerate(names_of(signs)):
        lines += _array(k, shapes[which], writeable=which == "out") if which in shapes else _float(k)
        given[which] = f"%v{k}"
    order = f", i1 %byrows{len(signs) - 1}" if signs[-1] == "M" else ""
    lines += [f"a{len(signs)}:", *_apart(signs, shapes)]
    lines += [
        "apart:",
        f"  %status = call i32 @{target}(ptr %context, double {given['t']}, ptr {given['y']}, ptr {given['yd']}, "
        f"double {given['c']}, ptr {given['out']}{order})",
        "  %bad = icmp ne i32 %status, 0",
        "  br i1 %bad, label %plain, label %done",
        "done:",
        loads("context", none=at.NONE),
    ]
    if sys.version_info < (3, 12):  # None is immortal since then
        lines += ["  %count = load i64, ptr %none", "  %more = add i64 %count, 1", "  store i64 %more, ptr %none"]
    lines += ["  ret ptr %none", "convert:", *_python_call("convert", at.CONVERTING)]
    lines += ["plain:", *_python_call("plain", at.PLAIN), "}"]
    return "\n".join(lines)


def _python_call(name: str, place: int) -> list[str]:
    return [
        loads("context", **{f"{name}f": place, f"{name}v": at.VECTORCALL}),
        f"  %{name}r = call ptr %{name}v(ptr %{name}f, ptr %args, i64 %n, ptr null)",
        f"  ret ptr %{name}r",
    ]


def _apart(signs: str, shapes: Shapes) -> list[str]:
    """To the next block where the output, from its first to its last number, shares no memory with the inputs."""
    last, shape = len(signs) - 1, shapes["out"]
    lines = [
        f"  %begin{last} = ptrtoint ptr %v{last} to i64",
        f"  %end{last} = add i64 %begin{last}, {8 * prod(shape)}",
    ]
    meets = "false"
    for k, name in enumerate(names_of(signs[:-1])):
        if name in shapes:
            lines += [
                f"  %begin{k} = ptrtoint ptr %v{k} to i64",
                f"  %end{k} = add i64 %begin{k}, {8 * shapes[name][0]}",
                f"  %before{k} = icmp ult i64 %begin{k}, %end{last}",
                f"  %after{k} = icmp ult i64 %begin{last}, %end{k}",
                f"  %meet{k} = and i1 %before{k}, %after{k}",
                f"  %met{k} = or i1 {meets}, %meet{k}",
            ]
            meets = f"%met{k}"
    return [*lines, f"  br i1 {meets}, label %convert, label %apart"]


def _loaded(name: str, kind: str, base: str, offset: int) -> list[str]:
    """LLVM text: %name = what is at an offset from the beginning of an object."""
    return [
        f"  %{name}p = getelementptr i8, ptr %{base}, i64 {offset}",
        f"  %{name} = load {kind}, ptr %{name}p",
    ]


def _argument(k: int) -> list[str]:
    """LLVM text: the block ``a{k}``, with the k-th argument of a fast call and its type."""
    return [f"a{k}:", *_loaded(f"o{k}", "ptr", "args", 8 * k), *_loaded(f"type{k}", "ptr", f"o{k}", TYPE)]


def _array_of_doubles(k: int, n_axes: int, flags: int) -> list[str]:
    """LLVM text: the block ``b{k}``, with the address of the numbers of the k-th argument, an array. Where it has that
    number of axes, these flags and doubles of this machine, ``l{k}`` follows, which begins here with the address of the
    lengths."""
    return [
        f"b{k}:",
        *_loaded(f"v{k}", "ptr", f"o{k}", CONTENT),
        *_loaded(f"nd{k}", "i32", f"o{k}", DIMENSIONS),
        *_loaded(f"flags{k}", "i32", f"o{k}", FLAGS),
        *_loaded(f"dtype{k}", "ptr", f"o{k}", DTYPE),
        *_loaded(f"number{k}", "i32", f"dtype{k}", NUMBER),
        *_loaded(f"order{k}", "i8", f"dtype{k}", BYTE_ORDER),
        f"  %c{k}.0 = icmp eq i32 %nd{k}, {n_axes}",
        f"  %m{k} = and i32 %flags{k}, {flags}",
        f"  %c{k}.1 = icmp eq i32 %m{k}, {flags}",
        f"  %c{k}.2 = icmp eq i32 %number{k}, {DOUBLE}",
        f"  %c{k}.3 = icmp eq i8 %order{k}, {NATIVE}",
        f"  %d{k}.1 = and i1 %c{k}.0, %c{k}.1",
        f"  %d{k}.2 = and i1 %c{k}.2, %c{k}.3",
        f"  %ok{k} = and i1 %d{k}.1, %d{k}.2",
        f"  br i1 %ok{k}, label %l{k}, label %convert",
        f"l{k}:",
        *_loaded(f"lengths{k}", "ptr", f"o{k}", LENGTHS),
    ]


def _float(k: int) -> list[str]:
    """The number of a float, or of one of NumPy's, which have it at the same place."""
    return [
        *_argument(k),
        f"  %is{k} = icmp eq ptr %type{k}, %floattype",
        f"  %also{k} = icmp eq ptr %type{k}, %float64type",
        f"  %either{k} = or i1 %is{k}, %also{k}",
        f"  br i1 %either{k}, label %b{k}, label %convert",
        f"b{k}:",
        *_loaded(f"v{k}", "double", f"o{k}", CONTENT),
        f"  br label %a{k + 1}",
    ]


def _array(k: int, shape: tuple[int, ...], *, writeable: bool) -> list[str]:
    """The address of an array's numbers; of matrices without gaps whether they are by rows."""
    flags = ALIGNED | (WRITEABLE if writeable else 0) | (CONTIGUOUS if len(shape) == 1 else 0)
    lines = [
        *_argument(k),
        f"  %is{k} = icmp eq ptr %type{k}, %arraytype",
        f"  br i1 %is{k}, label %b{k}, label %convert",
        *_array_of_doubles(k, len(shape), flags),
    ]
    holds = "true"
    for axis, length in enumerate(shape):
        lines += [
            *_loaded(f"length{k}.{axis}", "i64", f"lengths{k}", 8 * axis),
            f"  %e{k}.{axis} = icmp eq i64 %length{k}.{axis}, {length}",
            f"  %h{k}.{axis} = and i1 {holds}, %e{k}.{axis}",
        ]
        holds = f"%h{k}.{axis}"
    if len(shape) == 2:
        lines += [
            *_loaded(f"strides{k}", "ptr", f"o{k}", STRIDES),
            *_loaded(f"rb{k}", "i64", f"strides{k}", 0),
            *_loaded(f"cb{k}", "i64", f"strides{k}", 8),
        ]
        for order, strides in (("rows", (8 * shape[1], 8)), ("columns", (8, 8 * shape[0]))):
            lines += [
                f"  %r{k}.{order} = icmp eq i64 %rb{k}, {strides[0]}",
                f"  %c{k}.{order} = icmp eq i64 %cb{k}, {strides[1]}",
                f"  %by{order}{k} = and i1 %r{k}.{order}, %c{k}.{order}",
            ]
        lines += [f"  %whole{k} = or i1 %byrows{k}, %bycolumns{k}", f"  %w{k} = and i1 {holds}, %whole{k}"]
        holds = f"%w{k}"
    return [*lines, f"  br i1 {holds}, label %a{k + 1}, label %convert"]
