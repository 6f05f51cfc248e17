"""The loop over steps, whatever makes them: rows, output times, limits. A method is bound to the open names.

Nothing in here depends on where it has been left: a run in several calls has the same bits as one in a single call.
"""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function, Vec
from rbdae.machine.loops import memory as at
from rbdae.machine.loops.control import finite
from rbdae.machine.loops.correction import Correction, project
from rbdae.machine.loops.memory import StepMemory
from rbdae.machine.loops.watching import asks


def attempt(rhs: Function, context: Address, s: StepMemory) -> int:
    """Try a step, see `rbdae.machine.loops.control`; bound to a method's."""
    return at.DONE


def dense(rhs: Function, context: Address, s: StepMemory) -> int:
    """Prepare the dense output of the last step; bound to that of a method that has one."""
    return at.DONE


def interpolate(s: StepMemory, theta: float, out: Vec) -> int:
    """y (n,) at t + theta h_done; bound to a method's."""
    return at.DONE


def outputs(s: StepMemory, p: Correction) -> int:
    """Fill the rows of the output times before the end of the last step, after `dense`; projected if the run is."""
    n = s.n
    times = s.output_times
    k = s.outputs
    while k < s.times and times[k] < s.t_new:
        out = s.output_rows[k * n :]
        status = interpolate(s, (times[k] - s.t) / s.h_done, out)
        if status != at.DONE:
            return status
        if not finite(out, n):
            return at.DENSE_NOT_FINITE
        if s.projects != 0:
            s.t_tried = times[k]
            status = project(s, p, s.direction * times[k], out)
            if status != at.DONE:
                return status
        k += 1
        s.outputs = k
    return at.DONE


def completed(rhs: Function, context: Address, s: StepMemory, p: Correction) -> int:
    """Project the end of an accepted step, and fill the outputs in it; one whose projection fails is taken back."""
    status = at.DONE
    inside = s.outputs < s.times and s.output_times[s.outputs] < s.t_new
    if inside:
        status = dense(rhs, context, s)
    if status == at.DONE and s.projects != 0:
        s.t_tried = s.t_new
        end = s.vectors[at.Y_NEW * s.m :]
        if s.events != 0:
            kept = s.vectors[at.UNPROJECTED * s.m :]
            for i in range(s.n):
                kept[i] = end[i]
        status = project(s, p, s.direction * s.t_new, end)
        if p.moved != 0:
            s.stale = 1
    if status == at.DONE and inside:
        status = outputs(s, p)
    if status >= at.NOT_PROJECTED:
        s.t_new = s.t
    return status


def written(s: StepMemory) -> None:
    """The end of the last step to its rows."""
    n = s.n
    times = s.output_times
    end = s.vectors[at.Y_NEW * s.m :]
    k = s.outputs
    while k < s.times and times[k] == s.t_new:
        out = s.output_rows[k * n :]
        for i in range(n):
            out[i] = end[i]
        k += 1
    s.outputs = k
    row = s.steps_y[s.rows * n :]
    for i in range(n):
        row[i] = end[i]
    s.steps_t[s.rows] = s.t_new
    s.rows += 1


def run(rhs: Function, context: Address, s: StepMemory, p: Correction) -> int:
    """Take steps until the end, or until the caller has something to do; called again, it continues.

    Parameters
    ----------
    rhs, context : a machine function
    s, p : see `rbdae.machine.loops.memory` and `rbdae.machine.loops.correction`

    Returns
    -------
    int
        FINISHED, FULL (no space for another step), PAUSED (the budget is used up), ASKED, or why it stopped
    """
    while True:
        if s.stalled >= s.max_stalled:
            return at.STANDS_STILL
        if s.steps > 0 and s.t_new >= s.t_end:
            return at.FINISHED
        if s.steps >= s.max_steps:
            return at.TOO_MANY
        if s.rows >= s.room:
            return at.FULL
        if s.budget <= 0:
            return at.PAUSED
        status = attempt(rhs, context, s)
        if status == at.REJECTION:
            continue
        if status != at.DONE:
            return status
        s.stalled = s.stalled + 1 if s.t_new - s.t <= s.least_step else 0
        s.steps += 1
        status = completed(rhs, context, s, p)
        if status != at.DONE:
            return status
        written(s)
        ends = s.t_new >= s.t_end or s.steps >= s.max_steps  # limits come before switches, not before events
        watched = s.measured != 0 and (s.events != 0 or not ends)
        if watched and asks(s, s.direction * s.t_new, s.vectors[at.Y_NEW * s.m :]):
            return at.ASKED
