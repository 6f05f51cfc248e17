"""A point-mass pendulum in Cartesian coordinates: a `Solvable`, and what a `Solution` asks for, written out by hand.

Mass 1 on a massless rod of length 1, unknowns (x, v, la), with the swing in a vertical plane that is turned
away from the axes. Its exact motion is known, so adapters are tested against a formula and not against
another integrator. mypy checks that it is a `Solvable`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

if TYPE_CHECKING:
    from rbdae.problem.contract import Solvable, StateProjector

Array = NDArray[np.float64]
Kind = Literal["ode", "dae", "overdetermined"]

GRAVITY = np.array([0.0, 0.0, -9.81])
ACROSS = np.array([np.cos(0.3), np.sin(0.3), 0.0])
DOWN = np.array([0.0, 0.0, -1.0])


def exact(t: Any, angle: float = 1.0) -> Array:
    """(x, v, la) at the times `t`, released at rest: sin(theta/2) = k cd(w t, k), k = sin(angle/2)."""
    t = np.asarray(t, dtype=float)
    w, k = np.sqrt(9.81), np.sin(angle / 2)
    sn, cn, _, _ = ellipj(ellipk(k * k) - w * t, k * k)  # sn(K - u) = cd(u)
    theta = 2 * np.arcsin(k * sn)
    rate = -2 * k * w * cn
    radial = np.sin(theta)[..., None] * ACROSS + np.cos(theta)[..., None] * DOWN
    tangent = np.cos(theta)[..., None] * ACROSS - np.sin(theta)[..., None] * DOWN
    la = rate**2 + 9.81 * np.cos(theta)
    return np.concatenate([radial, rate[..., None] * tangent, la[..., None]], axis=-1)


@dataclass
class Options:
    """What `rbdae.Projection` promises the adapters."""

    def bind(self, problem: Pendulum) -> Projector:
        return Projector(problem)


class Projector:
    """Position, then velocity, back onto the sphere; skipped below round-off."""

    def __init__(self, problem: Pendulum) -> None:
        self.restart_tolerance, self.reach = 0.0, 1.0
        self.count = 0
        self.largest = 0.0
        self.total = 0.0

    def drift(self, t: float, y: Array) -> float:
        x, v = y[:3], y[3:6]
        return float(max(abs(x @ x - 1) / 2, abs(x @ v)))

    def __call__(self, t: float, y: Array) -> bool:
        if self.drift(t, y) <= 1e-15:
            return False
        before = y.copy()
        y[:3] /= np.sqrt(y[:3] @ y[:3])
        y[3:6] -= y[:3] * (y[:3] @ y[3:6])
        size = float(np.abs(y - before).max())
        self.count += 1
        self.largest = max(self.largest, size)
        self.total += size
        return True


@dataclass
class Callbacks:
    """The equations as bare functions; tests replace some by others."""

    residual: Callable[[float, Array, Array, Array], None]
    jacobian: Callable[[float, Array, Array, float, Array], None]
    jacobian_data: Callable[[float, Array, Array, float, Array], None]
    rhs: Callable[[float, Array, Array], None]
    rhs_jacobian: Callable[[float, Array, Array], None]


KINDS: dict[str, Kind] = {"index-0": "ode", "overdetermined": "overdetermined"}
INDICES = {"index-3": 3, "index-2": 2, "index-1": 1, "index-0": 0, "overdetermined": 2}
VARIABLE_INDEX = {3: [1, 1, 1, 2, 2, 2, 3], 2: [1] * 6 + [2], 1: [1] * 7, 0: [0] * 6}


def kind_of(formulation: str) -> Kind:
    """Of one of the pendulum's forms, the keys of `INDICES`."""
    return KINDS.get(formulation, "dae")


