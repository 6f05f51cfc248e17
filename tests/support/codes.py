"""Which code each test runs: the suite has the code that users get, and generic kernels beside it by a sample.

The laws of all pairings run each pairing of formulation, rotation and velocity on several mechanisms. Code of one model
is recorded and compiled for each of them, a second or two, where generic kernels are there. So of the mechanisms that a
file has for a pairing, two are taken: for one pairing in three the first has the code that users get, the others have
generic kernels. In the long run (`tools/long`) all mechanisms are taken, with users' code. Of the other test functions
one in ten runs generic kernels.

All functions of a file agree on the code of a mechanism in a pairing, since files keep problems between tests; files
agree on the mechanism, so that they share code on disk.
"""

from __future__ import annotations

import zlib
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import samples
from cases import Pairing

ONE_IN = 10
"""Of test functions without pairings, this one runs generic kernels."""

ONE_PAIRING_IN = 3
"""Of the pairings in a file, this one has users' code."""

MECHANISMS = 2
"""So many of the mechanisms that a file has for a pairing are taken in the usual run."""


def assigned(items: Iterable[Any]) -> dict[str, str]:
    """The code of the tests that do not run users' code, by node id: ``"generic"``, or ``"long"`` for tests that are
    left to the long run. Tests that choose the code themselves, by the fixture `code`, run in the usual way; those
    marked ``generic`` have many models for one law."""
    subjects = {item.nodeid: _subject(item) for item in items if "code" not in getattr(item, "fixturenames", ())}
    mechanisms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file, pairing, mechanism in filter(None, subjects.values()):
        mechanisms[file, pairing].add(mechanism)
    found = {}
    of_many = {item.nodeid for item in items if item.get_closest_marker("generic") is not None}
    for nodeid, subject in subjects.items():
        if nodeid in of_many:
            found[nodeid] = "generic"
        elif subject is None:
            if _number(nodeid.partition("[")[0]) % ONE_IN == 0:
                found[nodeid] = "generic"
        elif not samples.LONG:
            file, pairing, mechanism = subject
            turn = sorted(mechanisms[file, pairing], key=lambda name: _number(name + pairing)).index(mechanism)
            if turn >= MECHANISMS:
                found[nodeid] = "long"
            elif turn > 0 or _number(file + pairing) % ONE_PAIRING_IN != 0:
                found[nodeid] = "generic"
    return found


def _subject(item: Any) -> tuple[str, str, str] | None:
    """File, pairing and mechanism of a test; None if it has no pairing."""
    values = item.callspec.params if hasattr(item, "callspec") else {}
    pairing = next((value for value in values.values() if isinstance(value, Pairing)), None)
    if pairing is None:
        return None
    words = [value for value in values.values() if isinstance(value, str) and not isinstance(value, Pairing)]
    return item.nodeid.partition("::")[0], str(pairing), words[0] if words else ""


def _number(name: str) -> int:
    """The same for a name in every process."""
    return zlib.crc32(name.encode())
