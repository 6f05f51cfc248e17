"""A picture needs arrays with the right names, and no `Solution`; it shows what its labels say, and all of it."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.plotting import QUANTITIES, plot_solution

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
    # the ground comes first: what is drawn is the force on the body that moves
    reactions = {
        name: {
            "ground": SimpleNamespace(force=-side["force"], torque=-side["torque"], unique=True),
            bodies[0]: SimpleNamespace(**side, unique=name != "loose"),
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
        solver="by hand",
    )


def labels(axis):
    return [line.get_label() for line in axis.lines]


def test_a_picture_of_arrays():
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
    assert figure.get_suptitle() == "by hand"
    # legends stand outside
    figure.canvas.draw()
    for axis in figure.axes:
        assert axis.get_legend().get_window_extent().y0 >= axis.get_window_extent().y1 - 1.0
    assert figure._repr_png_().startswith(b"\x89PNG")


@pytest.mark.parametrize("quantity", [each for each in QUANTITIES if each not in ("joints", "forces")])
def test_every_quantity_is_drawn_with_its_unit(quantity):
    figure = plot_solution(trajectory(), quantities=[quantity])
    for axis in figure.axes:
        heading = axis.get_title(loc="left")
        assert "[" in heading and heading.endswith("]")
        assert len(set(labels(axis))) == len(axis.lines) > 0


def test_seven_bodies_have_a_row_each():
    """All their curves were in one panel, in colours that came again after ten."""
    names = [f"K{k}" for k in range(1, 8)]
    figure = plot_solution(trajectory(names), quantities=["position", "orientation"])
    assert len(figure.axes) == 14 and max(len(axis.lines) for axis in figure.axes) == 4
    for axis in figure.axes:
        assert len({(line.get_color(), line.get_linestyle()) for line in axis.lines}) == len(axis.lines)
    assert [axis.get_ylabel() for axis in figure.axes[::2]] == names
    assert np.array_equal(figure.axes[6].lines[0].get_ydata(), trajectory(names).states["K4"].position[:, 0])


def test_bodies_joints_and_quantities_are_chosen():
    run = trajectory(["crank", "rod"], ["hinge", "loose"])
    figure = plot_solution(run, bodies=["rod"], quantities=["velocity", "reactions"], joints=["loose"])
    velocity, force, torque = figure.axes
    assert velocity.get_ylabel() == "rod" and np.array_equal(velocity.lines[0].get_ydata(), run.t + 11)
    assert force.get_ylabel() == "loose\non crank\n(not unique)"
    assert np.array_equal(force.lines[2].get_ydata(), 6.0 * run.t)
    assert np.array_equal(torque.lines[0].get_ydata(), 7.0 * run.t)
    # reactions need not be asked for where joints are chosen
    assert "reaction force [N]" in {a.get_title(loc="left") for a in plot_solution(run, joints=["hinge"]).axes}


def test_many_bodies_are_not_left_out_silently():
    figure = plot_solution(trajectory([f"link{k}" for k in range(30)]), quantities=["position"])
    assert len(figure.axes) == 12
    assert "the first 12 of 30 bodies; choose with bodies=[...]" in figure.get_suptitle()
    marked = plot_solution(trajectory(), quantities=["energy"], marks=[0.25, 0.5])
    assert "dotted: events" in marked.get_suptitle()


def test_rounding_is_drawn_as_a_constant():
    """A body at rest filled its panel with the last digits of the run."""
    run = trajectory(["still", "moving"])
    run.states["still"].position[:] = 1e-12 * np.random.default_rng(1).standard_normal((5, 3))
    still, moving = plot_solution(run, quantities=["position"]).axes
    assert np.ptp(still.get_ylim()) > 1e-6 * np.abs(run.states["moving"].position).max()
    assert np.ptp(moving.get_ylim()) < 2.0 * np.ptp(run.states["moving"].position)


def test_torques_of_rounding_are_drawn_as_a_constant():
    """A hinge that transmits no torque filled its panel with 1e-17 N m."""
    run = trajectory()
    for side in run.reactions["hinge"].values():
        side.torque[:] = 1e-12 * np.random.default_rng(2).standard_normal((5, 3))
    force, torque = plot_solution(run, quantities=["reactions"]).axes
    assert np.ptp(torque.get_ylim()) > 1e-9 * np.ptp(force.get_ylim())


def test_long_runs_keep_their_extremes():
    n = 200_000
    run = trajectory(n=n)
    values = run.states["wheel"].position
    values[:] = np.sin(40 * run.t)[:, None]
    values[77_777, 0], values[123_456, 1], values[3, 2] = 7.0, -9.0, np.nan
    x, y, z = (line.get_ydata() for line in plot_solution(run, quantities=["position"]).axes[0].lines)
    assert max(map(len, (x, y, z))) <= 4000
    assert x.max() == 7.0 and y.min() == -9.0 and np.nanmax(z) == np.nanmax(values[:, 2])
    assert x[0] == values[0, 0] and x[-1] == values[-1, 0]


@pytest.mark.parametrize(
    "options, error, message",
    [
        ({"bodies": ["whel"]}, ValueError, r"unknown body 'whel'; did you mean 'wheel'\?"),
        ({"joints": ["hing"]}, ValueError, r"unknown joint 'hing'; did you mean 'hinge'\?"),
        ({"quantities": ["angular velocity"]}, ValueError, r"did you mean 'angular_velocity'"),
        ({"quantities": "energy"}, TypeError, r"quantities must be a list of strings, got 'energy'"),
        ({"bodies": "wheel"}, TypeError, r"bodies must be a list of strings"),
        ({"quantities": ["energy"], "joints": ["hinge"]}, ValueError, r"add 'reactions' or 'joints' to quantities"),
        ({"quantities": []}, ValueError, r"quantities must name at least one quantity, got \[\]; choose from position"),
        ({"quantities": ["position"], "bodies": []}, ValueError, r"bodies must name at least one body"),
    ],
)
def test_wrong_choices_are_refused(options, error, message):
    with pytest.raises(error, match=message):
        plot_solution(trajectory(), **options)


def test_one_point_and_none():
    run = trajectory(n=1)
    run.steps = None
    figure = plot_solution(run)
    figure.canvas.draw()
    assert figure.axes[0].lines[0].get_marker() == "o"
    with pytest.raises(ValueError, match=r"this run has no times"):
        run.t = run.t[:0]
        plot_solution(run)


def test_few_steps_are_drawn_as_smooth_curves():
    """A run of some long steps was drawn with corners; errors and step sizes are those of the steps, still."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    run = rbdae.solve(problem, (0.0, 0.5), solver="scipy:DOP853", rtol=1e-8, atol=1e-8)
    assert len(run.t) < 50
    place, energy, balance, drift, steps = run.plot(quantities=["center_of_mass", "energy", "drift", "steps"]).axes
    t, x = place.lines[0].get_xdata(), place.lines[0].get_ydata()
    assert len(t) >= 300 and set(run.t) <= set(t)
    assert np.array_equal(x, problem.states(t, run(t))["top"].center_of_mass[:, 0])
    kinetic = energy.lines[0]
    assert np.allclose(kinetic.get_ydata()[np.isin(t, run.t)], run.energy.kinetic, rtol=1e-9)
    assert np.array_equal(balance.lines[0].get_ydata(), run.energy.balance)
    assert len(drift.lines[0].get_xdata()) == len(run.t)
    assert np.array_equal(steps.lines[0].get_ydata(), np.diff(run.t))


