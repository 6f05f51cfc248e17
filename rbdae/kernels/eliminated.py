"""`Eliminated`: a law without its algebraic unknowns, which it solves for by Newton's method.

A law (F, f, g)(t, x, z, u) with 0 = g for the unknowns z, dg/dz regular, is (F, f) at

    z_{k+1} = z_k - (dg/dz)^-1 g(t, x, z_k, u)

from a constant z_0. If g is affine in z, one step is exact. Otherwise there are `STEPS` steps, and the law is refused
if the last one is not small. Since convergence is quadratic, the result has the derivatives of the implicit function.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae._arrays import Bools, Mat, Vec
from rbdae.graph.functions import select
from rbdae.graph.law import Law
from rbdae.graph.symbols import Recorder
from rbdae.laws.law import Derived, Recorded

STEPS = 8
_MOST = 50
_SMALL = 1e-8
_LARGEST_CONDITION = 1e12
_MOST_NODES = 10**7


@final
@dataclass(eq=False)
class Eliminated:
    """A law of x without its unknowns and of out without its equations, made on first use.

    Parameters
    ----------
    owner : the owner of the law, for messages
    base : the law, which is recorded; the equations are the last of its results
    names : names of the unknowns
    at : the place in x where they begin
    start : the initial guess of Newton's method
    """

    owner: str
    base: Recorded
    names: tuple[str, ...]
    at: int
    start: Vec
    why = ""

    @property
    def n(self) -> int:
        return len(self.names)

    @cached_property
    def laws(self) -> tuple[Law, Law]:
        """g, and dg/dz by rows."""
        law = self.base.law
        assert law is not None
        g = Law(law.graph, law.outputs[self.base.n_out - self.n :], law.regular, law.n_in)
        return g, g.by([("x", self.at + k) for k in range(self.n)])

    @property
    def affine(self) -> bool:
        """Whether g is affine in z."""
        return not self.laws[1].reads(range(self.at, self.at + self.n))

    def solved(self, t: Vec, x: Mat, begin: Mat | None = None) -> Mat:
        """z (m, n) at times (m,) and rows x (m, n_in), in which values of the unknowns are ignored. Newton's method
        begins at `start`, or at the rows of `begin`.

        Raises
        ------
        ValueError
            if dg/dz is singular or Newton's method does not converge
        """
        laws = self.laws
        m, places = len(t), slice(self.at, self.at + self.n)
        out, x = np.empty((m, self.n)), x.copy()
        x[:, places] = first = np.broadcast_to(self.start, (m, self.n)) if begin is None else begin
        left, last = np.arange(m), np.zeros(m, dtype=bool)  # unsolved rows, and whether their next step is the last
        for _ in range(_MOST + 2):
            if not len(left):
                break
            here, z = x[left], x[left, places]
            g, M = laws[0].at_rows(t[left], here)[0], laws[1].at_rows(t[left], here)[0].reshape(-1, self.n, self.n)
            self._check(t[left], g, M)
            step = np.linalg.solve(M, g[..., None])[..., 0]
            z = z - step
            x[left, places] = z
            out[left[last]] = z[last]
            small = np.abs(step) <= _SMALL * np.maximum(np.abs(z), np.abs(z - first[left]))
            left, last = left[~last], np.all(small, axis=1)[~last]  # the next step has the square of this size
        if len(left):
            raise self._lost(float(t[left[0]]))
        return out

    def _check(self, t: Vec, g: Mat, M: Mat) -> None:
        """Refuse equations at rows where no Newton step exists."""
        finite = np.isfinite(M).all(axis=(1, 2)) & np.isfinite(g).all(axis=1)
        if not finite.all():
            raise self._lost(float(t[~finite][0]))
        singular = _singular(M)
        if singular.any():
            raise _check.NoSolution(
                f"{self.owner}: its equations do not determine {', '.join(self.names)}: their derivatives by them "
                f"are singular at t = {t[singular][0]:g} (a higher index); make them equations for these unknowns, or "
                "give another start"
            )

    def _lost(self, t: float) -> ValueError:
        return _check.NoSolution(
            f"{self.owner}: no solution of its equations for {', '.join(self.names)} was found at t = {t:g} from "
            f"{_check.show(self.start)}; give other start values"
        )

    @property
    def slopes(self) -> Derived:
        """Its derivatives by all x."""
        return Derived(self, f"{self.owner}, derivatives", lambda law: law.by_x, self._slopes_at)

    @cached_property
    def law(self) -> Law:
        """The law."""
        n, law, laws, n_in = self.n, self.base.law, self.laws, self.base.n_in - self.n
        assert law is not None
        recorder = Recorder({"t": [0.0], "x": np.zeros(n_in)}, _MOST_NODES)
        graph, (t,), x = recorder.graph, recorder.inputs("t"), recorder.inputs("x")
        regular = graph.const(1.0)

        def at(of: Law, z: Any) -> Any:
            """Its results with these unknowns; it has to be defined there."""
            nonlocal regular
            arguments = map(recorder.number, (*x[: self.at], *z, *x[self.at :]))
            nodes, defined = of.inlined(graph, t.node, [*arguments])
            regular = graph.select(regular, defined, graph.const(0.0))
            return np.array([recorder.result(node) for node in nodes], dtype=object)

        z = first = self.start.astype(object)
        step = z
        for _ in range(1 if self.affine else STEPS):
            step = _solution(at(laws[1], z).reshape(n, n), at(laws[0], z))
            z = z - step
        if not self.affine:
            for a, b, c in zip(step, z, z - first, strict=True):
                small = select(abs(a) <= abs(b) * _SMALL, 1.0, select(abs(a) <= abs(c) * _SMALL, 1.0, 0.0))
                regular = graph.select(regular, recorder.number(small), graph.const(0.0))
        results = at(law, z)[: self.base.n_out - n]
        return Law(graph, [recorder.number(value) for value in results], regular, n_in)

    def _slopes_at(self, t: float, x: Vec) -> Vec:
        raise _check.NoSolution(
            f"{self.owner}: its law raises an exception, or has no solution, at t = {t:g}; correct it"
        )

    def __call__(self, t: float, x: Vec, out: Vec) -> None:
        """Its values, in Python. Raises ValueError if Newton's method does not converge."""
        whole = np.concatenate([x[: self.at], np.zeros(self.n), x[self.at :]])
        whole[self.at : self.at + self.n] = self.solved(np.array([t]), whole[None])[0]
        results = np.empty(self.base.n_out)
        self.base(t, whole, results)
        out[:] = results[: self.base.n_out - self.n]


