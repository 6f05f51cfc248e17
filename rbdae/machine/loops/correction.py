"""The projection onto the constraints: Newton's method around recorded functions of the model, and what loops of
solvers do with it after accepted steps.

`nearest` looks for the state nearest to y with g = 0 and G v + g_I = 0; [NS], section 6. First rotations satisfy the
chart's internal constraints; the joints follow by Newton's method, whose steps are halved where a whole one does not
reduce the violation, and then the velocities, whose equations are linear. Two functions of the model
(`rbdae.kernels.projection`) are evaluated on the way: violations at a state, and a step from there.

All that belongs to one projection is a `Correction`.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Fields, Function, Vec, evaluate
from rbdae.machine.loops.memory import DONE, NOT_PROJECTED, PROJECTED_NOT_FINITE, StepMemory

NOT_FINITE = 3
"""What `corrected` returns where the projected state is not finite."""

HALVINGS = 10
"""Of a Newton step that does not reduce the violation."""

_FAILED = -1.0


class Correction(Fields):
    """A projection: a model, how to project, what was done last, and counts. `vectors` begins with what velocities
    become (`how`), and the weights of violations (n_g,)."""

    n: int
    n_q: int
    n_v: int
    n_g: int
    """Constraints: internal ones of the chart, then those of joints."""
    n_joints: int
    has_velocities: int
    """Whether velocities are unknowns that have constraints."""
    violations: Function
    """(t, y, how) -> (g, gdot, y with normalised rotations), the velocities turned with them as `how` says."""
    violations_context: Address
    step: Function
    """(t, y, (u, a, moves)) -> (d, y after d, 1 for each constraint that counts, singular)."""
    step_context: Address
    positions: int
    """Whether they are projected. `how` says the same of velocities, 0: no; 1: what is not tangential is taken off,
    [NS] (62, V); 2: rates of coordinates are divided as these are."""
    tolerance: float
    """Largest violation that counts as none."""
    steady: float
    """Below it a violation that no longer falls is one of rounding."""
    limit: float
    """Of Newton steps."""
    time: float
    """Violations of velocities are multiplied by it."""
    t: float
    steps: float
    """Newton steps of the last projection; negative if they did not reach the constraints."""
    singular: float
    """1 + the place of the first vanishing pivot of the joint equations; 0 if they are regular."""
    violation: float
    """The largest violation of positions before."""
    moved: int
    """Whether the state was off the constraints."""
    count: int
    """Corrections."""
    skipped: int
    """States that needed none."""
    iterations: int
    """Newton steps in all."""
    largest: float
    """The largest correction of an unknown."""
    total: float
    """The sum of the largest ones."""


def size(n: int, n_q: int, n_v: int, n_g: int) -> int:
    """The size of `Correction.vectors`."""
    return 4 + 4 * n_g + 2 * n + 2 * n_q + 6 * n_v


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


def copy(n: int, x: Vec, out: Vec) -> None:
    """The first n numbers of x to `out`."""
    for i in range(n):
        out[i] = x[i]


def fill(n: int, value: float, out: Vec) -> None:
    """The first n numbers of `out` become a value."""
    for i in range(n):
        out[i] = value


def add(n: int, factor: float, x: Vec, out: Vec) -> None:
    """`out` += factor x, the first n numbers."""
    for i in range(n):
        out[i] += factor * x[i]


def close_joints(p: Correction, t: float, z: Vec, given: Vec, work: Vec, violated: Vec, moved: Vec) -> float:
    """Newton's method for g = 0 of the joints from z on, nearest to it in the mass metric; changes z. The number of
    steps; negative if they failed. The results of a model's functions are in `violated` and `moved`."""
    n_v = p.n_v
    total = work
    last = total[n_v:]
    before = last[n_v:]
    internal = p.n_g - p.n_joints
    weights = p.vectors[1 + internal :]
    g = violated[internal:]
    after = moved[n_v:]
    counts = after[p.n_q + n_v + internal :]
    best = -1.0
    iteration = 0.0
    halvings = 0
    given[n_v] = 0.0
    fill(n_v, 0.0, total)
    copy(p.n, z, before)
    while True:
        if evaluate(p.violations, p.violations_context, t, z, p.vectors, 0.0, violated) != 0:
            return _FAILED
        error = largest(g, weights, counts, p.n_joints)
        # at the rounding level the violation stops falling: that is convergence, too
        stalled = best >= 0.0 and error >= 0.5 * best and error <= p.steady
        if error <= p.tolerance or stalled:
            return iteration
        # a step that is short enough does reduce the violation
        halved = best >= 0.0 and not error < best and halvings < HALVINGS
        if halved:
            halvings += 1
            given[n_v + 1] = 1.0
            add(n_v, -0.5, last, last)
            add(n_v, -1.0, last, total)
            copy(n_v, last, given)
        elif iteration >= p.limit or error != error:
            return _FAILED
        else:
            # nearest to the start in the first half; this converges linearly, Newton's method alone quadratically
            pull = 1.0 if 2.0 * iteration + 1.0 <= p.limit else 0.0
            iteration += 1.0
            halvings = 0
            best = error
            given[n_v + 1] = 0.0
            fill(n_v, 0.0, given)
            add(n_v, -pull, total, given)
            copy(p.n_q, z, before)
        if evaluate(p.step, p.step_context, t, before, given, 0.0, moved) != 0 or counts[p.n_joints] != 0.0:
            return _FAILED
        copy(p.n_q, after, z)
        if not halved:
            copy(n_v, moved, last)
            add(n_v, 1.0, last, total)


