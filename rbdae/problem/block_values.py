"""The values of blocks and actuators at a state: unknowns, inputs, outputs, efforts."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Vec
from rbdae.actuators.block import Block
from rbdae.actuators.network import Network, networks
from rbdae.problem.interpretation import Interpretation

BlockValues = dict[tuple[Block, str], float]
"""By block and name; of actuators also "effort", "value" and "rate" of their coordinate."""


def block_values(view: Interpretation, t: float, y: Vec) -> BlockValues:
    """All of them at one state (t, y)."""
    known = networks_of(view)
    if not known:
        return {}
    workspace, forces = view.workspace, view.model.forces
    Z = view.natural(t, y)
    ground = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])
    place = {id(body): k for k, body in enumerate(view.model.system.bodies)}
    inputs = [each.value for each in forces.inputs]
    if workspace.selection.inputs is not None:
        inputs = list(workspace.selection.inputs)
    out: BlockValues = {}
    for network in known:
        motion = np.array([Z[place[id(b)]] if id(b) in place else ground for b in network.bodies]).reshape(-1, 24)
        labels = forces.state_labels
        n = len(network.names) if not view.model.explicit else network.n_differential
        first = labels.index(network.names[0]) if n else 0
        s = y[workspace.layout.s][first : first + n]
        u = [_input(view, each, inputs, t) for each in network.inputs]
        x = np.concatenate([motion[:, :12].ravel(), motion[:, 12:].ravel(), s, np.zeros(len(network.names) - n), u])
        for each in forces.unknowns:
            if view.model.explicit and each.of.names == network.names[network.n_differential :]:
                numbers = [value for value, given in zip(u, network.inputs, strict=True) if given in forces.inputs]
                at = x[: 24 * len(motion) + len(network.names)]
                x[each.of.at : each.of.at + each.of.n] = each.of.solved(t, np.concatenate([at, numbers]))
        out |= {key: float(value) for key, value in network.values(t, x).items()}
    return out


def networks_of(view: Interpretation) -> list[Network]:
    """The networks of a problem's system, made once."""
    known: dict[Any, Any] = view.workspace.memory.recorded  # not shared with systems that have other numbers
    if "networks" not in known:
        system = view.model.system
        known["networks"] = networks(system.forces, system.joints)
    out: list[Network] = known["networks"]
    return out


def _input(view: Interpretation, given: Any, values: list[float], t: float) -> float:
    forces = view.model.forces
    if given in forces.inputs:
        return float(values[forces.inputs.index(given)])
    return float(view.model.system.source(given)(t))


__all__ = ["BlockValues", "block_values", "networks_of"]
