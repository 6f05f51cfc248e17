"""A picture needs arrays with the right names, and no `Solution`."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdae.plotting import plot_solution


def test_a_picture_of_arrays():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    t = np.linspace(0.0, 1.0, 5)
    wheel = SimpleNamespace(
        position=np.outer(t, [1.0, 2.0, 3.0]), orientation=Rotation.from_rotvec(np.outer(t, [0, 0, 1]))
    )
    trajectory = SimpleNamespace(
        t=t,
        states={"wheel": wheel},
        energy=SimpleNamespace(total=2.0 + t),
        drift=SimpleNamespace(position=0.0 * t, velocity=1e-9 * t),
        solver="by hand",
    )
    figure = plot_solution(trajectory)
    position, orientation, energy, drift = figure.axes
    assert [line.get_label() for line in position.lines] == ["wheel: x", "wheel: y", "wheel: z"]
    assert np.array_equal(position.lines[2].get_ydata(), 3.0 * t)
    assert np.allclose(orientation.lines[3].get_ydata(), np.sin(t / 2))
    assert np.array_equal(energy.lines[0].get_ydata(), t)
    # zeros have no logarithm
    assert np.isnan(drift.lines[0].get_ydata()).all()
    assert np.isnan(drift.lines[1].get_ydata()).tolist() == [True, False, False, False, False]
    assert figure.get_suptitle() == "by hand"
    matplotlib.pyplot.close(figure)
