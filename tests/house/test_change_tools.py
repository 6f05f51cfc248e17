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


def test_an_edit_of_another_function_changes_no_draw(tools, tmp_path):
    """Nothing is drawn twice, and lines that move leave what is drawn as it is."""
    path = tmp_path / "module.py"
    path.write_text(SOURCE)
    names = lambda: [(c.function, c.kind, c.before, c.after) for c in tools["mutate"].drawn([path], 8, 1)]  # noqa: E731
    first = names()
    assert len({*first}) == 8
    path.write_text("def none():\n    return None\n" + SOURCE)
    assert names() == first


def test_recorded_lines_are_found_again_after_an_edit(tools, tmp_path, monkeypatch):
    """Lines below an edit keep their tests; a new line has those of the line above."""
    monkeypatch.setattr(tools["laws"], "ROOT", tmp_path)
    path = tmp_path / "module.py"

    class Data:
        def contexts_by_lineno(self, name):
            return {9: ["test_sum"], 10: ["test_sum", "unknown"], 14: ["test_mean"]} if name == str(path) else {}

    recording = tools["laws"].Recording({"test_sum": 1.0, "test_mean": 2.0}, Data(), {"module.py": SOURCE})
    lines = SOURCE.splitlines(keepends=True)
    path.write_text("".join([*lines[:10], "            pass\n", *lines[10:]]))
    shown = {line: tests for line, tests in recording.lines(path).items() if tests}
    assert shown == {9: {"test_sum"}, 10: {"test_sum"}, 11: {"test_sum"}, 15: {"test_mean"}}


def test_a_line_belongs_to_its_innermost_statement(tools, tmp_path):
    path = tmp_path / "module.py"
    path.write_text("def f(x):\n    if (\n        x\n    ):\n        return [\n            x\n        ]\n")
    statement_lines = tools["laws"].statement_lines
    assert [statement_lines(path, line) for line in (1, 3, 6)] == [range(1, 2), range(2, 5), range(5, 8)]


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
