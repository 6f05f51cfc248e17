"""Ctrl-C: no interrupt of a run is lost, whatever was at work, and the caller gets the run so far.

``python test_interrupts.py SOLVER,SOLVER RUNS`` is a process that runs solvers on a pendulum and a body with a Python
force. For each run it prints a line before, and one after with what has become of it; SIGINT comes between them.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from typing import Any

import cases
import inside
import numpy as np
import pytest
import toy
from cases import NIGHTLY, count

import rbdae
from rbdae.adapter import Reason


@pytest.fixture(autouse=True)
def ctrl_c_interrupts():
    """Also where a shell has started the tests in the background, which ignores Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.sampled
@pytest.mark.parametrize("code", ["plain", "auto"])
def test_every_interrupt_at_a_random_time_reaches_the_caller(code, rng):
    """Real signals from another process; half of the runs call a Python force from compiled code. One solver of each
    package, and in plain Python, where some take long, two; all of them at night."""
    runs = count(2, 500)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    if code == "plain":
        environment["RBDAE_LLVM"] = "none"
    solvers = [info.name for info in cases.INFOS.values() if info.available]
    if not NIGHTLY:
        first = {name.partition(":")[0]: name for name in reversed(solvers)}
        solvers = [name for package, name in first.items() if code == "auto" or package in ("scipy", "sksundae")]
    command = [sys.executable, __file__, ",".join(solvers), str(runs)]
    found: Counter[tuple[str, str]] = Counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment, text=True) as child:
        watchdog = threading.Timer(60.0 + 5.0 * runs * len(solvers), child.kill)
        watchdog.start()
        try:
            assert child.stdout is not None
            for line in child.stdout:
                solver = json.loads(line)["solver"]
                time.sleep(rng.uniform(0.0, 0.03))
                child.send_signal(signal.SIGINT)
                outcome = json.loads(child.stdout.readline())
                assert outcome.get("good", True), (solver, outcome)
                found[solver, outcome["ended"]] += 1
        finally:
            watchdog.cancel()
            child.kill()
    assert {ended for _, ended in found} <= {"interrupted", "no solution", "outside"}, found
    for solver in solvers:
        assert found[solver, "interrupted"] > 0.5 * runs, found
        assert sum(n for (name, _), n in found.items() if name == solver) == runs


def interrupting(at: float, also: Any = None) -> Any:
    """A right-hand side that sends SIGINT to its own process at a time."""
    sent = []

    def trouble(t: float, y: Any) -> float:
        if t > at and not sent:
            sent.append(t)
            os.kill(os.getpid(), signal.SIGINT)
            if also is not None:
                also()
        return 1.0

    return trouble


FIRST = [info.name for info in cases.INFOS.values() if info.available]


@pytest.mark.parametrize("solver", FIRST)
def test_an_interrupt_in_a_callback_gives_the_run_so_far(solver):
    kinds = cases.INFOS[solver].kinds
    problem = toy.Pendulum("index-0" if "ode" in kinds else "overdetermined", trouble=interrupting(0.5))
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt) as caught:
        rbdae.solve(problem, (0.0, 1.0), solver=solver)
    solution = caught.value.solution
    assert solution.reason is Reason.KEYBOARD and not solution.success
    assert f"{solver} stopped at t = {solution.t[-1]:.9g} on the way from 0 to 1: was interrupted" in solution.message
    assert solution.t[0] == 0.0 and 0.2 < solution.t[-1] < 0.7
    assert np.abs(solution.y[-1] - toy.exact(solution.t[-1])[: problem.n])[:3].max() < 0.2
    assert signal.getsignal(signal.SIGINT) is before


def test_a_second_interrupt_ends_a_long_callback_at_once():
    def forever() -> None:
        os.kill(os.getpid(), signal.SIGINT)
        began = time.monotonic()
        while time.monotonic() - began < 20.0:
            pass
        raise AssertionError("still there")

    problem = toy.Pendulum(trouble=interrupting(0.5, forever))
    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt) as caught:
        rbdae.solve(problem, (0.0, 1.0), solver="scipy:RK45")
    assert time.monotonic() - began < 10.0
    assert 0.2 < caught.value.solution.t[-1] < 0.7


def test_a_handler_of_the_users_own_is_called_at_once_and_what_it_raises_is_kept():
    class Stop(Exception):
        pass

    called = []

    def noting(number: int, frame: Any) -> None:
        called.append(number)

    def stopping(number: int, frame: Any) -> None:
        raise Stop("by the handler")

    before = signal.signal(signal.SIGINT, noting)
    try:
        solution = rbdae.solve(toy.Pendulum(trouble=interrupting(0.5)), (0.0, 1.0), solver="scipy:RK45")
        assert solution.success and called == [signal.SIGINT]
        signal.signal(signal.SIGINT, stopping)
        with pytest.raises(Stop, match="by the handler") as caught:
            rbdae.solve(toy.Pendulum(trouble=interrupting(0.5)), (0.0, 1.0), solver="sksundae:ida")
        assert 0.2 < caught.value.solution.t[-1] < 0.7
        assert signal.getsignal(signal.SIGINT) is stopping
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        assert rbdae.solve(toy.Pendulum(trouble=interrupting(0.5)), (0.0, 1.0), solver="scipy:RK45").success
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_beside_an_exception_of_the_user_is_not_lost():
    def fail() -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(KeyboardInterrupt) as caught:
        rbdae.solve(toy.Pendulum(trouble=interrupting(0.5, fail)), (0.0, 1.0), solver="scipy:RK45")
    assert 0.2 < caught.value.solution.t[-1] < 0.7


