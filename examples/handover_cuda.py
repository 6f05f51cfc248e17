"""Many runs of a heavy top at once on a CUDA card: the model written as CUDA C++, a step size for each run.

It takes the card by CuPy, or by nvcc, if they are there; else g++ builds the same file for the processor. Each line of
the output says which. Three starts are poisoned on purpose: each run has its code, and the others are as without them.
Then diffrax runs the same graph.

usage: python handover_cuda.py [NUMBER OF RUNS] [--picture docs/pictures/tops.png]
"""

from __future__ import annotations

import argparse
import ctypes
import shutil
import subprocess
import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np

import rbdae
from rbdae.handover.cuda import CODES

HOST = ("g++", "-x", "c++", "-O2", "-std=c++14", "-fopenmp", "-Wall", "-Wextra", "-Werror")
REAL = {np.float64: "double", np.float32: "float"}
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
    subprocess.run([*compiler, f"-DREAL={REAL[dtype]}", "-shared", str(source), "-o", str(made)], check=True)
    return ctypes.CDLL(str(made))


def asked(dtype, n, addresses, t_end, tolerance, first_step=0.0, max_steps=10_000):
    """The structure `Ensemble` of the file."""
    names = "y0", "u", "p", "y", "t", "info", "atol"
    numbers = [(name, dtype) for name in ("t0", "t1", "rtol", "first_step")]
    fields = [("n", "i8"), *((name, "u8") for name in names), *numbers, ("max_steps", "i4")]
    values = n, *addresses, 0.0, t_end, tolerance, first_step, max_steps
    return np.array([values], np.dtype(fields, align=True))


def run(library, y0, t_end, tolerance, *, u=(), p=(), **options):
    """Ends of n runs from 0 to t_end: states (N, n), times reached (n,), and (4, n) codes, reasons, accepted and
    rejected steps. Starts y0 are (N, n); inputs u and parameters p have a column for each run, too."""
    dtype, n = y0.dtype, y0.shape[1]
    y0, u, p = (np.ascontiguousarray(x, dtype) for x in (y0, u, p))
    ends = np.empty_like(y0), np.empty(n, dtype), np.zeros((4, n), np.int32)
    arrays = y0, u, p, *ends, np.full(len(y0), tolerance, dtype)
    given = asked(dtype, n, [x.ctypes.data for x in arrays], t_end, tolerance, **options)
    if error := library.ensemble(given.ctypes.data_as(ctypes.c_void_p)):
        raise RuntimeError(f"the loop returned {error}: -1 is an end before the start, others are errors of CUDA")
    return ends


def by_cupy(source: Path, dtype: type):
    """The name of the card and a function as `run` without a library, of which NVRTC compiles the kernel; or None."""
    try:
        import cupy

        name = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except Exception:  # no CuPy, no driver, no card: each has its own error
        return None
    options = ("-std=c++14", f"-DREAL={REAL[dtype]}")
    kernel = cupy.RawModule(code=source.read_text(encoding="utf-8"), options=options).get_function("runs")
    blocks = 16 * cupy.cuda.Device().attributes["MultiProcessorCount"]

    def run(y0, t_end, tolerance, **options):
        n, taken = y0.shape[1], cupy.zeros(1, "u8")
        ends = cupy.empty(y0.shape, dtype), cupy.empty(n, dtype), cupy.zeros((4, n), "i4")
        none, atol = cupy.zeros(1, dtype), cupy.full(len(y0), tolerance, dtype)
        arrays = cupy.asarray(np.ascontiguousarray(y0)), none, none, *ends, atol
        given = asked(dtype, n, [x.data.ptr for x in arrays], t_end, tolerance, **options)
        kernel((blocks,), (128,), (given, taken))
        return tuple(map(cupy.asnumpy, ends))

    return name, run


def starts(problem: rbdae.Problem, n: int) -> np.ndarray:
    """Other angular velocities for each run; three are poisoned: not a number, and far too fast twice."""
    y0 = np.repeat(problem.y0[:, None], n, axis=1)
    y0[4:] += 0.1 * np.random.default_rng(1).standard_normal((3, n))
    y0[4, [1, 3, 5]] = np.nan, 1e18, 1e7
    return y0


def there(source: Path, dtype: type):
    """Where runs are made here, and the function that makes them."""
    if found := by_cupy(source, dtype):
        return f"on {found[0]} by CuPy", found[1]
    name = card()
    where = f"on {name} by nvcc" if name else "no card with CuPy or nvcc here: on the processor, by g++"
    return where, partial(run, compiled(source, dtype, CARD if name else HOST))


