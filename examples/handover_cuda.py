"""Many runs of a heavy top at once on a CUDA card: the model written as CUDA C++, a step size for each run.

It takes nvcc and the card if they are there; else g++ builds the same file for the processor, and the first line of the
output says so. Three starts are poisoned on purpose: each run has its code, and the others are as without them.

usage: python handover_cuda.py [NUMBER OF RUNS]
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import rbdae
from rbdae.handover.cuda import CODES

HOST = ("g++", "-x", "c++", "-O2", "-std=c++14", "-fopenmp", "-Wall", "-Wextra", "-Werror")
CARD = ("nvcc", "-x", "cu", "-O3", "-std=c++14", "-arch=native", "-Xcompiler", "-fPIC")


def card() -> str:
    """The name of the card, if there is one with a compiler."""
    if not (shutil.which("nvcc") and shutil.which("nvidia-smi")):
        return ""
    asked = subprocess.run(["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"], capture_output=True, text=True)
    return asked.stdout.partition("\n")[0] if asked.returncode == 0 else ""


def compiled(source: Path, dtype: type, compiler: tuple[str, ...] = HOST) -> ctypes.CDLL:
    """The library of a file of `rbdae.Problem.cuda_source` for numbers of a type."""
    made = source.with_suffix(f".{np.dtype(dtype).name}.so")
    real = "float" if dtype is np.float32 else "double"
    subprocess.run([*compiler, f"-DREAL={real}", "-shared", str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def run(library, y0, t_end, tolerance, *, u=(), p=(), first_step=0.0, max_steps=10_000):
    """Ends of n runs from 0 to t_end: states (N, n), times reached (n,), and (4, n) codes, reasons, accepted and
    rejected steps. Starts y0 are (N, n); inputs u and parameters p have a column for each run, too."""
    dtype, n = y0.dtype, y0.shape[1]
    y0, u, p = (np.ascontiguousarray(x, dtype) for x in (y0, u, p))
    ends = np.empty_like(y0), np.empty(n, dtype), np.zeros((4, n), np.int32)
    arrays = y0, u, p, *ends, np.full(len(y0), tolerance, dtype)
    real = ctypes.c_float if dtype == np.float32 else ctypes.c_double

    class Ensemble(ctypes.Structure):  # as in the file
        _fields_ = (
            ("n", ctypes.c_longlong),
            *((name, ctypes.c_void_p) for name in ("y0", "u", "p", "y", "t", "info", "atol")),
            *((name, real) for name in ("t0", "t1", "rtol", "first_step")),
            ("max_steps", ctypes.c_int),
        )

    asked = Ensemble(n, *(x.ctypes.data for x in arrays), 0.0, t_end, tolerance, first_step, max_steps)
    if error := library.ensemble(ctypes.byref(asked)):
        raise RuntimeError(f"the loop returned {error}: -1 is an end before the start, others are errors of CUDA")
    return ends


def starts(problem: rbdae.Problem, n: int) -> np.ndarray:
    """Other angular velocities for each run; three are poisoned: not a number, and far too fast twice."""
    y0 = np.repeat(problem.y0[:, None], n, axis=1)
    y0[4:] += 0.1 * np.random.default_rng(1).standard_normal((3, n))
    y0[4, [1, 3, 5]] = np.nan, 1e18, 1e7
    return y0


def measured(n: int = 10_000, t_end: float = 1.0, tolerance: float = 1e-7):
    """What `run` returns in double and in single precision; a line is printed for each way that runs have ended."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    name, out = card(), {}
    print(f"on {name}" if name else "no card with nvcc here: on the processor, by g++")
    y0 = starts(problem, n)
    with tempfile.TemporaryDirectory() as folder:
        source = problem.cuda_source(Path(folder) / "top.cu")
        for dtype, tol in ((np.float64, tolerance), (np.float32, max(tolerance, 1e-5))):
            library = compiled(source, dtype, CARD if name else HOST)
            run(library, y0[:, :100].astype(dtype), t_end, tol)  # the card wakes up
            began = time.perf_counter()
            _, t, info = out[dtype] = run(library, y0.astype(dtype), t_end, tol)
            took = 1e3 * (time.perf_counter() - began)
            print(f"{np.dtype(dtype).name}, tolerance {tol:g}: {n} runs in {took:.1f} ms with copies")
            for code, (word, what) in enumerate(CODES.items(), 1):
                those = np.flatnonzero(info[0] == code)
                if len(those):
                    example = f"run {those[0]} came to t = {t[those[0]]:.3g} in {info[2, those[0]]} steps"
                    print(f"    {len(those):8} {word}: {what}; {example}")
    return out


if __name__ == "__main__":
    measured(int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000)