def test_an_interrupt_after_a_change_of_selection_has_the_segments_before():
    problem = rbdae.formulate(rbdae.models.spatial_slider_crank(), "null-space")
    seen = []

    def late(t: float) -> None:
        seen.append(t)
        if len(seen) == 40:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt) as caught:
        rbdae.solve(problem, (0.0, 5.0), solver="scipy:DOP853", rtol=1e-8, atol=1e-8, progress=late)
    solution = caught.value.solution
    assert solution.t[0] == 0.0 and solution.t[-1] >= seen[38]
    assert solution.energy.total.shape == solution.t.shape


def _as_ctrl_c(number: int, frame: Any) -> None:
    """A time limit whose exception cannot vanish in compiled code."""
    signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("part", [0, 1])
def test_an_interrupt_between_two_parts_of_a_compilation(part, tmp_path, monkeypatch):
    """Recording a long mechanism takes seconds; Ctrl-C comes out of it, and nothing stays half done.

    The signal comes at the part, not at a time: machines differ, and warm ones have made all of it before any signal.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inside.forget_code(monkeypatch)  # that other tests have made
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    rod = system.add_body("rod", mass=1.37, inertia=(1.1, 2.3, 2.9))
    system.add_joint(rbdae.joints.Spherical(system.ground, rod, at_b=(0.7, 0.0, 0.2)))
    inside.before_compilation(monkeypatch, part, lambda: os.kill(os.getpid(), signal.SIGINT))
    problem = rbdae.formulate(system, "null-space")
    with pytest.raises(KeyboardInterrupt) as caught:
        rbdae.solve(problem, (0.0, 1.0), solver="rbdae:dopri5", projection=True)
    run = caught.value.solution  # "what code was it" compiled again, and the run was lost for that
    assert run.reason is Reason.KEYBOARD and len(run.t) == 0
    after = rbdae.solve(problem, (0.0, 1.0), solver="rbdae:dopri5", projection=True)
    assert after.success and after.t[-1] == 1.0


@pytest.mark.parametrize("solver", ["rbdae:dop853", "rbdae:energy-momentum"])
def test_own_loops_answer_within_little_processor_time(solver):
    """Seen: half a second and more. A loop pauses every 20 ms. The level is three times the 50 ms that are promised."""
    momentum = solver == "rbdae:energy-momentum"
    problem = rbdae.formulate(rbdae.models.heavy_top(), "hamiltonian" if momentum else "index-0")
    own: dict[str, Any] = {"step": 1e-4} if momentum else {"rtol": 1e-11, "atol": 1e-11}
    more = {**own, "solver": solver, "dense_output": False}
    rbdae.solve(problem, (0.0, 0.01), t_eval=[0.0, 0.01], **more)  # compiled before the clock runs
    limit = 0.1
    before = signal.signal(signal.SIGPROF, _as_ctrl_c)
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        began = time.process_time()
        with pytest.raises(KeyboardInterrupt):
            rbdae.solve(problem, (0.0, 1e5), t_eval=[0.0, 1e5], **more)
        assert time.process_time() - began - limit < 0.15
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


# ---------------------------------------------------------------- the process that is interrupted


def _problem(compiled: bool, kinds: Any) -> Any:
    """A toy, or a mechanism whose force is called by ctypes."""
    form = "index-0" if "ode" in kinds else "overdetermined"
    if not compiled:
        return toy.Pendulum(form)
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("b", mass=1.0, inertia=(1.0, 2.0, 2.5))

    def force(t: float, x: Any, out: Any) -> None:
        out[:] = 0.0
        out[0] = np.sin(20.0 * t)

    called = rbdae.forces.CalledBack(force, difference_step=1e-6)  # recorded, the run would end before the signal
    system.add_force(rbdae.forces.UserForce(body, called))
    return rbdae.formulate(system, form)


def _ended(solver: str, one: Any) -> dict[str, Any]:
    """What becomes of a run, long enough that the signal comes before its end."""
    try:
        solution = rbdae.solve(one, (0.0, 2000.0), solver=solver, rtol=1e-8, atol=1e-8)
    except KeyboardInterrupt as error:
        partial = getattr(error, "solution", None)  # none in the first instructions of solve
        if partial is None:
            return {"ended": "no solution"}
        good = partial.reason is Reason.KEYBOARD and np.isfinite(partial.y).all() and partial.y.shape[1] == one.n
        rising = not len(partial.t) or (partial.t[0] == 0.0 and (np.diff(partial.t) > 0.0).all())
        return {"ended": "interrupted", "good": bool(good and rising and len(partial.t) == len(partial.y))}
    except BaseException as error:
        return {"ended": f"{type(error).__name__}: {error}"}
    return {"ended": f"lost: {solution.message}"}


def main(names: str, runs: int) -> None:
    # what a shell starts in the background ignores Ctrl-C, and so do its children
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in names.split(","):
        problems = [_problem(compiled, cases.ALL_INFOS[name].kinds) for compiled in (False, True)]
        for one in problems:  # compiled before the clock runs
            rbdae.solve(one, (0.0, 0.01), solver=name)
        for k in range(runs):
            try:
                print(json.dumps({"solver": name}), flush=True)
                outcome = _ended(name, problems[k % 2])
            except KeyboardInterrupt:  # before the run, or after it
                outcome = {"ended": "outside"}
            print(json.dumps(outcome), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
