"""Every public observable, and the independent value that it is checked against, in every pairing.

`TABLE` has an entry for each public name of `rbdae.Problem`, its `callbacks`, `rbdae.Solution` and `rbdae.Assembly`:
`Checked` has a function that compares it, along a run of `observed.Case`, with what follows from the definition
(`readings`), from Newton's and Euler's equations (`maximal`), from differences, or from another form (the reference);
`Elsewhere` names the law of what is no value of a state.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import cases
import inside
import numpy as np
import pytest
import readings
import toy_observable
from inside import Mat, Vec
from observed import FORMS, PARAMETERS, START, SYSTEMS, TIMES, TOLERANCE, Case, formulated
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.formulations import FORMULATIONS
from rbdae_papers.norm_multipliers import norm_defect, norm_multipliers
from rbdae_papers.step_values import invariants

ROUNDING = 1e-9
"""Of values that are compared at one state; solutions of linear equations have condition numbers up to 1e4 here."""

OF_THE_RUN = 3e-5
"""Of values that a run at 1e-8 of `TOLERANCE` has: errors of index 3 grow a hundred times."""

K = 3
"""The state that most checks look at."""


@dataclass(frozen=True)
class Checked:
    """Against what, and how."""

    against: str
    check: Callable[[Case], None]


@dataclass(frozen=True)
class Elsewhere:
    """The law that holds it, and why it is none of a state's values."""

    law: str
    why: str


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
    p, t, y, yd = c.problem, _t(c), c.drifted, _any_yd(c)
    rng, factor = np.random.default_rng(3), 2.5
    found = p.jacobian(t, y, yd, factor)
    assert found.shape == (p.n_equations, p.n)
    for _ in range(2):
        d = rng.standard_normal(p.n)
        wanted = cases.along(lambda e: p.residual(t, y + e, yd + factor * e), np.zeros(p.n), d, 1e-3)
        same(found @ d, wanted, 1e-6)
    pattern = p.sparsity
    assert not found[pattern.toarray() == 0.0].any()
    sparse = p.sparse_jacobian(t, y, yd, factor)
    assert np.array_equal(sparse.indices, pattern.indices) and np.array_equal(sparse.indptr, pattern.indptr)
    same(sparse.toarray(), found, 1e-12)


def _rhs_jacobian(c: Case) -> None:
    p, t, y = c.problem, _t(c), c.drifted
    if p.kind != "ode":
        with _refused(AttributeError):
            p.rhs_jacobian(t, y)
        return
    found = p.rhs_jacobian(t, y)
    d = np.random.default_rng(4).standard_normal(p.n)
    same(found @ d, cases.along(lambda e: p.rhs(t, y + e), np.zeros(p.n), d, 1e-3), 1e-6)


def _parameter_jacobian(c: Case) -> None:
    """Differences between systems."""
    name, value = PARAMETERS[c.name]
    p, t, y, yd = c.problem, _t(c), _y(c), _any_yd(c)
    assert name in p.parameters
    found = p.parameter_jacobian(t, y, yd, [name])[:, 0]
    h = 0.02
    others = [formulated(SYSTEMS[c.name](value + k * h), c.pairing, code="generic") for k in (-1, 1)]
    others = [other.with_selection(p.selection) for other in others]
    low, high = (other.residual(t, y, yd) for other in others)
    same(found, (high - low) / (2 * h), 3e-3, 1e-3)


def _rhs_parameter_jacobian(c: Case) -> None:
    """Differences between the right-hand sides of systems."""
    name, value = PARAMETERS[c.name]
    p, t, y = c.problem, _t(c), _y(c)
    if p.kind != "ode":
        with _refused(AttributeError):
            p.rhs_parameter_jacobian(t, y, [name])
        return
    found = p.rhs_parameter_jacobian(t, y, [name])[:, 0]
    h = 0.02
    others = [formulated(SYSTEMS[c.name](value + k * h), c.pairing, code="generic") for k in (-1, 1)]
    low, high = (other.with_selection(p.selection).rhs(t, y) for other in others)
    same(found, (high - low) / (2 * h), 3e-3, 1e-3)


def _matrices(c: Case) -> None:
    """M has the kinetic energy, K the rates of positions, G and g the primitives, and the equations hold."""
    p, t, y = c.problem, _t(c), _y(c)
    m = p.matrices(t, y, sparse=False)
    w = _velocities(c, m)
    same(0.5 * w @ m.M @ w, readings.kinetic(c.system, c.motion[K]), ROUNDING)
    assert np.array_equal(m.M, m.M.T) or np.abs(m.M - m.M.T).max() < 1e-12 * np.abs(m.M).max()
    (rates, la), Z = p.rates(t, y), c.natural[K]
    same(m.K @ w, rates[p.layout.q], ROUNDING)
    g, gd = readings.joint_constraints(c.system, t, Z)
    dropped = inside.omitted_rows(p)
    kept = np.delete(np.arange(len(g)), dropped)
    first = len(m.g) - len(g)
    same(m.g[first:][kept], g[kept], 1e-10, 1.0)
    same((m.G @ w + m.g_I)[first:][kept], gd[kept], ROUNDING, 1.0)
    same(m.G[first:][kept], _by_velocities(c, m, Z)[kept], 1e-8)
    if p.velocity != "momentum":
        wd = _accelerations(c, m, rates, w)
        psi = m.M @ wd + m.W @ _kept_multipliers(c)
        same(m.psi, psi, 1e-7, float(np.abs(m.W).max() * np.abs(la).max()) if len(la) else 0.0)
        size = max(1.0, float(np.abs(m.g_II).max(initial=0.0)))
        kept_rows = np.concatenate([np.arange(first), first + kept])
        assert np.abs((m.G @ wd + m.g_II)[kept_rows]).max(initial=0.0) < 1e-6 * size
    # forces of the constraints have other directions in forms of [SNS15] alone
    assert np.array_equal(m.W, m.G.T) or _form(c).projected
    if _reduced(c):
        assert m.T is not None and m.r is not None
        assert np.abs(m.G @ m.T).max(initial=0.0) < ROUNDING * 10
        same(m.T @ y[p.layout.v] - m.r, w, 1e-12)
        assert np.linalg.matrix_rank(m.T) == p.layout.v.stop - p.layout.v.start
    else:
        assert m.T is None and m.r is None
    sparse = p.matrices(t, y, sparse=True)
    for name in ("M", "G", "K", "W"):
        same(getattr(sparse, name).toarray(), getattr(m, name), 1e-14)


