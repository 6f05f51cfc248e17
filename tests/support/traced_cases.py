"""Problems with machine code beside the same ones in plain Python, and how far they differ."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

import cases
import force_cases
import inside
import numpy as np
import redundant_systems
from cases import Pairing
from inside import Vec

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae_papers.norm_multipliers import norm_multipliers

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
        """With machine code and in plain Python. The selection, with reference rotations at assembled positions, is
        that of the second."""
        plain = self.problem("plain")
        return self.problem("auto").with_selection(plain.selection), plain

    def problem(self, code: str) -> rbdae.Problem:
        options: dict[str, Any] = {"redundant": "minimum-norm"} if self.system in REDUNDANT else {}
        return cases.formulate(SYSTEMS[self.system](), self.pairing, code=code, **options, **dict(self.options))


def _has_norm_multiplier(p: Pairing) -> bool:
    return p[1:] == ("quaternion", "coordinate") and p.formulation in cases.WITH_NORM_MULTIPLIER


VARIANTS: dict[str, Callable[[Pairing], bool]] = {
    "radial_inertia=half-trace": lambda p: (
        p.rotation == "quaternion" and p.velocity == "coordinate" and not FORMULATIONS[p.formulation].projected
    ),
    "gyroscopic=fifth-order": lambda p: _has_norm_multiplier(p),
    "pull_back=moment": lambda p: _has_norm_multiplier(p),
    "pull_back=inhomogeneous": lambda p: _has_norm_multiplier(p),
    "norm=unit": lambda p: p == ("index-0", "quaternion", "coordinate"),
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


def of_redundant_systems() -> list[Case]:
    """Each of them with multipliers, and in the null space."""
    forms = ("index-2", "null-space")
    return [Case(name, Pairing(form, "quaternion", "angular")) for form in forms for name in REDUNDANT]


# ---------------------------------------------------------------- what is compared

ROUNDINGS = 900
"""The most by which results may differ, in 2^-53 of the largest entry, 1 at least: 1e-13."""

State = tuple[float, Vec, Vec]


def states(problem: rbdae.Problem, rng: np.random.Generator) -> Iterator[tuple[str, State]]:
    """(name, (t, y, yd)): the start, states on the manifold and off it, with any rates."""
    for name, y in cases.manifold_states(problem, rng):
        t = problem.t0 + float(rng.uniform(0.0, 0.3))
        yield name, (t, y, problem.yd0 + rng.standard_normal(problem.n))


def ask_for_everything(problem: rbdae.Problem) -> None:
    """All that a problem computes of a state, once: so every kernel that is ever recorded is recorded."""
    t, y, found = problem.t0, problem.y0, problem.interpretation
    for name in ("residual", "jacobian", "jacobian_data", "rhs", "rhs_jacobian"):
        if problem.kind == "ode" or not name.startswith("rhs"):
            problem.callbacks.code(name)
    for read in (
        found.natural, found.energy, found.momentum, found.power, found.constraints,
        found.matrices, found.reactions,
    ):  # fmt: skip
        read(t, y)
    found.distance_to_singularity(t, y)
    with suppress(ValueError):
        norm_multipliers(problem, t, y)
    if problem.selection.velocities is not None:
        found.growth(t, y)


def differences(
    problems: tuple[rbdae.Problem, rbdae.Problem], at: State, only: Collection[str] = ()
) -> dict[str, float]:
    """For the kernels of which the first problem has code of its own, by name: the largest difference from the second
    problem, over the largest entry, in units of the rounding of one operation, 2^-53; without what comes of some
    roundings of y, which are large where ill-conditioned equations are solved."""
    out: dict[str, float] = {}
    for kernel in inside.traced_kernels(problems[0]):
        if not only or kernel.name in only:
            arguments = _arguments(kernel, problems[1], at)
            found = _difference(kernel, problems, arguments)
            out[kernel.name] = max(out.get(kernel.name, 0.0), found)
    return out


def _arguments(kernel: inside.TracedCall, problem: rbdae.Problem, at: State) -> tuple[Any, ...]:
    """What a kernel takes: (t, y, yd, c), or natural coordinates with multipliers or internal states of forces."""
    t, y, yd = at
    numbers, vectors = iter((t, 3.0)), iter((y, yd))
    if kernel.name == "potentials":
        vectors = iter((problem.interpretation.natural(t, y).ravel(), y[problem.layout.s]))
    if kernel.name == "joint_loads":
        vectors = iter((y, np.resize(yd, problem.layout.n_rows)))
    return tuple(next(numbers if sign == "t" else vectors) for sign in kernel.entry.signs[1:-1])


def _difference(
    kernel: inside.TracedCall, problems: tuple[rbdae.Problem, rbdae.Problem], arguments: tuple[Any, ...]
) -> float:
    machine = np.full(kernel.shapes["out"], np.nan)
    kernel.call(*arguments, machine)
    plain = _in_plain_python(kernel, problems, arguments)
    same = (machine == plain) | (np.isnan(machine) & np.isnan(plain))
    if same.all():
        return 0.0
    size = np.max(np.abs(plain), where=np.isfinite(plain), initial=1.0)
    t, y, *rest = arguments
    rounded = y * (1.0 + 2.0**-52 * np.random.default_rng(7).choice([-1.0, 1.0], len(y)))
    with np.errstate(all="ignore"):
        found = np.where(same, 0.0, np.abs(machine - plain) / size)
        changes = _in_plain_python(kernel, problems, (t, rounded, *rest)) - plain
        by_rounding = np.max(np.abs(changes), where=np.isfinite(changes), initial=0.0)
    return max(float(np.max(np.nan_to_num(found, nan=np.inf))) - 8.0 * by_rounding / size, 0.0) * 2.0**53


def _in_plain_python(
    kernel: inside.TracedCall, problems: tuple[rbdae.Problem, rbdae.Problem], arguments: tuple[Any, ...]
) -> Any:
    """The results of the second problem; of a sparse Jacobian the entries that the first one has."""
    shape = (problems[1].n_equations, problems[1].n) if kernel.sparse else kernel.shapes["out"]
    out, entry = np.full(shape, np.nan), kernel.entry
    inside.plain_kernel(problems[1], entry)(*arguments, out)
    entries = problems[0].callbacks._entries()
    return out[entries.rows, entries.columns] if kernel.sparse else out


def size_of_multipliers(problem: rbdae.Problem, t: float, y: Vec) -> Vec:
    """The size of the joints' multipliers by elimination."""
    la = problem.rates(t, y)[1][problem.layout.n_internal :]
    return np.full(len(la), np.abs(la).max())
