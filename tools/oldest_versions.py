"""The oldest versions that pyproject.toml declares, as requirements that name them exactly.

    python tools/oldest_versions.py                             of the base install
    python tools/oldest_versions.py study                       of this extra, too
    python tools/oldest_versions.py study --without solve_dae   without a package that needs newer ones of the others

`pip install -r` takes what is printed. A requirement without a lower bound is printed as it stands.
"""

from __future__ import annotations

import argparse
import re
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"

LOWER = re.compile(r"\s*>=\s*([0-9][0-9A-Za-z.]*)[^;]*")
"""The part of a requirement that names its oldest version, with whatever bounds follow."""


def oldest(requirement: str) -> str:
    """The requirement with its lower bound as the only version: "numpy>=1.26" becomes "numpy==1.26"."""
    return LOWER.sub(r"==\1", requirement, count=1)


def requirements(extras: list[str], path: Path = PROJECT) -> list[str]:
    """Those of the base install and of the extras; an extra that names rbdae's own extras brings theirs.

    Raises ValueError for an extra that the project does not have.
    """
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    every: dict[str, list[str]] = project["optional-dependencies"]
    lines = list(project["dependencies"])
    wanted, seen = list(extras), set()
    while wanted:
        extra = wanted.pop()
        if extra not in every:
            raise ValueError(f"extra {extra!r} is not in {path.name}; it has {', '.join(every)}")
        for line in [] if extra in seen else every[extra]:
            own = re.fullmatch(rf"{re.escape(project['name'])}\[(.*)\]", line)
            if own:
                wanted += own[1].replace(" ", "").split(",")
            else:
                lines.append(line)
        seen.add(extra)
    return sorted({oldest(line) for line in lines})


def main() -> None:
    parser = argparse.ArgumentParser(description="The oldest versions that pyproject.toml declares.")
    parser.add_argument("extras", nargs="*")
    parser.add_argument("--without", nargs="*", default=[], metavar="PACKAGE")
    options = parser.parse_args()
    for line in requirements(options.extras):
        if re.split(r"[<>=!~ \[]", line)[0] not in options.without:
            print(line)


if __name__ == "__main__":
    main()
