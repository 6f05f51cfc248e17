"""The quantities that can be drawn over time: those of bodies, of joints and of the whole system, with labels and
units."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, final

import numpy as np

from rbdae._arrays import Mat, Vec

if TYPE_CHECKING:
    from scipy.spatial.transform import Rotation


class Trajectory(Protocol):
    """A trajectory that `plot_solution` draws at m times, for example a `rbdae.Solution`. Only what is drawn is asked
    for."""

    @property
    def t(self) -> Vec:
        """Times, shape (m,), s."""

    @property
    def states(self) -> Mapping[str, Any]:
        """The states by the name of a body: its `position`, `velocity`, `angular_velocity`, `center_of_mass`, shape
        (m, 3), and its `orientation`, m rotations."""

    @property
    def energy(self) -> Any:
        """With `kinetic`, `potential`, `work`, `total` and `balance`, shape (m,), J."""

    @property
    def momentum(self) -> Any:
        """With `linear` and `angular`, shape (m, 3)."""

    @property
    def drift(self) -> Any:
        """With `position` and `velocity`: the largest violations of the constraints, shape (m,)."""

    @property
    def reactions(self) -> Mapping[str, Mapping[str, Any]]:
        """The reactions by the names of joint and body: `force` and `torque`, shape (m, 3)."""

    @property
    def steps(self) -> Any:
        """With the times `t` of the accepted steps; None if they are those of the trajectory."""

    @property
    def solver(self) -> str:
        """The title of the picture."""


_ROUNDING = 1e-9  # of the largest force, and of this force on an arm of the system's size


@final
@dataclass(frozen=True, slots=True, eq=False)
class Panel:
    """Curves in one pair of axes.

    Attributes
    ----------
    heading : quantity and unit
    labels : of the curves
    t, values : (m,) and (m, curves)
    scale : of the values; zeros have no logarithm and are left out
    limits : of the values, if they are known
    noise : values that differ by less are the same but for rounding
    """

    heading: str
    labels: tuple[str, ...]
    t: Vec
    values: Mat
    scale: Literal["linear", "log"] = "linear"
    limits: tuple[float, float] | None = None
    noise: float = 0.0


def continuous_quaternions(orientation: Rotation) -> Mat:
    """Scalar-first quaternions, shape (m, 4), of m rotations; signs such that neighbours do not jump."""
    q = np.roll(np.atleast_2d(orientation.as_quat()), 1, axis=1)
    jumps = np.sum(q[1:] * q[:-1], axis=1) < 0
    q[1:] *= np.where(np.cumsum(jumps) % 2, -1.0, 1.0)[:, None]
    return np.asarray(q)


def _vector(attribute: str, heading: str, letter: str) -> Callable[[Vec, Any], list[Panel]]:
    labels = tuple(f"{letter}{axis}" for axis in "xyz")
    return lambda t, state: [Panel(heading, labels, t, np.asarray(getattr(state, attribute)))]


def _orientation(t: Vec, state: Any) -> list[Panel]:
    labels = tuple(f"$p_{k}$" for k in range(4))
    heading = "orientation: unit quaternion [1]"
    return [Panel(heading, labels, t, continuous_quaternions(state.orientation), limits=(-1.08, 1.08))]


def _angular_velocity(t: Vec, state: Any) -> list[Panel]:
    labels = tuple(rf"$\Omega_{k}$" for k in (1, 2, 3))
    return [Panel("angular velocity in the body frame [rad/s]", labels, t, np.asarray(state.angular_velocity))]


OF_BODIES: Final[dict[str, Callable[[Vec, Any], list[Panel]]]] = {
    "position": _vector("position", "position [m]", ""),
    "orientation": _orientation,
    "velocity": _vector("velocity", "velocity [m/s]", "v"),
    "angular_velocity": _angular_velocity,
    "center_of_mass": _vector("center_of_mass", "centre of mass [m]", ""),
}
"""Panels of one body, from t (m,) and its state."""


def _reaction(t: Vec, reaction: Any, size: float) -> list[Panel]:
    force, torque = np.asarray(reaction.force), np.asarray(reaction.torque)
    largest = np.abs(force[np.isfinite(force)]).max(initial=0.0)
    labels = [tuple(f"${letter}_{axis}$" for axis in "xyz") for letter in ("F", "M")]
    return [
        Panel("reaction force [N]", labels[0], t, force, noise=_ROUNDING * largest),
        Panel("reaction torque [N m]", labels[1], t, torque, noise=_ROUNDING * largest * size),
    ]


def unique_components(reaction: Any, suffix: str = "") -> list[str]:
    """The components from "Fx" to "Mz" that are unique in the joint's frame; with the suffix "_in_space" spatial
    components. None of a reaction that is not unique and tells no more."""
    out = []
    for letter, what in (("F", "force"), ("M", "torque")):
        sure = getattr(reaction, f"unique_{what}{suffix}", np.full(3, bool(reaction.unique)))
        out += [letter + axis for axis, each in zip("xyz", sure, strict=True) if each]
    return out


OF_JOINTS: Final[dict[str, Callable[[Vec, Any, float], list[Panel]]]] = {"reactions": _reaction}
"""Panels of one joint, from t (m,), its reaction on one body, and the size of the system, m."""


def _energy(run: Trajectory, between: Trajectory) -> list[Panel]:
    energy, labels = run.energy, ["kinetic", "potential", "total"]
    heading, label = "balance of energy [J]", "total $-$ total($t_0$) $-$ work"
    try:
        balance = np.asarray(energy.balance)
        labels.insert(2, "work")
    except (TypeError, ValueError):  # the run kept no steps along which work could be integrated
        balance = np.asarray(energy.total) - energy.total[0]
        heading, label = "change of energy [J]", "total $-$ total($t_0$); work is not known"
    values = np.stack([np.asarray(getattr(between.energy, name)) for name in labels], axis=1)
    return [
        Panel("energy [J]", tuple(labels), between.t, values),
        Panel(heading, (label,), run.t, balance[:, None]),
    ]


def _momentum(_: Trajectory, between: Trajectory) -> list[Panel]:
    t, momentum = between.t, between.momentum
    linear, angular = (tuple(f"${letter}_{axis}$" for axis in "xyz") for letter in ("P", "L"))
    return [
        Panel("linear momentum [kg m/s]", linear, t, np.asarray(momentum.linear)),
        Panel("angular momentum about the origin [kg m$^2$/s]", angular, t, np.asarray(momentum.angular)),
    ]


def _drift(run: Trajectory, _: Trajectory) -> list[Panel]:
    values = np.stack([np.asarray(run.drift.position), np.asarray(run.drift.velocity)], axis=1)
    return [Panel("drift: violation of constraints [SI]", ("position", "velocity"), run.t, values, "log")]


def _steps(run: Trajectory, _: Trajectory) -> list[Panel]:
    t = run.t if run.steps is None else np.asarray(run.steps.t)
    sizes = np.abs(np.diff(t))  # times of a run back in time fall
    return [Panel("step size [s]", ("accepted steps",), t[1:], sizes[:, None], "log")]


OF_SYSTEM: Final[dict[str, Callable[[Trajectory, Trajectory], list[Panel]]]] = {
    "energy": _energy,
    "momentum": _momentum,
    "drift": _drift,
    "steps": _steps,
}
"""Panels of the whole system, from a run at its own times and at more times: errors are those at its own."""

QUANTITIES: Final[tuple[str, ...]] = (*OF_BODIES, *OF_JOINTS, *OF_SYSTEM)
"""All names that `plot_solution` takes."""

__all__ = [
    "OF_BODIES",
    "OF_JOINTS",
    "OF_SYSTEM",
    "QUANTITIES",
    "Panel",
    "Trajectory",
    "continuous_quaternions",
    "unique_components",
]
