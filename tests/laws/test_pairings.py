"""Every formulation, chart, velocity and solver that go together end at the same motion on Examples A, B, C.

The cases come from `rbdae.pairings` and `rbdae.solvers`: a new formulation, chart or solver is run without a new line
here. What needs tighter tolerances than asked for, or falls short of the goal, stands in `RULES` with the reason.
Whatever does not go together must be refused, with a list of what does.

In every run a sample has each pairing and each solver at least once; the night has all of them.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import Final, NamedTuple, final

import numpy as np
import pytest
from cases import ALL_INFOS as INFOS
from cases import NIGHTLY, method, need
from cases import PAIRINGS as SAMPLE
from references import EXAMPLES, Motion, reference

import rbdae
from rbdae.adapter import Unsupported
from rbdae.formulations import FORMULATIONS
from rbdae.rotations import CHARTS

GOAL: Final = 1e-6
TOLERANCE: Final = 1e-10
SLACK: Final = 300.0
MARGIN: Final = 3.0
"""Between what is found from any start within rounding, on any processor, and what is asserted."""

# A, B or C passes their singular sets
SWITCHED: Final = {"rodrigues", "linear", "quaternion-vector"}
PAIRINGS = [tuple(p) for p in SAMPLE]
# for least squares: ODASSL's elimination is singular in it (see the formulation)
WITHOUT_SOLVER: Final = {"overdetermined-1"}


@cache
def joints(example: str) -> int:
    return len(EXAMPLES[example].build().joints)


class Case(NamedTuple):
    example: str
    formulation: str
    rotation: str
    velocity: str
    solver: str

    def __str__(self) -> str:
        return "-".join(self)

    @property
    def kind(self) -> str:
        return FORMULATIONS[self.formulation].kind

    @property
    def index(self) -> int:
        """0 for ODE forms, and 1 for DAE forms that are left without constraints."""
        form = FORMULATIONS[self.formulation]
        unconstrained = (self.velocity in ("angular", "spatial") or form.projected) and not joints(self.example)
        return 1 if form.kind == "dae" and unconstrained else form.index

    @property
    def place(self) -> str:
        """What rules look at: as its name, with the index after the example."""
        return "-".join((f"{self.example}{self.index}", *self[1:]))

    @property
    def makes_sense(self) -> bool:
        return method(self.solver).accepts(self.kind, self.index, self[1:4])

    def problem(self) -> rbdae.Problem:
        return rbdae.formulate(
            EXAMPLES[self.example].build(),
            self.formulation,
            rotation=self.rotation,
            velocity=self.velocity,
            reference="start" if self.rotation in SWITCHED else "space",
        )


# ---------------------------------------------------------------- what is known to be weaker


@final
@dataclass(frozen=True, slots=True)
class Rule:
    """Tolerance and level of some cases; the first rule that fits a case counts.

    Parameters
    ----------
    cases : a regular expression for `Case.place`: example, index, formulation, rotation, velocity, solver
    tolerance : rtol and atol (see `run` for momenta)
    level : relative error at the end that is not exceeded from any start within rounding; `MARGIN` times it is asserted
    why : the reason
    worst : where `level` is above the goal, a case that comes within `SLACK` of it, so that it stays honest
    """

    cases: str
    tolerance: float
    level: float
    why: str
    worst: str = ""

    def fits(self, case: Case) -> bool:
        return re.fullmatch(self.cases, case.place) is not None


AS_ASKED = Rule(".*", TOLERANCE, GOAL, "as asked")
BDF = "[^-]*:(BDF|ida|ddaspk|cvode)"
IDA = "[^-]*:(ida|ddaspk)"
RATES = "(coordinate|momentum)"
AMPLIFIED = (
    "the motion amplifies what a multistep code commits early: at 1e-10 such codes end within 1e-5 of the reference; "
    "rates of parameters oscillate twice in a turn, and need 1e-12, spatial velocities of a tumbling body 1e-11"
)
INDEX_3 = (
    "a code differentiates positions to get velocities, and twice to get multipliers: their rounding is divided by h "
    "and h^2, so that tighter tolerances, with smaller steps, gain nothing; with directors most, and C amplifies it"
)
INTEGRALS = (
    "the multipliers are derivatives of unknowns, which the code gets by dividing rounding by the step: at tighter "
    "tolerances steps become too small, and whether some runs start depends on the last digits of the start"
)
BOTH = "multipliers and corrections of momenta are tested as if they had the size of positions: at 1e-10 the code stops"
MOMENTA = "momenta of the free body reach 1e4: Newton's iteration stalls on their rounding below these tolerances"
DRIFT = "drift off the constraints, unchecked at index 1, adds to the error: 5e-7 to 2e-6 at 1e-10"
STEPS = (
    "the index class tests the multiplier to tolerance over h, and steps become twice as long: 2e-7 to 5e-6 at 1e-10"
)
TERMS = "terms of 10/s bring errors of the constraints back into the motion: 1.7e-6 with directors at 1e-10"

RULES: Final = (
    Rule("[AB]2-hamiltonian-ggl-.*-solve_dae:Radau", 1e-9, GOAL, BOTH),
    Rule("A2-hamiltonian-ggl-directors-.*:BDF", 1e-9, 1e-5, BOTH, "A-hamiltonian-ggl-directors-momentum-solve_dae:BDF"),
    Rule("[BC]2-hamiltonian-ggl-.*-assimulo:Radau5DAE", 1e-9, GOAL, BOTH),
    Rule("C1-hiller-anantharaman-.*-[^-]*:ida", TOLERANCE, GOAL, INTEGRALS),
    Rule(
        "C1-hiller-anantharaman-.*:ddaspk",
        1e-9,
        1e-5,
        INTEGRALS,
        "C-hiller-anantharaman-directors-angular-scikits.odes:ddaspk",
    ),
    Rule(
        "C1-hiller-anantharaman-.*-coordinate-solve_dae:.*",
        1e-8,
        2e-4,
        INTEGRALS,
        "C-hiller-anantharaman-quaternion-coordinate-solve_dae:BDF",
    ),
    Rule(
        "C1-hiller-anantharaman-.*-solve_dae:BDF",
        TOLERANCE,
        1e-5,
        INTEGRALS,
        "C-hiller-anantharaman-directors-angular-solve_dae:BDF",
    ),
    Rule("C1-null-space-ggl-.*-assimulo:Radau5DAE", 1e-11, GOAL, STEPS),
    Rule(f"A[01]-(baumgarte|baumgarte-ode)-.*-coordinate-({BDF}|assimulo:ODASSL)", 1e-11, GOAL, TERMS),
    Rule(f"A2-ggl-.*-coordinate-{BDF}", 1e-11, GOAL, TERMS),
    Rule("B3-.*-momentum-solve_dae:BDF", 1e-8, 1.5e-3, MOMENTA, "B-hamiltonian-directors-momentum-solve_dae:BDF"),
    Rule(
        "B2-.*-momentum-solve_dae:BDF", 2e-11, 3e-6, MOMENTA, "B-hamiltonian-momentum-quaternion-momentum-solve_dae:BDF"
    ),
    Rule(
        "A1-.*-momentum-solve_dae:BDF",
        TOLERANCE,
        2e-6,
        DRIFT,
        "A-hamiltonian-differentiated-quaternion-momentum-solve_dae:BDF",
    ),
    Rule(f"A3-.*-{RATES}-{IDA}", TOLERANCE, 5e-6, INDEX_3, "A-hamiltonian-directors-momentum-sksundae:ida"),
    Rule(f"A1-.*-{RATES}-assimulo:ODASSL", 1e-11, GOAL, DRIFT),
    Rule(f"B3-.*-{RATES}-{IDA}", TOLERANCE, 2e-4, INDEX_3, "B-hamiltonian-quaternion-momentum-scikits.odes:ddaspk"),
    Rule(f"B[012]-.*-{RATES}-[^-]*:(BDF|ida|ddaspk|cvode|LSODAR?|ODASSL)", 1e-12, GOAL, AMPLIFIED),
    Rule("B0-.*-momentum-scipy:RK23", 1e-11, GOAL, "order 3, so that the error follows the tolerance: 5e-6 at 1e-10"),
    Rule(f"B2-.*-{RATES}-assimulo:Radau5DAE", 1e-11, GOAL, STEPS),
    Rule(
        "B3-.*-directors-coordinate-.*:Radau5DAE",
        1e-10,
        4e-6,
        INDEX_3,
        "B-index-3-directors-coordinate-assimulo:Radau5DAE",
    ),
    Rule(f"C3-.*-{IDA}", TOLERANCE, 1e-3, INDEX_3, "C-index-3-quaternion-angular-scikits.odes:ddaspk"),
    Rule("C3-.*-solve_dae:BDF", TOLERANCE, 1e-5, INDEX_3, "C-hamiltonian-quaternion-momentum-solve_dae:BDF"),
    Rule("C3-.*-solve_dae:Radau", TOLERANCE, 1e-4, INDEX_3, "C-index-3-directors-angular-solve_dae:Radau"),
    Rule("C3-.*-assimulo:Radau5DAE", TOLERANCE, 1.5e-4, INDEX_3, "C-index-3-directors-angular-assimulo:Radau5DAE"),
    Rule(f"B.-.*-spatial-({BDF}|[^-]*:LSODAR?|assimulo:ODASSL)", 1e-11, GOAL, AMPLIFIED),
    Rule(f"C[012]-.*-({BDF}|assimulo:ODASSL)", 1e-12, GOAL, AMPLIFIED),
)

IN_PYTHON: Final = {"scipy:RK23", "scipy:Radau", "scipy:BDF", "solve_dae:Radau", "solve_dae:BDF"}
"""Solvers whose thousands of steps are made in Python: in every run only on A."""
CALLING: Final = {"sksundae:ida", "scikits.odes:ida", "scikits.odes:ddaspk", "assimulo:ODASSL"}
"""Multistep codes that call Python in each of the thousands of steps which C takes at 1e-12: in every run on A and B.
sundials:ida, whose callbacks are machine code, takes C."""
ALL = [Case(example, *pairing, solver) for example in EXAMPLES for pairing in PAIRINGS for solver in INFOS]
SENSIBLE = [case for case in ALL if case.makes_sense]
ADAPTIVE = [case for case in SENSIBLE if not method(case.solver).fixed_step]


def sample(cases: list[Case]) -> set[Case]:
    """Each pairing and each solver at least once; on the examples in turn that its solver has."""
    chosen: set[Case] = set()
    used = dict.fromkeys((c.solver for c in cases), 0)

    def choose(pairing: tuple[str, str, str], solvers: set[str]) -> None:
        turn = len(chosen) % len(EXAMPLES)
        examples = [*EXAMPLES][turn:] + [*EXAMPLES][:turn]
        if examples[0] == "C":
            solvers = solvers - CALLING or solvers
        solver = min((s for s in used if s in solvers), key=lambda s: used[s])
        its = "A" if solver in IN_PYTHON else "AB" if solver in CALLING else "ABC"
        places = (Case(e, *pairing, solver) for e in sorted(examples, key=lambda e: e not in its))
        chosen.add(next(c for c in places if c in cases))
        used[solver] += 1

    able: dict[tuple[str, str, str], set[str]] = {}
    for case in cases:
        able.setdefault(case[1:4], set()).add(case.solver)
    for pairing, solvers in able.items():
        choose(pairing, solvers - IN_PYTHON or solvers)
    for solver in used:
        if not used[solver]:
            choose(next(pairing for pairing, solvers in able.items() if solver in solvers), {solver})
    return chosen


def rule_of(case: Case) -> Rule:
    return next((rule for rule in RULES if rule.fits(case)), AS_ASKED)


def usual(cases: list[Case]) -> list[Case]:
    """The cases of every run: the sample; all of them at night."""
    chosen = sample(cases)
    return [case for case in cases if NIGHTLY or case in chosen]


CASES = usual(ADAPTIVE)
FIXED_STEP = usual([case for case in SENSIBLE if method(case.solver).fixed_step])


SCALED: Final = {
    "B-hamiltonian-differentiated-quaternion-momentum-solve_dae:Radau",
    "A-hamiltonian-ggl-directors-momentum-solve_dae:BDF",
    *(
        f"{e}-{form}-{r}-momentum-solve_dae:Radau"
        for e in "AB"
        for form in ("hamiltonian", "hamiltonian-ggl")
        for r in ("quaternion", "directors")
    ),
}
"""The multiplier of a free body is zero, with the rounding of momenta of 1e4 over the step: at index 1 and with the
tolerance of positions, the code makes 60,000 steps for it; with `rbdae.scaled_atol` 1,600. At index 3 and with both
constraints on momenta Newton's iteration stagnates on that rounding, or does not, by the last digits of the start."""


