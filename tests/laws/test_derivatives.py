"""Every Jacobian against complex steps of what it is the Jacobian of: every pairing, every mechanism, on and off the
constraint manifold.

Complex steps go through the kernels as plain Python, and have no truncation and no cancellation. What is compiled has
the values of these kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import cases
import inside
import numpy as np
import pytest
from cases import PAIRS, Pairing, close, covering, worst
from inside import Mat, Vec

import rbdae
from rbdae.formulations import FORMULATIONS

TOLERANCE = 1e-10
ODE_PAIRS = [(s, p) for s, p in PAIRS if FORMULATIONS[p.formulation].kind == "ode"]


def _states(problem: rbdae.Problem, rng: np.random.Generator) -> Iterator[tuple[str, Vec, Vec]]:
    """States and any rates; internal states of forces and multipliers are random too, those of the kinematic correction
    included."""
    first = problem.layout.s.start
    for where, y in cases.manifold_states(problem, rng):
        y[first:] += rng.standard_normal(problem.n)[first:]
        yield where, y, problem.yd0 + rng.standard_normal(problem.n)


def _agree(problem: rbdae.Problem, name: str, found: Mat, *at: Any, where: str) -> None:
    """A matrix is that of complex steps: in four directions, in which a wrong entry shows, and if not, column by column
    to name it."""
    # a row of zeros has no size of its own; 1e-3 is small beside masses, lengths and speeds of order one. Where
    # multipliers are eliminated, such a row is the rounding of sums of entries as large as the matrix has.
    floor = max(1e-3, 1e-5 * float(np.abs(found).max(initial=0.0)))
    for directions in (np.random.default_rng(5).standard_normal((problem.n, 4)), np.eye(problem.n)):
        wanted = inside.along(problem, name, *at, directions)
        error, (row, column) = worst(found @ directions, wanted, floor)
        if error <= TOLERANCE:
            return
    # further equations of overdetermined forms have no unknown of their own
    labels = [*problem.labels, *(f"further equation {i + 1}" for i in range(problem.n_equations - problem.n))]
    raise AssertionError(
        f"{problem!r}: {name} {where}: entry (equation of {labels[row]}, {labels[column]}) is "
        f"{found[row, column]:.10g}, complex steps give {wanted[row, column]:.10g}; relative to its row {error:.2g}"
    )


def check_residual_at(problem: rbdae.Problem, y: Vec, yd: Vec, where: str = "") -> None:
    t, found = problem.t0, problem.residual(problem.t0, y, yd)
    # its terms nearly cancel: rates of momenta may have 1e5, and it itself 1
    terms = 2.0**-52 * (abs(problem.sparse_jacobian(t, y, yd, 0.0)) @ np.abs(y)).max() + 1e-13 * np.abs(yd).max()
    assert close(found, inside.in_plain_python(problem, "residual", t, y, yd), 1e-12, 1.0 + 1e12 * terms), where
    for c in (0.0, 37.5):
        _agree(problem, "jacobian", problem.sparse_jacobian(t, y, yd, c).toarray(), t, y, yd, c, where=where)


def check_rhs_at(problem: rbdae.Problem, y: Vec, where: str = "") -> None:
    t = problem.t0
    assert close(problem.rhs(t, y), inside.in_plain_python(problem, "rates", t, y), 1e-12), where
    _agree(problem, "rhs_jacobian", problem.rhs_jacobian(t, y), t, y, y, 0.0, where=where)


def check_residual(system: str, pairing: Pairing, rng: np.random.Generator, **options: Any) -> None:
    problem = cases.problem(system, pairing, **options)
    pattern = problem.sparsity  # an entry beside it is missed by the sparse matrix, but not by complex steps
    assert pattern.has_sorted_indices and set(pattern.data) == {1.0}
    if problem.kind != "ode" and problem.n > 50:
        assert pattern.nnz < 0.5 * problem.n * problem.n_equations  # bodies that share no joint share no entry
    for where, y, yd in _states(problem, rng):
        check_residual_at(problem, y, yd, where)


def check_rhs(system: str, pairing: Pairing, rng: np.random.Generator, **options: Any) -> None:
    problem = cases.problem(system, pairing, **options)
    for where, y, _ in _states(problem, rng):
        check_rhs_at(problem, y, where)


def check(system: str, pairing: Pairing, rng: np.random.Generator, **options: Any) -> None:
    """Of the residual, and of the right-hand side if there is one."""
    check_residual(system, pairing, rng, **options)
    if cases.problem(system, pairing, **options).kind == "ode":
        check_rhs(system, pairing, rng, **options)


@pytest.mark.parametrize("system, pairing", covering(PAIRS, 5), ids=str)
def test_jacobian_of_the_residual(system, pairing, rng):
    check_residual(system, pairing, rng)


@pytest.mark.parametrize("system, pairing", covering(ODE_PAIRS, 6), ids=str)
def test_jacobian_of_the_right_hand_side(system, pairing, rng):
    check_rhs(system, pairing, rng)


@pytest.mark.sampled
@pytest.mark.parametrize(
    "system, formulation",
    [
        (system, formulation)
        for k, formulation in enumerate(cases.WITH_NORM_MULTIPLIER)
        for i, system in enumerate(("skew-top", "C", "tied"))
        if cases.NIGHTLY or (i < 2 and (i + k) % 2 == 0)
    ],
)
def test_jacobians_with_radial_inertia(system, formulation, rng):
    pairing = Pairing(formulation, "quaternion", "coordinate")
    check(system, pairing, rng, radial_inertia="half-trace")
    form = FORMULATIONS[formulation]
    zero, half = (cases.problem(system, pairing, radial_inertia=r) for r in ("zero", "half-trace"))
    y, yd = zero.y0, rng.standard_normal(zero.n)
    if form.kind != "ode" and form.unknowns != "momenta":  # momenta have the half trace in either case
        assert not np.allclose(zero.jacobian(0.0, y, yd, 1.0), half.jacobian(0.0, y, yd, 1.0))


# ---------------------------------------------------------------- of recordings


def test_a_jacobian_in_python_is_as_short_as_its_function():
    """Where a guard fails in a run, the run waits for the recording."""
    problem = rbdae.formulate(rbdae.models.andrews(), "null-space")
    kernels, n = problem.workspace.settings.kernels, problem.n
    point, shapes = (0.0, problem.y0, problem.yd0, 1.0), {"y": (n,), "out": (n,)}
    lengths = [
        len(made(problem.workspace, kernel, shapes, point, 100_000).graph.nodes)
        for made, kernel in (
            (inside.derived.recorded_kernel, kernels.rates),
            (inside.derived.along_directions, kernels.rhs_jacobian),
        )
    ]
    assert lengths[0] > 3000
    assert lengths[1] < 3 * lengths[0]  # with nodes of its own for each column it is 22 times as long


@pytest.mark.parametrize("form", ["index-2", "overdetermined", "index-0"])
def test_columns_of_a_group_share_no_row(form):
    problem = rbdae.formulate(rbdae.models.chain(), form)
    groups, there = problem._block_pattern.groups(problem.n), problem.sparsity.toarray()
    of_group = np.eye(groups.max() + 1)[groups]
    assert (there @ of_group <= 1.0).all()
    assert form == "index-0" or groups.max() < problem.n // 3
