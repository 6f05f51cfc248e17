"""The mid-point step of [GR95], section 11: residual, tangent, and the solution by Newton's method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Mat, Vec

_ITERATIONS = 30


class MidpointState(NamedTuple):
    """A body: centre of mass x (3,), m, R (3, 3), velocity v (3,), m/s, and Omega (3,) in its frame, rad/s."""

    x: Vec
    R: Mat
    v: Vec
    Omega: Vec


@final
@dataclass(frozen=True, slots=True, eq=False)
class MidpointStep:
    """The equations of a step of a body on a fixed point, in x1, Euler's parameters e of the increment and lambda.

    `residual` is [GR95] (341) with (342), `tangent` is (343), (344), and `end` and `solved` are section 11.5. Half the
    increment is F(e) of (324), so that R_mean = R0 F; rotations by half a turn in a step are out of range.

    Parameters
    ----------
    start : MidpointState
    step : float
        h, s
    mass : float
        kg
    inertia : (3,) or (3, 3) array_like
        About the centre of mass, kg m^2.
    arm : (3,) array_like
        X_g, the centre of mass from the fixed point, in the body's frame, m: x = R X_g.
    force : (3,) array_like
        f_ext on the centre of mass, in space, N; for weight, mass times gravity.
    """

    start: MidpointState
    step: float
    mass: float
    inertia: Mat
    arm: Vec
    force: Vec

    def __post_init__(self) -> None:
        owner = "MidpointStep"
        x, R, v, Omega = self.start
        start = MidpointState(
            _check.vector(owner, "x", x),
            _check.array(owner, "R", R, (3, 3)),
            _check.vector(owner, "v", v),
            _check.vector(owner, "Omega", Omega),
        )
        inertia = _check.symmetric(owner, "inertia", self.inertia, (3,), (3, 3))
        object.__setattr__(self, "start", start)
        object.__setattr__(self, "step", _check.positive(owner, "step", self.step, "give a step in seconds"))
        object.__setattr__(self, "mass", _check.positive(owner, "mass", self.mass, "give kilograms"))
        object.__setattr__(self, "inertia", np.diag(inertia) if inertia.ndim == 1 else inertia)
        object.__setattr__(self, "arm", _check.vector(owner, "arm", self.arm))
        object.__setattr__(self, "force", _check.vector(owner, "force", self.force))

    def residual(self, u: ArrayLike) -> Vec:
        """(r_x, r_e, r_lambda), (9,), at u = (x1, e, lambda), (9,): N, N m, m; [GR95] (341)."""
        x1, e, la = self._unknowns("residual", u)
        x0, R0, v0, Omega0 = self.start
        h, F, J = self.step, half_of(e), self.inertia
        Rh, X = R0 @ F, _spin(self.arm)
        return np.concatenate(
            [
                self.force + la + 2.0 / h * self.mass * v0 - 2.0 * self.mass / h**2 * (x1 - x0),
                -Rh @ X @ Rh.T @ la + 2.0 / h * R0 @ J @ Omega0 - 4.0 / h**2 * Rh @ J @ e,
                x1 - x0 + 2.0 * Rh @ X @ e,
            ]
        )

    def tangent(self, u: ArrayLike) -> Mat:
        """S = -d(residual)/du, (9, 9), at u: [GR95] (343), (344). The term dF/de_i J of S_ee has the factor e."""
        _, e, la = self._unknowns("tangent", u)
        R0, h, J, X = self.start.R, self.step, self.inertia, _spin(self.arm)
        F, dF = half_of(e), _slopes(e)
        back = R0.T @ la
        See = 4.0 / h**2 * F @ J
        Sle = F @ X
        for i, D in enumerate(dF):
            See[:, i] += 4.0 / h**2 * D @ J @ e + (D @ X @ F.T + F @ X @ D.T) @ back
            Sle[:, i] += D @ X @ e
        zero, identity = np.zeros((3, 3)), np.eye(3)
        Rh = R0 @ F
        return np.block(
            [
                [2.0 * self.mass / h**2 * identity, zero, -identity],
                [zero, R0 @ See, Rh @ X @ Rh.T],
                [-identity, -2.0 * R0 @ Sle, zero],
            ]
        )

    def end(self, u: ArrayLike) -> MidpointState:
        """The state at the end of the step, by the average of momenta (310): [GR95], section 11.5, (iv)."""
        x1, e, _ = self._unknowns("end", u)
        x0, R0, v0, Omega0 = self.start
        F = half_of(e)
        R1 = R0 @ F @ F
        momentum = 4.0 / self.step * R0 @ F @ self.inertia @ e - R0 @ self.inertia @ Omega0
        Omega1 = np.asarray(np.linalg.solve(self.inertia, R1.T @ momentum), dtype=float)
        return MidpointState(x1, R1, 2.0 / self.step * (x1 - x0) - v0, Omega1)

    def solved(self) -> Vec:
        """The unknowns (x1, e, lambda), (9,), by Newton's method starting from a motion without forces.

        Raises
        ------
        RuntimeError
            if it does not converge, because the step is too large
        """
        x0, _, v0, Omega0 = self.start
        h = self.step
        u: Vec = np.concatenate([x0 + h * v0, np.clip(0.5 * h * Omega0, -0.5, 0.5), np.zeros(3)])
        for _ in range(_ITERATIONS):
            change = np.asarray(np.linalg.solve(self.tangent(u), self.residual(u)), dtype=float)
            u = u + change
            if not np.linalg.norm(u[3:6]) < 1.0:
                break
            if np.abs(change[:6]).max() <= 1e-14 * max(1.0, float(np.abs(u[:6]).max())):
                return u
        raise RuntimeError(f"MidpointStep: Newton's method does not converge with step = {h:g} s; take a smaller one")

    def _unknowns(self, what: str, u: ArrayLike) -> tuple[Vec, Vec, Vec]:
        found = _check.array(f"MidpointStep.{what}", "u", u, (9,))
        if not np.linalg.norm(found[3:6]) < 1.0:
            raise ValueError(
                f"MidpointStep.{what}: e must be shorter than 1, got {_check.show(found[3:6])}; a step has less than "
                "half a turn"
            )
        return found[:3], found[3:6], found[6:]


def half_of(e: Vec) -> Mat:
    """F of [GR95] (324), with e0 of (196)."""
    e0 = np.sqrt(1.0 - e @ e)
    out: Mat = e0 * np.eye(3) + np.outer(e, e) / (1.0 + e0) + _spin(e)
    return out


def _slopes(e: Vec) -> list[Mat]:
    """The derivatives of F by e_1, e_2, e_3."""
    e0 = np.sqrt(1.0 - e @ e)
    out = []
    for i, k in enumerate(np.eye(3)):
        across = np.outer(k, e)
        D = -e[i] / e0 * np.eye(3) + (across + across.T) / (1.0 + e0) + _spin(k)
        out.append(D + e[i] / (e0 * (1.0 + e0) ** 2) * np.outer(e, e))
    return out


def _spin(a: Vec) -> Mat:
    """a~, with a~ b = a x b."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
