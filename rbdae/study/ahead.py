"""All kernels compiled before a study, so that its processes load them from the cache."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rbdae.compiler.declared import Features
from rbdae.compiler.jit import Entry
from rbdae.conserving import SCHEMES
from rbdae.formulations.base import Formulation
from rbdae.formulations.table import FORMULATIONS, named
from rbdae.kernels import matrices, outputs
from rbdae.kernels.forces.potentials import potentials
from rbdae.kernels.forces.power import power
from rbdae.kernels.joint_outputs import joint_forces, joint_matrix
from rbdae.kernels.joint_rows import independence, least_norm
from rbdae.kernels.projection import project
from rbdae.problem.problem import Problem
from rbdae.study.executor import progress_bar

_READING = (
    outputs.distances,
    independence,
    least_norm,
    matrices.mass_matrix,
    matrices.kinematic_matrix,
    matrices.transposed_gradient,
    matrices.force_directions,
    matrices.terms,
    joint_matrix,
    joint_forces,
    potentials,
    power,
)
"""What switches, matrices, reactions and energies are read by."""


def compile_kernels(*, progress: bool = False, formulations: Iterable[str] | None = None) -> None:
    """Compile every kernel that is not in the cache on disk; worth it before a study by processes.

    Parameters
    ----------
    progress : a bar on standard error, if tqdm is installed
    formulations : names of those that are needed; None for all
    """
    _compile([(entry, None) for entry in entries(formulations)], progress)


def compile_for(problems: Iterable[Problem], *, progress: bool = False) -> None:
    """Compile what runs of these problems will call and the cache on disk lacks: less than all kernels by a third.
    Problems with code of their own need none."""
    needed = [
        (entry, problem.workspace.memory.features)
        for problem in problems
        if not problem.workspace.memory.traced
        for entry in entries([problem.workspace.settings.formulation])
    ]
    _compile(list(dict.fromkeys(needed)), progress)


def _compile(needed: Sequence[tuple[Entry, Features | None]], progress: bool) -> None:
    with progress_bar(len(needed), "kernels" if progress and needed else "") as advance:
        for entry, features in needed:
            entry.compiled(features)
            advance()


def entries(formulations: Iterable[str | Formulation] | None = None) -> list[Entry]:
    """All kernels that Python calls, or those that runs of these formulations call in any case."""
    found = [project, outputs.natural, outputs.constraints]
    if formulations is None:
        found += _READING
        found += [kernel for scheme in SCHEMES.values() for kernel in (scheme.newton, scheme.advance, scheme.work)]
    for form in FORMULATIONS.values() if formulations is None else map(named, formulations):
        kernels = form.kernels
        found += [kernels.rates, kernels.residual]
    return list(dict.fromkeys(found))


__all__ = ["compile_for", "compile_kernels", "entries"]
