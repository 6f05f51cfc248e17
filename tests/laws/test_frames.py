"""`Solution.to_pandas`: every column is what the solution says, in the unit of its name."""

from __future__ import annotations

import re

import cases
import numpy as np
import pytest
from redundant_systems import Units
from units_law import sizes

import rbdae
from rbdae.adapter import Reason, Stats

pandas = pytest.importorskip("pandas")

ODD = Units(length=2.0, mass=3.0, time=5.0)
IN_ODD = {
    "m": ODD.length,
    "m/s": ODD.speed,
    "kg m/s": ODD.of(1, 1, -1),
    "rad/s": ODD.of(0, 0, -1),
    "1/s": ODD.of(0, 0, -1),
    "kg m^2/s": ODD.of(2, 1, -1),
    "rad": 1.0,
    "": 1.0,
}
FORMS = list({(p.rotation, p.velocity): p for p in cases.PAIRINGS}.values())


def at_the_start(problem: rbdae.Problem) -> rbdae.Solution:
    """A solution of one row, without a run."""
    t, y = np.array([problem.t0]), problem.y0[None]
    return rbdae.Solution(problem, t, y, "scipy:RK45", Reason.FINISHED, "made by hand", Stats(), 1e-6, 1e-6)


def unit(column: str) -> str:
    found = re.search(r" \[(.*)\]$", column)
    return found[1] if found else ""


@pytest.fixture(scope="module")
def run() -> rbdae.Solution:
    problem = rbdae.formulate(cases.built("loop"), "index-2", consistent="project")
    return rbdae.solve(problem, (0.0, 0.02), solver="scipy:RK45" if problem.kind == "ode" else "solve_dae:Radau")


@pytest.mark.parametrize("pairing", FORMS, ids=str)
def test_unknowns_are_in_the_units_of_their_names(pairing):
    problem = cases.problem("mixed", pairing)
    columns = at_the_start(problem).to_pandas().columns
    assert [re.sub(r" \[.*\]$", "", name) for name in columns] == list(problem.labels)
    wanted = sizes(problem, ODD)
    known = np.isfinite(wanted)
    found = np.array([IN_ODD[unit(name)] for name in columns[: len(wanted)]])
    assert np.array_equal(found[known], wanted[known])
    assert all(unit(name) == "" for name in columns[: len(wanted)][~known])


def test_a_table_has_what_the_solution_says(run):
    frame = run.to_pandas(["unknowns", "states", "energy", "momentum", "drift", "reactions"])
    assert frame.index.name == "t [s]" and np.array_equal(frame.index, run.t)
    assert frame.columns.is_unique
    assert np.array_equal(frame.iloc[:, : run.problem.n], run.y)
    state = run.states["bar1"]
    # the unknown is the centre of mass, which is off the origin of the frame
    assert np.allclose(frame["bar1.y [m]"], state.center_of_mass[:, 1], rtol=1e-14)
    assert np.array_equal(frame["bar1.position.y [m]"], state.position[:, 1])
    assert np.abs(frame["bar1.y [m]"] - frame["bar1.position.y [m]"]).min() > 0.01
    assert np.array_equal(frame["bar1.angular_velocity.3 [rad/s]"], state.angular_velocity[:, 2])
    assert np.array_equal(frame["energy.balance [J]"], run.energy.balance)
    assert np.array_equal(frame["momentum.angular.z [kg m^2/s]"], run.momentum.angular[:, 2])
    assert np.array_equal(frame["drift.velocity"], run.drift.velocity)
    reaction = run.reactions["spherical-2"]["bar1"]
    assert np.array_equal(frame["spherical-2 on bar1.force.x [N]"], reaction.force[:, 0])
    assert np.array_equal(frame["spherical-2 on bar1.torque.y [N m]"], reaction.torque[:, 1])
    assert list(run.to_pandas("drift")) == ["drift.position", "drift.velocity"]


def test_quaternions_have_no_jumps():
    problem = rbdae.formulate(rbdae.models.tennis_racket(), "null-space", rotation="directors")
    solution = rbdae.solve(problem, (0.0, 1.0), solver="scipy:RK45", t_eval=np.linspace(0.0, 1.0, 101))
    p = solution.to_pandas("states").filter(regex="quaternion").to_numpy()
    assert p.shape == (101, 4) and np.abs(np.diff(p, axis=0)).max() < 0.5
    assert np.ptp(p, axis=0).max() > 1.0
