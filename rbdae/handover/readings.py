"""Energy, quantities of joints and forces, reactions, and the projection onto the constraints as functions to be handed
away. Their kernels run one after the other on the symbols of one recording."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight
from rbdae.kernels import outputs, projection, readings
from rbdae.kernels.entry import Entry
from rbdae.multibody.memory.saddle_order import order_for
from rbdae.multibody.recorded.recording import MOST_NODES, Run, recording_point

_OF_DYNAMICS = re.compile(r"(^gravity|\.mass|\.inertia|stiffness|damping)(\.[xyz]+)?$")
"""Parameters that formulas of quantities do not have, but for those of accelerations."""


@final
class _Kernels:
    """Kernels on the symbols t, y, and yd of some length, each in its own order of elimination."""

    def __init__(self, name: str, handed: Any, n_yd: int = 0) -> None:
        self._name, self._handed, self._workspace = name, handed, handed._workspace
        point = recording_point(self._workspace, {"y": (self._workspace.layout.n,), "yd": (n_yd,)})
        self._run = Run(self._workspace, point, MOST_NODES)
        self.recorder = self._run.recorder
        (self._t,), self.y, self.yd = map(self.recorder.inputs, ("t", "y", "yd"))

    def __call__(self, kernel: Entry, n: int, *more: Any) -> Any:
        """The n results of a kernel at (t, y, ...)."""
        m, out = self._run.m, np.zeros(n, dtype=object)
        m.order, m.square_order = order_for(self._workspace, kernel) or ((), ())
        try:
            kernel(m, self._t, self.y, *more, out)
        except NotStraight as error:
            raise self._handed.refusal(self._name, str(error)) from None
        return out

    def function(self, results: Any) -> Any:
        """The function with these results, symbols or numbers."""
        arguments, found = ("t", "y", "yd")[: 2 + bool(len(self.yd))], self._run.recording(self._run.nodes(results))
        return self._handed.shortened(self._name, arguments, found, (len(results),))


def energy(handed: Any) -> Any:
    """Kinetic and potential energy, J."""
    kernels = _Kernels("energy", handed)
    return kernels.function(kernels(readings.energies, 2) - [0.0, handed.problem.interpretation.level])


def constraints(handed: Any) -> Any:
    """(g, gdot): internal ones of the rotations, then joints."""
    kernels = _Kernels("constraints", handed)
    return kernels.function(kernels(outputs.constraints, 2 * handed.sizes[3]))


def correction(handed: Any) -> Any:
    """A step of Newton's method onto the constraints from y with normalised rotations, nearest in the mass metric to
    where it began. yd is the sum of the displacements since then, then 2 for v to turn with the rotations, as in the
    first step of `rbdae.Projection()`, or 1. Results: the next displacement; (q, v) after it; v on the constraints of
    velocities at the first q. v only if y has it."""
    n_q, n_v, n_w, n_g = handed.sizes
    kernels = _Kernels("correction", handed, n_v + 1)
    normal = kernels(projection.violated, 2 * n_g + n_q + n_v, kernels.yd[n_v:])[2 * n_g :]
    kernels.y = np.concatenate([normal[: n_q + n_w], kernels.y[n_q + n_w :]])
    given = [*-kernels.yd[:n_v], 0.0, 0.0], [*np.zeros(n_v), 1.0, 0.0]
    moved, tangent = (kernels(projection.step, 2 * n_v + n_q + n_g + 1, np.array(u, dtype=object)) for u in given)
    return kernels.function([*moved[: n_v + n_q], *normal[n_q : n_q + n_w], *tangent[n_v + n_q :][:n_w]])


FUNCTIONS = {each.__name__: each for each in (energy, constraints, correction)}


def quantities(handed: Any, labels: Sequence[str] | None) -> tuple[list[str], list[str], Any]:
    """See `rbdae.handover.recorded.Handed.quantities`; the formulas are those of `rbdae.problem.measures`."""
    view = handed.problem.interpretation
    recorded, kernels = view.recorded, _Kernels("quantities", handed)
    known = {label: (unit, node) for label, unit, node in _labelled(view)}
    parameters = [*getattr(handed, "parameters", ())]
    fixed = [name for name in parameters if not _OF_DYNAMICS.search(name)]
    called = any(why != "recorded" for why in handed.problem.laws.values())

    def why_not(label: str) -> str:
        if label not in known:
            raise _check.unknown("quantity", label, list(known))
        unit, node = known[label]
        _, *forces, blocks = recorded.read_by([node])
        formula = recorded.recorder.graph.nodes[node][0] != "input"
        if blocks:
            return "values of actuators are read in Python"
        if forces[1] and view.ambiguous:
            return "redundant joint equations share loads by least norms, which are found in Python"
        if formula and (fixed or (unit.endswith("/s^2") and parameters)):
            return f"numbers of its formula may be parameters: {', '.join(fixed or parameters)}"
        return "laws are called in Python" if called and any(forces) else ""

    chosen = [label for label in known if not why_not(label)] if labels is None else list(labels)
    for label in chosen:
        if why := why_not(label):
            raise ValueError(f"quantities: {label} cannot be handed over: {why}; leave it out")
    nodes, inputs = [known[label][1] for label in chosen], recorded.recorder.inputs("y")
    *read, _ = recorded.read_by(nodes)
    entry = readings.together(view.workspace.settings.kernels.rates, (read[2], *read))
    values = kernels(entry, view.n_rates + sum(recorded.sizes[:-1]))[view.n_rates :]
    there = dict(zip((x.node for x in inputs), map(kernels.recorder.number, values), strict=False))  # without blocks
    found = replaced(recorded.recorder.graph, nodes, there, kernels.recorder.graph)
    return chosen, [known[label][0] for label in chosen], kernels.function([*map(kernels.recorder.result, found)])


def _labelled(view: Any) -> Iterator[tuple[str, str, int]]:
    """Labels, units and nodes of quantities of joints and forces, then of reactions, as in tables of runs."""
    recorded, model = view.recorded, view.model
    for owner in (*view.owners.joints.values(), *view.owners.forces.values()):
        for name, each in owner.quantities.items():
            for component, node in zip(each.components or ("",), recorded.nodes(owner, each), strict=True):
                yield ".".join(filter(None, (owner.name, name, component))), each.unit, node
    names = [*model.names, model.system.ground.name]
    for k, joint in enumerate(model.joints):
        numbers = iter(recorded.recorder.inputs("y")[recorded.ends[1] + 21 * k :])
        for b in joint.bodies:
            for what, unit in (("force", "N"), ("torque", "N m")):
                yield from ((f"{joint.name} on {names[b]}.{what}.{x}", unit, next(numbers).node) for x in "xyz")
