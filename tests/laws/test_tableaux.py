"""Methods from their tableaux: one of another package is a solver like ours; what a tableau may not say is refused."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from toy_tableau import BS32

import rbdae
from rbdae.machine.loops.methods import METHODS, register

END = 0.4
SOLVER = f"rbdae:{BS32.name}"


@pytest.fixture
def bs32():
    register(BS32)
    yield
    del METHODS[BS32.name]


@pytest.fixture(scope="module")
def top():
    return rbdae.formulate(rbdae.models.heavy_top(), "index-0")


@pytest.fixture(scope="module")
def exact(top):
    return rbdae.solve(top, (0.0, END), solver="rbdae:dop853", rtol=1e-13, atol=1e-13, t_eval=TIMES)


TIMES = np.linspace(0.0, END, 74)


def at_size(problem, h, **more):
    """A run with steps of one size."""
    return rbdae.solve(problem, (0.0, END), solver=SOLVER, rtol=0.9, atol=1.0, first_step=h, max_step=h, **more)


def test_a_method_of_another_package_is_listed(bs32):
    (found,) = [one for one in rbdae.solvers() if one.name == SOLVER]
    assert found.available and found.one_step and found.kinds == {"ode"}
    assert str(found) and "Bogacki-Shampine 3(2), explicit, its loop in machine code" in repr(found)
    with pytest.raises(ValueError, match="a method 'bs32' already"):
        register(BS32)


def test_its_order_at_steps_and_between_them(bs32, top, exact):
    """Three at both: the cubic through states and rates has order four inside a step."""
    ends, between = [], []
    for h in (END / 100, END / 200):
        run = at_size(top, h, t_eval=TIMES)
        assert run.success and run.stats.steps == round(END / h) and run.stats.rejected == 0
        assert run.stats.evaluations == 3 * run.stats.steps + 1  # the last stage is the first of the next step
        ends.append(np.abs(run.y[-1] - exact.y[-1]).max())
        between.append(np.abs(run.y - exact.y).max())
    assert np.log2(ends[0] / ends[1]) == pytest.approx(3.0, abs=0.15)
    assert np.log2(between[0] / between[1]) == pytest.approx(3.0, abs=0.25)
    assert between[1] < 1.1 * ends[1]  # the error grows: the dense output adds nothing to it


def test_its_error_estimate_holds_the_tolerance(bs32, top, exact):
    errors = [
        np.abs(rbdae.solve(top, (0.0, END), solver=SOLVER, rtol=tol, atol=tol).y[-1] - exact.y[-1]).max()
        for tol in (1e-4, 1e-6, 1e-8)
    ]
    assert errors[0] > 5.0 * errors[1] > 25.0 * errors[2]
    assert errors[2] < 1e-5


def test_projection_and_events(bs32):
    """In machine code and with Python after each step the same; on the constraints, with the zeros of DOP853."""
    problem = rbdae.formulate(rbdae.models.heavy_top(), "index-0")
    level = float(0.5 * (problem.y0[0] + rbdae.solve(problem, (0.0, END), solver="rbdae:dop853").y[-1][0]))

    def crossing(t, y):
        return y[0] - level

    given = {"rtol": 1e-7, "atol": 1e-7, "events": crossing, "projection": rbdae.Projection(), "t_eval": TIMES}
    inside, outside = (
        rbdae.solve(problem, (0.0, END), solver=SOLVER, progress=asked, **given) for asked in (False, lambda t: None)
    )
    assert inside.stats.steps == outside.stats.steps
    np.testing.assert_allclose(inside.y, outside.y, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(inside.events[0].t, outside.events[0].t, rtol=0, atol=1e-11)
    assert inside.stats.projections > 0 and inside.drift.position.max() < 1e-12
    wanted = rbdae.solve(problem, (0.0, END), solver="rbdae:dop853", **{**given, "rtol": 1e-12, "atol": 1e-12})
    assert len(inside.events[0].t) == len(wanted.events[0].t) > 0
    np.testing.assert_allclose(inside.events[0].t, wanted.events[0].t, rtol=0, atol=1e-4)


def test_code_on_disk_belongs_to_the_numbers():
    """Not to the name: another tableau of the same name has code of its own."""
    other = dataclasses.replace(BS32, error=(2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3 + 1e-9, -1 / 8 - 1e-9))
    assert other.made_of != BS32.made_of
    assert dataclasses.replace(BS32).made_of == BS32.made_of


@pytest.mark.parametrize(
    "change, said",
    [
        ({"b": (2 / 9, 1 / 3, 1 / 3)}, r"bs32: b must add up to 1\.0, got 0\.88"),
        ({"a": ((1 / 2,), (0.0, 1 / 4))}, r"bs32: the row of stage 3 must add up to 0\.75"),
        ({"error": (1.0, -0.5)}, "bs32: error must add up to 0"),
        ({"c": (1 / 2,)}, "bs32: c and a must have an entry for each stage"),
        ({"dense": 6 * ((1.0, -1.0),)}, "bs32: .*dense at most 5 rows"),
    ],
)
def test_wrong_tableaux_are_refused(change, said):
    with pytest.raises(ValueError, match=said):
        dataclasses.replace(BS32, **change)
