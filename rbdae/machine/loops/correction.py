"""The projection onto the constraints: Newton's method around recorded functions of the model, and what loops of
solvers do with it after accepted steps.

`nearest` looks for the state nearest to y with g = 0 and G v + g_I = 0; [NS], section 6. First rotations satisfy the
chart's internal constraints; the joints follow by Newton's method, whose steps are halved where a whole one does not
reduce the violation, and then the velocities, whose equations are linear. Two functions of the model
(`rbdae.kernels.projection`) are evaluated on the way: violations at a state, and a step from there.

The vector `info` has numbers at the places below: how to project, and what was done. Then follow the weights of the
violations, (n_g,), and memory (`size`).
"""

from __future__ import annotations

from math import isfinite

from rbdae.machine.language.words import Address, Fields, Function, Vec, evaluate
from rbdae.machine.loops.memory import DONE, NOT_PROJECTED, PROJECTED_NOT_FINITE

# ---------------------------------------------------------------- info
TOLERANCE = 0
"""Largest violation that counts as none."""
STEADY = 1
"""Below it a violation that no longer falls is one of rounding."""
ITERATION_LIMIT = 2
TIME = 3
"""Violations of velocities are multiplied by it."""
PROJECT_POSITIONS = 4
PROJECT_VELOCITIES = 5
"""0: no; 1: what is not tangential is taken off, [NS] (62, V); 2: rates of coordinates are divided as these are."""
ITERATIONS = 6
"""Newton steps; negative if they did not reach the constraints."""
CHANGED = 7
"""1 if the state was off the constraints."""
SINGULAR = 8
"""1 + the place of the first vanishing pivot of the joint equations; 0 if they are regular."""
VIOLATION = 9
"""The largest violation of positions before."""
LAST_TIME = 10
"""t."""
N_INFO = 11

NOT_FINITE = 3
"""What `nearest` returns where the projected state is not finite."""

# ---------------------------------------------------------------- the memory of a run
COUNT = 0
"""Corrections, without those that the caller has made."""
SKIPPED = 1
"""States that needed none."""
NEWTON = 2
"""Newton steps in all."""
LARGEST = 3
"""The largest correction of an unknown."""
TOTAL = 4
"""The sum of the largest ones."""
MOVED = 5
"""Whether the last state has changed."""
INFO = 8
"""Where `info` begins; the last result follows it."""

HALVINGS = 10
"""Of a Newton step that does not reduce the violation."""
_FAILED = -1.0


class ConstraintSteps(Fields):
    """A model's functions and its numbers of unknowns y, positions, velocities, constraints, and those of joints.

    violations : (t, y, how) -> (g, gdot, y with normalised rotations), the velocities turned with them as `how` says
    step : (t, y, (u, a, moves)) -> (d, y after d, 1 for each constraint that counts, singular)
    """

    n: int
    n_q: int
    n_v: int
    n_g: int
    n_joints: int
    has_velocities: int
    """Whether velocities are unknowns that have constraints."""
    violations: Function
    violations_context: Address
    step: Function
    step_context: Address


def size(n: int, n_q: int, n_v: int, n_g: int) -> int:
    """The size of `info`."""
    return N_INFO + 4 * n_g + n + 2 * n_q + 6 * n_v + 3


def largest(x: Vec, weights: Vec, counts: Vec, n: int) -> float:
    """The largest of n weighted magnitudes that count, or NaN."""
    found = 0.0
    for i in range(n):
        magnitude: float = weights[i] * abs(x[i])
        if counts[i] != 0.0 and not magnitude <= found:
            found = magnitude
            if found != found:
                return found
    return found


