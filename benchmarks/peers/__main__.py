"""rbdae side by side with others, in one run on one core: times to reach the same errors against the same reference.

    python -m benchmarks.peers [--case heavy_top ...] [--peer rbdae ...] [--quick] [--json FILE] [--markdown FILE]

Peers that are not installed are named, and the run continues. `python -m pip install heyoka '.[peers]'` brings all
that come as wheels; C by hand needs gcc, SUNDIALS from C its headers.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import os
import platform
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import c_library, table
from .measure import Row, inside, rounds, scan
from .mechanisms import CASES, Mechanism
from .method import Compiled, Peer
from .missing import Missing
from .reference import reference

PEERS = {
    "c": "by_c",
    "sundials": "by_sundials",
    "rbdae": "by_rbdae",
    "numpy": "by_scipy",
    "numba": "by_numba",
    "casadi": "by_casadi",
    "heyoka": "by_heyoka",
    "exudyn": "by_exudyn",
    "diffrax": "by_diffrax",
    "mujoco": "by_mujoco",
    "pinocchio": "by_pinocchio",
    "drake": "by_drake",
}
"""Names of the command line, and the modules."""


def loaded(names: Sequence[str]) -> dict[str, Peer]:
    """The peers by name; their packages are imported when they are first asked for something."""
    return {name: importlib.import_module(f".{PEERS[name]}", __package__).PEER for name in names}


def measured(
    mechanism: Mechanism, peers: dict[str, Peer], missing: dict[str, str], options: argparse.Namespace
) -> dict[str, Any]:
    """Whole runs of one mechanism."""
    expected, difference = reference(mechanism)
    rows: list[Row] = []
    for name, peer in peers.items():
        if name in missing:
            continue
        try:
            methods = peer.methods(mechanism)
        except Missing as absent:
            missing[name] = str(absent)
            say(str(absent))
            continue
        for method in methods:
            row = scan(mechanism, peer.name, method, expected, options.longest)
            note = f" ({row.note})" if row.note else ""
            say(f"{mechanism.name}: {peer.name}, {method.name}: {len(row.points)} runs{note}")
            rows.append(row)
    rounds(rows, mechanism.targets, options.repeats, options.budget)
    records = table.whole_runs(rows, mechanism.targets)
    return {"case": mechanism.name, "targets": mechanism.targets, "references differ": difference, "methods": records}


def compiled(
    mechanism: Mechanism, peers: dict[str, Peer], missing: dict[str, str], repeats: int
) -> list[dict[str, Any]]:
    """Functions of one mechanism in a compiled loop."""
    found: list[tuple[str, Compiled]] = []
    for name, peer in peers.items():
        if name not in missing:
            found += [(peer.name, function) for function in peer.functions(mechanism)]
    found.sort(key=lambda entry: entry[1].name, reverse=True)
    times = inside(mechanism, [function for _, function in found], repeats)
    return [
        {"case": mechanism.name, "function": function.name, "peer": peer, "seconds": seconds}
        for (peer, function), seconds in zip(found, times, strict=True)
    ]


def say(text: str) -> None:
    """A line on what is done, apart from the table."""
    print(text, file=sys.stderr, flush=True)


def machine() -> dict[str, Any]:
    """Where it was measured."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    models = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return {
        "command": shlex.join(["python", "-m", "benchmarks.peers", *sys.argv[1:]]),
        "date": datetime.date.today().isoformat(),
        "processor": models[0] if models else platform.processor(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "gcc": c_library.version(),
        "load": os.getloadavg()[0],
    }


def arguments(given: Sequence[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--peer", nargs="+", choices=PEERS, default=list(PEERS))
    parser.add_argument("--quick", action="store_true", help="three rounds, methods that take over a second left out")
    parser.add_argument("--json", type=Path, help="a file for all that was measured")
    parser.add_argument("--markdown", type=Path, help="a file for the page, docs/peers.md")
    options = parser.parse_args(given)
    options.repeats, options.budget, options.longest = (3, 1.0, 1.0) if options.quick else (21, 5.0, 20.0)
    return options


def main(given: Sequence[str] | None = None) -> None:
    """Print the tables."""
    options = arguments(given)
    core = min(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else None
    if core is not None and given is None:  # nobody else's process is bound
        os.sched_setaffinity(0, {core})
    peers, missing = loaded(options.peer), dict[str, str]()
    cases, calls = [], []
    for name in options.case:
        mechanism = CASES[name]()
        cases.append(measured(mechanism, peers, missing, options))
        say(table.markdown(*(cases[-1][key] for key in ("case", "targets", "methods"))))  # a long run may be stopped
        try:
            c_library.library()
        except Missing as absent:
            say(f"no compiled loop: {absent}")
        else:
            calls += compiled(mechanism, peers, missing, options.repeats)
    versions = {peer.name: peer.version for name, peer in peers.items() if name not in missing and peer.version}
    text = "\n".join(table.markdown(c["case"], c["targets"], c["methods"]) for c in cases)
    text += "\nOne call inside a compiled loop\n\n" + table.functions(calls) if calls else ""
    text += "".join(f"\n{peers[name].name}: {why}\n" for name, why in missing.items())
    print(text)
    found = {"machine": machine(), "versions": versions, "missing": missing, "cases": cases, "calls": calls}
    if options.markdown:
        options.markdown.write_text(table.page(found))
    if options.json:
        options.json.write_text(json.dumps(found, indent=1))


if __name__ == "__main__":
    main()