class Pendulum:
    """`formulation` is index-3, index-2, index-1, index-0 or overdetermined.

    `trouble(t, y)` runs in each residual and right-hand side: for exceptions, or to return a factor on gravity.
    `calls` counts the calls of each callback.
    """

    rotation = "none"
    velocity = "coordinate"

    def __init__(
        self,
        formulation: str = "index-0",
        *,
        angle: float = 1.0,
        trouble: Callable[[float, Array], float] | None = None,
    ) -> None:
        self.formulation = formulation
        self.kind = kind_of(formulation)
        self.index = INDICES[formulation]
        self.n = 6 if self.kind == "ode" else 7
        self.n_equations = 8 if self.kind == "overdetermined" else self.n
        self.labels = ["x", "y", "z", "vx", "vy", "vz", "la"][: self.n]
        self.trouble = trouble
        self.t0 = 0.0
        self.y0 = exact(0.0, angle)[: self.n]
        self.yd0 = np.concatenate([self.y0[3:6], np.zeros(3), [0.0]])[: self.n]
        self.yd0[3:6] = self._acceleration(self.y0[:3], self.y0[3:6])
        self.differential = np.array([True] * 6 + [False] * (self.n - 6))
        self.algebraic = np.zeros(self.n, dtype=bool)
        self.variable_index = np.array(VARIABLE_INDEX[self.index], dtype=np.int64)
        self.layout = SimpleNamespace(q=slice(0, 3), v=slice(3, 6), la=slice(6, self.n))
        self.calls = {"residual": 0, "jacobian": 0, "jacobian_data": 0, "rhs": 0, "rhs_jacobian": 0}
        rng = np.random.default_rng(1)
        seen = np.zeros((self.n_equations, self.n))
        for _ in range(3):
            seen += self.tangent(rng.standard_normal(self.n), rng.standard_normal(self.n), 0.7) != 0
        self.sparsity = csc_matrix((seen != 0).astype(float))
        self._where = (self.sparsity.indices, np.repeat(np.arange(self.n), np.diff(self.sparsity.indptr)))
        given = (self._residual, self._jacobian, self._jacobian_data, self._rhs, self._rhs_jacobian)
        self.callbacks = Callbacks(*given)

    def switches(self) -> tuple[()]:
        """Nothing has to be chosen again on its way."""
        return ()

    def translated(self, t: float, y: Array, other: object) -> Array:
        """There is one set of unknowns."""
        return y

    # The equations

    def _weight(self, t: float, y: Array) -> float:
        return 1.0 if self.trouble is None else self.trouble(t, y)

    def _acceleration(self, x: Array, v: Array) -> Array:
        out: Array = GRAVITY - x * (x @ GRAVITY + v @ v) / (x @ x)
        return out

    def _residual(self, t: float, y: Array, yd: Array, out: Array) -> None:
        self.calls["residual"] += 1
        x, v = y[:3], y[3:6]
        weight = self._weight(t, y)
        out[:3] = yd[:3] - v
        if self.kind == "ode":
            out[3:6] = yd[3:6] - weight * self._acceleration(x, v)
            return
        out[3:6] = yd[3:6] - weight * GRAVITY + x * y[6]
        position, velocity = (x @ x - 1) / 2, x @ v
        acceleration = weight * (x @ GRAVITY) + v @ v - y[6] * (x @ x)
        if self.formulation == "overdetermined":
            out[6:] = velocity, position
        else:
            out[6] = {3: position, 2: velocity, 1: acceleration}[self.index]

    def tangent(self, y: Array, yd: Array, c: float) -> Array:
        """dF/dy + c dF/dyd."""
        x, v = y[:3], y[3:6]
        out = np.zeros((self.n_equations, self.n))
        out[:6, :6] = c * np.eye(6)
        out[:3, 3:6] = -np.eye(3)
        if self.kind == "ode":
            xx, s = x @ x, x @ GRAVITY + v @ v
            out[3:6, :3] = np.eye(3) * s / xx + np.outer(x, GRAVITY / xx - 2 * x * s / xx**2)
            out[3:6, 3:6] += np.outer(x, 2 * v / xx)
            return out
        out[3:6, :3] = y[6] * np.eye(3)
        out[3:6, 6] = x
        rows = {
            "position": np.concatenate([x, np.zeros(4)]),
            "velocity": np.concatenate([v, x, [0.0]]),
            "acceleration": np.concatenate([GRAVITY - 2 * y[6] * x, 2 * v, [-x @ x]]),
        }
        names = {
            "overdetermined": ("velocity", "position"),
            "index-3": ("position",),
            "index-2": ("velocity",),
            "index-1": ("acceleration",),
        }[self.formulation]
        out[6:] = [rows[name] for name in names]
        return out

    def _jacobian(self, t: float, y: Array, yd: Array, c: float, out: Array) -> None:
        self.calls["jacobian"] += 1
        out[:] = self.tangent(y, yd, c)

    def _jacobian_data(self, t: float, y: Array, yd: Array, c: float, data: Array) -> None:
        self.calls["jacobian_data"] += 1
        data[:] = self.tangent(y, yd, c)[self._where]

    def _rhs(self, t: float, y: Array, out: Array) -> None:
        self.calls["rhs"] += 1
        out[:3] = y[3:6]
        out[3:6] = self._weight(t, y) * self._acceleration(y[:3], y[3:6])

    def _rhs_jacobian(self, t: float, y: Array, out: Array) -> None:
        self.calls["rhs_jacobian"] += 1
        out[:] = -self.tangent(y, y, 0.0)

    # What a solution is asked for

    def states(self, t: Any, y: Array) -> dict[str, SimpleNamespace]:
        still = np.zeros_like(y[..., :3])
        return {
            "bob": SimpleNamespace(
                position=y[..., :3],
                velocity=y[..., 3:6],
                orientation=Rotation.from_rotvec(still),
                angular_velocity=still,
            )
        }

    def energy(self, t: Any, y: Array) -> SimpleNamespace:
        kinetic = 0.5 * np.sum(y[..., 3:6] ** 2, axis=-1)
        potential = -y[..., :3] @ GRAVITY
        return SimpleNamespace(kinetic=kinetic, potential=potential, total=kinetic + potential)

    def constraints(self, t: Any, y: Array) -> SimpleNamespace:
        x, v = y[..., :3], y[..., 3:6]
        position = (np.sum(x * x, axis=-1, keepdims=True) - 1) / 2
        return SimpleNamespace(position=position, velocity=np.sum(x * v, axis=-1, keepdims=True))

    def project(self, t: Any, y: Array) -> Array:
        out = np.array(y, dtype=float)
        Projector(self)(t, out)
        return out


if TYPE_CHECKING:
    IS_A_PROBLEM: type[Solvable] = Pendulum
    IS_A_PROJECTOR: type[StateProjector] = Projector
