"""Versions of llvmlite that cannot work."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def _said(script: str) -> tuple[str, str]:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "RBDAE_CODE": "auto"}
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=environment, check=False, timeout=300
    )
    return done.stdout.strip(), done.stderr


OLD = """
import sys, warnings, llvmlite
llvmlite.__version__ = {version!r}
import rbdae
problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
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
    """Seen with numba 0.60 and 0.61: "expected type" out of LLVM's parser, where plain Python would have worked."""
    out, err = _said(OLD.format(version=version))
    message = f"llvmlite {version} is too old: its LLVM does not read this machine code; install llvmlite>=0.45"
    assert out.splitlines() == [f"plain {message}", message] and err == ""
