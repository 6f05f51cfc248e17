"""Factors of sparse matrices: as nodes of a graph, in loops over tables, and as code of a model."""

from __future__ import annotations

import ctypes
from typing import Any

import cases
import inside
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inside import PIVOTS, Factors, Graph, elimination, graph_pivots

import rbdae


def sparse(seed: int, n: int, fill: float) -> dict[tuple[int, int], float]:
    """A random matrix that is not singular: a permutation, and further entries."""
    rng = np.random.default_rng(seed)
    out = {(int(i), int(j)): float(rng.normal()) for i, j in zip(range(n), rng.permutation(n), strict=True)}
    for i, j in rng.integers(n, size=(int(fill * n), 2)):
        out[int(i), int(j)] = float(rng.normal())
    return out


def dense(entries: dict[tuple[int, int], Any], n: int) -> Any:
    out = np.zeros((n, n), dtype=np.array(list(entries.values())).dtype)
    for (i, j), x in entries.items():
        out[i, j] = x
    return out


def numbers(graph: Graph, outputs: list[int], inputs: dict[str, Any]) -> dict[int, float]:
    known: dict[int, float] = {}
    for k in graph.needed(outputs):
        known[k] = inside.computed(graph.nodes[k], known, inputs, [])
    return known


def error(A: Any, x: Any, b: Any) -> float:
    """Of a solution, relative to that of LAPACK."""
    wanted = np.linalg.solve(A, b)
    return float(np.abs(x - wanted).max() / np.abs(wanted).max() / max(1.0, np.linalg.cond(A)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 25), st.floats(0.0, 4.0))
def test_both_ways_solve_as_lapack_does(seed, n, fill):
    """On nodes, and in the loops over tables as plain Python."""
    entries = sparse(seed, n, fill)
    A, b = dense(entries, n), np.random.default_rng(seed).normal(size=n)
    try:
        order = graph_pivots.plan(n, [entries])
    except graph_pivots.SingularPattern:
        assert np.linalg.cond(A) > 1e8
        return
    if np.linalg.cond(A) > 1e8:
        return
    graph = Graph()
    nodes = {place: graph.node("input", "y", k) for k, place in enumerate(entries)}
    made = elimination.eliminate(graph, order, nodes)
    right = [graph.node("input", "yd", i) for i in range(n)]
    x = elimination.substitute(graph, order, made, right)
    known = numbers(graph, [*x, made.growth], {"y": list(entries.values()), "yd": b})
    assert error(A, np.array([known[k] for k in x]), b) < 1e-12

    _, head, steps, forth, back, _ = inside.factor_tables(n, list(entries), order)
    v = np.zeros(head[inside.elimination_loops.FREE] + n)
    v[head[inside.elimination_loops.MATRIX] :][: len(entries)] = list(entries.values())
    assert inside.elimination_loops.factorise(head, steps, v, elimination.LARGEST**2) == 0
    assert v[inside.elimination_loops.GROWTH] == pytest.approx(known[made.growth])
    out = np.zeros(n)
    inside.elimination_loops.substitute(head, forth, back, v, b, v[head[inside.elimination_loops.FREE] :], out)
    assert error(A, out, b) < 1e-12


def test_pivots_are_not_small_in_any_sample():
    """The first entry would be the pivot with fewest entries; in the second sample it is lost."""
    places = [(0, 0), (1, 0), (1, 1), (0, 1), (2, 2)]
    good, bad = dict.fromkeys(places, 1.0) | {(0, 1): 2.0}, dict.fromkeys(places, 1.0) | {(0, 0): 1e-9, (0, 1): 2.0}
    order = graph_pivots.plan(3, [good, bad])
    assert (0, 0) not in order.pivots[:2]


def test_a_singular_matrix_has_no_plan():
    with pytest.raises(graph_pivots.SingularPattern, match="no pivots serve 2 unknowns"):
        graph_pivots.plan(2, [{(0, 0): 1.0, (0, 1): 1.0, (1, 0): 0.0, (1, 1): 0.0}])


