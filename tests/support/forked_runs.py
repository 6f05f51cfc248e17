"""Forks while other threads compile, a child of the tests: ``python forked_runs.py FORKS SEED``.

Two threads compile code of one model after the other, another one runs. Each child of a fork compiles what nobody has
compiled before, and compares. It prints how many children were right, and what others said. A child that hangs is ended
by an alarm.
"""

from __future__ import annotations

import faulthandler
import json
import multiprocessing
import sys
import threading
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

import rbdae

LIMIT = 120
"""Seconds after which a child hangs."""
WORDS = ["right", "hung", "wrong", "failed"]


def problem(rng: Any) -> Any:
    """A top that no other one is like."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    inertia = tuple(1.0 + 0.3 * rng.random(3))
    body = system.add_body(
        "a", mass=1.0 + rng.random(), inertia=inertia, position=(1, 0, 0), angular_velocity=(1, 2, 3)
    )
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_b=(-1, 0, 0)))
    return rbdae.formulate(system, "index-0", code="traced")


def rates_by_hand(one: Any) -> Any:
    """Of the angular momentum about the support."""
    body = one.system.bodies[0]
    m, inertia, w = body.mass, np.asarray(body.inertia), np.array([1.0, 2.0, 3.0])
    about = inertia + m * np.diag([0.0, 1.0, 1.0])
    return np.linalg.solve(about, np.cross(about @ w, w) + np.cross([1.0, 0.0, 0.0], [0.0, 0.0, -9.81 * m]))


def child(seed: int) -> None:
    """Ends the process with a number for what it has found of a new model."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    one = problem(np.random.default_rng(seed))
    right = np.allclose(one.rhs(0.0, one.y0)[-3:], rates_by_hand(one), rtol=1e-11, atol=0.0)
    done = rbdae.solve(one, (0.0, 0.1), solver="rbdae:dopri5").success
    sys.exit(WORDS.index("right" if right and done else "failed" if right else "wrong"))


def main(forks: int, seed: int) -> None:
    rng, done = np.random.default_rng(seed), threading.Event()
    once_round = [threading.Event() for _ in range(2)]

    def models() -> None:
        own = np.random.default_rng(seed + 1)
        while not done.is_set():
            one = problem(own)
            one.jacobian(0.0, one.y0, one.yd0, 1.0)
            once_round[0].set()

    def runs() -> None:
        one = problem(np.random.default_rng(seed + 2))
        while not done.is_set():
            rbdae.solve(one, (0.0, 1.0), solver="scipy:RK45")
            once_round[1].set()

    threads = [threading.Thread(target=work, daemon=True) for work in (models, models, runs)]
    for thread in threads:
        thread.start()
    # a module that a thread imports at a fork stays locked in the child, whatever it belongs to: let all be imported
    for event in once_round:
        assert event.wait(LIMIT)
    found: Counter[str] = Counter()
    forked = multiprocessing.get_context("fork")
    for k in range(forks):
        time.sleep(rng.uniform(0.0, 0.1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
            process = forked.Process(target=child, args=(10_000 * (seed + 1) + k,))
            process.start()
        process.join()
        status = process.exitcode
        assert status is not None
        found[WORDS[status] if 0 <= status < len(WORDS) else f"ended with {status}"] += 1
    alive = sum(thread.is_alive() for thread in threads)
    done.set()
    for thread in threads:
        thread.join(LIMIT)
    print(json.dumps({"found": dict(found), "alive": alive}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
