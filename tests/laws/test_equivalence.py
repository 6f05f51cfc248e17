"""All formulations are one mechanics: the same accelerations, multipliers and reactions at the same consistent state,
and they satisfy the laws of Newton and Euler, written out here body by body."""

from __future__ import annotations

from functools import cache
from typing import Any

import cases
import inside
import numpy as np
import pytest
from cases import PAIRS, REFERENCE, SYSTEMS, Pairing, along, close, covering
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.formulations import FORMULATIONS

SEEDS = (0, 1)


def _seeded(pairs: Any) -> list[tuple[str, int, Pairing]]:
    """With seeds, which take turns; both at night."""
    return [(s, seed, p) for k, (s, p) in enumerate(pairs) for seed in SEEDS if cases.NIGHTLY or seed == k % 2]


PAIRED = [[pair for pair in PAIRS if pair[1] == p] for p in dict.fromkeys(p for _, p in PAIRS)]
SEEDED = _seeded(PAIRS if cases.NIGHTLY else [its[k % len(its)] for k, its in enumerate(PAIRED)])
"""Each pairing on one mechanism; on all at night."""


def _norm_rows(problem: rbdae.Problem) -> list[int]:
    """The rows of the residual where projected forms have the unit norms, in place of a row of the dynamics."""
    layout = problem.layout
    return [int(i) for i in layout.v.start + layout.iv + problem.model.bodies["nt"][:-1] + 3] if layout.n_hidden else []


@cache
def _system(name: str, seed: int) -> rbdae.System:
    """The mechanism at its own start (seed 0) or at a random state that `formulate` makes consistent."""
    system = cases.built(name)
    return cases.stirred(system, np.random.default_rng(seed)) if seed else system


@cache
def _problem(name: str, pairing: Pairing, seed: int = 0, radial: str = "zero") -> rbdae.Problem:
    return cases.formulate(_system(name, seed), pairing, radial_inertia=radial)


def _motion(problem: rbdae.Problem) -> dict[str, Any]:
    """Everything physical at the start: natural coordinates and their rates, multipliers, reactions."""
    t, y, n = problem.t0, problem.y0, problem.layout.n_differential
    rates = np.append(problem.yd0[:n], np.zeros(problem.n - n))
    joints = problem.multipliers(t, y)
    forces = [[r.force, r.torque] for joint in problem.reactions(t, y).values() for r in joint.values()]
    return {
        "natural coordinates": problem.natural(t, y),
        "natural rates": along(lambda z: problem.natural(t, z), y, rates),
        "joint multipliers": joints[len(joints) - problem.model.primitives["n"].sum() :],
        "force states": np.concatenate([y[problem.layout.s], problem.yd0[problem.layout.s]]),
        "reactions": np.array(forces).reshape(-1, 6),
        "energy": np.array([problem.energy(t, y).kinetic, problem.energy(t, y).potential, problem.energy(t, y).total]),
        "momentum": np.concatenate([problem.momentum(t, y).linear, problem.momentum(t, y).angular]),
    }


