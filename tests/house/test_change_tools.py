"""The tools for a change: the tests that it needs, wrong changes that no test sees, the oldest versions."""

from __future__ import annotations

import ast
import importlib.util
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOOLS = ROOT / "tools"


@pytest.fixture(scope="module")
def tools():
    """`tools/` as it is for its own scripts: names beside each other."""
    kept = dict(sys.modules)
    sys.path.insert(0, str(TOOLS))
    yield {name: importlib.import_module(name) for name in ("laws", "mutate", "oldest_versions")}
    sys.path.remove(str(TOOLS))
    for name in set(sys.modules) - set(kept):
        if name in ("laws", "mutate", "oldest_versions", "import_graph"):
            del sys.modules[name]


SOURCE = '''
LIMIT = 3


def mean(values, weight=1.0):
    """The mean."""
    total = 0.0
    for value in values[1:]:
        if value < LIMIT:
            total += weight * value
    values.append(total)
    if not values:
        raise ValueError(f"no values, {len(values) + 1}")
    return total / len(values)
'''


def test_changes_are_of_the_five_kinds_and_stay_python(tools, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    found = list(tools["mutate"].changes(path))
    assert {change.kind for change in found} == {"sign", "comparison", "index", "constant", "dropped"}
    for change in found:
        assert ast.dump(ast.parse(change.text)) != ast.dump(ast.parse(SOURCE))
    assert not any("raise" in change.before or change.line == 2 for change in found)  # messages and tables stay
    assert {c.after for c in found if c.kind == "comparison"} == {"value <= LIMIT", "value > LIMIT"}


def test_the_same_seed_draws_the_same_changes(tools, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    drawn = tools["mutate"].drawn
    assert drawn([path], 8, 1) == drawn([path], 8, 1) != drawn([path], 8, 2)


def test_lines_of_functions_are_those_of_their_statements(tools, tmp_path):
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    assert tools["laws"].function_lines(path) == set(range(6, 15))


def test_chosen_tests_run_most_of_a_file_in_the_seconds(tools):
    chosen = tools["laws"].chosen
    needed = {"whole": {1, 2, 3, 4}, "half": {1, 2}, "rest": {3}, "slow": {5, 6, 7, 8}}
    seconds = {"whole": 4.0, "half": 0.5, "rest": 1.0, "slow": 100.0}
    assert list(chosen(needed, seconds, 1.6)) == ["half", "rest"]
    assert list(chosen(needed, seconds, 6.0)) == ["half", "rest", "whole"]


def test_a_file_without_tests_of_its_own_is_that_of_its_importers(tools):
    importers = tools["laws"].importers()
    dopri5 = ROOT / "rbdae" / "machine" / "loops" / "dopri5.py"
    assert ROOT / "rbdae" / "machine" / "loops" / "methods.py" in importers[dopri5]


def test_the_oldest_versions_are_those_declared(tools):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    lines = tools["oldest_versions"].requirements(["study"])
    declared = [*project["dependencies"], *project["optional-dependencies"]["study"]]
    for requirement in declared:
        if not requirement.startswith("rbdae["):
            name, version = requirement.split(">=")
            assert f"{name}=={version.split(',')[0]}" in lines
    assert any(line.startswith("plotly==") for line in lines)  # of rbdae[report]
    with pytest.raises(ValueError, match="extra 'nothing'"):
        tools["oldest_versions"].requirements(["nothing"])
