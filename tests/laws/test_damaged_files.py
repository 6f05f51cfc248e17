"""`load` refuses damaged files by name, whatever was damaged, and the solution of another mechanism."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import cases
import numpy as np
import pytest
from cases import count

import rbdae

WRONG: list[Any] = [None, -3, 1.5, "wrong", [], {}, [None], True, float("nan"), [1.0, "two"], {"a": 1}, 10**30]
ARRAYS: list[Callable[[Any], Any]] = [
    lambda a: np.full_like(a, np.nan, dtype=float),
    lambda a: np.where(np.arange(a.size).reshape(a.shape) == a.size // 2, np.inf, a),
    lambda a: a[..., :-1],
    lambda a: a.reshape(1, *a.shape),
    lambda a: a.ravel()[:1],
    lambda a: np.array(7),
    lambda a: a + 1j,
    lambda a: a.astype(str),
    lambda a: np.array("text"),
    lambda a: a[::-1] - 3.0,
    lambda a: a != 0,
    lambda a: np.zeros(0),
    lambda a: a.astype("datetime64[s]") if a.dtype.kind == "i" else a.astype("c16"),
]


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[rbdae.Problem, rbdae.Solution, bytes]:
    """A run with events and selections, and its file."""
    problem = rbdae.formulate(cases.built("loop"), "null-space", consistent="project")

    def event(t: float, y: Any) -> float:
        return t - 0.013

    times = np.linspace(0.0, 0.03, 7)
    solution = rbdae.solve(problem, (0.0, 0.03), solver="scipy:RK45", t_eval=times, events=event)
    path = solution.save(tmp_path_factory.mktemp("runs") / "run.npz")
    return problem, rbdae.load(path, problem), path.read_bytes()


def _parts(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data)) as stored:
        return {name: stored[name] for name in stored}


def _bytes(parts: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **parts)
    return out.getvalue()


def _damaged(data: bytes, rng: np.random.Generator) -> tuple[str, bytes]:
    """What was done, and the bytes."""
    kind = str(rng.choice(["bits", "cut", "block", "array", "missing", "metadata", "stats", "other"]))
    raw = bytearray(data)
    at = int(rng.integers(len(raw)))
    if kind == "bits":
        for k in rng.integers(len(raw), size=int(rng.integers(1, 5))):
            raw[k] ^= 1 << int(rng.integers(8))
    elif kind == "cut":
        raw = raw[:at]
    elif kind == "block":
        raw[at : at + 40] = rng.bytes(40)
    elif kind == "other":
        raw = bytearray(rng.choice([b"", b"text", b"PK\x05\x06" + 18 * b"\0", rng.bytes(300), b"\x93NUMPY\x01\x00"]))
    else:
        parts = _parts(data)
        name = str(rng.choice([key for key in parts if key != "metadata"]))
        if kind == "missing":
            name = str(rng.choice(list(parts)))
            del parts[name]
        elif kind == "array":
            k = int(rng.integers(len(ARRAYS)))
            parts[name] = ARRAYS[k](parts[name])
            kind = f"array {k}"
        else:
            metadata = json.loads(str(parts["metadata"]))
            of = metadata if kind == "metadata" else metadata[str(rng.choice(["stats", "problem"]))]
            name = str(rng.choice(list(of)))
            of[name] = WRONG[int(rng.integers(len(WRONG)))]
            kind = f"{kind} {of[name]!r}"
            parts["metadata"] = np.array(json.dumps(metadata))
        return f"{kind}: {name}", _bytes(parts)
    return kind, bytes(raw)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(40, 500)))
def test_a_damaged_file_is_refused_or_gives_the_same_solution(seed, saved, tmp_path):
    problem, whole, data = saved
    what, raw = _damaged(data, np.random.default_rng((seed, 7)))
    path = tmp_path / "damaged.npz"
    path.write_bytes(raw)
    for given in (None, problem):
        try:
            found = rbdae.load(path, given)
        except ValueError as error:
            assert "damaged.npz" in str(error), what
            assert ";" in str(error), (what, str(error))  # a remedy
            continue
        _assert_sound(found, whole, what)


def _assert_sound(found: rbdae.Solution, whole: rbdae.Solution, what: str) -> None:
    """What is read is what was saved, but for a value that no check can know (a message, a count)."""
    assert np.array_equal(found.y, whole.y) or what.startswith("array"), what
    assert np.isfinite(found.t).all(), what
    assert np.isfinite(found.y).all(), what
    assert found.y.shape == (len(found.t), whole.y.shape[1]), what
    assert np.all(np.diff(found.t) >= 0.0), what
    assert len(found.events) in (0, 1), what
    if found.problem is not None:
        assert len(found.energy.total) == len(found.t), what


def test_other_numbers_are_another_mechanism(tmp_path):
    """Of bodies, joints, forces and gravity, with the same labels; no other kind of problem either."""

    def system(
        stiffness: float = 3.0, gravity: float = -9.81, arm: float = 1.0, mass: float = 1.0, inertia: float = 1.0,
        x: float = 0.0,
    ) -> rbdae.System:  # fmt: skip
        out = rbdae.System(gravity=(0, 0, gravity))
        given = {"inertia": (1, inertia, 1), "position": (1, 0, 0), "center_of_mass": (x, 0, 0)}
        body = out.add_body("a", mass=mass, **given)
        out.add_joint(rbdae.joints.Revolute(out.ground, body, axis_a=(0, 1, 0), axis_b=(0, 1, 0), at_b=(-arm, 0, 0)))
        out.add_force(rbdae.forces.Bushing(body, stiffness=stiffness))
        return out

    problem = rbdae.formulate(system(), "index-1")
    path = rbdae.solve(problem, (0.0, 0.01), solver="sksundae:ida").save(tmp_path / "run")
    assert rbdae.load(path, rbdae.formulate(system(), "index-1")).problem is not None
    with pytest.raises(TypeError, match=r"problem must be .* got 3"):
        rbdae.load(path, 3)
    for changes, words in (
        ({"stiffness": 4.0}, "bushing 1"),
        ({"gravity": -9.8}, "gravity"),
        ({"arm": 1.1}, "joint"),
        ({"mass": 1.25}, "the mass of body 'a'"),
        ({"inertia": 1.5}, "the inertia of body 'a'"),
        ({"x": 0.1}, "the centre of mass of body 'a'"),
    ):
        with pytest.raises(ValueError, match=f"another mechanism: .*{words}"):
            rbdae.load(path, rbdae.formulate(system(**changes), "index-1", consistent="project"))
