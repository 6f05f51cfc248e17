"""Independent quasi-velocities nu, whatever the structure of the system: w = T nu - r, and what follows from it.

[NS] (7)-(11) with w = (xdot, Omega) of all bodies. A tree of spherical joints has T in closed form
(`spherical_trees`); all other systems solve the square system [G; S] w = (-g_I, nu):

    [G(q, t)] w = [-g_I(q, t)],    so T = [G]^-1 [0],    G T = 0, S T = I
    [   S   ]     [    nu    ]            [S]    [I]

and wdot likewise from (-g_II, nudot - Sdot w). Trees have one block of S per joint, in the frame of its body, and are
solved body by body (`trees`). Loops have a constant S, the independent velocities of a selection (`loops`). Dropped
equations have no row in G.

With spatial velocities omega stands in the place of Omega:

* a root of a tree, and every body of a tree of spherical joints, has omega among its quasi-velocities, so that with T*
  of [NS] (45), (46) and a chain of spherical joints the rows of T are those of Remark 4.6. nu = P nu_m with P = R^-T on
  three of them: T gets other columns;
* loops have nu = S (xdot, omega), so that the rows S P of the square system turn with the bodies.

P has no rate along the motion: (d/dt R^-T) Omega = R^-T (R^T omegadot - Omegadot) = 0, for all velocities. T^T h has
the T of nu, so that the reduced mass matrix is symmetric.
"""

from __future__ import annotations

from typing import Any, final

import numpy as np

from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.gather import clear_accelerations, gather_accelerations, gather_velocities, moving
from rbdae.kernels.bodies.natural import accelerate, move, velocity_basis
from rbdae.kernels.constraints.gradients import gradients
from rbdae.kernels.constraints.primitives import primitive_residual, primitive_vectors
from rbdae.kernels.null_space.loops import Loops
from rbdae.kernels.null_space.spherical_trees import ROOT, SphericalTree
from rbdae.kernels.null_space.trees import Tree
from rbdae.rotations.vectors import frame, reciprocal


@final
class _Square:
    """The square system at the placed bodies."""

    def __init__(self, m: Memory) -> None:
        self._m = m
        self._system = Tree(m) if m.head.structure == "tree" else Loops(m)
        self._first = m.head.n_v - m.head.n_nu

    def velocities(self, nu: Array) -> None:
        """Natural velocities of all bodies, the vectors and gradients of the primitives, and the factors."""
        m = self._m
        for s in m.states[:-1]:
            s.xd[:] = 0.0
            s.w[:3] = 0.0
        move(m)
        primitive_vectors(m, 1)
        velocity_basis(m)
        gradients(m)
        self._system.factorise()
        gather_velocities(m, self._system.solve(self._known(nu, 1)), 0)
        move(m)

    def accelerations(self, nud: Array) -> None:
        """Natural accelerations of all bodies, and those of the primitives. Follows `velocities`."""
        m = self._m
        clear_accelerations(m)
        accelerate(m)
        primitive_vectors(m, 2)
        known = self._known(nud - self._system.frame_rates(), 2)
        gather_accelerations(m, self._system.solve(known), 0)
        accelerate(m)
        primitive_vectors(m, 2)

    def _known(self, nu: Array, level: int) -> Array:
        """(-g_I, nu) at level 1, (-g_II, nudot) at level 2. Reads the vectors of the primitives at zero velocities, or
        accelerations."""
        g = np.zeros(self._m.head.n_la, dtype=nu.dtype)
        primitive_residual(self._m, g, 0, level)
        kept = [p.row + k for p in self._m.primitives for k in range(p.n) if p.keep[k] == 1]
        return np.concatenate([-g[kept], nu])

    def rates(self, vd: Array) -> Array:
        """nudot = S vdot + Sdot w."""
        return self._system.select(vd) + self._system.frame_rates()

    def reduced(self, f: Array) -> Array:
        """T^T f. Follows `velocities`."""
        return self._system.solve_transposed(f)[self._first :]

    def matrix(self) -> Array:
        """T (nv x nnu), the solution for the unit vectors of nu. Follows `velocities`."""
        n, first = self._m.head.n_v, self._first
        kind = self._m.states[0].d.dtype
        return np.array([self._system.solve(unit.astype(kind)) for unit in np.eye(n)[first:]]).reshape(-1, n).T


@final
class QuasiVelocities:
    """w(nu) at the placed bodies, and its derivatives."""

    def __init__(self, m: Memory) -> None:
        self._m = m
        self._of: SphericalTree | _Square = SphericalTree(m) if m.head.structure == "spherical tree" else _Square(m)

    def velocities(self, nu: Array) -> None:
        """Natural velocities of all bodies."""
        self._of.velocities(self._turned(nu, lambda s: s.d.reshape(3, 3)))

    def accelerations(self, nud: Array) -> None:
        """Natural accelerations, and the rates of the primitives. Follows `velocities`."""
        self._of.accelerations(self._turned(nud, lambda s: s.d.reshape(3, 3)))

    def rates(self, vd: Array) -> Array:
        """nudot = S vdot + Sdot w, of the moved bodies."""
        return self._turned(self._of.rates(vd), lambda s: reciprocal(frame(s.d)))

    def reduced(self, f: Array) -> Array:
        """T^T f. Follows `velocities`."""
        return self._turned(self._of.reduced(f), lambda s: s.d.reshape(3, 3).T)

    def matrix(self) -> Array:
        """T (nv x nnu). Follows `velocities`."""
        velocity_basis(self._m)
        return self._turned(self._of.matrix().T, lambda s: s.d.reshape(3, 3).T).T

    def _turned(self, nu: Array, matrix: Any) -> Array:
        """nu, or rows of T^T, with a matrix times Omega, or omega, of the bodies that have it."""
        kind = self._m.head.structure
        if self._m.head.spatial == 0 or kind == "loops":
            return nu
        nu = nu.copy()
        for o, s in moving(self._m):
            if o.parent == ROOT or kind == "spherical tree":
                first = o.inu + (o.nt if o.parent == ROOT else 0)
                nu[first : first + 3] = matrix(s) @ nu[first : first + 3]
        return nu


def velocities_from_nu(m: Memory, y: Array, offset: int) -> QuasiVelocities:
    """Natural velocities of all placed bodies from nu in y."""
    out = QuasiVelocities(m)
    out.velocities(y[offset : offset + m.head.n_nu])
    return out
