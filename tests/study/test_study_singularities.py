"""A study of rotations that have a singular set, from a start at which some of them are singular."""

from __future__ import annotations

import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.cli import main


def spinning() -> rbdae.System:
    """A body that begins in the gimbal lock of Euler's angles, and turns by more than half a turn."""
    system = rbdae.System(gravity=(0, 0, -9.81))
    system.add_body("a", mass=1.0, inertia=(0.8, 0.6, 0.5), angular_velocity=(5.0, 6.0, 0.3))
    return system


ONE = {"formulations": ["index-0"], "solvers": ["scipy:DOP853"], "tolerances": [1e-8], "velocities": ["angular"]}


def test_every_rotation_can_be_compared_from_any_start(tmp_path):
    rotations = ["quaternion", "euler-313", "bryant-321"]
    stopped = rbdae.compare(spinning(), 1.0, rotations=rotations, **ONE)
    failures = {row.case.rotation: row.failure for row in stopped.rows}
    assert "reference='start'" in failures["euler-313"] and not failures["quaternion"]
    found = rbdae.compare(spinning(), 1.0, rotations=rotations, on_singularity="switch", **ONE)
    assert all(row.errors is not None and row.errors.largest < 1e-6 for row in found.rows), str(found)
    assert [row.case.reference for row in found.rows] == ["space", "start", "start"]
    found.to_json(tmp_path / "study.json")
    again = study.Comparison.from_json(tmp_path / "study.json")
    assert [row.case for row in again.rows] == [row.case for row in found.rows]


def test_the_word_is_checked():
    with pytest.raises(ValueError, match=r"on_singularity.*'swich'.*'switch'"):
        study.cases(["index-0"], ["quaternion"], None, ["scipy:DOP853"], on_singularity="swich")


def test_the_command_line_centres_charts(tmp_path, capsys):
    model = f"{tmp_path / 'model.py'}:spinning"
    (tmp_path / "model.py").write_text(
        "import rbdae\n\ndef spinning():\n    system = rbdae.System()\n"
        "    system.add_body('a', mass=1.0, inertia=(0.8, 0.6, 0.5), angular_velocity=(5.0, 6.0, 0.3))\n"
        "    return system\n",
        encoding="utf-8",
    )
    run = ["run", model, "--t-end", "1", "--rotation", "euler-313", "--formulation", "index-0"]
    assert main(run) != 0
    assert "euler-313 --formulation index-0 --reference start" in capsys.readouterr().err
    saved = tmp_path / "run.npz"
    assert main([*run, "--reference", "start", "--on-singularity", "switch", "--save", str(saved)]) == 0
    system = rbdae.System()
    system.add_body("a", mass=1.0, inertia=(0.8, 0.6, 0.5), angular_velocity=(5.0, 6.0, 0.3))
    problem = rbdae.formulate(system, "index-0", rotation="euler-313", reference="start")
    run = rbdae.load(saved, problem)
    assert run.stats.restarts > 0
    assert np.abs(run.energy.total - run.energy.total[0]).max() < 1e-6


def test_singular_positions_of_loops_are_counted(tmp_path):
    """There a run may take another branch, and two forms may differ."""
    mechanism, end = rbdae.models.n_four_bar(), 1.0
    problem = rbdae.formulate(mechanism, "index-0", redundant="minimum-norm")
    run = rbdae.solve(problem, (0.0, end), solver="scipy:DOP853", rtol=1e-6, atol=1e-6)
    last = study.final_state(problem, end, run.y[-1])  # no reference: the count alone is asked for
    case = study.Case("index-0", "quaternion", "angular", "scipy:DOP853", 1e-6, redundant="minimum-norm")
    exact = study.Reference(end, (last, last), study.Errors(1e-12, 1e-12, 1e-12))
    row = study.run(mechanism, case, exact, repeats=1)
    assert row.singular == len(run.singular_times) > 0
    study.Comparison(exact, (row,)).to_json(tmp_path / "study.json")
    assert study.Comparison.from_json(tmp_path / "study.json").records()[0]["singular"] == row.singular
