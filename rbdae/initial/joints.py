"""The joints in natural coordinates, on arrays: g, gdot and G of all equations at once, and the nearest state on them.

Over the natural coordinates Z = (x, d1, d2, d3) of two bodies every equation is

    g = scale P . Q - offset(t),  P = sum A_k(t) Z_k,  Q = q + sum B_k Z_k,

where q is a unit vector in equations that are linear in Z, and zero in all others; or a law of such g. Gradients refer
to displacements and turns about the axes of the bodies, dR = R [dtheta]x ([NS], sections 2 and 5).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae._arrays import Mat, Vec, copied
from rbdae.kernels.constraints.drives import drive
from rbdae.kernels.user_functions import UserFunction, user_function
from rbdae.multibody.choices.velocity_selection import sparse_matrix
from rbdae.multibody.system.bodies import BodyMotion
from rbdae.multibody.system.model import Model
from rbdae.problem.contract import ProjectionError
from rbdae.rotations.vectors import product

EXACT = 1e-14
"""Violations over their sizes up to here are left alone."""

_EYE = np.eye(3)
_STEPS = 50
_HALVINGS = 10  # of a step that does not reduce the violation
_SINGULAR = 1e-13  # pivots over the diagonal
_DENSE = 100  # equations up to which a dense factorisation is no slower than a sparse one


@final
class Joints:
    """The joint equations of a model at one time; `sizes` (rows,) is what violations are compared
    with, `bodies` (rows, 2) are the numbers of their bodies."""

    def __init__(self, model: Model, t: float) -> None:
        table, self._laws = _with_parts(model.primitives)
        for k, law in model.rheonomic.items():
            drive(table.view(np.recarray)[k], law, np.ravel(law.motion(t)))
        counts = table["n"]
        of = np.repeat(np.arange(len(table)), counts)
        component = np.arange(len(of)) - (np.cumsum(counts) - counts)[of]
        self.model, self.t = model, t
        self.sizes = model.scales.sizes(model.scales.length)
        self._pairs = table["body"][of]
        self.bodies = self._pairs[: len(self.sizes)]
        self._A, self._A_rate, self._B, self._scale = (table[name][of] for name in ("A", "Ad", "B", "scale"))
        self._q = np.where((table["linear"] == 1)[of, None], _EYE[component], 0.0)
        self._offset, self._offset_rate = table["offset"][of, component], table["offset_rate"][of, component]
        self._free = model.bodies["nt"] == 3  # the ground, the last one, has none

    @cached_property
    def _inverses(self) -> tuple[Vec, Mat]:
        """The inverse masses and inertias of all bodies; zero of what does not move."""
        bodies = self.model.bodies
        inertia = bodies["inertia_inverse"].copy()
        inertia[-1] = 0.0
        return np.where(self._free, 1.0 / bodies["mass"], 0.0), inertia

    def of_origins(self, arms: Mat) -> Joints:
        """The same equations of motions of the origins; `arms` (n, 3) lead from them to the reference points."""
        out, of = copy.copy(self), np.vstack([arms, np.zeros(3)])[self._pairs]
        out._A, out._B = (np.copy(c).reshape(-1, 2, 4) for c in (self._A, self._B))
        for c in (out._A, out._B):
            c[:, :, 1:] += c[:, :, :1] * of
        out._A, out._B = out._A.reshape(-1, 8), out._B.reshape(-1, 8)
        return out

    def _combined(self, g: Vec, rates: Mat) -> Mat:
        """Rates or gradients of the rows, by those of all and by the values g of all."""
        for row, parts, law in self._laws:
            slopes, of_law = np.empty(law.n_in), law.slope
            assert of_law is not None
            of_law.plain(self.t, g[parts], slopes)
            rates[row] = np.tensordot(slopes, rates[parts], 1)
        return rates[: len(self.bodies)]

    # ------------------------------------------------------------ g, gdot, G

    def values(self, motion: BodyMotion) -> Vec:
        """g, (rows,), at a motion of the reference points."""
        return self._of_rows(self._values(*self._factors(motion)[1:]))

    def _values(self, P: Mat, Q: Mat) -> Vec:
        """g without laws of combinations, whose parts are at the end."""
        return np.asarray(self._scale * np.sum(P * Q, axis=1) - self._offset)

    def _of_rows(self, g: Vec) -> Vec:
        """The same with laws, of the rows alone."""
        for row, parts, law in self._laws:
            law.plain(self.t, g[parts], g[row : row + 1])
        return g[: len(self.bodies)]

    def rates(self, motion: BodyMotion) -> Vec:
        """gdot, (rows,)."""
        return self.violations(motion)[1]

    def violations(self, motion: BodyMotion) -> tuple[Vec, Vec]:
        """g and gdot, (rows,) each."""
        if not len(self.sizes):
            return np.zeros(0), np.zeros(0)
        Z, P, Q = self._factors(motion)
        Zd = motion.rates[self._pairs].reshape(-1, 8, 3)
        Pd, Qd = _along(self._A, Zd) + _along(self._A_rate, Z), _along(self._B, Zd)
        g = self._values(P, Q)
        rates = np.asarray(self._scale * np.sum(Pd * Q + P * Qd, axis=1) - self._offset_rate)
        return self._of_rows(g), self._combined(g, rates)

    def _factors(self, motion: BodyMotion) -> tuple[Mat, Mat, Mat]:
        """Z of the two bodies of each equation, (rows, 8, 3), P and Q."""
        Z = motion.places[self._pairs].reshape(-1, 8, 3)
        return Z, _along(self._A, Z), self._q + _along(self._B, Z)

    def relative(self, g: Vec, rate: Vec) -> tuple[float, float]:
        """The largest of g and of gdot, without units."""
        return largest(g / self.sizes), largest(rate / self.sizes) / self.model.scales.rate

    def gradients(self, motion: BodyMotion) -> Mat:
        """G by the two bodies of each equation, (rows, 2, 6): zero for the x of the ground and of bodies with a
        pivot."""
        Z, P, Q = self._factors(motion)
        F = self._A[:, :, None] * Q[:, None] + self._B[:, :, None] * P[:, None]
        F = (self._scale[:, None, None] * F).reshape(-1, 2, 4, 3)
        W = F[:, :, 1:] @ np.swapaxes(Z.reshape(-1, 2, 4, 3)[:, :, 1:], 2, 3)
        turn = np.stack([W[..., j, k] - W[..., k, j] for j, k in ((1, 2), (2, 0), (0, 1))], axis=-1)
        G = np.concatenate([F[:, :, 0] * self._free[self._pairs][..., None], turn], axis=2)
        return self._combined(self._values(P, Q), G)

    def matrix(self, motion: BodyMotion) -> Mat:
        """G (rows, 6 n) with respect to (xdot, Omega) of all bodies."""
        return self._spread(self.gradients(motion))[:, : 6 * self.model.n]

    def _spread(self, G: Mat) -> Mat:
        """(rows, 6 n + 6) of gradients by pairs of bodies, the ground last."""
        out = np.zeros((len(G), self.model.n + 1, 6))
        for side in (0, 1):
            out[np.arange(len(G)), self.bodies[:, side]] = G[:, side]
        return out.reshape(len(G), 6 * self.model.n + 6)

    # ------------------------------------------------------------ the nearest state

    def nearest_positions(self, start: BodyMotion) -> tuple[BodyMotion, int]:
        """The positions on the constraints that are nearest to a motion in the mass metric, [NS] (62, P), and the
        number of Newton steps. From far away, after half of the steps, any will do. Raises ProjectionError where
        Newton's method does not converge, or equations follow from others."""
        scales = self.model.scales
        steady = max(1e3 * EXACT, 30.0 * float(np.finfo(float).eps) * scales.reach / scales.length)
        here = before = replace(start, p=_unit(start.p))
        moved = step = np.zeros((self.model.n + 1, 6))
        best, steps, halvings = np.inf, 0, 0
        while True:
            g = self.values(here)
            error = largest(g / self.sizes)
            if error <= EXACT or 0.5 * best <= error <= steady:  # at the rounding level it stops falling
                return here, steps
            if not error < best and halvings < _HALVINGS:
                halvings, step = halvings + 1, 0.5 * step
                moved = moved - step
                here = _displaced(before, step)
                continue
            if steps == _STEPS or np.isnan(error):
                raise ProjectionError(
                    f"t = {self.t:g}: Newton's method did not reach the constraint manifold (violation "
                    f"{largest(self.values(start)):.3g} before); start closer to a consistent position"
                )
            steps, halvings, best = steps + 1, 0, error
            # nearest to the start in the first half; this converges linearly, Newton's method alone quadratically
            step = self._step(here, g, moved if 2 * steps <= _STEPS + 1 else 0.0 * moved)
            before, here, moved = here, _displaced(here, step), moved + step

    def nearest_velocities(self, motion: BodyMotion) -> BodyMotion:
        """The motion with the velocities on the constraints that are nearest in the mass metric, [NS] (62, V). Raises
        ProjectionError where equations follow from others."""
        v = np.hstack([motion.xd, motion.om]) + self._step(motion, self.rates(motion))[:-1]
        return motion.moving(v)

    def _step(self, here: BodyMotion, g: Vec, moved: Mat | None = None) -> Mat:
        """The displacement d (n + 1, 6), the ground's last, with G d = -g of least mass-weighted size, of d or of
        `moved` + d."""
        G = self.gradients(here)
        mass, inertia = (inverse[self.bodies] for inverse in self._inverses)
        H = np.concatenate([G[:, :, :3] * mass[..., None], (G[:, :, None, 3:] @ inertia)[:, :, 0]], axis=2)
        out = np.zeros((self.model.n + 1, 6)) if moved is None else -moved
        rest = -g - np.einsum("rsj,rsj->r", G, out[self.bodies])
        np.add.at(out, self.bodies, H * self._solver(H, G)(rest)[:, None, None])
        return out

    def _solver(self, H: Mat, G: Mat) -> Callable[[Vec], Vec]:
        """The solution of H G^T la = b, by b."""
        if len(G) > _DENSE:
            return self._sparse_solver(H, G)
        S = self._spread(H) @ self._spread(G).T
        try:
            regular = bool(np.all(np.diag(np.linalg.cholesky(S)) ** 2 > _SINGULAR * np.diag(S)))
        except np.linalg.LinAlgError:
            regular = False
        if not regular:
            raise self._redundant(_first_dependent(S))
        return lambda b: np.asarray(np.linalg.solve(S, b))

    def _sparse_solver(self, H: Mat, G: Mat) -> Callable[[Vec], Vec]:
        from scipy.sparse.linalg import splu  # a slow import, which small systems do not need

        moving = np.full(6 * self.model.n, True)
        left, right = (sparse_matrix(each, self.bodies, moving) for each in (H, G))
        S = (left @ right.T).tocsc()
        size = S.diagonal()
        # a shift below rounding, so that no pivot is zero: it is refused below
        S.setdiag(size * (1.0 + np.finfo(float).eps))
        factors = splu(S, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        row = np.argsort(factors.perm_c)
        weak = np.flatnonzero(~(np.abs(factors.U.diagonal()) > _SINGULAR * size[row]))
        if len(weak):
            raise self._redundant(int(row[weak[0]]))
        return lambda b: np.asarray(factors.solve(b))

    def _redundant(self, row: int) -> ProjectionError:
        return ProjectionError(
            f"t = {self.t:g}: the constraints are redundant or singular, first at {self.model.row_name(row)}; remove "
            "the redundant joint equation or move away from the singular position"
        )


def _with_parts(table: Any) -> tuple[Any, list[tuple[int, slice, UserFunction]]]:
    """Primitives, then the parts of combinations as further ones; of each combination its row, those of its parts, and
    its law."""
    if not table["law"].any():
        return copied(table), []
    begins, n = np.cumsum(table["n"]) - table["n"], int(table["n"].sum())
    parts, laws = [], []
    for k in np.flatnonzero(table["law"]).tolist():
        law = user_function(table["law"][k])
        own = np.repeat(table[k : k + 1], law.n_in)
        own["A"][1:], own["B"][1:] = np.swapaxes(table["more"][k, : law.n_in - 1], 0, 1)
        own["offset"][:, 0] = table["offset"][k, : law.n_in]
        parts.append(own)
        laws.append((int(begins[k]), slice(n, n + law.n_in), law))
        n += law.n_in
    return np.concatenate([table, *parts]), laws


def _along(c: Mat, Z: Mat) -> Mat:
    """sum_k c_k Z_k of each equation, (rows, 3)."""
    return np.asarray((c[:, None] @ Z)[:, 0])


def _displaced(here: BodyMotion, step: Mat) -> BodyMotion:
    """The bodies after displacements and small turns (n + 1, 6)."""
    turn = product(here.p.T, [0.0, *step[:-1, 3:].T]).T
    return replace(here, x=here.x + step[:-1, :3], p=_unit(here.p + 0.5 * turn))


def _unit(p: Mat) -> Mat:
    return np.asarray(p / np.linalg.norm(p, axis=1, keepdims=True))


def _first_dependent(S: Mat) -> int:
    """The first row of a symmetric matrix whose pivot vanishes; the last one where rounding alone decides."""
    S, size = S.copy(), np.diag(S).copy()
    for k in range(len(S) - 1):
        if not S[k, k] > _SINGULAR * size[k]:
            return k
        S[k + 1 :, k + 1 :] -= np.outer(S[k + 1 :, k], S[k, k + 1 :]) / S[k, k]
    return len(S) - 1


def largest(values: Vec) -> float:
    """The largest magnitude; 0 of nothing."""
    return float(np.max(np.abs(values), initial=0.0))
