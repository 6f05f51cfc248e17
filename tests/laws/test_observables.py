"""Every public attribute of a problem, a solution and of what they give has a law that holds it to a value that does
not come from it: `observables.TABLES` names the test.

A new attribute fails here by its name until it has an entry; an entry whose attribute or test is gone, or whose test
does not read the attribute, fails too.
"""

from __future__ import annotations

import ast
import inspect
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import test_along_runs as runs
import toy_observable
from observables import TABLES

import rbdae

LAWS = Path(__file__).parent

FUNCTIONS = {"rbdae", "rbdae_papers", "table"}
"""Tables of functions and lines, not of classes."""

THROUGH = {
    "Problem": {
        "again",
        "by_time",
        "each",
        "interpretation",
        "of",
        "resumed_with_inputs",
        "with_selection",
        "workspace",
    },
    "Callbacks": {"steps", "work_of_steps"},
    "Projector": {"problem", "reach", "projection"},
    "table": {"kinetic_energy", "lagrangian", "load", "selected"},
}
"""What the library, or a helper, reads for the test."""


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


def test_no_class_is_left_out():
    assert set(_observed()) == set(TABLES) - FUNCTIONS


@pytest.mark.parametrize("name", [name for name in TABLES if name not in FUNCTIONS])
def test_every_observable_has_an_entry(name):
    """By introspection of the class, its fields and of an object."""
    thing = _observed()[name]  # dir(problem) hides what only runs and adapters use
    names = {*dir(thing), *object.__dir__(thing), *getattr(type(thing), "__dataclass_fields__", {})}
    public = {each for each in names if not each.startswith("_")} | ({"__call__"} if callable(thing) else set())
    without = public - set(TABLES[name])
    assert not without, f"{name}: {sorted(without)} have no entry in observables.LAWS: check them against something"
    gone = set(TABLES[name]) - public
    assert not gone, f"{name}: {sorted(gone)} are in observables.LAWS, but they are no attributes"


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
        assert set(TABLES["table"]) == set(rbdae.observables.TABLE), "enter what differs in observables.LAWS"


@cache
def _functions(file: str) -> dict[str, ast.AST]:
    """The functions and classes of a test's file."""
    text = (LAWS / f"{file}.py").read_text(encoding="utf-8")
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name: node for node in ast.parse(text).body if isinstance(node, kinds)}


def _reads(file: str, test: str) -> set[str]:
    """The attributes that a test, or what it calls of its file, reads, and the words that it has."""
    functions, seen, waiting, found = _functions(file), set[str](), [test], {"__call__"}
    while waiting:
        name = waiting.pop()
        seen.add(name)
        for node in ast.walk(functions[name]):
            if isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
            elif isinstance(node, ast.Name):
                found.add(node.id)
                if node.id in functions and node.id not in seen:
                    waiting.append(node.id)
    return found


@pytest.mark.parametrize("name", TABLES)
def test_the_laws_exist_and_read_the_attribute(name):
    wrong = []
    for attribute, law in TABLES[name].items():
        file, test = law.split("::")
        if test not in _functions(file):
            wrong.append(f"{name}.{attribute}: there is no {law}")
        elif attribute not in _reads(file, test) | THROUGH.get(name, set()):
            wrong.append(f"{name}.{attribute}: {law} does not read it")
    assert not wrong, "\n".join(wrong)
