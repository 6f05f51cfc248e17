"""A first use compiles on several cores, and nothing depends on it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import rbdae
from rbdae.compiler import ahead as _ahead
from rbdae.compiler import cache, options

pytestmark = pytest.mark.skipif(not options.ENABLED, reason="nothing is compiled without the JIT")

CODE = """
import json, sys
import rbdae
from rbdae.compiler import ahead as _ahead
from rbdae.compiler import jit as _jit
sizes = []
class Workers(_ahead._Workers):
    def __init__(self, kernels, size):
        super().__init__(kernels, size)
        sizes.append(size)
_ahead._Workers = Workers
problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
rates = problem.rhs(0.0, problem.y0)
stages = [s for s in _jit._KERNELS.values() if isinstance(s, _jit.Stage) and s.compiled is not None]
hits = sum(s.compiled.cache_hits for s in stages)
print(json.dumps([rates.tolist(), sizes, len(stages), hits]))
"""


def _cold_start(folder, processes):
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "NUMBA_CACHE_DIR": str(folder),
        _ahead.LIMIT: str(processes),
    }
    run = subprocess.run([sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stderr[-3000:]
    assert run.stderr == ""
    return json.loads(run.stdout)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_cold_start_gives_the_same_numbers(tmp_path, processes):
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    rates, sizes, stages, hits = _cold_start(tmp_path, processes)
    assert np.array_equal(rates, problem.rhs(0.0, problem.y0))
    assert stages > 12
    if processes == 1:
        assert sizes == [] and hits == 0
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
    monkeypatch.setattr(_ahead, "_workers", None)
    monkeypatch.setattr(_ahead, "_given_up", set())
    monkeypatch.setattr(cache, "directory", lambda: tmp_path)
    monkeypatch.setenv(_ahead.LIMIT, "2")


@pytest.mark.parametrize("executable", ["python-that-is-not-there", "python-that-fails"])
def test_children_that_fail_are_given_up(new, monkeypatch, tmp_path, executable):
    script = tmp_path / "python-that-fails"
    script.write_text("#!/bin/sh\nexit 1\n")
    script.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(tmp_path / executable))
    _ahead.wait_for(KERNELS)
    assert _ahead._workers is None
    monkeypatch.setattr(_ahead, "_Workers", None)  # whoever makes another one fails
    if executable == "python-that-fails":
        _ahead.wait_for(KERNELS)


def test_children_pass_over_what_they_cannot_compile(new):
    _ahead.wait_for(KERNELS)
    assert _ahead._workers is None and _ahead._given_up == {kernel.name for kernel in KERNELS}


def test_an_impatient_user_is_not_kept_waiting(new, monkeypatch):
    monkeypatch.setattr(_ahead, "_CHILD", "import time; time.sleep(100.0)  # {path}")
    monkeypatch.setattr(_ahead, "_PATIENCE", 0.1)
    _ahead.wait_for(KERNELS)
    assert _ahead._workers is None


def test_when_there_are_no_children(new, monkeypatch, tmp_path):
    assert _ahead._processes() == 2
    monkeypatch.setenv(_ahead.LIMIT, "")
    assert 1 <= _ahead._processes() <= 4
    with monkeypatch.context() as patch:
        patch.setattr(sys, "executable", None)
        assert _ahead._processes() == 0
        patch.setattr(sys, "executable", "/usr/bin/blender")
        assert _ahead._processes() == 0
    with monkeypatch.context() as patch:
        patch.setattr(sys, "frozen", True, raising=False)
        assert _ahead._processes() == 0
    with monkeypatch.context() as patch:
        patch.setattr(_ahead.multiprocessing, "parent_process", lambda: object())
        assert _ahead._processes() == 0
    with monkeypatch.context() as patch:
        patch.setattr(cache, "directory", lambda: tmp_path / "python-that-fails" / "x")
        (tmp_path / "python-that-fails").write_text("a file where a folder should be")
        assert _ahead._processes() == 0
