"""The memory of a loop of fixed steps: numbers by their names, and the places of its vectors; what it says."""

from __future__ import annotations

from rbdae.machine.language.words import Address, Function
from rbdae.machine.loops.shared import *  # noqa: F403
from rbdae.machine.loops.shared import OWN_WORDS, LoopMemory

ALMOST = 1e-9
"""A last step whose size differs by less than this part of a step is a whole one."""


class FixedMemory(LoopMemory):
    """The numbers of a loop of fixed steps, and the machine functions of its scheme with their contexts."""

    newton: Function
    newton_context: Address
    advance: Function
    advance_context: Address
    predict: Function
    predict_context: Address
    step: Function
    """All of a step, where `whole` says that there is such a function."""
    step_context: Address
    work_of: Function
    work_of_context: Address
    unknowns: int
    """Number of unknowns of a step."""
    iterations: int
    """Of Newton's method, in all steps."""
    most: int
    """Iterations in one step."""
    known: int
    """Whether the unknowns of a step of the same size are there, to begin the next one with."""
    stages: int
    """Number of steps of the scheme in a step."""
    end: int
    """Which of the first two vectors has the state at the end of the last step; the other one has that at its start."""
    whole: int
    t0: float
    tolerance: float
    """Relative size of a correction, and of what the balances lack, at which the iteration may end."""
    correction: float
    """Relative size of the last correction, or of what the balances lacked before it if that is more."""
    first: float
    """Relative size of the first correction of the last step."""
    work: float
    """Of what has no potential, up to the start of the step at hand (`rbdae.machine.loops.fixed`)."""


# ---------------------------------------------------------------- vectors
FURTHER = 2
"""Unknowns after the next iteration; what a function makes."""
BETWEEN = 3
"""The state between two stages."""
WEIGHTS = 4
"""The sizes of the stages, relative to that of the step."""
U = 5
"""A vector for each stage of the last step, and one for a state within it: the unknowns, two numbers for `advance` and
for a step in one function, and the unknowns to begin the next step with."""


def vectors(stages: int) -> int:
    """How many there are."""
    return U + stages + 1


# ---------------------------------------------------------------- what the loop says
NOT_CONVERGED = OWN_WORDS
NOT_FINITE = OWN_WORDS + 1
"""A correction or a state is not finite."""
