"""What is read of a run back in time is what is read of the same states in the order of time, but for start and end."""

from __future__ import annotations

import csv
from dataclasses import replace
from typing import Any

import inside
import numpy as np
import page_parts
import pytest

import rbdae
from rbdae.adapter import Steps
from rbdae.cli import main

START, END = 1.0, 0.7
FEW = np.array([1.0, 0.95, 0.8, 0.7])


def pair() -> rbdae.System:
    """Two bars with a damper and a load that depends on time: there is work, and reactions."""
    system = rbdae.System(gravity=(0.3, 0.0, -9.81))
    upper = system.add_body("upper", mass=2.0, inertia=(0.1, 0.2, 0.25), position=(1, 0, 0), angular_velocity=(0, 1, 0))
    lower = system.add_body("lower", mass=1.0, inertia=(0.2, 0.1, 0.3), position=(3.0, 0, 0))
    system.add_joint(rbdae.joints.Spherical(system.ground, upper, at_b=(-1, 0, 0), name="shoulder"))
    elbow = rbdae.joints.Revolute(
        upper, lower, at_a=(1, 0, 0), at_b=(-1, 0, 0), axis_a=(0.0, 1.0, 0.0), axis_b=(0.0, 1.0, 0.0), name="elbow"
    )
    system.add_joint(elbow)
    system.add_force(rbdae.forces.Friction(elbow, 0.4))
    system.add_force(rbdae.forces.Force(lower, lambda t: (0.0, 0.5 + t, 0.0), name="wind"))
    return system


def twice(t: float, y: Any) -> float:
    return (t - 0.9) * (t - 0.75)


@pytest.fixture(scope="module", params=["steps", "no steps"])
def back(request: pytest.FixtureRequest) -> rbdae.Solution:
    problem = rbdae.formulate(pair(), "index-0", t0=START)
    asked: dict[str, Any] = {"solver": "rbdae:dop853", "rtol": 1e-8, "atol": 1e-8}
    if request.param != "steps":
        asked |= {"t_eval": FEW, "dense_output": False}
    run = rbdae.solve(problem, (START, END), events=twice, **asked)
    assert run.success and run.t[0] == START and run.t[-1] == END and len(run.events[0].t) == 2
    return run


def turned(run: rbdae.Solution) -> rbdae.Solution:
    """The same states in the order of time."""
    steps = None if run.steps is None else Steps(run.steps.t[::-1], run.steps.y[::-1])
    events = tuple(replace(event, t=event.t[::-1], y=event.y[::-1]) for event in run.events)
    return replace(run, t=run.t[::-1], y=run.y[::-1], steps=steps, events=events)


def knows_steps(run: rbdae.Solution) -> bool:
    return run.steps is None or len(run.steps.t) > 0


def test_tables_and_files(back, tmp_path):
    pytest.importorskip("pandas")
    what = ["unknowns", "states", "momentum", "drift", "reactions"]
    one, other = back.to_pandas(what), turned(back).to_pandas(what)
    assert one.equals(other[::-1])
    if knows_steps(back):
        energies, right = back.to_pandas("energy"), turned(back).to_pandas("energy")[::-1]
        for name in energies:
            shift = right[name].iloc[0] if "work" in name or "balance" in name else 0.0
            assert np.allclose(energies[name], right[name] - shift, rtol=0.0, atol=1e-7), name
        times = np.linspace(END, START, 23)
        assert np.array_equal(back(times), turned(back)(times)) and np.array_equal(back(times[::-1]), back(times)[::-1])
    for k, run in enumerate((back, turned(back))):
        inside.write_states(run, tmp_path / f"{k}.csv")
    rows, right = (list(csv.reader((tmp_path / f"{k}.csv").read_text().splitlines())) for k in (0, 1))
    assert rows[0] == right[0] and rows[1:] == right[:0:-1]


def test_a_stored_run_is_read_as_it_was(back, tmp_path):
    again = rbdae.load(back.save(tmp_path / "run.npz"), back.problem)
    assert np.array_equal(again.t, back.t) and np.array_equal(again.y, back.y)
    assert again.segments.direction == back.segments.direction == -1.0
    assert np.array_equal(again.drift.velocity, back.drift.velocity) and repr(again) == repr(back)
    if knows_steps(back):
        times = np.linspace(START, END, 9)
        assert np.array_equal(again(times), back(times)) and np.array_equal(again.energy.work, back.energy.work)


