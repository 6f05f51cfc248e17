"""Which code each test runs: the code that users get, and generic kernels beside it by a sample.

That both are the same mathematics is a law of its own (tests/laws/test_traced_agreement.py); the sample is of what goes
another way around them: bindings, loops, projections, events.

- The laws of all pairings run each pairing of formulation, rotation and velocity on several mechanisms. Of those that
  a file has for a pairing one mechanism is taken; for one pairing in six it has generic kernels. Files differ in the
  pairings.
- Of a test function with four cases or more, one in twenty has generic kernels; of the other test functions one in ten.
- In the files whose laws run over the most mechanisms, each with code of its own, it is the other way: one case in
  eight has users' code. They are a seventh of the tests, and had two thirds of what users' code costs.

Of a test function with many cases, combinations take turns: those are taken in which something occurs that no case
before has, a formulation, a chart, a velocity, a mechanism, a solver. Each function has an order of its own, so that
functions differ in the combinations, and some functions have all pairings, so that each is met by two at least.

Some tests are marked ``generic``, with a reason. At night (`pytest -m nightly`) all mechanisms and combinations are
taken, with users' code. All functions of a file agree on the code of a mechanism in a pairing, since files keep
problems between tests; files agree on the mechanism, so that they share code on disk. LLVM takes its quickest
way, and operations stay as they are recorded, but in files about code.
"""

from __future__ import annotations

import os
import re
import zlib
from collections import defaultdict
from collections.abc import Callable, Iterable
from functools import cache, wraps
from typing import Any

from cases import NIGHTLY, Pairing

ONE_IN, ONE_PAIRING_IN, ONE_CASE_IN, ONE_DEAR_IN = 10, 6, 20, 8
"""Of test functions without pairings, of pairings in a file, and of cases of a function without pairings, this one has
generic kernels; of cases in `DEAR` files, this one has users' code."""

DEAR = re.compile(
    r"/test_(redundancy|euler_parameter_forms|joints|purity|derivatives|force_states|equivalence|loops"
    r"|toys|null_space|random_systems|reactions|drives|windings|matrices|consistency|projection|kinematics|forces"
    r"|unique_components|null_space_ggl|reference_rotations|random_actuated"
    r"|observables|units|scale|parameter_jacobian|director_columns|joint_quantities|singular|stabilised"
    r"|energy_balance)\.py"
)
"""The files in which one case in `ONE_DEAR_IN` has users' code."""

FEW = 4
"""Functions with fewer cases have one code for all, and run all of them."""

MET = 2
"""So many functions have a pairing, before it is left to the others' turns."""

THOROUGH = re.compile(
    r"tests/house/test_(?!plain)|/test_(traced_(?!guards|bad)|graph|cache|native|growth|forks|reading|operations)"
    r"|laws/test_one_step_loops|an_item\w*\[ns-table-1"
)
"""Files about code, and about what it costs. The others have the operations as they are recorded, as
LLVM writes them down at once, in a third of the time."""


def cached(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `functools.cache`, for problems and runs that are kept between tests: one for each code that tests have."""

    @cache
    def kept(code: str | None, *arguments: Any) -> Any:
        return function(*arguments)

    @wraps(function)
    def found(*arguments: Any) -> Any:
        return kept(os.environ.get("RBDAE_CODE"), *arguments)

    return found


def is_thorough(nodeid: str) -> bool:
    """Whether machine code in a test goes through all of LLVM's passes."""
    return NIGHTLY or THOROUGH.search(nodeid) is not None


def assigned(items: Iterable[Any]) -> dict[str, str]:
    """The code of the tests that do not run users' code, by node id: ``"generic"``, or ``"nightly"`` for tests that are
    left to the night. Tests that choose the code themselves, by the fixture `code`, and those marked ``users``, are not
    in the sample."""
    free = [item for item in items if "code" not in getattr(item, "fixturenames", ())]
    sampled = [item for item in free if item.get_closest_marker("users") is None]
    marked = {item.nodeid: "generic" for item in sampled if item.get_closest_marker("generic") is not None}
    if NIGHTLY:
        return marked
    # those marked ``nightly`` are left out anyway, and stand for no others
    late = combinations(item for item in free if item.get_closest_marker("nightly") is None)
    functions, pairings = defaultdict[str, list[str]](list), defaultdict[tuple[str, str], list[tuple[str, str]]](list)
    for item in sampled:
        if item.nodeid not in late and item.get_closest_marker("nightly") is None:
            pairing = _pairing(item)
            if pairing is None:
                functions[item.nodeid.partition("[")[0]].append(item.nodeid)
            else:
                mechanism = next((value for value in item.callspec.params.values() if isinstance(value, str)), "")
                pairings[item.nodeid.partition("::")[0], str(pairing)].append((mechanism, item.nodeid))
    found = {}
    for function, its in functions.items():
        few = len(its) < FEW
        for k, nodeid in enumerate(its):
            if _is_generic(function, _number(function) + (0 if few else k), ONE_IN if few else ONE_CASE_IN):
                found[nodeid] = "generic"
    for (file, name), pairs in pairings.items():
        first = min((mechanism for mechanism, _ in pairs), key=lambda mechanism, name=name: _number(mechanism + name))
        for mechanism, nodeid in pairs:
            if mechanism != first:
                found[nodeid] = "nightly"
            elif _is_generic(file, _number(file + name + (mechanism if DEAR.search(file) else "")), ONE_PAIRING_IN):
                found[nodeid] = "generic"
    return found | marked | dict.fromkeys(late, "nightly")


def _is_generic(where: str, place: int, one_in: int) -> bool:
    return place % ONE_DEAR_IN != 0 if DEAR.search(where) else place % one_in == 0


def combinations(items: Iterable[Any]) -> set[str]:
    """The cases, by node id, in which nothing occurs that another case of their function has not, and whose pairing
    enough functions have."""
    functions: dict[str, list[Any]] = defaultdict(list)
    for item in items:
        if hasattr(item, "callspec"):
            functions[item.nodeid.partition("[")[0]].append(item)
    met: dict[Pairing, set[str]] = defaultdict(set)
    late = set()
    for function in sorted(functions, key=lambda name: (_number(name), name)):
        its = functions[function]
        seen: set[Any] = set()
        for item in sorted(its, key=lambda item: (_number(item.nodeid), item.nodeid)):
            parts, pairing = _parts(item.callspec), _pairing(item)
            common = pairing is None or function in met[pairing] or len(met[pairing]) >= MET
            if len(its) >= FEW and parts <= seen and common:
                late.add(item.nodeid)
                continue
            seen |= parts
            if pairing is not None:
                met[pairing].add(function)
    return late


def _parts(callspec: Any) -> set[Any]:
    """What occurs in a case: values that can be compared, the parts of a pairing, else places in lists of cases."""
    out: set[Any] = set()
    for name, value in callspec.params.items():
        if isinstance(value, Pairing):
            out |= {(name, part) for part in value}
        else:
            out.add((name, value if isinstance(value, str | int | float) else ("", callspec.indices[name])))
    return out


def _pairing(item: Any) -> Pairing | None:
    values = item.callspec.params.values() if hasattr(item, "callspec") else ()
    return next((value for value in values if isinstance(value, Pairing)), None)


def _number(name: str) -> int:
    """The same for a name in every process."""
    return zlib.crc32(name.encode())
