"""`load` refuses damaged files by name, whatever was damaged, and the solution of another mechanism."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from cases import count

import rbdae


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


def _damaged(data: bytes, rng: np.random.Generator) -> bytes:
    raw = bytearray(data)
    at = int(rng.integers(len(raw)))
    kind = rng.integers(4)
    if kind == 0:
        for k in rng.integers(len(raw), size=int(rng.integers(1, 5))):
            raw[k] ^= 1 << int(rng.integers(8))
    elif kind == 1:
        raw = raw[:at]
    elif kind == 2:
        raw[at : at + 40] = rng.bytes(40)
    else:
        raw = bytearray(rng.choice([b"", b"text", b"PK\x05\x06" + 18 * b"\0", rng.bytes(300), b"\x93NUMPY\x01\x00"]))
    return bytes(raw)


@pytest.mark.sampled
@pytest.mark.parametrize("seed", range(count(40, 500)))
def test_a_damaged_file_is_refused_or_gives_the_same_solution(seed, saved, tmp_path):
    problem, whole, data = saved
    path = tmp_path / "damaged.npz"
    path.write_bytes(_damaged(data, np.random.default_rng((seed, 7))))
    for given in (None, problem):
        try:
            found = rbdae.load(path, given)
        except ValueError as error:
            assert "damaged.npz" in str(error) and ";" in str(error)
            continue
        np.testing.assert_array_equal(found.t, whole.t)
        np.testing.assert_array_equal(found.y, whole.y)
        assert (found.message, found.stats) == (whole.message, whole.stats)


def test_compressed_arrays_are_not_unpacked(saved, tmp_path):
    """A file of some kilobytes may have gigabytes in it; those of runs are as long as what is in them."""
    problem, _, data = saved
    whole, small = tmp_path / "whole.npz", tmp_path / "small.npz"
    whole.write_bytes(data)
    with np.load(whole) as arrays:
        np.savez_compressed(small, **arrays)
    assert rbdae.load(whole, problem).success
    with pytest.raises(ValueError, match=r"small\.npz.*compressed"):
        rbdae.load(small, problem)


def test_other_numbers_are_another_mechanism(tmp_path):
    """Of bodies, joints, forces and gravity, with the same labels; no other kind of problem either."""

    def system(
        stiffness: float = 3.0,
        gravity: float = -9.81,
        arm: float = 1.0,
        mass: float = 1.0,
        inertia: float = 1.0,
        x: float = 0.0,
    ) -> rbdae.System:
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
        ({"stiffness": 4.0}, r"force element 1 \(stiffness\)"),
        ({"gravity": -9.8}, "gravity"),
        ({"arm": 1.1}, "joint"),
        ({"mass": 1.25}, "the mass of body 'a'"),
        ({"inertia": 1.5}, "the inertia of body 'a'"),
        ({"x": 0.1}, "the centre of mass of body 'a'"),
    ):
        with pytest.raises(ValueError, match=f"another mechanism: .*{words}"):
            rbdae.load(path, rbdae.formulate(system(**changes), "index-1", consistent="project"))
