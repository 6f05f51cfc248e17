"""`solve`: wrong input, wrong pairings, missing packages, progress. The adapters' own tests are beside this file."""

from __future__ import annotations

import functools
import io
import logging
import subprocess
import sys
import threading
from collections import Counter

import cases
import numpy as np
import pytest
import toy

import rbdae
import rbdae.solving as solving
from rbdae.adapter import AbstractAdapter, Method, MissingSolver, Unsupported
from rbdae.solving import registry


def solve(problem=None, t_span=(0.0, 1.0), solver="scipy:RK45", **arguments):
    return solving.solve(problem or toy.Pendulum(), t_span, solver=solver, **arguments)


def test_a_name_like_none_gets_them_all():
    with pytest.raises(ValueError, match=r"there are .*scipy:RK45.*solve_dae:Radau"):
        solve(solver="qqq")
    with pytest.raises(TypeError, match=r"string"):
        solve(solver=45)
    with pytest.raises(ValueError, match=r"adapter 'scipi'; did you mean 'scipy'"):
        solving.adapter("scipi")


@pytest.mark.parametrize(
    "form, solver, message",
    [
        ("index-2", "scipy:RK45", r"'index-2' is a DAE of index 2, but scipy:RK45 takes ODE forms .*solve_dae:Radau"),
        ("overdetermined", "solve_dae:BDF", r"an overdetermined DAE of index 2, but .* index 1, 2, 3.*assimulo:ODASSL"),
        ("index-3", "sksundae:cvode", r"a DAE of index 3, but sksundae:cvode takes ODE forms"),
    ],
)
def test_a_senseless_pairing_lists_those_that_make_sense(form, solver, message):
    with pytest.raises(Unsupported, match=message):
        solve(toy.Pendulum(form), solver=solver)


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"t_span": (0.0, 0.0)}, ValueError, "two different times"),
        ({"t_span": (0.0, -1.0), "t_eval": [-1.0, -0.5]}, ValueError, "strictly decreasing, as t_span is"),
        ({"t_span": (0.5, 1.0)}, ValueError, "belongs to t = 0.0"),
        ({"atol": [1e-6, 1e-6]}, ValueError, r"shape \(6,\), got .* of shape \(2,\)"),
        ({"t_eval": [0.0, 2.0]}, ValueError, "outside of t_span"),
        ({"t_eval": [0.5, 0.5]}, ValueError, "strictly increasing"),
        ({"step": 0.1}, ValueError, "chooses its own steps"),
        ({"max_stp": 0.1}, Unsupported, "did you mean 'max_step'"),
    ],
)
def test_wrong_input_raises_at_once(arguments, error, message):
    with pytest.raises(error, match=message):
        solve(**arguments)


def test_something_that_is_no_problem_is_refused():
    with pytest.raises(TypeError, match=r"rbdae.formulate"):
        solving.solve(object(), (0.0, 1.0), solver="scipy:RK45")


def test_the_table_of_solvers_prints():
    table = solving.solvers()
    names = [s.name for s in table]
    assert len(names) == len(set(names)) >= 20
    text = str(table)
    assert all(name in text for name in names)
    rk45 = next(s for s in table if s.name == "scipy:RK45")
    assert rk45.available and rk45.version and rk45.one_step and rk45.takes == "ode"
    assert next(s for s in table if s.name == "solve_dae:Radau").takes == "ode, dae 1,2,3"
    for s in table:
        assert s.install and s.summary and s.kinds


class Absent(AbstractAdapter):
    """An adapter whose package does not exist."""

    package = "absent"
    install = "`pip install absent`"
    methods = (Method("fast", frozenset({"ode"}), summary="is not there"),)

    def version(self):
        return None

    def native(self, problem, method, **options):
        raise AssertionError

    def run(self, problem, method, request):
        raise AssertionError


def _add_adapters(monkeypatch, adapters):
    """Further adapters by name, as if distributions had brought them."""
    sources = registry._installed() | {name: lambda name=name: adapters[name] for name in adapters}
    monkeypatch.setattr(registry, "_installed", lambda: sources)
    monkeypatch.setattr(registry, "_load", functools.cache(registry._load.__wrapped__))


def test_a_missing_package_comes_with_its_install_command(monkeypatch):
    _add_adapters(monkeypatch, {"absent": Absent()})
    with pytest.raises(MissingSolver, match=r"'absent:fast' needs absent, which is missing: run `pip install absent`"):
        solve(solver="absent:fast")
    info = next(s for s in solving.solvers() if s.package == "absent")
    assert not info.available
    assert "absent is missing: run `pip install absent`" in str(solving.solvers())


def test_progress_calls_back_with_the_time_of_each_step():
    times = []
    solution = solve(progress=times.append)
    assert times == list(solution.t[1:])


def test_warnings_of_a_package_reach_the_user():
    with pytest.warns(UserWarning, match="rtol"):
        assert solve(rtol=1e-15, atol=1e-6).success


@pytest.mark.parametrize(
    "solver",
    [
        *("scipy:RK45", "solve_dae:Radau", "sksundae:ida", "scikits.odes:ddaspk", "assimulo:Radau5DAE"),
        *("sundials:ida", "rbdae:dopri5"),
    ],
)
def test_a_run_swallows_nothing_that_others_print(solver, capfd, monkeypatch):
    """Seen: 77 of 82 lines of another thread's log were lost, and what a law prints, and a debugger's prompt."""
    cases.need(solver)
    log = logging.Logger("beside the run")
    log.addHandler(logging.StreamHandler(sys.stderr))
    monkeypatch.setattr(sys, "stdin", io.StringIO("c\n" * 5))
    calls = {"law": 0, "event": 0}

    def law(t, y):
        calls["law"] += 1
        print("printed by the law")
        return 1.0

    def event(t, y):
        calls["event"] += 1
        if calls["event"] <= 3:
            thread = threading.Thread(target=log.error, args=("logged by a thread",))
            thread.start()
            thread.join()
            subprocess.run(["echo", "printed by a child"], check=True)
            input("a prompt\n")
        print("printed by the event")
        return 1.0

    before = sys.stdout, sys.stderr
    problem = toy.Pendulum("index-0", trouble=law)
    assert rbdae.solve(problem, (0.0, 0.1), solver=solver, rtol=1e-4, atol=1e-4, events=[event]).success
    assert (sys.stdout, sys.stderr) == before
    out, err = (Counter(text.splitlines()) for text in capfd.readouterr())
    assert calls["event"] >= 3
    assert err == {"logged by a thread": 3}
    assert out == {
        "printed by the law": calls["law"],
        "printed by the event": calls["event"],
        "printed by a child": 3,
        "a prompt": 3,
    }


def test_method_is_another_name_of_solver():
    problem = toy.Pendulum()
    run = rbdae.solve(problem, (0.0, 0.1), method="scipy:RK45")
    assert run.solver == "scipy:RK45" and "no solver was named" not in run.message
    assert np.array_equal(run.y, rbdae.solve(problem, (0.0, 0.1), solver="scipy:RK45").y)
    with pytest.raises(TypeError, match=r"'scipy:RK45' and 'scipy:RK23'"):
        rbdae.solve(problem, (0.0, 0.1), method="scipy:RK45", solver="scipy:RK23")
