"""The orders in which the equations of a mechanism with loops are eliminated: the saddle-point system
(`rbdae.kernels.linear.saddle`) and the square system of its quasi-velocities (`rbdae.kernels.null_space.loops`).

Many entries of G are constants that are better pivots than the bodies' masses. So pivots of one and of two rows are
taken wherever they make the fewest products, and of four: two velocities of a body with two equations of a joint, whose
block of G keeps its determinant when the body turns, where its entries are sines and cosines. Their multipliers have to
be small at several states ([DR83]). That is cheaper than the joints' Schur complement; chains and trees have nothing to
gain.

The states are the problem's regular one, one near it, and, where bodies move in planes, those after right angles of all
bodies or of every other one: what is zero in a plane stays so. An order belongs to the numbers of a problem, rounded:
those of the model to powers of two, the state to a millionth. So it depends on the problem alone, and problems alike
share it; code is that of structure and order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from rbdae._arrays import Bools, Ints, Mat, Vec
from rbdae.kernels.constraints.gradients import moving_sides, twist_gradients
from rbdae.kernels.joint_rows import place_gradients
from rbdae.kernels.linear.elimination import Pivot, Rows
from rbdae.kernels.linear.saddle import Saddle
from rbdae.kernels.null_space.loops import Loops
from rbdae.multibody.memory.contents import kept_at_point
from rbdae.multibody.memory.workspace import Workspace
from rbdae.rotations.chart import numbered
from rbdae.rotations.vectors import skew, unit_quaternion

Order = tuple[Pivot, ...]

_MOST, _FEW = 150, 8
"""Velocities of a square system for which an order is searched; of them independent ones that are found last."""

_LEAST = (0.1, 0.03, 0.01, 0.001)
"""Reciprocals of the largest multiplier; the next one where no pivot is left."""

_ROUNDING = 1e-20
"""Determinants of two rows, in entries of size one, that are none."""

_SINGULAR = 1e8
"""The condition of a matrix for which no pivots are asked."""

_SMALL, _PLANE = 1e-8, 1e-3
"""Ratios of singular values that are zero: of a matrix with rows of size one, and of axes of rotations."""


def order_for(workspace: Workspace, kernel: Any) -> tuple[Order, ...]:
    """The orders in which a kernel, or the derivative of one, eliminates the saddle-point system and [G; S] of loops;
    empty where those that serve any position are taken. They are found once for the structure and the rounded numbers
    of a problem, and kept on disk."""
    entry = getattr(kernel, "of", kernel)
    if not getattr(entry, "squared", False) or len(workspace.memory.regular) != workspace.layout.n:
        return ()
    closing = workspace.model.tree.closing
    if workspace.settings.structure != "loops" and not (entry.ordered and closing):
        return ()
    if workspace.orders is None:
        known, place = workspace.memory.known, workspace.place
        key = "order", workspace.structure, place
        if key not in known:
            known[key] = kept_at_point(workspace, __name__, place, partial(orders, workspace), np.__version__)
        workspace.orders = known[key]
    found = (workspace.orders[0] if entry.ordered else (), workspace.orders[1])
    return found if any(found) else ()


def orders(workspace: Workspace) -> tuple[Order, Order]:
    """The orders of the saddle-point system and of the square one for the rounded numbers; empty if there is none, no
    pivots serve, or the square system is large."""
    numbers, y, selection = workspace.rounded

    def memory() -> Any:
        """A memory of floats."""
        records = workspace.open_numbers.records(numbers.tolist()) if workspace.memory.opened else {}
        return workspace.kernel_memory(selection.astype(object), records)

    m = memory()
    of_loops = workspace.settings.structure == "loops"
    wanted = bool(workspace.model.tree.closing), of_loops and m.head.n_v <= _MOST
    try:
        placed = [_placed(memory(), state) for state in (_states(m, y) if any(wanted) else ())]
        of_saddle = _order(placed, _saddle, 6 * m.head.n_bodies) if wanted[0] else ()
        return of_saddle, _square_order(placed) if wanted[1] else ()
    except (ArithmeticError, np.linalg.LinAlgError):  # a state where the chart is singular
        return (), ()


def _square_order(placed: list[Any]) -> Order:
    """Few rows of S come last, all at a time, so that the order serves other selections."""
    h = placed[0].head
    n, last = h.n_v, h.n_nu if h.n_nu <= _FEW else 0
    order = _order(placed, lambda m: _square(m, 2 * n - last), n)
    if not (order and last):
        return order
    free = {*range(n)}.difference(*order)
    return (*order, (*sorted(free), *range(2 * n - last, 2 * n)))


def _order(placed: list[Any], system: Callable[[Any], tuple[Rows, Vec]], split: int) -> Order:
    """The order for a symmetric system by its matrix and units at placed memories. Columns without a row are left."""
    samples = np.array([_sample(*system(m)) for m in placed])
    if not np.isfinite(samples).all():
        return ()
    used = (samples != 0.0).any(axis=0)
    tried = [samples]
    if not used[:split, :split].any():  # S is no choice of velocities at all states, and pivots have few rows
        samples = samples[np.linalg.cond(samples[:, split:, :split]) < _SINGULAR]
        tried = [samples, samples[:2]]
    for some in tried:
        for least in _LEAST:
            order = least_fill(some, used, split, least)
            if order is not None:
                return tuple(order)
    return ()


def _states(m: Any, y: Vec) -> list[Vec]:
    at = [y, y + 1e-2 * np.random.default_rng(7).standard_normal(len(y))]
    axis = _common_axis(m, y)
    if axis is not None:
        at += [_turned(m, y, axis, range(0, m.head.n_bodies, step)) for step in (1, 2)]
    return at


def _placed(m: Any, y: Vec) -> Any:
    with np.errstate(invalid="ignore"):  # beyond the chart: no order follows from what is no number
        place_gradients(m, y.astype(object))
    return m


def _sample(rows: Rows, squares: Vec) -> Mat:
    """A matrix of numbers without units."""
    A = np.zeros((len(rows), len(rows)))
    for i, row in enumerate(rows):
        A[i, [*row]] = [*row.values()]
    units = np.sqrt(squares.astype(float))
    out: Mat = A * units * units[:, None]
    return out


def _saddle(m: Any) -> tuple[Rows, Vec]:
    system = Saddle(m, 1)
    return system.matrix(), system.units()


def _square(m: Any, n: int) -> tuple[Rows, Vec]:
    system = Loops(m)
    rows = system.bordered(system.rows())[:n]
    return [{j: x for j, x in row.items() if j < n} for row in rows], system.units()[:n]


def _common_axis(m: Any, y: Vec) -> Vec | None:
    """The axis (3,) in space about which all bodies turn in all motions that joints leave; None if there is none."""
    place_gradients(m, y.astype(object))
    saddle = Saddle(m, 1)
    twist_gradients(m)
    G = np.zeros((m.head.n_rows, saddle.first))
    for p, r in saddle.joints:
        for side, b, o in moving_sides(m, p):
            at = [k - saddle.first for k in saddle.places(p)]
            G[at, 6 * b : 6 * b + o.nt] += r.Gx[side, : p.n, : o.nt].astype(float)
            G[at, 6 * b + 3 : 6 * b + 6] += r.Gw[side, : p.n, :3].astype(float)
    G /= np.linalg.norm(G, axis=1, keepdims=True).clip(1e-300)
    _, s, Vt = np.linalg.svd(G)
    material = Vt[np.count_nonzero(s > _SMALL * s[0]) :].reshape(-1, saddle.first // 6, 6)[:, :, 3:]
    R = np.array([_rotation(state) for state in m.states[:-1]])
    _, size, axes = np.linalg.svd(np.einsum("bij,fbj->fbi", R, material).reshape(-1, 3), full_matrices=True)
    return axes[0] if len(size) == 3 and size[1] < _PLANE * size[0] else None


def _rotation(state: Any) -> Mat:
    """R of a placed body, whose parameters are rounded."""
    U, _, V = np.linalg.svd(state.d.reshape(3, 3).T.astype(float))
    R: Mat = U @ V
    return R


def _turned(m: Any, y: Vec, axis: Vec, numbers: Iterable[int]) -> Vec:
    """The state with some bodies turned about an axis by a right angle. Follows `_common_axis`."""
    out, h = y.copy(), m.head
    turn, chart = np.outer(axis, axis) + skew(axis), numbered(h.chart)
    for b in numbers:
        o, R = m.bodies[b], turn @ _rotation(m.states[b])
        if h.referenced == 1:
            R = m.references[b].astype(float).T @ R
        out[o.iq + o.nt : o.iq + o.nt + o.na] = chart.parameters(unit_quaternion(R), R)
    return out


# ---------------------------------------------------------------- the search


def least_fill(samples: Mat, used: Bools, split: int, least: float) -> list[Pivot] | None:
    """Pivots of least fill, for symmetric matrices (samples, n, n) with entries `used`, whose multipliers are at most
    1 / `least` in all samples; None if there are none. The rows from `split` on are those of joints. Where the others
    have entries in these alone, some of them may be left."""
    A, used, bordered = samples.copy(), used.copy(), not used[:split, :split].any()
    left, out = set(range(len(used))), list[Pivot]()
    fours = np.array([*_fours(used, split)], dtype=np.int64).reshape(-1, 4)
    while left:
        found = _best(A, used, left, fours, least)
        if found is None:
            return out if bordered and max(left) < split else None
        pivot, rest, L = found
        A[:, rest[:, None], rest] -= L @ A[:, pivot][:, :, rest]
        used[rest[:, None], rest] |= _fill(used, pivot, rest)
        used[pivot, :] = used[:, pivot] = False
        left.difference_update(pivot)
        out.append(tuple(pivot))
        fours = fours[~np.isin(fours, pivot).any(axis=1)]
    return out


def _fours(used: Bools, split: int) -> Iterator[list[int]]:
    """Two velocities of a body with two equations of a joint that both have both of them."""
    for first in range(0, split, 3):
        for i, j in ((first, first + 1), (first, first + 2), (first + 1, first + 2)):
            rows = (split + np.flatnonzero(used[i, split:] & used[j, split:])).tolist()
            yield from ([i, j, r, s] for k, r in enumerate(rows) for s in rows[k + 1 : k + 3])


def _best(A: Mat, used: Bools, left: set[int], fours: Ints, least: float) -> tuple[list[int], Ints, Mat] | None:
    """The pivot with the fewest products, the rows that have multipliers, and these."""
    degrees = used.sum(axis=1).tolist()
    best, out = np.inf, None

    def tried(cost: float, pivot: list[int]) -> None:
        nonlocal best, out
        if cost < best:
            rest = np.flatnonzero(used[pivot].any(axis=0))
            rest = rest[~np.isin(rest, pivot)]
            L = _multipliers(A, used, pivot, rest)
            if L is not None and (np.abs(L) <= 1.0 / least).all():
                best, out = cost, (pivot, rest, L)

    for i in sorted(left, key=lambda k: (degrees[k], k)):
        if 0.5 * (degrees[i] - 2) ** 2 >= best:
            break
        if used[i, i]:
            tried(0.5 * degrees[i] * (degrees[i] - 1), [i])
        for j in np.flatnonzero(used[i]).tolist():
            if j != i:
                tried(_cost(used, degrees, i, j), sorted((i, j)))
    if len(fours):
        n, rows = ((used[fours[:, k]] | used[fours[:, k + 1]]).sum(axis=1) for k in (0, 2))
        costs = (n - 4) * (rows - 2) + 0.5 * (rows - 2) ** 2
        for k in np.argsort(costs, kind="stable")[: int(np.count_nonzero(costs < best))].tolist():
            tried(float(costs[k]), fours[k].tolist())
            if best == costs[k]:
                break
    return out


def _multipliers(A: Mat, used: Bools, pivot: list[int], rest: Ints) -> Mat | None:
    """Those of the rest (samples, rest, pivot); None where a pivot has none."""
    block = A[:, pivot][:, :, pivot]
    half = len(pivot) // 2
    if half == 0:
        good = block[:, 0, 0] != 0.0
    elif half == 1:
        a, b, d = block[:, 0, 0], block[:, 0, 1], block[:, 1, 1]
        good = np.abs(a * d - b * b) > np.maximum(1e-2 * b * b, _ROUNDING)
    else:
        if used[pivot[2:], :][:, pivot[2:]].any():
            return None
        good = np.abs(np.linalg.det(block[:, :2, 2:])) > 1e-2
    if not good.all():
        return None
    out: Mat = A[:, rest][:, :, pivot] @ np.linalg.inv(block)
    return out


def _cost(used: Bools, degrees: list[int], i: int, j: int) -> float:
    """Products of the update by two rows; where one of them has no diagonal, many multipliers vanish."""
    empty = not used[i, i], not used[j, j]
    n = degrees[i] - 2 + empty[0], degrees[j] - 2 + empty[1]
    if all(empty):
        return float(n[0] * n[1])
    if any(empty):
        return float(n[0] * n[1] + 0.5 * (n[1] if empty[1] else n[0]) ** 2)
    every = int((used[i] | used[j]).sum()) - 2
    return float(every * (every + 1))


def _fill(used: Bools, pivot: list[int], rest: Ints) -> Bools:
    """The entries that an update may make."""
    half = max(len(pivot) // 2, 1)
    first, last = pivot[:half], pivot[-half:]
    one, two = (np.asarray(used[rest[:, None], part].any(axis=1)) for part in (first, last))
    diagonals = [bool(used[np.ix_(part, part)].any()) for part in (first, last)]
    if len(pivot) == 1 or all(diagonals):
        out: Bools = (one | two)[:, None] & (one | two)
        return out
    out = (one[:, None] & two) | (two[:, None] & one)
    if diagonals[0]:
        out |= two[:, None] & two
    if diagonals[1]:
        out |= one[:, None] & one
    return out
