"""The numbers of a system as inputs of what is handed away.

A number enters the kernels through the records of the model: masses, inverse inertias, coefficients of points. They are
packed with a symbol in place of each parameter, and stand in a graph. A recording takes this graph into its own, so
that it depends on the parameters exactly, also where they are 0 or 1 now.

A number stays what it is, and is no parameter, where it decides on structure or where a law is made with it:

* stiffness, damping or friction that is 0 now, if its element, or the winding of its angle, is only there with another
  one: of torsional springs, of rotations of bushings, of joint friction;
* numbers of blocks whose law cannot be recorded with symbols, and points along which such laws read or act.

Of an inertia or stiffness that is a multiple of the unit matrix the entries are parameters, or, by its name, the
multiple in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import numpy as np

from rbdae import _check
from rbdae.graph.graph import Graph
from rbdae.graph.replacing import replaced
from rbdae.graph.symbols import NotStraight, Recorder, Symbol
from rbdae.kernels.symbolic import opened
from rbdae.multibody.memory.arrays import arrays_of
from rbdae.multibody.memory.workspace import Workspace
from rbdae.multibody.recorded.recording import MOST_NODES
from rbdae.multibody.system.model import Model, varied
from rbdae.multibody.system.parameters import parameters, with_fields

Place = tuple[str, int, str, int | None]
"""An array, a record, a field, and a place in that if it is no number."""


@final
class Parameters:
    """Parameters of the model of a workspace, whose `symbols` they are.

    `defaults` has their values by name, in the order of p. `names` are as in `rbdae.Problem.parameters`; without them
    it is all that can be. Raises ValueError for unknown names, and for numbers that cannot be parameters together.
    """

    def __init__(self, workspace: Workspace, names: Sequence[str] | None = None) -> None:
        self._workspace, self._known = workspace, parameters(workspace.model.system)
        entries = {name.rpartition(".")[0] for name in self._known if name.endswith(".xy")}
        if names is None:
            names = self._able([name for name in self._known if name not in entries])
        names = _check.known("parameters", "parameter", names, self._known)
        for name in entries.intersection(names):
            if any(other.startswith(f"{name}.") for other in names):
                raise ValueError(f"parameters: {name} and an entry of it are named; leave one of them out")
        self.defaults = {name: self._known[name].value for name in names}
        self._graph, self._places = self._packed(names)

    def __call__(self, workspace: Workspace, recorder: Recorder) -> dict[str, Any]:
        """The records of a workspace of this model with the symbols of the input vector ``"p"`` of a recorder; those
        that are its own stay."""
        recorder.with_inputs("p", [*self.defaults.values()])
        out: dict[str, Any] = {}
        nodes = replaced(self._graph, [*self._places.values()], {}, recorder.graph)
        for (name, k, field, at), node in zip(self._places, nodes, strict=True):
            if name in workspace.owned:
                continue
            if name not in out:
                out[name] = opened(workspace.arrays[name])
            if at is None:
                setattr(out[name][k], field, recorder.result(node))
            else:
                getattr(out[name][k], field).flat[at] = recorder.result(node)
        return out

    def _able(self, names: list[str]) -> list[str]:
        """The names, out of some, of numbers that can be parameters."""
        try:
            self._packed(names)
        except ValueError:
            half = len(names) // 2
            return [*self._able(names[:half]), *self._able(names[half:])] if half else []
        return names

    def _packed(self, names: Sequence[str]) -> tuple[Graph, dict[Place, int]]:
        """A graph, and its nodes in the records. Raises ValueError for numbers that cannot be parameters."""
        model = self._workspace.model
        known = [self._known[name] for name in names]
        recorder = Recorder({"p": [each.value for each in known]}, MOST_NODES)
        fields: dict[int, dict[str, Any]] = {}
        for each, symbol in zip(known, recorder.inputs("p"), strict=True):
            each.put(symbol, fields)
        some = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
        try:
            new = varied(model, with_fields(model.system, fields), object)
        except (TypeError, AttributeError, ValueError, NotStraight) as error:
            raise ValueError(f"parameters: {some} cannot all be parameters: {error}; name others") from error
        nodes = recorder.graph.nodes
        if any(fell or nodes[k][0] != "==" for k, fell in recorder.guards.items()):
            raise ValueError(f"parameters: {some}: a number that is 0 decides on structure; formulate with another one")
        if _laws(new) != _laws(model):
            raise ValueError(f"parameters: {some}: a law cannot be recorded with symbols for all of them; name others")
        arrays = arrays_of(new, self._workspace.settings, self._workspace.layout)
        found = {(name, *place): symbol.node for name, array in arrays.items() for place, symbol in _symbols(array)}
        return recorder.graph, found


def _laws(model: Model) -> list[Any]:
    """The results of the laws of forces as graphs, without what else has come into these."""
    laws, graphs = [function.law for function in model.forces.functions], list[Any]()
    for law in laws:
        graph = Graph()
        results = [] if law is None else replaced(law.graph, [*law.outputs, law.regular], {}, graph)
        graphs.append((results, graph.nodes))
    return graphs


def _symbols(array: Any) -> list[tuple[tuple[int, str, int | None], Symbol]]:
    """The symbols in records, with the record, the field and the place in it."""
    return [
        ((k, field, at if array[field].ndim > 1 else None), x)
        for field in array.dtype.names or ()
        if array.dtype[field].hasobject
        for k, record in enumerate(array[field])
        for at, x in enumerate(np.ravel(record))
        if isinstance(x, Symbol)
    ]
