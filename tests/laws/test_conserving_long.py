"""A hundred thousand steps of the schemes that keep energy and momentum: no trend, with any joint (`tools/long`)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import test_conserving as conserving
import test_conserving_forces as forces
from conserving_systems import JOINTS, chain, momentum_error, relative_energy

import rbdae
from rbdae.forces import SpringDamper, TorsionalSpringDamper

N = 100_000

pytestmark = pytest.mark.nightly

EACH = ("QUAT.EM-R", "QUAT.EM", "DIR.EM", "ALGO.C1", "MIDPOINT")
BOTH = ("QUAT.EM-R", "DIR.EM")
"""Those that keep energy and momentum with every joint, in quaternions and in directors."""


def run(system: rbdae.System, scheme: str, step: float, samples: int = 100, **options: Any) -> rbdae.Solution:
    """The samples are at steps."""
    times = N // samples * step * np.arange(samples + 1)
    problem = conserving.problem_of(system, scheme, code="auto", **options)
    found = conserving.run(problem, scheme, times[-1], step, t_eval=times)
    assert found.success, found.message
    assert found.stats.steps == N
    return found


def violation(solution: rbdae.Solution) -> float:
    """Of the joints, relative to how far away the bodies are if that is more than 1 m."""
    far = max(float(np.abs(body.position).max()) for body in solution.states.values())
    return float(solution.drift.position.max()) / max(1.0, far)


@pytest.mark.parametrize("scheme", EACH)
def test_the_free_body(scheme):
    """[BS09], section 5.1, dt = 0.05."""
    found = run(rbdae.models.free_body(), scheme, 0.05, samples=1000)
    assert relative_energy(found) < 1e-11
    assert momentum_error(found) < 1e-11
    y = found.y
    if scheme.startswith("QUAT"):
        q, p = y[:, found.problem.layout.q], y[:, found.problem.layout.v]
        assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 1e-12
        assert np.abs((q * p).sum(axis=1) / np.linalg.norm(p, axis=1)).max() < 1e-12


@pytest.mark.parametrize("case", [1, 2])
@pytest.mark.parametrize("scheme", ["MIDPOINT", *BOTH])
@pytest.mark.filterwarnings("ignore:body 'top' has an indefinite director mass")
def test_the_top(scheme, case):
    """[GR95], section 11.6."""
    found = run(rbdae.models.rotations_top(case=case), scheme, 1e-3)
    assert relative_energy(found) < 1e-11
    L = found.momentum.angular[:, 2]
    assert np.abs(L / L[0] - 1.0).max() < 1e-11
    assert violation(found) < 1e-12


@pytest.mark.parametrize("n", [2, 5])
@pytest.mark.parametrize("joint", JOINTS)
@pytest.mark.parametrize("scheme", BOTH)
def test_pairs_and_chains(scheme, joint, n):
    """Their centre of mass rests, and springs hold together what slides: 2 km away positions have 4e-13 m, and each
    step would change the energy of the springs by what that makes of it (1e-8 in the end)."""
    system = chain(joint, n, resting=True)
    for a, b in pairwise(system.bodies):
        system.add_force(SpringDamper(a, b, stiffness=30.0, length=1.5, at_a=(0.4, 0.2, 0.0), at_b=(-0.3, 0.0, 0.2)))
    found = run(system, scheme, 0.02)
    assert relative_energy(found) < 1e-10
    assert momentum_error(found) < 1e-10
    assert violation(found) < 1e-12


@pytest.mark.parametrize("scheme", BOTH)
@pytest.mark.parametrize("redundant", [False, True])
def test_a_four_bar(scheme, redundant):
    """With hinges, so that it is redundant, and with as many joint equations as are needed."""
    options = {"redundant": "minimum-norm"} if redundant else {}
    found = run(rbdae.models.n_four_bar(redundant=redundant), scheme, 1e-3, **options)
    assert relative_energy(found) < 1e-10
    assert violation(found) < 1e-12


@pytest.mark.parametrize("name", ["motor", "friction", "spring"])
def test_the_work_of_forces_about_an_axis(name):
    """The change of the kinetic energy since the start is the sum of torque times increment of the angle."""
    h, work = 0.02, forces.ANGULAR[name][1]
    found = run(forces.with_forces(name), "QUAT.EM-R", h, samples=N)
    phi, T = forces.angle(found), forces.kinetic(found.states)
    done = [work(t, h, two - one, 0.5 * (one + two)) for t, one, two in zip(found.t, phi, phi[1:], strict=False)]
    assert np.abs(T[1:] - T[0] - np.cumsum(done)).max() < 1e-10 * T.max()


def test_a_torsional_spring_over_turns():
    """Wound up and unwound by more than two turns, again and again."""
    system = forces.pair(spin=9.0)
    system.add_force(TorsionalSpringDamper(system.joints[0], stiffness=0.8, angle=0.3))
    found = run(system, "QUAT.EM-R", 0.02, samples=N)
    phi = forces.angle(found)
    total = forces.kinetic(found.states) + 0.4 * (phi - 0.3) ** 2
    assert np.ptp(phi) > 4.0 * np.pi
    assert np.abs(total - total[0]).max() < 1e-10 * total[0]


@pytest.mark.parametrize("name", ["swing", "rod"])
def test_the_work_of_drives(name):
    """The change of the energy since the start is minus the sum of multiplier times increment of what is prescribed."""
    build, law, increment = forces.DRIVEN[name]
    problem = forces.problem_of(build(), code="auto")
    t, y, la = forces.taken(problem, 0.01, N)
    T = np.array([problem.energy(time, state).kinetic for time, state in zip(t, y, strict=True)])
    done = [-la[k, -1] * increment(law(t[k]), law(t[k + 1])) for k in range(N)]
    assert np.abs(T[1:] - T[0] - np.cumsum(done)).max() < 1e-10 * T.max()