@cache
def _reference(name: str, seed: int) -> dict[str, Any]:
    return _motion(_problem(name, REFERENCE, seed))


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, seed, pairing", SEEDED, ids=str)
def test_all_pairings_are_one_motion(system, pairing, seed):
    """And the start solves the equations."""
    problem = _problem(system, pairing, seed)
    found = _motion(problem)
    for what, value in _reference(system, seed).items():
        if not value.size:
            continue
        error = np.abs(found[what] - value).max() / max(1.0, np.abs(value).max())
        assert error < (1e-7 if what == "natural rates" else 1e-9), f"{problem!r}: {what} differ by {error:.2g}"
    scale = max(1.0, np.abs(problem.yd0).max(), np.abs(problem.y0).max())
    masses = max(1.0, float(problem.model.bodies["mass"].max()), np.abs(problem.model.bodies["inertia"]).max())
    assert np.abs(problem.residual(problem.t0, problem.y0, problem.yd0)).max() < 1e-12 * scale * masses


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(PAIRS, 7), ids=str)
def test_rates_and_residual_agree_off_the_manifold_too(system, pairing, rng):
    """Elimination and residual are two codes: explicit rates and multipliers make the residual of the dynamics vanish,
    and that of the acceleration constraint (with Baumgarte's terms, where a form has them), wherever positions and
    velocities are."""
    problem = cases.problem(system, pairing)
    form = FORMULATIONS[pairing.formulation]
    first = problem.layout.n_differential
    accelerations = problem.kind == "ode" or (form.unknowns == "quasi-velocities" and not form.corrected)
    accelerations = accelerations or form.levels[0] == 2
    for _, y in cases.manifold_states(problem, rng):
        rates, la = problem.rates(0.0, y)
        yd = np.append(rates, np.zeros(problem.n - len(rates)))
        state = y.copy()
        state[first:] = 0.0
        (yd if form.multipliers == "integrals" else state)[problem.layout.la] = la[problem.layout.n_hidden :][
            : problem.layout.la.stop - first
        ]
        residual = problem.residual(0.0, state, yd)
        assert residual.shape == (problem.n_equations,)
        # constraints of lower orders are violated here
        residual = residual[: problem.n if accelerations else first]
        if not accelerations:
            residual = np.delete(residual, _norm_rows(problem))
        scale = max(1.0, np.abs(rates).max(), np.abs(la).max(initial=0.0))
        masses = max(1.0, np.abs(problem.model.bodies["inertia"]).max(), float(problem.model.bodies["mass"].max()))
        assert np.abs(residual).max() < 1e-11 * scale * masses


# ---------------------------------------------------------------- Newton and Euler


def _bushing_wrenches(system: rbdae.System, states: dict[str, Any]) -> list[tuple[str, Any, Any]]:
    """(body, force, point) of every bushing end."""
    out = []
    for force in system.forces:
        a, b = force.bodies
        ends = []
        for body, r in ((a, force.at_a), (b, force.at_b)):
            if body.fixed:
                ends.append((r, np.zeros(3)))
            else:
                s = states[body.name]
                arm = s.orientation.apply(np.array(r))
                spin = s.orientation.apply(s.angular_velocity)
                ends.append((s.position + arm, s.velocity + np.cross(spin, arm)))
        (xa, va), (xb, vb) = ends
        f = -force.stiffness @ (xa - xb) - force.damping @ (va - vb)
        out += [(a.name, f, xa), (b.name, -f, xb)]
    return out


def _joint_wrenches(problem: rbdae.Problem, states: dict[str, Any]) -> list[tuple[str, Any, Any, Any]]:
    """(body, force, torque, point) of every joint on each of its bodies, the ground included."""
    out = []
    reactions = problem.reactions(problem.t0, problem.y0)
    for joint in problem.system.joints:
        for body, r in zip(joint.bodies, (joint.at_a, joint.at_b), strict=True):
            point = r
            if not body.fixed:
                s = states[body.name]
                point = s.position + s.orientation.apply(np.array(r))
            reaction = reactions[joint.name][body.name]
            out.append((body.name, reaction.force, reaction.torque, point))
    return out


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("system", SYSTEMS)
def test_newton_and_euler(system, seed):
    """m a = F and J Omegadot + Omega x J Omega = M for each body, with the reactions as they are reported."""
    problem = _problem(system, Pairing("index-1", "quaternion", "coordinate"), seed)
    t, y, yd = problem.t0, problem.y0, problem.yd0
    rates = yd.copy()
    rates[problem.layout.la] = 0.0
    states = problem.states(t, y)
    wrenches = [(b, f, np.zeros(3), x) for b, f, x in _bushing_wrenches(problem.system, states)]
    wrenches += _joint_wrenches(problem, states)
    for body in problem.system.bodies:
        s = states[body.name]
        com = s.center_of_mass
        force = body.mass * problem.system.gravity
        about = com if body.pivot is None else s.position
        torque = np.cross(com - about, force)
        for name, f, m, x in wrenches:
            if name == body.name:
                force = force + f
                torque = torque + m + np.cross(x - about, f)
        J, om = body.inertia, s.angular_velocity
        turn = along(lambda z, n=body.name: problem.states(t, z)[n].angular_velocity, y, rates)
        spatial = s.orientation.apply(J @ turn + np.cross(om, J @ om))
        size = max(1.0, np.abs(torque).max(), np.abs(spatial).max(), np.abs(om).max() ** 2 * J.max())
        assert np.abs(spatial - torque).max() < 1e-8 * size, f"{system}: angular balance of {body.name}"
        if body.pivot is None:
            k = problem.model.names.index(body.name)
            acceleration = along(lambda z, k=k: problem.natural(t, z)[k, 12:15], y, rates)
            assert np.abs(body.mass * acceleration - force).max() < 1e-8 * max(1.0, np.abs(force).max())


