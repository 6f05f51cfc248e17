"""The choices that a run may have to make again on its way: switches of the selection, and the list of them.

A switch is due at an accepted state where numbers that a kernel computes leave their bounds, and another choice is
better or the run has to end.

When a mechanism of several loops passes a singular position, equations follow from the others for a short time. Let
sigma be the sine between the gradient of such an equation and those of the others; it passes zero linearly in time. The
motion is smooth, but the multiplier has a pole, la = F/sigma, with F the force that the mechanism cannot resist there.
A violation delta of the constraints makes an error delta/sigma in the acceleration, and velocities across the motion
grow as delta/sigma^2 on the way. Suspending the equation makes an error F while sigma is small, so that of the velocity
is in proportion to sigma. Both are equal at sigma = (delta/F)^(1/3), which for the rounding to which states are
projected is about 1e-4, the root of `SUSPENDED_FROM`; the projection removes the rest beyond. ([BL96] regularise by
penalties, which act everywhere.) That is done in the factorisation that the forms without multipliers and the
projection share (`rbdae.kernels.linear.saddle`). Without projection a passage leaves a drift that has grown some
thousandfold by the next. Forms with multipliers as unknowns have to follow them into the pole, and the null-space form,
whose T has one too, is left as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, final

import numpy as np

from rbdae._arrays import Bools, Mat, Vec
from rbdae.formulations.null_space import growth
from rbdae.kernels import outputs
from rbdae.kernels.entry import Entry
from rbdae.kernels.joint_rows import independence, pivots
from rbdae.kernels.linear.accelerations import friction_margins
from rbdae.machine.function import MachineFunction
from rbdae.multibody.choices.row_selection import SUSPENDED_FROM, WEAKENED, closeness, redundant_rows, strength
from rbdae.multibody.choices.selection import KeptRows, Selection
from rbdae.multibody.choices.states import centred
from rbdae.multibody.choices.velocity_selection import spatial_columns
from rbdae.multibody.code.bound import BoundKernel
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.system.model import Model
from rbdae.problem.contract import Ending, Solvable
from rbdae.problem.interpretation import Interpretation


@final
@dataclass(frozen=True, slots=True)
class ChartPolicy:
    """The policy of a run about the singular sets of its charts; see `rbdae.solve`."""

    on_singularity: Literal["stop", "switch"] = "stop"
    recentre: Literal["due", "always"] = "due"


USUAL = ChartPolicy()


class AbstractSwitch(ABC):
    """Something that a run may have to choose again. Its object belongs to one segment of one run.

    Duties of a switch:

    1. `needed` says whether a problem has such a choice at all.
    2. `bounds` are those of the numbers f(t, y) that its `kernel` computes, for a segment that begins at (t, y); it is
       considered where one is out of them. They are cheap, because they are asked after every accepted step.
    3. `next` maps (t, y, selection) to the next selection. It changes its own field and no other, so that switches
       compose. It returns the same object if no other choice is better.
    4. `ends` says why the run has to end where the switch is due; None if it can continue.
    """

    kernel: ClassVar[Entry]

    def __init__(self, problem: Any, policy: ChartPolicy) -> None:
        self.view: Interpretation = problem.interpretation
        self._problem, self._policy = problem, policy
        self.low, self.high = self.bounds(problem.t0, problem.y0)

    @classmethod
    @abstractmethod
    def needed(cls, view: Interpretation) -> bool:
        """Whether a problem has this choice."""

    @abstractmethod
    def bounds(self, t: float, y: Vec) -> tuple[Vec, Vec]:
        """The least and the largest of its numbers, (n,) each, with which the present choice is good."""

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """The selection with this switch's own field chosen again at (t, y); the same where there is no choice."""
        return selection

    def ends(self, t: float, y: Vec) -> Ending | None:
        """Why the run cannot continue from a state at which the switch is due; None if it can."""
        return None

    def due(self, t: float, y: Vec) -> bool:
        """Whether to choose again at this accepted state; states are asked about in the order of time."""
        x = self.view.read(self.kernel, t, y, len(self.low))
        if np.all((x >= self.low) & (x <= self.high)):
            return False
        if self.ends(t, y) is not None:
            return True
        selection = self.view.workspace.selection
        return not np.isnan(x).any() and self.next(t, y, selection) is not selection

    def machine(self) -> MachineFunction | None:
        """Its numbers as a machine function of (t, y); None if it has to be asked after every step."""
        return self.view.machine(self.kernel, len(self.low))

    def resume(self, t: float, y: Vec) -> Solvable:
        """An equivalent problem of the same motion that begins at (t, y), with the same n, kind, index and labels, and
        switches of its own."""
        out: Solvable = self._problem.resumed(t, y, self.next(t, y, self._problem.selection))
        return out


