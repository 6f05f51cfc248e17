"""A first use compiles on several cores, and nothing depends on it."""

from __future__ import annotations

import json
import multiprocessing
import os
import subprocess
import sys
from dataclasses import dataclass

import inside
import numpy as np
import pytest

import rbdae

pytestmark = pytest.mark.skipif(not inside.JIT, reason="nothing is compiled without the JIT")

CODE = """
import json
import inside
import rbdae
sizes = inside.sizes_of_groups()
problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", code="generic")
rates = problem.rhs(0.0, problem.y0)
stages = [s for s in inside.stages() if s.compiled is not None]
hits = sum(s.compiled.cache_hits for s in stages)
print(json.dumps([rates.tolist(), sizes, len(stages), hits]))
"""


def _cold_start(folder, processes):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "NUMBA_CACHE_DIR": str(folder),
        inside.LIMIT_OF_WORKERS: str(processes),
    }
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stderr == ""
    return json.loads(run.stdout)


# by one process all tests are compiled whose workers keep the cores busy (conftest.py)
@pytest.mark.parametrize("processes", [pytest.param(1, marks=pytest.mark.long), 2])
def test_a_cold_start_gives_the_same_numbers(tmp_path, processes):
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", code="generic")
    rates, sizes, stages, hits = _cold_start(tmp_path, processes)
    assert np.array_equal(rates, problem.rhs(0.0, problem.y0))
    assert stages > 12
    if processes == 1:
        assert sizes == [] and hits == 0
        # what the first process has not called is missing, and the second one does not call it either
        assert _cold_start(tmp_path, 2)[1:] == [[], stages, stages]
    else:
        assert sizes == [2] and hits == stages
        assert _cold_start(tmp_path, 1)[1:] == [[], stages, stages]


@dataclass(frozen=True)
class Nothing:
    """A kernel that is not there."""

    name: str
    is_cached: bool = False


KERNELS = [Nothing(f"rbdae.kernels.bodies:nothing_{k}") for k in range(20)]


@pytest.fixture
def new(monkeypatch, tmp_path):
    """No workers, an empty cache, two processes allowed."""
    inside.forget_workers(monkeypatch)
    inside.cache_in(monkeypatch, tmp_path)
    monkeypatch.setenv(inside.LIMIT_OF_WORKERS, "2")


@pytest.mark.parametrize("executable", ["python-that-is-not-there", "python-that-fails"])
def test_children_that_fail_are_given_up(new, monkeypatch, tmp_path, executable):
    script = tmp_path / "python-that-fails"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / executable))
    inside.wait_for_workers(KERNELS)
    assert not inside.has_workers()
    inside.forbid_new_workers(monkeypatch)
    if executable == "python-that-fails":
        inside.wait_for_workers(KERNELS)


def test_children_pass_over_what_they_cannot_compile(new):
    inside.wait_for_workers(KERNELS)
    assert not inside.has_workers() and inside.given_up() == {kernel.name for kernel in KERNELS}


def test_an_impatient_user_is_not_kept_waiting(new, monkeypatch):
    inside.idle_workers(monkeypatch, patience=0.1)
    inside.wait_for_workers(KERNELS)
    assert not inside.has_workers()


def test_when_there_are_no_children(new, monkeypatch, tmp_path):
    assert inside.possible_workers() == 2
    monkeypatch.setenv(inside.LIMIT_OF_WORKERS, "")
    assert 1 <= inside.possible_workers() <= 4
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", None)
        assert inside.possible_workers() == 0
        patch.setattr(sys, "executable", "/usr/bin/blender")
        assert inside.possible_workers() == 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "frozen", True, raising=False)
        assert inside.possible_workers() == 0
    with monkeypatch.context() as patch:
        patch.setattr(multiprocessing, "parent_process", lambda: object())
        assert inside.possible_workers() == 0
    with monkeypatch.context() as patch:
        inside.cache_in(patch, tmp_path / "python-that-fails" / "x")
        (tmp_path / "python-that-fails").write_text("a file where a folder should be")
        with pytest.warns(RuntimeWarning, match="cannot be kept in .*python-that-fails"):
            assert inside.possible_workers() == 0
