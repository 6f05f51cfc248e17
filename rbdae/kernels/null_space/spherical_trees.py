"""Independent velocities of a tree of spherical joints in closed form: w = (xdot, Omega) = T nu, T = T_int T_ext.

[NS], sections 2 and 5. nu holds (xdot, Omega) of a free root, Omega of a root with a pivot, and Omega of a body that
hangs by a spherical joint from its parent:

    x_c + R_c r_c = x_p + R_p r_p,  xdot_c = xdot_p + R_p (Omega_p x r_p) - R_c (Omega_c x r_c).

(With x_2 = x_1 + R_1 rho_1 - R_2 rho_2 the last block of T_ext is + R(d_2) E(rho_2); the paper prints a minus.)
Parents come before children; -1 marks a root, the number of bodies the ground.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, final

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory
from rbdae.kernels.bodies.natural import accelerate, move
from rbdae.kernels.constraints.primitives import primitive_vectors

ROOT = -1


@final
class SphericalTree:
    """The tree at the placed bodies."""

    def __init__(self, m: Memory) -> None:
        self._m, self._n_nu, self._n_v = m, m.head.n_nu, m.head.n_v

    def _bodies(self) -> Iterator[tuple[Any, Any, slice, slice, slice]]:
        """Record and state of each body, the places of xdot and Omega in w, and of its quasi-velocities."""
        for o, s in zip(self._m.bodies[:-1], self._m.states[:-1], strict=True):
            turning = o.iv + o.nt
            n = 3 + (o.nt if o.parent == ROOT else 0)
            yield o, s, slice(o.iv, turning), slice(turning, turning + 3), slice(o.inu, o.inu + n)

    def velocities(self, nu: Array) -> None:
        """Natural velocities of all bodies, parents first."""
        for o, s, _, _, own in self._bodies():
            s.w[:3] = nu[own][-3:]
            if o.parent == ROOT and o.nt == 3:
                s.xd[:] = nu[own][:3]
        move(self._m)
        for o, s, *_ in self._bodies():
            if o.parent != ROOT:
                parent = self._m.states[o.parent]
                s.xd[:] = parent.xd + _arm(o.parent_arm, parent.dd) - _arm(o.arm, s.dd)

    def accelerations(self, nud: Array) -> None:
        """Natural accelerations likewise, T nudot + Tdot nu, and the velocities of the primitives."""
        for o, s, _, _, own in self._bodies():
            s.wd[:3] = nud[own][-3:]
            if o.parent == ROOT and o.nt == 3:
                s.xdd[:] = nud[own][:3]
        accelerate(self._m)
        for o, s, *_ in self._bodies():
            if o.parent != ROOT:
                parent = self._m.states[o.parent]
                s.xdd[:] = parent.xdd + _arm(o.parent_arm, parent.ddd) - _arm(o.arm, s.ddd)
        primitive_vectors(self._m, 1)

    def rates(self, vd: Array) -> Array:
        """nudot from (xddot, Omegadot): the quasi-velocities are entries of w."""
        parts = [vd[x.start if o.parent == ROOT else w.start : w.stop] for o, _, x, w, _ in self._bodies()]
        return np.concatenate(parts)

    def reduced(self, f: Array) -> Array:
        """T^T f, children first: the forces of each subtree, and their moments by the columns -R_c r_c^ of T."""
        f, out = f.copy(), np.zeros(self._n_nu, dtype=f.dtype)
        B, S = self._m.bodies, self._m.states
        loads = [[np.zeros(3, dtype=f.dtype), f[w]] for _, _, _, w, _ in self._bodies()]
        for (o, _, x, _, _), load in zip(self._bodies(), loads, strict=True):
            load[0][: o.nt] = f[x]
        for b, (o, s, _, _, own) in reversed([*enumerate(self._bodies())]):
            force, moment = loads[b]
            if o.parent != ROOT:
                moment = moment - cross(o.arm, s.d.reshape(3, 3) @ force)
                if B[o.parent].fixed == 0:
                    above = loads[o.parent]
                    above[0] = above[0] + force
                    above[1] = above[1] + cross(o.parent_arm, S[o.parent].d.reshape(3, 3) @ force)
            out[own] = moment if o.parent != ROOT else np.concatenate([force[: o.nt], moment])
        return out

    def matrix(self) -> Array:
        """T (nv x nnu). Reads B of the bodies."""
        T = np.zeros((self._n_v, self._n_nu), dtype=self._m.states[0].d.dtype)
        places = [*self._bodies()]
        for o, s, x, w, own in places:
            turns = slice(own.stop - 3, own.stop)
            T[w, turns] = np.eye(3)
            if o.parent == ROOT:
                T[x, own.start : own.stop - 3] = np.eye(o.nt)
                continue
            T[x, turns] -= _arm_tangent(o.arm, s)
            if self._m.bodies[o.parent].fixed == 0:
                _, parent, x_parent, _, nu_parent = places[o.parent]
                if x_parent.stop > x_parent.start:
                    T[x] += T[x_parent]
                T[x, nu_parent.stop - 3 : nu_parent.stop] += _arm_tangent(o.parent_arm, parent)
        return T


def _arm(r: Array, d: Array) -> Array:
    """D r for directors d, or rates of them."""
    return r @ d.reshape(3, 3)


def _arm_tangent(r: Array, s: Any) -> Array:
    """d(D r)/dOmega, -R r^."""
    return (r @ s.B[:, :3].reshape(3, 9)).reshape(3, 3)
