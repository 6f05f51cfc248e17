"""Command lines drawn at random: an exit code and lines of ours, never a traceback, and nothing that runs for long.

Most of them are wrong somewhere. Those that are right run a pendulum for a hundredth of a second.
"""

from __future__ import annotations

import sys

import numpy as np
import pytest
from cases import count

from rbdae.cli import main

CHUNK = 25

FILE = """
import rbdae

def bar():
    system = rbdae.System()
    body = system.add_body("bar", mass=1.0, inertia=(0.1, 0.1, 0.01), pivot=(0, 0, 0), angular_velocity=(0, 1, 2))
    return system

def broken():
    raise RuntimeError("mine")

empty = rbdae.System()
text = "bar"
"""

TARGETS = ["drawn_by_chance.py:bar"] * 6 + [
    "heavy_top", "drawn_by_chance.py:broken", "drawn_by_chance.py:empty", "drawn_by_chance.py:text",
    "drawn_by_chance.py",
    "drawn_by_chance.py:", ":bar", "", ":", "::", "nothing.py:bar", ".", "./:x", "json.py:bar", "\x00.py:x", "a.b.py:c",
    "../drawn_by_chance.py:bar",
]  # fmt: skip
NUMBERS = ["0.01", "1e-3", "0", "-1", "nan", "inf", "1e400", "x", ""]
FILES = ["out.png", "out.csv", "out", "no/folder/out.png", ".", "", "drawn_by_chance.py", "out.xyz", "\x00"]
NAMES = [
    "quaternion",
    "euler-313",
    "angular",
    "index-0",
    "index-3",
    "null-space",
    "ind0",
    "scipy:RK45",
    "x",
    "",
    "bar:x",
]
OPTIONS = ["max_step=0.1", "scipy:RK45:max_step=0.1", "max_step=", "=1", "x", "max_step=[", "scipy:RK45:=", "a" * 300]
VALUES = {
    "--t-end": NUMBERS, "--rtol": NUMBERS, "--atol": NUMBERS, "--step": NUMBERS, "--limit": NUMBERS,
    "--repeats": NUMBERS,
    "--processes": ["1", "0", "-3", "x", "1.5"], "--tolerances": NUMBERS, "--option": OPTIONS,
    "--formulation": NAMES, "--rotation": NAMES, "--velocity": NAMES, "--solver": NAMES, "--hold": NAMES,
    "--formulations": NAMES, "--rotations": NAMES, "--velocities": NAMES, "--solvers": NAMES,
    "--redundant": ["error", "minimum-norm", "x", ""], "--plot": FILES, "--csv": FILES, "--json": FILES,
    "--save": FILES,
    "--resume": FILES, "--report": FILES, "--projection": None, "--progress": None, "--nothing": None,
}  # fmt: skip
# whatever else is drawn, a run that is right is short
SHORT = {
    "run": ["--t-end", "0.01"],
    "compare": [
        "--t-end", "0.01", "--formulations", "null-space", "--rotations", "quaternion", "--solvers", "scipy:RK45",
        "--tolerances", "1e-3", "--repeats", "1",
    ],
}  # fmt: skip


def drawn(rng: np.random.Generator) -> list[str]:
    command = str(rng.choice(["run", "compare"]))
    arguments = [command, str(rng.choice(TARGETS)), *SHORT[command]]
    for option in rng.choice(sorted(VALUES), int(rng.integers(0, 4)), replace=False):
        values = VALUES[str(option)]
        arguments.append(str(option))
        if values is not None:
            arguments += [values[k] for k in rng.integers(len(values), size=1 + int(rng.random() < 0.2))]
    return arguments


def complaint(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    """What is wrong with the answer to a command line."""
    try:
        code = main(arguments)
    except SystemExit as ended:  # of argparse
        code = int(str(ended.code))
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    said = capsys.readouterr()
    if code not in (0, 1, 2):
        return f"exit code {code}"
    if code == 2 and not ("rbdae: " in said.err or "usage: rbdae" in said.err):
        return f"nothing is said: {said.err!r}"
    return "a traceback" if "Traceback" in said.err + said.out else ""


@pytest.mark.sampled
@pytest.mark.parametrize("chunk", range(count(100, 3000) // CHUNK))
def test_a_command_line_ends_with_a_code_and_a_word(chunk, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "drawn_by_chance.py").write_text(FILE, encoding="utf-8")
    found = []
    for k in range(CHUNK * chunk, CHUNK * (chunk + 1)):
        arguments = drawn(np.random.default_rng(k))
        wrong = complaint(arguments, capsys)
        if wrong:
            found.append(f"{k}: rbdae {arguments}: {wrong}")
        assert (tmp_path / "drawn_by_chance.py").read_text(encoding="utf-8") == FILE, arguments
    sys.modules.pop("drawn_by_chance", None)
    assert not found, "\n".join(found)