def _velocities(c: Case, m: Any) -> Vec:
    """(xdot, w) of all bodies in the order of y: read from the motion."""
    y, layout = _y(c), c.problem.layout
    if _form(c).unknowns == "momenta":
        return np.asarray(np.linalg.solve(m.M, y[layout.v]))
    if not _reduced(c):
        return np.asarray(y[layout.v])
    s, out = c.motion[K], []
    for k in layout.order:
        body = c.system.bodies[k]
        if body.pivot is None:
            out += list(s.v[k])
        out += list(s.R[k] @ s.Omega[k] if c.pairing.velocity == "spatial" else s.Omega[k])
    return np.array(out)


def _by_velocities(c: Case, m: Any, Z: Mat) -> Mat:
    """The gradient of the primitives with respect to the velocities of the form: gdot of each of them alone."""
    p, s, t = c.problem, c.motion[K], _t(c)
    base = Z.copy()
    base[:, 12:] = 0.0
    still, columns = readings.joint_constraints(c.system, t, base)[1], []

    def column(k: int, part: slice, values: Vec) -> None:
        moved = base.copy()
        moved[k, part] = values
        columns.append(readings.joint_constraints(c.system, t, moved)[1] - still)

    for k in p.layout.order:
        body = c.system.bodies[k]
        if body.pivot is None:
            for e in np.eye(3):
                column(k, slice(12, 15), e)
        R = s.R[k]
        if _internal(c):
            _, a = readings.positions(p, _y(c), body)
            turns = _slopes(c, body, a).T.reshape(-1, 3, 3)
        else:
            turns = [readings.hat(e) @ R if c.pairing.velocity == "spatial" else R @ readings.hat(e) for e in np.eye(3)]
        for turn in turns:
            column(k, slice(15, 24), turn.T.ravel())
    assert len(columns) == m.G.shape[1]
    return np.array(columns).T


def _accelerations(c: Case, m: Any, rates: Vec, w: Vec) -> Vec:
    if not _reduced(c):
        return np.asarray(rates[c.problem.layout.v])
    out, s = [], c.motion[K]
    for k in c.problem.layout.order:
        if c.system.bodies[k].pivot is None:
            out += list(c.solved.acceleration[k])
        dd = c.solved.angular_acceleration[k]
        out += list(s.R[k] @ dd if c.pairing.velocity == "spatial" else dd)
    return np.array(out)


def _kept_multipliers(c: Case) -> Vec:
    """Those of the selection's rows, which G has."""
    return np.asarray(c.problem.interpretation.rates_of_selection(_t(c), _y(c))[1])


# ---------------------------------------------------------------- reactions


def _reactions(c: Case) -> None:
    """Newton's and Euler's, where they are unique; and those of the multipliers, -G^T la."""
    p, t, y = c.problem, _t(c), _y(c)
    found = p.reactions(t, y)
    G = _gradient(c)
    free = np.linalg.svd(G.T)[2][_rank(c) :]  # of multipliers that pull at nothing
    row = 0
    scale = max(np.abs(force).max() for joint in c.solved.reactions.values() for force, _ in joint.values())
    for joint in c.system.joints:
        rows = slice(row, row + joint.n_constraints)
        row = rows.stop
        frame = _joint_frame(c, joint)
        wanted = c.solved.reactions[str(joint.name)]
        for body in joint.bodies:
            reaction = found[str(joint.name)][body.name]
            same(reaction.frame, frame, ROUNDING)
            unique = True
            loose = _loose(c, joint, body, free[:, rows])
            for what, value, moved in zip(("force", "torque"), wanted[body.name], loose, strict=True):
                for which, basis in (("", frame), ("_in_space", np.eye(3))):
                    sure = np.abs(basis.T @ moved).max(axis=1, initial=0.0) < 1e-6
                    assert np.array_equal(getattr(reaction, f"unique_{what}{which}"), sure), (joint.name, what, which)
                    mine = basis.T @ getattr(reaction, what)
                    same(mine[sure], (basis.T @ value)[sure], 1e-7, scale)
                    unique = unique and bool(sure.all())
            assert reaction.unique == unique
    if c.name == "linkage":  # their sum over each body's joints is unique
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


