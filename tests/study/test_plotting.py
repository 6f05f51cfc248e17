"""A picture needs arrays with the right names, and no `Solution`; it shows what its labels say, and all of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from rbdae.show import QUANTITIES, plot_solution

matplotlib = pytest.importorskip("matplotlib")


def trajectory(bodies=("wheel",), joints=("hinge",), n=5):
    """Arrays by hand; every quantity of every body differs from all others."""
    t = np.linspace(0.0, 1.0, n)
    states = {}
    for k, name in enumerate(bodies):
        path = np.outer(t + 10 * k, [1.0, 2.0, 3.0])
        turn = Rotation.from_rotvec(np.outer(t * (k + 1), [0, 0, 1]))
        fields = {"position": path, "velocity": path + 1, "angular_velocity": path + 2, "center_of_mass": path + 3}
        states[name] = SimpleNamespace(orientation=turn, **fields)
    side = {"force": np.outer(t, [4.0, 5.0, 6.0]), "torque": np.outer(t, [7.0, 8.0, 9.0])}
    # what is drawn is the force on the body that moves
    reactions = {
        name: {
            bodies[0]: SimpleNamespace(**side, unique=name != "loose"),
            "ground": SimpleNamespace(force=-side["force"], torque=-side["torque"], unique=True),
        }
        for name in joints
    }
    return SimpleNamespace(
        t=t,
        states=states,
        reactions=reactions,
        energy=SimpleNamespace(kinetic=t, potential=2 - t, work=1e-3 * t, total=2.0 + 0 * t, balance=-1e-3 * t),
        momentum=SimpleNamespace(linear=np.outer(t, [1, 0, 0]), angular=np.outer(t, [0, 1, 0])),
        drift=SimpleNamespace(position=0.0 * t, velocity=1e-9 * t),
        steps=SimpleNamespace(t=np.array([0.0, 0.25, 1.0])),
        events=(),
        solver="by hand",
    )


def labels(axis):
    return [line.get_label() for line in axis.lines]


def headings(figure):
    return [axis.get_title(loc="left") for axis in figure.axes]


def test_the_picture_shows_the_arrays():
    run = trajectory()
    figure = plot_solution(run)
    place, turn, energy, balance, drift, steps = figure.axes
    assert place.get_title(loc="left") == "centre of mass [m]" and place.get_ylabel() == "wheel"
    assert labels(place) == ["x", "y", "z"]
    assert np.array_equal(place.lines[2].get_ydata(), 3.0 * run.t + 3)
    # the scalar comes first, and is called p0
    assert labels(turn) == ["$p_0$", "$p_1$", "$p_2$", "$p_3$"]
    assert np.allclose(turn.lines[0].get_ydata(), np.cos(run.t / 2))
    assert np.allclose(turn.lines[3].get_ydata(), np.sin(run.t / 2))
    assert labels(energy) == ["kinetic", "potential", "work", "total"]
    assert np.array_equal(energy.lines[1].get_ydata(), 2 - run.t)
    assert np.array_equal(balance.lines[0].get_ydata(), -1e-3 * run.t)
    # zeros have no logarithm: a curve of zeros says so, other zeros are gaps
    assert labels(drift) == ["position: 0", "velocity"] and drift.get_yscale() == "log"
    assert np.isnan(drift.lines[1].get_ydata()).tolist() == [True, False, False, False, False]
    assert np.array_equal(steps.lines[0].get_ydata(), [0.25, 0.75])
    assert figure.get_suptitle() == "by hand" and figure._repr_png_().startswith(b"\x89PNG")


def test_every_quantity_is_drawn_with_its_unit():
    figure = plot_solution(trajectory(), quantities=[each for each in QUANTITIES if each not in ("joints", "forces")])
    assert len(figure.axes) >= len(QUANTITIES)
    for axis in figure.axes:
        heading = axis.get_title(loc="left")
        assert "[" in heading and heading.endswith("]")
        assert len(set(labels(axis))) == len(axis.lines) > 0


def test_bodies_joints_and_quantities_are_chosen():
    run = trajectory(["crank", "rod"], ["hinge", "loose"])
    figure = plot_solution(run, bodies=["rod"], quantities=["velocity", "reactions"], joints=["loose"])
    velocity, force, torque = figure.axes
    assert velocity.get_ylabel() == "rod" and np.array_equal(velocity.lines[0].get_ydata(), run.t + 11)
    assert force.get_ylabel() == "loose\non crank\n(not unique)"
    assert np.array_equal(force.lines[2].get_ydata(), 6.0 * run.t)
    assert np.array_equal(torque.lines[0].get_ydata(), 7.0 * run.t)
    # reactions need not be asked for where joints are chosen
    assert "reaction force [N]" in headings(plot_solution(run, joints=["hinge"]))


def test_many_bodies_have_a_row_each_and_are_not_left_out_silently():
    names = [f"K{k}" for k in range(30)]
    figure = plot_solution(trajectory(names), quantities=["position", "orientation"])
    assert [axis.get_ylabel() for axis in figure.axes[::2]] == names[:12]
    assert np.array_equal(figure.axes[6].lines[0].get_ydata(), trajectory(names).states["K3"].position[:, 0])
    assert "the first 12 of 30 bodies; choose with bodies=[...]" in figure.get_suptitle()
    run = trajectory()
    run.events = (SimpleNamespace(t=[0.25, 0.5]),)
    assert "dotted: events" in plot_solution(run, quantities=["energy"]).get_suptitle()


def test_rounding_is_drawn_as_a_constant():
    """A body at rest, or a hinge that transmits no torque, does not fill its panel with the last digits of the run."""
    run, rng = trajectory(["still", "moving"]), np.random.default_rng(1)
    run.states["still"].position[:] = 1e-12 * rng.standard_normal((5, 3))
    still, moving = plot_solution(run, quantities=["position"]).axes
    assert np.ptp(still.get_ylim()) > 1e-6 * np.abs(run.states["moving"].position).max()
    assert np.ptp(moving.get_ylim()) < 2.0 * np.ptp(run.states["moving"].position)
    for side in run.reactions["hinge"].values():
        side.torque[:] = 1e-12 * rng.standard_normal((5, 3))
    force, torque = plot_solution(run, quantities=["reactions"]).axes
    assert np.ptp(torque.get_ylim()) > 1e-9 * np.ptp(force.get_ylim())
    # a constant is a line in an axis as large as those of its column, and has ticks that differ
    run.states["still"].position[:] = 4.0
    place, _ = plot_solution(run, quantities=["position"]).axes
    largest = np.abs(run.states["moving"].position).max()
    assert place.get_ylim() == pytest.approx((4.0 - 0.5 * largest, 4.0 + 0.5 * largest))
    place.figure.canvas.draw()
    ticks = [text.get_text() for text in place.get_yticklabels()]
    assert len(set(ticks)) == len(ticks) > 2


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"bodies": ["whel"]}, ValueError, "'whel'.*'wheel'"),
        ({"quantities": ["angular velocity"]}, ValueError, "'angular_velocity'"),
        ({"quantities": "energy"}, TypeError, "quantities must be .*'energy'"),
        ({"quantities": ["energy"], "joints": ["hinge"]}, ValueError, "reactions"),
        ({"quantities": ["position"], "bodies": []}, ValueError, "bodies"),
    ],
)
def test_wrong_choices_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        plot_solution(trajectory(), **options)