def _singular(M: Mat) -> Bools:
    """Whether matrices (m, n, n) are singular, independent of the scaling of rows and columns."""
    out = np.zeros(len(M), dtype=bool)
    for axis in (2, 1):
        sizes = np.abs(M).max(axis=axis, keepdims=True)
        out |= (sizes == 0.0).any(axis=(1, 2))
        M = M / np.where(sizes > 0.0, sizes, 1.0)
    return np.asarray(out | ~(np.linalg.cond(M) <= _LARGEST_CONDITION))


def _solution(J: Any, g: Any) -> Any:
    """J^-1 g on symbols, by elimination with the largest pivot of each column."""
    n = len(g)
    A = np.column_stack([J, g])
    for k in range(n):
        for i in range(k + 1, n):
            larger = abs(A[k, k]) < abs(A[i, k])
            pairs = [(select(larger, b, a), select(larger, a, b)) for a, b in zip(A[k], A[i], strict=True)]
            A[k], A[i] = zip(*pairs, strict=True)
        for i in range(k + 1, n):
            A[i] = A[i] - A[k] * (A[i, k] / A[k, k])
    out = g.copy()
    for k in reversed(range(n)):
        out[k] = A[k, n]
        for j in range(k + 1, n):
            out[k] = out[k] - A[k, j] * out[j]
        out[k] = out[k] / A[k, k]
    return out
