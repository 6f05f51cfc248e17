"""Every public observable, and the independent value that it is checked against, in every pairing.

`TABLES` has an entry for each public name of `rbdae.Problem`, its `callbacks`, `rbdae.Solution` and what they give:
`CHECKED` has functions that compare it, along a run of `observed.Case`, with what follows from the definition
(`readings`), from Newton's and Euler's equations (`maximal`), or from another form (the reference); `ELSEWHERE` names
the law of what is no value of a state, or has a law of its own over all forms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cases
import inside
import numpy as np
import readings
from inside import Mat, Vec
from observed import FORMS, START, TIMES, TOLERANCE, Case

import rbdae
from rbdae.formulations import FORMULATIONS

ROUNDING = 1e-9
"""Of values that are compared at one state; solutions of linear equations have condition numbers up to 1e4 here."""

OF_THE_RUN = 3e-5
"""Of values that a run at 1e-8 of `TOLERANCE` has: errors of index 3 grow a hundred times."""

K = 3
"""The state that most checks look at."""


@dataclass(frozen=True)
class Checked:
    """By which function."""

    check: Callable[[Case], None]


@dataclass(frozen=True)
class Elsewhere:
    """By which law."""

    law: str


def same(found: Any, wanted: Any, tolerance: float = ROUNDING, size: float = 0.0) -> None:
    """Equal, relative to the largest number, or to `size` if that is larger."""
    found, wanted = np.asarray(found, float), np.asarray(wanted, float)
    assert found.shape == wanted.shape, f"shape {found.shape}, not {wanted.shape}"
    error = float(np.abs(found - wanted).max(initial=0.0))
    size = max(size, float(np.abs(wanted).max(initial=0.0)), 1e-300)
    assert error <= tolerance * size, f"off by {error:.3g}, beside {size:.3g}"


def _t(c: Case) -> float:
    return float(TIMES[K])


def _y(c: Case) -> Vec:
    out: Vec = c.states[K]
    return out


def _yd(c: Case) -> Vec:
    """Consistent rates: with those of integrals of multipliers."""
    layout = c.problem.layout
    out = np.zeros(c.problem.n)
    out[: layout.n_differential] = c.problem.rates(_t(c), _y(c))[0]
    if _form(c).multipliers == "integrals":
        out[layout.la] = layout.among_unknowns(c.problem.interpretation.rates_of_selection(_t(c), _y(c))[1])
    return out


def _any_yd(c: Case) -> Vec:
    return _yd(c) + 0.3 * np.random.default_rng(5).standard_normal(c.problem.n)


def _form(c: Case) -> Any:
    return FORMULATIONS[c.pairing.formulation]


def _reduced(c: Case) -> bool:
    return c.pairing.formulation.startswith("null-space")


def _internal(c: Case) -> int:
    """Internal constraints of the velocities, by the number of parameters: four have a norm, nine are orthonormal."""
    if c.pairing.velocity in ("angular", "spatial"):
        return 0
    return len(c.system.bodies) * {4: 1, 9: 6}[_parameters(c)]


def _parameters(c: Case) -> int:
    return cases.CHART_CASES[c.pairing.rotation].n


def _rows(c: Case) -> int:
    return sum(joint.n_constraints for joint in c.system.joints)


def _gradient(c: Case) -> Mat:
    return c.gradients[K]


def _moving(c: Case) -> Vec:
    """Which of (xdot, Omega) of all bodies there are: a pivot has no xdot."""
    return np.concatenate([[body.pivot is None] * 3 + [True] * 3 for body in c.system.bodies]).astype(bool)


def _rank(c: Case) -> int:
    return int(np.linalg.matrix_rank(_gradient(c), tol=1e-8))


# ---------------------------------------------------------------- facts


def _counts(c: Case) -> None:
    bodies = c.system.bodies
    free = 3 * sum(body.pivot is None for body in bodies)
    n_q = free + len(bodies) * _parameters(c)
    n_v = free + len(bodies) * (_parameters(c) if _internal(c) else 3)
    if _reduced(c):
        n_v = free + 3 * len(bodies) - _rank(c)
    n_s = {"arm": 2, "linkage": 2, "pair": 0}[c.name]
    n_la = 0 if _form(c).multipliers == "none" else _rows(c) + (0 if _form(c).projected else _internal(c))
    n_mu = n_la if c.pairing.formulation in ("ggl", "hiller-anantharaman", "hamiltonian-ggl") else 0
    if c.pairing.formulation == "null-space-ggl":
        n_la, n_mu = 0, _rows(c) + len(bodies) * {4: 1, 9: 6}.get(_parameters(c), 0)
    layout = c.problem.layout
    parts = [layout.q, layout.v, layout.s, layout.la, layout.mu]
    ends = np.cumsum([0, n_q, n_v, n_s, n_la, n_mu])
    assert [(part.start, part.stop) for part in parts] == list(pairwise(ends))
    assert c.problem.n == layout.n == ends[-1] == len(c.problem.labels) == len(set(c.problem.labels))
    rows = _rows(c) + _internal(c)
    if _reduced(c):  # without multipliers, rows that are left out have no equations
        rows = _rank(c) + len(bodies) * {4: 1, 9: 6}.get(_parameters(c), 0)
    assert c.problem.n_equations == c.problem.n + FORMS[c.pairing.formulation].further * rows
    assert c.problem.residual(_t(c), _y(c), _yd(c)).shape == (c.problem.n_equations,)


def _labels(c: Case) -> None:
    """An unknown moves the body of its label, and a multiplier pulls at the bodies of its joint."""
    p, t, y, layout = c.problem, _t(c), _y(c), c.problem.layout
    names = [body.name for body in c.system.bodies]
    here = p.natural(t, y)
    for k in range(layout.v.start if _reduced(c) else layout.v.stop):
        moved = y.copy()
        moved[k] += 1e-3
        change = np.abs(p.natural(t, moved) - here)
        change = change[:, :12] if k < layout.q.stop else change[:, 12:]
        assert [names[b] for b in np.nonzero(change.max(axis=1) > 1e-9)[0]] == [p.labels[k].rpartition(".")[0]]
    forces = {f.name for f in c.system.forces}
    assert {label.rpartition(".")[0] for label in p.labels[layout.s]} <= forces
    joints = {joint.name: {body.name for body in joint.bodies} for joint in c.system.joints}
    yd, rows = _any_yd(c), [label.rpartition(".")[0] for label in p.labels[: layout.v.stop]]
    still = p.residual(t, y, yd)
    for k in range(layout.la.start, layout.mu.stop):
        owner = p.labels[k].split(".")[0]
        moved, rates = y.copy(), yd.copy()
        (rates if _form(c).unknown_multipliers == "integrals" else moved)[k] += 1.0
        change = np.abs(p.residual(t, moved, rates) - still)[: layout.v.stop]
        pulled = {rows[i] for i in np.nonzero(change > 1e-9)[0]}
        assert pulled <= joints.get(owner, {owner}), p.labels[k]


def _pencil(c: Case) -> tuple[Mat, Mat]:
    """dF/dyd and dF/dy of the first n equations."""
    p, t, y, yd = c.problem, _t(c), _y(c), _yd(c)
    y = _with_multipliers(c, y)
    B = p.jacobian(t, y, yd, 0.0)[: p.n]
    return p.jacobian(t, y, yd, 1.0)[: p.n] - B, B


def _with_multipliers(c: Case, y: Vec) -> Vec:
    out = y.copy()
    if _form(c).multipliers == "values":
        out[c.problem.layout.la] = c.between[K][c.problem.layout.la]
    return out


def _classes(c: Case) -> None:
    """The class of an unknown is how its response to a disturbance of the equations grows with the rate of the
    disturbance: row k of (r A + B)^-1 as r^(class - 1), at least 1 ([HW96] VII.1; the pencil of a linearised DAE)."""
    p = c.problem
    A, B = _pencil(c)
    appears = np.abs(A).max(axis=0) > 0.0
    assert np.array_equal(p.differential, appears)
    assert p.kind == ("overdetermined" if p.n_equations > p.n else "ode" if p.differential.all() else "dae") or (
        p.kind == "dae" and _form(c).unknown_multipliers == "integrals"
    )
    if p.kind == "ode":
        assert p.index == 0 and not p.variable_index.any()
        return
    if c.pairing.formulation == "null-space-overdetermined" or c.name == "linkage":
        return  # the first of them are an ODE; rows that are left out have equations of their own
    fast = [np.abs(np.linalg.inv(r * A + B)).max(axis=1) for r in (1e5, 1e6)]
    found = np.maximum(np.rint(np.log10(fast[1] / fast[0])).astype(int) + 1, 1)
    assert np.array_equal(p.variable_index, found), (p.variable_index, found)
    assert p.index == found.max()


def _redundant(c: Case) -> None:
    G = _gradient(c)
    assert len(c.problem.redundant) == len(G) - _rank(c) == (3 if c.name == "linkage" else 0)
    names = [f"joint {joint.name!r}, equation {k + 1} of {joint.n_constraints}"
             for joint in c.system.joints for k in range(joint.n_constraints)]  # fmt: skip
    kept = [k for k, name in enumerate(names) if name not in c.problem.redundant]
    assert len(kept) == _rank(c) == np.linalg.matrix_rank(G[kept], tol=1e-8)
    assert c.problem.assembly.redundant == c.problem.redundant


def _names(c: Case) -> None:
    p = c.problem
    assert (p.formulation, p.rotation, p.velocity) == tuple(c.pairing)
    assert p.model.system is p.system
    for what in ("bodies", "joints", "forces"):
        assert [each.name for each in getattr(p.system, what)] == [each.name for each in getattr(c.system, what)]
    assert p.code == p.callbacks.code("residual") == c.code
    assert p.parameters and {name.split(".")[0] for name in p.parameters} >= {
        "gravity",
        *(b.name for b in c.system.bodies),
    }
    assert p.singular_row() is None


def _start(c: Case) -> None:
    """The reference's, and it solves the equations."""
    p = c.problem
    assert p.t0 == p.start.t0 == START
    assert p.start.y0 is p.y0 and p.start.yd0 is p.yd0 and p.start.assembly is p.assembly
    same(p.natural(p.t0, p.y0), c.reference.natural[0], 1e-11)
    assert np.abs(p.residual(p.t0, p.y0, p.yd0)).max() < ROUNDING * 100.0
    if _form(c).multipliers == "values":
        found, la = p.run_multipliers(p.t0, p.y0), p.interpretation.rates_of_selection(p.t0, p.y0)[1]
        hidden = _internal(c) if _form(c).projected else 0
        same(found[hidden:], la[hidden:], ROUNDING)