# ------------------------------------------------------------ independent velocities


@final
class VelocitySwitch(AbstractSwitch):
    """Due where a column of T = [G; S]^-1 [0; I] has grown twofold since S was selected: a mechanism can leave the
    region in which its constant S is good. Positions and velocities stay; nu are other numbers for them."""

    kernel = growth
    _last: tuple[float, bytes, Any] = (np.nan, b"", None)

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For the null-space form of systems with loops."""
        return view.workspace.selection.velocities is not None

    def bounds(self, t: float, y: Vec) -> tuple[Vec, Vec]:
        """Of the largest growth of a column."""
        return np.full(1, -np.inf), np.full(1, 2.0)

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """S from the null space of G at (t, y); a run asks whether there is a better one, and then for it."""
        if self._last[:2] == (t, y.tobytes()):
            return replace(selection, velocities=self._last[2])
        settings = self.view.workspace.settings
        G = self.view.matrices(t, y, sparse=True).G if settings.sparse else self.view.joint_matrix(t, y)
        if settings.kind.spatial and not settings.sparse:
            d = self.view.natural(t, y)[:, 3:12].reshape(-1, 3, 3)
            G = spatial_columns(G, np.swapaxes(d, 1, 2))
        chosen = self.view.workspace.memory.metric.select(G, settings.n_independent)
        self._last = t, y.tobytes(), chosen
        return replace(selection, velocities=chosen)


# ------------------------------------------------------------ joint rows

_NEAR = 0.1
"""No other rows are selected where the joints are nearer to a singular position than this fraction of the start."""


def with_pivot_floor(
    workspace: Workspace, rows: KeptRows, t: float, y: Vec, fraction: float = SUSPENDED_FROM
) -> KeptRows:
    """The rows, with floors of this fraction of their pivots at (t, y)."""
    bare, found = replace(rows, pivot_floor=np.zeros(workspace.layout.n_rows)), np.empty(workspace.layout.n_rows)
    BoundKernel(workspace.with_selection(replace(workspace.selection, rows=bare)), pivots)(t, y, found)
    return replace(rows, pivot_floor=fraction * found)


@final
class RowSwitch(AbstractSwitch):
    """Considered where the strength (1 + |c|^2)^(-1/2) of the kept rows, by which the dropped ones are g = c G, has
    fallen to `WEAKENED` of what it was. Positions and velocities change only by the drift that the projection removes;
    multipliers are redistributed."""

    kernel = independence

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For systems with dropped rows."""
        return bool(view.workspace.selection.rows.dropped)

    def bounds(self, t: float, y: Vec) -> tuple[Vec, Vec]:
        """Of the number that says how much the dropped rows need of the kept ones."""
        rows, n = self.view.workspace.selection.rows, self.view.workspace.layout.n_rows
        high = np.full(n + 1 + n * len(rows.dropped), np.inf)
        high[n] = rows.most_needed(WEAKENED)
        return np.full(len(high), -np.inf), high

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """Other rows, if there are better ones and the position is not singular, which no choice mends."""
        view, rows = self.view, selection.rows
        n = len(rows.dropped)
        G = view.joint_matrix(t, y)
        if closeness(view.model, G, n) < _NEAR * rows.closeness:
            return selection
        dropped = redundant_rows(view.model, G, prefer_trees=False, at_least=n)
        if len(dropped) != n or set(dropped) == set(rows.dropped):
            return selection
        chosen = KeptRows(dropped, strength(view.model, G, dropped), rows.closeness)
        if rows.pivot_floor is not None:
            chosen = with_pivot_floor(view.workspace, chosen, t, y)
        return replace(selection, rows=chosen)


# ------------------------------------------------------------ charts

NEAR = 1e-3
"""A run stops at this angle from a singular set, in radians."""

DUE = 2.0 / 3.0
"""Charts are centred again where this part of the way from the centre to the singular set is done: there K(a) and its
condition are at most four for all charts."""


