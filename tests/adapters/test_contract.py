"""Laws of every adapter: it uses of a problem what the contract names, and reports plain numbers."""

from __future__ import annotations

import dataclasses
import importlib
import json
import tomllib
from pathlib import Path

import numpy as np
import pytest
import toy
from cases import need

import rbdae
import rbdae_adapters
from rbdae import solving
from rbdae.adapter import Request, Unsupported
from rbdae.problem.contract import CompiledCallbacks, Solvable, SolvableCallbacks, StateProjector

PYPROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
ENTRY_POINTS = PYPROJECT["project"]["entry-points"]["rbdae.adapters"]
SOLVERS = rbdae.solvers()


def names_of(protocol):
    """What a protocol asks for."""
    return {name for name in vars(protocol) if not name.startswith("_")}


class Only:
    """An object of which only some names can be used, and none set."""

    def __init__(self, inner, protocol, **instead):
        self.__dict__.update(_inner=inner, _protocol=protocol, _instead=instead)

    def __getattr__(self, name):
        if name not in names_of(self._protocol):
            if name in names_of(CompiledCallbacks):  # which a problem need not have
                raise AttributeError(name)
            raise AssertionError(f"{name!r} is not in {self._protocol.__name__}")
        return self._instead.get(name) or getattr(self._inner, name)

    def __setattr__(self, name, value):
        raise AssertionError(f"{name!r} was set")

    def __call__(self, *arguments):  # a projector
        return self._inner(*arguments)


def pendulum(solver):
    """The toy in the first form that the solver takes."""
    forms = [toy.Pendulum(form) for form in ("index-2", "index-0", "overdetermined")]
    found = next(p for p in forms if p.kind in solver.kinds and (p.kind != "dae" or p.index in solver.indices))
    return found, Only(found, Solvable, callbacks=Only(found.callbacks, SolvableCallbacks))


def available(solver):
    need(solver.name)
    return solving.find_method(solver.name)


def test_the_toy_has_everything_that_the_contract_asks_for():
    problem = toy.Pendulum()
    for thing, protocol in (
        (problem, Solvable),
        (problem.callbacks, SolvableCallbacks),
        (toy.Projector(problem), StateProjector),
    ):
        missing = [name for name in names_of(protocol) if not hasattr(thing, name)]
        assert not missing, (protocol.__name__, missing)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
@pytest.mark.parametrize("projected", [False, True])
def test_an_adapter_uses_of_a_problem_what_the_contract_names(solver, projected):
    adapter, method = available(solver)
    problem, restricted = pendulum(solver)
    before = problem.y0.copy(), problem.yd0.copy()
    projector = Only(toy.Projector(problem), StateProjector) if projected else None
    step = 1e-3 if method.fixed_step else None
    request = Request(0.0, 0.2, np.linspace(0.0, 0.2, 5), 1e-6, 1e-6, step=step, projector=projector)
    if method.pairings:  # made for forms of rbdae.formulate alone
        with pytest.raises(Unsupported, match=r"rbdae\.formulate|leave out projection"):
            adapter.run(restricted, method, request)
        return
    outcome = adapter.run(restricted, method, request)
    assert outcome.t[-1] == 0.2, outcome
    assert np.array_equal(problem.y0, before[0]) and np.array_equal(problem.yd0, before[1])
    for name, value in dataclasses.asdict(outcome.stats).items():
        assert type(value) is {"seconds": float, "wall_seconds": float, "code": str}.get(name, int), (name, type(value))
    json.dumps(dataclasses.asdict(outcome.stats))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: s.name)
def test_so_do_native_objects(solver):
    adapter, method = available(solver)
    _, restricted = pendulum(solver)
    if method.pairings:
        with pytest.raises(Unsupported, match=r"rbdae\.formulate"):
            adapter.native(restricted, method.name)
        return
    assert adapter.native(restricted, method.name) is not None


def test_the_registry_is_that_of_the_distribution():
    assert {name: f"{module}:ADAPTER" for name, module in rbdae_adapters.ADAPTERS.items()} == ENTRY_POINTS
    for name, module in rbdae_adapters.ADAPTERS.items():
        assert importlib.import_module(module).ADAPTER.package == name
