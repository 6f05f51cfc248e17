"""Which tests run generic kernels: the suite has the code that users get, and generic kernels beside it by a sample.

The laws of all pairings run each pairing of formulation, rotation and velocity on several mechanisms. Code of one model
is recorded and compiled for each of them, a second or two, where generic kernels are there. So a pairing has the code
that users get on one mechanism of a file, the same one in all files that have it, and generic kernels on the others; in
a file of one mechanism, one pairing in three has users' code. In the long run (`tools/long`) all have it. Of the other
test functions one in ten runs generic kernels.

All functions of a file agree on the code of a mechanism in a pairing, since files keep problems between tests.
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
"""Of the pairings in a file of one mechanism, this one has users' code."""


def generic(items: Iterable[Any]) -> set[str]:
    """The node ids of the tests, of those collected, that run generic kernels. Tests that choose the code themselves,
    by the fixture `code`, are none of them."""
    subjects = {item.nodeid: _subject(item) for item in items if "code" not in getattr(item, "fixturenames", ())}
    mechanisms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for file, pairing, mechanism in filter(None, subjects.values()):
        mechanisms[file, pairing].add(mechanism)
    found = set()
    for nodeid, subject in subjects.items():
        if subject is None:
            if _number(nodeid.partition("[")[0]) % ONE_IN == 0:
                found.add(nodeid)
        elif not samples.LONG:
            file, pairing, mechanism = subject
            every = mechanisms[file, pairing]
            if len(every) == 1:
                other = _number(file + pairing) % ONE_PAIRING_IN != 0
            else:
                other = mechanism != min(every, key=lambda name: _number(name + pairing))
            if other:
                found.add(nodeid)
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