def _loose(c: Case, joint: Any, body: Any, free: Mat) -> tuple[Mat, Mat]:
    """Forces and torques in space (3, k) on a body, or on the ground, by multipliers of a joint that move nothing."""
    if body.fixed:  # the joint's forces are in balance about its point on the other body
        other = joint.bodies[1 - joint.bodies.index(body)]
        force, torque = _loose(c, joint, other, free)
        at_other = (joint.at_a, joint.at_b)[joint.bodies.index(other)]
        arm = c.motion[K].pose(c.system.bodies.index(other)).at(at_other)
        arm = arm - np.array((joint.at_a, joint.at_b)[joint.bodies.index(body)])
        return -force, -(torque + np.cross(arm, force.T).T)
    k, s, row = c.system.bodies.index(body), c.motion[K], 0
    for each in c.system.joints:
        if each is joint:
            break
        row += each.n_constraints
    G = readings.joint_gradient(c.system, _t(c), c.natural[K], pivots=True)[row : row + joint.n_constraints]
    wrench = G[:, 6 * k : 6 * k + 6].T @ free.T
    at = (joint.at_a, joint.at_b)[joint.bodies.index(body)]
    arm = s.R[k] @ (np.array(at) - np.array(body.reference))
    force = wrench[:3]
    return force, s.R[k] @ wrench[3:] - np.cross(arm, force.T).T


def _multipliers(c: Case) -> None:
    """-G^T la are the reactions; with redundant rows no other set that does the same is shorter."""
    p, t, y = c.problem, _t(c), _y(c)
    la = p.multipliers(t, y)
    assert la.shape == (_internal(c) + _rows(c),)
    own = la[_internal(c) :]
    G = readings.joint_gradient(c.system, t, c.natural[K], pivots=True)
    found, s = p.reactions(t, y), c.motion[K]
    row = 0
    size = float(np.abs(own).max())
    for joint in c.system.joints:
        rows = slice(row, row + joint.n_constraints)
        row = rows.stop
        wrench = -G[rows].T @ own[rows]
        for body, at in zip(joint.bodies, (joint.at_a, joint.at_b), strict=True):
            if body.fixed:
                continue
            k = c.system.bodies.index(body)
            force = wrench[6 * k : 6 * k + 3]
            arm = s.R[k] @ (np.array(at) - np.array(body.reference))
            torque = s.R[k] @ wrench[6 * k + 3 : 6 * k + 6] - np.cross(arm, force)
            same(found[str(joint.name)][body.name].force, force, 1e-8, size)
            same(found[str(joint.name)][body.name].torque, torque, 1e-8, size)
    if p.redundant:
        free = np.linalg.svd(_gradient(c).T)[2][_rank(c) :]
        weights = _lengths(c)
        assert np.abs(free @ (weights**2 * own)).max() < 1e-7 * float(np.abs(weights**2 * own).max())
    m = p.matrices(t, y, sparse=False)
    if _internal(c) and p.velocity != "momentum" and not p.redundant:
        same(m.M @ p.rates(t, y)[0][p.layout.v], m.psi - m.W @ la, 1e-7, float(np.abs(m.psi).max()))


def _lengths(c: Case) -> Vec:
    """What each joint row's multiplier is weighed by: a force by the model's length."""
    out: list[float] = []
    for joint in c.system.joints:
        for part in joint.primitives():
            out += [c.problem.model.scales.length] * 3 if part.kind == "linear" else [1.0]
    return np.array(out)


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


def _norm_multipliers(c: Case) -> None:
    """The multipliers of the unit norms by elimination are those of the closed form."""
    p, t, y = c.problem, TIMES, c.states
    if c.pairing.rotation != "quaternion" or c.pairing.velocity not in ("coordinate", "momentum"):
        with _refused(ValueError):
            norm_multipliers(p, t, y)
        return
    found = norm_multipliers(p, t, y)
    assert found.shape == (len(TIMES), len(c.system.bodies))
    same(
        found,
        p.multipliers(t, y)[:, : _internal(c)][:, p.layout.rank[:-1]],
        1e-8,
        float(np.abs(p.multipliers(t, y)).max()),
    )


def _norm_defect(c: Case) -> None:
    """Zero where the state is on the constraints and multipliers are by elimination; along the run the multipliers of
    the labels less the closed form."""
    p, run = c.problem, c.run
    if c.pairing.rotation != "quaternion" or c.pairing.velocity not in ("coordinate", "momentum"):
        with _refused(ValueError):
            norm_defect(p, run.t, run.y)
        return
    defects = norm_defect(run.problem, run.t, run.y)
    found = np.array([defects[body.name] for body in c.system.bodies]).T
    closed = np.array([norm_multipliers(run.problem, t, y) for t, y in zip(run.t, run.y, strict=True)])
    if _form(c).multipliers == "values" and not _form(c).projected:
        la = run.y[:, p.layout.la][:, : _internal(c)][:, p.layout.rank[:-1]]
    else:
        la = run.multipliers[:, : _internal(c)][:, p.layout.rank[:-1]]
    same(found, la - closed, 1e-12, float(np.abs(run.multipliers).max()))


