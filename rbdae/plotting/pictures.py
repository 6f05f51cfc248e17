"""A picture of a trajectory. Matplotlib is imported when the first one is made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from rbdae._arrays import Mat, Vec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from scipy.spatial.transform import Rotation


class Trajectory(Protocol):
    """What `plot_solution` draws at m times, for example a `rbdae.Solution`."""

    @property
    def t(self) -> Vec:
        """Times, shape (m,), s."""

    @property
    def states(self) -> Mapping[str, Any]:
        """By the name of a body: its `position`, shape (m, 3), and its `orientation`, m rotations."""

    @property
    def energy(self) -> Any:
        """With the `total` energy, shape (m,), J."""

    @property
    def drift(self) -> Any:
        """With `position` and `velocity`: the largest violations of the constraints, shape (m,)."""

    @property
    def solver(self) -> str:
        """The title of the picture."""


def plot_solution(solution: Trajectory) -> Figure:
    """Four panels over time: positions, orientations (quaternions), energy error and drift.

    Raises
    ------
    ImportError
        without matplotlib
    """
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot needs matplotlib: run `pip install 'rbdae[plot]'`") from None
    t = solution.t
    figure, axes = plt.subplots(4, 1, sharex=True, figsize=(8.0, 10.0), layout="constrained")
    positions, orientations, energy, drift = axes
    for name, state in solution.states.items():
        _curves(positions, t, state.position, [f"{name}: {letter}" for letter in "xyz"])
        _curves(orientations, t, continuous_quaternions(state.orientation), [f"{name}: q{k}" for k in range(4)])
    positions.set_ylabel("position [m]")
    orientations.set_ylabel("quaternion")
    total = solution.energy.total
    energy.plot(t, total - total[0], label="total energy, change")
    energy.set_ylabel("energy error [J]")
    drift.semilogy(t, _visible(solution.drift.position), label="position")
    drift.semilogy(t, _visible(solution.drift.velocity), label="velocity")
    drift.set_ylabel("drift")
    drift.set_xlabel("t [s]")
    for axis in axes:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
        axis.grid(True, alpha=0.3)
    figure.suptitle(solution.solver)
    return figure


def _curves(axis: Axes, t: Vec, columns: Mat, labels: list[str]) -> None:
    for column, label in zip(columns.T, labels, strict=True):
        axis.plot(t, column, label=label)


def _visible(values: Vec) -> Vec:
    """Without the zeros of a consistent start, which a logarithmic axis cannot show."""
    return np.where(values > np.finfo(float).tiny, values, np.nan)


def continuous_quaternions(orientation: Rotation) -> Mat:
    """Scalar-first quaternions, shape (m, 4), of m rotations; signs such that neighbours do not jump."""
    q = np.roll(np.atleast_2d(orientation.as_quat()), 1, axis=1)
    jumps = np.sum(q[1:] * q[:-1], axis=1) < 0
    q[1:] *= np.where(np.cumsum(jumps) % 2, -1.0, 1.0)[:, None]
    return np.asarray(q)


__all__ = ["Trajectory", "continuous_quaternions", "plot_solution"]