# ---------------------------------------------------------------- statics by hand

ROUNDING = 1e-13
"""Of accelerations and forces at rest: Baumgarte's terms are 100 times the roundings of positions."""


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("pairing", covering(cases.PAIRINGS, 10), ids=str)
def test_a_chain_with_two_arms_hangs_at_rest(pairing):
    """Each joint carries what hangs below it; two equal arms keep the lower link upright."""
    system = rbdae.System(gravity=(0.0, 0.0, -10.0))
    turn = Rotation.from_euler("ZXZ", (0.3, 1.1, -0.4))  # of the body axes, away from gimbal lock

    def add(name, mass, *position):
        return system.add_body(name, mass=mass, inertia=(0.2, 0.25, 0.3), position=position, orientation=turn)

    def join(a, b, at_a, at_b, name):
        points = [r if body.fixed else turn.inv().apply(r) for body, r in ((a, at_a), (b, at_b))]
        system.add_joint(rbdae.joints.Spherical(a, b, *points, name=name))

    upper, lower = add("upper", 1.0, 0, 0, -0.5), add("lower", 3.0, 0, 0, -1.5)
    left, right = add("left", 0.5, -0.4, 0, -2.3), add("right", 0.5, 0.4, 0, -2.3)
    join(system.ground, upper, (0, 0, 0), (0, 0, 0.5), "top")
    join(upper, lower, (0, 0, -0.5), (0, 0, 0.5), "middle")
    join(left, lower, (0, 0, 0.3), (-0.4, 0, -0.5), "to left")
    join(lower, right, (0.4, 0, -0.5), (0, 0, 0.3), "to right")
    problem = cases.formulate(system, pairing, consistent="check")
    assert np.abs(problem.yd0[: problem.layout.v.stop]).max() < ROUNDING * 20
    reactions = problem.reactions(problem.t0, problem.y0)
    for joint, above, below, load in (
        ("top", "ground", "upper", 50.0),
        ("middle", "upper", "lower", 40.0),
        ("to left", "lower", "left", 5.0),
        ("to right", "lower", "right", 5.0),
    ):
        np.testing.assert_allclose(reactions[joint][below].force, (0, 0, load), atol=50 * ROUNDING)
        np.testing.assert_allclose(reactions[joint][above].force, (0, 0, -load), atol=50 * ROUNDING)


# ---------------------------------------------------------------- multipliers in closed form


def _wrench_on_directors(problem: rbdae.Problem, name: str) -> float:
    """Sum of F . R r over all forces on a body, r from its reference point: half of q . (generalised force)."""
    states = problem.states(problem.t0, problem.y0)
    body = next(b for b in problem.system.bodies if b.name == name)
    s = states[name]
    origin = s.center_of_mass if body.pivot is None else s.position
    out = body.mass * problem.system.gravity @ (s.center_of_mass - origin)
    for b, f, x in _bushing_wrenches(problem.system, states):
        if b == name:
            out += f @ (x - origin)
    for b, f, _, x in _joint_wrenches(problem, states):
        if b == name:
            out += f @ (x - origin)
    return float(out)


