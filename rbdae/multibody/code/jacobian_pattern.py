"""The entries that a Jacobian may have: the derivatives that are not zero whatever the state.

They are found by elements, or by recording the whole model. Where that is too long, or a kernel cannot be recorded (a
warning says so), every entry is one.
"""

from __future__ import annotations

import numpy as np

from rbdae._arrays import Ints
from rbdae.graph.derivatives import NoDerivative
from rbdae.graph.symbols import NotStraight
from rbdae.machine.cache import say_once
from rbdae.machine.function import Shapes
from rbdae.multibody.elements.elements import pattern_of_elements
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.derived import derived
from rbdae.multibody.recorded.recording import MOST_NODES, Pattern, recording_point

_MOST_BODIES = 1000
"""Bodies up to which forms without multipliers are recorded: the accelerations of a long chain depend on all bodies."""


def jacobian_pattern(workspace: Workspace, n_equations: int) -> Pattern:
    """The entries of dF/dy + c dF/dyd, column by column."""
    n, settings = workspace.layout.n, workspace.settings
    full = workspace.model.n > _MOST_BODIES and (settings.reduced or settings.formulation.multipliers == "none")
    found = None
    try:
        found = pattern_of_elements(workspace)
        if found is None and not full:
            found = _recorded(workspace, n_equations)
    except (NotStraight, NoDerivative):
        pass
    except (TypeError, AttributeError, ValueError, ArithmeticError) as error:  # a kernel from elsewhere, such as a
        # user's chart, may do with its numbers what cannot be recorded
        name = settings.kernels.jacobian.name
        say_once(f"{name} cannot be recorded ({type(error).__name__}: {error}); its pattern is full")
    rows, columns = np.divmod(np.arange(n_equations * n), n) if found is None else found
    columns, rows = np.divmod(np.unique(columns * n_equations + rows), n_equations)
    return Pattern(rows, columns)


def _recorded(workspace: Workspace, n_equations: int) -> tuple[Ints, Ints]:
    n = workspace.layout.n
    shapes: Shapes = {"y": (n,), "yd": (n,), "out": (n_equations,)}
    kernel = workspace.settings.kernels.jacobian
    found = derived(workspace, kernel, shapes, recording_point(workspace, shapes), MOST_NODES).rows
    rows = np.repeat(np.arange(n_equations), [len(row) for row in found])
    return rows, np.array([j for row in found for j in row], dtype=np.int64)
