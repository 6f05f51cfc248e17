"""The square system of loops, by two orders of elimination; in large ones the cost is in proportion."""

from __future__ import annotations

from collections.abc import Iterable

import cases
import inside
import numpy as np
import pytest
from cases import close
from test_null_space import four_bar, triple_rocker

import rbdae
from rbdae.initial import formulate as formulating
from rbdae.joints import PointOnLine, Revolute

DENSE = 10**9
ROD = {"mass": 1.0, "inertia": (0.1, 1 / 12, 1 / 12), "center_of_mass": (0.5, 0.0, 0.0)}


def hanging(bays, full=()):
    """A ladder of hinges that hangs from its upper end: one degree of freedom a bay, rails and rungs of 1 m. Bays that
    are `full` are closed by a hinge, of which three equations follow from the others."""
    system = rbdae.System(gravity=(3.0, -9.81, 0.5))
    down = (0.5**0.5, 0.0, 0.0, -(0.5**0.5))
    tops = [(system.ground, (0.0, 0.0, 0.0)), (system.ground, (1.0, 0.0, 0.0))]
    for k in range(bays):
        rails = []
        for i, (body, point) in enumerate(tops):
            place = (float(i), -float(k), 0.0)
            rails.append(system.add_body(f"rail{k}.{i}", position=place, orientation=down, **ROD))
            system.add_joint(Revolute(body, rails[i], at_a=point))
        rung = system.add_body(f"rung{k}", position=(0.0, -k - 1.0, 0.0), **ROD)
        system.add_joint(Revolute(rails[0], rung, at_a=(1, 0, 0)))
        system.add_joint((Revolute if k in full else PointOnLine)(rails[1], rung, at_a=(1, 0, 0), at_b=(1, 0, 0)))
        tops = [(rung, (0.0, 0.0, 0.0)), (rung, (1.0, 0.0, 0.0))]
    return system


LOOPS = {
    "four-bar": four_bar,
    "driven": lambda: four_bar(driven=True),
    "spatial": cases.loop,
    "windows": lambda: rbdae.models.n_four_bar(2),
    "hanging": lambda: hanging(2),
}


def _formulated(monkeypatch, system, first, **choices):
    monkeypatch.setattr(formulating, "SPARSE_FROM", first)
    problem = cases.formulated(system, "null-space", consistent="project", **choices)
    assert problem.workspace.settings.sparse == (first != DENSE)
    return problem


def _at(problem, rng):
    """A state beside the manifold, and any rates."""
    return problem.y0 + 1e-2 * rng.standard_normal(problem.n), problem.yd0 + rng.standard_normal(problem.n)


def _turns(loops: Iterable[str]) -> list[tuple[str, str]]:
    """Loops with the velocities, which take turns but for those of "spatial"; all at night."""
    both = ("angular", "spatial")
    return [
        (loop, velocity)
        for k, loop in enumerate(loops)
        for velocity in (both if cases.NIGHTLY or loop == "spatial" else both[k % 2 :][:1])
    ]


@pytest.mark.parametrize("loop, velocity", _turns(LOOPS))
def test_selections_of_sparse_and_dense_matrices_are_equal(loop, velocity, monkeypatch):
    sparse, dense = (_formulated(monkeypatch, LOOPS[loop](), n, velocity=velocity, code="plain") for n in (0, DENSE))
    assert close(sparse.selection.velocities.S, dense.selection.velocities.S, 1e-12)
    assert close(sparse.selection.velocities.sizes, dense.selection.velocities.sizes, 1e-12)


@pytest.mark.parametrize("loop, velocity", _turns(LOOPS))
def test_the_order_of_a_problem_solves_as_the_one_that_always_serves(loop, velocity, rng):
    """On and off the manifold: recorded code has the first one, plain Python the other one."""
    code, plain = (
        cases.formulated(LOOPS[loop](), "null-space", consistent="project", velocity=velocity, code=code)
        for code in ("auto", "plain")
    )
    y, yd = _at(plain, rng)
    for t, found in ((0.0, plain.y0), (0.2, y)):
        assert close(code.rhs(t, found), plain.rhs(t, found), 1e-12)
        assert close(code.residual(t, found, yd), plain.residual(t, found, yd), 1e-12)
    assert code.callbacks.operations("residual").total < 3000


@pytest.mark.parametrize("loop, velocity", _turns(["four-bar", "spatial", "hanging"]))
def test_components_of_single_bodies_are_independent(loop, velocity, rng, monkeypatch):
    """S has one component a row, and T is not much larger than with the dense choice."""
    dense = _formulated(monkeypatch, LOOPS[loop](), DENSE, velocity=velocity, code="plain")
    monkeypatch.setattr(inside.velocity_selection, "MOST_DENSE", 0)
    sparse = _formulated(monkeypatch, LOOPS[loop](), 0, velocity=velocity, code="plain")
    chosen = sparse.selection.velocities
    assert (np.count_nonzero(chosen.S, axis=1) == 1).all()
    assert (chosen.sizes < 3.0 * dense.selection.velocities.sizes.max()).all()
    y, _ = _at(sparse, rng)
    w, T = inside.null_space(sparse, 0.1, y)
    metric = inside.velocity_metric(sparse)
    _, at_start = inside.null_space(sparse, 0.0, sparse.y0)
    assert close(metric.sizes(at_start), chosen.sizes, 1e-12)
    assert close(chosen.S @ T, np.eye(len(T.T)), 1e-13) and close(chosen.S @ w, y[sparse.layout.v], 1e-13)
    matrices = sparse.matrices(0.1, y, sparse=False)
    assert np.abs(matrices.G @ T).max() < 1e-13 * np.abs(T).max()
    assert _as_index_0(sparse, y)


