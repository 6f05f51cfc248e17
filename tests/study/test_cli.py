"""The command line, in this process; and once as a program."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import rbdae
from rbdae.adapter import Reason
from rbdae.cli import main


def test_models_lists_every_model(capsys):
    assert main(["models"]) == 0
    printed = capsys.readouterr().out
    for name in rbdae.models.MODELS:
        assert name in printed
    assert len(printed.splitlines()) == len(rbdae.models.MODELS)


def test_solvers_lists_every_solver(capsys):
    assert main(["solvers"]) == 0
    printed = capsys.readouterr().out
    for info in rbdae.solvers():
        assert info.name in printed


def test_run_prints_final_states_that_are_right(capsys):
    assert main(["run", "heavy_top", "--t-end", "0.3", "--rtol", "1e-10"]) == 0
    printed = capsys.readouterr().out
    line = next(x for x in printed.splitlines() if "top: orientation" in x)
    quaternion = np.array(line.partition("orientation")[2].split()[:4], dtype=float)
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0", rotation="quaternion")
    solution = rbdae.solve(problem, (0.0, 0.3), solver="scipy:DOP853", rtol=1e-12, atol=1e-12)
    assert abs(abs(quaternion @ solution.y[-1, :4]) - 1.0) < 1e-8  # up to the sign
    for word in ("energy", "drift", "steps", "evaluations", "reached the end"):
        assert word in printed


def test_run_takes_every_choice(capsys, tmp_path):
    pytest.importorskip("matplotlib")
    picture, stored = tmp_path / "top.png", tmp_path / "top.npz"
    arguments = ["run", "heavy_top", "--formulation", "index-0", "--rotation", "directors"]
    arguments += ["--velocity", "coordinate", "--solver", "scipy:RK45", "--rtol", "1e-6", "--atol", "1e-7"]
    arguments += ["--t-end", "0.1", "--projection", "--plot", str(picture), "--save", str(stored)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert "index-0, directors, coordinate: 18 unknowns, an ODE" in printed
    assert "scipy:RK45, rtol = 1e-06, atol = 1e-07" in printed
    assert picture.read_bytes().startswith(b"\x89PNG")
    solution = rbdae.load(stored)
    assert solution.success and solution.t[-1] == 0.1
    assert solution.stats.projections > 0


def test_run_chooses_a_solver_that_takes_the_formulation(capsys):
    assert main(["run", "linked_bodies", "--formulation", "index-2", "--t-end", "0.01", "--rtol", "1e-5"]) == 0
    printed = capsys.readouterr().out
    assert "a DAE of index 2" in printed
    assert "result" in printed and "reached the end" in printed


def test_a_fixed_step_is_passed_on(capsys):
    problem_step = ["run", "heavy_top", "--t-end", "0.01", "--solver", "scipy:RK45", "--step", "0.001"]
    assert main(problem_step) == 2
    assert "chooses its own steps" in capsys.readouterr().err


def test_a_solver_that_gives_up_makes_the_exit_code_1(capsys, monkeypatch):
    def short(*arguments, **options):
        return solve(*arguments, **options, max_steps=3)

    solve = rbdae.solve
    monkeypatch.setattr(rbdae, "solve", short)
    assert main(["run", "heavy_top"]) == 1
    said = capsys.readouterr()
    assert Reason.TOO_MANY_STEPS.value in said.err
    assert "3 steps" in said.out and "at t = " in said.out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["run", "hevy_top"], "unknown model 'hevy_top'; did you mean 'heavy_top'?"),
        (["run", "heavy_top", "--formulation", "nullspace"], "did you mean 'null-space'"),
        (["run", "heavy_top", "--rotation", "quaternions"], "did you mean 'quaternion'"),
        (["run", "heavy_top", "--velocity", "linear"], "velocity 'linear'"),
        (["run", "heavy_top", "--solver", "scipy:RK54"], "did you mean 'scipy:RK45'"),
        (["run", "heavy_top", "--formulation", "index-2", "--solver", "scipy:RK45"], "Solvers for it: "),
        (["run", "heavy_top", "--rtol", "-1"], "rtol must be"),
        (["run", "heavy_top", "--t-end", "0"], "--t-end is 0, where runs begin; give another end, in seconds"),
        (["compare", "heavy_top", "--t-end", "-0.0"], "--t-end is 0, where runs begin"),
        (["run", "heavy_top", "--rtol", "-1e-3"], "rtol must be"),
        (["run", "heavy_top", "--save", "no/such/folder/x.npz"], "there is no folder no/such/folder"),
        (["run", 300 * "x" + ".py:f"], "name too long"),
    ],
)
def test_wrong_input_is_refused_in_one_line(arguments, message, capsys):
    assert main(arguments) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.startswith("rbdae: ") and said.err.count("\n") == 1
    assert said.out == ""


def test_no_command_shows_the_usage(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "usage: rbdae" in capsys.readouterr().err


def test_as_a_program():
    command = [sys.executable, "-m", "rbdae", "run", "hevy_top"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert ended.returncode == 2
    assert "did you mean 'heavy_top'" in ended.stderr
    assert "Traceback" not in ended.stderr
