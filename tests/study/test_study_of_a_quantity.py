"""Studies whose error is that of a named quantity: of an angle, with its turns."""

from __future__ import annotations

import json

import numpy as np
import pytest
import wheel

import rbdae
from rbdae import study

GIVEN = {
    "formulations": ["index-0"],
    "rotations": ["quaternion"],
    "velocities": ["angular"],
    "solvers": ["rbdae:dopri5"],
    "repeats": 1,
}


def test_the_error_is_that_of_the_angle_with_its_turns(tmp_path):
    system, pin = wheel.wheel()
    found = rbdae.compare(
        system, 5.0, tolerances=[1e-3, 1e-6], quantity=pin.angle, resume=tmp_path / "s.jsonl", **GIVEN
    )
    assert found.reference.quantity == "revolute-1.angle"
    for row in found.rows:
        run = rbdae.solve(
            rbdae.formulate(system, "index-0"), (0.0, 5.0), solver="rbdae:dopri5", rtol=row.case.tolerance,
            atol=row.case.tolerance,
        )  # fmt: skip
        wanted = abs(run.joints["revolute-1"].angle[-1] - wheel.angle(5.0)) / wheel.angle(5.0)
        assert wanted < 1.0 and np.isclose(row.errors.quantity, wanted, rtol=1e-3, atol=1e-12)
        assert row.errors.largest == row.errors.quantity != row.errors.position
    text = str(found)
    assert "is that of revolute-1.angle" in text and f"{found.rows[0].errors.quantity:.1e}" in text
    again = study.Comparison.from_json(found.to_json(tmp_path / "s.json"))
    assert again.rows == found.rows and again.reference.quantity == "revolute-1.angle"
    assert found.reference.axis == "error of revolute-1.angle, relative, at t = 5 s"
    assert json.loads((tmp_path / "s.json").read_text())["reference"]["quantity"] == "revolute-1.angle"
    resumed = rbdae.compare(
        system, 5.0, tolerances=[1e-3, 1e-6], quantity="revolute-1.angle", resume=tmp_path / "s.jsonl", **GIVEN
    )
    assert resumed.resumed == 2 and resumed.rows == found.rows
    own = study.Reference.from_solutions(run, quantity="revolute-1.angle")
    assert np.isnan(own.agreement.largest) and own.states[0].quantity[1] == pytest.approx(wheel.angle(5.0), rel=1e-4)
    with pytest.raises(ValueError, match=r"errors of the quantity = '', the study to 'revolute-1\.angle'"):
        rbdae.compare(system, 5.0, quantity=pin.angle, reference=study.Reference.from_solutions(run), **GIVEN)


def test_quantities_that_there_are_not_are_refused():
    system, pin = wheel.wheel()
    with pytest.raises(ValueError, match=r"unknown quantity 'pin\.angle'"):
        rbdae.compare(system, 5.0, quantity="pin.angle", **GIVEN)
    other = rbdae.joints.Revolute(system.ground, system.bodies[0])
    with pytest.raises(ValueError, match=r"unknown quantity 'of another system\.angle'"):
        rbdae.compare(system, 5.0, quantity=other.angle, **GIVEN)
    assert pin.angle.label == "Revolute.angle"
