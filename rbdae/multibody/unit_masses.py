"""Bodies for which M = I: projections in the metric of the identity."""

from __future__ import annotations

import numpy as np

from rbdae._arrays import copied
from rbdae.kernels import records as kb
from rbdae.multibody.workspace import Workspace


def with_unit_masses(workspace: Workspace) -> Workspace:
    """A workspace of the same memory and selection, but with unit mass, E = I, and J = I, or J of
    4 Q diag(J0, J) Q^T = I for unit quaternions."""
    number = workspace.settings.kind.number
    J = {kb.QUATERNION_RATE: 0.25, kb.DIRECTOR_RATE: 2.0}.get(number, 1.0)  # J = tr(E) I - E
    bodies = copied(workspace.memory.arrays["bodies"])
    bodies["mass"], bodies["radial"] = 1.0, J
    for name, value in (("inertia", J), ("inertia_inverse", 1.0 / J), ("euler", 1.0), ("euler_inverse", 1.0)):
        bodies[name] = value * np.eye(3)
    out = Workspace(workspace.memory, workspace.selection)
    out.own("bodies", bodies)
    return out
