"""A fork while other threads compile hangs neither the parent nor the child, which can compile, too.

``python test_forks.py FORKS`` is the process that forks: two threads compile code of one model after the other, another
one runs. Each child compiles what nobody has compiled before, and compares; one that hangs is ended by an alarm.
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np
import pytest
from cases import count

import rbdae

LIMIT = 120
"""Seconds after which a child hangs."""

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing to fork")


@pytest.mark.sampled
def test_children_of_forks_beside_threads_that_compile(tmp_path):
    """Seen to hang: the child waited for the lock of the compiler, which a thread of the parent had."""
    forks, path = count(3, 500), os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": path, "RBDAE_CACHE_DIR": str(tmp_path / "empty")}
    command, limit = [sys.executable, __file__, str(forks)], 120.0 + 30.0 * forks
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=limit)
    assert done.returncode == 0, done.stderr[-3000:]
    # and the parent's threads go their way
    assert json.loads(done.stdout) == {"0": forks, "alive": 3}, (done.stdout, done.stderr[-3000:])


def problem(rng: Any) -> Any:
    """A top that no other one is like."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    moments = tuple(1.0 + 0.3 * rng.random(3))
    given: dict[str, Any] = {"mass": 1.0 + rng.random(), "inertia": moments, "angular_velocity": (1, 2, 3)}
    body = system.add_body("a", position=(1, 0, 0), **given)
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_b=(-1, 0, 0)))
    return rbdae.formulate(system, "index-0")


def child(seed: int) -> None:
    """Ends the process with 0 if the angular momentum about the support changes as by hand, and a run succeeds."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    one = problem(np.random.default_rng(seed))
    m, w = one.system.bodies[0].mass, np.array([1.0, 2.0, 3.0])
    about = np.asarray(one.system.bodies[0].inertia) + m * np.diag([0.0, 1.0, 1.0])
    rates = np.linalg.solve(about, np.cross(about @ w, w) + np.cross([1.0, 0.0, 0.0], [0.0, 0.0, -9.81 * m]))
    right = np.allclose(one.rhs(0.0, one.y0)[-3:], rates, rtol=1e-11, atol=0.0)
    sys.exit(0 if right and rbdae.solve(one, (0.0, 0.1), solver="rbdae:dopri5").success else 2)


def main(forks: int) -> None:
    """Prints how many children ended with each status, and how many threads are alive."""
    rng, done = np.random.default_rng(0), threading.Event()

    def working(work: Any, begun: threading.Event) -> threading.Thread:
        def loop() -> None:
            own = np.random.default_rng(1)
            while not done.is_set():
                work(own)
                begun.set()

        thread = threading.Thread(target=loop, daemon=True)
        thread.start()
        return thread

    def compiles(own: Any) -> None:
        one = problem(own)
        one.jacobian(0.0, one.y0, one.yd0, 1.0)

    running, begun = problem(np.random.default_rng(2)), [threading.Event() for _ in range(3)]
    works = (compiles, compiles, lambda own: rbdae.solve(running, (0.0, 1.0), solver="scipy:RK45"))
    threads = [working(*pair) for pair in zip(works, begun, strict=True)]
    # a module that a thread imports at a fork stays locked in the child, whatever it belongs to: let all be imported
    assert all(event.wait(LIMIT) for event in begun)
    found: Counter[str] = Counter()
    for k in range(forks):
        time.sleep(rng.uniform(0.0, 0.1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
            process = multiprocessing.get_context("fork").Process(target=child, args=(10_000 + k,))
            process.start()
        process.join()
        found[str(process.exitcode)] += 1
    alive = sum(thread.is_alive() for thread in threads)
    done.set()
    for thread in threads:
        thread.join(LIMIT)
    print(json.dumps({**found, "alive": alive}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
