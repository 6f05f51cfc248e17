"""Hostile files, names and moments: what is refused says where and why; what is accepted has the right numbers."""

from __future__ import annotations

import csv
import os
import re
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import cases
import hostile
import inside
import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.cli import main

T_END = 0.02


# ---------------------------------------------------------------- resume files


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> hostile.Stored:
    """With the code of the tests that run a part of it again, since they compare bits."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RBDAE_CODE", "generic")
        return hostile.stored(tmp_path_factory.mktemp("stored") / "study.jsonl")


def test_a_last_line_without_its_end_is_run_again(stored, tmp_path):
    for missing in (1, 2):
        assert stored.again(tmp_path, stored.content[:-missing]).resumed == 1


def test_options_may_be_infinite(tmp_path):
    case = study.Case("null-space", "quaternion", "angular", "scipy:RK45", 1e-3, options={"max_step": np.inf})
    path, exact = tmp_path / "study.jsonl", study.reference(rbdae.models.heavy_top(), T_END)
    for resumed in (0, 1):
        given = {"reference": exact, "resume": path, "repeats": 1}
        assert study.compare_cases(rbdae.models.heavy_top(), T_END, [case], **given).resumed == resumed


@pytest.mark.generic  # as what is stored
@pytest.mark.sampled
@pytest.mark.parametrize("chunk", range(cases.count(60, 1200) // 20))
def test_damaged_results_give_right_numbers_or_a_word(stored, tmp_path, chunk):
    for k in range(20 * chunk, 20 * chunk + 20):
        what, content = hostile.mutated(stored.content, np.random.default_rng((k, 23)))
        try:
            found = stored.again(tmp_path, content)
        except ValueError as error:
            assert "study.jsonl" in str(error) and ";" in str(error) and len(str(error)) < 1000, (k, what, str(error))
            continue
        for row in found.rows:
            assert row.failure == "" and row.errors is not None, (k, what)
            numbers = [*vars_of(row.errors), row.position_drift, row.stats.seconds, row.stats.wall_seconds]
            assert all(np.isfinite(number) and number >= 0.0 for number in numbers), (k, what)
            right = {right.case: right for right in stored.rows}[row.case]
            assert row.errors == right.errors and row.stats.steps == right.stats.steps, (k, what)
        assert str(found) and len(found.frame), (k, what)


def vars_of(errors: study.Errors) -> list[float]:
    return [errors.position, errors.orientation, errors.velocity]


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
        hostile.system(**{what: name})
    assert len(str(caught.value)) < 400


def test_any_other_name_is_shown_as_it_is(tmp_path):
    pytest.importorskip("matplotlib")
    hostile.check_names(hostile.NAMES, tmp_path, page=True)


@pytest.mark.sampled
@pytest.mark.parametrize("chunk", range(cases.count(20, 800) // 20))
def test_random_names_are_shown_or_refused(chunk, tmp_path):
    pytest.importorskip("matplotlib")
    taken = []
    for k in range(20 * chunk, 20 * chunk + 20):
        name = hostile.drawn_name(np.random.default_rng((k, 31)))
        try:
            hostile.system(body=name)
        except ValueError as error:
            assert "the name of a body must not" in str(error) and ";" in str(error), name
        else:
            taken.append(name)
    assert taken
    hostile.check_names(list(dict.fromkeys(taken)), tmp_path, page=chunk % 20 == 1)


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


@pytest.fixture(scope="module")
def compared(stored) -> study.Comparison:
    return replace(stored.compared)


WRITERS: dict[str, Callable[[rbdae.Solution, study.Comparison, Path], Any]] = {
    "run.npz": lambda solution, compared, path: solution.save(path),
    "run.html": lambda solution, compared, path: solution.report(path),
    "film.gif": lambda solution, compared, path: solution.animate(path, duration=0.1),
    "film.html": lambda solution, compared, path: solution.animate(path, duration=0.1),
    "table.csv": lambda solution, compared, path: compared.to_csv(path),
    "table.json": lambda solution, compared, path: compared.to_json(path),
    "table.html": lambda solution, compared, path: compared.report(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_a_failed_write_leaves_the_old_file(name, compared, tmp_path):
    pytest.importorskip("matplotlib")
    solution = hostile.solved(hostile.system())
    path = tmp_path / name
    WRITERS[name](solution, compared, path)  # what is compiled on the way is in its cache then, which is a file, too
    path.write_bytes(b"old")
    path.chmod(0o640)
    with small_disk(100), pytest.raises(OSError, match="too large"):
        WRITERS[name](solution, compared, path)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == [name]
    WRITERS[name](solution, compared, path)
    assert path.stat().st_size > 400 and path.stat().st_mode & 0o777 == 0o640
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("path", ["", "a\0b", "\ud800.html", 3, None])
def test_what_is_no_name_of_a_file_is_refused(path, compared):
    for write in (compared.to_csv, compared.to_json, compared.report, study.Comparison.from_json):
        with pytest.raises((TypeError, ValueError), match="must be the name of a file"):
            write(path)


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


def test_ctrl_c_writes_the_finished_runs_of_a_study(monkeypatch, capsys, tmp_path):
    real, done = study.run, []

    def stopped(*given: Any, **how: Any) -> study.Row:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(real(*given, **how))
        return done[-1]

    monkeypatch.setattr(inside.study_comparing, "run", stopped)
    chosen = ["--formulations", "null-space", "--rotations", "quaternion", "--solvers", "scipy:RK45", "--repeats", "1"]
    path = tmp_path / "study.json"
    assert main(["compare", "heavy_top", "--t-end", "0.02", *chosen, "--json", str(path)]) == 130
    assert study.Comparison.from_json(path).rows == tuple(done)
    assert "interrupted after 2 runs" in capsys.readouterr().err


def test_one_file_that_cannot_be_written_costs_no_other(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no device that is always full")
    assert main(["run", "heavy_top", "--t-end", "0.01", "--save", "/dev/full", "--csv", "run.csv"]) == 2
    assert "No space left on device: '/dev/full'" in capsys.readouterr().err
    assert Path("run.csv").stat().st_size > 400