def _as_index_0(problem, y):
    """The rates of positions and of nu are those of index 0, nudot = S wdot."""
    choices = {"consistent": "project", "velocity": problem.velocity, "code": "plain"}
    absolute = cases.formulated(problem.system, "index-0", **choices)
    w, _ = inside.null_space(problem, 0.0, y)
    state = absolute.y0.copy()
    state[absolute.layout.q], state[absolute.layout.v] = y[problem.layout.q], w
    wanted, found = absolute.rhs(0.0, state), problem.rhs(0.0, y)
    assert close(found[problem.layout.q], wanted[absolute.layout.q], 1e-12)
    assert close(found[problem.layout.v], problem.selection.velocities.S @ wanted[absolute.layout.v], 1e-11)
    return True


@pytest.mark.parametrize(
    "ladder, length, sparse",
    [
        pytest.param(ladder, length, sparse, id=f"{name}-{length}")
        for name, ladder, lengths in (("windows", rbdae.models.n_four_bar, (4, 12)), ("hanging", hanging, (2, 8)))
        for length, sparse in zip(lengths, (False, True), strict=True)
    ],
)
def test_ladders_of_any_length_move_as_by_index_0(ladder, length, sparse, rng):
    problem = cases.formulated(ladder(length), "null-space", consistent="project", code="plain")
    assert problem.workspace.settings.sparse == sparse
    y = problem.y0.copy()
    y[problem.layout.v] += 0.1 * rng.standard_normal(problem.layout.v.stop - problem.layout.v.start)
    assert _as_index_0(problem, y)
    w, T = inside.null_space(problem, 0.0, y)
    G = problem.matrices(0.0, y, sparse=True).G
    assert np.abs(G @ w).max() < 1e-13 * np.abs(w).max()
    assert np.abs(G @ T).max() < 1e-13 * np.abs(T).max()
    # the residual vanishes at these rates: T^T (M wdot - psi) = 0
    residual = problem.residual(0.0, y, problem.rhs(0.0, y))
    assert np.abs(residual).max() < 1e-9 * np.abs(problem.residual(0.0, y, 0.0 * y)).max()


@pytest.mark.parametrize("ladder", [rbdae.models.n_four_bar, hanging], ids=["windows", "hanging"])
def test_work_and_memory_are_in_proportion_to_the_length(ladder):
    """Multiplications a velocity, and numbers in memory: what they are for 16 windows they are for 40."""
    found = {}
    for length in (16, 40):
        problem = cases.formulated(ladder(length), "null-space", consistent="project", code="plain")
        n_v = inside.n_velocities(problem)
        factors, solution = inside.square_work(problem)
        memory, S = sum(x.nbytes for x in problem.workspace.arrays.values()), problem.selection.velocities.S.nbytes
        found[length] = (
            factors / n_v,
            solution / n_v,
            (memory - S) / n_v,
        )
    for few, many in zip(found[16], found[40], strict=True):
        assert many < 1.1 * few
    assert found[40][0] < 600 and found[40][1] < 200


END = 3.0 if cases.NIGHTLY else 1.3


@pytest.mark.parametrize("velocity", ["angular", "spatial"])
def test_a_run_selects_again_as_by_dense_elimination(velocity, monkeypatch):
    runs = []
    # the pattern of components changes with them: code of the model is that of a pattern
    for first, most in ((DENSE, 8), (0, 8), (0, 0)):
        monkeypatch.setattr(inside.velocity_selection, "MOST_DENSE", most)
        problem = _formulated(monkeypatch, triple_rocker(), first, velocity=velocity)
        runs.append(rbdae.solve(problem, (0, END), solver="rbdae:dop853", rtol=1e-9, atol=1e-9))
        assert runs[-1].success, runs[-1].message
    dense, sparse, components = runs
    assert sparse.stats.restarts == dense.stats.restarts > 0 and components.stats.restarts > 0
    assert sparse.stats.steps == dense.stats.steps and components.stats.steps < 1.3 * dense.stats.steps
    wanted, same, other = (run.problem_at(END).natural(run.t[-1], run.y[-1]) for run in runs)
    assert close(same, wanted, 1e-7) and close(other, wanted, 1e-5)


@pytest.mark.parametrize("most", [0, DENSE])
def test_dependent_rows_are_refused_by_name(most, monkeypatch):
    """Of a start at rest on the constraints, where nothing has been solved before."""
    monkeypatch.setattr(inside.velocity_selection, "MOST_DENSE", most)
    with pytest.raises(ValueError, match=r"redundant or singular at the start: joint '[a-z]+-\d+', equation"):
        rbdae.formulate(hanging(170, full=(100,)), "null-space")
