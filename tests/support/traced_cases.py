"""Problems with code of their own beside the same ones with generic code, and what their results are compared with.

Two ways to compute the same number differ by rounding, and rounding is relative to the terms that a number is a sum of,
not to the number. The terms are not seen from outside; what is seen is how a result answers to its arguments. So the
size of an entry is its value and the largest of its changes where every argument changes by its own size, or by the
mean size of its kind (positions, velocities, multipliers) if that is larger: max |f(z + d s) - f(z)| / |d| with small
d and random s in [-1, 1]. For a sum of products of states that is the sum of the absolute terms, but for chance; where
a system of equations is solved, it has the condition number, too.

An entry of a matrix is compared with the largest of its row. What answers to nothing, because its terms cancel at any
state as those of (d1 . d1)' = 2 d1 . (Omega x d1) do, or those of forces across a plane in which all moves, has no size
of its own: what is less than a thousandth of the largest is compared with that.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import cases
import force_cases
import numpy as np
import redundant_systems
from cases import Pairing
from inside import Vec

import rbdae
from rbdae.formulations import FORMULATIONS

CHANGE = 1e-5
CHANGES = 4
LEAST = 1e-3

SYSTEMS: dict[str, Callable[[], rbdae.System]] = {
    **{name: partial(cases.built, name) for name in (*cases.SYSTEMS, *cases.JOINT_SYSTEMS, *cases.STATE_SYSTEMS)},
    **{name: partial(cases.built, name) for name in cases.TOY_SYSTEMS},
    **{f"model-{name}": build for name, build in rbdae.models.MODELS.items()},
    **{f"force-{kind}": partial(force_cases.system_of, kind, jointed=True) for kind in force_cases.FORCES},
    "user-python": lambda: user_in_python(),
    "drives": cases.driven,
    "four-bar": partial(cases.turning_four_bar, "plain", pendulum=True),
    "redundant": partial(cases.turning_four_bar, "redundant"),
    **{f"redundant-{seed}": partial(redundant_systems.redundant_system, seed) for seed in range(4)},
}
REDUNDANT = ("redundant", "model-bricard", "redundant-0", "redundant-1", "redundant-2", "redundant-3")


def user_in_python() -> rbdae.System:
    """Forces by functions of Python, of which one has its derivatives by differences."""
    system, a, b = force_cases.two_bodies(pivot=True)
    mesh, slope = force_cases.mesh_in_python, force_cases.mesh_jacobian_in_python
    system.add_force(rbdae.forces.UserForce((a, b), mesh, slope))
    system.add_force(rbdae.forces.Torque(a, lambda t: (np.sin(t), 1.0, t * t)))
    return system


class Case(NamedTuple):
    system: str
    pairing: Pairing
    options: tuple[tuple[str, Any], ...] = ()

    def __str__(self) -> str:
        return "-".join([self.system, str(self.pairing), *(f"{value}" for _, value in self.options)])

    def problems(self) -> tuple[rbdae.Problem, rbdae.Problem]:
        """With traced and with generic code."""
        return self.problem("traced"), self.problem("generic")

    def problem(self, code: str) -> rbdae.Problem:
        options: dict[str, Any] = {"redundant": "minimum-norm"} if self.system in REDUNDANT else {}
        return cases.formulate(SYSTEMS[self.system](), self.pairing, code=code, **options, **dict(self.options))


VARIANTS: dict[str, Callable[[Pairing], bool]] = {
    "radial_inertia=half-trace": lambda p: p.rotation == "quaternion" and p.velocity == "coordinate",
    "gyroscopic=fifth-order": lambda p: p.rotation == "quaternion" and p.velocity == "coordinate",
    "pull_back=moment": lambda p: p.rotation == "quaternion" and p.velocity == "coordinate",
    "pull_back=inhomogeneous": lambda p: p.rotation == "quaternion" and p.velocity == "coordinate",
    "director_constraints=columns": lambda p: p.rotation == "directors",
    "reference=start": lambda p: p.rotation not in ("quaternion", "directors"),
}
"""Further choices of `rbdae.formulate`, and the pairings that have them."""


def _first(rng: np.random.Generator) -> Iterator[Case]:
    """Each system once, the formulations in turn; each variant once."""
    by_formulation = {f: [p for p in cases.ALL_PAIRINGS if p.formulation == f] for f in FORMULATIONS}
    for k, name in enumerate(rng.permutation([*SYSTEMS])):
        mine = by_formulation[[*FORMULATIONS][k % len(FORMULATIONS)]]
        yield Case(str(name), mine[int(rng.integers(len(mine)))])
    for variant in VARIANTS:
        mine = _varied(variant)
        yield mine[int(rng.integers(len(mine)))]


def _varied(variant: str) -> list[Case]:
    option = (tuple(variant.split("=")),)
    return [Case(name, p, option) for name in ("C", "skew-top") for p in cases.ALL_PAIRINGS if VARIANTS[variant](p)]


def drawn(seed: int) -> list[Case]:
    """All cases, in a random order that begins with each system and each variant once."""
    rng = np.random.default_rng(seed)
    rest = [Case(name, p) for name in SYSTEMS for p in cases.ALL_PAIRINGS]
    rest += [case for variant in VARIANTS for case in _varied(variant)]
    return [*dict.fromkeys([*_first(rng), *(rest[k] for k in rng.permutation(len(rest)))])]


# ---------------------------------------------------------------- what is compared


def states(problem: rbdae.Problem, rng: np.random.Generator) -> Iterator[tuple[str, float, Vec, Vec]]:
    """(name, t, y, yd): the start, states on the manifold and off it, with any rates."""
    for name, y in cases.manifold_states(problem, rng):
        yield name, problem.t0 + float(rng.uniform(0.0, 0.3)), y, problem.yd0 + rng.standard_normal(problem.n)


def callbacks(problem: rbdae.Problem) -> dict[str, Callable[..., Any]]:
    """All as functions of (t, y, yd), by name."""
    n, m = problem.n, problem.n_equations
    found = problem.callbacks
    size = problem.sparsity.nnz

    def filled(call: Callable[..., None], shape: Any, *arguments: Any) -> Any:
        out = np.full(shape, np.nan)
        call(*arguments, out)
        return out

    out: dict[str, Callable[..., Any]] = {
        "residual": lambda t, y, yd: filled(found.residual, m, t, y, yd),
        "jacobian": lambda t, y, yd: filled(found.jacobian, (m, n), t, y, yd, 3.0),
        "jacobian_data": lambda t, y, yd: _by_rows(problem, filled(found.jacobian_data, size, t, y, yd, 3.0)),
    }
    if problem.kind == "ode":
        out["rhs"] = lambda t, y, yd: filled(found.rhs, n, t, y)
        out["rhs_jacobian"] = lambda t, y, yd: filled(found.rhs_jacobian, (n, n), t, y)
    return out


def _by_rows(problem: rbdae.Problem, data: Vec) -> Any:
    """CSC data as a matrix with the same rows, so that entries are compared with those of their row."""
    matrix = problem.sparsity.copy()
    matrix.data = data
    return matrix.toarray()


def readings(problem: rbdae.Problem) -> dict[str, Callable[..., Any]]:
    """What reads a state, by name: lists of arrays."""

    def energy(t: float, y: Vec, yd: Vec) -> Any:
        found = problem.energy(t, y)
        return np.array([found.kinetic, found.potential, found.total])

    out: dict[str, Callable[..., Any]] = {
        "natural": lambda t, y, yd: problem.natural(t, y),
        "energy": energy,
        "constraints": lambda t, y, yd: np.concatenate(
            [problem.constraints(t, y).position, problem.constraints(t, y).velocity]
        ),
        "joint_matrix": lambda t, y, yd: problem.interpretation.joint_matrix(t, y),
        # with the rates, as multipliers alone may all cancel
        "multipliers": lambda t, y, yd: np.concatenate([problem.rates(t, y)[0], problem.multipliers(t, y)]),
        "log_determinant": lambda t, y, yd: np.atleast_1d(problem.log_determinant(t, y)),
    }
    if not problem.redundant:  # of least norm, found by a singular value decomposition that cuts at 1e-9
        out["reactions"] = lambda t, y, yd: _flat(problem.reactions(t, y))
    if "null-space" in problem.formulation:
        out["null_space"] = lambda t, y, yd: problem.interpretation.null_space(t, y)[1]
    return out


def _flat(reactions: dict[str, dict[str, Any]]) -> Any:
    """A row for each joint and body, (k, 6)."""
    rows = [[*r.force, *r.torque] for joint in reactions.values() for r in joint.values()]
    return np.array(rows).reshape(-1, 6)


def _changes(problem: rbdae.Problem, z: Vec) -> Vec:
    """By how much arguments change."""
    out = np.abs(z)
    parts = problem.layout
    for part in (parts.q, parts.v, parts.s, parts.la, parts.mu):
        out[part] = np.maximum(out[part], out[part].mean() if out[part].size else 0.0)
    return out


def size(f: Callable[..., Any], problem: rbdae.Problem, at: tuple[float, Vec, Vec], rng: np.random.Generator) -> Any:
    """What errors of f(t, y, yd) are compared with, entry by entry; see above."""
    t, y, yd = at
    value = np.asarray(f(t, y, yd))
    out = np.abs(value)
    for _ in range(CHANGES):
        a, b = (z + CHANGE * _changes(problem, z) * rng.uniform(-1.0, 1.0, len(z)) for z in (y, yd))
        out = np.maximum(out, np.abs(np.asarray(f(t, a, b)) - value) / CHANGE)
    if out.ndim > 1:
        out = np.broadcast_to(out.max(axis=-1, keepdims=True), out.shape)
    return np.where(out > LEAST * out.max(initial=0.0), out, out.max(initial=0.0))


def difference(
    what: Callable[[rbdae.Problem], Callable[..., Any]],
    problems: tuple[rbdae.Problem, rbdae.Problem],
    at: tuple[float, Vec, Vec],
    rng: np.random.Generator,
) -> float:
    """The largest difference of one function of two problems, over the size of the entry by the second."""
    f, g = map(what, problems)
    found, wanted = np.asarray(f(*at)), np.asarray(g(*at))
    assert found.shape == wanted.shape
    if np.array_equal(found, wanted, equal_nan=True):
        return 0.0
    scale = size(g, problems[1], at, rng)
    error = np.abs(found - wanted)
    return float(np.max(np.where(error > 0.0, error / np.where(scale > 0.0, scale, 1e-300), 0.0)))


__all__ = ["REDUNDANT", "SYSTEMS", "VARIANTS", "Case", "callbacks", "difference", "drawn", "readings", "size", "states"]
