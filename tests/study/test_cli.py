"""The command line, in this process; and once as a program."""

from __future__ import annotations

import csv
import subprocess
import sys

import numpy as np
import pytest

import rbdae
from rbdae import study
from rbdae.adapter import Reason
from rbdae.cli import main


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
        (["run", "heavy_top", "--solver", "scipy:RK54"], "did you mean 'scipy:RK45'"),
        (["run", "heavy_top", "--formulation", "index-2", "--solver", "scipy:RK45"], "Solvers for it: "),
        (
            ["run", "heavy_top", "--t-end", "0"],
            "t_span must have two different times, got (0.0, 0.0)",
        ),
        (["run", "heavy_top", "--rtol=-1e-3"], "rtol must be"),
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


# ---------------------------------------------------------------- mechanisms in files, and what is written

FILE = """
import rbdae

print("read")

def law(t):
    return 2.0

def bar():
    system = rbdae.System()
    body = system.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.01), position=(0.5, 0, 0))
    hinge = rbdae.joints.Revolute(system.ground, body, at_b=(-0.5, 0, 0), axis_a=(0, 1, 0), axis_b=(0, 1, 0))
    hinge = system.add_joint(hinge)
    system.add_force(rbdae.forces.Motor(hinge, torque=law))
    return system

def local():
    system = bar()
    system.add_force(rbdae.forces.Force(system.bodies[0], lambda t: (1.0, 0.0, 0.0), name="wind"))
    return system

ready = bar()
number = 3

def nothing():
    bar()

def broken():
    return 1 / len("")

def leaves():
    raise SystemExit(3)

def needs(length):
    return bar()
"""