@final
class ChartSwitch(AbstractSwitch):
    """Due where a chart is near its singular set: another centre R_ref in R = R_ref R(a) is always better then; the
    material angular velocity does not notice ([GR95] (159), (160)). All charts are centred together, because a restart
    costs the same. Centred after every step, a one-step method is the Runge-Kutta-Munthe-Kaas method of its tableau for
    the rotation vector ([MK98])."""

    kernel = outputs.distances

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For charts with a singular set."""
        return bool(view.workspace.settings.chart.centre)

    def bounds(self, t: float, y: Vec) -> tuple[Vec, Vec]:
        """Of the distances to it. Charts that are always centred again are out of bounds everywhere; a run that stops
        there does not stop at its start."""
        n = self.view.model.n
        if self._policy.recentre == "always":
            low = np.inf
        elif self._policy.on_singularity == "switch":
            low = (1.0 - DUE) * self.view.workspace.settings.chart.reach
        else:
            low = max(0.0, min(NEAR, 0.5 * self.view.distance_to_singularity(t, y)[0]))
        return np.full(n, low), np.full(n, np.inf)

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """All charts centred at (t, y)."""
        d = self.view.natural(t, y)[:, 3:12]
        R: Mat = np.swapaxes(d.reshape(-1, 3, 3), 1, 2)
        return replace(selection, references=centred(self.view.workspace.settings.chart, R))

    def ends(self, t: float, y: Vec) -> Ending | None:
        """Why the run cannot continue; None if it can."""
        distance, body = self.view.distance_to_singularity(t, y)
        which = f"the {self.view.workspace.settings.chart.name} parameters of body {self.view.model.names[body]!r}"
        if not distance > 0.0:
            return Ending(f"within one step {which} have gone beyond it; take shorter steps", readable=False)
        if self._policy.on_singularity == "switch":
            return None
        return Ending(f"{which} are {distance:.3g} rad from it")


# ------------------------------------------------------------ friction under reactions

_REMEDY = "give a smaller mu, another geometry, or a compliant contact (rbdae.forces.Contact) in place of the joint"


@final
class FrictionSwitch(AbstractSwitch):
    """Due where a margin is no longer positive, see `rbdae.kernels.linear.friction_columns.margins`; nothing can be
    chosen again then."""

    kernel = friction_margins

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For friction under reactions. Other numbers of a problem are not asked for it: their model is made when it is
        read."""
        return len(view.workspace.memory.model.frictions) > 0

    def bounds(self, t: float, y: Vec) -> tuple[Vec, Vec]:
        """Of margins; the normal forces after them have none."""
        n = len(self.view.workspace.memory.model.frictions)
        return np.repeat([float(np.nextafter(0.0, 1.0)), -np.inf], n), np.full(2 * n, np.inf)

    def ends(self, t: float, y: Vec) -> Ending | None:
        """The names of the joints."""
        return Ending(_paradox(self.view, t, y), readable=False, kind="friction")


def _paradox(view: Interpretation, t: float, y: Vec) -> str:
    """The frictions that leave no acceleration, or several, at a state, in words; empty if there is none."""
    found = view.read(friction_margins, t, y, 2 * len(view.model.frictions))[: len(view.model.frictions)]
    found = np.where(np.isfinite(found), found, -np.inf)
    named = [f"{force!r} of joint {joint!r}" for force, joint in _names(view.model)]
    names = [named[k] for k in np.flatnonzero(~(found > 0.0)).tolist()]
    return f"at t = {t:.9g} for {', '.join(names)} (margin {found.min():.3g})" if names else ""


def refuse_friction(view: Interpretation, t: float, y: Vec) -> None:
    """Refuse friction under a reaction that is not unique, or that has no unique accelerations at (t, y). Raises
    ValueError with the names of the joints and the time."""
    if not FrictionSwitch.needed(view):
        return
    model = view.model
    why = _paradox(view, t, y)
    if why:
        raise ValueError(f"dry friction leaves no acceleration, or several (Painleve's paradox), {why}; {_REMEDY}")
    if not view.workspace.selection.rows.dropped:
        return
    reactions = view.reactions(t, y)
    for friction, (force, joint) in zip(model.frictions, _names(model), strict=True):
        for reaction in reactions[joint].values():
            sure: Bools = reaction.unique_force
            if not sure.all() or (friction["moments"] and not reaction.unique_torque[:2].all()):
                raise ValueError(
                    f"force {force!r}: the reaction of joint {joint!r} is not unique, because equations of its loop "
                    "follow from others; use joints that leave more free (a plane loop of four bodies: a spherical and "
                    "a cylindrical joint in place of two revolute ones), or give normal= a number"
                )


def _names(model: Model) -> list[tuple[str, str]]:
    elements = ((force, element) for force in model.system.forces for element in force.elements())
    reactions = ((force, getattr(element, "reaction", None)) for force, element in elements)
    return [(str(force.name), str(reaction.joint.name)) for force, reaction in reactions if reaction is not None]


SWITCHES: tuple[type[AbstractSwitch], ...] = (VelocitySwitch, RowSwitch, ChartSwitch, FrictionSwitch)
