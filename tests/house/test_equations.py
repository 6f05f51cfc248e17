"""Tables of equations: every numbered equation has a line, and the functions and tests that it names exist."""

from __future__ import annotations

import importlib
import itertools
import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rbdae
from rbdae.problem import matrices

ROOT = Path(__file__).parents[2]

Numbers = tuple[tuple[str, int, int], ...]

# the letter, and the first and the last number, of the equations of each section
SECTIONS: dict[str, dict[str, Numbers]] = {
    "rotations.md": {  # [GR95]
        "Section 2": (("", 1, 71),),
        "Section 3": (("", 72, 121),),
        "Section 4": (("", 122, 138),),
        "Section 5": (("", 139, 160),),
        "Section 6": (("", 161, 208),),
        "Section 7": (("", 209, 251),),
        "Section 8": (("", 252, 266),),
        "Section 9": (("", 267, 275),),
        "Section 10": (("", 276, 291),),
        "Section 11": (("", 292, 345),),
        "Appendix": (("", 346, 372),),
    },
    "null-space.md": {  # [NS]
        "Section 2": (("", 1, 14),),
        "Section 3": (("", 15, 25),),
        "Section 4": (("", 26, 46),),
        "Section 5": (("", 47, 61),),
        "Section 6": (("", 62, 64),),
        "Section 7": (("", 65, 68),),
    },
    "hamiltonian.md": {  # [BS09]
        "Section 2": (("", 1, 14),),
        "Section 3": (("", 15, 23),),
        "Section 4": (("", 24, 54),),
        "Appendix": (("A", 1, 6), ("C", 1, 3), ("D", 1, 4), ("E", 1, 1)),
    },
}


@cache
def lines(document: str) -> dict[str, list[list[str]]]:
    """The lines of the tables, by section: equation, what, function, test."""
    found: dict[str, list[list[str]]] = {}
    section = ""
    for line in (ROOT / "docs" / document).read_text(encoding="utf-8").splitlines():
        if heading := re.match(r"## (Section \d+|Appendix)", line):
            section = heading[1]
            found[section] = []
        elif line.startswith("| ("):
            found[section].append([cell.strip() for cell in line.strip("|").split("|")])
    return found


def numbers(cell: str) -> list[str]:
    """(1)-(3), (A5) are 1, 2, 3, A5."""
    out = []
    for letter, first, last in re.findall(r"\(([A-Z]?)(\d+)\)(?:-\([A-Z]?(\d+)\))?", cell):
        out += [f"{letter}{k}" for k in range(int(first), int(last or first) + 1)]
    return out


@cache
def names_of_tests() -> set[str]:
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    return {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}


@pytest.mark.parametrize("document", SECTIONS)
def test_no_section_is_left_out(document):
    assert [*lines(document)] == [*SECTIONS[document]]


@pytest.mark.parametrize("document", SECTIONS)
def test_no_equation_is_left_out(document):
    for section, ranges in SECTIONS[document].items():
        wanted = [f"{letter}{k}" for letter, first, last in ranges for k in range(first, last + 1)]
        found = [number for line in lines(document)[section] for number in numbers(line[0])]
        assert sorted(found) == sorted(wanted), (section, {*wanted} ^ {*found})


@pytest.mark.parametrize("document", SECTIONS)
def test_every_line_has_a_word_on_each_equation(document):
    for line in itertools.chain(*lines(document).values()):
        assert len(line) == 4, line
        assert line[1], line
        if "step" not in line[1] and "limit" not in line[1]:
            assert line[2] and line[3], line


def owner_of(name: str) -> Any:
    """A module, or a class with public methods."""
    classes = {"problem": rbdae.Problem, "matrices": matrices.Matrices}
    where = "rbdae_papers." if name in ("kinematics", "step_equations", "step_values") else "rbdae.rotations."
    where = "rbdae_papers.null_space." if name == "euler_map" else where
    return classes.get(name) or importlib.import_module(where + name)


@pytest.mark.parametrize("document", SECTIONS)
def test_functions_and_tests_exist(document):
    missing = []
    for line in itertools.chain(*lines(document).values()):
        for name in re.findall(r"`(\w+\.\w+)`", line[2]):
            module, function = name.split(".")
            if not hasattr(owner_of(module), function):
                missing.append(name)
        for form in re.findall(r"`([\w-]+)`", line[2]) if "formulation" in line[2] else ():
            if form not in rbdae.formulations.FORMULATIONS:
                missing.append(form)
        for chart in re.findall(r"chart `([\w-]+)`", line[2]):
            if chart not in importlib.import_module("rbdae.rotations").CHARTS:
                missing.append(chart)
        missing += [name for name in re.findall(r"`(test_\w+)`", line[3]) if name not in names_of_tests()]
    assert not missing
