"""An adapter of another distribution, installed and run in a process of its own."""

from __future__ import annotations

import ast
import importlib
import inspect
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]
TOY = ROOT / "tests/support/toy_adapter"
MODULE = TOY / "rbdae_toy_adapter.py"


SCRIPT = """
import numpy as np, rbdae, toy
(line,) = [s for s in rbdae.solvers() if s.package == "toy"]
print(line.name, line.available, line.version, line.takes)
for broken in (dict(solver="toy:rk5"), dict(solver="toy:rk4"), dict(solver="toy:rk4", step=0.1, max_step=1)):
    try:
        rbdae.solve(toy.Pendulum(), (0, 1), **broken)
    except ValueError as error:
        print(error)
try:
    rbdae.solve(toy.Pendulum("index-2"), (0, 1), solver="toy:rk4", step=0.1)
except ValueError as error:
    print(error)
def solve(h=2e-3, problem=None, **more):
    return rbdae.solve(problem or toy.Pendulum(), (0.0, 2.0), solver="toy:rk4", step=h, **more)

def error(solution):
    return np.abs(solution.y - toy.exact(solution.t)[:, :6]).max()

plain, fine = solve(), solve(1e-3)
assert plain.success and plain.stats.steps == 1000 and plain.stats.evaluations <= 4002, plain.stats
assert 12 < error(plain) / error(fine) < 20  # order 4
times = np.linspace(0.0, 2.0, 33)
between = solve(t_eval=times)
assert np.array_equal(between.t, times) and error(between) < 2 * error(plain)

lowest = lambda t, y: y[:3] @ toy.ACROSS
for projection in (None, toy.Options()):
    found = solve(events=lowest, projection=projection)
    assert len(found.events[0].t) == 2
    assert np.abs(toy.exact(found.events[0].t)[:, :3] @ toy.ACROSS).max() < 1e-8
lowest.terminal = True
stopped = solve(events=lowest, t_eval=times)
assert stopped.reason.name == "EVENT" and stopped.t[-1] < stopped.events[0].t[0] < 0.6

projected = solve(projection=toy.Options())
assert projected.drift.position.max() < 1e-15 < 1e-13 < plain.drift.position.max()
assert projected.stats.projections > 900 and projected.stats.restarts == 0
assert error(projected) < 2 * error(plain)

assert solve(max_steps=7).reason.name == "TOO_MANY_STEPS"
failed = solve(problem=toy.Pendulum(trouble=lambda t, y: np.nan if t > 0.5 else 1.0))
assert failed.reason.name == "NOT_FINITE" and 0.49 < failed.t[-1] <= 0.5

class Mine(Exception):
    pass

def trouble(t, y):
    raise Mine

try:
    solve(problem=toy.Pendulum(trouble=trouble))
except Mine:
    pass
else:
    raise AssertionError
"""


def test_it_is_found_like_any_other_and_has_outputs_events_projection_and_errors(tmp_path):
    """In a fresh process that sees this checkout, and the adapter with what pip installs beside it, in plain Python."""
    project = tomllib.loads((TOY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    said = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    said.mkdir()
    (said / "METADATA").write_text(f"Name: {project['name']}\nVersion: {project['version']}\n", encoding="utf-8")
    points = ((group, *point) for group, its in project["entry-points"].items() for point in its.items())
    text = "".join(f"[{group}]\n{name} = {module}\n" for group, name, module in points)
    (said / "entry_points.txt").write_text(text, encoding="utf-8")
    path = os.pathsep.join(map(str, (ROOT, ROOT / "adapters", ROOT / "tests/support", TOY, tmp_path)))
    strict = "error,ignore:the run did not reach its end"
    environment = dict(os.environ, PYTHONPATH=path, RBDAE_LLVM="none", PYTHONWARNINGS=strict)
    command = [sys.executable, "-c", SCRIPT]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    said = ended.stdout.splitlines()
    assert said[0] == "toy:rk4 True 0.1.0 ode"
    for line, fact in zip(said[1:], ("'toy:rk4'", "step=", "toy:rk4 'max_step'", "DAE of index 2"), strict=True):
        assert fact in line


def exported(module: ModuleType) -> set[str]:
    """The classes of a module, and what it imports under its own name (``from a import b as b``)."""
    body = ast.parse(inspect.getsource(module)).body
    imported = {alias.asname for node in body if isinstance(node, ast.ImportFrom) for alias in node.names}
    return imported | {node.name for node in body if isinstance(node, ast.ClassDef)}


def test_it_is_made_of_public_names():
    allowed = {"rbdae.adapter", "rbdae_adapters.toolkit"}
    for node in ast.walk(ast.parse(MODULE.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert not [a.name for a in node.names if a.name.startswith("rbdae")], "import names, not modules"
        if isinstance(node, ast.ImportFrom) and node.module.startswith("rbdae"):
            assert node.module in allowed
            assert {alias.name for alias in node.names} <= exported(importlib.import_module(node.module))
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_"), f"line {node.lineno} uses {node.attr}"