def run(problem: rbdae.Problem, case: Case, rule: Rule) -> rbdae.Solution:
    atol = np.full(problem.n, rule.tolerance)
    if case.velocity == "momentum":
        # Momenta of these bodies reach 1e4, and their rounding 1e-12: no solver can tell errors smaller than that.
        atol[problem.layout.v] = TOLERANCE
    if str(case) in SCALED:
        atol = rbdae.scaled_atol(problem, rule.tolerance)
    policy = "switch" if case.rotation in SWITCHED else "stop"
    given = {"rtol": rule.tolerance, "atol": atol, "on_singularity": policy}
    return rbdae.solve(problem, (0.0, EXAMPLES[case.example].t_end), solver=case.solver, **given)


def end_of(solution: rbdae.Solution) -> Motion:
    """The motion at the end, read by the problem of that time."""
    t = float(solution.t[-1])
    return Motion.of(solution.problem_at(t), t, solution.y[-1])


# ---------------------------------------------------------------- the laws


@pytest.mark.sampled
@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_pairing_ends_at_the_reference(case):
    need(case.solver)
    rule = rule_of(case)
    problem = case.problem()
    assert (problem.kind, problem.index) == (case.kind, case.index)
    solution = run(problem, case, rule)
    assert solution.success, solution.message
    assert solution.t[-1] == EXAMPLES[case.example].t_end
    errors = end_of(solution).errors(reference(case.example))
    assert max(errors.values()) < MARGIN * rule.level, rule.why
    if rule.worst == str(case):
        assert max(errors.values()) > rule.level / SLACK, f"state a better level than {rule.level:g}: {rule.why}"


