"""A fork while other threads compile hangs neither the parent nor the child, which can compile, too."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import inside
import pytest
from cases import count

CHILD = Path(__file__).parents[1] / "support" / "forked_runs.py"

pytestmark = pytest.mark.skipif(not hasattr(os, "fork") or not inside.JIT, reason="nothing to fork, or to compile")


@pytest.mark.sampled
def test_children_of_forks_beside_threads_that_compile(tmp_path):
    """Seen to hang: the child waited for the lock of the compiler, which a thread of the parent had."""
    forks = count(5, 500)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(filter(None, sys.path)),
        "RBDAE_CACHE_DIR": str(tmp_path / "empty"),
    }
    done = subprocess.run(
        [sys.executable, str(CHILD), str(forks), "0"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120.0 + 30.0 * forks,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout)
    assert found["found"] == {"right": forks}, (found, done.stderr[-3000:])
    assert found["alive"] == 3  # the parent's threads go their way