def close_joints(u: ConstraintSteps, t: float, z: Vec, info: Vec) -> float:
    """Newton's method for g = 0 of the joints from z on, nearest to it in the mass metric; changes z. The number of
    steps; negative if they failed."""
    n_v = u.n_v
    n_y = u.n_q + n_v
    internal = u.n_g - u.n_joints
    how = info[PROJECT_VELOCITIES:]
    weights = info[N_INFO + internal :]
    given = info[N_INFO + u.n_g :]
    total = given[n_v + 2 :]
    last = total[n_v:]
    before = last[n_v:]
    violated = before[u.n :]
    g = violated[internal:]
    moved = violated[2 * u.n_g + n_y :]
    after = moved[n_v:]
    counts = after[n_y + internal :]
    limit = info[ITERATION_LIMIT]
    best = -1.0
    iteration = 0.0
    halvings = 0
    given[n_v] = 0.0
    for i in range(n_v):
        total[i] = 0.0
    for i in range(u.n):
        before[i] = z[i]
    while True:
        if evaluate(u.violations, u.violations_context, t, z, how, 0.0, violated) != 0:
            return _FAILED
        error = largest(g, weights, counts, u.n_joints)
        # at the rounding level the violation stops falling: that is convergence, too
        stalled = best >= 0.0 and error >= 0.5 * best and error <= info[STEADY]
        if error <= info[TOLERANCE] or stalled:
            return iteration
        # a step that is short enough does reduce the violation
        halved = best >= 0.0 and not error < best and halvings < HALVINGS
        if halved:
            halvings += 1
            given[n_v + 1] = 1.0
            for i in range(n_v):
                last[i] *= 0.5
                total[i] -= last[i]
                given[i] = last[i]
        elif iteration >= limit or error != error:
            return _FAILED
        else:
            # nearest to the start in the first half; this converges linearly, Newton's method alone quadratically
            pull = 1.0 if 2.0 * iteration + 1.0 <= limit else 0.0
            iteration += 1.0
            halvings = 0
            best = error
            given[n_v + 1] = 0.0
            for i in range(n_v):
                given[i] = -pull * total[i]
            for i in range(u.n_q):
                before[i] = z[i]
        if evaluate(u.step, u.step_context, t, before, given, 0.0, moved) != 0:
            return _FAILED
        if counts[u.n_joints] != 0.0:
            return _FAILED
        for i in range(u.n_q):
            z[i] = after[i]
        if not halved:
            for i in range(n_v):
                last[i] = moved[i]
                total[i] += last[i]


def nearest(u: ConstraintSteps, t: float, y: Vec, info: Vec, out: Vec) -> int:
    """y, projected, to `out`, and what was done to `info`. 0 if y is on the constraints then, or NOT_FINITE; 1 if the
    projection failed, where ITERATIONS in `info` is negative, or if an exception waits."""
    n_q = u.n_q
    n_v = u.n_v
    n_y = n_q + n_v
    n_g = u.n_g
    how = info[PROJECT_VELOCITIES:]
    weights = info[N_INFO:]
    given = weights[n_g:]
    violated = given[3 * n_v + 2 + u.n :]
    normal = violated[2 * n_g :]
    after = normal[n_y + n_v :]
    counts = after[n_y:]
    for i in range(u.n):
        out[i] = y[i]
    for i in range(n_g):
        counts[i] = 1.0
    counts[n_g] = 0.0
    info[LAST_TIME] = t
    info[ITERATIONS] = 0.0
    info[CHANGED] = 0.0
    info[SINGULAR] = 0.0
    if evaluate(u.violations, u.violations_context, t, y, how, 0.0, violated) != 0:
        return 1
    position = largest(violated, weights, counts, n_g)
    velocity = info[TIME] * largest(violated[n_g:], weights, counts, n_g)
    info[VIOLATION] = position
    drifted = info[PROJECT_POSITIONS] != 0.0 and not position <= info[TOLERANCE]
    moving = how[0] != 0.0 and u.has_velocities != 0
    moving = moving and (drifted or not velocity <= info[TOLERANCE])
    if drifted:
        for i in range(n_y if moving else n_q):
            out[i] = normal[i]
        info[ITERATIONS] = close_joints(u, t, out, info)
    if moving and info[ITERATIONS] >= 0.0:
        for i in range(n_v):
            given[i] = 0.0
        given[n_v] = 1.0
        given[n_v + 1] = 0.0
        if evaluate(u.step, u.step_context, t, out, given, 0.0, normal[n_y:]) != 0:
            return 1
        for i in range(n_q, n_y):
            out[i] = after[i]
    if counts[n_g] != 0.0:
        info[SINGULAR] = counts[n_g]
        info[ITERATIONS] = _FAILED
    if info[ITERATIONS] < 0.0:
        return 1
    info[CHANGED] = 1.0 if drifted or moving else 0.0
    for i in range(u.n):
        if not isfinite(out[i]):
            return NOT_FINITE
    return 0


def project(near: Function, context: Address, n: int, result: int, p: Vec, t: float, y: Vec) -> int:
    """Project y (n,) in place, after an accepted step or for an output, by `nearest` as a machine function; `p` is the
    memory of the run."""
    info = p[INFO:]
    out = p[result:]
    p[MOVED] = 0.0
    status = evaluate(near, context, t, y, info, 0.0, out)
    if status != 0:
        return PROJECTED_NOT_FINITE if status == NOT_FINITE else NOT_PROJECTED
    if info[CHANGED] == 0.0:
        p[SKIPPED] += 1.0
        return DONE
    most = 0.0
    for i in range(n):
        move = abs(out[i] - y[i])
        most = move if move > most else most
        y[i] = out[i]
    p[COUNT] += 1.0
    p[NEWTON] += info[ITERATIONS]
    p[TOTAL] += most
    p[LARGEST] = most if most > p[LARGEST] else p[LARGEST]
    p[MOVED] = 1.0
    return DONE
