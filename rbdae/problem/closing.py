"""The projection of long models as one machine function: that of `rbdae.kernels.projection`, near the constraints and
anywhere, with Newton steps by elements (`rbdae.multibody.closing_elements`)."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np

from rbdae import kernels
from rbdae.kernels import near_projection as near
from rbdae.kernels import projection as at
from rbdae.kernels.closing import HALVINGS
from rbdae.machine import language
from rbdae.machine.entries import loads
from rbdae.machine.function import MachineFunction
from rbdae.machine.language.program import Program
from rbdae.machine.language.words import Address, Function, Ints, Vec, evaluate
from rbdae.machine.module import Module, compiled
from rbdae.machine.sources import sources
from rbdae.multibody.closing_elements import N_MORE, Places
from rbdae.multibody.traced import TracedKernel
from rbdae.multibody.workspace import Workspace

N, N_Q, N_V, N_G, N_JOINTS, REDUCED, HEAD = range(7)
"""Whole numbers of a model: unknowns, positions, velocities, constraints, those of joints; 1 where velocities are no
unknowns."""

_FAILED = -1.0
_NO_STEP = -2.0


def largest(x: Vec, weights: Vec, n: int) -> float:
    """The largest of n weighted magnitudes, or NaN."""
    found = 0.0
    for i in range(n):
        size: float = weights[i] * abs(x[i])
        if not size <= found:
            found = size
            if size != size:
                return size
    return found


def steps(step: Function, context: Address, s: Ints, w: Vec, t: float, z: Vec, info: Vec) -> float:
    """Newton's method for g = 0 of the joints, as `rbdae.kernels.closing.close_joints`; changes positions of z. The
    number of steps, or `_FAILED`, or `_NO_STEP` where no step can be computed."""
    n_q = s[N_Q]
    n_v = s[N_V]
    given = w
    results = w[n_v + N_MORE :]
    after = results[n_v:]
    internal = s[N_G] - s[N_JOINTS]
    g = results[n_v + 2 * (n_q + n_v) + internal :]
    weights = info[at.N_INFO + internal :]
    total = results[n_v + 2 * (n_q + n_v) + 2 * s[N_G] :]
    last = total[n_v:]
    before = last[n_v:]
    limit = info[at.ITERATION_LIMIT]
    given[n_v] = 0.0
    best = -1.0
    iteration = 0.0
    halvings = 0
    for i in range(n_v):
        total[i] = 0.0
    while True:
        # nearest to the start in the first half; this converges linearly, Newton's method alone quadratically
        pull = 1.0 if 2.0 * iteration + 1.0 <= limit else 0.0
        given[n_v + 1] = 0.0
        for i in range(n_v):
            given[i] = -pull * total[i]
        if evaluate(step, context, t, z, given, 0.0, results) != 0:
            return _NO_STEP
        error = largest(g, weights, s[N_JOINTS])
        # at the rounding level the violation stops falling: that is convergence, too
        stalled = best >= 0.0 and error >= 0.5 * best and error <= info[at.STEADY]
        if error <= info[at.POSITION_TOLERANCE] or stalled:
            return iteration
        if best >= 0.0 and not error < best and halvings < HALVINGS:
            # a step that is short enough does reduce the violation
            halvings += 1
            given[n_v + 1] = 1.0
            for i in range(n_v):
                last[i] *= 0.5
                total[i] -= last[i]
                given[i] = last[i]
            for i in range(n_q):
                z[i] = before[i]
            if evaluate(step, context, t, z, given, 0.0, results) != 0:
                return _NO_STEP
            for i in range(n_q):
                z[i] = after[i]
        else:
            if iteration >= limit or error != error:
                return _FAILED
            iteration += 1.0
            halvings = 0
            best = error
            for i in range(n_v):
                last[i] = results[i]
                total[i] += last[i]
            for i in range(n_q):
                before[i] = z[i]
                z[i] = after[i]


def closed(step: Function, context: Address, s: Ints, w: Vec, t: float, y: Vec, info: Vec, out: Vec) -> int:
    """y, projected, and behind it the numbers of `rbdae.kernels.near_projection` to `out`; 0 if it is complete."""
    n_q = s[N_Q]
    n_v = s[N_V]
    n_y = n_q + n_v
    given = w
    results = w[n_v + N_MORE :]
    after = results[n_v:]
    normal = after[n_y:]
    g = normal[n_y:]
    more = out[s[N] :]
    weights = info[at.N_INFO :]
    how = info[at.PROJECT_VELOCITIES]
    for i in range(s[N]):
        out[i] = y[i]
    for i in range(n_v):
        given[i] = 0.0
    given[n_v] = 1.0
    given[n_v + 1] = 0.0
    given[n_v + 2] = how if how > 1.0 else 1.0
    if evaluate(step, context, t, out, given, 0.0, results) != 0:
        return 1
    standing = largest(g, weights, s[N_G])
    moving = info[at.TIME] * largest(g[s[N_G] :], weights, s[N_G])
    positions = info[at.PROJECT_POSITIONS] != 0.0 and not standing <= info[at.POSITION_TOLERANCE]
    moved = positions or not moving <= info[at.VELOCITY_TOLERANCE]
    velocities = moved and how != 0.0 and s[REDUCED] == 0
    more[near.OFF] = 1.0 if positions or velocities else 0.0
    more[near.ITERATIONS] = 0.0
    more[near.COUNTS] = 1.0
    more[near.POSITIONS] = standing
    more[near.VELOCITIES] = moving
    if positions:
        for i in range(n_y if s[REDUCED] == 0 and how != 0.0 else n_q):
            out[i] = normal[i]
        count = steps(step, context, s, w, t, out, info)
        if count < 0.0:
            more[near.COUNTS] = 0.0
            return 0
        more[near.ITERATIONS] = count
        if velocities:
            given[n_v] = 1.0
            for i in range(n_v):
                given[i] = 0.0
            if evaluate(step, context, t, out, given, 0.0, results) != 0:
                return 1
    if velocities:
        for i in range(n_q, n_y):
            out[i] = after[i]
    return 0


_TEXT = f"""
define i32 @closing(ptr %u, double %t, ptr %y, ptr %yd, double %c, ptr %out) nounwind {{
{loads("u", step=0, context=1, s=2, w=3)}  %r = call i64 @"{__name__}.closed"(
    ptr %step, ptr %context, ptr %s, ptr %w, double %t, ptr %y, ptr %yd, ptr %out)
  %status = trunc i64 %r to i32
  ret i32 %status
}}
"""


@cache
def _code() -> Module:
    program = Program((closed,))
    return compiled(
        lambda: program.text() + _TEXT, made_of=("closing", Path(__file__).read_bytes(), sources(language, kernels))
    )


def closing(workspace: Workspace, step: TracedKernel) -> MachineFunction:
    """The projection of a model by its steps, f(t, y, info, out), for one run at a time; see
    `rbdae.kernels.near_projection`. It returns 1 where equations may be singular."""
    layout, places, made = workspace.layout, Places.of(workspace), step.bare()
    n_q, n_v = layout.q.stop, layout.n_velocities
    n_g = places.g.stop - places.g.start
    s = np.array([layout.n, n_q, n_v, n_g, layout.n_rows, workspace.settings.reduced], dtype=np.int64)
    w = np.zeros(n_v + N_MORE + places.rate.stop + 2 * n_v + n_q)
    context = np.array([made.address, made.context, s.ctypes.data, w.ctypes.data], dtype=np.int64)
    return MachineFunction(_code().address("closing"), context.ctypes.data, (_code(), made, s, w, context), [])


_PROTOTYPE = ctypes.PYFUNCTYPE(
    ctypes.c_int32, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double, ctypes.c_void_p
)
"""As `rbdae.machine.function.PROTOTYPE`, while the interpreter's lock is held: the function has memory of its own."""


def called_with_lock(
    function: MachineFunction, otherwise: Callable[[float, Vec, Vec, Vec], None]
) -> Callable[[float, Vec, Vec, Vec], None]:
    """A machine function as f(t, y, info, out), and `otherwise` where it does not return 0."""
    run = _PROTOTYPE(function.address)

    def call(t: float, y: Vec, info: Vec, out: Vec) -> None:
        if run(function.context, t, y.ctypes.data, info.ctypes.data, 0.0, out.ctypes.data):
            otherwise(t, y, info, out)

    return call
