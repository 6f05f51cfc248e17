"""Friction under the reaction of a joint: a run ends where it leaves no acceleration, or several."""

from __future__ import annotations

from typing import final

import numpy as np

from rbdae._arrays import Bools, Vec
from rbdae.kernels.linear.accelerations import friction_margins
from rbdae.multibody.choices.selection import Selection
from rbdae.multibody.system.model import Model
from rbdae.problem.contract import Ending, Quiet
from rbdae.problem.interpretation import Interpretation
from rbdae.problem.switches.base import ROUNDING, AbstractSwitch, measured

_REMEDY = "give a smaller mu, another geometry, or a compliant contact (rbdae.forces.Contact) in place of the joint"


def has_friction(view: Interpretation) -> bool:
    """Whether a joint has friction under its own reaction. Other numbers of a problem are not asked for it: their model
    is made when it is read."""
    return len(view.workspace.memory.model.frictions) > 0


def margins(view: Interpretation, t: float, y: Vec) -> Vec:
    """1 without friction, positive while the accelerations exist and are unique; of each friction, see
    `rbdae.kernels.linear.friction_columns.margins`. What is not a number is minus infinity."""
    n = len(view.model.frictions)
    out = view.friction(t, y)[..., :n]
    return np.asarray(np.where(np.isfinite(out), out, -np.inf))


def paradox(view: Interpretation, t: float, y: Vec, least: float = 0.0) -> str:
    """The frictions whose margin is at most `least` at a state, in words; empty if there is none."""
    found = margins(view, t, y)
    names = [_name(view.model, k) for k in np.flatnonzero(~(found > least)).tolist()]
    return f"at t = {t:.9g} for {', '.join(names)} (margin {found.min():.3g})" if names else ""


def refuse_friction(view: Interpretation, t: float, y: Vec) -> None:
    """Refuse friction under a reaction that is not unique, or that has no unique accelerations at (t, y).

    Raises
    ------
    ValueError
        with the names of the joints and the time
    """
    if not has_friction(view):
        return
    model = view.model
    why = paradox(view, t, y)
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
    """The name of each friction and of its joint."""
    out = []
    for force in model.system.forces:
        for element in force.elements():
            reaction = getattr(element, "reaction", None)
            if reaction is not None:
                out.append((str(force.name), str(reaction.joint.name)))
    return out


def _name(model: Model, k: int) -> str:
    force, joint = _names(model)[k]
    return f"{force!r} of joint {joint!r}"


@final
class FrictionSwitch(AbstractSwitch):
    """Due where a margin is no longer positive; nothing can be chosen again then."""

    limit = 0.0

    @classmethod
    def needed(cls, view: Interpretation) -> bool:
        """For friction under reactions."""
        return has_friction(view)

    def measure(self, t: float, y: Vec) -> float:
        """The smallest margin, with the other sign."""
        return -float(margins(self.view, t, y).min())

    def due(self, t: float, y: Vec) -> bool:
        """Whether a margin is not positive."""
        return not self.measure(t, y) < self.limit

    def quiet(self) -> Quiet | None:
        """Margins, and normal forces, that are positive."""
        return measured(self.view.workspace, friction_margins, 2 * len(self.view.model.frictions), low=ROUNDING)

    def next(self, t: float, y: Vec, selection: Selection) -> Selection:
        """The same: there is no choice."""
        return selection

    def ends(self, t: float, y: Vec) -> Ending | None:
        """The names of the joints."""
        return Ending(paradox(self.view, t, y), readable=False, kind="friction")
