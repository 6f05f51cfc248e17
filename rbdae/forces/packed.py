"""`Packed`: the elements of forces as arrays of the kernels, with their internal states at the start."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from rbdae._arrays import Ints, Mat, Vec
from rbdae.compiler.user_functions import UserFunction
from rbdae.forces.eliminated import Unknowns
from rbdae.inputs import Input
from rbdae.kernels.records import CONSTANT

_TURN = 2.0 * np.pi


def values_of_forms(H: Any, c: Mat, Z: Mat) -> Mat:
    """Values of forms at Z (..., 24)."""
    return np.asarray(Z @ c.T + 0.5 * np.einsum("...i,aij,...j->...a", Z, H, Z))


@dataclass(frozen=True, slots=True, eq=False)
class Winding:
    """An internal state that counts the turns of an angle: the coefficients of its sine and cosine."""

    state: int
    bodies: tuple[int, ...]
    H: Any
    c: Mat

    def angle(self, Z: Vec) -> float:
        """The angle in (-pi, pi] at Z (24,)."""
        sine, cosine = values_of_forms(self.H, self.c, Z)
        return float(np.arctan2(sine, cosine))


@dataclass(frozen=True, slots=True, eq=False)
class Algebraic:
    """Algebraic unknowns of one element: where its states begin, how many there are, its bodies, inputs, constants."""

    of: Unknowns
    state: int
    n_states: int
    bodies: tuple[int, ...]
    inputs: tuple[int, ...]
    constants: slice

    def solved(self, t: Vec, motion: Mat, states: Mat, inputs: Vec) -> Mat:
        """Its algebraic unknowns (m, n) at times (m,), of the natural coordinates and rates of its bodies (m, bodies,
        24), its states (m, n_states) and all inputs. Raises as `Unknowns.solved`."""
        m, before = len(t), self.of.at - 24 * len(self.bodies)
        here = [motion[..., :12].reshape(m, -1), motion[..., 12:].reshape(m, -1), states[:, :before]]
        given = np.broadcast_to(inputs[list(self.inputs)], (m, len(self.inputs)))
        return self.of.solved(t, np.concatenate([*here, np.zeros((m, self.of.n)), given], axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Constants of the elements, coefficients of their forms, and the user's functions, which must live as long.

    The internal states of all elements follow one another, each at the offset `state` of its element: `state_labels`
    are "force.state", `state_start` has their initial values. Of a winding that is the angle in (-pi, pi] where the
    bodies are placed; `states_at` has the one next to it in another position. `algebraic` is 1 for those that are
    algebraic unknowns, which `unknowns` solve for at the start.

    `bodies` are those of the elements by functions with states, `inputs` what elements read from outside, and
    `element_inputs` which of them, one element after the other. `constants` are the numbers of the laws of networks,
    with the names of parameters as `constant_labels`.
    """

    elements: Any
    entries: Any
    functions: tuple[UserFunction, ...]
    state_labels: tuple[str, ...] = ()
    state_start: Vec = field(default_factory=lambda: np.zeros(0))
    windings: tuple[Winding, ...] = ()
    algebraic: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    unknowns: tuple[Algebraic, ...] = ()
    bodies: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    inputs: tuple[Input, ...] = ()
    element_inputs: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    constants: Any = field(default_factory=lambda: np.zeros(0, dtype=CONSTANT))
    constant_labels: tuple[str, ...] = ()

    def with_constants(self, values: Mapping[str, float]) -> Packed:
        """The same with other numbers of laws, by their labels."""
        constants = self.constants.copy()
        for label, value in values.items():
            constants["value"][self.constant_labels.index(label)] = value
        unknowns = tuple(
            replace(each, of=each.of.with_constants(constants["value"][each.constants])) for each in self.unknowns
        )
        return replace(self, constants=constants, unknowns=unknowns)

    @property
    def n_states(self) -> int:
        """Number of internal states."""
        return len(self.state_labels)

    def states_at(self, t: float, Z: Mat, inputs: Vec | None) -> Vec:
        """Internal states at the start t, with the bodies at Z (bodies and the ground, 24) and these inputs."""
        out = self.state_start.copy()
        for winding in self.windings:
            angle = winding.angle(Z[list(winding.bodies), :12].ravel())
            out[winding.state] = angle + _TURN * np.round((out[winding.state] - angle) / _TURN)
        return self.with_unknowns(t, Z, out, inputs)

    def with_unknowns(self, t: float, Z: Mat, states: Vec, inputs: Vec | None) -> Vec:
        """Internal states with the algebraic unknowns that belong to the others."""
        out = states.copy()
        u = np.array([each.value for each in self.inputs]) if inputs is None else inputs
        for each in self.unknowns:
            states = out[each.state : each.state + each.n_states]
            z = each.solved(np.array([t]), Z[None, list(each.bodies)], states[None], u)[0]
            n = each.of.at - 24 * len(each.bodies)  # the differential ones
            states[n:] = z[: each.n_states - n]  # there are none in explicit forms
        return out


__all__ = ["Algebraic", "Packed", "Winding", "values_of_forms"]
