"""The origin of results: versions, machine, date, and which mechanism it was."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Self, final

from rbdae._version import __version__
from rbdae.laws.content import content_hash
from rbdae.solving.registry import adapter
from rbdae.system import System


def fingerprint(system: System) -> str:
    """24 hexadecimal digits of all that a mechanism is, the users' functions with their code; the same in every process
    of one version of Python for the same mechanism.

    Raises
    ------
    TypeError
        for a function or an object of the user's whose content cannot be read
    """
    return content_hash(system)


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """A record of what was run where.

    Attributes
    ----------
    fingerprint : of the mechanism, by its content
    bodies : their names
    versions : of Python, rbdae, numpy, scipy, llvmlite and the solver packages
    machine : operating system, processor and number of cores
    date : start of the study, UTC, ISO 8601
    """

    fingerprint: str
    bodies: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    date: str = ""

    @classmethod
    def of(cls, system: System, solvers: Iterable[str]) -> Self:
        """Here and now."""
        versions = {"python": platform.python_version(), "rbdae": __version__}
        versions |= {package: metadata.version(package) for package in ("numpy", "scipy", "llvmlite")}
        for package in sorted({solver.partition(":")[0] for solver in solvers} - {"scipy"}):
            versions[package] = adapter(package).version() or ""
        return cls(
            fingerprint(system),
            tuple(body.name for body in system.bodies),
            versions,
            f"{platform.platform()}, {_processor()}, {os.cpu_count()} cores",
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )


def _processor() -> str:
    """The processor's name, as far as the system tells."""
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
