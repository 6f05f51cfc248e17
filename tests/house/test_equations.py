"""docs/rotations.md: every equation of its sections has a line, and the functions and tests that it names exist."""

from __future__ import annotations

import importlib
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# the first and the last equation of the sections of [GR95]
SECTIONS = {
    2: (1, 71),
    3: (72, 121),
    4: (122, 138),
    5: (139, 160),
    6: (161, 208),
    7: (209, 251),
    8: (252, 266),
    9: (267, 275),
    10: (276, 291),
}


def lines() -> dict[int, list[list[str]]]:
    """The lines of the tables, by section: equation, what, function, test."""
    found: dict[int, list[list[str]]] = {}
    for line in (ROOT / "docs/rotations.md").read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## Section (\d+)", line):
            found[int(heading[1])] = []
        elif line.startswith("| ("):
            found[max(found)].append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def numbers(cell: str) -> list[int]:
    """(1)-(3), (5) are 1, 2, 3, 5."""
    out = []
    for first, last in re.findall(r"\((\d+)\)(?:-\((\d+)\))?", cell):
        out += range(int(first), int(last or first) + 1)
    return out


@cache
def names_of_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


TABLE = lines()


def test_no_section_is_left_out():
    assert [*TABLE] == [*SECTIONS]


@pytest.mark.parametrize("section", TABLE)
def test_no_equation_is_left_out(section):
    first, last = SECTIONS[section]
    found = [number for line in TABLE[section] for number in numbers(line[0])]
    assert sorted(found) == list(range(first, last + 1)), set(range(first, last + 1)) ^ set(found)


@pytest.mark.parametrize("section", TABLE)
def test_every_line_has_a_word_on_each_equation(section):
    for line in TABLE[section]:
        assert len(line) == 4, line
        assert line[1], line
        if "step" not in line[1] and "limit" not in line[1]:
            assert line[2] and line[3], line


@pytest.mark.parametrize("section", TABLE)
def test_functions_and_tests_exist(section):
    missing = []
    for line in TABLE[section]:
        for name in re.findall(r"`(\w+\.\w+)`", line[2]):
            module, function = name.split(".")
            where = "rbdae." if module == "kinematics" else "rbdae.rotations."
            if not hasattr(importlib.import_module(where + module), function):
                missing.append(name)
        for chart in re.findall(r"chart `([\w-]+)`", line[2]):
            if chart not in importlib.import_module("rbdae.rotations").CHARTS:
                missing.append(chart)
        missing += [name for name in re.findall(r"`(test_\w+)`", line[3]) if name not in names_of_tests()]
    assert not missing