# joints of which the natural force is the force at a point, as a spherical one's
POINT_JOINTS = [s for s in SYSTEMS if s != "tied"]
LAGRANGIAN = cases.WITH_NORM_MULTIPLIER
HAMILTONIAN = [
    p for p in cases.PAIRINGS if (FORMULATIONS[p.formulation].unknowns == "momenta") and p.rotation == "quaternion"
]


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize(
    "system, pairing", [(s, p) for k, s in enumerate(POINT_JOINTS) for p in HAMILTONIAN[k % 2 :: 2]]
)
def test_hamiltonian_multiplier(system, pairing, seed=1):
    """[BS09], Remark 4.2: lambda = -q . grad V; joints and dampers count like the potential."""
    problem = _problem(system, pairing, seed)
    la = problem.multipliers(problem.t0, problem.y0)
    for k, name in enumerate(problem.model.names):
        wanted = 2.0 * _wrench_on_directors(problem, name)
        assert abs(la[k] - wanted) < 1e-9 * max(1.0, abs(wanted), np.abs(la).max())


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.sampled
@pytest.mark.parametrize(
    "system, formulation, radial",
    [
        (system, formulation, ("zero", "half-trace")[(i + j) % 2])
        for i, system in enumerate(POINT_JOINTS)
        for j, formulation in enumerate(LAGRANGIAN)
        if cases.NIGHTLY or (i - j) % 3 == 0
    ],
)
def test_quaternion_multiplier(system, formulation, radial, seed=1):
    """p times the equation of motion: lambda = 4 T + J0 |Omega|^2 + p . f, T the kinetic energy of rotation.

    [SNS15] (30) with its factor corrected, and the radial inertia J0; f the generalised forces.
    """
    problem = _problem(system, Pairing(formulation, "quaternion", "coordinate"), seed, radial)
    la = problem.multipliers(problem.t0, problem.y0)
    states = problem.states(problem.t0, problem.y0)
    for k, body in enumerate(problem.system.bodies):
        om = states[body.name].angular_velocity
        J0 = 0.5 * np.trace(body.inertia) if radial == "half-trace" else 0.0
        wanted = 2.0 * om @ body.inertia @ om + J0 * om @ om + 2.0 * _wrench_on_directors(problem, body.name)
        assert abs(la[k] - wanted) < 1e-9 * max(1.0, abs(wanted), np.abs(la).max())


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, formulation", [("tied", "index-1"), ("bushed", "index-0"), ("loop", "index-2")])
def test_radial_inertia_leaves_the_motion_alone(system, formulation):
    pairing = Pairing(formulation, "quaternion", "coordinate")
    zero, half = (_motion(_problem(system, pairing, 1, radial)) for radial in ("zero", "half-trace"))
    for what in zero:
        assert close(half[what], zero[what], 1e-8), what


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system", ["tied", "bushed", "skew-top"])
def test_director_multipliers_do_not_know_momenta(system):
    """The director mass is constant, so -dT/dq vanishes and both forms have the same multipliers."""
    momenta = _problem(system, Pairing("hamiltonian", "directors", "momentum"), 1)
    lagrangian = _problem(system, Pairing("index-1", "directors", "coordinate"), 1)
    assert close(momenta.y0[momenta.layout.la], lagrangian.y0[lagrangian.layout.la], 1e-9)


