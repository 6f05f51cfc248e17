"""Every public attribute of a problem, a solution and of what they give is held to a value that does not come from it.

`observables.TABLES` has those of `rbdae.Problem`, its callbacks, `rbdae.Solution` and `rbdae.Assembly` with their
checks, which run over formulations, charts, velocities and mechanisms. `LAWS` names the test of each attribute of what
these give. A new attribute, formulation, chart or velocity fails here by its name until it has an entry; an entry whose
attribute or test is gone, or whose test does not read the attribute, fails too.
"""

from __future__ import annotations

import ast
import inspect
import traceback
from functools import cache
from pathlib import Path
from typing import Any

import cases
import numpy as np
import observed
import pytest
import readings
import test_along_runs as runs
import toy_observable
from observables import TABLES, Elsewhere, checks

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

CASES = observed.chosen()

TESTS = Path(__file__).parents[1]

DENSE, ALONG, SWITCHES = "test_dense_output", "test_along_runs", "test_switches"
EQUATIONS = f"{ALONG}::test_equations_along_a_run"
CODE = "test_traced_fallback::test_statistics_say_which_code_ran"
COUNTS = f"{ALONG}::test_counts_are_those_of_the_calls"
NEAR = "test_loops_in_machine_code"
PROJECTIONS = f"{ALONG}::test_projections_report_what_they_did"
LAWS: dict[str, dict[str, str]] = {
    "Stats": {
        "evaluations": COUNTS,
        "factorisations": COUNTS,
        "jacobians": COUNTS,
        "projections": PROJECTIONS,
        "rejected": COUNTS,
        "code": CODE,
        "handed_over": CODE,
        "restarts": f"{SWITCHES}::test_one_run_selects_rows_and_velocities",
        "seconds": COUNTS,
        "wall_seconds": COUNTS,
        "steps": COUNTS,
    },
    "EventLog": dict.fromkeys(("t", "y"), f"{ALONG}::test_events_across_changes_of_selection"),
    "Steps": dict.fromkeys(("t", "y"), f"{DENSE}::test_output_times_change_nothing"),
    "Projector": {
        "count": PROJECTIONS,
        "drift": PROJECTIONS,
        "iterations": PROJECTIONS,
        "largest": PROJECTIONS,
        "machine": f"{NEAR}::test_other_projections_come_back_to_python",
        "problem": PROJECTIONS,
        "projection": PROJECTIONS,
        "reach": "test_drift::test_restarts_do_not_depend_on_the_size_of_velocities",
        "restart_tolerance": PROJECTIONS,
        "skipped": PROJECTIONS,
        "total": PROJECTIONS,
    },
}

# read by the library for the test
THROUGH = {
    ("Steps", "t"): "solution(t) of a run with t_eval",
    ("Steps", "y"): "the same",
    ("Projector", "problem"): "what it was bound to",
    ("Projector", "reach"): "the drift beyond which adapters restart",
    ("Projector", "projection"): "what it was bound from",
}


FUNCTIONS = {"rbdae", "rbdae_papers", "table"}
"""Tables of functions and lines, not of classes."""


@cache
def _observed() -> dict[str, Any]:
    """One object of each class."""
    run = runs.switched()
    problem = run.problem
    assert problem is not None
    sparse = rbdae.solve(problem, (0.0, 0.1), solver="scipy:DOP853", t_eval=[0.1])
    found = [problem, run, run.stats, run.energy, run.momentum, run.drift, run.dense, run.events[0], sparse.steps]
    found += [problem.energy(0.0, problem.y0), problem.constraints(0.0, problem.y0), problem.matrices(0.0, problem.y0)]
    found += [next(iter(run.states.values())), next(iter(next(iter(run.reactions.values())).values()))]
    found += [problem.callbacks, rbdae.Projection().bind(problem), problem.assembly]
    return {type(thing).__name__: thing for thing in found}


def _public(name: str) -> set[str]:
    value = _observed()[name]  # dir(problem) hides what only runs and adapters use
    return {each for each in {*dir(value), *object.__dir__(value)} if not each.startswith("_")}


def test_no_class_is_left_out():
    assert set(_observed()) == set(LAWS) | set(TABLES) - FUNCTIONS


@pytest.mark.parametrize("name", LAWS)
def test_every_attribute_has_a_law(name):
    without = _public(name) - set(LAWS[name])
    assert not without, f"{name}: {sorted(without)} have no law: write one along a run, and enter its test in LAWS"
    gone = set(LAWS[name]) - _public(name)
    assert not gone, f"{name}: {sorted(gone)} are in LAWS, but they are no attributes"


# ---------------------------------------------------------------- problems and solutions, in every form


