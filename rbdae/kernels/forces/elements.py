"""The applied forces: of each its natural forces on the bodies, its potential, and the power of what has none.

Natural coordinates z of a body are the rows x, d1, d2, d3 of an array (4, 3), those of several bodies one below the
other; the natural forces F on them have the power F : zdot.

`Along` is a law along quantities s(z) of two bodies, with a potential V(s), dampers D and a load u,

    F = -(ds/dz)^T f,    f = dV/ds + D sdot - u(t, s, sdot),    V = (s - s0) . K (s - s0) / 2 - u . s,

where u is in V if it is constant and s is no angle: a constant torque about an axis would have no single value. The
quantities follow from forms q = sum P . Q of points and directions P = sum A_k z_k, Q = sum B_k z_k: they are the q
themselves (IDENTITY), the root of one (ROOT, a length), or the angle of which two are sine and cosine (ANGLE). A spring
between points has s = P ([NS], Example C; POINT). A rate that belongs to no quantity is Q . Pdot, along axes of a body,
or half the sum of d x ddot of the second body less that of the first (TURN), the relative angular velocity in space.
Such forces have no potential.

An angle with a stiffness has an internal state, its winding phi, with phidot the rate of the angle. The force takes the
angle of the position, on the branch next to phi: it has no drift, and it depends on its arguments alone.

`ByFunction` is a force by the user's functions, with internal states s: F(t, z, zdot, s, u) and sdot = f(t, z, zdot, s,
u), or 0 = f for algebraic unknowns. It may have a potential V(t, z).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from math import pi
from typing import Any, final

import numpy as np

from rbdae._arrays import cross
from rbdae.graph.functions import Array, Memory, arctan2
from rbdae.kernels.records import ANGLE, FUNCTION, POINT, ROOT, TURN
from rbdae.kernels.user_functions import call_user_function

_TURN = 2.0 * pi


def turns(angle: Any, to: Any) -> Any:
    """The full turns that bring an angle next to another one; no number where one of them is none."""
    if hasattr(angle, "recorder") or hasattr(to, "recorder"):
        return _TURN * np.floor((to - angle) / _TURN + 0.5)
    return _TURN * np.floor((to.real - angle.real) / _TURN + 0.5)


def called(function: int, t: Any, x: Any, n: int) -> Array:
    """n results of a user's function at (t, x). Without any it is not called, such as the law of a block that others
    only read."""
    arguments = np.array(x)
    out = np.zeros(n, dtype=np.result_type(arguments, object if hasattr(t, "recorder") else float))
    if n:
        call_user_function(function, t, arguments, out)
    return out


class Force:
    """An applied force on some bodies, by their numbers, at natural coordinates z and rates zd (4 n, 3). Its internal
    states begin at `first_state`; with `by_reaction` it is friction under the reaction of a joint."""

    first_state = 0
    by_reaction = False

    def __init__(self, m: Memory, of: Sequence[int]) -> None:
        self.m, self.bodies = m, of
        S = [m.states[b] for b in of]
        self.z = np.array([[*s.x, *s.d] for s in S]).reshape(-1, 3)
        self.zd = np.array([[*s.xd, *s.dd] for s in S]).reshape(-1, 3)

    def natural(self) -> Array:
        """F (4 n, 3)."""
        raise NotImplementedError

    def potential(self) -> Any:
        """V, J."""
        return 0.0

    def unconserved(self) -> Any:
        """The power of all that has no potential, W."""
        return self.power()

    def rates(self) -> Array:
        """The rates of its internal states."""
        return ()

    @final
    def power(self) -> Any:
        """F : zdot, W."""
        return np.sum(self.natural() * self.zd)

    @final
    def act(self) -> None:
        """Add F to the natural forces of the bodies. Writes the rates of internal states to `force_state_rates`."""
        S = self.m.states
        for b, f in zip(self.bodies, self.natural().reshape(-1, 12), strict=True):
            S[b].fx[:] += f[:3]
            S[b].fd[:] += f[3:]
        rates, first = self.rates(), self.first_state
        if len(rates):
            self.m.force_state_rates[first : first + len(rates)] = rates


class Along(Force):
    """A law along quantities of two bodies."""

    def __init__(self, m: Memory, i: int) -> None:
        e = self.e = m.elements[i]
        super().__init__(m, e.body)
        self.products = m.entries[e.first : e.last]
        self.first_state, self.by_reaction = e.state, e.reaction > 0
        self.s, self.J, self.sd = self.quantities()

    def quantities(self) -> tuple[Array, Array, Array]:
        """s, ds/dq and sdot."""
        q, r = forms(self.e, self.products, self.z, self.zd)
        s, J = displacements(self.e.shaping, q)
        if self.e.winding == 1:
            s[0] = s[0] + turns(s[0], self.m.force_states[self.e.state])
        return s, J, J @ r

    def natural(self) -> Array:
        f = self._conserved()[1] + self._lost()
        return -pulled(self.e, self.products, self.z, self.J.T @ f)

    def potential(self) -> Any:
        return self._conserved()[0]

    def unconserved(self) -> Any:
        return -(self._lost() @ self.sd)

    @property
    def _has_potential(self) -> bool:
        """Whether the load has one: a constant along what is no angle."""
        e = self.e
        return bool(e.holonomic == 1 and e.force == 0 and e.n_inputs == 0 and e.shaping != ANGLE)

    def _conserved(self) -> tuple[Any, Array]:
        """V and dV/ds."""
        e, s, n = self.e, self.s, len(self.s)
        d = s - e.rest[:n]
        f = e.stiffness[:n, :n] @ d
        V = e.level + 0.5 * (d @ f)
        if self._has_potential:
            u = e.constant[:n] * e.sign
            V, f = V - u @ s, f - u
        return V, f

    def _lost(self) -> Array:
        """D sdot - u, with the load u(t, s, sdot) where it has no potential."""
        e, n = self.e, len(self.s)
        f = e.damping[:n, :n] @ self.sd
        return f if self._has_potential else f - self._load() * e.sign

    def _load(self) -> Array:
        """u: a constant, inputs, or a law of time, motion, constants and inputs, times a reaction's size."""
        m, e, n = self.m, self.e, len(self.s)
        if e.force == 0:
            return _read(m, e) if e.n_inputs else e.constant[:n]
        u = called(e.force, m.head.time, [*self.s, *self.sd, *_constants(m, e), *_read(m, e)], n)
        return u * m.normals[e.reaction - 1] if e.reaction > 0 else u

    def rates(self) -> Array:
        return self.sd if self.e.winding == 1 else ()


