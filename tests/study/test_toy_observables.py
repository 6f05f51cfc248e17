"""A line and its function are an observable of problems, runs, tables, files, pictures and reports."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import page_parts
import pytest
import toy_observable

import rbdae
from rbdae import observables

COLUMNS = {
    "lagrangian": ["lagrangian [J]"],
    "middle": ["middle.x [m]", "middle.y [m]", "middle.z [m]"],
    "kinetic_energy": ["upper.kinetic_energy [J]", "lower.kinetic_energy [J]"],
    "load": [f"{each}.load [N]" for each in ("shoulder on ground", "shoulder on upper", "elbow on upper",
                                             "elbow on lower")],
    "selected": ["selected"],
}  # fmt: skip


def mechanism() -> rbdae.System:
    """Two bars on a shoulder and an elbow."""
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    upper = system.add_body("upper", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(1, 0, 0), angular_velocity=(0, 1, 0))
    lower = system.add_body("lower", mass=1.0, inertia=(0.2, 0.1, 0.3), position=(3, 0, 0))
    joints = rbdae.joints
    system.add_joint(joints.Spherical(system.ground, upper, at_b=(-1, 0, 0), name="shoulder"))
    axes = {"axis_a": (0, 1, 0), "axis_b": (0, 1, 0)}
    system.add_joint(joints.Revolute(upper, lower, at_a=(1, 0, 0), at_b=(-1, 0, 0), name="elbow", **axes))
    return system


@pytest.fixture(scope="module", autouse=True)
def table() -> Iterator[None]:
    with toy_observable.registered():
        yield


@pytest.fixture(scope="module")
def run() -> rbdae.Solution:
    problem = rbdae.formulate(mechanism(), "index-0")
    return rbdae.solve(problem, (0.0, 0.3), solver="scipy:RK45", rtol=1e-6, atol=1e-6)


def of(value: Any, name: str) -> list[np.ndarray]:
    """The values of an observable column by column."""
    if name == "middle":
        return list(value.T)
    if isinstance(value, dict):
        return [column for each in value.values() for column in of(each, name)]
    return [value]


def right(run: rbdae.Solution, name: str, times: np.ndarray) -> np.ndarray:
    """The columns, one state at a time."""
    read = getattr(run.problem, name)
    states = [run.y[np.flatnonzero(run.t == t)[0]] if t in run.t else run(t) for t in times]
    return np.array([of(read(float(t), y), name) for t, y in zip(times, states, strict=True)], dtype=float)


@pytest.mark.parametrize("name", COLUMNS)
def test_problems_and_runs_have_it(run, name):
    value = getattr(run, name)
    assert value is getattr(run, name) and name in dir(run) and name in dir(run.problem)
    assert np.allclose(np.array(of(value, name)).T, right(run, name, run.t), rtol=1e-12, atol=1e-12)
    assert getattr(toy_observable, name).__doc__ in getattr(run.problem, name).__doc__


def test_each_row_is_read_by_the_selection_of_its_time():
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", rotation="rotation-vector")
    run = rbdae.solve(problem, (0.0, 0.6), solver="rbdae:dop853", on_singularity="switch")
    references = [run.problem_at(t).reference_rotations["top"].magnitude() / np.pi for t in run.t]
    assert len(set(references)) > 1 and np.array_equal(run.selected, references)
    assert run.problem.selected(float(run.t[-1]), run.y[-1]) == references[-1]
    assert np.array_equal(run.problem.selected(run.t[::-1], run.y[::-1]), references[::-1])
    energy = run.problem.energy(run.t, run.y)
    assert np.array_equal(run.lagrangian, energy.kinetic - energy.potential)


def test_tables_have_its_columns(run):
    pytest.importorskip("pandas")
    table = run.to_pandas(["drift", *COLUMNS])
    assert list(table.columns) == ["drift.position", "drift.velocity", *(c for each in COLUMNS.values() for c in each)]
    for name, columns in COLUMNS.items():
        assert np.allclose(table[columns].to_numpy(), right(run, name, run.t), rtol=1e-12, atol=1e-12)
    with pytest.raises(ValueError, match="unknown quantity 'lagrangien'; did you mean 'lagrangian'"):
        run.to_pandas("lagrangien")


def test_pictures_draw_it(run):
    pytest.importorskip("matplotlib")
    wanted = {
        "lagrangian": ["lagrangian [J]"], "middle": ["middle [m]"], "kinetic_energy": ["kinetic energy [J]", ""],
        "load": ["load [N]", ""], "selected": ["selected [1]"],
    }  # fmt: skip
    for name, headings in wanted.items():
        axes = run.plot(quantities=[name]).axes
        assert sorted(axis.get_title(loc="left") for axis in axes) == sorted(headings)
        drawn = [line for axis in axes for line in axis.lines]
        found = right(run, name, np.asarray(drawn[0].get_xdata())[::40])
        if name == "load":  # on the last body of each joint
            found = found[:, [1, 3]]
        assert len(drawn) == found.shape[1] and len(drawn[0].get_xdata()) >= 300
        for line, column in zip(drawn, found.T, strict=True):
            assert np.allclose(np.asarray(line.get_ydata())[::40], column, rtol=1e-9, atol=1e-9)
    assert [axis.get_ylabel() for axis in run.plot(quantities=["kinetic_energy"], bodies=["lower"]).axes] == ["lower"]


def test_reports_show_it(run, tmp_path):
    for package in ("plotly", "jinja2", "itables"):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'rbdae[report]'")
    page = run.report(tmp_path / "run.html")
    assert "<h2>Observables</h2>" in page.read_text("utf-8")
    assert toy_observable.lagrangian.__doc__ in page.read_text("utf-8")
    drawn = page_parts.curves(page)
    for name, columns in COLUMNS.items():
        curves = [curve for curve in drawn if curve.figure == name.replace("_", "-")]
        if name == "selected":  # zero at all times
            assert not curves and not np.any(run.selected)
            continue
        found = right(run, name, curves[0].x[::50])
        if name == "load":  # of each joint the last body
            found, columns = found[:, [1, 3]], [columns[1], columns[3]]
        if name == "middle":  # a panel for each component that is not zero
            there = np.abs(found).max(axis=0) > 1e-14 * np.abs(found).max()
            found, columns = found[:, there], [column for column, each in zip(columns, there, strict=True) if each]
        assert len(curves) == len(columns) > 0
        for curve, column, label in zip(curves, found.T, columns, strict=True):
            assert np.allclose(curve.y[::50], column, rtol=1e-6, atol=1e-6 * max(1.0, np.abs(curve.y).max()))
            owner = label.partition(f".{name}")[0] if name in ("kinetic_energy", "load") else name
            assert curve.name == owner
            component = label.removeprefix(f"{name}.")[:1] if name == "middle" else ""
            assert curve.label.split(" [")[0] == f"{name.replace('_', ' ')} {component}".strip()


def test_what_cannot_be_a_line_is_refused(run):
    def function(problem, t, y):
        return t

    for name in ("energy", "layout", "to_pandas", "steps", "unknowns", "run_multipliers"):
        with pytest.raises(ValueError, match=f"problems and runs have '{name}' already"):
            observables.register(name, "", function)
    for name in ("two words", "_hidden", 3):
        with pytest.raises(ValueError, match="name must be a Python name"):
            observables.register(name, "", function)
    with pytest.raises(ValueError, match="unknown owner 'body'"):
        observables.register("other", "", function, owner="body")
    with pytest.raises(TypeError, match=r"of must be a function \(problem, t, y\)"):
        observables.register("other", "", lambda t: t)
    assert "other" not in observables.TABLE and not hasattr(run, "other") and not hasattr(run.problem, "other")
    for wrong, got in ((lambda p, t, y: t[:-1], r"shape \(\d+,\)"), (lambda p, t, y: {"a": t}, "a dict")):
        observables.register("wrong", "", wrong)
        with pytest.raises(ValueError, match=rf"observable 'wrong': values must have shape \(\d+,\), got {got}"):
            _ = run.wrong
    observables.unregister("wrong")
    assert not hasattr(run, "wrong") and not hasattr(run.problem, "wrong")
    with pytest.raises(KeyError):
        observables.unregister("energy")
    observables.register("lagrangian", "kJ", lambda problem, t, y: 0.0 * t)  # takes the place of the first
    assert not run.lagrangian.any()
