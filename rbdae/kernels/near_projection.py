"""The projection of `rbdae.kernels.projection` for states near the constraints, as code of one model: at most two
Newton steps, without a branch on what they reach.

Where the projection would do anything else (halve a step, take a third one), the result says that it does not count.
Limits of iterations below two are not for it.
"""

from __future__ import annotations

from typing import Any

from rbdae.graph.functions import Array, Memory, maximum, select
from rbdae.kernels.bodies.natural import move, place
from rbdae.kernels.closing import go_back, keep, largest, normalise_rotations, take_step, violation_of_joints
from rbdae.kernels.constraints.drives import set_time
from rbdae.kernels.entry import entry
from rbdae.kernels.memory import constraint_values, displacement, head
from rbdae.kernels.outputs import locate, violations
from rbdae.kernels.projection import (
    N_INFO,
    POSITION_TOLERANCE,
    PROJECT_POSITIONS,
    PROJECT_VELOCITIES,
    STEADY,
    TIME,
    VELOCITY_TOLERANCE,
    project_velocities,
    turn_velocities,
    write_state,
)

# what is where in the result, behind y
OFF = 0
"""1 where the state is off the constraints, else 0: then the projection leaves it alone."""
ITERATIONS = 1
COUNTS = 2
"""1 where the result is that of the projection, else 0."""
POSITIONS = 3
"""The violation of positions before."""
VELOCITIES = 4
"""The violation of velocities before."""
N_MORE = 5


def _reached(error: Any, before: Any, tolerance: Any, steady: Any) -> Any:
    """1 where a violation is small enough, or no longer falls at the level of rounding; else 0."""
    level = select(error <= steady, select(error >= 0.5 * before, 1.0, 0.0), 0.0)
    return select(error <= tolerance, 1.0, level)


@entry("ityyo")
def project_near(m: Memory, t: float, y: Array, info: Array, out: Array) -> None:
    """y, projected, and the numbers above to `out` (n + N_MORE,); `info` as for `projection.project`, whose results
    are not written."""
    h = head(m)
    n = len(out) - N_MORE
    for i in range(n):
        out[i] = y[i]
    tolerance = info[POSITION_TOLERANCE]
    steady = info[STEADY]
    set_time(m, t)
    locate(m, out)
    internal = h.chart_internal * h.n_bodies
    half = internal + h.n_rows
    g = constraint_values(m)
    violations(m, g)
    weights = info[N_INFO:]
    standing = largest(g, 0, half, weights)
    held = select(info[PROJECT_POSITIONS] > 0.5, select(standing <= tolerance, 1.0, 0.0), 1.0)
    moving = info[TIME] * largest(g, half, half, weights)
    velocities_too = select(info[PROJECT_VELOCITIES] > 0.5, 1.0, 0.0)
    steady_velocities = select(moving <= info[VELOCITY_TOLERANCE], 1.0, 1.0 - velocities_too)
    out[n + OFF] = 1.0 - held * steady_velocities if h.structure == 0 else 1.0 - held
    out[n + ITERATIONS] = 0.0
    out[n + COUNTS] = 1.0
    out[n + POSITIONS] = standing
    out[n + VELOCITIES] = moving
    keep(m)
    turn_velocities(m, select(held > 0.5, 1.0, maximum(1.0, info[PROJECT_VELOCITIES])))
    normalise_rotations(m)
    go_back(m, held)
    if h.n_rows > 0:
        total = displacement(m)
        for i in range(h.n_v):
            total[i] = 0.0
        joints = weights[internal:]
        start = violation_of_joints(m, joints, False)
        none = maximum(held, select(start <= tolerance, 1.0, 0.0))
        take_step(m, 1.0)
        if h.singular != 0:
            out[n + COUNTS] = 0.0
            return
        first = violation_of_joints(m, joints, True)
        one = maximum(none, _reached(first, start, tolerance, steady))
        go_back(m, none)
        take_step(m, 1.0)
        if h.singular != 0:
            out[n + COUNTS] = 0.0
            return
        second = violation_of_joints(m, joints, True)
        both = select(first < start, _reached(second, first, tolerance, steady), 0.0)
        go_back(m, one)
        out[n + ITERATIONS] = select(none > 0.5, 0.0, select(one > 0.5, 1.0, 2.0))
        out[n + COUNTS] = maximum(one, both)
    place(m)
    move(m)
    if h.structure == 0:
        project_velocities(m)
        if h.singular != 0:
            out[n + COUNTS] = 0.0
            return
    write_state(m, out)
    if h.structure == 0:
        for i in range(h.n_q, h.n_q + h.n_v):
            out[i] = select(velocities_too > 0.5, out[i], y[i])
