"""Assembly: rough placements are closed with the least mass-weighted displacement, what is held stays, and what cannot
be closed is refused."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
from scipy.linalg import block_diag, null_space
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.joints import Spherical


def _violation(problem: rbdae.Problem) -> tuple[float, float]:
    g = problem.constraints(problem.t0, problem.y0)
    return float(np.abs(g.position).max()), float(np.abs(g.velocity).max())


@pytest.mark.parametrize("hold", [(), ("a",), (("b", "orientation"),), (("c", "z"), ("a", "y"))], ids=str)
@pytest.mark.parametrize("closing", ["plain", "redundant"])
def test_a_rough_placement_closes(closing, hold):
    problem = rbdae.formulate(
        cases.four_bar(closing), "index-0", hold=hold, redundant="minimum-norm", consistent="project"
    )
    assert max(_violation(problem)) < 3e-12
    assert problem.assembly.moved.max() > 0.01


def _turning(spin: float = 0.0) -> rbdae.System:
    def initial(body):
        return {"angular_velocity": (0.0, 0.0, spin if body.name == "a" else 0.0), "velocity": (0.0, 0.0, 0.0)}

    return cases.rebuild(cases.four_bar(), initial=initial)


def test_what_is_held_does_not_move():
    rough = {body.name: body for body in _turning().bodies}
    done = rbdae.assemble(_turning(), hold=["a"])
    np.testing.assert_array_equal(done.position[0], rough["a"].position)
    assert done.moved[0] == 0.0
    assert done.turned[0] < 1e-15
    assert done.moved[1:].max() > 0.01
    done = rbdae.assemble(_turning(), hold=[("c", "z")])
    assert done.position[2, 2] == rough["c"].position[2] and done.moved.max() > 0.01
    done = rbdae.assemble(_turning(), hold=[("b", "orientation")])
    np.testing.assert_allclose(done.orientation[1], rough["b"].orientation, rtol=0, atol=1e-15)


def test_held_velocities_are_kept_and_drive_the_rest():
    done = rbdae.assemble(_turning(2.0), hold=[("a", "orientation")])
    np.testing.assert_array_equal(done.angular_velocity[0], (0.0, 0.0, 2.0))
    free = rbdae.assemble(_turning(2.0))
    assert 0.1 < free.angular_velocity[0, 2] < 2.0 - 1e-3  # shared with the others


def _nudged(system: rbdae.System, size: float, rng: np.random.Generator) -> rbdae.System:
    """The assembled system with its bodies displaced a little, at rest."""
    done = rbdae.assemble(system)

    def initial(body):
        k = done.names.index(body.name)
        turn = Rotation.from_quat(done.orientation[k][[1, 2, 3, 0]])
        turn = turn * Rotation.from_rotvec(size * rng.standard_normal(3))
        place = done.position[k] - turn.apply(np.array(body.center_of_mass)) + size * rng.standard_normal(3)
        return {"orientation": turn, "position": place, "velocity": np.zeros(3), "angular_velocity": np.zeros(3)}

    return cases.rebuild(system, initial=initial)


@pytest.mark.parametrize("make", [cases.four_bar, cases.loop, lambda: cases.four_bar("redundant")], ids=["4", "3", "r"])
def test_the_least_mass_is_moved(make, rng):
    """M times the displacement has no part along motions that the joints allow, to first order."""
    system = _nudged(make(), 1e-5, rng)
    done = rbdae.assemble(system)
    problem = rbdae.formulate(system, "index-0", redundant="minimum-norm", consistent="project")
    G = inside.constraint_gradient(problem, 0.0, problem.y0)
    M = block_diag(*(m for b in problem.model.bodies[: problem.model.n] for m in (b["mass"] * np.eye(3), b["inertia"])))
    d = []
    for k, body in enumerate(system.bodies):
        before = Rotation.from_quat(body.orientation[[1, 2, 3, 0]])
        after = Rotation.from_quat(done.orientation[k][[1, 2, 3, 0]])
        d.append(done.position[k] - body.position - before.apply(np.array(body.center_of_mass)))
        d.append((before.inv() * after).as_rotvec())
    d = np.concatenate(d)
    assert 1e-6 < np.abs(d).max() < 1e-3
    free = null_space(G, rcond=1e-8)
    assert free.shape[1] > 0
    assert np.abs(free.T @ M @ d).max() < 1e-3 * np.abs(M @ d).max()


def test_the_report_is_what_happened():
    system = cases.four_bar("redundant")
    done = rbdae.assemble(system)
    # the end of b at (1.1, 1, 0.05), that of c at (1.02, 1, 0); joints A, B, D gape less
    assert done.gap == pytest.approx(0.08, rel=1e-12)
    assert 2 <= done.steps <= 10
    for k, body in enumerate(system.bodies):
        assert done.names[k] == body.name
        assert done.moved[k] == pytest.approx(np.linalg.norm(done.position[k] - body.position), abs=1e-15)
        before, after = (Rotation.from_quat(q[[1, 2, 3, 0]]) for q in (body.orientation, done.orientation[k]))
        assert done.turned[k] == pytest.approx((before.inv() * after).magnitude(), abs=1e-12)
    assert not done.velocity_change.any() and done.rate_gap == 0.0
    assert len(done.redundant) == 3
    turning = rbdae.assemble(_turning(2.0))
    assert turning.velocity_change[0] == pytest.approx(np.linalg.norm(turning.velocity[0]), abs=1e-12)
    change = np.linalg.norm(turning.angular_velocity - ((0, 0, 2.0), (0, 0, 0), (0, 0, 0)), axis=1)
    np.testing.assert_allclose(turning.spin_change, change, atol=1e-12)
    assert turning.redundant == () and turning.rate_gap == pytest.approx(1.0, rel=1e-12)


@pytest.mark.parametrize("call", [rbdae.assemble, rbdae.formulate])
def test_a_loop_that_cannot_close_says_how_far_it_gapes(call):
    """A coupler of 4.5 m between cranks of 1 m on pivots 1 m apart: 1.5 m are missing in all."""
    system = cases.four_bar(length=4.0)
    with pytest.raises(
        ValueError, match=r"cannot be closed: at best a gap of (0\.\d+|1\.\d+) remains at joint '[A-D]'"
    ):
        call(system)
    with pytest.raises(ValueError, match=r"cannot be closed with what is held: .* \(before: 0\.08\)"):
        call(cases.four_bar(), hold=["a", "b", "c"])


def test_velocities_that_cannot_be_are_refused():
    """One crank turns, the other is held still."""
    spins = {"a": {"angular_velocity": (0.0, 0.0, 2.0)}}
    system = cases.closed(cases.four_bar(), lambda name: spins.get(name, {}))
    with pytest.raises(ValueError, match=r"no velocities satisfy the constraints: .* at joint '[A-D]'.* what is held"):
        rbdae.assemble(system, hold=["a", "c"])
    assert rbdae.assemble(system, hold=[("a", "orientation")]).angular_velocity[2, 2] != 0.0


def test_large_systems_take_the_sparse_projection():
    """A chain of bodies with more joint equations than a dense decomposition is for."""
    system = rbdae.System()
    last = system.ground
    for k in range(inside.LARGEST_ASSEMBLY // 3 + 1):
        body = system.add_body(f"b{k}", mass=1.0, inertia=(1, 1, 1), position=(k + 0.51, 0, 0))
        system.add_joint(Spherical(last, body, at_a=(0.5 if k else 0.0, 0, 0), at_b=(-0.5, 0, 0)))
        last = body
    problem = rbdae.formulate(system, "index-2", consistent="project")
    assert max(_violation(problem)) < 3e-12
    np.testing.assert_allclose(problem.assembly.moved, 0.01, rtol=0, atol=1e-12)
    assert {change.quantity for change in problem.assembly.changes} == {"position"}
    with pytest.raises(ValueError, match=rf"takes up to {inside.LARGEST_ASSEMBLY} joint equations"):
        rbdae.formulate(system, hold=["b0"])


def test_drives_are_assembled_at_their_time():
    for t0 in (0.0, 0.3, 0.5):
        done = rbdae.assemble(cases.driven(), t0=t0)
        problem = rbdae.formulate(cases.driven(), "index-0", t0=t0, consistent="project")
        assert max(_violation(problem)) < 1e-12
        at = done.position[done.names.index("cart")][0]
        assert at == pytest.approx(0.1 + 0.05 * np.sin(3 * t0), abs=1e-12)
        speed = done.velocity[done.names.index("cart")][0]
        assert speed == pytest.approx(0.15 * np.cos(3 * t0), abs=1e-12)