def _of_quaternions(c: Case) -> None:
    """[BS09] (46), (47) of the columns that the labels name; no other problem has them."""
    p, run = c.problem, c.run
    if c.pairing.rotation != "quaternion" or c.pairing.velocity != "momentum":
        with _refused(ValueError):
            invariants(p, run.y)
        return
    of_run = invariants(p, run.y)
    for body in c.system.bodies:
        q, momenta = (run.y[:, [p.labels.index(f"{body.name}.{stem}{k}") for k in range(4)]] for stem in ("p", "pi_p"))
        size = float(np.abs(momenta).max())
        same(of_run[body.name].eta, np.sum(q * q, axis=1), 1e-13)
        found = of_run[body.name].pi
        same(found[:, 0], np.sum(q * momenta, axis=1), 1e-12, size)
        # R pi = E p
        vector = q[:, :1] * momenta[:, 1:] - momenta[:, :1] * q[:, 1:] + np.cross(q[:, 1:], momenta[:, 1:])
        same(Rotation.from_quat(np.roll(q, -1, 1)).apply(found[:, 1:]), vector, 1e-12, size)
        assert np.array_equal(invariants(p, run.y[K])[body.name].pi, found[K])


def _scaled_atol(c: Case) -> None:
    """By the sizes of what the unknowns are, with masses and multipliers of our own."""
    p, layout = c.problem, c.problem.layout
    found = rbdae.scaled_atol(p, 1e-6)
    assert np.all(found[layout.q] == 1e-6) and np.all(found[layout.s] == 1e-6)
    m = p.matrices(p.t0, p.y0, sparse=False)
    if p.velocity == "momentum":
        same(found[layout.v], 1e-6 * np.abs(m.M).max(axis=1), 1e-12)
    else:
        assert np.all(found[layout.v] == 1e-6)
    if layout.la.stop == layout.la.start:
        assert np.all(found[layout.mu] == 1e-6)
    else:
        la = p.layout.among_unknowns(p.interpretation.rates_of_selection(p.t0, p.y0)[1])
        least, part = 1e-6 * float(np.abs(la).max()), found[layout.la.start : layout.mu.stop]
        assert len(set(part)) == 1 and least * (1 - 1e-9) <= part[0] < 1e4 * least


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


def _factors(c: Case) -> None:
    """Factors of the Jacobian solve as LAPACK does; more equations than unknowns have none."""
    p, t, y = c.problem, _t(c), np.ascontiguousarray(c.drifted)
    if p.kind == "overdetermined":
        with pytest.raises(ValueError, match="more equations than unknowns"):
            p.callbacks.factors()
        return
    found, yd, b = p.callbacks.factors(), np.ones(p.n), np.cos(np.arange(p.n))
    given = (t, y.ctypes.data, yd.ctypes.data, 30.0)
    memory, x = np.zeros(found.size), np.empty(p.n)
    if inside.machine_call(found.factors.address)(found.factors.context, *given, memory.ctypes.data):
        found = found.again(t, y, yd, 30.0)
        memory = np.zeros(found.size)
        assert not inside.machine_call(found.factors.address)(found.factors.context, *given, memory.ctypes.data)
    f = inside.machine_call(found.solve.address)
    assert not f(found.solve.context, 0.0, memory.ctypes.data, b.ctypes.data, 0.0, x.ctypes.data)
    A = p.jacobian(t, y, yd, 30.0)
    wanted = np.linalg.solve(A, b)
    assert np.abs(x - wanted).max() < 1e-12 * max(1e3, np.linalg.cond(A)) * np.abs(wanted).max()


def _project_callback(c: Case) -> None:
    """What `Problem.project` gives, with the number of iterations."""
    p, t, y = c.problem, _t(c), c.drifted.copy()
    assert np.abs(p.constraints(t, p.project(t, y)).position).max() < 1e-10
    projector = rbdae.Projection().bind(p)
    projector(t, y)
    assert np.array_equal(y, p.project(t, c.drifted))


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


def _to_pandas(c: Case) -> None:
    """Every column by its name."""
    run = c.run
    table = run.to_pandas(["unknowns", "states", "energy", "momentum", "drift", "reactions"])
    assert table.index.name == "t [s]" and np.array_equal(table.index, TIMES)
    names = list(table.columns)
    n = c.problem.n
    assert [name.split(" [")[0] for name in names[:n]] == list(c.problem.labels)
    assert np.array_equal(table.iloc[:, :n].to_numpy(), run.y)
    wanted: dict[str, Any] = {}
    for name, state in run.states.items():
        q = state.orientation.as_quat()[:, [3, 0, 1, 2]]
        q = (
            q
            * np.sign(np.einsum("ij,ij->i", q, table[[f"{name}.quaternion.{k}" for k in range(4)]].to_numpy()))[:, None]
        )
        for i in range(3):
            wanted[f"{name}.position.{'xyz'[i]} [m]"] = state.position[:, i]
            wanted[f"{name}.velocity.{'xyz'[i]} [m/s]"] = state.velocity[:, i]
            wanted[f"{name}.angular_velocity.{i + 1} [rad/s]"] = state.angular_velocity[:, i]
        for i in range(4):
            wanted[f"{name}.quaternion.{i}"] = q[:, i]
    for name in ("kinetic", "potential", "total", "work", "balance"):
        wanted[f"energy.{name} [J]"] = getattr(run.energy, name)
    for i in range(3):
        wanted[f"momentum.linear.{'xyz'[i]} [kg m/s]"] = run.momentum.linear[:, i]
        wanted[f"momentum.angular.{'xyz'[i]} [kg m^2/s]"] = run.momentum.angular[:, i]
    wanted["drift.position"], wanted["drift.velocity"] = run.drift.position, run.drift.velocity
    for joint, bodies in run.reactions.items():
        for name, reaction in bodies.items():
            for i in range(3):
                wanted[f"{joint} on {name}.force.{'xyz'[i]} [N]"] = reaction.force[:, i]
                wanted[f"{joint} on {name}.torque.{'xyz'[i]} [N m]"] = reaction.torque[:, i]
                if not reaction.unique:
                    for what in ("force", "torque"):
                        sure = getattr(reaction, f"unique_{what}_in_space")[i]
                        wanted[f"{joint} on {name}.{what}.{'xyz'[i]} is unique"] = np.full(len(TIMES), sure)
    missing = set(wanted) ^ set(names[n:])
    assert not missing, missing
    for name, column in wanted.items():
        same(table[name], column, 1e-13, 1e-9)


