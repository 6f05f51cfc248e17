"""Runs whose observables are checked: mechanisms with everything that an observable can depend on, in every pairing of
a formulation with a chart and a velocity, beside one reference motion of each mechanism.

The reference is checked by Newton's and Euler's equations (`maximal`): its accelerations, by differences of its states,
are those of a solver that shares nothing with the library but data.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache, cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import cases
import numpy as np
import readings
from cases import INERTIA, Pairing, add_body, matched
from inside import Mat, Vec, twin
from maximal import Solved, State, solve_maximal
from scipy.spatial.transform import Rotation
from toy_force import LaggedDamper, Maxwell

import rbdae
from rbdae.body import Body
from rbdae.drives import DrivenRod
from rbdae.forces import Bushing, Force, Friction, SpringDamper, TorsionalSpringDamper, UserForce

START = 0.4
"""Not zero, since the time is an argument of everything."""

TIMES = START + np.array((0.0, 0.037, 0.081, 0.149, 0.2))
TOLERANCE = 1e-8

# ---------------------------------------------------------------- mechanisms


def _wave(t: float) -> float:
    return 4.0 + 3.0 * np.cos(9.0 * t)


def _pull(t: float, x: Vec, out: Vec) -> None:
    out[:] = 0.0
    out[:3] = -15.0 * x[:3]


def _pull_jacobian(t: float, x: Vec, out: Vec) -> None:
    out[:] = 0.0
    out[0], out[25], out[50] = -15.0, -15.0, -15.0


def _pull_potential(t: float, z: Vec, out: Vec) -> None:
    out[0] = 7.5 * (z[0] * z[0] + z[1] * z[1] + z[2] * z[2])


def arm() -> rbdae.System:
    """A table on a hinge, an arm on it by a universal joint, and a top with a pivot, which a rod of prescribed length
    holds to the arm: a closed loop, internal states, windings, forces with and without a potential."""
    system = rbdae.System(gravity=(0.4, -0.6, -9.0))
    table = add_body(
        system,
        "table",
        1.6,
        0.5 * INERTIA,
        (0.1, -0.2, 0.1),
        (0.3, 0.1, 0.2),
        (0.6, -0.3, 0.4),
        (0.9, 0.4, 1.8),
        (0, 0, 0.1),
    )
    tip = add_body(
        system,
        "arm",
        1.0,
        0.3 * INERTIA,
        (0.2, 0.1, -0.1),
        (1, 0.4, 0.5),
        (-0.4, 0.7, 0.2),
        (-0.8, 1.1, 0.5),
        (0.5, 1, -0.4),
    )
    top = add_body(
        system, "top", 1.3, 0.4 * INERTIA, (0.1, 0.2, 0.3), (1.5, -0.6, 0.1), (0.8, 0.4, -0.5), (1, -0.7, 2), pivot=True
    )
    hinge: Any = system.add_joint(matched("revolute", system.ground, table, np.array((0.2, 0.1, 0.0)), (0.3, 0.2, 1.0)))
    cross = matched("universal", table, tip, np.array((0.6, 0.1, 0.2)), (0.2, 1.0, 0.4))
    system.add_joint(twin(cross, at_b=cross.at_b + np.array((0.02, -0.01, 0.03))))  # placed roughly
    ends: dict[str, Any] = {"at_a": (0.3, 0.2, 0.1), "at_b": (-0.2, 0.1, 0.4)}
    length = float(np.linalg.norm(_point(tip, ends["at_a"]) - _point(top, ends["at_b"])))
    law = (
        lambda t: length * (1.0 + 0.1 * np.sin(3.0 * (t - START))),
        lambda t: length * 0.3 * np.cos(3.0 * (t - START)),
        lambda t: -length * 0.9 * np.sin(3.0 * (t - START)),
    )
    system.add_joint(DrivenRod(tip, top, law, name="hoist", **ends))
    system.add_force(TorsionalSpringDamper(hinge, stiffness=6.0, damping=0.7, angle=0.3))
    system.add_force(Bushing(table, top, stiffness=(20, 35, 15), damping=(1.0, 0.4, 0.7), at_a=(0.1, 0.2, 0.3)))
    system.add_force(SpringDamper(tip, stiffness=30.0, damping=1.5, length=0.6, force=_wave, at_a=(0.2, 0.0, 0.3)))
    system.add_force(Maxwell(tip, top, stiffness=30.0, viscosity=4.0, length=0.7, stretch=0.2, at_a=(0.1, 0.4, 0.2)))
    system.add_force(UserForce(tip, _pull, _pull_jacobian, potential=_pull_potential))
    return system


def linkage() -> rbdae.System:
    """Four hinges in a plane, of whose equations three follow from the others, with loads across the plane; friction,
    and a damper whose force lags."""
    turn = Rotation.from_rotvec((0.3, -0.2, 0.4))
    system = cases.rebuild(cases.turning_four_bar("redundant", spin=25.0), turn=turn, shift=(0.2, -0.1, 0.3))
    a, b, c = system.bodies
    system.add_force(Force(b, (3.0, 8.0, -4.0), at=(0.1, 0.2, 0.1)))
    system.add_force(Friction(system.joints[1], 0.6))
    system.add_force(LaggedDamper(b, damping=2.0, at_a=(0.3, -0.2, 0.4), at_b=(-0.1, 0.5, 0.2)))
    system.add_force(
        Bushing(a, c, stiffness=(12, 9, 7), damping=0.8, rotational_stiffness=(3, 2, 4), at_b=(0.1, 0.2, 0.3))
    )
    return system


def pair() -> rbdae.System:
    """Two bodies in space, nothing touches the ground and nothing does work: energy and momentum stay."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    a = add_body(
        system,
        "a",
        2.0,
        0.5 * INERTIA,
        (0.2, 0.3, -0.1),
        (1, 0.5, -0.7),
        (0.3, 0.6, -0.8),
        (1.1, -0.6, 0.9),
        (0.7, -0.3, 0.5),
    )
    b = add_body(
        system, "b", 1.1, (1.2, 0.9, 1.5), (-0.3, 0.1, 0.2), (1.8, 0.9, -0.3), (-0.5, 0.4, 1), (-0.9, 1.3, 0.2)
    )
    system.add_joint(matched("spherical", a, b, np.array((0.5, 0.2, 0.4)), (0, 0, 1)))
    system.add_force(SpringDamper(a, b, stiffness=50.0, length=0.4, at_a=(-0.4, 0.3, 0.1), at_b=(0.2, -0.5, 0.3)))
    return system


