"""What the benchmark scripts take from inside rbdae is there."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from by_numba import needs_numba

import rbdae

FOLDER = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def load(monkeypatch):
    """Loads a script as if it were run: with its folder on the path."""
    monkeypatch.syspath_prepend(str(FOLDER))
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "1")  # one of them sets it

    def find(name):
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        monkeypatch.delitem(sys.modules, "internals", raising=False)
        spec.loader.exec_module(module)
        return module

    return find


def test_times_are_those_of_the_callbacks(load):
    internals = load("internals")
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    rate, expected = np.empty(problem.n), problem.rhs(problem.t0, problem.y0)
    assert load("callbacks").alone(problem, "rhs", (problem.t0, problem.y0, rate), 3) > 0.0
    assert np.array_equal(rate, expected)
    assert internals.memory_bytes(problem) > 8 * problem.n


SCRIPTS = ("callbacks", "chain", "charts", "closed_loops", "conserving", "first_use", "inputs", "loops")


@pytest.mark.parametrize("name", [*SCRIPTS, "reading", "which", pytest.param("ida_by_hand", marks=needs_numba)])
def test_every_script_can_be_imported(name, load):
    assert callable(load(name).main)


def test_charts_say_how_many_operations_they_are_made_of(load):
    charts = load("charts")
    found = charts.operations("quaternion")["K(a) Omega"]
    assert charts.written(found) == "+3 -5 *16 1 neg"  # pdot = p o (0, Omega) / 2
    assert charts.operations("euler-313")["K(a) Omega"]["sin"] == 2