def _singular_times(c: Case) -> None:
    """None: the smallest singular value of our own gradient stays away from zero."""
    least = [np.linalg.svd(G / np.linalg.norm(G, axis=1)[:, None])[1][_rank(c) - 1] for G in c.gradients]
    assert min(least) > 0.01
    assert not len(c.run.singular_times)


# ---------------------------------------------------------------- observables of the table


def _toys(c: Case) -> None:
    """Those of `toy_observable`, by Newton and Euler, and along the run by states one at a time."""
    p, run, bodies = c.problem, c.run, c.system.bodies
    with toy_observable.registered():
        energies = np.array([_kinetic_of_bodies(c, s) for s in c.motion])
        found: Any = p
        for k, body in enumerate(bodies):
            same(found.kinetic_energy(TIMES, c.states)[body.name], energies[:, k], ROUNDING, float(energies.max()))
        V = np.array([readings.potential(c.system, s, t) for s, t in zip(c.motion, TIMES, strict=True)])
        L = energies.sum(axis=1) - V
        lagrangian = found.lagrangian(TIMES, c.states)
        same(lagrangian - lagrangian[0], L - L[0], ROUNDING, float(energies.max()))
        masses = np.array([body.mass for body in bodies])
        middle = [masses @ s.c[:-1] / masses.sum() for s in c.motion]
        same(found.middle(TIMES, c.states), middle)
        same(found.middle(_t(c), _y(c)), middle[K])
        for joint, sides in found.load(_t(c), _y(c)).items():
            for body, size in sides.items():
                assert size.shape == ()
                if p.reactions(_t(c), _y(c))[joint][body].unique:
                    wanted = np.linalg.norm(c.solved.reactions[joint][body][0])
                    same(size, wanted, 1e-7, float(np.abs(c.solved.reactions[joint][body][0]).max()) + 1.0)
        for name in ("lagrangian", "middle", "selected"):
            for row, t, y in zip(getattr(run, name), TIMES, run.y, strict=True):
                same(row, getattr(run.problem, name)(float(t), y), 1e-13, 1e-3)


def _kinetic_of_bodies(c: Case, s: Any) -> list[float]:
    return [
        0.5 * (body.mass * s.v[k] @ s.v[k] + s.Omega[k] @ np.array(body.central_inertia) @ s.Omega[k])
        for k, body in enumerate(c.system.bodies)
    ]


# ---------------------------------------------------------------- the report of the start


def _assembly(c: Case) -> None:
    """How far the start is from what was given, by our own readings of both."""
    done, p, bodies = c.problem.assembly, c.problem, c.system.bodies
    assert done.names == tuple(body.name for body in bodies)
    Z = p.natural(p.t0, p.y0)
    used = readings.state(c.system, Z)
    # what was not given begins where it is least, which only the reference has
    first = c.reference.run.problem.assembly
    changed = {(change.body, change.quantity): change for change in done.changes}
    for k, body in enumerate(bodies):
        arm = np.array(body.reference)
        R = np.array(body.rotation)
        x = np.array(body.position) + R @ arm
        same(done.position[k], Z[k, :3], 1e-12)
        same(done.velocity[k], Z[k, 12:15], 1e-9, 1.0)
        same(done.angular_velocity[k], used.Omega[k], ROUNDING)
        turn = rbdae_rotation(done.orientation[k])
        same(turn, used.R[k], 1e-11)
        if "position" in done.given[k]:
            same(done.moved[k], np.linalg.norm(Z[k, :3] - x), 1e-9, 1e-6)
        if "orientation" in done.given[k]:
            same(done.turned[k], _angle(R.T @ used.R[k]), 1e-6, 1e-3)
        point = np.array(body.velocity) + R @ np.cross(body.angular_velocity, arm)
        if "angular_velocity" in done.given[k]:
            same(done.spin_change[k], np.linalg.norm(used.Omega[k] - body.angular_velocity), 1e-6, 1e-3)
            if "velocity" in done.given[k] and body.pivot is None:
                # velocities are given to the bodies where they are placed
                near = np.linalg.norm(done.velocity[k] - point)
                same(done.velocity_change[k], near, 5e-2, 1e-3)
        assert set(done.given[k]) | set(done.found[k]) == {"position", "orientation", "velocity", "angular_velocity"}
        assert not set(done.given[k]) & set(done.found[k])
        told = {"position": body.position, "orientation": body.orientation, "velocity": body.velocity,
                "angular_velocity": body.angular_velocity}  # fmt: skip
        now = {
            "position": used.c[k] - used.R[k] @ np.array(body.center_of_mass),
            "velocity": used.v[k] - used.R[k] @ np.cross(used.Omega[k], np.array(body.center_of_mass)),
            "angular_velocity": used.Omega[k],
        }
        for what, value in told.items():
            if what not in body.given:
                assert (body.name, what) not in changed
                continue
            if what == "orientation":
                size = _angle(R.T @ used.R[k])
            else:
                size = float(np.linalg.norm(now[what] - np.array(value)))
            assert ((body.name, what) in changed) == (size > 1e-6), (body.name, what, size)
            if size > 1e-6:
                change = changed[body.name, what]
                assert np.array_equal(change.given, value)
                same(change.size, size, 1e-6)
                if what != "orientation":
                    same(change.used, now[what], ROUNDING)
                else:
                    same(rbdae_rotation(change.used), used.R[k], 1e-11)
    given = readings.placed(c.system)
    g, gd = readings.joint_constraints(c.system, p.t0, given)  # the rod's is below the others, as m and as m^2
    same(done.gap, np.abs(g).max(), ROUNDING, 1e-6)
    same(done.rate_gap, np.abs(gd).max(), ROUNDING, 1e-6)
    assert (done.steps > 0) == (done.gap > 1e-9)
    assert bool(done.disagreement) == bool(done.changes)
    if done.changes:  # the joint with the largest gap is named
        worst = int(np.argmax(np.abs(g if done.gap > 1e-9 else gd)))
        names = [str(joint.name) for joint in c.system.joints for _ in range(joint.n_constraints)]
        assert names[worst] in done.disagreement
    for name in ("position", "orientation", "velocity", "angular_velocity", "moved", "turned", "velocity_change",
                 "spin_change", "gap", "rate_gap"):  # fmt: skip
        same(getattr(done, name), getattr(first, name), 1e-9, 1.0)
    assert (done.steps, done.redundant, done.given) == (first.steps, first.redundant, first.given)
    for body in bodies:
        assert body.name in str(done)


