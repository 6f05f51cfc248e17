"""Finished runs are on disk: a study that is killed continues, loses nothing, and runs nothing twice."""

from __future__ import annotations

import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import rbdae
from rbdae import study

# runs of a tenth of a second or so: the largest step makes them as long as one likes
FEW = {
    "formulations": ["index-0"],
    "rotations": ["quaternion", "directors"],
    "velocities": ["coordinate"],
    "solvers": ["scipy:RK45"],
    "tolerances": [1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8],
    "repeats": 1,
    "options": {"scipy:RK45": {"max_step": 3e-4}},
}
T_END = 0.3

CHILD = f"""
import rbdae
rbdae.compare(rbdae.models.heavy_top(), {T_END}, resume="run.jsonl", **{FEW!r})
"""


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().splitlines(keepends=True) if path.exists() else []


def cases(path: Path) -> Counter[str]:
    """How often each run is in a file."""
    found = [json.loads(line) for line in lines(path)]
    return Counter(json.dumps([r["run"]["case"][k] for k in ("rotation", "tolerance")]) for r in found if "run" in r)


def test_a_study_that_is_killed_continues(tmp_path):
    path = tmp_path / "run.jsonl"
    child = subprocess.Popen([sys.executable, "-c", CHILD], cwd=tmp_path)
    until = time.monotonic() + 120.0
    while len(lines(path)) < 4 and child.poll() is None and time.monotonic() < until:
        time.sleep(0.005)
    os.kill(child.pid, signal.SIGKILL)
    assert child.wait() == -signal.SIGKILL
    before = lines(path)
    done = sum(line.endswith(b"\n") for line in before) - 1  # the first is that of the reference
    assert 3 <= done < 12
    with open(path, "ab") as file:  # what another kill may leave
        file.write(before[-1][: len(before[-1]) // 2])
    found = rbdae.compare(rbdae.models.heavy_top(), T_END, resume=path, **FEW)
    assert found.resumed == done and len(found.rows) == 12
    assert all(row.failure == "" for row in found.rows)
    assert set(cases(path).values()) == {1} and len(cases(path)) == 12
    assert lines(path)[: done + 1] == before[: done + 1]
    again = rbdae.compare(rbdae.models.heavy_top(), T_END, resume=path, **FEW)
    assert again.resumed == 12 and again.rows == found.rows
    assert again.frame.equals(found.frame)


ONE = {
    "formulations": ["index-0"],
    "rotations": ["quaternion"],
    "velocities": ["coordinate"],
    "solvers": ["scipy:RK45"],
}


def top(name: str = "top", spin: float = 20.0, law=None) -> rbdae.System:
    system = rbdae.System()
    body = system.add_body(name, mass=1.0, inertia=(2.0, 2.0, 1.0), pivot=(0, 0, 0), angular_velocity=(0, 1, spin))
    if law is not None:
        system.add_force(rbdae.forces.Torque(body, law))
    return system


def gusts(t):
    return (0.1 * t, 0.0, 0.0)


def other_gusts(t):
    return (0.2 * t, 0.0, 0.0)


def test_runs_of_another_mechanism_end_or_reference_are_kept_apart(tmp_path):
    path = tmp_path / "run.jsonl"

    def resumed(system: rbdae.System, t_end: float = 0.05, **more) -> int:
        return rbdae.compare(system, t_end, resume=path, tolerances=[1e-4], **ONE, **more).resumed

    assert resumed(top()) == 0
    assert resumed(top()) == 1
    assert resumed(top(spin=21.0)) == 0
    assert resumed(top(), 0.06) == 0
    assert resumed(top(law=gusts)) == 0
    assert resumed(top(law=other_gusts)) == 0  # its code differs by a number
    assert resumed(top(), reference=study.reference(top(), 0.05)) == 0
    assert resumed(top()) == 1


def test_the_fingerprint_is_that_of_the_content():
    base = study.fingerprint(top(law=gusts))
    assert base == study.fingerprint(top(law=gusts)) == study.fingerprint(pickle.loads(pickle.dumps(top(law=gusts))))
    others = [top(law=other_gusts), top(), top(spin=1.0, law=gusts), top(law=lambda t: (0.0, 0.0, 0.0))]
    factors = [1.0, 2.0]
    others += [top(law=lambda t, k=k: (k, 0.0, 0.0)) for k in factors]
    assert len({base, *map(study.fingerprint, others)}) == 1 + len(others)
    for model in rbdae.models.MODELS.values():
        assert study.fingerprint(model()) == study.fingerprint(model())
    assert len({study.fingerprint(model()) for model in rbdae.models.MODELS.values()}) == len(rbdae.models.MODELS)
