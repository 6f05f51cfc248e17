"""The invariants pi and eta of the Hamiltonian form in quaternions, [BS09] (46), (47), of the bodies of a problem."""

from __future__ import annotations

from typing import Any

from rbdae._arrays import Mat, Vec
from rbdae.kernels.records import QUATERNION_RATE
from rbdae.step_equations.invariants import invariants


def has_invariants(problem: Any) -> bool:
    """Whether the unknowns of a problem are quaternions and their momenta."""
    workspace = getattr(problem, "workspace", None)
    if workspace is None:
        return False
    settings = workspace.settings
    return bool(settings.momenta and settings.kind.number == QUATERNION_RATE)


def quaternions_and_momenta(problem: Any, y: Mat) -> dict[str, tuple[Mat, Mat]]:
    """(q, p) of each body by its name, both (m, 4), of states (m, n)."""
    layout, out = problem.layout, {}
    for b, name in enumerate(problem.model.names):
        k, nt = layout.rank[b], int(problem.model.bodies["nt"][b])
        at, momenta_at = layout.iq[k] + nt, layout.v.start + layout.iv[k] + nt
        out[name] = y[:, at : at + 4], y[:, momenta_at : momenta_at + 4]
    return out


def pi(problem: Any, t: Vec, y: Mat) -> dict[str, Mat]:
    """pi = Q_l(q)^T p of each body, [BS09] (46): pi_0 = q . p, zero on the constraints (40), and 2 J Omega."""
    return {name: each.pi for name, each in _invariants(problem, y, "pi").items()}


def eta(problem: Any, t: Vec, y: Mat) -> dict[str, Vec]:
    """eta = q . q of each body, [BS09] (47): 1 on the constraints."""
    return {name: each.eta for name, each in _invariants(problem, y, "eta").items()}


def _invariants(problem: Any, y: Mat, what: str) -> dict[str, Any]:
    if not has_invariants(problem):
        raise ValueError(
            f"{what}: {problem!r} has no quaternions with momenta; formulate it as 'hamiltonian' with "
            "rotation='quaternion'"
        )
    return {name: invariants(q, p) for name, (q, p) in quaternions_and_momenta(problem, y).items()}


__all__ = ["eta", "has_invariants", "pi", "quaternions_and_momenta"]
