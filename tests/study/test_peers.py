"""The comparison with other packages: what it needs to be fair, and what it says where a package is missing."""

from __future__ import annotations

import ctypes
import json
import os
import shutil

import numpy as np
import pytest

import rbdae
from benchmarks.peers import __main__ as command
from benchmarks.peers import c_library
from benchmarks.peers.mechanisms import Chain, HeavyTop, LinkedBodies
from benchmarks.peers.missing import Missing

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None and "CI" not in os.environ, reason="gcc is missing")


@pytest.fixture(scope="module")
def by_hand():
    """Calls a C function of the benchmark."""

    def call(name, y, yd=None, c=0.0, shape=None, context=0):
        out = np.full(shape or y.shape, np.nan)
        yd = y if yd is None else yd
        function = getattr(c_library.library(), name)
        pointers = [c_library.pointer(a) for a in (y, yd, out)]
        failed = function(
            ctypes.c_void_p(context), ctypes.c_double(0.0), *pointers[:2], ctypes.c_double(c), pointers[2]
        )
        assert failed == 0
        return out

    return call


def close(found, expected):
    return np.max(np.abs(found - expected)) <= 1e-12 * np.max(np.abs(expected))


@needs_gcc
@pytest.mark.parametrize(
    "name, mechanism",
    [
        ("heavy_top", HeavyTop()),
        ("linked_bodies", LinkedBodies()),
        *(("chain", Chain(n)) for n in (1, 2, 3, 4, 7)),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_right_hand_sides_by_hand_are_those_of_rbdae(name, mechanism, by_hand):
    rng = np.random.default_rng(len(mechanism.y0))
    for _ in range(3):
        y = mechanism.y0 + 0.3 * rng.normal(size=mechanism.y0.size)
        context = c_library.chain_context(mechanism.n) if name == "chain" else 0
        assert close(by_hand(name, y, context=context), mechanism.problem.rhs(0.0, y))


@needs_gcc
def test_residual_and_jacobian_by_hand_are_those_of_rbdae(by_hand):
    problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
    rng = np.random.default_rng(2)
    for _ in range(3):
        y, yd = rng.normal(size=(2, problem.n))
        assert close(by_hand("linked_bodies_residual", y, yd), problem.residual(0.0, y, yd))
        expected = problem.jacobian(0.0, y, yd, 7.0)
        assert close(by_hand("linked_bodies_jacobian", y, yd, 7.0, expected.shape), expected)


def test_a_missing_compiler_is_named_with_its_install_command(monkeypatch):
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Missing, match="gcc is missing; install it by: apt-get install gcc"):
        c_library.compile_together(("loops",))


@needs_gcc
def test_a_run_says_times_ratios_and_errors_of_c(tmp_path, capsys):
    file, page = tmp_path / "peers.json", tmp_path / "peers.md"
    command.main(["--quick", "--case", "heavy_top", "--peer", "c", "--json", str(file), "--markdown", str(page)])
    found = json.loads(file.read_text())
    (case,) = found["cases"]
    assert case["references differ"] < 1e-10 and not found["missing"]
    by_name = {m["method"]: m for m in case["methods"]}
    assert by_name["DOPRI5"]["ratios"] == [1.0, 1.0]
    assert 0.0 < by_name["DOP853"]["seconds"][0] < by_name["DOP853"]["seconds"][1]
    errors = [p["error"] for p in by_name["DOP853"]["points"]]
    assert errors[0] > 1e-4 and errors[-1] < 1e-9
    assert found["calls"][0]["function"] == "right-hand side" and found["calls"][0]["seconds"] > 0.0
    assert "| C by hand: DOP853 |" in capsys.readouterr().out
    assert found["machine"]["date"] in page.read_text() and "| C by hand: DOP853 |" in page.read_text()