def saddle(seed: int, bodies: int, equations: int) -> Any:
    """A matrix [M G^T; G 0] that is not singular, with a sparse G of which some entries are ones."""
    rng = np.random.default_rng(seed)
    n = 6 * bodies
    G = rng.normal(size=(equations, n)) * (rng.random((equations, n)) < 0.3)
    G[np.arange(equations), rng.permutation(n)[:equations]] = 1.0
    return np.block([[np.diag(rng.uniform(0.5, 2.0, n)), G.T], [G, np.zeros((equations, equations))]])


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4), st.integers(0, 5))
def test_orders_of_least_fill_solve_as_lapack_does(seed, bodies, equations):
    """Symmetric elimination with pivots of up to four rows, for one right-hand side and for several."""
    A = saddle(seed, bodies, equations)
    if np.linalg.cond(A) > 1e6:
        return
    near = A + 1e-3 * A * np.random.default_rng(seed).normal(size=A.shape)
    samples = np.array([A, 0.5 * (near + near.T)])
    order = inside.saddle_order.least_fill(samples, A != 0.0, 6 * bodies, 0.01)
    assert sorted(k for pivot in order for k in pivot) == [*range(len(A))]
    rows = [{int(j): float(row[j]) for j in np.flatnonzero(row)} for row in A]
    factors = inside.symmetric_elimination.Factors(rows, order)
    b = np.random.default_rng(seed + 1).normal(size=(len(A), 2))
    assert error(A, factors.solved(b.astype(object)).astype(float), b) < 1e-11
    assert error(A, factors.solved(b[:, 0].astype(object)).astype(float), b[:, 0]) < 1e-11


def test_pivots_keep_their_size_when_bodies_turn():
    """Two equations of a hinge on two turning velocities: sines and cosines, which vanish; their determinant is 1."""
    samples = []
    for angle in (0.0, 0.5 * np.pi, 0.3):
        A = np.diag([1.0, 1.0, 0.0, 0.0])
        A[2:, :2] = (np.cos(angle), np.sin(angle)), (-np.sin(angle), np.cos(angle))
        samples.append(A + np.tril(A, -1).T)
    used = np.array(samples).any(axis=0)
    used[:2, 2:] = used[2:, :2] = True
    order = inside.saddle_order.least_fill(np.array(samples), used, 2, 0.1)
    assert (0, 2) not in order and (0, 3) not in order


def test_orders_are_found_once_for_a_structure_and_its_rounded_numbers(monkeypatch):
    """They are on disk for other problems, and the same as without the cache; a larger mass asks for others."""

    def bricard() -> rbdae.Problem:
        return rbdae.formulate(rbdae.models.bricard(), "index-0", redundant="minimum-norm")

    def order(problem: rbdae.Problem) -> Any:
        return inside.saddle_order.order_for(problem.workspace, problem.workspace.settings.kernels.rates)

    kept = order(bricard())
    assert kept and kept == inside.saddle_order.orders(bricard().workspace)

    def refuse(*_: Any) -> Any:
        raise AssertionError("an order is searched for")

    monkeypatch.setattr(inside.saddle_order, "orders", refuse)
    assert order(bricard()) == kept
    with pytest.raises(AssertionError, match="searched for"):
        order(bricard().with_parameters({"rod1.mass": 10.0}))


# ---------------------------------------------------------------- of problems


def called(function: Any, t: float, y: Any, yd: Any, c: float, out: Any) -> int:
    arrays = [np.ascontiguousarray(a, dtype=float) for a in (y, yd)]
    status: int = inside.machine_call(function.address)(
        function.context, t, *(a.ctypes.data for a in arrays), c, ctypes.c_void_p(out.ctypes.data)
    )
    return status


FORMS = [
    ("index-3", "quaternion"), ("index-2", "directors"), ("index-1", "euler-313"), ("ggl", "quaternion"),
    ("hamiltonian", "directors"), ("index-0", "quaternion"), ("null-space", "quaternion"),
]  # fmt: skip


