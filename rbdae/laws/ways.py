"""A function run along all its ways: where they part, they become choices between results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rbdae.graph.graph import Graph
from rbdae.laws.numbers import NotRecorded, Tape

MOST_WAYS = 64
"""Ways through a law; one with more is called back."""

_DEEPEST = 40


class Found(NamedTuple):
    """The nodes of the results, and that of a condition: 0 where the law raises an exception."""

    outputs: list[int]
    regular: int


def explored(graph: Graph, run: Callable[[Tape], Sequence[int]]) -> Found:
    """All ways through a function.

    Parameters
    ----------
    graph : gets the operations
    run : the function, on one tape: the nodes of its results

    Raises
    ------
    NotRecorded
        if there are too many ways, or it raises on all of them
    """
    count = [0]
    errors: list[BaseException] = []

    def way(answers: tuple[bool, ...]) -> Found | None:
        count[0] += 1
        if count[0] > MOST_WAYS or len(answers) > _DEEPEST:
            raise NotRecorded(f"it has more than {MOST_WAYS} ways, or a loop whose end depends on a value")
        tape = Tape(graph, answers)
        found: Found | None
        try:
            found = Found(list(run(tape)), graph.const(1.0))
        except NotRecorded:
            raise
        except RecursionError:
            raise NotRecorded("it calls itself too often") from None
        except (Exception, SystemExit) as error:
            errors.append(error)
            found = None  # the user's own exception, where a condition falls so
        return _joined(tape, answers, found)

    def _joined(tape: Tape, answers: tuple[bool, ...], found: Found | None) -> Found | None:
        """The result of a way, with those of the ways that part from it after its answers."""
        asked = tape.asked
        for k in reversed(range(len(answers), len(asked))):
            condition, answer = asked[k]
            other = way((*(fell for _, fell in asked[:k]), not answer))
            found = _choice(graph, condition, found if answer else other, other if answer else found)
        return found

    found = way(())
    if found is None:
        error = errors[0]
        raise NotRecorded(f"{type(error).__name__}: {error}")
    return found


def _choice(graph: Graph, condition: int, one: Found | None, other: Found | None) -> Found | None:
    if one is None or other is None:
        there = one or other
        if there is None:
            return None
        sides = (there.regular, graph.const(0.0))
        return Found(there.outputs, graph.select(condition, *(sides if other is None else sides[::-1])))
    outputs = [graph.select(condition, a, b) for a, b in zip(one.outputs, other.outputs, strict=True)]
    return Found(outputs, graph.select(condition, one.regular, other.regular))


__all__ = ["MOST_WAYS", "Found", "explored"]
