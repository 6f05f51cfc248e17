"""What `AbstractJoint` asks of a joint: independent rows, velocity rows that complete them, motions that are free."""

from __future__ import annotations

from typing import Any

import cases
import numpy as np
import pytest
from inside import Mat
from scipy.spatial.transform import Rotation

import rbdae
from rbdae import drives, joints

DRIVES = (drives.DrivenRod, drives.PointMotion, drives.PrescribedAngle, drives.PrescribedDisplacement)


def gradient(joint: joints.AbstractJoint, states: Any, side: int) -> Mat:
    """dg/dt = G (R^T xdot, Omega) for the twist of one body at the origin of its frame, while the other one rests."""
    Z, turns = [], []
    for body in joint.bodies:
        if body.fixed:
            x, R = np.zeros(3), np.eye(3)
        else:
            x, R = states[body.name].position, states[body.name].orientation.as_matrix()
        Z += [x, *R.T]
        turns.append(R)

    def rate(C: Any) -> Any:
        a, R = C[4 * side + 1 : 4 * side + 4], turns[side]
        return np.hstack([C[4 * side] * R, R @ np.cross(np.eye(3), a).T])  # C0 xdot + R (Omega x a)

    rows = []
    for p in joint.primitives():
        if p.kind == "linear":
            rows.append(rate(p.A))
        elif p.kind == "combination":
            q = [part.scale * (part.A @ Z @ (part.B @ Z)) - part.offset[0] for part in p.parts]
            slopes = [p.function(q + 1e-30j * e).imag * 1e30 for e in np.eye(len(q))]
            rates = [part.scale * (part.B @ Z @ rate(part.A) + part.A @ Z @ rate(part.B)) for part in p.parts]
            rows.append((slopes @ np.array(rates))[None])
        else:
            rows.append(p.scale * (p.B @ Z @ rate(p.A) + p.A @ Z @ rate(p.B))[None])
    return np.concatenate(rows)


def positions(kind: str, rng: np.random.Generator) -> Any:
    """(joint, states) in some positions of the joint, between two bodies and with the ground."""
    for _ in range(4):
        problem = rbdae.formulate(cases.stirred(cases.built(f"joint-{kind}"), rng), "index-0", consistent="project")
        states = problem.states(problem.t0, problem.y0)
        for joint in problem.system.joints:
            yield joint, states


KINDS = [*cases.JOINTS, *cases.TOY_JOINTS]


@pytest.mark.parametrize("kind", KINDS)
def test_velocity_rows_complete_the_equations_in_every_position(kind, rng):
    for joint, states in positions(kind, rng):
        for side, (body, S) in enumerate(zip(joint.bodies, joint.velocity_rows(), strict=True)):
            G = gradient(joint, states, side)
            assert np.linalg.matrix_rank(G, tol=1e-6) == joint.n_constraints
            if S is not None and not body.fixed:
                assert S.shape == (6 - joint.n_constraints, 6)
                assert np.linalg.svd(np.vstack([G, S]), compute_uv=False)[-1] > 1e-2


@pytest.mark.parametrize("kind", KINDS)
def test_motions_along_coordinates_are_free(kind, rng):
    """Of joints with as many coordinates as free motions; those of a screw are not free one by one."""
    for joint, states in positions(kind, rng):
        of = joint.coordinates()
        if joint.b.fixed or not (joint.ball or joint.n_constraints + len(of) == 6):
            continue
        G = gradient(joint, states, 1)
        turns = [Rotation.identity() if body.fixed else states[body.name].orientation for body in (joint.a, joint.b)]
        about = [np.concatenate([np.cross(joint.at_b, e), e]) for e in np.eye(3)]  # at_b rests
        if joint.ball:
            assert np.linalg.matrix_rank(G @ np.transpose(about), tol=1e-8) <= 1
            continue
        for each in of:
            along = np.concatenate([turns[1].inv().apply(turns[0].apply(np.array(each.axis))), np.zeros(3)])
            assert np.abs(G @ (joint.axis_b @ about if each.unit == "rad" else along)).max() < 1e-8


@pytest.mark.parametrize("kind", [*joints.JOINTS, *DRIVES], ids=lambda kind: kind.__name__)
def test_every_joint_says_what_its_velocity_rows_are(kind):
    """The default would cost O(n^3) in trees without a word."""
    assert any("velocity_rows" in vars(base) for base in kind.__mro__ if base is not joints.AbstractJoint)


def test_the_registry_has_every_joint():
    assert {kind for kind, _ in cases.JOINTS.values()} == set(joints.JOINTS)
