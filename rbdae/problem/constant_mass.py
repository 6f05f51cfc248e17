"""`ConstantMass`: the equations of a problem as A u' = f(t, u) with a constant A."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Ints, Mat, Vec


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConstantMass:
    """The equations of a problem as A u' = f(t, u), [NS] (13), with a constant diagonal A of ones and zeros: for codes
    that take a mass matrix.

    u = (q, v, s, w, la, mu): the unknowns y of the problem, and w = vdot between those that have rates and those that
    have none. Nothing is solved for:

        qdot = K v    (with `ggl`: K (v - G^T mu)),    vdot = w,    sdot = f_s
        0 = M w - psi + G^T la,    0 = the constraints

    Positions and internal states stand alone in their rows of F(t, y, yd), so that these are explicit already. With
    integrals of multipliers u = (q, v, s, w, integrals), and w has the rates of these as well. Forms whose residual is
    yd - f(t, y) have u = y and A = I.

    Attributes
    ----------
    problem : the equations
    t0, u0 : a consistent start, u0 of shape (n,)
    w : slice, the place of w in u

    Examples
    --------
    RADAU5 (``radau5.f``) takes the right-hand side as FCN and its Jacobian as JAC, the diagonal as MAS with
    IMAS = 1 and MLMAS = MUMAS = 0, and the numbers of unknowns of class 1, 2 and 3 as IWORK(5), IWORK(6), IWORK(7):
    it wants them in this order, so permute u by ``numpy.argsort(variable_index, kind="stable")``.
    """

    problem: Any
    t0: float
    u0: Vec
    w: slice
    _rates: Ints  # the unknowns whose rates are w

    @classmethod
    def of(cls, problem: Any) -> ConstantMass:
        """Those of a problem, with its start. Raises ValueError for an overdetermined form."""
        if problem.kind == "overdetermined":
            raise ValueError(
                f"with_constant_mass: {problem.workspace.settings.formulation} has more equations than unknowns, which "
                "no mass matrix holds; choose another formulation, such as 'index-1' or 'ggl'"
            )
        layout, rates = problem.layout, np.arange(0)
        if problem.kind != "ode" or problem.workspace.settings.reduced:
            rates = np.arange(layout.v.start, layout.v.stop)
            if problem.differential.all():
                rates = np.append(rates, np.arange(layout.la.start, layout.mu.stop))
        w = slice(layout.s.stop, layout.s.stop + len(rates))
        y0, yd0 = problem.y0, problem.yd0
        return cls(problem, problem.t0, np.concatenate([y0[: w.start], yd0[rates], y0[w.start :]]), w, rates)

    def __repr__(self) -> str:
        return f"ConstantMass({self.problem!r}, n={self.n}, rank={int(self.diagonal.sum())})"

    @property
    def n(self) -> int:
        """Number of unknowns u."""
        return len(self.u0)

    @property
    def mass(self) -> Mat:
        """A, (n, n)."""
        return np.diag(self.diagonal)

    @cached_property
    def diagonal(self) -> Vec:
        """The diagonal of A, (n,): 1 for unknowns whose rates appear, 0 for w and multipliers; read only."""
        out = np.zeros(self.n)
        out[self._places] = self.problem.differential
        out.flags.writeable = False
        return out

    @cached_property
    def variable_index(self) -> Ints:
        """Hairer's classes 1, 2, 3 (n,), 0 where A = I. w is of class 1 where the dynamics and the constraints can be
        solved for it and the multipliers, else one above the velocity whose rate it is."""
        settings, layout = self.problem.workspace.settings, self.problem.layout
        out, form = np.zeros(self.n, dtype=np.int64), settings.formulation
        if not len(self._rates):
            return out
        classes = np.maximum(self.problem.variable_index, 1)
        out[self._places] = classes
        raised, level = classes[self._rates] + 1, form.levels[0] if form.levels else 2
        free = not form.projected and layout.mu.stop == layout.la.start
        if free or settings.reduced or (level == 2 and not form.corrected):
            raised[: layout.v.stop - layout.v.start] = 1
        out[self.w] = raised
        return out

    @property
    def labels(self) -> list[str]:
        """One label an unknown; those of w are the labels of the unknowns with an apostrophe."""
        names = [*self.problem.layout.labels]
        names[self.w.start : self.w.start] = [f"{names[k]}'" for k in self._rates]
        return names

    @cached_property
    def _places(self) -> Ints:
        """Where the unknowns y are in u."""
        n = np.arange(self.problem.n)
        return np.where(n < self.w.start, n, n + len(self._rates))

    @cached_property
    def _rows(self) -> Ints:
        """The rows of f in which the rows of F are: those of unknowns without a rate, but for positions and states."""
        out = self._places.copy()
        out[self._rates] = np.arange(self.w.start, self.w.stop)
        return out

    @cached_property
    def _signs(self) -> Vec:
        """-1 in the rows of F that are a rate less what it is: of positions and internal states."""
        out = np.ones(self.problem.n)
        out[self.problem.layout.q] = out[self.problem.layout.s] = -1.0
        return out

    def unknowns(self, u: ArrayLike) -> Mat:
        """y (..., problem.n) of u (..., n), as the methods of the problem take it."""
        u = np.asarray(u, dtype=float)
        if u.shape[-1:] != (self.n,):
            raise ValueError(f"u must have {self.n} numbers along its last axis, got the shape {u.shape}")
        return np.asarray(u[..., self._places])

    def f(self, t: float, u: ArrayLike) -> Vec:
        """The right-hand side, (n,)."""
        u, y, yd = self._parts(u)
        if not len(self._rates):
            return np.asarray(self.problem.rhs(t, y))
        out = np.empty(self.n)
        out[self._rows] = self._signs * self.problem.residual(t, y, yd)
        out[self._places[self._rates]] = u[self.w]
        return out

    def jacobian(self, t: float, u: ArrayLike) -> Mat:
        """df/du, (n, n). Derivatives with respect to w are differences of two Jacobians of the residual: exact but for
        rounding relative to the largest entry of their rows."""
        u, y, yd = self._parts(u)
        if not len(self._rates):
            return np.asarray(self.problem.rhs_jacobian(t, y))
        still, moved = (self._signs[:, None] * self.problem.jacobian(t, y, yd, c) for c in (0.0, 1.0))
        out = np.zeros((self.n, self.n))
        out[np.ix_(self._rows, self._places)] = still
        out[self._rows, self.w] = (moved - still)[:, self._rates]
        out[self._places[self._rates], self.w] = np.eye(len(self._rates))
        return out

    def _parts(self, u: ArrayLike) -> tuple[Vec, Vec, Vec]:
        """u, y, and yd with w, and zeros for positions and internal states: their rows of F are less their rates."""
        u = _check.real(f"u, the {self.n} unknowns of A u' = f,", u, (self.n,))
        yd = np.zeros(self.problem.n)
        yd[self._rates] = u[self.w]
        return u, u[self._places], yd