@pytest.mark.parametrize("form, chart", FORMS)
@pytest.mark.parametrize("recorded", [True, False])
def test_factors_of_a_problem_solve_with_its_jacobian(form, chart, recorded, rng):
    code = "auto" if recorded else "plain"
    problem = cases.formulated(rbdae.models.linked_bodies(), form, rotation=chart, code=code)
    found = problem.callbacks.factors()
    assert found.recorded == recorded
    n = problem.n
    for c in (3.0, 1e3, 1e6):
        y, yd = problem.y0 + 1e-3 * rng.standard_normal(n), rng.standard_normal(n)
        A, b = problem.jacobian(0.0, y, yd, c), rng.standard_normal(n)
        memory, x = np.full(found.size, np.nan), np.empty(n)
        word = called(found.factors, 0.0, y, yd, c, memory)
        if word == PIVOTS:
            found = found.again(0.0, y, yd, c)
            memory = np.zeros(found.size)
            word = called(found.factors, 0.0, y, yd, c, memory)
        assert word == 0
        assert called(found.solve, 0.0, memory, b, 0.0, x) == 0
        assert np.abs(A @ x - b).max() < 1e-7 * max(1.0, np.abs(A).max() * np.abs(x).max() * 1e-6)
        wanted = np.linalg.solve(A, b)
        assert np.abs(x - wanted).max() < 1e-13 * np.linalg.cond(A) * np.abs(wanted).max()


def small() -> Factors:
    """Of [[y0, 1], [1, y1]], with the first entry as the pivot."""

    def fill(t: float, y: Any, yd: Any, c: float, data: Any) -> None:
        data[:] = y[0], 1.0, 1.0, y[1]

    jacobian = inside.machine_function.trampoline(fill, "tyyto", {"y": (2,), "yd": (2,), "out": (4,)})
    rows, columns = np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1])
    return Factors(2, rows, columns, lambda: jacobian, fill, (0.0, np.array([3.0, 1.0]), np.zeros(2)))


def test_where_pivots_do_not_serve_others_are_chosen():
    found = small()
    assert found.order.pivots[0] == (0, 0)
    yd, b = np.zeros(2), np.array([1.0, 2.0])
    for y, word in (([3.0, 1.0], 0), ([1e-4, 1.0], 0), ([1e-12, 1.0], PIVOTS), ([0.0, 1.0], PIVOTS)):
        memory, x = np.zeros(found.size), np.zeros(2)
        assert called(found.factors, 0.0, y, yd, 1.0, memory) == word
        other = found if word == 0 else found.again(0.0, np.array(y), yd, 1.0)
        memory = np.zeros(other.size)
        assert called(other.factors, 0.0, y, yd, 1.0, memory) == 0
        assert called(other.solve, 0.0, memory, b, 0.0, x) == 0
        np.testing.assert_allclose(x, np.linalg.solve([[y[0], 1.0], [1.0, y[1]]], b), rtol=1e-10)


def test_what_is_singular_or_not_finite_has_no_other_pivots():
    found = small()
    with pytest.raises(ArithmeticError, match="no pivots"):
        found.again(0.0, np.array([1.0, 1.0]), np.zeros(2), 1.0)
    with pytest.raises(ArithmeticError, match="not finite"):
        found.again(0.0, np.array([np.nan, 1.0]), np.zeros(2), 1.0)
    assert called(found.factors, 0.0, [np.nan, 1.0], [0.0, 0.0], 1.0, np.zeros(found.size)) == PIVOTS


ODES = [p for p in cases.ALL_PAIRINGS if rbdae.formulations.FORMULATIONS[p.formulation].kind == "ode"]


@pytest.mark.parametrize("pairing", cases.covering(ODES), ids=str)
def test_factors_of_rates_are_there_where_the_residual_is_that(pairing, rng):
    """dF/dyd is the identity, or there are none."""
    problem = cases.formulate(rbdae.models.linked_bodies(), pairing)
    y = problem.y0 + 1e-3 * rng.standard_normal(problem.n)
    slope = problem.jacobian(0.0, y, problem.yd0, 1.0) - problem.jacobian(0.0, y, problem.yd0, 0.0)
    explicit = np.abs(slope - np.eye(problem.n)).max() < 1e-9
    assert explicit == (not problem.formulation.startswith("null-space"))
    if explicit:
        assert problem.callbacks.factors("rates") is problem.callbacks.factors()
        return
    with pytest.raises(ValueError, match="is not yd - f"):
        problem.callbacks.factors("rates")
