"""Every model of the library by the schemes that keep energy and momentum: towards DOP853 with order two, states and
reactions at the end."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import rbdae
from rbdae.models import MODELS

T_END, STEP = 0.1, 2e-3
SPANS = {"andrews": (5e-3, 5e-5), "bruels_cardona_top": (0.1, 5e-4), "linked_bodies": (0.1, 5e-4)}
"""End and larger step of fast motions."""

FLAT = {"bruels_cardona_top"}
"""In directors a flat body has no momenta."""

REDUNDANT: dict[str, dict[str, Any]] = {"bricard": {"redundant": "minimum-norm"}}
ROTATIONS = {"QUAT.EM-R": "quaternion", "DIR.EM": "directors"}


def forces_of(reactions: Any) -> Any:
    """Forces and torques of all joints on all bodies, one after the other."""
    found = [[*one.force, *one.torque] for on in reactions.values() for one in on.values()]
    return np.array(found).ravel()


# every model, and the schemes take turns
TURNS = [
    pytest.param(name, scheme, marks=[pytest.mark.nightly] * ((k + n) % 2 == 1))
    for k, name in enumerate(MODELS)
    for n, scheme in enumerate(ROTATIONS)
]


@pytest.mark.parametrize("name, scheme", TURNS)
@pytest.mark.filterwarnings("ignore:body 'top' has an indefinite director mass")
def test_order_two_on_every_model(name, scheme):
    form = {"rotation": ROTATIONS[scheme], "velocity": "momentum", "consistent": "project", **REDUNDANT.get(name, {})}
    system = MODELS[name]()
    if name in FLAT and scheme == "DIR.EM":
        with pytest.raises(ValueError, match="flat body"):
            rbdae.formulate(system, "hamiltonian-eliminated", **form)
        return
    t_end, step = SPANS.get(name, (T_END, STEP))
    exact = rbdae.formulate(system, "index-0", consistent="project", **REDUNDANT.get(name, {}))
    y = rbdae.solve(exact, (0.0, t_end), solver="rbdae:dop853", rtol=1e-13, atol=1e-13).y[-1]
    natural, reactions = exact.natural(t_end, y), forces_of(exact.reactions(t_end, y))
    problem = rbdae.formulate(system, "hamiltonian-eliminated", **form)
    errors = []
    for h in (step, 0.5 * step):
        found = rbdae.solve(problem, (0.0, t_end), solver="rbdae:energy-momentum", step=h)
        assert found.success, found.message
        errors.append(
            (
                np.abs(found.problem.natural(t_end, found.y[-1]) - natural)[:, :12].max(),
                np.abs(forces_of(found.problem.reactions(t_end, found.y[-1])) - reactions).max(initial=0.0),
            )
        )
    size = np.abs(reactions).max(initial=0.0)
    for coarse, fine, floor in zip(*errors, (3e-12, 1e-9 * size), strict=True):
        if fine > floor:  # else it is what DOP853 leaves
            assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
    assert errors[1][0] < 0.02 and errors[1][1] <= 0.05 * size
