"""`load` refuses damaged files by name, whatever was damaged, and the solution of another mechanism."""

from __future__ import annotations

import io
from typing import Any

import cases
import numpy as np
import pytest
from cases import count
from inside import twin

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


def _parts(data: bytes) -> dict[str, Any]:
    with np.load(io.BytesIO(data)) as stored:
        return {name: stored[name] for name in stored}


def _bytes(parts: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **parts)
    return out.getvalue()


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
@pytest.mark.parametrize("seed", range(count(100, 500)))
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


def test_a_file_with_another_content_is_refused(saved, tmp_path):
    """Each array, the metadata, and a part that is missing."""
    problem, _, data = saved
    parts, path = _parts(data), tmp_path / "damaged.npz"
    for name, array in parts.items():
        if array.dtype.kind == "U":
            changed = np.array(str(array).replace("0", "1", 1))
        else:
            changed = array + 1j
        for other in ({**parts, name: changed}, {key: each for key, each in parts.items() if key != name}):
            path.write_bytes(_bytes(other))
            with pytest.raises(ValueError, match=r"damaged\.npz is damaged"):
                rbdae.load(path, problem)


@pytest.mark.parametrize(
    ("path", "kind", "words"),
    [
        (3, TypeError, "path must be the name of a file, got 3"),
        (None, TypeError, "path must be"),
        (b"run.npz", TypeError, "path must be"),
        ("", ValueError, "path must be the name of a file"),
        ("a\0b", ValueError, "path must be the name of a file"),
        ("there_is_no_such_file.npz", FileNotFoundError, "there_is_no_such_file"),
    ],
)
def test_what_is_no_path_is_refused(path, kind, words):
    with pytest.raises(kind, match=words):
        rbdae.load(path)


def test_a_problem_of_another_kind_is_refused(saved, tmp_path):
    path = saved[1].save(tmp_path / "run")
    with pytest.raises(TypeError, match=r"load: problem must be made by rbdae\.formulate.*, got 3; formulate"):
        rbdae.load(path, 3)


CHANGES: dict[str, tuple[dict[str, Any], str]] = {
    "mass": ({"mass": 1.25}, "the mass of body 'bar0'"),
    "inertia": ({"inertia": 1.5 * cases.INERTIA}, "the inertia of body 'bar0'"),
    "centre": ({"center_of_mass": (0.1, 0.1, -0.1)}, "the centre of mass of body 'bar0'"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_the_solution_of_another_mechanism_with_the_same_labels_is_refused(change, saved, tmp_path):
    path = saved[1].save(tmp_path / "run")
    values, words = CHANGES[change]
    other = _changed(values)
    problem = rbdae.formulate(other, "null-space", consistent="project")
    assert problem.labels == saved[0].labels
    with pytest.raises(ValueError, match=f"solved for another mechanism: {words} differs"):
        rbdae.load(path, problem)


def test_other_joints_forces_and_gravity_are_another_mechanism(tmp_path):
    def system(stiffness: float = 3.0, gravity: float = -9.81, arm: float = 1.0) -> rbdae.System:
        out = rbdae.System(gravity=(0, 0, gravity))
        body = out.add_body("a", mass=1.0, inertia=(1, 1, 1), position=(1, 0, 0))
        out.add_joint(rbdae.joints.Revolute(out.ground, body, axis_a=(0, 1, 0), axis_b=(0, 1, 0), at_b=(-arm, 0, 0)))
        out.add_force(rbdae.forces.Bushing(body, stiffness=stiffness))
        return out

    problem = rbdae.formulate(system(), "index-1")
    path = rbdae.solve(problem, (0.0, 0.01), solver="sksundae:ida").save(tmp_path / "run")
    assert rbdae.load(path, rbdae.formulate(system(), "index-1")).problem is not None
    for changes, words in (({"stiffness": 4.0}, "bushing 1"), ({"gravity": -9.8}, "gravity"), ({"arm": 1.1}, "joint")):
        with pytest.raises(ValueError, match=f"another mechanism: .*{words}"):
            rbdae.load(path, rbdae.formulate(system(**changes), "index-1", consistent="project"))


def _changed(values: dict[str, Any]) -> rbdae.System:
    """The loop with another first body, where it was."""
    loop = cases.built("loop")
    out = rbdae.System(gravity=loop.gravity)
    made = {"ground": out.ground}
    for k, body in enumerate(loop.bodies):
        given = {
            "mass": body.mass,
            "inertia": body.inertia,
            "center_of_mass": body.center_of_mass,
            "position": body.position,
            "orientation": body.orientation,
            "velocity": body.velocity,
            "angular_velocity": body.angular_velocity,
        }
        made[body.name] = out.add_body(body.name, **(given | (values if k == 0 else {})))
    for joint in loop.joints:
        out.add_joint(twin(joint, a=made[joint.a.name], b=made[joint.b.name]))
    return out
