"""Every public evaluation is a pure function of its arguments: in any order, repeated, between evaluations of another
problem and after a run it gives the same bits. (A torsional spring with a stiffness counts turns; it is not here.)"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

import cases
import numpy as np
import pytest
from cases import Pairing
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.formulations import FORMULATIONS

SOLVERS = {"ode": "scipy:DOP853", "dae": "sksundae:ida", "overdetermined": "assimulo:ODASSL"}
LOOPS = ("null-space", "null-space-overdetermined", "index-0", "index-3", "ggl")
REDUNDANT = ("baumgarte-ode", "index-1", "overdetermined")


def _pairings() -> list[Pairing]:
    """Every formulation once, its charts and velocities in turn."""
    out = []
    for k, formulation in enumerate(FORMULATIONS):
        mine = [p for p in cases.PAIRINGS if p.formulation == formulation]
        out.append(mine[k % len(mine)])
    return out


PAIRINGS = _pairings()


def _problem(pairing: Pairing) -> rbdae.Problem:
    """A new one, with working memory of its own."""
    if pairing.formulation in REDUNDANT:
        return cases.formulate(cases.turning_four_bar("redundant"), pairing, redundant="minimum-norm")
    return cases.formulate(cases.built("loop" if pairing.formulation in LOOPS else "C"), pairing)


def _evaluations(problem: rbdae.Problem, rng: np.random.Generator) -> dict[str, Callable[[], Any]]:
    """All of them at one state near the start, of which the arrays must stay as they are."""
    t = problem.t0
    y, yd = problem.y0 + 1e-3 * rng.standard_normal(problem.n), problem.yd0 + rng.standard_normal(problem.n)
    y.flags.writeable = yd.flags.writeable = False
    out: dict[str, Callable[[], Any]] = {
        "residual": lambda: problem.residual(t, y, yd),
        "jacobian": lambda: problem.jacobian(t, y, yd, 3.0),
        "sparse_jacobian": lambda: problem.sparse_jacobian(t, y, yd, 3.0).toarray(),
        "constraints": lambda: problem.constraints(t, y),
        "states": lambda: problem.states(t, y),
        "energy": lambda: problem.energy(t, y),
        "momentum": lambda: problem.momentum(t, y),
        "rates": lambda: problem.rates(t, y),
        "matrices": lambda: problem.matrices(t, y),
        "multipliers": lambda: problem.multipliers(t, y),
        "reactions": lambda: problem.reactions(t, y),
        "log_determinant": lambda: problem.log_determinant(t, y),
        "project": lambda: problem.project(t, y),
    }
    if problem.kind == "ode":
        out["rhs"] = lambda: problem.rhs(t, y)
        out["rhs_jacobian"] = lambda: problem.rhs_jacobian(t, y)
    return out


def _bits(value: Any) -> Any:
    """A value such that equal ones are equal to the last bit."""
    if isinstance(value, dict):
        return {key: _bits(part) for key, part in value.items()}
    if isinstance(value, tuple):
        return tuple(map(_bits, value))
    if is_dataclass(value):
        return {field.name: _bits(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Rotation):
        value = value.as_quat()
    array = np.asarray(value)
    return array.shape, str(array.dtype), array.tobytes()


def _check(calls: dict[str, Callable[[], Any]], wanted: dict[str, Any], name: str, after: str) -> None:
    assert _bits(calls[name]()) == wanted[name], f"{name} after {after}"


@cache
def _neighbour() -> dict[str, Callable[[], Any]]:
    """Evaluations of a problem that comes between."""
    return _evaluations(_problem(Pairing("index-0", "directors", "angular")), np.random.default_rng(0))


@pytest.mark.parametrize("pairing", PAIRINGS, ids=str)
def test_the_same_bits_in_any_order_and_after_a_run(pairing, rng):
    problem = _problem(pairing)
    seed = int(rng.integers(1 << 30))
    calls = _evaluations(problem, np.random.default_rng(seed))
    wanted = {name: _bits(call()) for name, call in calls.items()}
    others = _neighbour()
    before = "the first evaluation"
    for name in rng.permutation([*calls, *calls]):
        _check(calls, wanted, name, before)
        between = str(rng.choice([*others]))
        others[between]()
        before = f"{name}, and {between} of another problem"
    # another problem of the same system, asked in another order
    twin = _evaluations(_problem(pairing), np.random.default_rng(seed))
    for name in reversed(twin):
        _check(twin, wanted, name, "nothing but later ones")
    solver = SOLVERS[problem.kind]
    if not cases.INFOS[solver].available:
        return
    rbdae.solve(problem, (problem.t0, problem.t0 + 0.005), solver=solver, rtol=1e-4, atol=1e-4)
    for name in rng.permutation([*calls]):
        _check(calls, wanted, name, "a run")


def test_the_same_bits_in_threads_with_problems_of_their_own():
    pairing = Pairing("index-0", "quaternion", "angular")
    problems = [_evaluations(_problem(pairing), np.random.default_rng(1)) for _ in range(3)]
    wanted = {name: _bits(call()) for name, call in problems[0].items()}

    def ask(calls: dict[str, Callable[[], Any]]) -> list[str]:
        return [name for _ in range(3) for name, call in calls.items() if _bits(call()) != wanted[name]]

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(ask, problems)) == [[], [], []]