def _references(c: Case) -> None:
    """R_ref R(a) is the attitude."""
    for body in c.system.bodies:
        _, a = readings.positions(c.problem, _y(c), body)
        R = readings.directors(c.problem, body, a)
        same(c.problem.states(_t(c), _y(c))[body.name].orientation.as_matrix(), R, ROUNDING)


# ---------------------------------------------------------------- states


def _natural(c: Case) -> None:
    """By definition, of drifted states as well; rates of momenta and quasi-velocities by what they belong to."""
    p, t = c.problem, _t(c)
    for y in (_y(c), c.drifted):
        found = p.natural(t, y)
        Z, Zd = readings.natural(p, y)
        same(found[:, :12], Z, 1e-12)
        if Zd is not None:
            same(found[:, 12:], Zd, ROUNDING)
        qd = p.interpretation.rates_of_selection(t, y)[0][
            p.layout.q
        ]  # positions move as their rates say, off the constraints, too
        moved = cases.along(lambda q, y=y: readings.natural(p, np.concatenate([q, y[len(q) :]]))[0], y[p.layout.q], qd)
        same(found[:, 12:], moved, 1e-8)
    if p.velocity == "momentum":
        _momenta(c)


def _momenta(c: Case) -> None:
    """p . dq is what a turn or a shift of each body says of its momentum: R J Omega and m v."""
    p, y, layout = c.problem, _y(c), c.problem.layout
    s = c.motion[K]
    for k, body in enumerate(c.system.bodies):
        J = np.array(body.central_inertia)
        turning = s.R[k] @ J @ s.Omega[k]
        if body.pivot is not None:
            turning = turning + np.cross(s.c[k] - np.array(body.pivot), body.mass * s.v[k])
        labels = [i for i in range(layout.v.start, layout.v.stop) if p.labels[i].rpartition(".")[0] == body.name]
        conjugate = y[labels[-_parameters(c) :]]
        _, a = readings.positions(p, y, body)
        for e in np.eye(3):
            R = readings.directors(p, body, a)
            da = np.linalg.lstsq(_slopes(c, body, a), (readings.hat(e) @ R).ravel(), rcond=None)[0]
            same(conjugate @ da, e @ turning, 1e-7, float(np.abs(turning).max()))
        if body.pivot is None:
            same(y[labels[:3]], body.mass * s.v[k], ROUNDING)