@pytest.mark.parametrize("name", [name for name in TABLES if name not in FUNCTIONS])
def test_every_observable_has_an_entry(name):
    """By introspection of the class, its fields and of an object."""
    thing = _observed()[name]
    public = _public(name) | {field for field in getattr(type(thing), "__dataclass_fields__", {}) if field[0] != "_"}
    public |= {"__call__"} if callable(thing) else set()
    without = public - set(TABLES[name])
    assert not without, f"{name}: {sorted(without)} have no entry in observables.TABLES: check them against something"
    gone = set(TABLES[name]) - public
    assert not gone, f"{name}: {sorted(gone)} are in observables.TABLES, but they are no attributes"
    for attribute, entry in TABLES[name].items():
        if isinstance(entry, Elsewhere):
            file, _, test = entry.law.partition("::")
            assert test in _functions(file), f"{name}.{attribute}: there is no {entry.law}"


def test_every_function_of_a_state_has_an_entry():
    """Functions of the package that take a problem, but for those that solve and plot."""
    taking = {
        name
        for name in rbdae.__all__
        if inspect.isfunction(getattr(rbdae, name)) and "problem" in inspect.signature(getattr(rbdae, name)).parameters
    }
    assert taking - {"solve", "load"} == set(TABLES["rbdae"])


def test_every_line_of_the_table_has_an_entry():
    with toy_observable.registered():
        without = set(rbdae.observables.TABLE) - set(TABLES["table"])
        assert not without, f"{sorted(without)} have no entry in observables.LINES: check them against something"
        assert set(TABLES["table"]) == set(rbdae.observables.TABLE)


def test_every_form_chart_and_velocity_can_be_observed():
    """A new one fails by its name."""
    assert set(observed.FORMS) == set(FORMULATIONS), set(observed.FORMS) ^ set(FORMULATIONS)
    assert set(cases.CHART_CASES) == set(CHARTS), set(cases.CHART_CASES) ^ set(CHARTS)
    velocities = {p.velocity for p in cases.ALL_PAIRINGS}
    assert set(readings.VELOCITIES) == velocities, set(readings.VELOCITIES) ^ velocities
    chosen = [case.pairing for case in CASES]
    for k, values in enumerate((FORMULATIONS, CHARTS, velocities)):
        assert {pairing[k] for pairing in chosen} == set(values), set(values) - {pairing[k] for pairing in chosen}


@pytest.mark.parametrize("name", observed.SYSTEMS)
def test_the_reference_moves_as_newton_and_euler_say(name):
    """Accelerations by differences of the reference; nothing of the library is in those that they are compared with."""
    found = observed.reference(name)
    t, h = observed.TIMES[2], 1e-3
    around = [observed.state_of(name, t + k * h) for k in (-2, -1, 1, 2)]

    def rate(what):
        values = [getattr(s, what)[:-1] for s in around]
        return ((values[0] - values[3]) + 8.0 * (values[2] - values[1])) / (12.0 * h)

    for what, wanted in (("v", found.solved[2].acceleration), ("Omega", found.solved[2].angular_acceleration)):
        assert np.abs(rate(what) - wanted).max() < 1e-7 * np.abs(wanted).max()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_observable_is_what_it_says(case):
    """All entries of the tables, in one form."""
    wrong = []
    for check, names in checks().items():
        try:
            check(case)
        except (AssertionError, ArithmeticError, LookupError, TypeError, ValueError) as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            line = next((f for f in traceback.extract_tb(error.__traceback__)[::-1] if f.name == check.__name__), where)
            wrong.append(f"{', '.join(names)}: {type(error).__name__} {error} (line {line.lineno}: {line.line})")
    assert not wrong, "\n".join(wrong)


@cache
def _functions(file: str) -> dict[str, ast.AST]:
    """The functions and classes of a test's file."""
    text = (TESTS / "laws" / f"{file}.py").read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in ast.parse(text).body if isinstance(node, kinds)}


def _reads(file: str, test: str, attribute: str) -> bool:
    """Whether a test, or a helper of its file that it calls, reads an attribute of this name."""
    functions, seen, waiting = _functions(file), set[str](), [test]
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Attribute) and node.attr == attribute:
                return True
            if isinstance(node, ast.Name) and node.id in functions and node.id not in seen:
                waiting.append(node.id)
    return False


@pytest.mark.parametrize("name", LAWS)
def test_the_laws_exist_and_read_the_attribute(name):
    wrong = []
    for attribute, law in LAWS[name].items():
        file, test = law.split("::")
        if test not in _functions(file):
            wrong.append(f"{name}.{attribute}: there is no {test} in {file}.py")
        elif (name, attribute) not in THROUGH and not _reads(file, test, attribute):
            wrong.append(f"{name}.{attribute}: {law} does not read it")
    assert not wrong, "\n".join(wrong)


def test_what_is_read_by_the_library_is_an_attribute():
    assert all(attribute in LAWS[name] for name, attribute in THROUGH)