def _point(body: Body, at: Any) -> Vec:
    return np.asarray(body.position + body.rotation @ np.array(at))


SYSTEMS: dict[str, Callable[[], rbdae.System]] = {"arm": arm, "linkage": linkage, "pair": pair}


# ---------------------------------------------------------------- forms


class Form(NamedTuple):
    """How the runs of a formulation are made, and how many times its equations have all constraints besides."""

    solver: str
    further: int = 0
    solved_as: str | None = None


_EXPLICIT, _IMPLICIT, _OVER = "scipy:DOP853", "sundials:ida", "assimulo:ODASSL"
FORMS: dict[str, Form] = {
    "index-3": Form(_IMPLICIT),
    "index-2": Form(_IMPLICIT),
    "index-1": Form(_IMPLICIT),
    "index-0": Form(_EXPLICIT),
    "ggl": Form(_IMPLICIT),
    "hiller-anantharaman": Form(_IMPLICIT),
    "baumgarte": Form(_IMPLICIT),
    "baumgarte-ode": Form(_EXPLICIT),
    "overdetermined": Form(_OVER, 1),
    "overdetermined-1": Form(_IMPLICIT, 2, solved_as="index-1"),  # which no solver takes
    "projected-2": Form(_IMPLICIT),
    "projected-1": Form(_IMPLICIT),
    "projected-0": Form(_EXPLICIT),
    "null-space": Form(_EXPLICIT),
    "null-space-overdetermined": Form(_OVER, 1),
    "null-space-ggl": Form(_IMPLICIT),
    "hamiltonian": Form(_IMPLICIT),
    "hamiltonian-momentum": Form(_IMPLICIT),
    "hamiltonian-differentiated": Form(_IMPLICIT),
    "hamiltonian-eliminated": Form(_EXPLICIT),
    "hamiltonian-ggl": Form(_IMPLICIT),
    "hamiltonian-overdetermined": Form(_OVER, 1),
}


# ---------------------------------------------------------------- the reference


class Reference(NamedTuple):
    """A motion at `TIMES`: natural coordinates and rates (m, n, 24), internal states of forces, what Newton and Euler
    say there, and the work of all that has no potential since the first time."""

    run: rbdae.Solution
    natural: Mat
    internal: list[dict[str, Vec]]
    solved: list[Solved]
    work: Vec


_GAUSS = np.polynomial.legendre.leggauss(5)


@cache
def reference(name: str) -> Reference:
    """By `index-0` in quaternions and angular velocities, to rounding nearly."""
    system = SYSTEMS[name]()
    problem = formulated(system, Pairing("index-0", "quaternion", "angular"), code="generic")
    span = (START, TIMES[-1] + 0.01)
    run = rbdae.solve(problem, span, solver="scipy:DOP853", rtol=1e-12, atol=1e-12, projection=True)
    assert run.success, run.message
    work = [0.0]
    for a, b in pairwise(TIMES):
        points = 0.5 * (a + b) + 0.5 * (b - a) * _GAUSS[0]
        work.append(work[-1] + 0.5 * (b - a) * float(_GAUSS[1] @ [_power(system, problem, run, t) for t in points]))
    y = run(TIMES)
    return Reference(
        run,
        np.array([_natural(problem, row) for row in y]),
        [readings.internal_states(problem, row) for row in y],
        [_solved(system, problem, run, t) for t in TIMES],
        np.array(work),
    )


def state_of(name: str, t: float) -> State:
    """Of the reference at a time."""
    run = reference(name).run
    assert run.problem is not None
    return readings.state(run.problem.system, _natural(run.problem, run(t)))


