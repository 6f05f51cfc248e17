"""Every number that a page, a picture or a table shows is that of the run, found here one state at a time.

The laws go over what was drawn: a figure, a curve or a column without an entry here fails by its name.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import inside
import numpy as np
import page_parts
import pytest

import rbdae
from rbdae import study
from rbdae.adapter import Stats

SINGLE = 3e-7  # curves are in single precision


def mechanism() -> rbdae.System:
    """Two bars, a damper, a load, and a ground joint whose bodies have other reactions than the second one."""
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    turning = {"position": (1.0, 0, 0), "angular_velocity": (0, 1, 0)}
    upper = system.add_body("upper", mass=2.0, inertia=(0.1, 0.2, 0.25), **turning)
    lower = system.add_body("lower", mass=1.0, inertia=(0.2, 0.1, 0.3), position=(3.0, 0, 0))
    system.add_joint(rbdae.joints.Spherical(system.ground, upper, at_b=(-1, 0, 0), name="shoulder"))
    axis = (0.0, 1.0, 0.0)
    elbow = rbdae.joints.Revolute(upper, lower, at_a=(1, 0, 0), at_b=(-1, 0, 0), axis_a=axis, axis_b=axis, name="elbow")
    system.add_joint(elbow)
    system.add_force(rbdae.forces.Friction(elbow, 0.4))
    system.add_force(rbdae.forces.Force(lower, wind, name="wind"))
    return system


def wind(t: float) -> tuple[float, float, float]:
    """Without a potential, as it depends on time."""
    return (0.0, 0.5 + t, 0.0)


def high(t: float, y: Any) -> float:
    return t - 0.05


T_EVAL = {"steps": None, "t_eval": [0.0, 0.1, 0.25, 0.3], "many": np.linspace(0.0, 0.3, 400)}


IN_THE_LONG_RUN = ("many", "back")
"""The others have steps and output times, and one goes back, too."""
GIVEN = [
    pytest.param(name, marks=[pytest.mark.long] * (name in IN_THE_LONG_RUN))
    for name in (*T_EVAL, "back", "back at t_eval")
]


@pytest.fixture(scope="module", params=GIVEN)
def run(request: pytest.FixtureRequest) -> rbdae.Solution:
    """The last ones go back in time."""
    t_eval, span = T_EVAL.get(request.param), (0.0, 0.3)
    if request.param.startswith("back"):
        t_eval, span = [0.3, 0.25, 0.1, 0.0] if request.param == "back at t_eval" else None, (0.3, 0.0)
    problem = rbdae.formulate(mechanism(), "index-0", t0=span[0])
    tolerance = 1e-5 if span[0] == 0.0 else 1e-6  # the package's polynomials at t_eval are not those of solution(t)
    return rbdae.solve(problem, span, solver="scipy:RK45", rtol=tolerance, atol=tolerance, t_eval=t_eval, events=high)


@pytest.fixture(scope="module")
def at(run: rbdae.Solution) -> Callable[[float], State]:
    return cache(lambda t: State(run, t))


class State:
    """All that can be said of one time, by evaluations of the problem at this time alone."""

    def __init__(self, run: rbdae.Solution, t: float) -> None:
        self.problem, self.t = run.problem, t
        (here,) = np.nonzero(run.t == t)
        self.row = int(here[0]) if len(here) else None
        self.y = run(t) if self.row is None else run.y[self.row]

    def body(self, name: str) -> dict[str, np.ndarray]:
        state = self.problem.states(self.t, self.y)[name]
        return {
            "position": state.position,
            "quaternion": np.roll(state.orientation.as_quat(), 1),
            "velocity": state.velocity,
            "angular velocity": state.angular_velocity,
            "center_of_mass": state.center_of_mass,
        }

    def reaction(self, joint: str, body: str) -> dict[str, np.ndarray]:
        found = self.problem.reactions(self.t, self.y)[joint][body]
        return {"force": found.force, "torque": found.torque}

    def energy(self, name: str) -> float:
        return float(getattr(self.problem.energy(self.t, self.y), name))

    def momentum(self, name: str) -> np.ndarray:
        return np.asarray(getattr(self.problem.momentum(self.t, self.y), name))

    def drift(self, name: str) -> float:
        return float(np.abs(getattr(self.problem.constraints(self.t, self.y), name)).max())


def close(shown: Any, right: Any, size: float, relative: float = SINGLE) -> bool:
    return bool(abs(float(shown) - float(right)) <= relative * max(size, abs(float(right))) + 1e-300)


def same_turn(q: np.ndarray, right: np.ndarray) -> bool:
    """Quaternions of one rotation."""
    return min(np.abs(q - right).max(), np.abs(q + right).max()) < 10 * SINGLE


def work_of(run: rbdae.Solution, t: float, at: Any) -> float:
    """Power of friction and wind by a quadrature of our own."""
    times = np.linspace(run.t[0], t, 201)
    powers = []
    for time in times:
        state = run.problem.states(time, run(time))
        relative = state["lower"].orientation.apply(state["lower"].angular_velocity) - state["upper"].orientation.apply(
            state["upper"].angular_velocity
        )
        axis = state["upper"].orientation.apply((0.0, 1.0, 0.0))
        powers.append(wind(time)[1] * state["lower"].velocity[1] - 0.4 * (relative @ axis) ** 2)
    step = times[1] - times[0] if t != run.t[0] else 0.0
    weights = np.full(201, 2.0)
    weights[1::2], weights[[0, -1]] = 4.0, 1.0
    return float(step / 3.0 * (weights @ np.array(powers)))


# ---------------------------------------------------------------- the page of a run


def check_body(drawn: page_parts.Drawn, run: rbdae.Solution, at: Any) -> None:
    what, component = drawn.label.split(" [")[0].rsplit(" ", 1)
    k = {"x": 0, "y": 1, "z": 2}.get(component)
    k = int(component) - (what == "angular velocity") if k is None else k
    for x, y in zip(drawn.x, drawn.y, strict=True):
        right = at(float(x)).body(drawn.name)[what][k]
        if what == "quaternion":  # of which both signs are one rotation
            assert close(abs(y), abs(right), 1.0), (drawn.label, drawn.name, x)
        else:
            assert close(y, right, np.abs(drawn.y).max() + 1e-14), (drawn.label, drawn.name, x, y, right)


def check_energy(drawn: page_parts.Drawn, run: rbdae.Solution, at: Any) -> None:
    size = max(abs(at(float(t)).energy("kinetic")) for t in run.t)
    for x, y in zip(drawn.x, drawn.y, strict=True):
        if drawn.name in ("kinetic", "potential", "total"):
            assert drawn.label == "energy [J]" and close(y, at(float(x)).energy(drawn.name), size)
        elif drawn.name == "balance":
            assert drawn.label == "balance [J]" and at(float(x)).row is not None
            change = at(float(x)).energy("total") - at(float(run.t[0])).energy("total")
            assert close(y, change - run.energy.work[at(float(x)).row], size)
        else:
            assert drawn.name == "work" and drawn.label == "energy [J]"
    if drawn.name == "work":
        for k in (len(drawn.x) // 3, len(drawn.x) - 1):
            assert close(drawn.y[k], work_of(run, float(drawn.x[k]), at), size, 1e-5)


def check_drift(drawn: page_parts.Drawn, run: rbdae.Solution, at: Any) -> None:
    which = drawn.name.removesuffix(" constraints")
    assert set(drawn.x) <= set(run.t)
    for x, y in zip(drawn.x, drawn.y, strict=True):
        right = at(float(x)).drift(which)
        assert np.isnan(y) if right <= np.finfo(float).tiny else close(y, right, 0.0)


def check_reaction(drawn: page_parts.Drawn, run: rbdae.Solution, at: Any) -> None:
    joint, _, body = drawn.name.partition(" on ")
    assert body == {"shoulder": "upper", "elbow": "lower"}[joint]  # of each joint the last body
    what, component = drawn.label.split(" [")[0].split(" ")
    for x, y in zip(drawn.x, drawn.y, strict=True):
        right = at(float(x)).reaction(joint, body)[what]["xyz".index(component)]
        assert close(y, right, np.abs(drawn.y).max() + 1e-3)


def check_steps(drawn: page_parts.Drawn, run: rbdae.Solution, at: Any) -> None:
    """Each step at its end, with its own size, which has no sign."""
    times = run.t if run.steps is None else run.steps.t
    for x, y in zip(drawn.x, drawn.y, strict=True):
        k = int(np.flatnonzero(times == x)[0])
        assert k > 0 and close(y, abs(times[k] - times[k - 1]), 0.0)
    assert drawn.x[0] == times[1]


FIGURES: dict[str, Callable[[page_parts.Drawn, rbdae.Solution, Any], None]] = {
    "positions": check_body,
    "orientations": check_body,
    "velocities": check_body,
    "angular-velocities": check_body,
    "energy": check_energy,
    "drift": check_drift,
    "reaction-forces": check_reaction,
    "reaction-torques": check_reaction,
    "step-sizes": check_steps,
}

CURVES = {
    "positions": 6,
    "orientations": 8,
    "velocities": 6,
    "angular-velocities": 6,
    "energy": 5,
    "drift": 2,
    "reaction-forces": 6,
    "reaction-torques": 6,
    "step-sizes": 1,
}


def shown_quantities(run: rbdae.Solution, kind: str) -> set[str]:
    """The names of those that a page draws: what is not zero at all times, without accelerations."""
    return {
        name
        for each in getattr(run, kind).values()
        for name, (unit, _) in each.units.items()
        if not unit.endswith("/s^2") and np.any(getattr(each, name) != 0.0)
    }


def check_quantities(drawn: list[page_parts.Drawn], run: rbdae.Solution, figures: set[str]) -> None:
    """Curves of joints and forces, by the values of the states at their times."""
    # a figure with another unit, or with a vector, has more behind its name
    drawn_in = {curve.figure for curve in drawn}
    bases = {name: max((each for each in figures if name.startswith(each)), key=len) for name in drawn_in}
    assert set(bases.values()) == figures and len(bases) >= len(figures)
    for curve in drawn:
        kind, _, name = bases[curve.figure].partition("-")
        few = np.unique(np.linspace(0, len(curve.x) - 1, 7).astype(int))
        quantity = f"{curve.name}.{name.replace('-', '_')}"
        right = np.array([run.problem.quantity(quantity, curve.x[k], run(curve.x[k])) for k in few])
        assert curve.name in getattr(run, kind)
        if right.ndim == 2:
            right = right[:, "123".index(curve.label.partition(" [")[0][-1])]
        # between its steps a run is known to a few tolerances
        np.testing.assert_allclose(curve.y[few], right, rtol=1e-4, atol=1e-4 * np.abs(curve.y).max() + 1e-12)


@pytest.fixture(scope="module")
def page(run: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("plotly", "jinja2", "itables"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'rbdae[report]'")
    return run.report(tmp_path_factory.mktemp("page") / "run.html", plane=False)


def test_every_curve_of_a_page_is_that_of_the_run(run, at, page):
    every = page_parts.curves(page)
    drawn = [curve for curve in every if curve.figure in FIGURES]
    assert {name: sum(curve.figure == name for curve in drawn) for name in FIGURES} == CURVES
    own = {f"{kind}-{name.replace('_', '-')}" for kind in ("joints", "forces") for name in shown_quantities(run, kind)}
    assert own and set(page_parts.figures(page)) >= {*FIGURES, "motion", *own}
    check_quantities([curve for curve in every if curve.figure not in FIGURES], run, own)
    for curve in drawn:
        each = max(1, len(curve.x) // 40)
        FIGURES[curve.figure](replace(curve, x=curve.x[::each], y=curve.y[::each]), run, at)
    times = run.t if run.steps is None else run.steps.t
    for curve in drawn:
        assert curve.x[0] == (times[1] if curve.figure == "step-sizes" else run.t[0])
        assert curve.x[-1] == run.t[-1] and np.all(np.diff(curve.x) * np.sign(run.t[-1] - run.t[0]) > 0.0)


def test_the_animation_shows_both_ends_of_both_bars(run, at, page):
    t, points = page_parts.motion(page)
    size = np.ptp(points)
    assert (t[0], t[-1]) == (run.t[0], run.t[-1]) and len(t) > 200
    for k in (0, len(t) // 2, len(t) - 1):
        for name in ("upper", "lower"):
            state = run.problem.states(t[k], run(np.clip(t[k], run.t.min(), run.t.max())))[name]
            ends = state.position + state.orientation.apply([(-1.0, 0, 0), (1.0, 0, 0)])
            for end in ends if name == "upper" else ends[:1]:
                assert np.linalg.norm(points[k] - end, axis=1).min() < 1e-4 * size


def test_the_animation_begins_as_it_is_drawn_without_its_script(run, page):
    """Lines at the first moment, and the paths of the centres of mass."""
    _, points = page_parts.motion(page)
    spec = page_parts.figures(page)["motion"]
    lines = [trace for trace in spec["data"] if "path" not in trace["name"]]
    drawn = np.concatenate([page_parts.points(trace) for trace in lines])
    drawn = drawn[np.isfinite(drawn).all(axis=1)]  # between two lines is nothing
    np.testing.assert_allclose(drawn, points[0], rtol=0, atol=1e-4 * np.ptp(points))
    assert sum(trace["showlegend"] for trace in lines) == len({trace["name"] for trace in lines})
    paths = {trace["text"]: page_parts.points(trace) for trace in spec["data"] if trace not in lines}
    assert {*paths} == {"upper", "lower"}
    for name, path in paths.items():
        body = next(body for body in run.problem.system.bodies if body.name == name)
        state = run.states[name]
        centres = state.position + state.orientation.apply(np.array(body.center_of_mass))
        for centre in (centres[0], centres[-1]):
            assert np.linalg.norm(path - centre, axis=1).min() < 1e-4 * np.ptp(points)
        assert np.abs(np.ptp(path, axis=0) - np.ptp(centres, axis=0)).max() < 0.05 * np.ptp(points)
    limits = [spec["layout"]["scene"][f"{axis}axis"]["range"] for axis in "xyz"]
    assert all(low <= points[..., k].min() and points[..., k].max() <= high for k, (low, high) in enumerate(limits))


def test_every_table_of_a_page_is_that_of_the_run(run, at, page):
    tables = page_parts.tables(page)
    assert set(tables) == {"states", "unknowns", "work", "reactions", "events", "mechanism"}
    seen = times_of_states(run)
    for body, what, component, _, *numbers in tables["states"]:
        k = "xyz".find(component) if component in "xyz" else int(component) - (what == "angular velocity")
        column = np.array([at(float(t)).body(body)[what][k] for t in seen])
        if what == "quaternion":
            first, last = (abs(float(n)) for n in numbers[:2])
            assert close(first, abs(column[0]), 1.0) and close(last, abs(column[-1]), 1.0)
            continue
        right = (column[0], column[-1], column.min(), column.max())
        assert all(close(n, r, np.abs(column).max() + 1e-14, 1e-5) for n, r in zip(numbers, right, strict=True))
    assert len(tables["states"]) == 26
    for (label, *numbers), name, column in zip(tables["unknowns"], run.problem.labels, run.y.T, strict=True):
        assert label == name
        assert [float(n) for n in numbers] == [column[0], column[-1], column.min(), column.max()]
    stats = run.stats
    counts = [stats.steps, stats.rejected, stats.evaluations, stats.jacobians, stats.factorisations]
    for row, count in zip(tables["work"], [*counts, stats.projections, stats.restarts], strict=True):
        assert (float(row[1]) if count >= 0 else row[1]) == (count if count >= 0 else "1.7e308")
        if count >= 0:
            assert close(row[2], count / stats.steps, 0.0, 1e-15)
    for joint, body, force, force_at, torque, torque_at, _ in tables["reactions"]:
        for value, time, what in ((force, force_at, "force"), (torque, torque_at, "torque")):
            sizes = np.array([np.linalg.norm(at(float(t)).reaction(joint, body)[what]) for t in seen])
            assert close(value, sizes.max(), 1e-3, 1e-5)
            if float(value) == 0.0:  # at all times
                assert time == "1.7e308" and sizes.max() < 1e-7
                continue
            assert close(np.linalg.norm(at(float(time)).reaction(joint, body)[what]), sizes.max(), 1e-3, 1e-5)
    assert [(row[0], row[1]) for row in tables["reactions"]] == [
        ("shoulder", "ground"), ("shoulder", "upper"), ("elbow", "upper"), ("elbow", "lower"),
    ]  # fmt: skip
    assert [float(row[2]) for row in tables["events"]] == run.events[0].t.tolist()


def times_of_states(run: rbdae.Solution) -> np.ndarray:
    """Those at which a page knows the motion, in the order of the run: its own, and for curves between its steps."""
    ends = run.t if run.steps is None else run.steps.t
    every = run.t if len(run.t) >= 300 else np.union1d(run.t, np.linspace(ends[0], ends[-1], 300))
    return every if every[0] == run.t[0] else every[::-1]


# ---------------------------------------------------------------- pictures

LETTERS = {"x": 0, "y": 1, "z": 2}


def right_of_picture(
    heading: str, row: str, label: str, run: rbdae.Solution, at: Any
) -> Callable[[float], float] | None:
    """What a curve of a picture must show at a time."""
    letters = label.replace("$", "").replace("\\Omega", "").replace("_", "")
    joint, _, body = row.partition("\non ")
    body = body.partition("\n")[0]
    start = float(run.t[0])
    table: dict[str, Callable[[float], float]] = {
        "position [m]": lambda t: at(t).body(row)["position"][LETTERS[letters[-1]]],
        "centre of mass [m]": lambda t: at(t).body(row)["center_of_mass"][LETTERS[letters[-1]]],
        "velocity [m/s]": lambda t: at(t).body(row)["velocity"][LETTERS[letters[-1]]],
        "orientation: unit quaternion [1]": lambda t: abs(at(t).body(row)["quaternion"][int(letters[-1])]),
        "angular velocity in the body frame [rad/s]":
            lambda t: at(t).body(row)["angular velocity"][int(letters[-1]) - 1],
        "reaction force [N]": lambda t: at(t).reaction(joint, body)["force"][LETTERS[letters[-1]]],
        "reaction torque [N m]": lambda t: at(t).reaction(joint, body)["torque"][LETTERS[letters[-1]]],
        "linear momentum [kg m/s]": lambda t: at(t).momentum("linear")[LETTERS[letters[-1]]],
        "angular momentum about the origin [kg m$^2$/s]": lambda t: at(t).momentum("angular")[LETTERS[letters[-1]]],
        "drift: violation of constraints [SI]": lambda t: at(t).drift(letters),
        "energy [J]": lambda t: work_of(run, t, at) if letters == "work" else at(t).energy(letters),
        "balance of energy [J]": lambda t: at(t).energy("total") - at(start).energy("total")
        - run.energy.work[at(t).row],
        "step size [s]": lambda t: step_before(run, t),
    }  # fmt: skip
    return table[heading]


def step_before(run: rbdae.Solution, t: float) -> float:
    times = run.t if run.steps is None else run.steps.t
    k = int(np.flatnonzero(times == t)[0])
    assert k > 0
    return abs(float(times[k] - times[k - 1]))


def test_every_curve_of_a_picture_is_that_of_the_run(run, at):
    pytest.importorskip("matplotlib")
    from rbdae.plotting import QUANTITIES

    figure = run.plot(quantities=[name for name in QUANTITIES if name not in ("joints", "forces")])
    headings, rows, count = {}, {}, 0
    for axis in figure.axes:  # a column's heading stands over its first row, a row's name beside its first column
        spec = axis.get_subplotspec()
        lone = axis.get_title(loc="left") in ("energy [J]", "balance of energy [J]") or spec.rowspan.start >= 4
        here = axis.get_title(loc="left") or headings.get(spec.colspan.start)
        headings[spec.colspan.start] = here
        row = axis.get_ylabel() or ("" if lone else rows.get(spec.rowspan.start, ""))
        rows[spec.rowspan.start] = row
        labels = first_labels(figure, axis, here)
        for line, label in zip([line for line in axis.lines if len(line.get_xdata()) > 2], labels, strict=False):
            x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            right = right_of_picture(here, row, label, run, at)
            size = float(np.nanmax(np.abs(y)))
            few = [len(x) // 2, len(x) - 1] if label == "work" else range(0, len(x), max(1, len(x) // 12))
            for k in few:
                value = abs(y[k]) if here.startswith("orientation") else y[k]
                if not np.isnan(value):
                    # between its steps a run is known to a few tolerances
                    tolerance = 1e-12 if label != "work" and run.steps is None else 1e-4
                    assert close(value, right(float(x[k])), size + 1e-2, tolerance), (here, row, label, x[k])
            count += 1
    assert count >= 2 * (3 + 4 + 3 + 3 + 3) + 2 * 6 + 5 + 6 + 2 + 1


def test_every_curve_of_a_picture_of_joints_and_forces_is_that_of_the_run(run):
    pytest.importorskip("matplotlib")
    headings, name, count = {}, "", 0
    for axis in run.plot(quantities=["joints", "forces"]).axes:
        column = axis.get_subplotspec().colspan.start
        headings[column] = axis.get_title(loc="left") or headings[column]
        name = axis.get_ylabel() or name
        quantity = headings[column].partition(" [")[0].replace(" ", "_")
        for k, line in enumerate(axis.lines):
            x, y = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            if len(x) > 2:
                few = [0, len(x) // 2, len(x) - 1]
                right = np.array([run.problem.quantity(f"{name}.{quantity}", x[i], run(x[i])) for i in few])
                right = right[:, k] if right.ndim == 2 else right
                np.testing.assert_allclose(y[few], right, rtol=1e-4, atol=1e-4 * np.abs(y).max() + 1e-12)
                count += 1
    assert count >= len(run.joints) + len(run.forces)


def first_labels(figure: Any, axis: Any, heading: str) -> list[str]:
    """The names of curves, which a legend has once for its column."""
    for other in figure.axes:
        if other.get_title(loc="left") == heading:
            return [text.get_text() for text in other.get_legend().get_texts()]
    raise AssertionError(heading)


# ---------------------------------------------------------------- tables


def right_of_column(name: str, run: rbdae.Solution, at: Any) -> Callable[[float], float]:
    """What a column must have, by its name."""
    what = name.split(" [")[0]
    if what in run.problem.labels:
        k = list(run.problem.labels).index(what)
        return lambda t: at(t).y[k]
    if " on " in what:
        joint, _, rest = what.partition(" on ")
        body, quantity, component = rest.split(".")
        return lambda t: at(t).reaction(joint, body)[quantity]["xyz".index(component)]
    first, quantity, *component = what.split(".")
    if first == "energy":
        if quantity in ("work", "balance"):
            start = float(run.t[0])

            def change(t: float) -> float:
                return at(t).energy("total") - at(start).energy("total")

            if quantity == "work":
                return lambda t: change(t) - run.energy.balance[at(t).row]
            return lambda t: change(t) - run.energy.work[at(t).row]
        return lambda t: at(t).energy(quantity)
    if first == "momentum":
        return lambda t: at(t).momentum(quantity)["xyz".index(component[0])]
    if first == "drift":
        return lambda t: at(t).drift(quantity)
    if first in run.joints or first in run.forces:
        part = ("xyz123".index(component[0]) % 3,) if component else ()
        return lambda t: float(np.asarray(run.problem.quantity(f"{first}.{quantity}", t, at(t).y))[part])
    key = quantity.replace("_", " ")
    shift = {"angular velocity": 1, "quaternion": 0}.get(key)
    k = "xyz".index(component[0]) if shift is None else int(component[0]) - shift
    return lambda t: at(t).body(first)[key][k]


def check_columns(names: list[str], values: np.ndarray, run: rbdae.Solution, at: Any) -> None:
    assert len(set(names)) == len(names)
    for name, column in zip(names, values.T, strict=True):
        few = slice(None, None, max(1, len(run.t) // 12))
        right = np.array([right_of_column(name, run, at)(float(t)) for t in run.t[few]])
        shown = column[few]
        if ".quaternion." in name:
            shown, right = np.abs(shown), np.abs(right)
        assert np.allclose(shown, right, rtol=1e-12, atol=1e-11 * max(1.0, np.abs(column).max())), name


def test_every_column_of_the_command_line_is_that_of_the_run(run, at, tmp_path):
    inside.write_states(run, tmp_path / "states.csv")
    rows = list(csv.reader((tmp_path / "states.csv").read_text().splitlines()))
    values = np.array(rows[1:], dtype=float)
    assert rows[0][0] == "t [s]" and np.array_equal(values[:, 0], run.t) and len(rows[0]) == 27 + 22
    check_columns(rows[0][1:], values[:, 1:], run, at)


def test_every_column_of_a_table_is_that_of_the_run(run, at):
    pytest.importorskip("pandas")
    table = run.to_pandas(["unknowns", "states", "energy", "momentum", "drift", "reactions"])
    assert np.array_equal(table.index, run.t) and len(table.columns) == run.problem.n + 26 + 5 + 6 + 2 + 24
    check_columns(list(table.columns), table.to_numpy(), run, at)


# ---------------------------------------------------------------- studies


def made_up() -> study.Comparison:
    """Runs that differ in every number."""
    unit = np.array([[1.0, 0, 0, 0]])
    state = study.FinalState(np.zeros((1, 3)), unit, np.zeros((1, 3)), np.zeros((1, 3)))
    rows, rng = [], np.random.default_rng(5)
    for form in ("index-1", "null-space"):
        for solver in ("sksundae:ida", "solve_dae:Radau"):
            factors = rng.uniform(1.0, 2.0, size=8)
            for k, tolerance in enumerate((1e-3, 1e-5, 1e-7)):
                case = study.Case(form, "quaternion", "angular", solver, tolerance)
                f = factors * (1.0 + 0.01 * k)
                counts = [int(f[m] * 50 * 4**k) for m in range(4)]
                stats = Stats(counts[0], 3 + k, counts[1], counts[2], seconds=f[4] * 2.0**k, wall_seconds=f[4] * 9.0**k)
                errors = study.Errors(tolerance * f[5], 0.3 * tolerance * f[6], 0.2 * tolerance)
                drift, energy = 1e-4 * 10.0 ** (-3 * k) * f[7], 1e-2 * 10.0 ** (-2 * k) * f[3]
                rows.append(study.Row(case, errors, drift, 2.0 * drift, energy, stats, timed=k + 1, singular=k))
    reference = study.Reference(1.5, (state, state), study.Errors(1e-12, 2e-12, 3e-12))
    return study.Comparison(reference, tuple(rows))


def test_the_columns_of_a_ranking_are_those_of_the_right_runs():
    """Work by interpolation with a formula of our own; drift, energy and tolerance of the loosest run that is so
    exact, not of the one before it."""
    compared = made_up()
    for error in (1e-4, 3e-6, 1e-7):
        (target,) = compared.ranking([error]).targets
        assert [p.seconds for p in target.places] == sorted(p.seconds for p in target.places)
        assert len(target.places) + len(target.beyond) == 4
        for place in target.places:
            rows = [row for row in compared.rows if row.case.curve == place.curve]
            k = min(k for k, row in enumerate(rows) if max(row.errors.position, row.errors.orientation) <= error)
            tight, loose = rows[k], rows[max(k - 1, 0)]
            assert (place.drift, place.energy) == (tight.position_drift, tight.energy_error)
            assert place.tolerance == tight.case.tolerance and place.step is None
            a, b = math.log(loose.errors.largest), math.log(tight.errors.largest)
            share = (math.log(error) - a) / (b - a) if k else 0.0
            for what in ("seconds", "evaluations"):
                low, high = getattr((loose if k else tight).stats, what), getattr(tight.stats, what)
                assert math.isclose(getattr(place, what), low * (high / low) ** share, rel_tol=1e-12)


def test_every_record_is_that_of_its_run():
    compared = made_up()
    names = dict(
        error=lambda r: max(r.errors.position, r.errors.orientation, r.errors.velocity),
        error_position=lambda r: r.errors.position,
        error_orientation=lambda r: r.errors.orientation,
        error_velocity=lambda r: r.errors.velocity,
        error_quantity=lambda r: r.errors.quantity,
        energy=lambda r: r.energy_error,
        drift_position=lambda r: r.position_drift,
        drift_velocity=lambda r: r.velocity_drift,
        seconds=lambda r: r.stats.seconds,
        wall_seconds=lambda r: r.stats.wall_seconds,
        timed=lambda r: r.timed,
        evaluations=lambda r: r.stats.evaluations,
        jacobians=lambda r: r.stats.jacobians,
        steps=lambda r: r.stats.steps,
        rejected=lambda r: r.stats.rejected,
        projections=lambda r: r.stats.projections,
        restarts=lambda r: r.stats.restarts,
        handed_over=lambda r: r.stats.handed_over,
        tolerance=lambda r: r.case.tolerance,
        below_reference=lambda r: 0,
        factorisations=lambda r: None,
        step=lambda r: None,
        singular=lambda r: r.singular,
        given_up_after=lambda r: None,
    )
    texts = {"formulation", "rotation", "velocity", "solver", "redundant", "on_singularity"}
    empty = {"hold", "projection", "options", "same", "code", "failure", "reason"}
    assert {*names, *texts, *empty} == set(study.COLUMNS)
    for record, row in zip(compared.records(), compared.rows, strict=True):
        assert {name: record[name] for name in names} == {name: value(row) for name, value in names.items()}
        assert all(record[name] == getattr(row.case, name) for name in texts) and not any(record[n] for n in empty)


def test_the_points_of_a_study_are_its_runs(tmp_path):
    pytest.importorskip("plotly")
    compared = made_up()
    page = compared.report(tmp_path / "study.html")
    across = {
        "largest relative error at t = 1.5 s": lambda r: r.errors.largest,
        "error of energy, relative": lambda r: r.energy_error,
        "position drift [SI]": lambda r: r.position_drift,
    }
    drawn = page_parts.curves(page)
    curves = list(dict.fromkeys(row.case.curve for row in compared.rows))
    assert len(drawn) == 4 * 4 and set(page_parts.figures(page)) == {"work-precision", "costs"}
    for n, curve in enumerate(drawn):
        rows = [row for row in compared.rows if row.case.curve == curves[curve.meta]]
        assert curve.name == f"{rows[0].case.formulation}: {rows[0].case.solver}"
        work = "evaluations" if n < 4 else "seconds"  # the first panel is over evaluations
        assert curve.x.tolist() == [getattr(row.stats, work) for row in rows]
        assert curve.y.tolist() == [across[curve.label](row) for row in rows]
    tables = page_parts.tables(page)
    for form, solver, seconds, evaluations, energy, drift in (
        (row[1], row[2], *map(float, row[3:7])) for row in tables["targets"]
    ):
        found = [p for t in compared.ranking().targets for p in t.places if p.curve == (form, solver)]
        assert any(
            (p.seconds, round(p.evaluations), p.energy, p.drift) == (seconds, evaluations, energy, drift) for p in found
        )
    assert len(tables["runs"]) == len(compared.rows)


def test_the_picture_of_a_study_has_its_runs():
    pytest.importorskip("matplotlib")
    compared = made_up()
    for axis, work in zip(compared.plot().axes, ("evaluations", "seconds"), strict=True):
        assert len(axis.lines) == 4 and axis.get_xlabel().startswith(work)
        for line in axis.lines:
            form, _, solver = line.get_label().partition(": ")
            rows = [row for row in compared.rows if row.case.curve == (form, solver)]
            assert list(line.get_xdata()) == [getattr(row.stats, work) for row in rows]
            assert list(line.get_ydata()) == [row.errors.largest for row in rows]


def test_the_table_of_a_study_has_its_runs():
    compared = made_up()
    lines = [line.split() for line in str(compared).splitlines() if line.startswith(("  sksundae", "  solve_dae"))]
    rows = sorted(compared.rows, key=lambda row: row.case.form)
    for words, row in zip(lines, rows, strict=True):
        e, s = row.errors, row.stats
        floats = [row.case.tolerance, e.position, e.orientation, e.velocity, s.evaluations, s.jacobians, s.steps]
        floats += [row.position_drift, row.velocity_drift, row.energy_error, s.seconds, s.wall_seconds, row.timed]
        assert words[0] == row.case.solver
        assert all(close(word, right, 0.0, 0.06) for word, right in zip(words[1:], floats, strict=True))