def _slopes(c: Case, body: Any, a: Vec) -> Mat:
    return np.array(
        [cases.along(lambda b: readings.directors(c.problem, body, b), a, e).ravel() for e in np.eye(len(a))]
    ).T


def _states(c: Case) -> None:
    found = c.problem.states(TIMES, c.states)
    for k, body in enumerate(c.system.bodies):
        state = found[body.name]
        for i, s in enumerate(c.motion):
            arm = s.R[k] @ np.array(body.center_of_mass)
            same(state.center_of_mass[i], s.c[k], ROUNDING)
            same(state.position[i], s.c[k] - arm, ROUNDING)
            same(state.orientation.as_matrix()[i], s.R[k], ROUNDING)
            same(state.angular_velocity[i], s.Omega[k], ROUNDING)
            same(
                state.velocity[i], s.v[k] - s.R[k] @ np.cross(s.Omega[k], np.array(body.center_of_mass)), ROUNDING, 1.0
            )


def _energy(c: Case) -> None:
    found = c.problem.energy(TIMES, c.states)
    same(found.kinetic, [readings.kinetic(c.system, s) for s in c.motion])
    V = np.array([readings.potential(c.system, s, t) for s, t in zip(c.motion, TIMES, strict=True)])
    same(found.potential - found.potential[0], V - V[0], ROUNDING, float(found.kinetic.max()))
    assert np.array_equal(found.total, found.kinetic + found.potential)


def _momentum(c: Case) -> None:
    found = c.problem.momentum(TIMES, c.states)
    wanted = [readings.momentum(c.system, s) for s in c.motion]
    same(found.linear, [w[0] for w in wanted])
    same(found.angular, [w[1] for w in wanted])
    if c.name == "pair":  # nothing acts from outside
        same(found.linear, np.tile(found.linear[0], (len(TIMES), 1)), OF_THE_RUN)
        same(found.angular, np.tile(found.angular[0], (len(TIMES), 1)), OF_THE_RUN)


def _constraints(c: Case) -> None:
    t = _t(c)
    for y in (_y(c), c.drifted):
        Z = c.problem.natural(t, y)
        found = c.problem.constraints(t, y)
        g, gd = readings.joint_constraints(c.system, t, Z)
        at = len(found.position) - len(g)
        same(found.position[at:], g, 1e-12, 1.0)
        same(found.velocity[at:], gd, 1e-12, 1.0)
        own, rates = [], []
        for z in Z:
            D, Dd = z[3:12].reshape(3, 3), z[15:24].reshape(3, 3)
            if _parameters(c) == 4:  # |p|^2 = det^(1/3)
                size = np.cbrt(np.linalg.det(D))
                own.append(0.5 * (size - 1.0))
                rates.append(size * np.trace(np.linalg.solve(D.T, Dd.T)) / 6.0)
            elif _parameters(c) == 9:
                own += [0.5 * (D[i] @ D[i] - 1.0) for i in range(3)] + [D[0] @ D[1], D[0] @ D[2], D[1] @ D[2]]
        assert at == len(own)
        if _parameters(c) == 4:
            same(found.position[:at], own, 1e-12, 1.0)
            if not (_form(c).unknowns == "momenta" or _form(c).projected):
                same(found.velocity[:at], rates, 1e-11, 1.0)
        elif at:
            assert (np.abs(found.position[:at]).max() > 1e-3) == (np.abs(own).max() > 1e-3)
            for b in range(len(Z)):  # the length of the symmetric part of R^T R - 1, in any basis
                mine, theirs = np.sort(np.abs(own[6 * b : 6 * b + 6])), np.abs(found.position[6 * b : 6 * b + 6])
                assert abs(mine.max() - theirs.max()) < 2.0 * max(mine.max(), 1e-12)


def _log_determinant(c: Case) -> None:
    """log det(G M^-1 G^T) / 2 of the rows that are kept."""
    there = _moving(c)
    M = readings.mass_matrix(c.system)[np.ix_(there, there)]
    wanted = []
    for G in c.gradients:
        G = np.delete(G, inside.omitted_rows(c.problem), axis=0)[:, there]
        wanted.append(0.5 * np.linalg.slogdet(G @ np.linalg.solve(M, G.T))[1])
    same(c.problem.log_determinant(TIMES, c.states), wanted, ROUNDING, 1.0)