@pytest.mark.parametrize("more", [{}, {"t_eval": [2.9, 0.0], "dense_output": False}, {"t_eval": [0.4]}], ids=str)
def test_a_stored_run_with_changes_keeps_its_direction(more, tmp_path):
    """Of a run that kept one row or no steps nothing but what it says tells which selection its rows have."""
    system = rbdae.System(gravity=(0.0, 0.0, -9.81))
    body = system.add_body("body", mass=1.0, inertia=(0.1, 0.2, 0.15), angular_velocity=(6.0, 8.0, 5.0))
    system.add_joint(rbdae.joints.Spherical(system.ground, body, at_b=(0.0, 0.0, 0.5), at_a=(0.0, 0.0, 0.5)))
    problem = rbdae.formulate(system, "index-0", rotation="rodrigues", reference="start", t0=3.0)
    asked = {"solver": "rbdae:dop853", "rtol": 1e-6, "atol": 1e-6, "on_singularity": "switch"}
    run = rbdae.solve(problem, (3.0, 0.0), **asked, **more)
    again = rbdae.load(run.save(tmp_path / "run.npz"), problem)
    assert run.success and len(run.segments.times) > 1 and again.segments.times == run.segments.times
    for state, right in zip(again.states.values(), run.states.values(), strict=True):
        assert np.abs(state.position - right.position).max() < 1e-9
        assert np.abs((state.orientation.inv() * right.orientation).magnitude()).max() < 1e-9
    if not more:
        pages = [page_parts.curves(each.report(tmp_path / f"{k}.html")) for k, each in enumerate((run, again))]
        for one, other in zip(*pages, strict=True):
            assert (one.name, one.label) == (other.name, other.label) and np.array_equal(one.x, other.x)
            assert np.allclose(one.y, other.y, rtol=1e-6, atol=1e-6, equal_nan=True)
            assert one.x[-1] == 0.0 and (np.diff(one.x) < 0.0).all()


def test_a_comparison_back_in_time(tmp_path):
    """The reverse of a motion with reversed velocities."""
    top = rbdae.models.heavy_top()
    asked: dict[str, Any] = {"rotations": ["quaternion"], "velocities": ["angular"], "tolerances": [1e-5]}
    asked |= {"formulations": ["null-space", "index-0"], "solvers": ["scipy:RK45"]}
    found = rbdae.compare(top, -0.1, **asked, repeats=1, resume=tmp_path / "kept.jsonl")
    assert found.reference.t_end == -0.1 and found.reference.agreement.largest < 1e-9
    assert all(not row.failure and 0.0 < row.errors.largest < 1e-3 for row in found.rows)
    assert min(found.reference.states[0].sizes) > 0.0
    again = rbdae.compare(top, -0.1, **asked, repeats=1, resume=tmp_path / "kept.jsonl")
    assert again.resumed == len(found.rows)
    with pytest.raises(ValueError, match=r"t_span must have two different times, got \(0\.0, 0\.0\); give another end"):
        rbdae.compare(top, 0.0, **asked)


@pytest.mark.parametrize("end", ["-0.05", "=-5e-2"])
def test_the_command_line_runs_back(end, capsys, tmp_path):
    files = [tmp_path / name for name in ("run.npz", "run.csv", "run.html", "run.png")]
    options = [f"{what}={file}" for what, file in zip(("--save", "--csv", "--report", "--plot"), files, strict=True)]
    few = options if end == "-0.05" else options[:2]
    assert main(["run", "heavy_top", *([f"--t-end{end}"] if "=" in end else ["--t-end", end]), *few]) == 0
    said = capsys.readouterr()
    assert "at t = -0.05 s" in said.out and not said.err
    table = list(csv.reader(files[1].read_text().splitlines()))
    run = rbdae.load(files[0])
    assert [float(row[0]) for row in table[1:]] == run.t.tolist() and run.t[0] == 0.0 and run.t[-1] == -0.05
