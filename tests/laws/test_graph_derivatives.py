"""Derivatives of recorded graphs against complex steps of the kernels; forwards and backwards."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest

from rbdae.graph.derivatives import NoDerivative, inputs_of, jacobian
from rbdae.graph.graph import FUNCTIONS, Graph

TOLERANCE = 1e-12
USUAL = 5


def _drawn():
    """Pairings of the registries: a seeded sample in the usual run, all in the long one."""
    pairs = [*cases.PAIRS, *cases.JOINT_PAIRS]
    order = np.random.default_rng(9).permutation(len(pairs))
    return [pairs[k] for k in order[: cases.count(USUAL, len(order))]]


def _recorded(problem, kernel, n_out, y, yd, c):
    made = inside.derived.recorded_kernel(
        problem.workspace, kernel, {"out": (n_out,)}, (problem.t0, y, yd, c), inside.recording.MOST_NODES
    )
    numbers = {"t": [problem.t0], "y": y, "yd": yd, "c": [c]}
    numbers["selection"] = problem.workspace.numbers
    return made, numbers


def _evaluated(made, rows, numbers, width):
    """A matrix of the nodes by row and column."""
    places = [(i, j, node) for i, row in enumerate(rows) for j, node in row.items()]
    functions = [function.plain for function in made.functions]
    out = np.zeros((len(rows), width))
    for (i, j, _), value in zip(
        places, inside.evaluate(made.graph, [p[2] for p in places], numbers, functions), strict=True
    ):
        out[i, j] = value
    return out


@pytest.mark.parametrize("system, pairing", _drawn(), ids=[f"{s}-{p}" for s, p in _drawn()])
def test_of_a_recorded_residual_is_the_jacobian_by_complex_steps(system, pairing):
    problem = cases.problem(system, pairing)
    kernels = problem.workspace.settings.kernels
    rng = np.random.default_rng(7)
    y, yd, c = problem.y0 + 0.01 * rng.standard_normal(problem.n), problem.yd0 + rng.standard_normal(problem.n), 37.5
    made, numbers = _recorded(problem, kernels.residual, problem.n_equations, y, yd, c)
    n = problem.n
    both = [*inputs_of(made.graph, "y", n), *inputs_of(made.graph, "yd", n)]
    rows = jacobian(made.graph, made.outputs, both)
    found = _evaluated(made, rows, numbers, 2 * n)
    D = rng.standard_normal((n, 4))  # an entry that is wrong shows in any direction
    wanted = inside.along(problem, "jacobian", problem.t0, y, yd, c, D)
    floor = max(1e-3, 1e-5 * float(np.abs(wanted).max()))
    error, (row, _) = cases.worst((found[:, :n] + c * found[:, n:]) @ D, wanted, floor)
    assert error <= TOLERANCE, (problem, row, error)
    if problem.kind == "ode":
        # F(y, f(y)) = 0, whether the residual is solved for the rates or, as that of null-space, is not
        slopes = inside.along(problem, "rhs_jacobian", problem.t0, y, yd, c, D)
        found = _evaluated(made, rows, {**numbers, "yd": problem.rhs(problem.t0, y)}, 2 * n)
        error, (row, _) = cases.worst(-found[:, :n] @ D, found[:, n:] @ slopes, floor)
        assert error <= TOLERANCE, (problem, row, error)


OTHERS = {
    "add": lambda g, a, b: g.add(g.mul(a, a), b),
    "sub": lambda g, a, b: g.sub(a, g.neg(b)),
    "mul": lambda g, a, b: g.mul(g.mul(a, b), a),
    "div": lambda g, a, b: g.div(a, b),
    "arctan2": lambda g, a, b: g.arctan2(a, b),
    "power": lambda g, a, b: g.of_two("power", a, b),
    "select": lambda g, a, b: g.select(g.condition("<", a, b), g.mul(a, b), g.mul(a, a)),
    "other side": lambda g, a, b: g.select(g.condition("<", b, a), g.mul(a, b), g.mul(a, a)),
}


@pytest.mark.parametrize("name", [*FUNCTIONS, *OTHERS])
def test_every_operation_has_the_derivative_that_differences_have(name):
    graph = Graph()
    a, b = inputs_of(graph, "x", 2)
    out = OTHERS[name](graph, a, b) if name in OTHERS else graph.function(name, a)
    point, h = np.array(({"arccosh": 1.7, "abs": -0.7}.get(name, 0.7), 1.3)), 1e-3
    forwards = inside.evaluate(
        graph, [jacobian(graph, [out], [a, b])[0].get(k, graph.const(0.0)) for k in range(2)], {"x": point}
    )
    for k, found in enumerate(forwards):
        steps = [inside.evaluate(graph, [out], {"x": point + m * h * np.eye(2)[k]})[0] for m in (-2, -1, 1, 2)]
        wanted = (steps[0] - 8.0 * steps[1] + 8.0 * steps[2] - steps[3]) / (12.0 * h)
        assert found == pytest.approx(wanted, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", [*FUNCTIONS, "arctan2"])
def test_functions_of_numpy_are_recorded(name):
    numbers = np.array([1.3 if name == "arccosh" else 0.3, 0.7])[: 2 if name == "arctan2" else 1]
    recorder = inside.Recorder({"x": numbers}, 1000)
    symbol = getattr(np, name)(*recorder.inputs("x"))
    assert recorder.graph.nodes[symbol.node][0] == name
    assert recorder.value(symbol.node) == pytest.approx(getattr(np, name)(*numbers))


def test_functions_of_the_user_are_refused_only_where_they_matter():
    graph = Graph()
    x, y = inputs_of(graph, "x", 2)
    call = graph.node("call", 0, 1, 1, graph.const(0.0), x, graph.const(0.0))
    result = graph.node("result", call, 0)
    assert jacobian(graph, [graph.mul(result, y)], [y]) == [{0: result}]
    with pytest.raises(NoDerivative):
        jacobian(graph, [graph.mul(result, y)], [x])
    with pytest.raises(NoDerivative):
        jacobian(graph, [result], [x])


def test_a_narrow_place_between_many_inputs_and_outputs_is_crossed_once():
    """Forwards each of 40 directions goes through all 40 products: 1,600 of them at each of three places."""
    graph, n = Graph(), 40
    x, waist = inputs_of(graph, "y", n), graph.const(0.0)
    for node in x:
        waist = graph.add(waist, graph.function("sin", node))
    outputs = [graph.mul(graph.function("exp", waist), graph.function("cos", graph.mul(waist, node))) for node in x]
    places = [node for row in jacobian(graph, outputs, x) for _, node in sorted(row.items())]
    assert len(graph.needed(places)) < 3 * n * n
    y = np.linspace(0.1, 0.2, n)
    s = np.sin(y).sum()
    by_waist = np.exp(s) * (np.cos(s * y) - y * np.sin(s * y))
    wanted = np.outer(by_waist, np.cos(y)) - np.diag(np.exp(s) * s * np.sin(s * y))
    found = np.reshape(inside.evaluate(graph, places, {"y": y}, []), (n, n))
    assert np.allclose(found, wanted, rtol=0.0, atol=1e-12 * np.abs(wanted).max())


def test_a_choice_by_a_number_is_differentiated_by_it():
    """A coefficient of |y|^2 has one more choice, not one for each of y; and none where that number stays."""
    graph, n = Graph(), 6
    y, zero = inputs_of(graph, "y", n), graph.const(0.0)
    t = zero
    for node in y:
        t = graph.add(t, graph.mul(node, node))
    small = graph.condition("<", t, graph.const(1.0))
    chosen = graph.select(small, graph.function("exp", t), graph.function("sqrt", t))
    (row,) = jacobian(graph, [chosen], y)
    nodes = [row[k] for k in range(n)]
    assert sum(graph.nodes[k][0] == "select" for k in graph.needed(nodes)) == 1
    for scale in (0.1, 1.0):
        at = scale * np.linspace(0.5, 1.5, n)
        s = at @ at
        wanted = 2.0 * at * (np.exp(s) if s < 1.0 else 0.5 / np.sqrt(s))
        assert inside.evaluate(graph, nodes, {"y": at}, []) == pytest.approx(wanted, rel=1e-14)
    other = graph.node("input", "other", 0)
    assert jacobian(graph, [graph.mul(chosen, other)], [other]) == [{0: chosen}]
