"""Every Jacobian against differences of what it is the Jacobian of: every pairing, every mechanism, on and off the
constraint manifold.

Compiled kernels are compared with central differences of order four, and a subset of them with complex steps through
the same kernels as plain Python, which have no truncation and no cancellation; with ``RBDAE_PLAIN=1`` all are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import Any

import cases
import inside
import numpy as np
import pytest
from cases import PAIRS, Pairing, along, covering, differences, worst
from inside import Mat, Vec

import rbdae
from rbdae.formulations import FORMULATIONS

TOLERANCE = 1e-6
# complex steps are exact; central differences leave some 1e-9 of the row
SHARP = 1e-10
DIRECTIONS = 4
"""A wrong entry changes the slope in any of them. The columns of a matrix, ten times the work, are asked for to name
the entry."""
ODE_PAIRS = [(s, p) for s, p in PAIRS if FORMULATIONS[p.formulation].kind == "ode"]


class Derivatives:
    """Derivatives of the residual and right-hand side of a problem: by differences of what is compiled, or by complex
    steps through plain kernels."""

    def __init__(self, problem: rbdae.Problem, plain: bool = False) -> None:
        self.problem = problem
        self.t = problem.t0
        self.plain = plain
        if plain:
            workspace = inside.workspace(problem)
            kernels = workspace.settings.kernels
            self.F, self.f = inside.in_python(workspace, kernels.residual), inside.in_python(workspace, kernels.rates)

    def residual(self, y: Vec, yd: Vec, h: float) -> tuple[Mat, Mat]:
        """dF/dy and dF/dyd."""
        p = self.problem
        if not self.plain:
            return (
                differences(lambda z: self._compiled("residual", z, yd), y, h),
                differences(lambda z: self._compiled("residual", y, z), yd),
            )
        return (
            _complex_step(lambda z, out: self.F(self.t, z, yd + 0j, out), y, p.n_equations),
            _complex_step(lambda z, out: self.F(self.t, y + 0j, z, out), yd, p.n_equations),
        )

    def rhs(self, y: Vec, h: float) -> Mat:
        p = self.problem
        if not self.plain:
            return differences(lambda z: self._compiled("rhs", z), y, h)
        return _complex_step(lambda z, out: self.f(self.t, z, out), y, p.n)

    def slopes(self, y: Vec, yd: Vec, c: float, directions: Mat, h: float) -> Mat:
        """(dF/dy + c dF/dyd) V."""
        if not self.plain:
            return self._along(lambda e: self._compiled("residual", y + e, yd + c * e), directions, h)
        steps = 1e-30j * directions.T
        return np.stack([self._imaginary(self.F, y + s, yd + c * s) for s in steps], axis=1)

    def rhs_slopes(self, y: Vec, directions: Mat, h: float) -> Mat:
        """df/dy V."""
        if not self.plain:
            return self._along(lambda e: self._compiled("rhs", y + e), directions, h)
        return np.stack([self._imaginary(self.f, y + s) for s in 1e-30j * directions.T], axis=1)

    def _along(self, f: Callable[[Vec], Vec], directions: Mat, h: float) -> Mat:
        return np.stack([along(f, np.zeros(self.problem.n), d, h) for d in directions.T], axis=1)

    def _compiled(self, name: str, *arguments: Vec) -> Vec:
        """What solvers call, without the checks of arguments of `Problem`, which take longer."""
        out = np.full(self.problem.n_equations if name == "residual" else self.problem.n, np.nan)
        getattr(self.problem.callbacks, name)(self.t, *arguments, out)
        return out

    def _imaginary(self, f: Callable[..., None], *arguments: Any) -> Vec:
        rows = self.problem.n_equations if f is self.F else self.problem.n
        out = np.zeros(rows, dtype=complex)
        f(self.t, *arguments, out)
        return out.imag / 1e-30


def _complex_step(f: Callable[[Any, Any], None], y: Vec, rows: int) -> Mat:
    columns = []
    for j in range(len(y)):
        z = y + 0j
        z[j] += 1e-30j
        out = np.zeros(rows, dtype=complex)
        f(z, out)
        columns.append(out.imag / 1e-30)
    return np.stack(columns, axis=1)


def _states(problem: rbdae.Problem, rng: np.random.Generator) -> Iterator[tuple[str, Vec, Vec]]:
    """States and any rates; internal states of forces and multipliers are random too, those of the kinematic correction
    included."""
    first = problem.layout.s.start
    for where, y in cases.manifold_states(problem, rng):
        y[first:] += rng.standard_normal(problem.n)[first:]
        yield where, y, problem.yd0 + rng.standard_normal(problem.n)


def _agree(
    numbers: Derivatives,
    found: Mat,
    wanted: Callable[[float], Mat],
    what: str,
    slopes: Callable[[Mat, float], Mat] | None = None,
) -> None:
    problem = numbers.problem
    tolerance = SHARP if numbers.plain else TOLERANCE
    # a row of zeros has no size of its own; 1e-3 is small beside masses, lengths and speeds of order one. Where
    # multipliers are eliminated, such a row is the rounding of sums of entries as large as the matrix has.
    floor = max(1e-3, 1e-5 * float(np.abs(found).max(initial=0.0))) if numbers.plain else 1e-3
    if slopes is not None:
        directions = np.random.default_rng(5).standard_normal((problem.n, DIRECTIONS))
        if worst(found @ directions, slopes(directions, 1e-3), floor)[0] <= tolerance:
            return
    # columns name the entry; the finer steps are for states near a singular position, where a right-hand side bends
    for h in (1e-3, 1e-4, 2e-5):
        reference = wanted(h)
        error, where = worst(found, reference, floor)
        if error <= tolerance:
            return
    row, column = where
    # further equations of overdetermined forms have no unknown of their own
    labels = [*problem.labels, *(f"further equation {i + 1}" for i in range(problem.n_equations - problem.n))]
    raise AssertionError(
        f"{problem!r}: {what}: entry (equation of {labels[row]}, {labels[column]}) is {found[where]:.10g}, "
        f"differences give {reference[where]:.10g}; relative to its row {error:.2g}"
    )


def check_residual(
    system: str, pairing: Pairing, rng: np.random.Generator, plain: bool = False, **options: Any
) -> None:
    problem = cases.problem(system, pairing, **options)
    m, n = problem.n_equations, problem.n
    numbers = Derivatives(problem, plain)
    far = rng.standard_normal((2, n))
    check_pattern(problem, _jacobian(problem, problem.t0, *far, 0.6))
    for where, y, yd in _states(problem, rng):
        tangents = cache(partial(numbers.residual, y, yd))
        for c in (0.0, 37.5):
            exact = _jacobian(problem, problem.t0, y, yd, c)
            check_pattern(problem, exact)

            def wanted(h: float, c: float = c, tangents: Any = tangents) -> Mat:
                Fy, Fyd = tangents(h)
                return Fy + c * Fyd

            slopes = partial(numbers.slopes, y, yd, c)
            _agree(numbers, exact, wanted, f"dF/dy + {c} dF/dyd {where}", slopes)
            assert exact.shape == (m, n)
            if n > _DENSE:
                continue
            wide = np.full((m, 2 * n), np.nan)
            outs = [
                np.full((m, n), np.nan),
                np.full((m, n), np.nan, order="F"),
                wide[:, ::2],
                np.full((m, n), np.nan)[::-1, ::-1],
            ]
            for out in outs:
                assert problem.jacobian(problem.t0, y, yd, c, out) is out
                _agree_to_rounding(problem, out, exact, f"entries for strides {out.strides}")
            assert np.isnan(wide[:, 1::2]).all()
            data = np.full(problem.sparsity.nnz, np.nan)
            sparse = problem.sparse_jacobian(problem.t0, y, yd, c, data)
            assert sparse.data is data or np.shares_memory(sparse.data, data)
            _agree_to_rounding(problem, sparse.toarray(), exact, "CSC data")


_DENSE = 30
"""Unknowns up to which a Jacobian is also asked for as a matrix, which is another code to make. Storing entries is
the same for all models."""


def _jacobian(problem: rbdae.Problem, *at: Any) -> Mat:
    return problem.jacobian(*at) if problem.n <= _DENSE else problem.sparse_jacobian(*at).toarray()


def check_rhs(system: str, pairing: Pairing, rng: np.random.Generator, plain: bool = False, **options: Any) -> None:
    problem = cases.problem(system, pairing, **options)
    numbers = Derivatives(problem, plain)
    for where, y, _ in _states(problem, rng):
        exact = problem.rhs_jacobian(problem.t0, y)
        slopes = partial(numbers.rhs_slopes, y)
        _agree(numbers, exact, partial(numbers.rhs, y), f"d(rhs)/dy {where}", slopes)
        for out in (
            np.full((problem.n, problem.n), np.nan, order="F"),
            np.full((problem.n, 2 * problem.n), np.nan)[:, 1::2],
        ):
            assert problem.rhs_jacobian(problem.t0, y, out) is out
            _agree_to_rounding(problem, out, exact, f"entries for strides {out.strides}")


def _agree_to_rounding(problem: rbdae.Problem, other: Mat, dense: Mat, what: str) -> None:
    """Code of one model is compiled for each kind of target (one block, strides, CSC data), which fuses other products
    with sums; else they are equal."""
    rounding = 0.0 if problem.code == "plain" else 1e-13 * np.max(np.abs(dense))
    difference = np.max(np.abs(other - dense))
    assert difference <= rounding, f"{problem!r}: {what} differ from the dense Jacobian by {difference:.3g}"


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
    check_residual(system, pairing, rng, radial_inertia="half-trace")
    form = FORMULATIONS[formulation]
    if form.kind == "ode":
        check_rhs(system, pairing, rng, radial_inertia="half-trace")
    zero, half = (cases.problem(system, pairing, radial_inertia=r) for r in ("zero", "half-trace"))
    y, yd = zero.y0, rng.standard_normal(zero.n)
    if form.kind != "ode" and form.unknowns != "momenta":  # momenta have the half trace in either case
        assert not np.allclose(zero.jacobian(0.0, y, yd, 1.0), half.jacobian(0.0, y, yd, 1.0))


def check_pattern(problem: rbdae.Problem, jacobian: Mat) -> None:
    """No entry of a Jacobian, at any state, is beside the pattern."""
    pattern = problem.sparsity
    assert pattern.has_sorted_indices
    assert set(pattern.data) == {1.0}
    assert not jacobian[pattern.toarray() == 0.0].any()
    if problem.kind != "ode" and problem.n > 50:
        assert pattern.nnz < 0.5 * problem.n * problem.n_equations  # bodies that share no joint share no entry


# ---------------------------------------------------------------- complex steps

SUBSET = [
    ("skew-top", Pairing("index-1", "directors", "coordinate")),
    ("skew-top", Pairing("hamiltonian-differentiated", "directors", "momentum")),
    ("skew-top", Pairing("index-0", "euler-313", "angular")),
    ("C", Pairing("index-3", "quaternion", "coordinate")),
    ("C", Pairing("index-0", "quaternion", "coordinate")),
    ("C", Pairing("null-space", "quaternion", "angular")),
    ("C", Pairing("hamiltonian-eliminated", "quaternion", "momentum")),
    ("tied", Pairing("ggl", "quaternion", "angular")),
    ("skew-top", Pairing("hiller-anantharaman", "euler-313", "angular")),
    ("C", Pairing("baumgarte", "quaternion", "coordinate")),
]


@pytest.mark.parametrize("system, pairing", SUBSET, ids=[f"{s}-{p}" for s, p in SUBSET])
def test_complex_steps(system, pairing, rng):
    """The kernels as plain Python are what is compiled, and complex steps see what differences are too coarse for."""
    check_residual(system, pairing, rng, plain=True)
    if cases.problem(system, pairing).kind == "ode":
        check_rhs(system, pairing, rng, plain=True)
