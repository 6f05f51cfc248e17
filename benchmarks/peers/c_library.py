"""The C code of this folder, compiled for this machine when it is first asked for.

Two headers are made on the way: `numbers.h` with the mechanisms' numbers as constants, and `tableaus.h` with the sums
of the Runge-Kutta methods, whose coefficients are those of scipy.
"""

from __future__ import annotations

import ctypes
import functools
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from scipy.integrate import DOP853, RK45

from .mechanisms import Array, Chain, HeavyTop, LinkedBodies
from .missing import Missing

SOURCES = ("heavy_top", "linked_bodies", "linked_bodies_index2", "chain", "dopri5", "dop853", "loops")
FLAGS = ("-O3", "-march=native", "-std=gnu17", "-Wall", "-Werror", "-fPIC", "-shared")
INSTALL = "apt-get install gcc libc6-dev"
FOLDER = Path(__file__).parent / "c"


class Counts(ctypes.Structure):
    """What a run of the loops has done."""

    _fields_ = (("steps", ctypes.c_long), ("rejected", ctypes.c_long), ("calls", ctypes.c_long))


def compile_together(names: Iterable[str], more: Iterable[str] = ()) -> ctypes.CDLL:
    """The sources `names` as one library; `more` are further arguments of gcc. Raises `Missing`."""
    gcc = shutil.which("gcc")
    if gcc is None:
        raise Missing("gcc", INSTALL)
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "numbers.h").write_text(numbers())
        Path(folder, "tableaus.h").write_text(tableaus())
        made = Path(folder, "peers.so")
        files = [str(FOLDER / f"{name}.c") for name in names]
        command = [gcc, *FLAGS, f"-I{folder}", f"-I{FOLDER}", *files, "-o", str(made), *more, "-lm"]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError(f"gcc refused the C code of the benchmark:\n{done.stderr}")
        return ctypes.CDLL(str(made))


@functools.cache
def library() -> ctypes.CDLL:
    """Right-hand sides, residual and Jacobian, and the loops."""
    made = compile_together(SOURCES)
    made.chain_new.restype = ctypes.c_void_p
    return made


def address(name: str) -> int:
    """Where a function is."""
    return ctypes.cast(getattr(library(), name), ctypes.c_void_p).value or 0


@functools.cache
def chain_context(n: int) -> int:
    """The first argument of `chain`, for n links: it is kept for good."""
    return int(library().chain_new(n))


def pointer(array: Array) -> ctypes.c_void_p:
    """Where C finds an array's numbers; keeps the array alive."""
    return array.ctypes.data_as(ctypes.c_void_p)


def version() -> str:
    """The compiler's first line."""
    gcc = shutil.which("gcc")
    return subprocess.run([gcc, "--version"], capture_output=True, text=True).stdout.splitlines()[0] if gcc else ""


def numbers() -> str:
    """The header of the mechanisms' numbers."""
    found = HeavyTop().numbers() | LinkedBodies().numbers() | Chain(1).numbers()
    return "".join(f"#define {name} ({float(value)!r})\n" for name, value in found.items())


def tableaus() -> str:
    """The header of the methods: y + h STAGE(K), with K(s)[i] the rates of stage s, s from 1."""
    lines = []
    for name, method, stages in (("DOPRI5", RK45, 6), ("DOP853", DOP853, 12)):
        for s in range(1, stages):
            lines.append(f"#define {name}_STAGE_{s + 1}(K) {_sum(method.A[s])}")
            lines.append(f"#define {name}_C{s + 1} {float(method.C[s])!r}")
    lines.append(f"#define DOPRI5_STAGE_7(K) {_sum(RK45.B)}")
    lines.append(f"#define DOPRI5_ERROR(K) {_sum(RK45.E)}")
    lines.append(f"#define DOP853_SUM(K) {_sum(DOP853.B)}")
    lines.append(f"#define DOP853_ERROR5(K) {_sum(DOP853.E5)}")
    lines.append(f"#define DOP853_ERROR3(K) {_sum(DOP853.E3)}")
    return "\n".join(lines) + "\n"


def _sum(coefficients: Array) -> str:
    return "(" + " + ".join(f"{float(a)!r} * K({s + 1})" for s, a in enumerate(np.asarray(coefficients)) if a) + ")"
