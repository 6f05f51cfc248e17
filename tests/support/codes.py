"""Which cases of tests run by day, and which are left to the night.

- The laws of all pairings run each pairing of formulation, rotation and velocity on several mechanisms. Of those that
  a file has for a pairing one mechanism is taken. Files differ in the pairings.
- Of a test function with many cases, combinations take turns: those are taken in which something occurs that no case
  before has, a formulation, a chart, a velocity, a mechanism, a solver. Each function has an order of its own, so that
  functions differ in the combinations, and some functions have all pairings, so that each is met by two at least.
- Jacobians are derivatives of recordings, by one piece of code. Their functions take a kind of formulation and a
  velocity in place of every formulation and chart.

At night (`pytest -m nightly`) all mechanisms and combinations are taken. Files agree on the mechanism, so that they
share code on disk. LLVM takes its quickest way, and operations stay as they are recorded, but in files about code.
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

from rbdae.formulations import FORMULATIONS

FEW = 4
"""Functions with fewer cases run all of them."""

MET = 2
"""So many functions have a pairing, before it is left to the others' turns."""

DERIVED = re.compile(r"derivative|jacobian")
"""Functions about Jacobians."""

THOROUGH = re.compile(
    r"tests/house/test_(?!plain)|/test_(traced_(?!guards|bad)|graph|cache|native|growth|forks|reading|operations)"
    r"|laws/test_one_step_loops|an_item\w*\[ns-table-1"
)
"""Files about code, and about what it costs. The others have the operations as they are recorded, as
LLVM writes them down at once, in a third of the time."""

DEAR = (
    r"adapters/test_solve_dae.*500_radians\S*\[quaternion-1e-10-Radau",
    r"laws/test_actuators\S*reduction_by_hand\[index-2",
    r"laws/test_conserving\.py::test_forces_of_joints\S*\[closing rod",
    r"laws/test_conserving\.py::test_order_two_on_every_model\[(andrews|bricard|flyball_governor|n_four_bar)",
    r"laws/test_conserving\.py::test_plain_code_takes_the_same_steps\S*\[(QUAT\.EM|DIR|ALGO\.C1 \(|MIDPOINT \([3c])",
    r"laws/test_consistency\S*description\[branched-index-0",
    r"laws/test_damaged_files\S*same_solution\[0",
    r"laws/test_derivatives\S*right_hand_side\[tied-index-0",
    r"laws/test_elements.*all_models\[(further )?forces-hiller",
    r"laws/test_elements\S*charts_with\S*\[branched-overdetermined-1",
    r"laws/test_equivalence\S*in_another_order\S*\[(loop|tied)",
    r"laws/test_exact_or_failed.*n_four_bar-1[01]",
    r"laws/test_force_states.*(derivatives_with|where).*struts-loop",
    r"laws/test_force_states.*derivatives_with_states\[struts-(tree|baumgarte)",
    r"laws/test_force_states.*where_states_are\[struts-tree-null-space/(linear|quaternion)",
    r"laws/test_forces\S*jacobians\[ball friction",
    r"laws/test_forces\S*jacobians\[bushing-index-0",
    r"laws/test_joint_quantities.*gradients.*null-space",
    r"laws/test_joint_quantities.*in_machine_code\[planar",
    r"laws/test_joints\S*jacobian\S*cylindrical-baumgarte",
    r"laws/test_loops_in_machine_code.*long_chains.*\[(ggl|index-0)",
    r"laws/test_not_finite.*once_or_for_good\S*\[sc\S*-plain",
    r"laws/test_null_space\.py::test_(jacobians|rows)\S*hinges",
    r"laws/test_null_space\.py::test_every_pair\S*\[(cylindrical|spherical|revolute|driven (turn|plane))-a",
    r"laws/test_null_space\.py::test_jacobians\[four-bar",
    r"laws/test_null_space\.py::test_rows\S*\[four-bar",
    r"laws/test_null_space_ggl\S*drift\[C-directors",
    r"laws/test_parameter_jacobian\S*differences\S*\[(user, pivot|force, jointed)",
    r"laws/test_parameter_jacobian\S*its_own\[chain-(hamiltonian|projected)",
    r"laws/test_parameter_jacobian\S*its_own\[spatial_slider_crank-null",
    r"laws/test_purity\S*copies\[(mixed|joint-universal)",
    r"laws/test_random_runs\S*solvers\[(1|7|9|12)\]",
    r"laws/test_rates_jacobian\S*side\[(tied-proj|model-bricard)",
    r"laws/test_reaction_friction\S*complex_steps\[(hamiltonian-eliminated|baumgarte-ode)",
    r"laws/test_reaction_friction\S*multipliers\[(chain-11|sleeve-5)",
    r"laws/test_reactions\S*along_runs\S*\[(andrews|bricard|flyball_governor|n_four_bar-ggl)",
    r"laws/test_reactions\S*along_runs\S*\[chain-(ggl|baumgarte)",
    r"laws/test_reading\S*formulas\[(projected-0|hamiltonian-differentiated)\S*-auto",
    r"laws/test_redundancy\S*equations_left_out\[projected-0",
    r"laws/test_redundancy\S*go_on\S*\[(hamiltonian-eliminated|hiller|index-3)",
    r"laws/test_redundancy\S*go_on\S*\[overdetermined",
    r"laws/test_redundancy\S*left_out\[hamiltonian-e",
    r"laws/test_redundancy\S*left_out_have_no\S*\[0",
    r"laws/test_reference_rotations\S*every_solver\S*\[sksundae:ida-rotation-v",
    r"laws/test_singular\S*found_and_told\[(null-space|hamiltonian-eliminated)",
    r"laws/test_sparse_loops\S*dense_elimination\[(four-bar-angular|spatial\])",
    r"laws/test_sparse_loops\S*ladders\S*\[hanging-8",
    r"laws/test_sparse_loops\S*ladders\S*\[windows-12",
    r"laws/test_stabilised\S*force_on_velocities\[ggl/(rotation-vector|quaternion-vector)",
    r"laws/test_toys\S*of_a_formulation\[tied-directors",
    r"laws/test_toys\S*of_a_joint\S*(null-space-overdetermined|projected-0)",
    r"laws/test_toys\S*of_a_joint\[joint-pin-in-slot",
    r"laws/test_unit_norm\S*default\[tied-fifth",
    r"laws/test_units.*runs_are.*(null-space|1 s-index-2)",
    r"laws/test_units\S*evaluations.*\[(1 m, 1 kg, 1e\+06|1 m, 1e\+09 kg|1e\+06 m, 1 kg|1e-06 m, 1e\+09)",
    r"laws/test_units\S*runs_are\S*\[1e-06 m",
    r"laws/test_user_laws\S*called_back\[10",
    r"laws/test_windings\S*derivatives\S*\[wound tree-projected-0",
    r"laws/test_work_of_steps\S*\[everything-QUAT",
    r"models/test_benchmarks\S*through\S*\[(plain-hamiltonian|redundant-index-0)",
    r"models/test_closed_form\S*random_bodies\[1",
    r"models/test_loops\S*\[(Bricard-(null-space-ggl|projected-1)|spherical four-bar-hamiltonian-d)",
    r"study/test_mechanisms\S*agree\[(quick_return-1|arm_with_pd-2)",
    r"study/test_mechanisms\S*agree\[quarter_car-1",
    r"study/test_numbers_shown\S*(curve\S*page|table\S*)\S*\[back at",
    r"study/test_page_contents\S*collides\S*\[(page|tall)-1300",
    r"study/test_papers\S*an_item\[(ns-table-1|gr-fig-7|ns-fig-15b)",
)
"""Cases that cost a core-second and more each, where their function has others for the same code by day."""

