"""Names, files and moments that nobody chooses: what is refused says where and why; the rest is shown as it is."""

from __future__ import annotations

import csv
import io
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.cli import main

NAMES = (
    "</script><script>alert(1)</script>", r"$\frac{$", "$x$", "=cmd|' /C calc'!A0", "@SUM(1)", "+1", "-1", "_hidden",
    "a,b\"c';d", "../../etc/passwd", "%{x} {y} {{z}} %s", "\u202eright to left", "größe 📐", 200 * "x", "\\", "$",
)  # fmt: skip
"""Names that are fine, whatever some output would make of them."""


def system(body: str = "ball", joint: str = "pin", force: str = "wind", more: Sequence[str] = ()) -> rbdae.System:
    """A pendulum in a wind, and more of them."""
    out = rbdae.System(gravity=(0.0, 0.0, -9.81))
    for k, name in enumerate((body, *more)):
        one = out.add_body(name, mass=1.0, inertia=(0.1, 0.2, 0.25), position=(1.0, k, 0))
        names = (joint, force) if k == 0 else (name[:199] + "j", name[:199] + "f")
        out.add_joint(rbdae.joints.Spherical(out.ground, one, at_a=(0, k, 0), at_b=(-1.0, 0, 0), name=names[0]))
        out.add_force(rbdae.forces.Force(one, (0.0, 1.0, 0.0), name=names[1]))
    return out


def solved(given: rbdae.System) -> rbdae.Solution:
    """A short run."""
    return rbdae.solve(rbdae.formulate(given, "null-space"), (0.0, 0.1), solver="scipy:RK45", rtol=1e-4)


# ---------------------------------------------------------------- resume files


def test_a_damaged_study_gives_right_numbers_or_a_word(tmp_path):
    top, path = rbdae.models.heavy_top(), tmp_path / "study.jsonl"
    cases = [study.Case("null-space", "quaternion", "angular", "rbdae:dopri5", tolerance) for tolerance in (1e-4, 1e-6)]
    given: dict[str, Any] = {"reference": study.reference(top, 0.02), "resume": path, "repeats": 1}
    wanted = [row.errors for row in study.compare(top, 0.02, cases, **given).rows]
    content, rng = path.read_bytes(), np.random.default_rng(23)
    for k in range(40):
        damaged = bytearray(content)
        if k % 2:
            damaged[int(rng.integers(len(damaged)))] ^= 1 << int(rng.integers(8))
        else:
            del damaged[int(rng.integers(len(damaged))) :]
        path.write_bytes(damaged)
        try:
            found = study.compare(top, 0.02, cases, **given).rows
        except ValueError as error:
            assert "study.jsonl" in str(error) and len(str(error)) < 1000, k
        else:
            np.testing.assert_allclose([row.errors.largest for row in found], [each.largest for each in wanted])


# ---------------------------------------------------------------- names


@pytest.mark.parametrize(
    "name, said",
    [
        ("a\0b", r"remove '\\x00'"),
        ("a\nb", r"remove '\\n'"),
        ("\ud800", r"remove '\\ud800'"),
        ("a\u2028b", r"remove '\\u2028'"),
        (20_000 * "x", "200 letters.*it has 20000"),
        ("  ", "must not be empty"),
    ],
)
@pytest.mark.parametrize("what", ["body", "joint", "force"])
def test_a_name_that_some_output_cannot_show_is_refused(name, said, what):
    with pytest.raises(ValueError, match=said) as caught:
        system(**{what: name})
    assert len(str(caught.value)) < 400


def test_any_other_name_is_shown_as_it_is(tmp_path):
    """Letter by letter in tables, files, pictures and pages."""
    pytest.importorskip("matplotlib")
    solution = solved(system(NAMES[0], NAMES[0][:199] + "j", NAMES[0][:199] + "f", NAMES[1:]))
    assert list(solution.states) == [*NAMES] and len(repr(solution)) < 1000
    states = [column for column in solution.to_pandas("states") if column.endswith(".position.x [m]")]
    assert states == [f"{name}.position.x [m]" for name in NAMES]
    assert list(rbdae.load(solution.save(tmp_path / "run.npz"), solution.problem).states) == [*NAMES]
    figure = solution.plot(bodies=NAMES[:12], quantities=["position"])
    figure.savefig(io.BytesIO(), format="svg")
    labels = [axis.get_ylabel().replace(r"\$", "$").strip() for axis in figure.axes]
    assert {name.strip() for name in NAMES[:12]} <= {*labels}
    assert "alert(1)</script>" not in solution.report(tmp_path / "run.html").read_text(encoding="utf-8")


