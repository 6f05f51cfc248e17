"""Steps of the conserving schemes: blocks of their equations, series, and all of a step in one function."""

from __future__ import annotations

import math

import inside
import numpy as np
import pytest

import rbdae

SCHEMES = {
    "energy-momentum": ("rodrigues", "paper"),
    "variational": ("quat-vi",),
    "simo-wong": ("algo-c1", "energy-momentum"),
    "midpoint": ("conformal", "average-momentum", "average-velocity"),
}


@pytest.mark.parametrize("n", range(1, 7))
def test_blocks_are_solved_three_rows_at_a_time(n, rng):
    A, b = rng.standard_normal((n, n)) + 4.0 * np.eye(n), rng.standard_normal((n, 3))
    np.testing.assert_allclose(A @ inside.solved_blocks(A, b), b, rtol=0, atol=2e-14)


@pytest.mark.parametrize("x", [0.0, 1e-9, 0.02, 0.5, 1.0, 1.5, 0.49 * math.pi])
@pytest.mark.parametrize("scheme", [inside.increments.EXPONENTIAL, inside.increments.ENERGY])
def test_the_exponential_increment_up_to_half_a_turn(x, scheme):
    """Sine and cosine to the last digits; derivatives are those of the values, by differences of the exact ones."""

    def exact(x: float) -> np.ndarray:
        e0, g = math.cos(x), math.sin(x) / x if x else 1.0
        f = g / e0 if scheme == inside.increments.ENERGY else 1.0
        return np.array((e0, g, f * e0 * e0, f * e0 * g, f * g * g))

    e, a = inside.increment_and_arms(x * np.array((0.6, 0.0, 0.8)), scheme)
    found, slopes = np.array((*e[:2], *a[:3])), np.array((*e[2:4], *a[3:]))
    np.testing.assert_allclose(found, exact(x), rtol=1e-14, atol=3e-16)
    s, d = x * x, 1e-4
    if s > 2 * d:
        near = [exact(math.sqrt(s + k * d)) for k in (-2, -1, 1, 2)]
        np.testing.assert_allclose(slopes, (near[0] - 8 * near[1] + 8 * near[2] - near[3]) / (12 * d), rtol=1e-7)


def _problem(method: str, system: rbdae.System) -> rbdae.Problem:
    if method in ("energy-momentum", "variational"):
        return rbdae.formulate(system, "hamiltonian-eliminated", velocity="momentum", code="traced")
    return rbdae.formulate(system, "index-0", code="traced")


@pytest.mark.skipif(not inside.JIT, reason="without the JIT there is no code of one model")
@pytest.mark.parametrize(("method", "variant"), [(m, v) for m, variants in SCHEMES.items() for v in variants])
@pytest.mark.parametrize("order", [2, 4])
def test_a_step_in_one_function_is_that_of_its_kernels(method, variant, order, monkeypatch):
    """The same states and iterations, forward and back, with output times."""
    if order == 4 and variant == "average-velocity":
        pytest.skip("it is not symmetric")
    spans = ((0.0, 0.3), (0.0, -0.3))
    options = {"solver": f"rbdae:{method}", "variant": variant, "order": order, "step": 4e-3}
    runs = []
    for whole in (True, False):
        if not whole:
            inside.no_step_in_one_function(monkeypatch)
        problem = _problem(method, rbdae.models.heavy_top())
        runs.append([rbdae.solve(problem, span, **options) for span in spans])
        runs[-1].append(rbdae.solve(problem, spans[0], t_eval=np.linspace(0.0, 0.3, 7), **options))
        scheme = inside.steps_of(runs[-1][0].problem, inside.FIXED_SCHEMES[method][variant])
        assert (scheme.step is not None) == whole
    for one, other in zip(*runs, strict=True):
        assert one.success and one.stats.evaluations == other.stats.evaluations
        np.testing.assert_array_equal(one.t, other.t)
        np.testing.assert_allclose(one.y, other.y, rtol=0, atol=1e-12 * np.abs(other.y).max())


def test_unknowns_are_extrapolated():
    """Newton's method begins nearer: two iterations a step where the unknowns of the step before need three."""
    problem = rbdae.formulate(rbdae.models.chain(10), "hamiltonian-eliminated", velocity="momentum")
    found = rbdae.solve(problem, (0.0, 0.1), solver="rbdae:energy-momentum", step=1e-3)
    assert found.stats.evaluations < 2.2 * found.stats.steps


def test_ladders_are_eliminated_at_linear_cost():
    """A joint that closes a loop waits for the bodies of its loop alone."""
    sizes = []
    for n in (8, 16, 32):
        problem = rbdae.formulate(
            rbdae.models.n_four_bar(n), "hamiltonian-eliminated", velocity="momentum", code="generic"
        )
        found = inside.newton.newton_equations(problem.workspace.arrays)
        sizes.append((found.n, len(found.operations)))
    (n8, o8), (n16, o16), (n32, o32) = sizes
    assert n32 - n16 == 2 * (n16 - n8) and o32 - o16 == 2 * (o16 - o8)


def test_a_result_is_not_stored_with_one_that_comes_much_later():
    """Who needs the first one would wait for the other."""
    graph = inside.Graph()
    x, y = (graph.node("input", "y", k) for k in range(2))
    early, late = graph.add(x, y), graph.node("sqrt", graph.node("sqrt", graph.mul(x, y)))
    together, alone = ([early, graph.mul(x, x)], [early, late])
    for outputs, pairs in ((together, 1), (alone, 0)):
        text = inside.straight_text(graph, graph.needed(outputs), outputs)
        assert text.count("store <2 x double>") == pairs, text