# ---------------------------------------------------------------- energy off the manifold


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering((c for c in PAIRS if c[1].velocity != "momentum"), 7), ids=str)
def test_off_the_manifold_energy_is_that_of_the_formulations_own_velocities(system, pairing, rng):
    """T = v^T M v / 2, with M from the Jacobian; and angular velocities are the unknowns where they are unknowns."""
    problem = cases.problem(system, pairing)
    *_, (_, y) = cases.manifold_states(problem, rng)
    if inside.selects_velocities(problem):
        w, _ = inside.null_space(problem, 0.0, y)
        w = cases.turned_rows(problem, 0.0, y).T @ w  # Omega = R^T omega
        found = np.concatenate([s.angular_velocity for s in problem.states(0.0, y).values()])
        np.testing.assert_allclose(found, w[inside.velocity_metric(problem).turning], rtol=1e-9)
    elif pairing.angular:
        values = dict(zip(problem.labels, y, strict=True))
        for (name, s), z in zip(problem.states(0.0, y).items(), problem.natural(0.0, y), strict=True):
            if pairing.velocity == "angular":
                found = np.array([values[f"{name}.Omega{i}"] for i in "123"])
            else:
                found = z[3:12].reshape(3, 3) @ [values[f"{name}.omega{i}"] for i in "123"]
            np.testing.assert_allclose(s.angular_velocity, found, rtol=1e-10)
    if problem.kind == "ode" or FORMULATIONS[pairing.formulation].projected:
        return  # no equation has M: test_matrices.py has its energy
    v = problem.layout.v
    M = np.subtract(*(problem.jacobian(0.0, y, problem.yd0, c)[v, v] for c in (1.0, 0.0)))
    if FORMULATIONS[pairing.formulation].unknowns == "velocities":
        M = cases.turned_rows(problem, 0.0, y) @ M
    assert problem.energy(0.0, y).kinetic == pytest.approx(0.5 * y[v] @ M @ y[v], rel=1e-10)


@pytest.mark.parametrize("system", ["skew-top", "branched"])
def test_radial_inertia_counts_off_the_manifold(system, rng):
    pairing = Pairing("index-1", "quaternion", "coordinate")
    problem = cases.problem(system, pairing, radial_inertia="half-trace")
    *_, (_, y) = cases.manifold_states(problem, rng)
    v = problem.layout.v
    M = np.subtract(*(problem.jacobian(0.0, y, problem.yd0, c)[v, v] for c in (1.0, 0.0)))
    assert problem.energy(0.0, y).kinetic == pytest.approx(0.5 * y[v] @ M @ y[v], rel=1e-10)


@pytest.mark.parametrize("rotation", ["quaternion", "directors"])
def test_off_the_manifold_energy_of_momenta_is_the_hamiltonian(rotation, rng):
    """dH/dp = qdot: the flow's own rate of the positions, wherever positions and momenta are."""
    problem = cases.problem("skew-top", Pairing("hamiltonian", rotation, "momentum"))
    *_, (_, y) = cases.manifold_states(problem, rng)
    q, v = problem.layout.q, problem.layout.v
    gradient = [along(lambda z: problem.energy(0.0, z).kinetic, y, e) for e in np.eye(problem.n)[v]]
    qdot = -problem.residual(0.0, y, np.zeros(problem.n))[q]
    np.testing.assert_allclose(gradient, qdot, rtol=0, atol=1e-9)


# ---------------------------------------------------------------- structure of the equations


