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


def _of_network(view: Any, network: Network, number: int, t: Vec, Z: Mat, y: Mat) -> Values:
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
    motion = np.empty((len(t), len(bodies), 24))
    for k, b in enumerate(bodies):
        first = 24 * view.places[b] if b < view.model.n else -1
        motion[:, k] = _GROUND if first < 0 else Z[:, first : first + 24]
    values = np.asarray(workspace.arrays["inputs"], dtype=float) if forces.inputs else np.zeros(0)
    if row["n_states"] < len(network.names):
        names = network.names[network.n_differential :]
        solving = next(each for each in forces.unknowns if each.of.names == names)
        s = np.concatenate([s, solving.solved(t, motion, s, values)], axis=1)
    x = [motion[..., :12].reshape(len(t), -1), motion[..., 12:].reshape(len(t), -1), s]
    sources, place = view.model.system.sources, {each: k for k, each in enumerate(forces.inputs)}
    for each in network.inputs:
        if each in sources:
            x.append(np.array([[float(sources[each](time))] for time in t.tolist()]).reshape(-1, 1))
        else:
            x.append(np.full((len(t), 1), values[place[each]]))
    return network.values_at(t, np.concatenate(x, axis=1))


def values_of_blocks(view: Any, t: Vec, Z: Mat, y: Mat) -> Values:
    """Those of all networks, and what sampled controllers hold in the selection of the view: inputs of its system."""
    held = np.asarray(view.workspace.arrays["inputs"], dtype=float)
    place = {each.name: k for k, each in enumerate(view.model.forces.inputs)}
    out: Values = {}
    for block in view.model.system.forces:
        if isinstance(block, Sampled):
            of = {name: place[each.name] for name, each in block.held.items() if each.name in place}
            out |= {(block, name): np.full(len(t), held[k]) for name, k in of.items()}
    for network, number in view.owners.networks:
        out |= _of_network(view, network, number, t, Z, y)
    return out


_GROUND = np.concatenate([np.zeros(3), np.eye(3).reshape(9), np.zeros(12)])