@pytest.fixture
def mechanism(tmp_path, monkeypatch):
    """A file of the user's, in the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "mechanism_of_mine.py").write_text(FILE, encoding="utf-8")
    yield "mechanism_of_mine.py"
    sys.modules.pop("mechanism_of_mine", None)


def test_run_takes_a_function_of_a_file_and_writes_its_states(mechanism, capsys, tmp_path):
    arguments = ["run", f"{mechanism}:bar", "--t-end", "0.1", "--csv", "out.csv", "--option", "max_step=0.01"]
    assert main(arguments) == 0
    assert "mechanism_of_mine.py:bar" in capsys.readouterr().out
    with open(tmp_path / "out.csv", newline="", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    assert names[:4] == ["t [s]", "bar.position.x [m]", "bar.position.y [m]", "bar.position.z [m]"]
    values = np.array(rows, dtype=float)
    assert len(values) >= 11 and values[-1, 0] == 0.1  # ten steps of 0.01 s at least
    module = sys.modules["mechanism_of_mine"]
    problem = rbdae.formulate(module.bar(), "index-0")
    exact = rbdae.solve(problem, (0.0, 0.1), solver="scipy:DOP853", rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(values[-1, 1:4], exact.states["bar"].position[-1], atol=1e-8)


@pytest.mark.parametrize(
    "target, message",
    [
        ("{}", "give {}:NAME, it defines law, bar, local"),
        ("{}:baar", "has no function 'baar'"),
        ("{}:nothing", "gives None, no rbdae.System"),
        ("{}:number", "gives 3, no rbdae.System"),
        ("{}:broken", "its code raised ZeroDivisionError: division by zero"),
        ("{}:needs", "needs() missing 1 required positional argument: 'length'"),
        ("{}:bar", "has no end time of its own; say --t-end"),
        ("other.py:bar", "the file other.py does not exist"),
        ("bar", "for your own FILE.py:FUNCTION"),
    ],
)
@pytest.mark.parametrize("command", ["run", "compare"])
def test_a_wrong_target_is_refused_with_what_to_type(mechanism, command, target, message, capsys):
    assert main([command, target.format(mechanism)]) == 2
    said = capsys.readouterr().err
    assert message.format(mechanism) in said
    assert said.startswith("rbdae: ") and "Traceback" not in said
    if "broken" in target:  # the user's own line, and none of ours
        assert 'return 1 / len("")' in said and "rbdae/cli" not in said


def test_a_file_that_cannot_be_read_is_refused_with_its_own_line(mechanism, tmp_path, capsys):
    (tmp_path / "half_of_it.py").write_text("def bar(:\n", encoding="utf-8")
    assert main(["run", "half_of_it.py:bar"]) == 2
    assert "raised SyntaxError" in (said := capsys.readouterr().err) and "def bar(:" in said
    (tmp_path / "json.py").write_text("def bar(): pass\n", encoding="utf-8")
    assert main(["run", "json.py:bar"]) == 2
    assert "another module 'json'" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--plot", "x.xyz"], "--plot: x.xyz has the ending '.xyz'; pictures can be"),
        (["--csv", "mechanism_of_mine.py"], "would write over mechanism_of_mine.py, the file of the mechanism"),
        (["--csv", "no/folder.csv"], "--csv: there is no folder no"),
        (["--csv", "."], "is a folder"),
        (["--option", "max_step"], "--option must be like"),
        (["--option", "max_stp=1"], "did you mean 'max_step'"),
        (["--option", "max_step=fast"], "max_step must be"),
        (["--hold", "rod"], "no body 'rod'; the bodies are 'bar'"),
    ],
)
def test_what_can_be_refused_is_refused_before_the_run(mechanism, arguments, message, capsys):
    assert main(["run", f"{mechanism}:bar", "--t-end", "1e5", *arguments]) == 2  # the run would take for ever
    said = capsys.readouterr()
    assert message in said.err and "result" not in said.out


@pytest.mark.parametrize("package, option", [("matplotlib", ["--plot", "x.png"]), ("tqdm", ["--progress"])])
def test_a_missing_package_is_told_before_the_run(mechanism, package, option, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["run", f"{mechanism}:bar", "--t-end", "1e5", *option]) == 2
    assert f"needs {package}: run `pip install {package}`" in capsys.readouterr().err


def test_a_run_with_redundant_joints_has_a_page(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    typed = ["run", "bricard", "--t-end", "0.01", "--hold", "rod1:position", "--report", "run.html"]
    assert main([*typed, "--redundant", "minimum-norm"]) == 0
    assert (tmp_path / "run.html").is_file()


FEW = ["--formulations", "index-0", "--rotations", "quaternion", "--velocities", "angular", "--tolerances", "1e-4"]
FEW += ["--t-end", "0.05", "--solvers", "scipy:RK45"]


def test_compare_writes_what_it_finds(mechanism, capsys, tmp_path):
    for package in ("matplotlib", "plotly", "itables"):
        pytest.importorskip(package)
    files = ["--csv", "c.csv", "--json", "c.json", "--plot", "c.png", "--resume", "c.jsonl"]
    files = ["--report", "c.html", *files]
    assert main(["compare", f"{mechanism}:bar", *FEW, "--option", "scipy:RK45:max_step=0.01", *files]) == 0
    printed = capsys.readouterr().out
    assert (
        "1 cases" in printed
        and "scipy:RK45 (max_step=0.01)" in printed
        and "the fewest evaluations has index-0" in printed
    )
    found = study.Comparison.from_json(tmp_path / "c.json")
    with open(tmp_path / "c.csv", newline="", encoding="utf-8") as file:
        assert [row["solver"] for row in csv.DictReader(file)] == ["scipy:RK45"]
    assert found.made["mechanism"] == "1 bodies: bar" and (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")
    assert main(["compare", f"{mechanism}:bar", *FEW, "--option", "scipy:RK45:max_step=0.01", *files[-2:]]) == 0
    assert "1 runs were in c.jsonl" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--formulations", "index-3", "--solvers", "scipy:RK45"], "no case is left of index-3 (dae, index 3)"),
        (["--option", "max_step=1"], "put the solver before it"),
        (["--option", "scipy:RK23:max_step=1"], "not among the solvers"),
        (["--resume", "no/folder/x"], "--resume: there is no folder"),
    ],
)
def test_compare_refuses_before_it_runs(mechanism, arguments, message, capsys):
    assert main(["compare", f"{mechanism}:bar", *FEW, *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_study_of_a_file_runs_in_processes(mechanism, tmp_path):
    command = [sys.executable, "-m", "rbdae", "compare", f"{mechanism}:local", *FEW, "--processes", "2"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=300, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "1 runs, 0 failed" in ended.stdout
