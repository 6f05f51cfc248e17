"""numba is there for functions of users that it has compiled: all else runs where it cannot be imported; versions of
llvmlite that cannot work."""

from __future__ import annotations

import os
import subprocess
import sys

import cases
import pytest

BLOCKED = """
import sys
class Block:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "numba":
            raise ImportError("numba is broken here")
sys.meta_path.insert(0, Block())
"""

RUNS = """
import rbdae
for form, solver, code in {pairs!r}:
    problem = rbdae.formulate(rbdae.models.heavy_top(), form, code=code)
    solution = rbdae.solve(problem, (0.0, 0.05), solver=solver, events=lambda t, y: y[0] - 10.0)
    assert solution.success, solution.message
    solution.energy.balance, solution.states, solution.drift, solution.reactions, solution(0.02)
assert "numba" not in sys.modules
print("done")
"""

PAIRS = [
    ("index-0", "scipy:DOP853"),
    ("index-0", "scipy:Radau"),
    ("null-space", "scipy:LSODA"),
    ("index-2", "sksundae:ida"),
    ("null-space", "sksundae:cvode"),
    ("null-space", "rbdae:dop853"),
]


def _said(script: str) -> tuple[str, str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RBDAE_CODE": "auto"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False, timeout=300
    )
    return done.stdout.strip(), done.stderr


def test_runs_need_no_numba():
    """Seen: scipy and IDA imported it for the sum of one vector."""
    codes = ("auto", "generic")
    pairs = [(form, solver, code) for form, solver in PAIRS if cases.INFOS[solver].available for code in codes]
    assert len(pairs) >= 8
    assert _said(BLOCKED + RUNS.format(pairs=pairs)) == ("done", "")


OLD = """
import sys, warnings, llvmlite
llvmlite.__version__ = {version!r}
import rbdae
problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", code="traced")
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    problem.rhs(0.0, problem.y0)
print(problem.callbacks.code("rhs"), *[w.message for w in said])
try:
    rbdae.solve(problem, (0.0, 0.1), solver="rbdae:dopri5")
except RuntimeError as error:
    print(error)
"""


@pytest.mark.parametrize("version", ["0.44.0rc1"])
def test_llvmlite_that_is_too_old_is_said_with_the_remedy(version):
    """Seen with numba 0.60 and 0.61: "expected type" out of LLVM's parser, where generic code would have worked."""
    out, err = _said(OLD.format(version=version))
    message = f"llvmlite {version} is too old: its LLVM does not read this machine code; install llvmlite>=0.45"
    assert out.splitlines() == [f"generic {message}", message] and err == ""