def test_a_constant_is_a_line_in_an_axis_as_large_as_those_of_its_column():
    """And has ticks that differ, not four times the same number."""
    run = trajectory(bodies=("wheel", "frame"))
    run.states["frame"].position = np.full((5, 3), 4.0)
    run.states["frame"].velocity = np.zeros((5, 3))
    figure = plot_solution(run, quantities=["position", "velocity"])
    _, _, place, speed = figure.axes
    largest = max(np.abs(state.position).max() for state in run.states.values())
    assert place.get_ylim() == pytest.approx((4.0 - 0.5 * largest, 4.0 + 0.5 * largest))
    assert speed.get_ylim()[1] > 1.0
    figure.canvas.draw()
    ticks = [text.get_text() for text in place.get_yticklabels()]
    assert len(set(ticks)) == len(ticks) > 2


def test_columns_that_are_zero_are_left_out_unless_they_are_asked_for():
    run = trajectory()
    run.states["wheel"].center_of_mass = np.zeros((5, 3))
    figure = plot_solution(run)
    assert "centre of mass [m]" not in [axis.get_title(loc="left") for axis in figure.axes]
    assert "Zero at all times: centre of mass [m]." in figure.get_suptitle()
    figure = plot_solution(run, quantities=["center_of_mass", "orientation"])
    assert figure.axes[0].get_title(loc="left") == "centre of mass [m]"


def test_quantities_of_joints_leave_places_empty_and_long_rows_are_folded():
    """What nothing drives has no torque; a picture has no more than five columns for one row."""
    system = rbdae.System()
    first = system.add_body("first", mass=1.0, inertia=(1, 1, 1), position=(0, 1, 0), angular_velocity=(1, 0, 0))
    second = system.add_body("second", mass=1.0, inertia=(1, 1, 1), position=(0, 2, 0))
    Revolute = rbdae.joints.Revolute
    pin = system.add_joint(Revolute(system.ground, first, at_b=(0, -1, 0), axis_a=(1, 0, 0), name="pin"))
    system.add_joint(Revolute(first, second, at_b=(0, -1, 0), axis_a=(1, 0, 0), name="knee"))
    system.add_force(
        rbdae.actuators.DCMotor(pin, voltage=1.0, resistance=1.0, inductance=0.1, constant=0.5, name="motor")
    )
    run = rbdae.solve(rbdae.formulate(system, "null-space", code="generic"), (0.0, 0.05))
    figure = run.plot(quantities=["joints", "forces"])
    grid = [(axis.get_subplotspec().rowspan.start, axis.get_subplotspec().colspan.start) for axis in figure.axes]
    named = {axis.get_title(loc="left"): place for axis, place in zip(figure.axes, grid, strict=True)}
    assert named["torque [N m]"][1] < 5 and len(set(grid)) == len(grid) and max(column for _, column in grid) == 4
    assert {row for row, _ in grid} == {0, 1, 2, 3}
    assert len([row for row, _ in grid if row == 1]) == 3  # of the knee: angle, rate, acceleration
    assert "voltage [V]" in named and all("[1]" not in heading for heading in named)
    top = rbdae.solve(rbdae.formulate(rbdae.models.heavy_top(), "index-0"), (0.0, 0.01))
    with pytest.raises(
        ValueError, match="plot: this run has no joints and no forces, so there is nothing to draw; cho"
    ):
        top.plot(quantities=["joints", "forces"])
