"""Mechanisms that leave through every door, with the ends of runs that two integrators agree on."""

from functools import partial

import rbdae
from tests.handover.test_readings import driven_four_bar

MECHANISMS = {
    "four-bar": (partial(driven_four_bar, redundant=True), 0.5),
    "shaper": (rbdae.models.quick_return_shaper, 0.2),
    "andrews": (rbdae.models.andrews, 0.01),
    "arm6": (rbdae.models.arm6, 0.3),
    "chain": (partial(rbdae.models.chain, 100), 0.1),
}


def mechanism(name: str) -> tuple[rbdae.Problem, float]:
    """A mechanism as an ODE, and the end."""
    model, end = MECHANISMS[name]
    return rbdae.formulate(model(), "index-0", redundant="minimum-norm"), end