# ---------------------------------------------------------------- equations


def _rates(c: Case) -> None:
    """Accelerations of Newton and Euler, velocities, what the forces say of their states; the right-hand side, too."""
    p, t, y = c.problem, _t(c), _y(c)
    rates, la = p.rates(t, y)
    assert la.shape == (_internal(c) + _rows(c),)
    d = p.layout.n_differential

    def moved(h: Vec) -> Vec:
        z = y.copy()
        z[:d] += h[0] * rates
        Z = p.natural(t + h[0], z)
        s = readings.state(c.system, Z)
        return np.concatenate([s.c[:-1].ravel(), s.v[:-1].ravel(), s.Omega[:-1].ravel()])

    n = 3 * len(c.system.bodies)
    change = cases.along(moved, np.zeros(1), np.ones(1), 1e-3)
    same(change[:n], c.motion[K].v[:-1].ravel(), 1e-8)
    same(change[n : 2 * n], c.solved.acceleration.ravel(), 1e-7)
    same(change[2 * n :], c.solved.angular_acceleration.ravel(), 1e-7)
    _state_rates(c, rates[p.layout.s])
    if p.kind == "ode":
        same(p.rhs(t, y), rates, ROUNDING)
    else:
        with _refused(AttributeError):
            p.rhs(t, y)


def _state_rates(c: Case, found: Vec) -> None:
    """By the formulas of `toy_force`: a Maxwell element's damper, lags; a counted angle turns as its joint."""
    names = [label.rpartition(".") for label in c.problem.labels[c.problem.layout.s]]
    s = c.motion[K]
    internal = readings.internal_states(c.problem, _y(c))
    for (force_name, _, which), rate in zip(names, found, strict=True):
        force: Any = next(f for f in c.system.forces if f.name == force_name)
        everything = [*c.system.bodies, c.system.ground]
        a, b = ([*(everything.index(x) for x in force.bodies), len(c.system.bodies)])[:2]
        if which in ("stretch", "lag1", "lag2"):
            ends = [s.pose(k).at(at) for k, at in ((a, force.at_a), (b, force.at_b))]
            speeds = [s.v[k] + s.R[k] @ np.cross(s.Omega[k], np.array(at) - s.center[k])
                      for k, at in ((a, force.at_a), (b, force.at_b))]  # fmt: skip
            P = ends[0] - ends[1]
            length = float(np.linalg.norm(P))
            pull = float(P @ (speeds[0] - speeds[1])) / length
            x = internal[force_name]
            if which == "stretch":
                wanted = force.stiffness * (length - force.length - x[0]) / force.viscosity
            else:
                wanted = ((pull if which == "lag1" else x[0]) - x[int(which[-1]) - 1]) / force.lag
        else:
            axis = s.R[a] @ np.array(force.joint.axis_a)
            wanted = float(axis @ (s.R[b] @ s.Omega[b] - s.R[a] @ s.Omega[a]))
        same(rate, wanted, 1e-7, 1.0)


class _refused:
    """That something is refused with this error."""

    def __init__(self, error: type[Exception]) -> None:
        self.error = error

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, value: Any, trace: Any) -> bool:
        assert kind is not None and issubclass(kind, self.error), (
            f"not refused with {self.error.__name__}, but {value!r}"
        )
        return True


def _residual(c: Case) -> None:
    """Zero at the rates of Newton and Euler, with multipliers of the selection; and what it is beside them is M times
    the difference, or the difference."""
    p, t, yd = c.problem, _t(c), _yd(c)
    y = _with_multipliers(c, _y(c))
    size = float(np.abs(p.residual(t, y, 0.0 * yd)).max())
    if p.redundant:  # the multipliers of the rows that are kept
        la = p.interpretation.rates_of_selection(t, y)[1]
        if _form(c).multipliers == "values":
            y[p.layout.la] = p.layout.among_unknowns(la)
    assert np.abs(p.residual(t, y, yd)).max() < 1e-6 * size
    other = _any_yd(c)
    if p.kind == "ode" and not _reduced(c):
        same(p.residual(t, y, other), other - p.rhs(t, y), ROUNDING)
    else:
        assert np.abs(p.residual(t, y, other)).max() > 1e-3 * size


def _jacobian(c: Case) -> None:
    """Differences of the residual; the sparse one and its pattern have the same entries."""
    p, t, y, yd, factor = c.problem, _t(c), c.drifted, _any_yd(c), 2.5
    found = p.jacobian(t, y, yd, factor)
    assert found.shape == (p.n_equations, p.n)
    for d in np.random.default_rng(3).standard_normal((2, p.n)):
        wanted = cases.along(lambda e: p.residual(t, y + e, yd + factor * e), np.zeros(p.n), d, 1e-3)
        same(found @ d, wanted, 1e-6)
    pattern, sparse = p.sparsity, p.sparse_jacobian(t, y, yd, factor)
    assert not found[pattern.toarray() == 0.0].any()
    assert np.array_equal(sparse.indices, pattern.indices) and np.array_equal(sparse.indptr, pattern.indptr)
    same(sparse.toarray(), found, 1e-12)


# ---------------------------------------------------------------- reactions


