"""What is not a number is refused before a run, or ends it with `Reason.NOT_FINITE`: no solver hangs, raises, or hands
back states that are not finite."""

from __future__ import annotations

import faulthandler
from collections.abc import Callable, Iterator
from functools import cache
from types import SimpleNamespace
from typing import Any

import cases
import numpy as np
import pytest
import toy

import rbdae
from rbdae.adapter import Reason

pytestmark = pytest.mark.filterwarnings("ignore:invalid value encountered:RuntimeWarning")  # in the toy, by NumPy

SOLVERS = list(cases.INFOS.values())
MOST = 20_000
"""Calls of one function after which a run counts as one that hangs."""


@pytest.fixture(autouse=True)
def watchdog() -> Iterator[None]:
    """A solver that hangs without calling back ends the process, and says where."""
    faulthandler.dump_traceback_later(120.0, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def limited(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which fails when it is called without end."""
    calls = 0

    def called(*arguments: Any) -> Any:
        nonlocal calls
        calls += 1
        assert calls < MOST, "the run does not end"
        return function(*arguments)

    return called


def forms(solver: Any) -> list[str]:
    """The forms of the toy that a solver takes, the natural one first."""
    problems = [toy.Pendulum(form) for form in ("index-2", "index-0", "overdetermined", "index-3", "index-1")]
    return [
        p.formulation
        for p in problems
        if p.kind in solver.kinds and (p.kind != "dae" or p.index in solver.indices) and solver.available
    ]


def run(problem: toy.Pendulum, solver: Any, **more: Any) -> rbdae.Solution:
    before = np.geterr()
    solution = rbdae.solve(problem, (0.0, 1.0), solver=solver.name, rtol=1e-5, atol=1e-5, **more)
    assert np.geterr() == before
    return solution


def is_partial(solution: rbdae.Solution, first: float, last: float) -> None:
    """What a run that came upon no number hands back."""
    assert solution.reason is Reason.NOT_FINITE, solution.message
    assert not solution.success and ("finite" in solution.message or "nan" in solution.message)
    assert len(solution.t) and first <= solution.t[-1] <= last + 1e-9, solution.message
    assert np.isfinite(solution.y).all()


PAIRS = [(solver, form) for solver in SOLVERS for form in forms(solver)]
FIRST = [(solver, forms(solver)[0]) for solver in SOLVERS if solver.available]


def ids(pairs: list[tuple[Any, str]]) -> list[str]:
    return [f"{solver.name}-{form}" for solver, form in pairs]


@pytest.mark.parametrize("solver, form", PAIRS, ids=ids(PAIRS))
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_force_that_is_not_finite_from_a_time_on(solver, form, value, capfd):
    """The run has what came before; a package says no more than this when it fails on its way."""
    for first in (0.0, 0.5):
        trouble = limited(lambda t, y, first=first: value if t >= first else 1.0)
        solution = run(toy.Pendulum(form, trouble=trouble), solver)
        is_partial(solution, 0.4 * first, first)
        assert f"t = {solution.t[-1]:.9g}" in solution.message
        out, err = capfd.readouterr()
    assert all(line.startswith("[") for line in filter(None, out.splitlines()))  # IDA's and CVODE's own
    assert all(line.startswith(("capi_return is NULL", "Call-back cb_")) for line in err.splitlines())  # f2py's own


def picky(t: float, y: Any) -> float:
    """Solvers ask for values at states that are no numbers: that is not the user's exception."""
    if not np.isfinite(y).all():
        raise ValueError("math domain error")
    return np.nan if t >= 0.5 else 1.0


class Lost(toy.Projector):
    """A projection that is not a number from a time on."""

    def __call__(self, t: float, y: Any) -> bool:
        y[0] = np.nan if t > 0.5 else y[0]
        return t > 0.5


@pytest.mark.parametrize("solver, form", FIRST, ids=ids(FIRST))
def test_an_event_a_projection_and_a_force_that_are_not_numbers(solver, form):
    is_partial(run(toy.Pendulum(form, trouble=limited(picky)), solver), 0.2, 0.5)
    is_partial(run(toy.Pendulum(form), solver, projection=SimpleNamespace(bind=Lost)), 0.2, 0.5)
    solution = run(toy.Pendulum(form), solver, events=lambda t, y: np.nan if t > 0.5 else 1.0)
    is_partial(solution, 0.2, 0.5)
    assert "event" in solution.message and "nan" in solution.message
    assert run(toy.Pendulum(form), solver, events=lambda t, y: np.nan).t[-1] == 0.0
    assert run(toy.Pendulum(form), solver, events=lambda t, y: np.inf).success  # it has a sign


@pytest.mark.parametrize("solver, form", FIRST, ids=ids(FIRST))
def test_a_jacobian_that_is_not_finite(solver, form):
    problem = toy.Pendulum(form)

    @limited
    def nothing(t: float, *rest: Any) -> None:
        rest[-1][:] = np.nan

    problem.callbacks.jacobian = problem.callbacks.jacobian_data = problem.callbacks.rhs_jacobian = nothing
    solution = run(problem, solver)
    assert np.isfinite(solution.y).all()
    if not solution.success:  # explicit methods, and those that take differences, do not ask for one
        is_partial(solution, 0.0, 1.0)


def body(**changes: Any) -> tuple[rbdae.System, rbdae.Body]:
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    return system, system.add_body("b", **({"mass": 1.0, "inertia": (1.0, 2.0, 2.5)} | changes))


REFUSED = {
    "a mass of 1e308": (lambda: body(mass=1e308)[0], "the rate of b.vz is -inf"),
    "a spin of 1e200": (lambda: body(angular_velocity=(1e200, 2e200, 0))[0], "the rate of b.Omega1 is nan"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("formulation", ["index-0", "index-2"])
def test_formulate_refuses_a_start_that_is_not_finite(case, formulation):
    system, message = REFUSED[case]
    message = message if formulation == "index-0" else "is (nan|-inf)"
    with pytest.raises(ValueError, match=f"{message} at t0 = 0.*; check masses, inertias.* laws of forces"):
        rbdae.formulate(system(), formulation)


class Gust:
    """A push along x of size 1 that is no number a few times from half a second on."""

    def __init__(self) -> None:
        self.left = 0

    def __call__(self, t: float, x: Any, out: Any) -> None:
        out[:] = 0.0
        out[0] = 1.0
        if t >= 0.5 and self.left > 0:
            self.left -= 1
            out[0] = np.nan


def no_slope(t: float, x: Any, out: Any) -> None:
    out[:] = 0.0


@cache
def gusty(code: str) -> tuple[rbdae.Problem, Gust]:
    """A free body; nothing depends on where it is, so that a nan there shows in no value of traced code."""
    gust = Gust()
    system, b = body()
    system.add_force(rbdae.forces.UserForce(b, gust, no_slope))
    return cases.formulated(system, "index-0", code=code), gust


@pytest.mark.parametrize("code", ["plain", "auto"])
@pytest.mark.parametrize("solver", [s.name for s in SOLVERS if s.available])
def test_a_force_that_is_not_a_number_once_or_for_good(solver, code):
    """With either code a run is right or says that it is not finite, though traced code passes on fewer of the nans."""
    problem, gust = gusty(code)
    for times in (1, MOST):
        gust.left = times
        solution = rbdae.solve(problem, (0.0, 1.0), solver=solver, rtol=1e-5, atol=1e-5)
        if times == 1 and solution.success:
            assert np.isfinite(solution.y).all()
            # 4e-6 by scipy:BDF
            assert abs(solution.y[-1, problem.layout.q.start] - 0.5) < 2e-5
        else:
            is_partial(solution, 0.0, 0.5)
        assert gust.left > 0 or times == 1, "the run does not end"


@pytest.mark.parametrize("form", ["null-space", "index-0", "hamiltonian-eliminated"])
def test_where_a_step_has_gone_astray_python_raises_no_more_than_machine_code(form):
    """Python's floats raise where they divide by zero: a run of a chain of 1,000 links ended with that."""
    problem = cases.formulated(rbdae.models.chain(3, planar=True), form, code="plain")
    for factor in (0.0, 1e14, 1e160):
        with np.errstate(all="ignore"):
            assert not np.isfinite(problem.rhs(0.0, factor * problem.y0)).all()
