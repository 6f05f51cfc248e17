"""The values of blocks and actuators at rows of natural coordinates and states: efforts, outputs, inputs, unknowns."""

from __future__ import annotations

from typing import Any

import numpy as np

from rbdae._arrays import Mat, Vec
from rbdae.actuators.block import Block
from rbdae.actuators.network import Network
from rbdae.actuators.sampled import Sampled

Values = dict[tuple[Block, str], Vec]
"""Of each block by name, (m,): "effort", and its own quantities."""


def network_values(view: Any, network: Network, number: int, t: Vec, Z: Mat, y: Mat) -> Values:
    """The values of one network, which is this element of the model; algebraic unknowns that are eliminated are solved
    for again.

    Parameters
    ----------
    Z, y : (m, 24 bodies), with the bodies as they are in memory, and (m, n)
    """
    forces, workspace = view.model.forces, view.workspace
    row = forces.elements[number]
    s = y[:, workspace.layout.s][:, row["state"] : row["state"] + row["n_states"]]
    bodies = forces.bodies[row["first_body"] : row["first_body"] + row["n_bodies"]]
    mine = forces.element_inputs[row["first_input"] : row["first_input"] + row["n_inputs"]]
    given = np.asarray(workspace.arrays["inputs"], dtype=float)[mine] if len(mine) else np.zeros(0)
    algebraic = network.names[network.n_differential :]
    solving = next((each.of for each in forces.unknowns if each.of.names == algebraic), None)
    places = [24 * view.reader.places[b] if b < view.model.n else -1 for b in bodies]
    system, columns = view.model.system, []
    for time, natural, states in zip(t.tolist(), Z, s, strict=True):
        parts = [_GROUND if at < 0 else natural[at : at + 24] for at in places]
        motion = np.concatenate([*(z[:12] for z in parts), *(z[12:] for z in parts), _NOTHING])
        if solving is not None and row["n_states"] < len(network.names):
            x = np.concatenate([motion, states, np.zeros(solving.n), given])
            states = np.concatenate([states, solving.solved(time, x)])
        others = iter(given.tolist())
        inputs = [
            float(system.sources[each](time)) if each in system.sources else next(others) for each in network.inputs
        ]
        columns.append(network.values(time, np.concatenate([motion, states, inputs])))
    return {key: np.array([column[key] for column in columns], dtype=float) for key in (columns[0] if columns else ())}


def held_values(view: Any) -> dict[tuple[Block, str], float]:
    """The outputs that sampled controllers hold in the selection of a view: inputs of its system."""
    forces = view.model.forces
    present = np.asarray(view.workspace.arrays["inputs"], dtype=float)
    places = {each.name: k for k, each in enumerate(forces.inputs)}
    return {
        (block, name): float(present[places[held.name]])
        for block in view.model.system.forces
        if isinstance(block, Sampled)
        for name, held in block.held.items()
        if held.name in places
    }


_NOTHING = np.zeros(0)
_GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])

__all__ = ["Values", "held_values", "network_values"]