def measured(n: int = 10_000, t_end: float = 1.0, tolerance: float = 1e-7):
    """What `run` returns in double and in single precision; a line is printed for each way that runs have ended."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    y0, out = starts(problem, n), {}
    with tempfile.TemporaryDirectory() as folder:
        source = problem.cuda_source(Path(folder) / "top.cu")
        for dtype, tol in ((np.float64, tolerance), (np.float32, max(tolerance, 1e-5))):
            where, runs = there(source, dtype)
            runs(y0[:, :100].astype(dtype), t_end, tol)  # the card wakes up
            began = time.perf_counter()
            _, t, info = out[dtype] = runs(y0.astype(dtype), t_end, tol)
            took = 1e3 * (time.perf_counter() - began)
            print(f"{where}, {np.dtype(dtype).name}, tolerance {tol:g}: {n} runs in {took:.1f} ms with copies")
            for code, (word, what) in enumerate(CODES.items(), 1):
                those = np.flatnonzero(info[0] == code)
                if len(those):
                    example = f"run {those[0]} came to t = {t[those[0]]:.3g} in {info[2, those[0]]} steps"
                    print(f"    {len(those):8} {word}: {what}; {example}")
    return out


def by_diffrax(n: int = 10_000, t_end: float = 1.0, tolerance: float = 1e-7):
    """Ends (N, n - 3) of the same runs by diffrax, without the poisoned ones, for which all others would wait; a line
    is printed."""
    import diffrax
    import jax

    jax.config.update("jax_enable_x64", True)
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    term, control = diffrax.ODETerm(problem.jax().rhs), diffrax.PIDController(rtol=tolerance, atol=tolerance)

    def one(y):
        return diffrax.diffeqsolve(term, diffrax.Dopri5(), 0.0, t_end, None, y, stepsize_controller=control).ys[0]

    runs, y0 = jax.jit(jax.vmap(one, 1, 1)), np.delete(starts(problem, n), (1, 3, 5), axis=1)
    runs(y0)  # compiled for this number of runs
    began = time.perf_counter()
    y = np.asarray(runs(y0))
    took, where = 1e3 * (time.perf_counter() - began), jax.devices()[0].device_kind
    print(f"diffrax on {where}, float64, tolerance {tolerance:g}: {n - 3} runs in {took:.1f} ms")
    return y


def picture(path: Path, n: int, times=(0.5, 1.0, 2.0, 4.0), tolerance: float = 1e-4):
    """Where the axes of n tops are whose first angular velocities differ: upright ones in the middle of each panel, the
    ring is the horizon, areas are those on the sphere."""
    import matplotlib.pyplot as plt

    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    y = np.repeat(problem.y0[:, None], n, axis=1)
    y[4:] += 0.5 * np.random.default_rng(1).standard_normal((3, n))
    figure, panels = plt.subplots(1, len(times), figsize=(10, 2.8), layout="constrained")
    with tempfile.TemporaryDirectory() as folder:
        where, runs = there(problem.cuda_source(Path(folder) / "top.cu"), np.float64)
        for panel, t, before in zip(panels, times, (0.0, *times), strict=False):
            y, _, info = runs(y, t - before, tolerance)
            assert (info[0] == 1).all()
            e0, e1, e2, e3 = y[:4] / np.linalg.norm(y[:4], axis=0)
            radius = 1.0 / np.hypot(e0, e3)  # sqrt(2 / (1 + z))
            x = radius * 2 * (e1 * e3 + e0 * e2), radius * 2 * (e2 * e3 - e0 * e1)
            panel.hist2d(*x, 160, range=2 * ((-1.8, 1.8),), cmap="magma_r", norm="log", rasterized=True)
            panel.add_patch(plt.Circle((0, 0), 2**0.5, fill=False, linewidth=0.5))
            panel.set(title=f"{t:g} s", aspect="equal", frame_on=False, xticks=(), yticks=())
    figure.savefig(path, dpi=80)
    print(f"{where}: {n} tops, {path}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("n", type=lambda text: int(float(text)), nargs="?", default=10_000)
    parser.add_argument("--picture", type=Path)
    given = parser.parse_args()
    if given.picture:
        picture(given.picture, given.n)
    else:
        measured(given.n)
        by_diffrax(given.n)