def _natural(problem: rbdae.Problem, y: Vec) -> Mat:
    Z, Zd = readings.natural(problem, y)
    assert Zd is not None
    return np.hstack([Z, Zd])


def _solved(system: rbdae.System, problem: rbdae.Problem, run: rbdae.Solution, t: float) -> Solved:
    y = run(t)
    state = readings.state(system, _natural(problem, y), readings.internal_states(problem, y))
    return solve_maximal(system, state, t)


def _power(system: rbdae.System, problem: rbdae.Problem, run: rbdae.Solution, t: float) -> float:
    """Of all that has no potential: what the energies do not balance."""
    found = _solved(system, problem, run, t)
    return found.kinetic_rate - found.potential_power


# ---------------------------------------------------------------- cases


def formulated(system: rbdae.System, pairing: Pairing, **options: Any) -> rbdae.Problem:
    """In a pairing; charts that are singular near the start are centred there."""
    return cases.formulate(system, pairing, t0=START, redundant="minimum-norm", **options)


class Case:
    """A mechanism in a pairing with a run of it, and what the checks share."""

    def __init__(self, name: str, pairing: Pairing, code: str) -> None:
        self.name, self.pairing, self.code = name, pairing, code

    def __str__(self) -> str:
        return f"{self.name}-{self.pairing}-{self.code}"

    @cached_property
    def system(self) -> rbdae.System:
        return SYSTEMS[self.name]()

    @cached_property
    def problem(self) -> rbdae.Problem:
        return formulated(self.system, self.pairing, code=self.code)

    @cached_property
    def reference(self) -> Reference:
        return reference(self.name)

    @property
    def level(self) -> float:
        """Of the first body, where the event is: what the reference passes at the third time."""
        return float(self.reference.natural[2, 0, 3])

    @property
    def form(self) -> Form:
        """How it is run."""
        return FORMS[self.pairing.formulation]

    @cached_property
    def run(self) -> rbdae.Solution:
        """With output times and an event."""
        form = self.form
        cases.need(form.solver)
        as_solved = self.pairing._replace(formulation=form.solved_as or self.pairing.formulation)
        problem = self.problem if form.solved_as is None else formulated(self.system, as_solved, code=self.code)

        def event(t: float, y: Vec) -> float:
            return float(problem.natural(t, y)[0, 3]) - self.level

        more: dict[str, Any] = {"atol": rbdae.scaled_atol(problem, TOLERANCE)}
        out = rbdae.solve(
            problem, (START, TIMES[-1]), solver=form.solver, rtol=TOLERANCE, t_eval=TIMES, events=event, **more
        )
        assert out.success, out.message
        return out if form.solved_as is None else replace(out, problem=self.problem)

    @cached_property
    def between(self) -> Mat:
        """`solution(t)` at the times."""
        return self.run(TIMES)

    @cached_property
    def states(self) -> Mat:
        """The same on the constraints of positions and velocities."""
        return np.array([self.problem.project(t, y) for t, y in zip(TIMES, self.between, strict=True)])

    @cached_property
    def natural(self) -> Mat:
        """Of `states`, (m, n, 24): by their definition, but for the rates of forms whose velocities are none."""
        out = self.problem.natural(TIMES, self.states)
        for row, y in zip(out, self.states, strict=True):
            Z, Zd = readings.natural(self.problem, y)
            row[:, :12] = Z
            if Zd is not None:
                row[:, 12:] = Zd
        return out

    @cached_property
    def motion(self) -> list[State]:
        """The same as positions, rotations, velocities."""
        return [
            readings.state(self.system, Z, readings.internal_states(self.problem, y))
            for Z, y in zip(self.natural, self.states, strict=True)
        ]

    @cached_property
    def gradients(self) -> list[Mat]:
        """Our own gradient of the joints at each state."""
        return [readings.joint_gradient(self.system, t, Z) for t, Z in zip(TIMES, self.natural, strict=True)]

    @cached_property
    def solved(self) -> Solved:
        """What Newton and Euler say of the fourth state."""
        return solve_maximal(self.system, self.motion[3], float(TIMES[3]))

    @cached_property
    def drifted(self) -> Vec:
        """The fourth state off the constraints of joints and charts."""
        rng = np.random.default_rng(17)
        out = self.states[3].copy()
        d = self.problem.layout.n_differential
        out[:d] += 0.02 * rng.standard_normal(d)
        return out


def chosen() -> list[Case]:
    """Each formulation in the charts that take turns, each velocity; the mechanisms take turns in the usual run, which
    has few cases, with each formulation, chart, and velocity on a mechanism. The small one has code of its own now and
    then."""
    names = list(SYSTEMS)
    pairings = cases.sample(0) if cases.NIGHTLY else cases.turns(0)
    every = [(name, (name, p.velocity), p) for k, p in enumerate(pairings) for name in names[k % 3 :] + names[: k % 3]]
    return [
        Case(name, pairing, "traced" if name == "pair" and k % 4 == 3 else "generic")
        for k, (name, _, pairing) in enumerate(cases.covering(every))
    ]