# ---------------------------------------------------------------- files


@contextmanager
def small_disk(most: int) -> Iterator[None]:
    """No file may have more than `most` bytes."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


WRITERS: dict[str, Callable[[rbdae.Solution, Path], Any]] = {
    "run.npz": lambda solution, path: solution.save(path),
    "run.html": lambda solution, path: solution.report(path),
    "film.gif": lambda solution, path: solution.animate(path, duration=0.1),
}


# NumPy 1.26 leaves its archive open after a failed write, which says so when it is collected
@pytest.mark.filterwarnings("ignore:Exception ignored.*ZipFile:pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("name", WRITERS)
def test_a_failed_write_leaves_the_old_file(name, tmp_path):
    pytest.importorskip("matplotlib")
    solution, path = solved(system()), tmp_path / name
    WRITERS[name](solution, path)  # what is compiled on the way is in its cache then, which is a file, too
    path.write_bytes(b"old")
    with small_disk(100), pytest.raises(OSError, match="too large"):
        WRITERS[name](solution, path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == [name]


# ---------------------------------------------------------------- the command line

FILE = """
import os, signal
import rbdae

def divides(t):
    return (1.0 / (1.0 if t < 0.1 else 0.0), 0.0, 0.0)

def wrong(t):
    if t > 0.1:
        raise ValueError("the wind is too strong")
    return (0.0, 0.0, 0.0)

def leaves(t):
    if t > 0.1:
        raise SystemExit(3)
    return (0.0, 0.0, 0.0)

def stops(t):
    if t > 0.1:
        os.kill(os.getpid(), signal.SIGINT)
    return (0.0, 0.0, 0.0)

def system(law):
    out = rbdae.System()
    out.add_force(rbdae.forces.Force(out.add_body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1)), law, name="wind"))
    return out

for law in (divides, wrong, leaves, stops):
    globals()["with_" + law.__name__] = lambda law=law: system(law)
"""


@pytest.fixture
def winds(tmp_path, monkeypatch) -> str:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "winds_of_mine.py").write_text(FILE, encoding="utf-8")
    yield "winds_of_mine.py"
    sys.modules.pop("winds_of_mine", None)


@pytest.mark.parametrize(
    "law, said, line",
    [
        ("divides", "raised ZeroDivisionError: float division by zero", "return (1.0 / (1.0 if t < 0.1 else 0.0)"),
        ("wrong", "raised ValueError: the wind is too strong", 'raise ValueError("the wind is too strong")'),
        ("leaves", "ended the program (exit code 3)", "raise SystemExit(3)"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_an_exception_of_the_user_is_told_with_its_line(winds, capsys, law, said, line, command):
    chosen = ["--formulations", "index-0", "--solvers", "scipy:RK45"] if command == "compare" else []
    assert main([command, f"{winds}:with_{law}", "--t-end", "1", *chosen]) == 2
    told = capsys.readouterr().err
    assert told.startswith(f"rbdae: {winds}: its code {said}")
    assert re.search(rf'File "{winds}", line \d+, in {law}\n    ' + re.escape(line), told)
    assert "Traceback" not in told and len(told.splitlines()) <= 7


def test_ctrl_c_writes_what_was_asked_for(winds, capsys):
    files = ["--save", "run.npz", "--csv", "run.csv", "--report", "run.html", "--plot", "run.png"]
    before = signal.getsignal(signal.SIGINT)
    assert main(["run", f"{winds}:with_stops", "--t-end", "1", *files]) == 130
    assert signal.getsignal(signal.SIGINT) is before
    out, err = capsys.readouterr()
    for name in ("run.npz", "run.csv", "run.html", "run.png"):
        assert f"written to {name}" in out and Path(name).stat().st_size > 400
    assert "was interrupted by a signal (Ctrl-C)" in err and "Traceback" not in err
    run = rbdae.load("run.npz")
    assert not run.success and 0.0 < run.t[-1] < 1.0
    rows = list(csv.reader(Path("run.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 1 + len(run.t) and float(rows[-1][0]) == run.t[-1]
