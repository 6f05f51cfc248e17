"""Pictures of a `Solution`. Matplotlib is imported when the first one is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rbdae._arrays import Mat

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from scipy.spatial.transform import Rotation

    from rbdae.solving.solution import Solution


def plot_solution(solution: Solution) -> Figure:
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
    place, turn, energy, drift = axes
    for name, state in solution.states.items():
        for k, letter in enumerate("xyz"):
            place.plot(t, state.position[:, k], label=f"{name}: {letter}")
        for k, column in enumerate(_quaternions(state.orientation).T):
            turn.plot(t, column, label=f"{name}: q{k}")
    place.set_ylabel("position [m]")
    turn.set_ylabel("quaternion")
    total = solution.energy.total
    energy.plot(t, total - total[0], label="total energy, change")
    energy.set_ylabel("energy error [J]")
    # Logarithmic axes cannot show the zeros of a consistent start.
    floor = np.finfo(float).tiny
    drift.semilogy(t, np.where(solution.drift.position > floor, solution.drift.position, np.nan), label="position")
    drift.semilogy(t, np.where(solution.drift.velocity > floor, solution.drift.velocity, np.nan), label="velocity")
    drift.set_ylabel("drift")
    drift.set_xlabel("t [s]")
    for axis in axes:
        axis.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), fontsize="small")
        axis.grid(True, alpha=0.3)
    figure.suptitle(solution.solver)
    return figure


def _quaternions(orientation: Rotation) -> Mat:
    """Scalar-first quaternions (m, 4) without jumps of sign."""
    q = np.roll(np.atleast_2d(orientation.as_quat()), 1, axis=1)
    jumps = np.sum(q[1:] * q[:-1], axis=1) < 0
    q[1:] *= np.where(np.cumsum(jumps) % 2, -1.0, 1.0)[:, None]
    return np.asarray(q)


__all__ = ["plot_solution"]