def rbdae_rotation(p: Vec) -> Mat:
    """R of a unit quaternion, scalar first."""
    return np.asarray(cases.CHART_CASES["quaternion"].matrix(p))


def _angle(R: Mat) -> float:
    s = 0.5 * np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(np.linalg.norm(s), 0.5 * (np.trace(R) - 1.0)))


# ---------------------------------------------------------------- the table

DENSE, ALONG, SWITCHES = "test_dense_output", "test_along_runs", "test_switches"
AS_SAVED = f"{ALONG}::test_a_switched_run_is_the_same_after_loading"
PROJECTIONS = f"{ALONG}::test_projections_report_what_they_did"
PICTURE = "a picture, or a page"
SEGMENTS = "runs that change their selection"

_COUNTS = Checked("numbers of bodies, parameters, rows and states; the rank of our own gradient", _counts)
_CLASSES = Checked("growth of the response of the linearised pencil", _classes)
_NAMES = Checked("what was asked for", _names)
_START = Checked("the reference's start, and the residual", _start)
_ROWS = Checked("`Problem` of every row, and our own constraints", _rows_of_the_run)
_FACTS = Checked("what was asked for, and the steps", _facts_of_the_run)
_CALLBACKS = Checked("`Problem`'s, bit for bit, from Python and as C functions", _callbacks)
_ASSEMBLY = Checked("what was given and the start, by our own readings of both", _assembly)
_JACOBIAN = Checked("differences of the residual", _jacobian)
_PARAMETERS = Checked("differences between systems", _parameter_jacobian)
_MEASURES = Checked("our own quadrature", _work)

Table = Mapping[str, "Checked | Elsewhere"]


OPEN = "test_with_parameters"
STEP_VALUES = "test_step_equations::test_runs_have_multipliers_and_momenta_of_their_steps"

_QUANTITIES = "test_joint_quantities"
_JOINTS = Elsewhere(
    f"{_QUANTITIES}::test_they_are_the_same_in_every_form_and_chart", "in every form, beside definitions"
)
_FORCES = Elsewhere(f"{_QUANTITIES}::test_their_powers_change_the_energy", "in every form")
_NAMED = Elsewhere(f"{_QUANTITIES}::test_quantities_are_found_by_the_joint_that_was_given", "a name")
_TURNS = Elsewhere(f"{_QUANTITIES}::test_angles_count_a_hundred_turns", "turns of a run")
INPUTS = "test_inputs"
INPUTS, RUNS_WITH_INPUTS = "test_inputs", "test_inputs_of_runs"
OF_INPUTS = "on a mechanism that has some"
ACTUATORS, OF_BLOCKS = "test_actuators", "on a mechanism with blocks"