ELIMINATED = [(s, p) for s, p in PAIRS if p.formulation in ("index-0", "baumgarte-ode")]


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(ELIMINATED), ids=str)
def test_eliminated_forms_satisfy_the_acceleration_constraint(system, pairing, rng):
    """G vdot + g_II = d(gdot)/dt = 0, or = -2 alpha gdot - beta^2 g, wherever positions and velocities are."""
    baumgarte = FORMULATIONS[pairing.formulation].parameters
    alpha, beta = (3.0, 7.0) if baumgarte else (0.0, 0.0)
    problem = cases.problem(system, pairing, **({"alpha": alpha, "beta": beta} if baumgarte else {}))
    internal = inside.internal_constraints(problem)
    for where, y in cases.manifold_states(problem, rng):
        rates = problem.rhs(0.0, y)
        found = along(lambda z, p=problem: p.constraints(0.0, z).velocity, y, rates, 1e-4)
        g = problem.constraints(0.0, y)
        found = found + 2.0 * alpha * g.velocity + beta**2 * g.position
        if pairing.angular and where == "off the manifold":
            found = found[internal:]  # adot = K(a) Omega keeps what the chart has of drift, not its rate
        assert np.abs(found).max(initial=0.0) < 1e-7 * max(1.0, np.abs(rates).max()), where


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.parametrize("system, pairing", covering(PAIRS, 8), ids=str)
def test_constraints_are_the_primitives_and_their_rates(system, pairing, rng):
    """g as `rbdae.joints.primitives` defines it, on natural coordinates anywhere; gdot is its rate."""
    problem = cases.problem(system, pairing)
    internal = inside.internal_constraints(problem)
    for where, y in cases.manifold_states(problem, rng):
        states = problem.states(0.0, y)
        natural = problem.natural(0.0, y)
        wanted = []
        for joint in problem.system.joints:
            Z = []
            for body in joint.bodies:
                if body.fixed:
                    Z += [np.zeros(3), *np.eye(3)]
                else:
                    z = natural[problem.model.names.index(body.name)]
                    Z += [states[body.name].position, *z[3:12].reshape(3, 3)]
            for primitive in joint.primitives():
                P, Q = primitive.A @ Z, primitive.B @ Z
                bilinear = np.array([primitive.scale * P @ Q - primitive.offset[0]])
                wanted.append(P - primitive.offset if primitive.kind == "linear" else bilinear)
        g = problem.constraints(0.0, y)
        np.testing.assert_allclose(g.position[internal:], np.concatenate([[], *wanted]), rtol=0, atol=1e-12)
        rates = np.zeros(problem.n)
        rates[: problem.layout.v.stop] = problem.rates(0.0, y)[0]
        found = along(lambda z, p=problem: p.constraints(0.0, z).position, y, rates, 1e-4)
        size = max(1.0, np.abs(rates).max())
        assert np.abs(found - g.velocity).max(initial=0.0) < 1e-9 * size, where


@pytest.mark.plain  # a few evaluations a case
@pytest.mark.sampled
@pytest.mark.parametrize("system", SYSTEMS)
def test_a_rigid_motion_of_everything_in_another_order_turns_the_motion(system, rng):
    """Bodies, joints and forces are turned, shifted, and added the other way round."""
    turn, shift = Rotation.random(random_state=rng), rng.standard_normal(3)
    here, k = _system(system, 1), [*SYSTEMS].index(system)
    there = cases.rebuild(here, turn=turn, shift=shift, order=range(len(here.bodies))[::-1])
    for pairing in cases.turns(k) if cases.NIGHTLY else cases.turns(k)[k::7]:
        old, new = _problem(system, pairing, 1), cases.formulate(there, pairing)
        a, b = _motion(old), _motion(new)
        for i, name in enumerate(old.model.names):
            for what in ("natural coordinates", "natural rates"):
                x = turn.apply(a[what][i].reshape(-1, 3))
                z = b[what][new.model.names.index(name)].reshape(-1, 3).copy()
                z[0] -= shift if what == "natural coordinates" else 0.0
                assert close(z, x, 1e-7, max(1.0, np.abs(x).max())), (what, pairing, name)
        x, z = old.reactions(0.0, old.y0), new.reactions(0.0, new.y0)
        size = max(1.0, np.abs(a["reactions"]).max(initial=0.0))
        for joint in x:
            for body, reaction in x[joint].items():
                other = z[joint][body]
                assert close(other.force, turn.apply(reaction.force), 1e-8, size), (joint, body, pairing)
                assert close(other.torque, turn.apply(reaction.torque), 1e-8, size), (joint, body, pairing)
        assert abs(a["energy"][0] - b["energy"][0]) < 1e-9 * max(1.0, a["energy"][0])