def _reactions(c: Case) -> None:
    """Newton's and Euler's, where they are unique; with redundant rows their sum over each body's joints."""
    found = c.problem.reactions(_t(c), _y(c))
    scale = max(np.abs(force).max() for joint in c.solved.reactions.values() for force, _ in joint.values())
    for joint in c.system.joints:
        frame = _joint_frame(c, joint)
        for body in joint.bodies:
            reaction = found[str(joint.name)][body.name]
            wanted = c.solved.reactions[str(joint.name)][body.name]
            same(reaction.frame, frame, ROUNDING)
            unique = True
            for what, value in zip(("force", "torque"), wanted, strict=True):
                for which, basis in (("", frame), ("_in_space", np.eye(3))):
                    sure = np.asarray(getattr(reaction, f"unique_{what}{which}"))
                    same((basis.T @ getattr(reaction, what))[sure], (basis.T @ value)[sure], 1e-7, scale)
                    unique = unique and bool(sure.all())
            assert reaction.unique == unique
            assert unique or c.name == "linkage"
    if c.name == "linkage":
        for k, body in enumerate(c.system.bodies):
            for about in (False, True):
                mine, theirs = np.zeros(3), np.zeros(3)
                for joint in c.system.joints:
                    if body in joint.bodies:
                        at = (joint.at_a, joint.at_b)[joint.bodies.index(body)]
                        arm = c.motion[K].pose(k).at(at) if about else np.zeros(3)
                        one, two = found[str(joint.name)][body.name], c.solved.reactions[str(joint.name)][body.name]
                        mine += one.torque * about + (np.cross(arm, one.force) if about else one.force)
                        theirs += two[1] * about + (np.cross(arm, two[0]) if about else two[0])
                same(mine, theirs, 1e-7, scale)


def _joint_frame(c: Case, joint: Any) -> Mat:
    """Along normal_a, axis_a x normal_a and axis_a, or the axes of the first body."""
    a = joint.bodies[0]
    R = np.eye(3) if a.fixed else c.motion[K].R[c.system.bodies.index(a)]
    if not hasattr(joint, "normal_a"):
        return np.asarray(R)
    n, u = np.array(joint.normal_a), np.array(joint.axis_a)
    return np.asarray(R @ np.array([n, np.cross(u, n), u]).T)


def _run_multipliers(c: Case) -> None:
    """What y has under the labels of joints; along the run those of the motion."""
    p, layout = c.problem, c.problem.layout
    if _form(c).multipliers != "values":
        with _refused(ValueError):
            p.run_multipliers(TIMES, c.run.y)
        with _refused(ValueError):
            _ = c.run.run_multipliers
        return
    found = c.run.run_multipliers
    hidden = _internal(c) if _form(c).projected else 0
    assert np.array_equal(found[:, hidden:], c.run.y[:, layout.la]) and not found[:, :hidden].any()
    assert np.array_equal(p.run_multipliers(_t(c), c.run.y[K]), found[K])
    labels = [label.split(".")[0] for label in p.labels[layout.la]]
    wanted = [joint.name for joint in c.system.joints for _ in range(joint.n_constraints)]
    assert labels[len(labels) - len(wanted) :] == wanted
    # along the run: of index 1 they are not tested by the solver, see `Solution.run_multipliers`
    motion = np.array([p.interpretation.rates_of_selection(t, y)[1] for t, y in zip(TIMES, c.between, strict=True)])
    assert np.array_equal(p.run_multipliers(TIMES, c.between)[:, hidden:], motion[:, hidden:])
    if p.index > 1:
        same(found[1:, hidden:], motion[1:, hidden:], 3e-2 if p.index == 3 else 3e-3)


# ---------------------------------------------------------------- projection


def _project(c: Case) -> None:
    """On the constraints, and nowhere nearer: no motion that they leave makes the way of the masses shorter, that is
    the sum of m |dx|^2 + tr(dD E dD^T) with Euler's tensor E, to first order."""
    p, t = c.problem, _t(c)
    d = p.layout.n_differential
    y = _y(c).copy()
    y[:d] += 1e-5 * np.random.default_rng(8).standard_normal(d)
    done = p.project(t, y)
    assert np.array_equal(done[p.layout.s.start :], y[p.layout.s.start :])
    Z = p.natural(t, done)
    for part in readings.joint_constraints(c.system, t, Z):
        assert np.abs(part).max() < 1e-11
    begun = y.copy()
    if _parameters(c) == 9:  # frames become orthonormal first, [Klu76], [Spu78], or with their rates
        method = "spurrier-klumpp" if p.velocity in ("angular", "spatial") else "polar"
        for body in c.system.bodies:
            at = [k for k in range(p.layout.q.stop) if p.labels[k].rpartition(".")[0] == body.name][-9:]
            begun[at] = rbdae.rotations.orthonormalised(begun[at].reshape(3, 3).T, method).T.ravel()
    change = Z - p.natural(t, begun)
    n = len(c.system.bodies)
    G = np.vstack([_gradient(c), np.eye(6 * n)[~_moving(c)]])
    tangents = np.linalg.svd(G)[2][np.linalg.matrix_rank(G, tol=1e-8) :]
    for tangent in tangents:
        work, size = 0.0, 0.0
        for k, body in enumerate(c.system.bodies):
            delta, E = change[k, 3:12].reshape(3, 3).T, readings.euler_tensor(body)
            turn = c.motion[K].R[k] @ readings.hat(tangent[6 * k + 3 : 6 * k + 6])
            work += body.mass * change[k, :3] @ tangent[6 * k : 6 * k + 3] + np.trace(delta @ E @ turn.T)
            if body.pivot is None:
                size = max(size, body.mass * float(np.abs(change[k, :3]).max()))
            size = max(size, float(np.abs(delta @ E).max()))
        assert abs(work) < 1e-3 * size
    same(p.project(t, done), done, 1e-10)
    rbdae.Projection().bind(p)(t, y)
    assert np.array_equal(y, done)


# ---------------------------------------------------------------- callbacks


