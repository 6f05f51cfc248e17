"""The versions of what a report was written by."""

from __future__ import annotations

import platform
import shlex
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path

from rbdae._version import __version__

_PACKAGES = ("numpy", "scipy", "llvmlite")


def versions(packages: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """Names and versions: rbdae, what it needs, some more packages with theirs, Python and the system."""
    found = {"rbdae": __version__} | {name: metadata.version(name) for name in _PACKAGES} | dict(packages)
    found |= {
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{platform.platform()}, {platform.machine()}",
    }
    return tuple(found.items())


def command() -> str:
    """How this process was started; empty for an interactive one."""
    program = Path(sys.argv[0]).name if sys.argv and sys.argv[0] else ""
    return shlex.join([program, *sys.argv[1:]]) if program and program != "-c" else ""


__all__ = ["command", "versions"]
