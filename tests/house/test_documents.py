"""The documents name files and functions that exist, and cite what is in the bibliography."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from inside import straight_text

ROOT = Path(__file__).parents[2]

DOCUMENTS = ("README.md", "CONTRIBUTING.md", *(f"docs/{path.name}" for path in sorted((ROOT / "docs").glob("*.md"))))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


@cache
def defined_in(path: Path) -> set[str]:
    """Functions, classes, methods and assigned names of a file, "Class.method" for those in a class."""
    found = set()

    def visit(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                found.add(prefix + child.name)
                visit(child, f"{prefix}{child.name}.")
            elif isinstance(child, ast.Assign | ast.AnnAssign):
                targets = child.targets if isinstance(child, ast.Assign) else [child.target]
                found.update(prefix + t.id for t in targets if isinstance(t, ast.Name))

    visit(ast.parse(path.read_text(encoding="utf-8")), "")
    return found


def test_the_forms_of_the_quaternion_equations_are_tested_by_these_names():
    found = set(re.findall(r"`(test_\w+)`", text("docs/euler-parameters.md")))
    assert len(found) > 5
    assert found <= defined_in(ROOT / "tests/laws/test_euler_parameter_forms.py")


@pytest.mark.parametrize("document", DOCUMENTS)
def test_files_and_functions_exist(document):
    missing = []
    for quoted in re.findall(r"`([^`]+)`", text(document).replace("\n", " ")):
        found = re.fullmatch(r"((?:[\w.-]+/)+[\w.-]*)(?:: +(\w+(?:\.\w+)*))?", re.sub(r"\s+", " ", quoted))
        if not found or found[1].startswith("results/"):
            continue
        path = ROOT / found[1]
        if not path.exists() or (found[2] and found[2] not in defined_in(path)):
            missing.append(quoted)
    assert not missing, f"{document} names what does not exist: {missing}"


def _blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", text("docs/equations.md"), re.MULTILINE | re.DOTALL)


def test_the_code_of_equations_is_that_of_the_library(capsys):
    (snippet,) = [block for block in _blocks("python") if not block.startswith("# ")]
    for quoted in set(_blocks("python")) - {snippet}:
        path, _, code = quoted[2:].partition("\n")
        assert code in text(path), path
    names: dict[str, Any] = {}
    exec(compile(snippet, "docs/equations.md", "exec"), names)
    assert [capsys.readouterr().out.strip()] == [block.strip() for block in _blocks("text")]
    lines = straight_text(names["graph"], [names["g"].node])
    assert all(block in lines for block in _blocks("llvm"))


def test_keys_are_in_the_bibliography():
    known = set(re.findall(r"^- \*\*\[(\w+)\]\*\*", text("docs/references.md"), re.MULTILINE))
    assert "NS" in known
    folders = ("rbdae", "adapters", "tests", "examples", "benchmarks", "docs")
    paths = [p for folder in folders for suffix in ("*.py", "*.md") for p in (ROOT / folder).rglob(suffix)]
    cited = {}
    for path in paths:
        for key in re.findall(
            r"(?<![\w\])`'\"])\[([A-Z][A-Za-z]*\d\d|NS|IVP|IFToMM)\](?!\()", path.read_text(encoding="utf-8")
        ):
            cited.setdefault(key, path)
    assert not cited.keys() - known, {key: cited[key] for key in cited.keys() - known}
    assert not known - cited.keys(), f"nothing cites {known - cited.keys()}"


def test_comparisons_with_other_programs_are_tested_by_these_names():
    found = set(re.findall(r"`(test_\w+)`", text("docs/validation.md")))
    assert len(found) > 10
    known = (defined_in(ROOT / f"tests/models/test_{name}.py") for name in ("other_programs", "benchmarks"))
    assert found <= set().union(*known)
