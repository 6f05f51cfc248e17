"""Code of one model is shared by problems with the same contents, and by no others."""

from __future__ import annotations

import cases
import inside
import numpy as np
import pytest
import traced_cases
from cases import Pairing
from inside import traced, with_unit_masses

import rbdae


def _formulated() -> rbdae.Problem:
    return cases.formulate(cases.skew_top(), Pairing("index-0", "quaternion", "angular"))


def test_other_masses_have_code_of_their_own():
    """The same memory and selection, other bodies: code of one must not serve the other, in either order."""
    problem = _formulated()
    entry, shapes = problem.workspace.settings.kernels.rates, {"y": (problem.n,), "out": (problem.n,)}
    found = []
    for workspace in (problem.workspace, with_unit_masses(problem.workspace)):
        kernel = traced.traced(workspace, entry, shapes, otherwise=lambda: None)
        rates, wanted = np.empty(problem.n), np.empty(problem.n)
        kernel.call(0.0, problem.y0, rates)
        inside.in_python(workspace, entry)(0.0, problem.y0, wanted)
        np.testing.assert_allclose(rates, wanted, rtol=1e-12, atol=1e-12)
        found.append(rates)
    assert np.abs(found[0] - found[1]).max() > 1.0


def test_equal_problems_share_code():
    codes = []
    for problem in (_formulated(), _formulated()):
        assert problem.callbacks.code("rhs") == "machine"
        codes += [
            code
            for key, code in problem.workspace.memory.recorded.items()
            if key[0] is problem.workspace.settings.kernels.rates
        ]
    assert len(codes) == 2 and codes[0] is codes[1]


def test_problems_share_factors_where_they_have_the_same_pivots():
    """Pivots are chosen at the start, with the numbers of the model: each problem has those that it has alone."""
    found = []
    for spin in (3.0, 3.0, 4.0, 0.0):
        system = rbdae.System(gravity=(0.0, 0.0, -9.81))
        top = system.add_body(
            "top", mass=2.0, inertia=(0.3, 0.3, 0.1), position=(0.0, 0.0, 1.0), angular_velocity=(0.1, 0.0, spin)
        )
        system.add_joint(rbdae.joints.Spherical(system.ground, top, at_b=(0.0, 0.0, -1.0)))
        problem = rbdae.formulate(system, "index-2")
        assert problem.callbacks.factors().recorded
        found += [code for key, code in problem.workspace.memory.recorded.items() if key[0] == "factors"]
        with pytest.MonkeyPatch.context() as patch:
            inside.forget_code(patch, on_disk=False)
            alone = rbdae.formulate(system, "index-2").callbacks.factors().order.pivots
        assert found[-1].order.pivots == alone
    first, equal, *others = found
    assert first is equal
    for code in others:
        assert (code is first) == (code.order.pivots == first.order.pivots)


def counted_plans(patch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the matrices whose pivots are chosen from here on."""
    calls: list[int] = []
    for module in (inside.recorded_factors, inside.machine_factors):
        plan = module.plan
        patch.setattr(module, "plan", lambda n, samples, plan=plan: (calls.append(n), plan(n, samples))[1])
    return calls


def test_pivots_of_a_structure_are_chosen_once(monkeypatch, tmp_path):
    """For other masses, and, from the disk, in another process, which records nothing either."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    inside.forget_code(monkeypatch)
    calls = counted_plans(monkeypatch)
    for first in (True, False):
        inside.forget_code(monkeypatch)
        if not first:
            inside.record_nothing(monkeypatch)
        problem = rbdae.formulate(rbdae.models.linked_bodies(), "index-2")
        for mass in (10.1, 10.2, 10.3):
            other = problem.with_parameters({"first.mass": mass})
            assert other.callbacks.factors().recorded
            assert rbdae.solve(other, (0.0, 0.01), solver="sundials:ida").success
        assert len(calls) == 1


def test_the_values_of_drives_do_not_make_code_anew():
    """Kernels write them into the joints of a selection of its own, whose other numbers tell codes apart."""
    problem = traced_cases.Case("redundant-1", Pairing("index-2", "quaternion", "angular")).problem("auto")
    assert problem.redundant
    out = np.empty(problem.n)
    for t in (0.1, 0.2, 0.3):
        problem.callbacks.residual(t, problem.y0, problem.yd0, out)
        problem.natural(t, problem.y0)
        problem.energy(t, problem.y0)
    names = [key[0].name for key in problem.workspace.memory.recorded]
    assert len(names) == len(set(names))


def _inclined(turned: float) -> rbdae.System:
    """A block on an inclined rail: the sine of the angle by which it is turned is a sum in its equations."""
    system = rbdae.System()
    block = system.add_body(
        "block", mass=2.0, inertia=(1.0, 1.3, 1.7), orientation=(np.cos(turned / 2.0), 0.0, np.sin(turned / 2.0), 0.0)
    )
    axis_a, axis_b = ((np.cos(angle), 0.0, np.sin(angle)) for angle in (0.4, 0.4 + turned))
    system.add_joint(rbdae.joints.Prismatic(system.ground, block, axis_a=axis_a, axis_b=axis_b))
    return system


@pytest.mark.parametrize("form", ["index-2", "index-1", "ggl"])
def test_sums_that_vanish_in_one_model_alone(form):
    """Code divides by a sum of its numbers, and the second model, where it is zero, has the same structure: NaN."""
    for turned in (0.3, 0.0):
        one, other = (cases.formulated(_inclined(turned), form, code=code) for code in ("auto", "plain"))
        y = one.y0 + 0.01 * np.sin(np.arange(one.n))
        J, wanted = (each.jacobian(0.0, y, one.yd0, 1.3) for each in (one, other))
        np.testing.assert_allclose(J, wanted, rtol=0.0, atol=1e-14)
