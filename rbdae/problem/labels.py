"""Names of the unknowns, for messages, plots and tables."""

from __future__ import annotations

from collections.abc import Sequence

from rbdae.formulations.base import Formulation
from rbdae.multibody.model import Model
from rbdae.multibody.tree_velocities import Branch
from rbdae.rotations import Chart


def labels(
    model: Model,
    formulation: Formulation,
    chart: Chart,
    velocity: str,
    order: Sequence[int],
    n_nu: int | None,
    branches: Sequence[Branch] | None = None,
) -> list[str]:
    """One label an unknown, in the order of y: ``"top.p0"``, ``"top.Omega1"``, ``"top.norm"``, ``"spherical-1.1"``.

    `n_nu` is the number of quasi-velocities that are no velocities of a body; those of `branches` are components of a
    body's twist.
    """
    q, v, la = [], [], []
    for b in order:
        name = model.names[b]
        free = model.bodies["nt"][b] == 3
        q += [f"{name}.{s}" for s in (("x", "y", "z") if free else ())]
        q += [f"{name}.{s}" for s in chart.names]
        child = formulation.reduced and model.tree.parent[b] >= 0
        if free and not child:
            v += [f"{name}.{s}" for s in (("px", "py", "pz") if formulation.momenta else ("vx", "vy", "vz"))]
        if child and branches is not None:
            v += [f"{name}.nu{i + 1}" for i in range(len(branches[b].S))]
        elif velocity == "angular":
            v += [f"{name}.Omega{i}" for i in "123"]
        elif formulation.momenta:
            v += [f"{name}.pi_{s}" for s in chart.names]
        else:
            v += [f"{name}.{s}dot" for s in chart.names]
        if velocity != "angular":
            la += [f"{name}.{s}" for s in chart.internal]
    if n_nu is not None:
        v = [f"nu{i + 1}" for i in range(n_nu)]
    for joint in model.joints:
        n = sum(int(model.primitives[k]["n"]) for k in joint.primitives)
        la += [f"{joint.name}.{i + 1}" for i in range(n)]
    if not formulation.has_multipliers:
        return q + v
    if formulation.integral:
        la = [f"{name}.integral" for name in la]
    return q + v + la + ([f"{name}.mu" for name in la] if formulation.corrected else [])
