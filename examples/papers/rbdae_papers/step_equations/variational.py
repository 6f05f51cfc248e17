"""The variational step QUAT.VI of [BS09], Appendix E: momenta at both ends, multiplier of a node, momentum map."""

from __future__ import annotations

from typing import NamedTuple

from rbdae._arrays import ArrayLike, Mat, Vec
from rbdae.rotations.quaternions import conjugated, left, multiplied
from rbdae_papers.step_equations._arguments import inertia4, quaternions, step_size, times, transposed


class DiscreteMomenta(NamedTuple):
    """-D1 L_d at the start of a step and D2 L_d at its end, both (..., 4), kg m^2/s; [BS09] Appendix E.

    They have parts along q. Without them they are the momenta p of a run at both ends.
    """

    start: Vec
    end: Vec


def discrete_momenta(
    q0: ArrayLike, q1: ArrayLike, *, inertia: ArrayLike, step: float, gradient: ArrayLike = (0.0, 0.0, 0.0, 0.0)
) -> DiscreteMomenta:
    """The derivatives of the discrete Lagrangian of a step from q0 to q1, [BS09] Appendix E.

    D1 L_d = M(q1) q0 / h - h grad V / 2 and D2 L_d = M(q0) q1 / h - h grad V / 2, M(q) = 4 G(q)^T J G(q) (Remark 4.1).

    Parameters
    ----------
    q0, q1 : (..., 4) array_like
        Unit quaternions at both ends.
    inertia : (3,) or (3, 3) array_like
    step : float
        h, s
    gradient : (..., 4) array_like
        The gradient of V at (q0 + q1) / 2, J.
    """
    owner = "discrete_momenta"
    q0, q1, slope = quaternions(owner, q0=q0, q1=q1, gradient=gradient)
    h, J4 = step_size(owner, step), inertia4(owner, inertia)
    push = 0.5 * h * slope
    return DiscreteMomenta(-_singular(q1, J4, q0) / h + push, _singular(q0, J4, q1) / h - push)


def node_multiplier(
    before: ArrayLike,
    now: ArrayLike,
    after: ArrayLike,
    *,
    inertia: ArrayLike,
    step: float,
    gradients: tuple[ArrayLike, ArrayLike] = ((0.0, 0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 0.0)),
) -> Vec:
    """la_n of the discrete Euler-Lagrange equations at a node, [BS09] (E1), (...), J; their residual is h q_n la_n.

    Parameters
    ----------
    before, now, after : (..., 4) array_like
        Unit quaternions at three nodes, a step apart.
    inertia : (3,) or (3, 3) array_like
    step : float
        h, s
    gradients : two of (..., 4) array_like
        Gradients of V in the middle of both steps, J.
    """
    q0, q1, q2 = quaternions("node_multiplier", before=before, now=now, after=after)
    first, second = (
        discrete_momenta(a, b, inertia=inertia, step=step, gradient=slope)
        for a, b, slope in ((q0, q1, gradients[0]), (q1, q2, gradients[1]))
    )
    out: Vec = (q1 * (first.end - second.start)).sum(-1) / step_size("node_multiplier", step)
    return out


def discrete_momentum_map(
    q0: ArrayLike, q1: ArrayLike, *, inertia: ArrayLike, step: float, gradient: ArrayLike = (0.0, 0.0, 0.0, 0.0)
) -> Vec:
    """J^- = E(q0) p^- / 2 of a step, (..., 3), kg m^2/s, in space: [BS09], end of Appendix E.

    It is the same in all steps of a free body; with weight its component along the weight is. The part h q la / 2 of
    p^- does not contribute, because E(q) q = 0. Parameters as for `discrete_momenta`.
    """
    p = discrete_momenta(q0, q1, inertia=inertia, step=step, gradient=gradient).start
    q0, p = quaternions("discrete_momentum_map", q0=q0, p=p)
    return 0.5 * multiplied(p, conjugated(q0))[..., 1:]


def _singular(q: Vec, J4: Mat, x: Vec) -> Vec:
    """4 G(q)^T J G(q) x."""
    G = transposed(left(q)[..., 1:])
    return 4.0 * times(transposed(G), times(J4[1:, 1:], times(G, x)))
