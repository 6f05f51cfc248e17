"""Threads, each with a problem of its own: every run is the same, bit for bit, as alone."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cases
import numpy as np
import pytest
import toy
from cases import count

import rbdae

SOLVERS = [info for info in cases.INFOS.values() if info.available]
THREADS = 4


@pytest.fixture(autouse=True)
def eager() -> Iterator[None]:
    """Threads change as often as they can: between the calls of compiled code into Python, above all."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def together(work: Callable[[int], Any]) -> list[Any]:
    """The results of work(0), work(1), ..., each in a thread of its own, begun at once."""
    barrier = threading.Barrier(THREADS)

    def begin(k: int) -> Any:
        barrier.wait(60.0)
        return work(k)

    with ThreadPoolExecutor(THREADS) as pool:
        return list(pool.map(begin, range(THREADS)))


def forms(solver: Any) -> list[str]:
    problems = [toy.Pendulum(form) for form in ("index-1", "index-0", "overdetermined")]
    return [p.formulation for p in problems if p.kind in solver.kinds and (p.kind != "dae" or 1 in solver.indices)]


def run(solver: Any, k: int) -> rbdae.Solution:
    """A short run with dense output, different for each k."""
    takes = forms(solver)
    problem = toy.Pendulum(takes[k % len(takes)], angle=0.3 + 0.1 * k)
    times = np.linspace(0.0, 0.4, 23) if k % 4 else None
    projection = toy.Options() if k % 4 == 2 else None
    return rbdae.solve(
        problem, (0.0, 0.4), solver=solver.name, rtol=1e-6, atol=1e-6, t_eval=times, projection=projection
    )


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_runs_of_one_solver_in_threads_are_those_alone(solver):
    alone = [run(solver, k) for k in range(THREADS)]
    found = together(lambda k: run(solver, k))
    for mine, wanted in zip(found, alone, strict=True):
        assert mine.reason is wanted.reason, mine.message
        assert np.array_equal(mine.t, wanted.t) and np.array_equal(mine.y, wanted.y), solver.name
        assert mine.stats.steps == wanted.stats.steps and mine.stats.evaluations == wanted.stats.evaluations


@pytest.mark.sampled
def test_solvers_in_threads_are_those_alone(rng):
    chosen = [SOLVERS[k] for k in rng.permutation(len(SOLVERS))[: count(10, len(SOLVERS))]]
    alone = [run(solver, k) for k, solver in enumerate(chosen)]

    def work(thread: int) -> list[int]:
        order = np.random.default_rng(thread).permutation(len(chosen))
        return [int(k) for k in order if not np.array_equal(run(chosen[k], int(k)).y, alone[k].y)]

    assert together(work) == [[]] * THREADS


def nested(outer: Any, inner: Any) -> rbdae.Solution:
    """A run in whose right-hand side another run is made now and then."""
    calls = 0

    def trouble(t: float, y: Any) -> float:
        nonlocal calls
        calls += 1
        if calls % 17 == 5:
            assert run(inner, 1).success
        return 1.0

    problem = toy.Pendulum(forms(outer)[0], trouble=trouble)
    return rbdae.solve(problem, (0.0, 0.2), solver=outer.name, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_a_run_inside_a_run_changes_nothing_or_is_refused(solver):
    if solver.threads == "one at a time":
        with pytest.raises(RuntimeError, match=f"{solver.name} keeps its state in static memory .* another solver"):
            nested(solver, solver)
        inner = cases.INFOS["scipy:RK45"]
    else:
        inner = solver
    problem = toy.Pendulum(forms(solver)[0], trouble=lambda t, y: 1.0)
    wanted = rbdae.solve(problem, (0.0, 0.2), solver=solver.name, rtol=1e-4, atol=1e-4)
    assert np.array_equal(nested(solver, inner).y, wanted.y)


def test_runs_that_wait_for_each_other_are_refused():
    """Two solvers that run one at a time, each inside the other."""
    one, other = (cases.INFOS[name] for name in ("assimulo:Dopri5", "scipy:LSODA"))
    cases.need(one.name)
    both = threading.Barrier(2)

    def work(k: int) -> str:
        outer, inner = ((one, other), (other, one))[k]
        met = []

        def trouble(t: float, y: Any) -> float:
            if not met:
                met.append(both.wait(60.0))
                assert run(inner, 1).success
            return 1.0

        try:
            assert rbdae.solve(toy.Pendulum(trouble=trouble), (0.0, 0.1), solver=outer.name).success
        except RuntimeError as error:
            return str(error)
        return "ran"

    with ThreadPoolExecutor(2) as pool:
        said = [*pool.map(work, range(2))]
    assert any("static memory" in each for each in said)
    assert all(each == "ran" or "static memory" in each for each in said)


class Mine(Exception):
    """The exception of one thread."""


def forced(k: int, at: float) -> rbdae.Problem:
    """A body with a Python force, which raises from a time on."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("b", mass=1.0, inertia=(1.0, 2.0, 2.5))

    def force(t: float, x: Any, out: Any) -> None:
        if t > at:
            raise Mine(k)
        out[:] = 0.0

    system.add_force(rbdae.forces.UserForce(body, force))
    return rbdae.formulate(system, "index-0")


@pytest.mark.parametrize("solver", ["scipy:DOP853", "sksundae:cvode", "assimulo:LSODAR"])
def test_an_exception_belongs_to_the_run_that_made_it(solver):
    cases.need(solver)

    def work(k: int) -> Any:
        try:
            return rbdae.solve(forced(k, 0.2 if k % 2 else np.inf), (0.0, 0.5), solver=solver).success
        except Mine as error:
            return error.args[0]

    assert together(work) == [k if k % 2 else True for k in range(THREADS)]