SHORT = {"A": 0.05, "B": 0.02, "C": 0.02}


@pytest.mark.sampled
@pytest.mark.parametrize("case", FIXED_STEP, ids=str)
def test_methods_of_fixed_step_converge_with_their_order(case):
    """Errors of the conserving schemes, of order 2, become a quarter with half the step. The variational one has no
    applied forces."""
    need(case.solver)
    t_end = SHORT[case.example]
    problem = case.problem()
    if case.solver == "rbdae:variational" and problem.system.forces:
        with pytest.raises(Unsupported, match="no discrete form of applied forces"):
            rbdae.solve(problem, (0.0, t_end), solver=case.solver, step=1e-3)
        return
    found = []
    for n in (400, 800):
        solution = rbdae.solve(
            problem,
            (0.0, t_end),
            solver=case.solver,
            step=t_end / n,
            on_singularity="switch" if case.rotation in SWITCHED else "stop",
        )
        assert solution.success, solution.message
        found.append(end_of(solution).errors(reference(case.example, t_end)))
    coarse, fine = found
    assert max(fine.values()) < 2e-3
    for name, error in fine.items():
        if error > 1e-13:  # pivots rest
            assert 3.6 < coarse[name] / error < 4.4, name


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_solver_that_does_not_fit_is_refused_with_those_that_do(formulation):
    """Each kind and index of a formulation, with joints and without."""
    pairing = next(p for p in PAIRINGS if p[0] == formulation)
    for example in "BC":
        cases = [Case(example, *pairing, solver) for solver in INFOS]
        able = {c.solver for c in cases if c.makes_sense}
        problem = cases[0].problem()
        assert (problem.kind, problem.index) == (cases[0].kind, cases[0].index)
        for solver in INFOS.keys() - able:
            if not INFOS[solver].available:
                continue
            with pytest.raises(Unsupported, match=f"'{formulation}' is .*{re.escape(solver)} takes") as caught:
                rbdae.solve(problem, (0.0, 1.0), solver=solver)
            listed = str(caught.value).partition("Solvers for it: ")[2]
            assert set(listed.split(", ")) == (able or {"none"})


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_what_has_no_form_is_refused_with_what_has(formulation):
    forms = {(r, v) for f, r, v in rbdae.pairings() if f == formulation}
    for rotation, velocity in product(CHARTS, ("angular", "spatial", "coordinate", "momentum")):
        # momenta are the velocities of a Hamiltonian form in either spelling
        momenta = FORMULATIONS[formulation].unknowns == "momenta" and velocity == "coordinate"
        if (rotation, "momentum" if momenta else velocity) in forms:
            continue
        with pytest.raises(ValueError) as caught:
            rbdae.formulate(EXAMPLES["C"].build(), formulation, rotation=rotation, velocity=velocity)
        message = str(caught.value)
        velocities = {v for r, v in forms if r == rotation}
        rotations = {r for r, v in forms if v == velocity} or {r for r, _ in forms}
        assert any(listed and all(name in message for name in listed) for listed in (velocities, rotations))


# ---------------------------------------------------------------- the rules are held to their word


def test_every_rule_is_needed_by_some_case_and_says_why():
    assert (AS_ASKED.tolerance, AS_ASKED.level) == (1e-10, 1e-6)
    ruled = [(rule_of(case), str(case)) for case in ADAPTIVE]
    for rule in RULES:
        its = [name for found, name in ruled if found is rule]
        assert its, rule
        assert len(rule.why.split()) >= 5, rule
        assert (rule.worst != "") == (rule.level > GOAL), rule
        assert not rule.worst or rule.worst in its, rule


def test_nothing_is_left_out():
    assert {tuple(c[1:4]) for c in CASES} == {p for p in PAIRINGS if p[0] not in WITHOUT_SOLVER}
    assert {c.solver for c in CASES} | {c.solver for c in FIXED_STEP} == set(INFOS)
    assert all(sum(c.example == e for c in CASES) > 20 for e in EXAMPLES)
