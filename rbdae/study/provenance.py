"""The origin of results: versions, machine, date, and which mechanism it was."""

from __future__ import annotations

import datetime
import math
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Self, final

from rbdae._version import __version__
from rbdae.solving.registry import adapter
from rbdae.study.fingerprint import fingerprint
from rbdae.system import System

_PACKAGES = ("numpy", "scipy", "llvmlite")


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """A record of what was run where.

    Attributes
    ----------
    fingerprint : of the mechanism, by its content: other names of bodies make no other mechanism
    bodies : their names
    versions : of Python, rbdae, numpy, scipy, llvmlite and the solver packages
    machine : operating system, processor and number of cores
    date : start of the study, UTC, ISO 8601
    cores : how many processors there are; 0 if that is not known
    load : averages over 1, 5 and 15 minutes of the processes that wanted one, at the start of the study; empty where
        the system does not tell
    """

    fingerprint: str
    bodies: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: str = ""
    date: str = ""
    cores: int = 0
    load: tuple[float, ...] = ()

    @classmethod
    def of(cls, system: System, solvers: Iterable[str]) -> Self:
        """Here and now."""
        versions = {"python": platform.python_version(), "rbdae": __version__}
        versions |= {package: metadata.version(package) for package in _PACKAGES}
        for package in sorted({solver.partition(":")[0] for solver in solvers} - {"scipy"}):
            versions[package] = adapter(package).version() or ""
        return cls(
            fingerprint(system),
            tuple(body.name for body in system.bodies),
            versions,
            f"{platform.platform()}, {_processor()}, {os.cpu_count()} cores",
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
            os.cpu_count() or 0,
            tuple(value for value in load_averages() if math.isfinite(value)),
        )


def load_averages() -> tuple[float, float, float]:
    """Processes that want a processor, averages over 1, 5 and 15 minutes; not a number where the system does not
    tell."""
    try:
        return os.getloadavg()
    except (AttributeError, OSError):  # Windows has no such function
        return math.nan, math.nan, math.nan


def _processor() -> str:
    """The processor's name, as far as the system tells."""
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


__all__ = ["Provenance", "load_averages"]
