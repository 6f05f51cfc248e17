"""`tools/perturb_levels.py` reads levels from pytest's explanations, and perturbs by roundings alone."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest

PATH = Path(__file__).parents[2] / "tools/perturb_levels.py"


@pytest.fixture(scope="module")
def tool():
    spec = importlib.util.spec_from_file_location("perturb_levels", PATH)
    module = importlib.util.module_from_spec(spec)
    sys.modules["perturb_levels"] = module
    spec.loader.exec_module(module)
    yield module
    del sys.modules["perturb_levels"]


@pytest.mark.parametrize(
    "explanation, pairs",
    [
        ("np.float64(3.1e-09) < 1e-07", [(3.1e-9, 1e-7)]),
        ("0.0002 <= 0.0011\n +  where 0.0002 = <built-in method max>()", [(2e-4, 1.1e-3)]),
        ("1e-3 > np.float64(2e-05)", [(2e-5, 1e-3)]),
        ("(1.5e-08 < 1e-06 and 2e-10 < 1e-09)", [(1.5e-8, 1e-6), (2e-10, 1e-9)]),
        ("12 < 40", []),  # counts
        ("0.48 < 0.5", []),  # times
        ("0.0 < 1e-9", []),
        ("'a' == 'a'", []),
        ("1.8 < np.float64(1.95) < 2.2", []),  # a range has no level
    ],
)
def test_values_and_levels_are_read(tool, explanation, pairs):
    assert list(tool.comparisons(explanation)) == pairs


def test_a_perturbation_is_some_units_in_the_last_place(tool, tmp_path):
    recorder = tool.Recorder(str(tmp_path / "levels"), 1)
    y = np.linspace(0.5, 2.0, 200)
    apart = np.abs(recorder.perturbed(y) - y) / np.spacing(y)
    assert 2.0 <= apart.max() <= 2 * tool.UNITS
    assert np.array_equal(recorder.perturbed(y), recorder.perturbed(y))
    assert not np.array_equal(recorder.perturbed(y), tool.Recorder(recorder.path, 2).perturbed(y))


def test_the_worst_of_all_runs_counts(tool):
    runs = {1: {("a", 1, 1): (2.0, 10.0)}, 2: {("a", 1, 1): (6.0, 10.0), ("b", 1, 1): (9.0, 10.0)}}
    assert tool.worst_of(lambda seed, tests: runs[seed], {("a", 1, 1): (1.0, 10.0)}, 2) == {("a", 1, 1): 0.6}


def test_comparisons_that_stay_far_from_their_levels_are_left_after_some_runs(tool):
    near = {("far", 1, 1): (1.0, 20.0), ("close", 1, 1): (2.0, 10.0)}
    seen = []

    def once(seed, tests):
        seen.append(tests)
        return {("close", 0, 0): (1.0, 0.0)} if seed == 7 else {}

    worst = tool.worst_of(once, near, 7)
    assert seen == [["close", "far"]] * tool.FIRST + [["close"]] * 2
    assert worst["close", 0, 0] == float("inf")


def test_failed_tests_and_levels_are_kept(tool, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names of failed tests are relative to it
    test = tmp_path / "test_it.py"
    test.write_text("def test_near():\n    assert 2e-7 < 1e-6\ndef test_bad():\n    assert 2e-6 < 1e-6\n")
    found = tool.run(tmp_path, None, [str(test), "-c", "/dev/null", f"--rootdir={tmp_path}"])
    assert found == {("test_it.py::test_near", 2, 1): (2e-7, 1e-6), ("test_it.py::test_bad", 0, 0): (1.0, 0.0)}
    assert tool.run(tmp_path, None, ["there is no need to run again"]) == found
