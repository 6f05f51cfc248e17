"""Kinds of elements from what is recorded of bodies and joints, with the places of their inputs and numbers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from rbdae.graph.graph import Graph
from rbdae.graph.loaded import Loaded
from rbdae.graph.order import deepest_first
from rbdae.machine.elements import Kind, Place, Result
from rbdae.multibody.element_kinds import in_lanes, shortened
from rbdae.multibody.element_numbers import ElementNumbers
from rbdae.multibody.rhs_recording import Motion, Recorded


def recorded_kind(
    numbers: ElementNumbers,
    motion: Motion,
    graph: Graph,
    results: list[Result],
    of: Recorded,
    places: Mapping[tuple[str, int], Place],
    guards: Mapping[int, bool] = MappingProxyType({}),
    *,
    as_recorded: bool = False,
) -> Kind:
    """The elements of a kind of bodies or joints. Their graph may be another one than that of the recording, with the
    same inputs and numbers; `places` are those of further inputs, `guards` conditions and how they have to fall.
    Graphs with quotients of long sums are written `as_recorded`: a search for fewer operations takes minutes there."""
    results = [r for r in results if graph.value(r.node) != 0.0 or not r.adds]
    if as_recorded:
        order = deepest_first(graph, [*guards, *(result.node for result in results)])
    else:
        graph, order, results, guards = shortened(graph, results, guards)
    n = len(of.group.bodies)
    inputs = dict(places)
    loaded: dict[int, Loaded] = {}
    for k in order:
        kind, *rest = graph.nodes[k]
        if kind == "const" and isinstance(rest[0], Loaded):
            loaded[k] = rest[0]
        elif kind == "input" and rest[0] in ("y", "free"):
            inputs[rest[0], rest[1]] = of.place(motion, *rest)
    found = numbers.places(of.loaded, list(loaded.values()), of.columns, n)
    at = {k: Place("numbers", "numbers", place) for k, place in zip(loaded, found, strict=True)}
    return in_lanes(graph, order, results, inputs, at, n, guards)