def forms(e: Any, products: Sequence[Any], z: Array, zd: Array) -> tuple[Array, Array]:
    """The forms q of one law by its products, zero where only their rates exist, and the rates r."""
    zero = 0.0 * z[0, 0]
    if e.shaping == TURN:
        spins = cross(z, zd)
        return np.array([zero] * 3), 0.5 * (spins[5:8].sum(axis=0) - spins[1:4].sum(axis=0))
    if e.shaping == POINT:
        return products[0].A @ z, products[0].A @ zd
    q, r = [zero] * e.forms, [zero] * e.forms
    for k in products:
        Q = k.B @ z
        r[k.form] = r[k.form] + (k.A @ zd) @ Q
        if e.holonomic:
            P = k.A @ z
            q[k.form] = q[k.form] + P @ Q
            r[k.form] = r[k.form] + P @ (k.B @ zd)
    return np.array(q), np.array(r)


def pulled(e: Any, products: Sequence[Any], z: Array, w: Array) -> Array:
    """(dr/dzdot)^T w of the forms of one law at z, (8, 3)."""
    out = 0.0 * z
    if e.shaping == TURN:
        out[1:4], out[5:8] = -0.5 * cross(w, z[1:4]), 0.5 * cross(w, z[5:8])
        return out
    if e.shaping == POINT:
        return np.outer(products[0].A, w)
    for k in products:
        out = out + np.outer(k.A, (k.B @ z) * w[k.form])
        if e.holonomic:
            out = out + np.outer(k.B, (k.A @ z) * w[k.form])
    return out


def _read(m: Memory, e: Array) -> Array:
    return m.inputs[m.element_inputs[e.first_input : e.first_input + e.n_inputs]]


def _constants(m: Memory, e: Array) -> list[Any]:
    return [k.value for k in m.element_constants[e.first_parameter : e.first_parameter + e.n_parameters]]


def displacements(shaping: int, q: Array) -> tuple[Array, Array]:
    """The quantities s of forms q, and ds/dq."""
    if shaping == ROOT:
        length = q[0] ** 0.5
        return np.array([length]), np.array([[0.5 / length]])
    if shaping == ANGLE:
        d = 1.0 / (q[0] * q[0] + q[1] * q[1])
        return np.array([arctan2(q[0], q[1])]), np.array([[d * q[1], -d * q[0]]])
    return q + 0.0, np.eye(len(q))


class ByFunction(Force):
    """A force by a user's function f(t, z, zdot, s, u, p) = (F, sdot) with internal states s, inputs u and constants p,
    and perhaps another one, V(t, z)."""

    def __init__(self, m: Memory, i: int) -> None:
        e = self.e = m.elements[i]
        super().__init__(m, m.element_bodies[e.first_body : e.first_body + e.n_bodies])
        self.first_state = e.state

    def _at(self, zd: Array) -> Array:
        m, e = self.m, self.e
        s = m.force_states[e.state : e.state + e.n_states]
        x = [*self.z.ravel(), *zd.ravel(), *s, *_read(m, e), *_constants(m, e)]
        return called(e.force, m.head.time, x, self.z.size + e.n_states)

    def without_rates(self) -> Array:
        """F (4 n, 3) at rest."""
        return self._at(0.0 * self.zd)[: self.z.size].reshape(self.z.shape)

    @cached_property
    def _results(self) -> Array:
        return self._at(self.zd)

    def natural(self) -> Array:
        return self._results[: self.z.size].reshape(self.z.shape)

    def rates(self) -> Array:
        return self._results[self.z.size :]

    def potential(self) -> Any:
        return 0.0 if self.e.potential == 0 else self.potential_at(self.z)

    def potential_at(self, z: Array, later: Any = 0.0) -> Any:
        """V at other natural coordinates, and at another time."""
        return called(self.e.potential, self.m.head.time + later, z.ravel(), 1)[0]

    def at_rest(self) -> Any:
        """The power of F without rates, if that has a potential, W. Where V depends on the time, too, it is not what V
        loses: those who have an interval take the rest from there."""
        if self.e.potential == 0:
            return 0.0
        return np.sum(self.without_rates() * self.zd)

    def unconserved(self) -> Any:
        return self.power() - self.at_rest()


def applied_forces(m: Memory) -> None:
    """Add all applied forces but friction under reactions to the natural forces. Leaves the rates of the internal
    states."""
    for force in all_forces(m):
        if not force.by_reaction:
            force.act()


def all_forces(
    m: Memory,
    along: Callable[[Memory, int], Force] = Along,
    by_function: Callable[[Memory, int], Force] = ByFunction,
) -> Iterator[Force]:
    """All applied forces: what is added here is known to equations, energy, work and the
    steps of conserving schemes, which have laws of their own. Reads the natural coordinates and `force_states`."""
    for i in range(m.head.n_elements):
        yield (by_function if m.elements[i].shaping == FUNCTION else along)(m, i)