def _callbacks(c: Case) -> None:
    """In place, what the problem gives: bit for bit, whatever was in the arrays."""
    p, t, y, yd = c.problem, _t(c), _y(c), _any_yd(c)
    for name in ("residual", "jacobian", "jacobian_data", *(("rhs", "rhs_jacobian") if p.kind == "ode" else ())):
        wanted: Any
        arguments: tuple[Any, ...] = (t, y, yd, 2.5)
        if name == "residual":
            wanted, arguments = p.residual(t, y, yd), (t, y, yd)
        elif name == "jacobian":
            wanted = p.jacobian(t, y, yd, 2.5)
        elif name == "jacobian_data":
            wanted = p.sparse_jacobian(t, y, yd, 2.5).data
        else:
            wanted, arguments = getattr(p, name)(t, y), (t, y)
        out = np.full_like(wanted, np.nan)
        getattr(p.callbacks, name)(*arguments, out)
        assert np.array_equal(out, wanted), name
        assert p.callbacks.code(name) in ("generic", c.code)
        if c.code == "traced" or (name == "residual" and c.name == "pair"):
            _machine(c, name, arguments, wanted)
    assert inside.code_of_callbacks(p, {"residual"}) == p.callbacks.code("residual") == c.code
    assert isinstance(inside.handed_over(p), int) and inside.handed_over(p) == 0


def _machine(c: Case, name: str, arguments: tuple[Any, ...], wanted: Any) -> None:
    """The C function gives the same."""
    f = c.problem.callbacks.machine(name)
    out = np.full_like(wanted, np.nan, order="C")
    t, y = arguments[:2]
    yd = arguments[2] if len(arguments) > 2 else y
    factor = arguments[3] if len(arguments) > 3 else 0.0
    y, yd = np.ascontiguousarray(y), np.ascontiguousarray(yd)
    status = inside.machine_call(f.address)(f.context, t, y.ctypes.data, yd.ctypes.data, factor, out.ctypes.data)
    assert status == 0 and np.array_equal(out, wanted), name


# ---------------------------------------------------------------- runs


def _run(c: Case) -> None:
    """The motion of another form; between the steps, and at the output times."""
    assert np.array_equal(c.run.t, TIMES) and c.run.y.shape == (len(TIMES), c.problem.n)
    for y in (c.run.y, c.between):
        same(c.run.problem.natural(TIMES, y), c.reference.natural, OF_THE_RUN)
    for k, internal in enumerate(c.reference.internal):
        for name, values in readings.internal_states(c.problem, c.run.y[k]).items():
            same(values, internal[name], OF_THE_RUN, 1.0)
    t = float(0.5 * (TIMES[1] + TIMES[2]))
    other = c.reference.run
    same(c.run.problem.natural(t, c.run(t)), other.problem.natural(t, other(t)), OF_THE_RUN)
    if _form(c).multipliers == "values":  # those of the kinematic correction vanish in the exact motion
        assert not c.between[:, c.problem.layout.mu].any()


def _facts_of_the_run(c: Case) -> None:
    run = c.run
    assert run.success and run.reason.name == "FINISHED" and "reached the end of the interval" in run.message
    assert run.solver == c.form.solver and run.solver in run.message
    assert run.rtol >= TOLERANCE and run.options["t_eval"] == "5 times" and "event" in run.options["events"]
    if c.form.solved_as is None:
        assert np.all(np.asarray(run.atol) >= rbdae.scaled_atol(c.problem, TOLERANCE) * (1 - 1e-12))
    assert run.steps is not None and run.steps.t[0] == START and run.steps.t[-1] == TIMES[-1]
    assert np.array_equal(run.dense.steps, run.steps.t) and np.all(np.diff(run.steps.t) > 0.0)
    assert np.array_equal(run.dense.recorded.t, run.steps.t) and np.array_equal(run.dense.recorded.y, run.steps.y)
    assert run.stats.steps == len(run.steps.t) - 1 > 0 and run.stats.evaluations > 0
    assert run.stats.code in ("generic", c.code) and run.stats.restarts == 0 == len(inside.segment_times(run))
    assert run.problem is not None and run.problem.model is c.problem.model
    assert run.problem.formulation == c.pairing.formulation
    if run.segments is not None:
        assert run.segments.problems[0] is run.problem_at(START)
    d = c.problem.layout.n_differential
    same(run(run.steps.t)[:, :d], run.steps.y[:, :d], 1e-15)


def _events(c: Case) -> None:
    """Where the reference has the level."""
    (log,) = c.run.events
    assert len(log.t) >= 1
    assert np.abs(log.t - TIMES[2]).min() < 1e-5
    problem = c.run.problem
    assert problem is not None
    levels = [problem.natural(t, y)[0, 3] for t, y in zip(log.t, log.y, strict=True)]
    same(levels, np.full(len(levels), c.level), 1e-6, 1.0)


