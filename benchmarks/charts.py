"""What does each chart cost, with each kind of velocity: time of the callbacks, and operations of their kernels?

Times are of calls of `problem.callbacks` in microseconds, and their ratios to those of the quaternion with material
angular velocity: lower quartiles over rounds in which all cases take turns (what else the machine does only adds). The
case is two bodies on a spherical joint and a pivot, at attitudes that are regular in every chart.

Operations are those of code of a model, one body that turns about a pivot in principal axes without weight: what Table
1 of [NS] counts. Those of R(a) and K(a) Omega are counted as they are recorded.

    python benchmarks/charts.py [--quick] [--times | --counts]
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

import rbdae
from rbdae.graph.symbols import Recorder
from rbdae.rotations import CHARTS

FIRST = ("quaternion", "angular")

TABLE_1 = {
    "null-space quaternionic (42)": "+5 -7 *18 /6",
    "null-space rotation-free (25)": "-12 *24 /3",
    "absolute quaternionic (40)": "+17 -4 *24 /3, 4 squares",
    "absolute rotation-free (23)": "+16 -1 *10, 9 squares, LU of 15 x 15",
    "Euler angles (66)": "+2 -5 *14 /5, 2 sin, 2 cos",
}
"""Of [NS], as printed."""


def linked() -> rbdae.System:
    """Two bodies on a spherical joint, the first on a pivot."""
    system = rbdae.System()
    first = system.add_body(
        "first",
        mass=1.3,
        inertia=[[2.0, 0.1, -0.2], [0.1, 3.0, 0.3], [-0.2, 0.3, 4.0]],
        center_of_mass=(0.2, -0.1, 0.4),
        pivot=(0.0, 0.0, 0.0),
        orientation=Rotation.from_rotvec((0.5, -0.3, 0.4)),
        angular_velocity=(0.3, -0.2, 0.5),
    )
    second = system.add_body(
        "second",
        mass=0.8,
        inertia=(1.0, 1.5, 1.2),
        position=(0.5, 0.2, 1.0),
        orientation=Rotation.from_rotvec((-0.4, 0.5, 0.2)),
    )
    at = Rotation.from_rotvec((0.5, -0.3, 0.4)).inv().apply((0.4, 0.1, 0.7))
    there = Rotation.from_rotvec((-0.4, 0.5, 0.2)).inv().apply((-0.1, -0.1, -0.3))
    system.add_joint(rbdae.joints.Spherical(first, second, at_a=at, at_b=there))
    return system


def free_top() -> rbdae.System:
    """A body about a pivot in its principal axes, nothing else."""
    system = rbdae.System(gravity=(0.0, 0.0, 0.0))
    turn = Rotation.from_rotvec((0.5, -0.3, 0.4))
    system.add_body(
        "top",
        mass=1.0,
        inertia=(2.0, 3.0, 4.0),
        pivot=(0.0, 0.0, 0.0),
        orientation=turn,
        angular_velocity=(0.3, -0.2, 0.5),
    )
    return system


def cases(formulation: str) -> list[tuple[str, str]]:
    """(rotation, velocity) of a formulation, that of `FIRST` first."""
    found = [(r, v) for f, r, v in rbdae.pairings() if f == formulation]
    return sorted(found, key=lambda pair: pair != FIRST)


# ---------------------------------------------------------------- times


def calls(rotation: str, velocity: str) -> dict[str, Callable[[], Any]]:
    """The callbacks of index-0 and index-2, bound to a state."""
    out = {}
    for form, names in (("index-0", ("rhs", "rhs_jacobian")), ("index-2", ("residual", "jacobian"))):
        problem = rbdae.formulate(linked(), form, rotation=rotation, velocity=velocity, consistent="project")
        y, yd, n = problem.y0, problem.yd0, problem.n
        arguments: dict[str, tuple[Any, ...]] = {
            "rhs": (0.0, y, np.empty(n)),
            "rhs_jacobian": (0.0, y, np.empty((n, n))),
            "residual": (0.0, y, yd, np.empty(n)),
            "jacobian": (0.0, y, yd, 1.0, np.empty((n, n))),
        }
        for name in names:
            out[f"{form} {name}"] = partial(getattr(problem.callbacks, name), *arguments[name])
    return out


def seconds(call: Callable[[], Any], n: int) -> float:
    """Of one call, from a loop of n."""
    start = time.perf_counter()
    for _ in range(n):
        call()
    return (time.perf_counter() - start) / n


def quartile(values: list[float]) -> float:
    """The lower one."""
    return statistics.quantiles(values, n=4)[0]


def print_times(rounds: int, n: int) -> None:
    """The table of times and ratios."""
    chosen = cases("index-0")
    bound = {pair: calls(*pair) for pair in chosen}
    spent: dict[tuple[str, str], dict[str, list[float]]] = {p: {name: [] for name in bound[p]} for p in chosen}
    for _ in range(rounds):
        for pair in chosen:
            for name, call in bound[pair].items():
                spent[pair][name].append(seconds(call, n))
    first = {name: quartile(values) for name, values in spent[FIRST].items()}
    print("us per call, and over quaternion with angular velocity\n")
    print("| rotation | velocity | " + " | ".join(first) + " |\n| --- | --- |" + " --- |" * len(first))
    for pair in chosen:
        cells = []
        for name, values in spent[pair].items():
            low = quartile(values)
            cells.append(f"{1e6 * low:.2f} ({low / first[name]:.2f})")
        print(f"| `{pair[0]}` | `{pair[1]}` | " + " | ".join(cells) + " |")


# ---------------------------------------------------------------- operations


def written(seen: Counter[str]) -> str:
    """For example ``+5 -7 *18``."""
    signs = {"add": "+", "sub": "-", "mul": "*", "rcp": "/"}
    found = [f"{sign}{seen[kind]}" for kind, sign in signs.items() if seen[kind]]
    return " ".join([*found, *(f"{n} {kind}" for kind, n in seen.items() if kind not in signs)]) or "none"


def operations(rotation: str) -> dict[str, Counter[str]]:
    """Of R(a) and K(a) Omega, recorded."""
    chart = CHARTS[rotation]
    recorder = Recorder({"a": np.ones(chart.n), "om": np.ones(3)}, 1000)
    a, om = recorder.inputs("a"), recorder.inputs("om")
    found = {}
    for name, values in (("R(a)", chart.rotation(a)), ("K(a) Omega", chart.rate(a, om))):
        needed = recorder.graph.needed([recorder.number(value) for value in values.ravel()])
        kinds = Counter(recorder.graph.nodes[k][0] for k in needed)
        found[name] = Counter({kind: n for kind, n in kinds.items() if kind not in ("const", "input")})
    return found


def print_counts() -> None:
    """The table of operations, and [NS]'s."""
    print("operations of index-0: in code of the model, and as written\n")
    print("| rotation | velocity | rhs | Jacobian | R(a) | K(a) Omega |\n| --- | --- | --- | --- | --- | --- |")
    for rotation, velocity in cases("index-0"):
        callbacks = rbdae.formulate(free_top(), "index-0", rotation=rotation, velocity=velocity).callbacks
        cells = [str(callbacks.operations("rhs")), str(callbacks.operations("rhs_jacobian").total)]
        cells += [written(seen) for seen in operations(rotation).values()]
        print(f"| `{rotation}` | `{velocity}` | {' | '.join(cells)} |")
    print("\n[NS], Table 1, as printed:\n")
    for name, counts in TABLE_1.items():
        print(f"- {name}: {counts}")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--times", action="store_true", help="only times")
    parser.add_argument("--counts", action="store_true", help="only operations")
    options = parser.parse_args()
    if not options.counts:
        print_times(*((21, 100) if options.quick else (301, 100)))
        print()
    if not options.times:
        print_counts()


if __name__ == "__main__":
    main()
