"""A problem whose charts a run centres again in place: R_ref is an input of the model's code, so its numbers are
written where the code reads them, and what is bound to them stays bound.

R = R_ref R(a) with a constant R_ref ([GR95] (159), (160)), see `rbdae.problem.switches.charts`. The memory of the
selection belongs to one run alone; the problems that the run leaves behind have their own.
"""

from __future__ import annotations

from typing import Any, NoReturn, final

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae._frozen import refuse_copies
from rbdae.kernels import outputs
from rbdae.multibody.layout import put_parameters
from rbdae.multibody.recording import selected, selection_numbers
from rbdae.multibody.references import centred
from rbdae.multibody.workspace import Workspace
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.problem import Problem
from rbdae.problem.start import consistent_start
from rbdae.problem.switches import SWITCHES, ChartPolicy, ChartSwitch


@final
class Moving:
    """A twin of a problem for one run.

    Parameters
    ----------
    problem : with reference rotations, and no other numbers in its selection; code of the model

    Attributes
    ----------
    problem : the twin: the same equations and start, with a selection of its own
    """

    def __init__(self, problem: Problem) -> None:
        own = Workspace(problem.workspace.memory, problem.selection)
        self.problem = problem._on(own)
        self.problem.callbacks._count_with(problem.callbacks)
        self._numbers: Vec = selection_numbers(own)
        self._references: Mat = own.owned["references"]
        self._Z = np.empty((own.model.n, 24))
        self._rank, self._order = own.layout.rank[: own.model.n], list(own.layout.order)

    def __reduce__(self) -> NoReturn:
        refuse_copies()

    def centred(self, t: float, y: Vec) -> Problem | None:
        """The problem from (t, y) on with all charts centred there, as `ChartSwitch.resume` makes it, to the last bit;
        the twin goes along. None if its memory was laid out again: then nothing has changed."""
        twin = self.problem
        view, workspace = twin.interpretation, twin.workspace
        if workspace.numbers is not self._numbers or not isinstance(view, Interpretation):
            return None
        model, settings, layout = workspace.model, workspace.settings, workspace.layout
        view._kernel(outputs.natural)(t, y, self._Z.reshape(-1))
        d = self._Z[self._rank, 3:12]
        references = centred(settings.chart, np.swapaxes(d.reshape(-1, 3, 3), 1, 2))
        out = y.copy()
        put_parameters(model, settings, layout, d, references, out)
        workspace.selection = selection = workspace.selection.with_references(references)
        self._references[:] = references[self._order]
        self._numbers[1 : 1 + self._references.size] = self._references.ravel()
        start = consistent_start(view, t, out, twin.assembly)
        left = Workspace(workspace.memory, selection)
        return Problem(Interpretation(left), start, twin.velocity, twin.again, twin._regular)


def moving(problem: Any, policy: ChartPolicy) -> Moving | None:
    """The object that centres the charts of a problem in place; None where something else may change, or where its
    numbers are no input of code of the model."""
    if policy.on_singularity != "switch" or not isinstance(problem, Problem) or problem.kind != "ode":
        return None
    workspace, view = problem.workspace, problem.interpretation
    if workspace.code_calls_python or not workspace.memory.traced or not isinstance(view, Interpretation):
        return None
    needed = [kind for kind in SWITCHES if kind.needed(view)]
    if needed != [ChartSwitch] or problem.callbacks.code("rhs") == "generic":
        return None
    numbers = workspace.owned.keys() & selected(workspace).keys()
    return Moving(problem) if numbers == {"references"} == selected(workspace).keys() else None