def nearest(p: Correction, t: float, out: Vec) -> bool:
    """`out` to the nearest state on the constraints. Whether that succeeded; else `Correction.steps` is negative, or an
    exception waits."""
    n_q = p.n_q
    n_v = p.n_v
    n_y = n_q + n_v
    n_g = p.n_g
    how = p.vectors[0]
    weights = p.vectors[1:]
    given = weights[n_g:]
    work = given[n_v + 2 :]
    violated = work[2 * n_v + p.n :]
    normal = violated[2 * n_g :]
    moved = normal[n_y:]
    counts = moved[n_v + n_y :]
    fill(n_g, 1.0, counts)
    counts[n_g] = 0.0
    p.t = t
    p.steps = 0.0
    if evaluate(p.violations, p.violations_context, t, out, p.vectors, 0.0, violated) != 0:
        return False
    p.violation = largest(violated, weights, counts, n_g)
    velocity = p.time * largest(violated[n_g:], weights, counts, n_g)
    drifted = p.positions != 0 and not p.violation <= p.tolerance
    moving = how != 0.0 and p.has_velocities != 0 and (drifted or not velocity <= p.tolerance)
    if drifted:
        copy(n_y if moving else n_q, normal, out)
        p.steps = close_joints(p, t, out, given, work, violated, moved)
    if moving and p.steps >= 0.0:
        fill(n_v, 0.0, given)
        given[n_v] = 1.0
        given[n_v + 1] = 0.0
        if evaluate(p.step, p.step_context, t, out, given, 0.0, moved) != 0:
            return False
        copy(n_v, moved[n_v + n_q :], out[n_q:])
    p.singular = counts[n_g]
    if p.singular != 0.0:
        p.steps = _FAILED
    if p.steps < 0.0:
        return False
    p.moved = 1 if drifted or moving else 0
    return True


def corrected(p: Correction, t: float, y: Vec, out: Vec) -> int:
    """y, projected, to `out`, which may be y, and counted. 0, 1 if that failed, or NOT_FINITE."""
    found = p.vectors[size(p.n, p.n_q, p.n_v, p.n_g) - p.n :]
    copy(p.n, y, found)
    p.moved = 0
    if not nearest(p, t, found):
        return 1
    most = 0.0
    zero = 0.0
    for i in range(p.n):
        move = abs(found[i] - y[i])
        most = move if move > most else most
        zero += 0.0 * found[i]
        out[i] = found[i]
    if p.moved == 0:
        p.skipped += 1
    else:
        p.count += 1
        p.iterations += int(p.steps)
        p.total += most
        p.largest = most if most > p.largest else p.largest
    return 0 if zero == 0.0 else NOT_FINITE


def project(s: StepMemory, p: Correction, t: float, y: Vec) -> int:
    """Project y in place, after an accepted step or for an output, by `corrected` as a machine function."""
    status = evaluate(s.correct, p, t, y, y, 0.0, y)
    if status == 0:
        return DONE
    return PROJECTED_NOT_FINITE if status == NOT_FINITE else NOT_PROJECTED