PROBLEM: Table = {
    "again": Elsewhere(f"{OPEN}::test_other_geometry_is_assembled_anew", "`with_parameters` is it"),
    "algebraic": Elsewhere(f"{ACTUATORS}::test_labels_and_the_consistent_start_of_algebraic_unknowns", OF_BLOCKS),
    "assembly": _ASSEMBLY,
    "at": Elsewhere(f"{INPUTS}::test_a_problem_from_another_state", "another start"),
    "by_time": Elsewhere(AS_SAVED, SEGMENTS),
    "each": Elsewhere(AS_SAVED, SEGMENTS),
    "callbacks": _CALLBACKS,
    "code": _NAMES,
    "constraints": Checked("primitives and the chart's own", _constraints),
    "differential": _CLASSES,
    "energy": Checked("bodies one by one, displacements of forces", _energy),
    "formulation": _NAMES,
    "index": _CLASSES,
    "input_jacobian": Elsewhere(f"{INPUTS}::test_the_input_jacobian_is_that_of_differences", OF_INPUTS),
    "inputs": Elsewhere(f"{INPUTS}::test_all_code_has_the_values_of_its_inputs", OF_INPUTS),
    "interpretation": Elsewhere(f"{SWITCHES}::test_a_run_is_read_without_a_seam", "every quantity goes through it"),
    "jacobian": _JACOBIAN,
    "kind": _CLASSES,
    "labels": Checked("what each unknown moves and pulls at", _labels),
    "layout": _COUNTS,
    "with_constant_mass": Elsewhere(
        "test_constant_mass::test_rows_are_those_of_the_residual", "on mechanisms of its own"
    ),
    "with_inputs": Elsewhere(f"{INPUTS}::test_all_code_has_the_values_of_its_inputs", OF_INPUTS),
    "with_parameters": Elsewhere(
        f"{OPEN}::test_open_code_with_other_numbers_is_that_of_a_model_of_its_own", "on mechanisms of its own"
    ),
    "log_determinant": Checked("our own gradient and masses", _log_determinant),
    "matrices": Checked("kinetic energy, primitives, Newton and Euler", _matrices),
    "laws": _NAMES,
    "model": _NAMES,
    "momentum": Checked("bodies one by one", _momentum),
    "joints": _JOINTS,
    "forces": _FORCES,
    "quantity": _NAMED,
    "multipliers": Checked("reactions, and that no shorter ones do", _multipliers),
    "n": _COUNTS,
    "n_equations": _COUNTS,
    "natural": Checked("the chart by scipy, its derivative along the rates; drifted, too", _natural),
    "of": Elsewhere("test_consistency::test_description", "formulate makes problems by it"),
    "event_function": Elsewhere(
        "test_quantity_events::test_a_function_for_own_loops_is_zero_at_the_event_alone", "it has a memory"
    ),
    "outputs": Elsewhere("test_outputs::test_the_derivatives_are_those_of_differences", OF_INPUTS),
    "parameter_jacobian": _PARAMETERS,
    "parameters": _PARAMETERS,
    "project": Checked("our own constraints, and the metric of our own masses", _project),
    "rates": Checked("Newton and Euler, and the forces' own laws", _rates),
    "reactions": Checked("Newton and Euler, one body and its joints", _reactions),
    "redundant": Checked("the rank of our own gradient", _redundant),
    "reference_rotations": Checked("attitudes by scipy's chart", _references),
    "residual": Checked("zero at the accelerations of Newton and Euler, and not beside", _residual),
    "resumed": Elsewhere(f"{SWITCHES}::test_switches_compose_in_either_order", SEGMENTS),
    "resumed_with_inputs": Elsewhere(f"{RUNS_WITH_INPUTS}::test_steps_of_inputs_cut_a_run", SEGMENTS),
    "rhs": Checked("Newton and Euler", _rates),
    "rhs_jacobian": Checked("differences of the right-hand side", _rhs_jacobian),
    "rhs_parameter_jacobian": Checked("differences between systems", _rhs_parameter_jacobian),
    "rotation": _NAMES,
    "run_multipliers": Checked("labels, and the multipliers of the motion", _run_multipliers),
    "selection": Elsewhere(f"{SWITCHES}::test_one_run_selects_rows_and_velocities", SEGMENTS),
    "singular_row": _NAMES,
    "sparse_jacobian": _JACOBIAN,
    "sparsity": _JACOBIAN,
    "start": _START,
    "states": Checked("the chart by scipy, arms of our own", _states),
    "switches": Elsewhere(f"{SWITCHES}::test_a_switch_changes_its_own_field_only", SEGMENTS),
    "system": _NAMES,
    "t0": _START,
    "translated": Elsewhere(f"{SWITCHES}::test_events_get_the_unknowns_of_the_first_problem", SEGMENTS),
    "variable_index": _CLASSES,
    "velocity": _NAMES,
    "with_selection": Elsewhere(AS_SAVED, SEGMENTS),
    "workspace": Elsewhere(AS_SAVED, "every kernel works on it"),
    "y0": _START,
    "yd0": _START,
}

SOLUTION: Table = {
    "__call__": Checked("the reference, between steps and at output times", _run),
    "animate": Elsewhere("test_animation::test_a_frame_shows_the_scene_in_its_plane", PICTURE),
    "atol": _FACTS,
    "dense": _FACTS,
    "drift": _ROWS,
    "energy": _MEASURES,
    "events": Checked("where the reference has the level", _events),
    "joints": _TURNS,
    "forces": _TURNS,
    "quantity": _TURNS,
    "message": _FACTS,
    "momentum": _ROWS,
    "multipliers": _ROWS,
    "options": _FACTS,
    "plot": Elsewhere("test_solution::test_plot_has_the_default_panels", PICTURE),
    "problem": _FACTS,
    "problem_at": _FACTS,
    "projected": Checked("our own constraints, `Problem.project` row by row", _projected),
    "reactions": _ROWS,
    "reason": _FACTS,
    "report": Elsewhere("test_solution::test_a_report_is_written", PICTURE),
    "rtol": _FACTS,
    "run_multipliers": Checked("labels, and the multipliers of the motion", _run_multipliers),
    "save": Elsewhere(AS_SAVED, "a file"),
    "segments": _FACTS,
    "singular_times": Checked("singular values of our own gradient", _singular_times),
    "solver": _FACTS,
    "states": _ROWS,
    "stats": _FACTS,
    "steps": _FACTS,
    "success": _FACTS,
    "t": Checked("the reference, between steps and at output times", _run),
    "to_pandas": Checked("every column by its name", _to_pandas),
    "y": Checked("the reference, between steps and at output times", _run),
}

