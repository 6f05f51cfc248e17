"""Every number that a page, a picture or a table shows is that of the run, found here one state at a time.

The laws go over what was drawn: a figure, a curve or a column without an entry here fails by its name.
"""

from __future__ import annotations

import csv
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


IN_THE_LONG_RUN = ("t_eval", "many", "back")
"""The others have steps, and go back to output times."""
GIVEN = [
    pytest.param(name, marks=[pytest.mark.nightly] * (name in IN_THE_LONG_RUN))
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
def at(run: rbdae.Solution) -> Right:
    return Right(run)


class Right:
    """All that can be said of a run, by evaluations of the problem at one time alone."""

    def __init__(self, run: rbdae.Solution) -> None:
        self.run, self.problem = run, run.problem
        self.state = cache(self.state)  # type: ignore[method-assign]

    def state(self, t: float, own: bool) -> tuple[np.ndarray, int | None]:
        """The unknowns, and their row in the run if it has this time: its own, or those between its steps."""
        (here,) = np.nonzero(self.run.t == t)
        row = int(here[0]) if len(here) else None
        return self.run.y[row] if own else self.run(t), row

    def __call__(self, t: float, owner: str, what: str, component: str = "", *, own: bool = False) -> float:
        """A number by what has it, such as "upper", "elbow on lower" or "energy", by its name and component."""
        y, row = self.state(t, own)
        k = ("xyz" if component in "xyz" else "0123" if what == "orientation" else "123").index(component or "x")
        if " on " in owner:
            joint, _, body = owner.partition(" on ")
            return float(getattr(self.problem.reactions(t, y)[joint][body], what)[k])
        if owner == "energy":
            if what in ("work", "balance"):  # of which one is found by a quadrature, and the other follows
                start = float(self.run.t[0])
                change = self(t, "energy", "total", own=True) - self(start, "energy", "total", own=True)
                return change - float((self.run.energy.balance if what == "work" else self.run.energy.work)[row])
            return float(getattr(self.problem.energy(t, y), what))
        if owner == "momentum":
            return float(getattr(self.problem.momentum(t, y), what)[k])
        if owner == "drift":
            return float(np.abs(getattr(self.problem.constraints(t, y), what)).max())
        if owner == "steps":
            times = self.run.t if self.run.steps is None else self.run.steps.t
            (j,) = np.flatnonzero(times == t)
            assert j > 0  # each step at its end, with its own size, which has no sign
            return abs(float(times[j] - times[j - 1]))
        if owner in self.problem.labels:
            return float(y[list(self.problem.labels).index(owner)])
        if owner in self.run.joints or owner in self.run.forces:
            return float(np.ravel(self.problem.quantity(f"{owner}.{what}", t, y))[k])
        state = self.problem.states(t, y)[owner]
        value = np.roll(state.orientation.as_quat(), 1) if what == "orientation" else getattr(state, what)
        return float(abs(value[k]) if what == "orientation" else value[k])  # both signs are one rotation

    def work(self, t: float) -> float:
        """Power of friction and wind by a quadrature of our own."""
        times = np.linspace(self.run.t[0], t, 201)
        powers = []
        for time in times:
            states = self.problem.states(time, self.run(time))
            spins = [states[name].orientation.apply(states[name].angular_velocity) for name in ("lower", "upper")]
            axis = states["upper"].orientation.apply((0.0, 1.0, 0.0))
            powers.append(wind(time)[1] * states["lower"].velocity[1] - 0.4 * ((spins[0] - spins[1]) @ axis) ** 2)
        step = times[1] - times[0] if t != self.run.t[0] else 0.0
        weights = np.full(201, 2.0)
        weights[1::2], weights[[0, -1]] = 4.0, 1.0
        return float(step / 3.0 * (weights @ np.array(powers)))


def close(shown: Any, right: Any, size: float, relative: float = SINGLE) -> bool:
    return bool(abs(float(shown) - float(right)) <= relative * max(size, abs(float(right))) + 1e-300)


def check(curve: Any, name: tuple[str, str, str], at: Right, relative: float = SINGLE, room: float = 0.0) -> None:
    """A curve (x, y) at some of its points, with `room` for the size of its values; zeros of a logarithmic axis are
    gaps."""
    (x, y), (owner, what, component) = curve, name
    size = 0.0 if owner in ("drift", "steps") else float(np.max(np.abs(y))) + room
    if what == "work" and owner == "energy":
        assert all(close(y[k], at.work(float(x[k])), size, 1e-4) for k in (len(x) // 3, len(x) - 1))
        return
    for k in {*range(0, len(x), max(1, len(x) // 12)), len(x) - 1}:
        right = at(float(x[k]), owner, what, component, own=owner == "drift")
        shown = abs(y[k]) if what == "orientation" else y[k]
        wrong = (owner, what, component, x[k], shown, right)
        assert (right <= np.finfo(float).tiny) if np.isnan(shown) else close(shown, right, size, relative), wrong


SYSTEM = {
    "energy [J]": "energy",
    "balance of energy [J]": "energy",
    "drift: violation of constraints [SI]": "drift",
    "step size [s]": "steps",
    "linear momentum [kg m/s]": "momentum",
    "angular momentum about the origin [kg m$^2$/s]": "momentum",
}


def of_system(label: str, name: str) -> tuple[str, str, str]:
    """The quantity of the whole system that a curve shows."""
    owner = SYSTEM[label]
    if owner == "momentum":
        return owner, label.split()[0], name.strip("$")[-1]
    return owner, "balance" if label.startswith("balance") else name, ""


# ---------------------------------------------------------------- the page of a run

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
WORDS = {"quaternion": "orientation", "centre of mass": "center_of_mass"}


@pytest.fixture(scope="module")
def page(run: rbdae.Solution, tmp_path_factory: pytest.TempPathFactory) -> Path:
    for package in ("plotly", "jinja2", "itables"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'rbdae[report]'")
    return run.report(tmp_path_factory.mktemp("page") / "run.html")


def test_every_curve_of_a_page_is_that_of_the_run(run, at, page):
    every = page_parts.curves(page)
    drawn = [curve for curve in every if curve.figure in CURVES]
    assert {name: sum(curve.figure == name for curve in drawn) for name in CURVES} == CURVES
    times = run.t if run.steps is None else run.steps.t
    for curve in drawn:
        what, _, component = curve.label.partition(" [")[0].rpartition(" ")
        name = (curve.name, WORDS.get(what, what).replace(" ", "_"), component)
        name = of_system(curve.label, curve.name) if curve.label in SYSTEM else name
        room = np.max(run.energy.kinetic) if name[0] == "energy" else 1e-3 if " on " in curve.name else 1e-14
        check((curve.x, curve.y), name, at, room=float(room))
        assert curve.x[0] == (times[1] if curve.figure == "step-sizes" else run.t[0])
        assert curve.x[-1] == run.t[-1] and np.all(np.diff(curve.x) * np.sign(run.t[-1] - run.t[0]) > 0.0)
        assert " on " not in curve.name or curve.name in ("shoulder on upper", "elbow on lower")
    assert set(page_parts.figures(page)) >= {*CURVES, "motion"}
    # those of joints and forces: what is not zero at all times, without accelerations
    own = {
        (name, quantity)
        for kind in (run.joints, run.forces)
        for name, each in kind.items()
        for quantity, (unit, _) in each.units.items()
        if not unit.endswith("/s^2") and np.any(getattr(each, quantity) != 0.0)
    }
    own -= {("friction-1", "angle"), ("friction-1", "rate")}  # the elbow has them
    shown = set()
    for curve in (curve for curve in every if curve.figure not in CURVES):
        label = curve.label.partition(" [")[0].replace(" ", "_")
        quantity, _, component = label.rpartition("_") if label[-2:-1] == "_" else (label, "", "")
        # between its steps a run is known to a few tolerances
        check((curve.x, curve.y), (curve.name, quantity, component), at, 1e-4, 1e-8)
        shown.add((curve.name, quantity))
    assert shown == own != set()


def test_every_table_of_a_page_is_that_of_the_run(run, at, page):
    tables = page_parts.tables(page)
    assert set(tables) == {"states", "reactions", "events"}
    ends = run.t if run.steps is None else run.steps.t
    seen = run.t if len(run.t) >= 300 else np.union1d(run.t, np.linspace(ends[0], ends[-1], 300))
    seen = (seen if seen[0] == run.t[0] else seen[::-1]).tolist()
    for body, what, component, _, *numbers in tables["states"]:
        name = WORDS.get(what, what).replace(" ", "_")
        column = np.array([at(t, body, name, component) for t in seen])
        right = [column[0], column[-1], column.min(), column.max()]
        if name == "orientation":  # of which both signs are one rotation
            numbers, right = [abs(float(number)) for number in numbers[:2]], right[:2]
        assert all(close(n, r, np.abs(column).max() + 1e-14, 1e-5) for n, r in zip(numbers, right, strict=True))
    assert len(tables["states"]) == 26
    for joint, body, force, force_at, torque, torque_at, _ in tables["reactions"]:
        for value, time, what in ((force, force_at, "force"), (torque, torque_at, "torque")):

            def size(t: float, owner: str = f"{joint} on {body}", what: str = what) -> float:
                return float(np.linalg.norm([at(t, owner, what, axis) for axis in "xyz"]))

            largest = max(map(size, seen))
            assert close(value, largest, 1e-3, 1e-5)
            if float(value) == 0.0:  # at all times
                assert time == "1.7e308" and largest < 1e-7
            else:
                assert close(size(float(time)), largest, 1e-3, 1e-5)
    assert [(row[0], row[1]) for row in tables["reactions"]] == [
        ("shoulder", "ground"), ("shoulder", "upper"), ("elbow", "upper"), ("elbow", "lower"),
    ]  # fmt: skip
    assert [float(row[2]) for row in tables["events"]] == run.events[0].t.tolist()


# ---------------------------------------------------------------- pictures and tables


def test_every_curve_of_a_picture_is_that_of_the_run(run, at):
    pytest.importorskip("matplotlib")
    from rbdae.show import QUANTITIES

    figure = run.plot(quantities=QUANTITIES)
    headings, row, count = {}, "", 0
    legends = {axis.get_title(loc="left"): axis.get_legend() for axis in figure.axes if axis.get_title(loc="left")}
    for axis in figure.axes:  # a column's heading stands over its first row, a row's name beside its first column
        column = axis.get_subplotspec().colspan.start
        heading = headings[column] = axis.get_title(loc="left") or headings[column]
        row = axis.get_ylabel() or row
        what = heading.partition(" [")[0].replace(" ", "_")
        names = {"centre_of_mass": "center_of_mass", "orientation:_unit_quaternion": "orientation"}
        names |= {"angular_velocity_in_the_body_frame": "angular_velocity"}
        names |= {"reaction_force": "force", "reaction_torque": "torque"}
        labels = [text.get_text() for text in legends[heading].get_texts()]  # a legend is there once for its column
        for line, label in zip([line for line in axis.lines if len(line.get_xdata()) > 2], labels, strict=False):
            component = letter if (letter := label.strip("$")[-1]) in "xyz0123" else ""
            owner = row.replace("\non ", " on ").partition("\n")[0]
            name = of_system(heading, label) if heading in SYSTEM else (owner, names.get(what, what), component)
            named = name[0] in run.joints or name[0] in run.forces
            xy = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
            # between its steps a run is known to a few tolerances
            check(xy, name, at, 1e-4 if named or run.steps is not None else 1e-12, 1e-8 if named else 1e-2)
            count += 1
    assert count >= 2 * (3 + 4 + 3 + 3 + 3) + 2 * 6 + 5 + 6 + 2 + 1 + len(run.joints) + len(run.forces)


def check_columns(names: list[str], values: np.ndarray, run: rbdae.Solution, at: Right) -> None:
    """Columns such as "upper.position.x [m]" or "elbow on lower.force.x [N]"."""
    assert len(set(names)) == len(names)
    few = slice(None, None, max(1, len(run.t) // 12))
    for name, column in zip(names, values.T, strict=True):
        label = name.split(" [")[0]
        owner, _, rest = (label, "", "") if label in run.problem.labels else label.partition(".")
        what, _, component = rest.partition(".")
        what = WORDS.get(what, what)
        shown = np.abs(column[few]) if what == "orientation" else column[few]
        right = np.array([at(float(t), owner, what, component, own=True) for t in run.t[few]])
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


def test_every_record_is_that_of_its_run():
    compared = made_up()
    names = dict(
        error=lambda r: max(r.errors.position, r.errors.orientation, r.errors.velocity),
        error_position=lambda r: r.errors.position,
        error_orientation=lambda r: r.errors.orientation,
        error_velocity=lambda r: r.errors.velocity,
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
        fallbacks=lambda r: r.stats.fallbacks,
        tolerance=lambda r: r.case.tolerance,
        below_reference=lambda r: 0,
        factorisations=lambda r: None,
        step=lambda r: None,
        singular=lambda r: r.singular,
        given_up_after=lambda r: None,
    )
    texts = {"formulation", "rotation", "velocity", "solver", "redundant", "on_singularity"}
    empty = {"hold", "projection", "options", "code", "failure", "reason"}
    assert {*names, *texts, *empty} == set(study.COLUMNS)
    records = compared.frame.astype(object).where(compared.frame.notna(), None).to_dict("records")
    for record, row in zip(records, compared.rows, strict=True):
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
    assert len(drawn) == 4 * 4 and set(page_parts.figures(page)) == {"work-precision", "costs"}
    for n, curve in enumerate(drawn):
        rows = [row for row in compared.rows if f"{row.case.formulation}: {row.case.solver}" == curve.name]
        work = "seconds" if 4 <= n < 8 else "evaluations"  # the second panel alone is over seconds
        assert curve.x.tolist() == [getattr(row.stats, work) for row in rows]
        assert curve.y.tolist() == [across[curve.label](row) for row in rows]
    tables = page_parts.tables(page)
    for form, solver, seconds, evaluations, energy, drift in (
        (row[1], row[2], *map(float, row[3:7])) for row in tables["targets"]
    ):
        found = [p for p in compared.ranking().itertuples() if (p.form, p.solver) == (form, solver)]
        assert any(
            (p.seconds, round(p.evaluations), p.energy, p.drift_position) == (seconds, evaluations, energy, drift)
            for p in found
        )
    assert len(tables["runs"]) == len(compared.rows)
