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


LOCKS = """
import os, sys, threading
import inside
held, let_go = threading.Event(), threading.Event()
def hold():
    with inside.lock_of_traced():
        held.set()
        let_go.wait(60.0)
thread = threading.Thread(target=hold)
thread.start()
held.wait()
inside.impatient_forks(0.2)
pid = os.fork()
if pid == 0:
    os._exit(0 if inside.lock_of_traced().acquire(timeout=10.0) else 1)
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
free = inside.lock_of_traced().acquire(blocking=False)
let_go.set()
thread.join()
print(status, free)
"""


def test_a_lock_that_does_not_come_free_is_new_in_the_child():
    """A user's function that never returns must not keep others from forking."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    # from 3.12 on Python warns of any fork beside threads
    command = [sys.executable, "-W", "ignore:This process:DeprecationWarning", "-c", LOCKS]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=200.0)
    assert (done.stdout.split(), done.stderr) == (["0", "False"], "")