CALLBACKS: Table = {
    "code": _CALLBACKS,
    "factors": Checked("LAPACK's solution with `Problem.jacobian`", _factors),
    "jacobian": _CALLBACKS,
    "jacobian_data": _CALLBACKS,
    "machine": _CALLBACKS,
    "operations": Elsewhere("test_operations::test_they_are_those_of_the_machine_code", "numbers of the code"),
    "project": Checked("`Problem.project` of a drifted state", _project_callback),
    "residual": _CALLBACKS,
    "steps": Elsewhere("test_conserving::test_a_step_from_python_is_that_of_the_loop", "for some forms alone"),
    "work_of_steps": Elsewhere(
        "test_work_of_steps::test_what_the_energy_changes_by_is_the_work_of_the_steps", "for some forms alone"
    ),
    "rhs": _CALLBACKS,
    "rhs_jacobian": _CALLBACKS,
}

ASSEMBLY: Table = dict.fromkeys(
    ("names", "position", "orientation", "velocity", "angular_velocity", "moved", "turned", "velocity_change",
     "spin_change", "gap", "steps", "redundant", "given", "changes", "rate_gap", "found", "disagreement"),
    _ASSEMBLY,
)  # fmt: skip

FUNCTIONS: Table = {
    "scaled_atol": Checked("masses and multipliers at the start", _scaled_atol),
}
"""Functions of the package that say something of a problem's states."""

OF_PAPERS: Table = {
    "norm_multipliers": Checked("multipliers by elimination", _norm_multipliers),
    "norm_defect": Checked("labels, and the closed form", _norm_defect),
    "invariants": Checked("labels, and scipy's rotation", _of_quaternions),
    "step_momenta": Elsewhere(STEP_VALUES, "runs of two solvers have them"),
    "step_multipliers": Elsewhere(STEP_VALUES, "runs of two solvers have them"),
}
"""Functions of problems and runs in `rbdae_papers`."""

_REACTIONS = Checked("Newton and Euler, and the directions that our own gradient leaves undetermined", _reactions)

_TOYS = Checked("Newton and Euler, and single states of the run", _toys)

LINES: Table = {
    "drift": SOLUTION["drift"],
    "energy": SOLUTION["energy"],
    "joints": SOLUTION["joints"],
    "forces": SOLUTION["forces"],
    "momentum": SOLUTION["momentum"],
    "reactions": SOLUTION["reactions"],
    "states": SOLUTION["states"],
    **dict.fromkeys(("lagrangian", "middle", "kinetic_energy", "load", "selected"), _TOYS),
}
"""Lines of `rbdae.observables.TABLE`, with those of `toy_observable`."""

TABLES: dict[str, Table] = {
    "Problem": PROBLEM,
    "Solution": SOLUTION,
    "Callbacks": CALLBACKS,
    "Assembly": ASSEMBLY,
    "rbdae": FUNCTIONS,
    "rbdae_papers": OF_PAPERS,
    "table": LINES,
    "BodyState": dict.fromkeys(
        ("angular_velocity", "center_of_mass", "orientation", "position", "velocity"), PROBLEM["states"]
    ),
    "Constraints": dict.fromkeys(("position", "velocity"), PROBLEM["constraints"]),
    "DenseOutput": {"__call__": SOLUTION["__call__"], "recorded": _FACTS, "steps": _FACTS},
    "Drift": dict.fromkeys(("position", "velocity"), _ROWS),
    "Energy": dict.fromkeys(("kinetic", "potential", "total"), PROBLEM["energy"]),
    "EnergyOfRun": {"kinetic": _ROWS, "potential": _ROWS, "total": _ROWS, "work": _MEASURES, "balance": _MEASURES},
    "Matrices": dict.fromkeys(("G", "K", "M", "T", "W", "g", "g_I", "g_II", "psi", "r"), PROBLEM["matrices"])
    | dict.fromkeys(
        ("least_r", "reduced_mass", "saddle"), Elsewhere("test_euler_map::test_matrices_of_the_paper", "driven")
    ),
    "Momentum": dict.fromkeys(("angular", "linear"), PROBLEM["momentum"]),
    "Reaction": dict.fromkeys(
        ("force", "frame", "torque", "unique", "unique_force", "unique_force_in_space", "unique_torque",
         "unique_torque_in_space"),
        _REACTIONS,
    ),
}  # fmt: skip


def checks() -> dict[Callable[[Case], None], list[str]]:
    """Each check with the names that it holds."""
    out: dict[Callable[[Case], None], list[str]] = {}
    for kind, table in TABLES.items():
        for name, entry in table.items():
            if isinstance(entry, Checked):
                out.setdefault(entry.check, []).append(f"{kind}.{name}")
    return out
