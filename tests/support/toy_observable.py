"""Observables that somebody adds in a file of their own: a line and its function for each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from inside import Mat, Vec

import rbdae
from rbdae import observables


def lagrangian(problem: rbdae.Problem, t: Vec, y: Mat) -> Vec:
    """Kinetic energy less potential energy."""
    energy = problem.energy(t, y)
    return energy.kinetic - energy.potential


def middle(problem: rbdae.Problem, t: Vec, y: Mat) -> Mat:
    """Centre of mass of the whole system."""
    masses = np.array([body.mass for body in problem.system.bodies])
    places = np.array([state.center_of_mass for state in problem.states(t, y).values()])
    return np.tensordot(masses, places, axes=1) / masses.sum()


def kinetic_energy(problem: rbdae.Problem, t: Vec, y: Mat) -> dict[str, Vec]:
    """Kinetic energy of each body."""
    out = {}
    for body, state in zip(problem.system.bodies, problem.states(t, y).values(), strict=True):
        arm = np.array(body.center_of_mass)
        speed = state.velocity + state.orientation.apply(np.cross(state.angular_velocity, arm))
        spin = np.einsum("mi,ij,mj->m", state.angular_velocity, np.array(body.central_inertia), state.angular_velocity)
        out[body.name] = 0.5 * (body.mass * np.sum(speed**2, axis=1) + spin)
    return out


def load(problem: rbdae.Problem, t: Vec, y: Mat) -> dict[str, dict[str, Vec]]:
    """Size of the force of each joint on each of its bodies."""
    found = problem.reactions(t, y)
    return {j: {b: np.linalg.norm(side.force, axis=1) for b, side in sides.items()} for j, sides in found.items()}


def selected(problem: rbdae.Problem, t: Vec, y: Mat) -> Vec:
    """Half turns of the first body's reference rotation, which a run may choose again."""
    reference = next(iter(problem.reference_rotations.values()))
    return np.full(len(t), reference.magnitude() / np.pi)


@contextmanager
def registered() -> Iterator[None]:
    """The table with these lines."""
    observables.register("lagrangian", "J", lagrangian)
    observables.register("middle", "m", middle, components="xyz")
    observables.register("kinetic_energy", "J", kinetic_energy, owner="bodies")
    observables.register("load", "N", load, owner="joints")
    observables.register("selected", "", selected)
    try:
        yield
    finally:
        for name in ("lagrangian", "middle", "kinetic_energy", "load", "selected"):
            observables.unregister(name)
