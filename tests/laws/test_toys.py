"""What somebody adds in a file of their own obeys the laws of what the library has: a joint, in every formulation."""

from __future__ import annotations

import cases
import pytest
import test_derivatives as derivatives
import test_equivalence as equivalence
from cases import Pairing

from rbdae.formulations import FORMULATIONS

# a line in cases.TOY_JOINTS brings a toy under these laws
JOINTS = [(s, p) for s in cases.TOY_SYSTEMS for p in cases.PAIRINGS]
JOINT_IDS = [f"{s}-{p}" for s, p in JOINTS]


@pytest.mark.parametrize("system, pairing", JOINTS, ids=JOINT_IDS)
def test_derivatives_of_a_joint(system: str, pairing: Pairing, rng):
    derivatives.check_residual(system, pairing, rng)
    if FORMULATIONS[pairing.formulation].kind == "ode":
        derivatives.check_rhs(system, pairing, rng)


@pytest.mark.parametrize("system, pairing", JOINTS, ids=JOINT_IDS)
def test_a_joint_moves_the_same_in_all_pairings(system: str, pairing: Pairing):
    equivalence.test_all_pairings_are_one_motion(system, pairing, 0)
