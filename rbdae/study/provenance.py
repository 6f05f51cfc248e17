"""Where results come from: versions, machine, date, and which mechanism it was."""

from __future__ import annotations

import datetime
import os
import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any, Self, final

from rbdae._version import __version__
from rbdae.solving.registry import adapter
from rbdae.study.fingerprint import fingerprint
from rbdae.system import System

_PACKAGES = ("numpy", "scipy", "numba")


@final
@dataclass(frozen=True, slots=True)
class Provenance:
    """What was run where.

    Attributes
    ----------
    fingerprint : of the mechanism, by its content: other names of bodies make no other mechanism
    bodies : their names
    versions : of Python, rbdae, numpy, scipy, numba and the solver packages
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
        versions |= {package: metadata.version(package) for package in _PACKAGES}
        for package in sorted({solver.partition(":")[0] for solver in solvers} - {"scipy"}):
            versions[package] = adapter(package).version() or ""
        return cls(
            fingerprint(system),
            tuple(body.name for body in system.bodies),
            versions,
            f"{platform.platform()}, {_processor()}, {os.cpu_count()} cores",
            datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        )

    @classmethod
    def of_record(cls, given: Mapping[str, Any]) -> Self:
        """From what `dataclasses.asdict` and JSON made of one."""
        return cls(
            str(given["fingerprint"]),
            tuple(given["bodies"]),
            dict(given["versions"]),
            str(given["machine"]),
            str(given["date"]),
        )


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


__all__ = ["Provenance"]
