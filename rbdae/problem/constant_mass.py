"""A u' = f(t, u) with a constant A, [NS] (13): for codes that take a mass matrix, such as RADAU5 by its `mas`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import ArrayLike, Ints, Mat, Vec
from rbdae.problem.equations import Equations

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix


@final
@dataclass(frozen=True, eq=False, repr=False)
class ConstantMass:
    """The equations of a problem as A u' = f(t, u), [NS] (13), with a constant diagonal A of ones and zeros.

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
    diagonal : (n,), that of A
    variable_index : (n,) int, Hairer's classes 1, 2, 3; 0 where A = I

    Examples
    --------
    RADAU5 (``radau5.f``) takes the right-hand side as FCN and its Jacobian as JAC, the diagonal as MAS with
    IMAS = 1 and MLMAS = MUMAS = 0, and the numbers of unknowns of class 1, 2 and 3 as IWORK(5), IWORK(6), IWORK(7):
    it wants them in this order, so permute u by ``numpy.argsort(variable_index, kind="stable")``.
    """

    problem: Equations
    t0: float
    u0: Vec
    _w: slice
    _rates: Ints

    @classmethod
    def of(cls, problem: Equations, t0: float, y0: Vec, yd0: Vec) -> ConstantMass:
        """The equations with a consistent start.

        Raises
        ------
        ValueError
            for an overdetermined form
        """
        if problem.kind == "overdetermined":
            raise ValueError(
                f"with_constant_mass: {problem.workspace.settings.formulation} has more equations than unknowns, which "
                "no mass matrix holds; choose another formulation, such as 'index-1' or 'ggl'"
            )
        layout = problem.layout
        if problem.kind == "ode" and not problem.workspace.settings.reduced:
            rates = np.arange(0)
        else:
            rates = np.arange(layout.v.start, layout.v.stop)
            if problem.differential.all():
                rates = np.append(rates, np.arange(layout.la.start, layout.mu.stop))
        w = slice(layout.s.stop, layout.s.stop + len(rates))
        u0 = np.concatenate([y0[: w.start], yd0[rates], y0[w.start :]])
        return cls(problem, t0, u0, w, rates)

    def __repr__(self) -> str:
        return f"ConstantMass({self.problem!r}, n={self.n}, rank={int(self.diagonal.sum())})"

    # ------------------------------------------------------------ facts

    @property
    def n(self) -> int:
        """Number of unknowns u."""
        return len(self.u0)

    @property
    def w(self) -> slice:
        """The place of w in u."""
        return self._w

    @cached_property
    def diagonal(self) -> Vec:
        """The diagonal of A, (n,): 1 for unknowns whose rates appear, 0 for w and multipliers; read only."""
        out = np.zeros(self.n)
        out[self._places] = self.problem.differential
        out.flags.writeable = False
        return out

    @property
    def mass(self) -> Mat:
        """A, (n, n)."""
        return np.diag(self.diagonal)

    @cached_property
    def variable_index(self) -> Ints:
        """Hairer's classes (n,). w is of class 1 where the dynamics and the constraints can be solved for it and the
        multipliers, else one above the velocity whose rate it is."""
        problem, form = self.problem, self.problem.workspace.settings.formulation
        classes = problem.variable_index
        out = np.zeros(self.n, dtype=np.int64)
        if not len(self._rates):
            return out
        out[self._places] = np.maximum(classes, 1)
        layout, level = problem.layout, form.levels[0] if form.levels else 2
        free = not form.projected and layout.mu.stop == layout.la.start
        raised = np.maximum(classes[self._rates], 1) + 1
        solved = free or problem.workspace.settings.reduced or (level == 2 and not form.corrected)
        raised[: layout.v.stop - layout.v.start] = 1 if solved else raised[: layout.v.stop - layout.v.start]
        out[self._w] = raised
        return out

    @property
    def labels(self) -> list[str]:
        """One label an unknown; those of w are the labels of the unknowns with an apostrophe."""
        names = self.problem.layout.labels
        out = [""] * self.n
        for place, name in zip(self._places, names, strict=True):
            out[place] = name
        out[self._w] = [f"{names[k]}'" for k in self._rates]
        return out

    @cached_property
    def _places(self) -> Ints:
        """Where the unknowns y are in u."""
        n = np.arange(self.problem.n)
        return np.where(n < self._w.start, n, n + len(self._rates))

    @cached_property
    def _rows(self) -> Ints:
        """The rows of f in which the rows of F are: those of unknowns without a rate, but for positions and states."""
        out = self._places.copy()
        out[self._rates] = np.arange(self._w.start, self._w.stop)
        return out

    # ------------------------------------------------------------ evaluations

    def unknowns(self, u: ArrayLike) -> Mat:
        """y (..., problem.n) of u (..., n), as the methods of the problem take it."""
        u = np.asarray(u, dtype=float)
        if u.shape[-1:] != (self.n,):
            raise ValueError(f"u must have {self.n} numbers along its last axis, got the shape {u.shape}")
        return np.asarray(u[..., self._places])

    def f(self, t: float, u: ArrayLike) -> Vec:
        """The right-hand side, (n,)."""
        u = self._checked(u)
        y = u[self._places]
        if not len(self._rates):
            return self.problem.rhs(t, y)
        F = self.problem.residual(t, y, self._yd(u))
        out = np.empty(self.n)
        out[self._rows] = self._signs * F
        out[self._places[self._rates]] = u[self._w]
        return out

    def jacobian(self, t: float, u: ArrayLike) -> Mat:
        """df/du, (n, n)."""
        return np.asarray(self.sparse_jacobian(t, u).toarray())

    def sparse_jacobian(self, t: float, u: ArrayLike) -> csc_matrix:
        """The same as a CSC matrix, with the pattern of the problem's `sparsity`. Derivatives with respect to w are
        differences of two Jacobians of the residual: exact but for rounding relative to the largest entry of their
        rows."""
        from scipy.sparse import coo_matrix, csc_matrix

        u = self._checked(u)
        y = u[self._places]
        if not len(self._rates):
            return csc_matrix(self.problem.rhs_jacobian(t, y))
        yd = self._yd(u)
        still: Any = self.problem.sparse_jacobian(t, y, yd, 0.0).tocoo()
        moved: Any = self.problem.sparse_jacobian(t, y, yd, 1.0).tocoo()
        place = np.full(self.problem.n, -1)
        place[self._rates] = np.arange(self._w.start, self._w.stop)
        kept = place[moved.col] >= 0
        own = self._places[self._rates]
        rows = [self._rows[still.row], self._rows[moved.row[kept]], own]
        columns = [self._places[still.col], place[moved.col[kept]], place[self._rates]]
        data = [
            self._signs[still.row] * still.data,
            self._signs[moved.row[kept]] * (moved.data - still.data)[kept],
            np.ones(len(own)),
        ]
        where = (np.concatenate(rows), np.concatenate(columns))
        return coo_matrix((np.concatenate(data), where), shape=(self.n, self.n)).tocsc()

    @cached_property
    def _signs(self) -> Vec:
        """-1 in the rows of F that are a rate less what it is: of positions and internal states."""
        out = np.ones(self.problem.n)
        out[self.problem.layout.q] = out[self.problem.layout.s] = -1.0
        return out

    def _yd(self, u: Vec) -> Vec:
        """yd with w, and zeros for positions and internal states: their rows of F are then less their rates."""
        out = np.zeros(self.problem.n)
        out[self._rates] = u[self._w]
        return out

    def _checked(self, u: ArrayLike) -> Vec:
        return _check.real(f"u, the {self.n} unknowns of A u' = f,", u, (self.n,))