def _rows_of_the_run(c: Case) -> None:
    """Each row is what its problem says of it, which has laws of its own."""
    run = c.run
    for k in (1, 4):
        t, y = float(TIMES[k]), run.y[k]
        p = run.problem_at(t)
        energy, momentum = p.energy(t, y), p.momentum(t, y)
        same(run.energy.kinetic[k], energy.kinetic, 1e-13)
        same(run.energy.potential[k], energy.potential, 1e-13)
        same(run.energy.total[k], energy.total, 1e-13)
        same(run.momentum.linear[k], momentum.linear, 1e-13)
        same(run.momentum.angular[k], momentum.angular, 1e-13)
        same(run.multipliers[k], p.multipliers(t, y), 1e-10)
        for name, state in p.states(t, y).items():
            for what in ("position", "velocity", "angular_velocity", "center_of_mass"):
                same(getattr(run.states[name], what)[k], getattr(state, what), 1e-13)
            same(run.states[name].orientation[k].as_matrix(), state.orientation.as_matrix(), 1e-13)
        for joint, bodies in p.reactions(t, y).items():
            for name, reaction in bodies.items():
                same(run.reactions[joint][name].force[k], reaction.force, 1e-9, 1e-3)
                same(run.reactions[joint][name].torque[k], reaction.torque, 1e-9, 1e-3)
    for t, Z, drift, gap in zip(
        TIMES, run.problem.natural(TIMES, run.y), run.drift.position, run.drift.velocity, strict=True
    ):
        g, gd = readings.joint_constraints(c.system, t, Z)
        found = run.problem.constraints(t, run.y[list(TIMES).index(t)])
        first = len(found.position) - len(g)
        assert drift == max(np.abs(found.position[:first]).max(initial=0.0), np.abs(found.position[first:]).max())
        assert abs(np.abs(g).max() - np.abs(found.position[first:]).max()) < 1e-12
        assert gap >= np.abs(gd).max() - 1e-12


def _work(c: Case) -> None:
    """By quadrature of the power that Newton's and Euler's equations leave over, along the reference; the balance is
    the change of energy without it."""
    energy = c.run.energy
    size = float(energy.kinetic.max())
    same(energy.work, c.reference.work, OF_THE_RUN, size)
    assert c.name == "pair" or np.abs(c.reference.work).max() > 1e-3 * size
    assert np.array_equal(energy.balance, energy.total - energy.total[0] - energy.work)
    assert np.abs(energy.balance).max() < OF_THE_RUN * size


def _projected(c: Case) -> None:
    """Every row, and every step, on the constraints: what `Problem.project` gives of it."""
    done = c.run.projected()
    p = c.run.problem
    assert p is not None
    for k, t in enumerate(TIMES):
        assert np.array_equal(done.y[k], p.project(float(t), c.run.y[k]))
    for part in readings.joint_constraints(c.system, _t(c), p.natural(_t(c), done.y[K])):
        assert np.abs(part).max() < 1e-11
    assert done.stats.projections == np.any(done.y != c.run.y, axis=1).sum()
    assert done.steps is not None and c.run.steps is not None
    k = len(done.steps.t) // 2
    assert np.array_equal(done.steps.y[k], p.project(float(done.steps.t[k]), c.run.steps.y[k]))
    assert done.drift.position.max() <= max(c.run.drift.position.max(), 1e-12)


def _singular_times(c: Case) -> None:
    """None: the smallest singular value of our own gradient stays away from zero."""
    least = [np.linalg.svd(G / np.linalg.norm(G, axis=1)[:, None])[1][_rank(c) - 1] for G in c.gradients]
    assert min(least) > 0.01
    assert not len(c.run.singular_times)


# ---------------------------------------------------------------- the report of the start


def _assembly(c: Case) -> None:
    """Where the start is, and how far the joints gaped as they were given."""
    done, p, bodies = c.problem.assembly, c.problem, c.system.bodies
    assert done.names == tuple(body.name for body in bodies)
    Z = p.natural(p.t0, p.y0)
    used = readings.state(c.system, Z)
    same(done.position, Z[:, :3], 1e-12)
    same(done.velocity, Z[:, 12:15], 1e-9, 1.0)
    same(done.angular_velocity, used.Omega[:-1], ROUNDING)
    for k in range(len(bodies)):
        same(cases.CHART_CASES["quaternion"].matrix(done.orientation[k]), used.R[k], 1e-11)
        assert set(done.given[k]) | set(done.found[k]) == {"position", "orientation", "velocity", "angular_velocity"}
        assert not set(done.given[k]) & set(done.found[k])
    g, gd = readings.joint_constraints(c.system, p.t0, readings.placed(c.system))
    same(done.gap, np.abs(g).max(), ROUNDING, 1e-6)
    same(done.rate_gap, np.abs(gd).max(), ROUNDING, 1e-6)


# ---------------------------------------------------------------- the table

CHECKED: dict[Callable[[Case], None], str] = {
    _counts: "Problem layout n n_equations",
    _labels: "Problem labels",
    _classes: "Problem differential index kind variable_index",
    _redundant: "Problem redundant",
    _names: "Problem code formulation laws model parameters rotation singular_row system velocity",
    _start: "Problem start t0 y0 yd0",
    _references: "Problem reference_rotations",
    _assembly: "Problem assembly, Assembly names position orientation velocity angular_velocity gap rate_gap given "
    "found",
    _natural: "Problem natural",
    _states: "Problem states, BodyState angular_velocity center_of_mass orientation position velocity",
    _energy: "Problem energy, Energy kinetic potential total",
    _momentum: "Problem momentum, Momentum angular linear",
    _constraints: "Problem constraints, Constraints position velocity",
    _log_determinant: "Problem log_determinant",
    _rates: "Problem rates rhs",
    _residual: "Problem residual",
    _jacobian: "Problem jacobian sparse_jacobian sparsity",
    _reactions: "Problem reactions, Reaction force frame torque unique unique_force unique_force_in_space "
    "unique_torque unique_torque_in_space",
    _run_multipliers: "Problem run_multipliers, Solution run_multipliers",
    _project: "Problem project, Callbacks project",
    _callbacks: "Problem callbacks, Callbacks code jacobian jacobian_data machine residual rhs rhs_jacobian",
    _run: "Solution __call__ t y, DenseOutput __call__",
    _facts_of_the_run: "Solution atol dense message options problem problem_at reason rtol segments solver stats steps "
    "success, DenseOutput recorded steps",
    _events: "Solution events",
    _rows_of_the_run: "Solution drift momentum multipliers reactions states, Drift position velocity, "
    "EnergyOfRun kinetic potential total, table drift momentum reactions states",
    _work: "Solution energy, EnergyOfRun balance work, table energy",
    _projected: "Solution projected",
    _singular_times: "Solution singular_times",
}
"""What is compared along runs of every form: a class and names of its attributes."""

