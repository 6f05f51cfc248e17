"""Forks while other threads compile, a child of the tests: ``python forked_runs.py FORKS SEED``.

One thread compiles code of one model after the other, another one generic kernels, a third one runs. Each child of a
fork compiles what nobody has compiled before, and compares. It prints how many children were right, and what others
said. A child that hangs is ended by an alarm.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import multiprocessing
import sys
import threading
import time
import warnings
from collections import Counter
from typing import Any

import inside
import numpy as np

import rbdae

LIMIT = 120
"""Seconds after which a child hangs."""


def problem(rng: Any, code: str) -> Any:
    """A top that no other one is like."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    inertia = tuple(1.0 + 0.3 * rng.random(3))
    body = system.add_body(
        "a", mass=1.0 + rng.random(), inertia=inertia, position=(1, 0, 0), angular_velocity=(1, 2, 3)
    )
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_b=(-1, 0, 0)))
    return rbdae.formulate(system, "index-0", code=code)


def plain_rates(one: Any) -> Any:
    """Its rates without machine code: angular momentum about the support, by hand."""
    body = one.system.bodies[0]
    m, inertia, w = body.mass, np.asarray(body.inertia), np.array([1.0, 2.0, 3.0])
    about = inertia + m * np.diag([0.0, 1.0, 1.0])
    return np.linalg.solve(about, np.cross(about @ w, w) + np.cross([1.0, 0.0, 0.0], [0.0, 0.0, -9.81 * m]))


def multiplied(x: float, factor: float) -> float:
    """x times a factor, by a kernel that nobody has compiled before."""

    def scaled(values: Any) -> None:
        values[0] = factor * values[0]

    values = np.array([x])
    inside.entry("o")(scaled).compiled()(values)
    return float(values[0])


def checked(seed: int) -> str:
    """What a child finds: its own new model, and a kernel."""
    one = problem(np.random.default_rng(seed), "traced")
    found = one.rhs(0.0, one.y0)[-3:]
    if not np.allclose(found, plain_rates(one), rtol=1e-11, atol=0.0):
        return "wrong"
    if multiplied(2.0, float(seed)) != 2.0 * seed:
        return "wrong kernel"
    if not rbdae.solve(one, (0.0, 0.1), solver="rbdae:dopri5").success:
        return "failed"
    return "right" if gc.isenabled() else "without a collector"


def child(seed: int) -> None:
    """Ends the process with a number for what it has found."""
    faulthandler.dump_traceback_later(LIMIT, exit=True)
    sys.exit(WORDS.index(checked(seed)))


WORDS = ["right", "hung", "wrong", "wrong kernel", "failed", "without a collector"]


def main(forks: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    done = threading.Event()
    once_round = [threading.Event() for _ in range(3)]

    def models() -> None:
        own = np.random.default_rng(seed + 1)
        while not done.is_set():
            one = problem(own, "traced")
            one.rhs(0.0, one.y0)
            one.jacobian(0.0, one.y0, one.yd0, 1.0)
            once_round[0].set()

    def kernels() -> None:
        k = 0
        while not done.is_set():
            k += 1
            multiplied(2.0, k + 0.25)
            once_round[1].set()

    def runs() -> None:
        one = problem(np.random.default_rng(seed + 2), "traced")
        while not done.is_set():
            rbdae.solve(one, (0.0, 1.0), solver="scipy:RK45")
            once_round[2].set()

    threads = [threading.Thread(target=work, daemon=True) for work in (models, kernels, runs)]
    for thread in threads:
        thread.start()
    # a module that a thread imports at a fork stays locked in the child, whatever it belongs to: let all be imported
    for event in once_round:
        assert event.wait(LIMIT)
    found: Counter[str] = Counter()
    longest = 0.0
    forked = multiprocessing.get_context("fork")
    for k in range(forks):
        time.sleep(rng.uniform(0.0, 0.1))
        began = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # Python 3.12 warns of forks beside threads
            process = forked.Process(target=child, args=(10_000 * (seed + 1) + k,))
            process.start()
        longest = max(longest, time.perf_counter() - began)
        process.join()
        status = process.exitcode
        assert status is not None
        found[WORDS[status] if 0 <= status < len(WORDS) else f"ended with {status}"] += 1
    alive = sum(thread.is_alive() for thread in threads)
    done.set()
    for thread in threads:
        thread.join(LIMIT)
    print(json.dumps({"found": dict(found), "longest": longest, "alive": alive}))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