_DEAR = re.compile("|".join(DEAR))


def cached(function: Callable[..., Any]) -> Callable[..., Any]:
    """As `functools.cache`, for problems and runs that are kept between tests: one for each code that tests have."""

    @cache
    def kept(_plain: bool, *arguments: Any) -> Any:
        return function(*arguments)

    @wraps(function)
    def found(*arguments: Any) -> Any:
        return kept(os.environ.get("RBDAE_LLVM") == "none", *arguments)

    return found


def is_thorough(nodeid: str) -> bool:
    """Whether machine code in a test goes through all of LLVM's passes."""
    return NIGHTLY or THOROUGH.search(nodeid) is not None


def late(items: Iterable[Any]) -> set[str]:
    """The tests, by node id, that are left to the night."""
    if NIGHTLY:
        return set()
    # those marked ``nightly``, and dear ones, are left out anyway, and stand for no others
    day = [item for item in items if item.get_closest_marker("nightly") is None]
    found = {item.nodeid for item in day if _DEAR.search(item.nodeid) is not None}
    day = [item for item in day if item.nodeid not in found]
    found |= combinations(day)
    pairings = defaultdict[tuple[str, str], list[tuple[str, str]]](list)
    for item in day:
        pairing = _pairing(item)
        if pairing is not None and item.nodeid not in found:
            mechanism = next((value for value in item.callspec.params.values() if isinstance(value, str)), "")
            pairings[item.nodeid.partition("::")[0], str(pairing)].append((mechanism, item.nodeid))
    for (_, name), pairs in pairings.items():
        first = min((mechanism for mechanism, _ in pairs), key=lambda mechanism, name=name: _number(mechanism + name))
        found |= {nodeid for mechanism, nodeid in pairs if mechanism != first}
    return found


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
            parts, pairing = _parts(item.callspec, derived=DERIVED.search(function) is not None), _pairing(item)
            common = pairing is None or function in met[pairing] or len(met[pairing]) >= MET
            if len(its) >= FEW and parts <= seen and common:
                late.add(item.nodeid)
                continue
            seen |= parts
            if pairing is not None:
                met[pairing].add(function)
    return late


def _parts(callspec: Any, *, derived: bool) -> set[Any]:
    """What occurs in a case: values that can be compared, the parts of a pairing, else places in lists of cases."""
    out: set[Any] = set()
    for name, value in callspec.params.items():
        if isinstance(value, Pairing) and derived:
            out |= {(name, FORMULATIONS[str(value.formulation)].kind), (name, value.velocity)}
        elif isinstance(value, Pairing):
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