_ALONG, _SWITCHES, _INPUTS, _JOINTS = "test_along_runs", "test_switches", "test_inputs", "test_joint_quantities"
_STEPS = "test_step_equations::test_runs_have_multipliers_and_momenta_of_their_steps"
ELSEWHERE = {
    f"{_ALONG}::test_a_switched_run_is_the_same_after_loading": "Problem by_time each with_selection workspace, "
    "Solution save",
    f"{_SWITCHES}::test_a_run_is_read_without_a_seam": "Problem interpretation",
    f"{_SWITCHES}::test_switches_compose_in_either_order": "Problem resumed switches",
    f"{_SWITCHES}::test_one_run_selects_rows_and_velocities": "Problem selection",
    f"{_SWITCHES}::test_events_get_the_unknowns_of_the_first_problem": "Problem translated",
    f"{_INPUTS}::test_a_problem_from_another_state": "Problem at",
    f"{_INPUTS}::test_all_code_has_the_values_of_its_inputs": "Problem input_jacobian inputs with_inputs",
    "test_inputs_of_runs::test_steps_of_inputs_cut_a_run": "Problem resumed_with_inputs",
    "test_outputs::test_the_derivatives_are_those_of_differences": "Problem outputs",
    "test_actuators::test_labels_and_the_consistent_start_of_algebraic_unknowns": "Problem algebraic",
    "test_with_parameters::test_other_geometry_is_assembled_anew": "Problem again",
    "test_with_parameters::test_open_code_with_other_numbers_is_that_of_a_model_of_its_own": "Problem with_parameters",
    "test_parameter_jacobian::test_names_have_the_differences_between_systems": "Problem parameter_jacobian",
    "test_parameter_jacobian::test_the_right_hand_side_has_its_own": "Problem rhs_parameter_jacobian",
    "test_constant_mass::test_rows_are_those_of_the_residual": "Problem with_constant_mass",
    "test_consistency::test_description": "Problem of",
    "test_quantity_events::test_a_function_for_own_loops_is_zero_at_the_event_alone": "Problem event_function",
    f"{_JOINTS}::test_they_are_the_same_in_every_form_and_chart": "Problem joints",
    f"{_JOINTS}::test_their_powers_change_the_energy": "Problem forces",
    f"{_JOINTS}::test_quantities_are_found_by_the_joint_that_was_given": "Problem quantity",
    f"{_JOINTS}::test_angles_count_a_hundred_turns": "Solution forces joints quantity, table forces joints",
    "test_derivatives::test_jacobian_of_the_right_hand_side": "Problem rhs_jacobian",
    "test_reactions::test_multipliers_of_a_joint_are_the_force_on_its_second_body": "Problem multipliers",
    "test_matrices::test_the_equations_hold_at_the_rates_of_index_0": "Problem matrices, Matrices G M T W g_II psi r",
    "test_matrices::test_constraints_kinematics_and_energy": "Matrices K g g_I",
    "test_euler_map::test_matrices_of_the_paper": "Matrices least_r reduced_mass saddle",
    "test_assembly::test_the_report_is_what_happened": "Assembly moved turned velocity_change spin_change "
    "steps redundant",
    "test_start::test_unknown_positions_are_found_by_moving": "Assembly changes",
    "test_axes_as_placed::test_a_warning_names_the_joint_with_the_largest_gap": "Assembly disagreement",
    "test_animation::test_a_frame_shows_the_scene_in_its_plane": "Solution animate",
    "test_solution::test_plot_has_the_default_panels": "Solution plot",
    "test_solution::test_a_report_is_written": "Solution report",
    "test_frames::test_a_table_has_what_the_solution_says": "Solution to_pandas",
    "test_elimination::test_factors_of_a_problem_solve_with_its_jacobian": "Callbacks factors",
    "test_operations::test_they_are_those_of_the_machine_code": "Callbacks operations",
    "test_conserving::test_a_step_from_python_is_that_of_the_loop": "Callbacks steps",
    "test_work_of_steps::test_what_the_energy_changes_by_is_the_work_of_the_steps": "Callbacks work_of_steps",
    "test_scaled_atol::test_each_unknown_has_the_tolerance_of_what_it_is": "rbdae scaled_atol",
    "test_euler_parameter_forms::test_the_norm_multiplier_as_a_check_of_a_solution": "rbdae_papers norm_defect "
    "norm_multipliers",
    _STEPS: "rbdae_papers invariants step_momenta step_multipliers",
    "tests/study/test_toy_observables": "table kinetic_energy lagrangian load middle selected",
}
"""The laws of what is no value of a state, or has a law over forms of its own."""


def _tables() -> dict[str, dict[str, Checked | Elsewhere]]:
    out: dict[str, dict[str, Checked | Elsewhere]] = {}
    entries: list[tuple[Checked | Elsewhere, str]] = [(Checked(check), names) for check, names in CHECKED.items()]
    entries += [(Elsewhere(law), names) for law, names in ELSEWHERE.items()]
    for entry, names in entries:
        for part in names.split(", "):
            kind, *attributes = part.split()
            out.setdefault(kind, {}).update(dict.fromkeys(attributes, entry))
    return out


TABLES = _tables()
"""By the names of classes, of the packages with functions, and of the table of observables."""


def checks() -> dict[Callable[[Case], None], list[str]]:
    """Each check with the names that it holds."""
    return {check: names.split() for check, names in CHECKED.items()}
