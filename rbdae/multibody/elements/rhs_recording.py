"""Bodies, forces and joints of right-hand sides on symbols, recorded once for their kind.

A force has its natural forces on its bodies, and the rates of its internal states. A body has qdot and its free
acceleration, that without joints, under the forces on it. A joint has for each side the gradients Gx and H = Gw N
of its rows with respect to xdot and to the three numbers that its internal constraints leave of w, their products A
with the inverse mass, its block of G M^-1 G^T, and the right side G vdot + g_II at the free accelerations. They are
what kernels give for a memory that has no other bodies, forces and joints; see `rbdae.kernels.linear.saddle`. Rows that
are dropped are those of the identity, with a right side of 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae._arrays import Ints
from rbdae.formulations.explicit import free_rates, unsolved
from rbdae.kernels.linear.saddle import internal_multipliers, shares
from rbdae.multibody.elements.element_groups import Group
from rbdae.multibody.elements.element_recording import NATURAL, Recorded, keeps_directors
from rbdae.multibody.memory.workspace import Workspace

Matrix = Any
"""An array of symbols and numbers."""


def recorded_body(workspace: Workspace, group: Group, *, loaded: bool) -> tuple[Recorded, Any]:
    """Bodies of a kind, and (qdot, vdot) without joints, if `loaded` under the natural forces ``"load"``, too."""
    body = Recorded(workspace, group)
    if loaded:
        load, record = body.recorder.with_inputs("load", [0.5] * NATURAL), body.m.bodies[0]
        record.weight, record.weight_d = record.weight + load[:3], record.weight_d + load[3:]
    out = np.zeros(len(body.q) + body.n_v, dtype=object)
    body.at_state(free_rates, out)
    return body, out


def recorded_multipliers(workspace: Workspace, group: Group, *, loaded: bool) -> tuple[Recorded, Any]:
    """Bodies of a kind, and their internal multipliers: functions of what the saddle-point system is
    solved for (``"free"``), and of the forces of the joints along their rotational velocities, the inputs ``"joint"``.
    """
    body, _ = recorded_body(workspace, group, loaded=loaded)
    record = body.m.bodies[0]
    forces = body.recorder.with_inputs("joint", [0.5] * record.nr)
    body.m.solution[: body.n_v] = body.recorder.inputs("free")
    body.m.right_hand_side[record.nt : record.nt + record.nr] += forces
    body.run(internal_multipliers)
    return body, body.m.multipliers[: record.ni]


def changed(workspace: Workspace) -> bool:
    """Whether the unknowns are momenta, or spatial velocities."""
    return workspace.settings.momenta or bool(workspace.settings.spatial)


@final
class Joint:
    """Joints of a kind, recorded.

    Attributes
    ----------
    rows : number of equations
    K, A : for each side (rows, 6): (Gx, H), and its product with the inverse mass, for generalised forces other than
        G^T la with these; (rows, 3) of a body with a pivot
    weights : for each side the inverse mass and Ji
    block, diagonal, side, known : the lower triangle of G M^-1 G^T, row by row, and its diagonal; G vdot + g_II; g_I
    moved, at_rest : the two parts of `side`, of which the kernel gives the second one
    """

    def __init__(self, workspace: Workspace, group: Group, kernel: Any = unsolved) -> None:
        self.of = Recorded(workspace, group, turned=keeps_directors(workspace))
        of, m = self.of, self.of.m
        of.at_state(kernel)
        self.rows = len(of.rows)
        self.K, self.A, self._N = list[Matrix](), list[Matrix](), list[Matrix]()
        by_moment = shares(m, int(kernel is unsolved))
        self.weights, self._Gw, G = list[tuple[Any, Matrix]](), list[Matrix](), list[Matrix]()
        for b in range(len(of.moving)):
            body, state = m.bodies[b], m.states[b]
            Gx, Gw, H = (self._side(b, name, n) for name, n in (("Gx", body.nt), ("Gw", body.nr), ("H", 3)))
            HJ = (H @ np.array(state.Ji, dtype=object)) * by_moment[b]
            share = 1.0 / body.mass
            self.K.append(np.hstack([Gx, H]))
            self.A.append(np.hstack([Gx * share, HJ]))
            self.weights.append((share, np.array(state.Ji, dtype=object)))
            self._N.append(np.eye(3) if of.angular else np.array(state.N, dtype=object)[: body.nr])
            self._Gw.append(Gw)
            G.append(np.hstack([Gx, Gw]))
        free = of.recorder.inputs("free")
        S = sum((A @ K.T for A, K in zip(self.A, self.K, strict=True)), np.zeros((self.rows, self.rows), dtype=object))
        for i in np.flatnonzero([k == 0 for p in m.primitives for k in p.keep[: p.n]]):
            S[i, i] = 1.0
        self.block, self.diagonal = S[np.tril_indices(self.rows)], S.diagonal()
        own = slice(m.head.n_internal, m.head.n_internal + self.rows)
        self.at_rest, self.known = m.constraint_side[own], m.square_side[own]
        self.moved = np.hstack(G) @ free
        self.side = self.moved + self.at_rest

    def _side(self, b: int, name: str, n: int) -> Matrix:
        """The first n columns of a matrix of the primitives, of the side of one body."""
        m = self.of.m
        found = [
            np.array(getattr(r, name)[p.body.index(b)])[: p.n, :n] for p, r in zip(m.primitives, m.rows, strict=True)
        ]
        return np.vstack(found)

    @property
    def slots(self) -> Ints:
        """The places of their equations in the order of elimination, (elements, rows)."""
        P, own = self.of.workspace.arrays["primitives"], self.of.group.primitives
        return np.hstack([P["slot"][k][:, :n] for k, n in zip(own.T, P["n"][own[0]].tolist(), strict=True)])

    @property
    def multipliers(self) -> Ints:
        """The places of their multipliers among those of all constraints, (elements, rows)."""
        return np.array(self.of.rows).T

    def pushed(self, b: int, la: Sequence[Any]) -> Matrix:
        """-M^-1 G^T la of one body."""
        change = self.A[b].T @ np.array(la, dtype=object)
        n = len(change) - 3
        return -np.concatenate([change[:n], self._N[b] @ change[n:]])

    def forces(self, b: int, la: Sequence[Any]) -> Matrix:
        """-Gw^T la of one body, along its rotational velocities."""
        return -(self._Gw[b].T @ np.array(la, dtype=object))

    def is_number(self, value: Any) -> bool:
        """Whether it is the same number for all elements."""
        return isinstance(self.of.graph.value(self.of.recorder.number(value)), float)
