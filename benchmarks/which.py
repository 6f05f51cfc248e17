"""Which formulation and which solver: measured tables for docs/which-formulation.md and docs/which-solver.md.

For each class of mechanism, pairs of form and solver run at some tolerances. The work for an error of 1e-6 at the
end is read off these runs (`Comparison.ranking`).
The closed chain of five bars runs once by each form, without projection.

    OPENBLAS_NUM_THREADS=1 python benchmarks/which.py [CLASS ...] [--quick] [--write]

`--write` puts tables into the pages, between their markers, and draws docs/pictures/five-bars.png.
"""

from __future__ import annotations

import argparse
import datetime
import itertools
import math
import platform
import re
import sys
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "adapters")]

import rbdae  # noqa: E402
from rbdae.joints import Revolute  # noqa: E402
from rbdae.study import cases  # noqa: E402

ERROR = 1e-6
FORMS = (
    "null-space",
    "index-0",
    "hamiltonian-eliminated",
    "index-1",
    "index-2",
    "index-3",
    "ggl",
    "hiller-anantharaman",
)
SOLVERS: dict[str, dict[str, Any]] = {
    "rbdae:dop853": {},
    "rbdae:odex": {},
    "sundials:cvode": {},
    "sundials:cvode (BDF)": {"lmm": "bdf"},
    "assimulo:Radau5ODE": {},
    "sundials:ida": {},
    "assimulo:Radau5DAE": {},
}

# ---------------------------------------------------------------- mechanisms


def _arm(*joint_names: str) -> tuple[rbdae.System, list[Any]]:
    """Uniform rods on hinges, from the horizontal at rest."""
    system, joints = rbdae.System(gravity=(0, 0, -9.81)), []
    before, end = system.ground, (0.0, 0.0, 0.0)
    for k, name in enumerate(joint_names):
        rod = system.add_body(
            f"rod{k + 1}",
            mass=2.0,
            inertia=(0.01, 0.17, 0.17),
            position=(k + 0.5, 0, 0),
            velocity=(0, 0, 0),
            angular_velocity=(0, 0, 0),
        )
        joints.append(system.add_joint(Revolute(before, rod, at_a=end, at_b=(-0.5, 0, 0), axis_a=(0, 1, 0), name=name)))
        before, end = rod, (0.5, 0.0, 0.0)
    return system, joints


def friction_and_stop() -> rbdae.System:
    """Two rods with dry friction of 1.5 N m, which creeps below 0.02 rad/s, and an end stop of 1e5 N m."""
    system, (shoulder, elbow) = _arm("shoulder", "elbow")
    system.add_force(rbdae.forces.Coulomb(shoulder, 1.0, normal=1.5, radius=1.0, velocity=0.02))
    system.add_force(rbdae.forces.Limit(elbow, low=-1.0, high=0.4, stiffness=1e5, exponent=1.5, damping=0.3))
    return system


def motor() -> rbdae.System:
    """Two rods, of which a DC motor turns the first; its electrical time constant is 2 ms."""
    system, (shoulder, _) = _arm("shoulder", "elbow")
    system.add_force(
        rbdae.actuators.DCMotor(shoulder, voltage=24.0, resistance=1.2, inductance=0.0024, constant=0.8, name="motor")
    )
    return system


def five_bars() -> rbdae.System:
    """A closed chain of five plane bars of 1 m and 1 kg that stands as an arch on the ground, at rest."""
    system = rbdae.System(gravity=(0.0, -9.81, 0.0))
    before, end, point = system.ground, np.zeros(3), np.zeros(2)
    for k, angle in enumerate(ANGLES):
        bar = system.add_body(
            f"bar{k + 1}",
            mass=1.0,
            inertia=(1e-3, 1 / 12, 1 / 12),
            center_of_mass=(0.5, 0, 0),
            position=(*point, 0),
            orientation=(math.cos(angle / 2), 0, 0, math.sin(angle / 2)),
        )
        system.add_joint(Revolute(before, bar, at_a=end, axis_a=(0, 0, 1), name=f"pin{k + 1}"))
        before, end, point = bar, np.array((1.0, 0.0, 0.0)), point + np.array((math.cos(angle), math.sin(angle)))
    system.add_joint(Revolute(before, system.ground, at_a=end, at_b=(*point, 0), axis_a=(0, 0, 1), name="pin6"))
    return system


ANGLES = (1.2, 0.4, 0.1, -0.5, -1.1)
"""Of the five bars against the horizontal, at the start."""

CLASSES: dict[str, tuple[Callable[[], rbdae.System], float]] = {
    "top on a point": (rbdae.models.rotations_top, 1.0),
    "tree": (lambda: rbdae.models.chain(3), 1.0),
    "small loop": (rbdae.models.spatial_slider_crank, 1.0),
    "redundant loop": (rbdae.models.bricard, 1.0),
    "chain of 10": (rbdae.models.chain, 0.3),
    "friction, stop": (friction_and_stop, 1.0),
    "motor": (motor, 1.0),
}
"""Each class with its mechanism and end time, s."""

# ---------------------------------------------------------------- work for an error


def study(name: str, quick: bool, limit: float) -> dict[tuple[str, str], dict[str, Any]]:
    """By form and solver: evaluations and seconds for the error, or why there are none."""
    build, t_end = CLASSES[name]
    tolerances = (1e-5, 1e-7, 1e-9) if quick else (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10)
    exact: Any = None
    out: dict[tuple[str, str], dict[str, Any]] = {}
    for solver, options in SOLVERS.items():
        package = solver.partition(" ")[0]
        chosen = cases(
            FORMS if solver.endswith("ida") else FORMS[3:] if solver.endswith("DAE") else FORMS[:3],
            ["quaternion"],
            ["angular", "momentum"],
            [package],
            tolerances,
            redundant="minimum-norm",
            projection=True,
            options={package: options},
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = rbdae.compare(build(), t_end, chosen, reference=exact, limit=limit, repeats=1 if quick else 3)
        exact = found.reference
        ranking = found.ranking([ERROR])
        for form in dict.fromkeys(case.formulation for case in chosen):
            rows = [row for row in found.rows if row.case.formulation == form]
            one = ranking[ranking["form"].str.split("[ ,:]").str[0] == form]
            entry: dict[str, Any] = {"evaluations": math.inf, "seconds": math.inf}
            if len(one):
                entry |= {key: float(one.iloc[0][key]) for key in entry}
            if math.isinf(entry["seconds"]):
                failed = [row for row in rows if row.failure]
                entry["why"] = "fails" if len(failed) > 1 else "no 1e-6"
                entry["reason"] = (
                    failed[0].reason if failed else f"error {min(r.errors.largest for r in rows if r.errors):.0e}"
                )
            out[str(form), solver] = entry
    return out


def best(found: dict[tuple[str, str], dict[str, Any]], place: int, key: str) -> dict[str, tuple[float, str]]:
    """For each form (place 0) or solver (1): the least work, and with which other."""
    out: dict[str, tuple[float, str]] = {}
    for pair, entry in found.items():
        name, other = pair[place], pair[1 - place]
        if name not in out or entry[key] < out[name][0]:
            out[name] = entry[key], other
    return out


def table(found: dict[str, dict[tuple[str, str], dict[str, Any]]], place: int, key: str) -> str:
    """Rows are forms or solvers, columns classes; cells are work over the least of the column."""
    names = FORMS if place == 0 else tuple(SOLVERS)
    lines = [("form" if place == 0 else "solver", *found), ("---", *["---:"] * len(found))]
    columns = []
    for entries in found.values():
        ranked = best(entries, place, key)
        least = min(value for value, _ in ranked.values())
        column = []
        for name in names:
            value, other = ranked.get(name, (math.inf, ""))
            if math.isinf(value):
                said = {entry["why"] for pair, entry in entries.items() if pair[place] == name}
                column.append("fails" if said == {"fails"} else "no 1e-6")
                continue
            with_ = other.partition(":")[2] if place == 0 else other
            ratio = value / least
            column.append(f"{'**1**' if ratio == 1 else f'{ratio:.2g}' if ratio < 100 else f'{ratio:.0f}'} {with_}")
        columns.append(column)
    lines += [(f"`{name}`", *cells) for name, *cells in zip(names, *columns, strict=True)]
    count = "evaluations" if key == "evaluations" else "ms"
    scale = 1.0 if key == "evaluations" else 1e3
    smallest = [min(entry[key] for entry in entries.values()) * scale for entries in found.values()]
    lines.append((f"the least, {count}", *(f"{value:.3g}" for value in smallest)))
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def failures(found: dict[str, dict[tuple[str, str], dict[str, Any]]]) -> str:
    """A line for each pair that has no such error, with the reason."""
    said: dict[tuple[str, str], list[str]] = {}
    for name, entries in found.items():
        for (form, solver), entry in entries.items():
            if "why" in entry:
                said.setdefault((name, re.sub(r"\s+", " ", entry["reason"])[:110]), []).append(f"`{form}` {solver}")
    return "\n".join(f"- {name}: {', '.join(pairs)}: {reason}" for (name, reason), pairs in said.items()) or "- none"


# ---------------------------------------------------------------- the closed chain of five bars


def taught(t_end: float, rtol: float) -> dict[str, Any]:
    """The form of the lecture: u of the first three bars, whose equations have the last two bars' rates eliminated, and
    the two equations of the loop in place of rates of the last two angles. Residual in NumPy, IDA of scikit-sundae."""
    from sksundae.ida import IDA

    n, free = len(ANGLES), len(ANGLES) - 2
    reach = np.tril(np.ones((n, n)), -1) + 0.5 * np.eye(n)  # of the centres of bars, 1 m long
    start = np.array(ANGLES)
    gap = np.array((np.cos(start).sum(), np.sin(start).sum()))

    def equations(a: Any, u: Any, ud: Any) -> Any:
        """The reduced equations of motion, which are zero."""
        s, c = np.sin(a), np.cos(a)
        G = np.stack((-s, c))
        T = np.concatenate([np.eye(free), -np.linalg.solve(G[:, free:], G[:, :free])])
        w = T @ u
        turning = np.concatenate([np.zeros(free), np.linalg.solve(G[:, free:], np.stack((c, s)) @ w**2)])
        wd = T @ ud + turning
        x, y = reach * -s, reach * c
        ax, ay = x @ wd - reach @ (c * w**2), y @ wd - reach @ (s * w**2) + 9.81
        return T.T @ (x.T @ ax + y.T @ ay + wd / 12)

    def residual(t: float, y: Any, yd: Any, out: Any) -> None:
        a, u = y[:n], y[n:]
        motion = equations(a, u, yd[n:])
        out[:free] = yd[:free] - u
        out[free : 2 * free] = motion
        out[2 * free :] = np.cos(a).sum() - gap[0], np.sin(a).sum() - gap[1]

    zero = np.zeros(free)
    load = equations(start, zero, zero)
    M = np.stack([equations(start, zero, e) - load for e in np.eye(free)], axis=1)
    y0 = np.concatenate([start, zero])
    yd0 = np.concatenate([np.zeros(n), -np.linalg.solve(M, load)])
    times = np.linspace(0.0, t_end, round(100 * t_end) + 1)
    solver = IDA(residual, rtol=rtol, atol=rtol, algebraic_idx=[n - 2, n - 1])
    began = time.process_time()
    try:
        run = solver.solve(times, y0, yd0)
        t, y, success = np.asarray(run.t), np.asarray(run.y), bool(run.success)
    except np.linalg.LinAlgError:
        t, y, success = np.zeros(1), y0[None], False
    drift = np.hypot(np.cos(y[:, :n]).sum(1) - gap[0], np.sin(y[:, :n]).sum(1) - gap[1])
    return {
        "form": "dependent rates eliminated, the last two bars",
        "solver": "sksundae:ida",
        "t": t,
        "drift": drift,
        "success": success,
        "end": float(t[-1]),
        "evaluations": int(getattr(run, "nfev", -1)),
        "seconds": time.process_time() - began,
        "energy": math.nan,
        "last": y[-1],
    }


CHAIN_FORMS: tuple[Any, ...] = (
    "index-1",
    "index-2",
    "index-3",
    "ggl",
    "hiller-anantharaman",
    "null-space",
    "null-space-ggl",
    "index-0",
)


def chain_rows(t_end: float, rtol: float) -> list[dict[str, Any]]:
    """Each form with IDA and Radau5, ODE forms with DOP853 too; no run is projected."""
    rows = [taught(t_end, rtol)]
    pairs = itertools.product(CHAIN_FORMS, ("sundials:ida", "assimulo:Radau5DAE", "rbdae:dop853"))
    for form, solver in pairs:
        problem = rbdae.formulate(five_bars(), form, redundant="minimum-norm")
        if solver == "rbdae:dop853" and problem.kind != "ode":
            continue
        times = np.linspace(0.0, t_end, round(100 * t_end) + 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run = rbdae.solve(problem, (0.0, t_end), solver=solver, rtol=rtol, atol=rtol, t_eval=times)
        balance = np.abs(run.energy.balance).max() / run.energy.kinetic.max()
        rows.append(
            {
                "form": f"`{form}`",
                "solver": solver,
                "t": run.t,
                "drift": np.abs(run.drift.position),
                "success": run.success,
                "end": float(run.t[-1]),
                "evaluations": run.stats.evaluations,
                "seconds": run.stats.seconds,
                "energy": balance,
            }
        )
    return rows


def chain_table(rows: list[dict[str, Any]]) -> str:
    """Of all runs."""
    lines = ["| form | solver | reached, s | drift of positions, m | energy | evaluations | ms |"]
    lines.append("| --- | --- | ---: | ---: | ---: | ---: | ---: |")
    for r in rows:
        end = f"{r['end']:g}" if r["success"] else f"**{r['end']:.3g}, fails**"
        energy = "" if math.isnan(r["energy"]) else f"{r['energy']:.0e}"
        count = "" if r["evaluations"] < 0 else f"{r['evaluations']:,}"
        lines.append(
            f"| {r['form']} | {r['solver']} | {end} | {r['drift'].max():.0e} | {energy} | {count} | "
            f"{1e3 * r['seconds']:.3g} |"
        )
    return "\n".join(lines)


def picture(rows: list[dict[str, Any]], path: Path) -> None:
    """Drift over time, of the runs by IDA."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 3.6), layout="constrained")
    axes = figure.subplots()
    for row in rows:
        if row["solver"].endswith(":ida"):
            kept = np.maximum.accumulate(np.maximum(row["drift"], 1e-16))
            label = row["form"].strip("`") + ("" if row["success"] else f" (fails at {row['end']:.2g} s)")
            axes.semilogy(row["t"][1:], kept[1:], label=label, lw=2.5 if not row["success"] else 1.2)
            if not row["success"]:
                axes.plot(row["t"][-1], kept[-1], "kx")
    axes.set_xlabel("t in s")
    axes.set_ylabel("largest drift so far in m")
    axes.set_title("Five bars in a loop, IDA without projection")
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=100)


# ---------------------------------------------------------------- pages


def put(page: str, name: str, content: str) -> None:
    """Between the markers of a page."""
    path = ROOT / "docs" / page
    text = path.read_text(encoding="utf-8")
    pattern = rf"(<!-- which: {name} -->\n).*?(<!-- end -->)"
    assert re.search(pattern, text, re.DOTALL), f"{page} has no marker {name}"
    new = re.sub(pattern, lambda m: f"{m[1]}\n{content}\n\n{m[2]}", text, flags=re.DOTALL)
    path.write_text(new, encoding="utf-8")


def machine() -> str:
    """Date, processor and versions."""
    info = Path("/proc/cpuinfo")
    found = re.search(r"model name\s*: (.*)", info.read_text()) if info.exists() else None
    cpu = found[1] if found else platform.processor()
    return f"{datetime.date.today()}, {cpu}, Python {platform.python_version()}"


def both_tables(stamp: str, found: dict[str, dict[tuple[str, str], dict[str, Any]]], side: int, partner: str) -> str:
    """The tables of times and of evaluations of forms (`side` 0) or solvers (1)."""
    times = f"Processor time over the least of the column, with {partner}:"
    counts = "Evaluations (residuals or right-hand sides) likewise:"
    return "\n\n".join((stamp, times, table(found, side, "seconds"), counts, table(found, side, "evaluations")))


def main(argv: list[str] | None = None) -> None:
    """Measure, print, and write with `--write`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("classes", nargs="*", help=f"of {', '.join(CLASSES)}; all without")
    parser.add_argument("--quick", action="store_true", help="three tolerances, timed once")
    parser.add_argument("--limit", type=float, default=10.0, help="elapsed seconds after which a run is given up")
    parser.add_argument("--processes", type=int, default=1, help="classes at the same time")
    parser.add_argument("--write", action="store_true", help="put the tables into the pages")
    given = parser.parse_args(argv)
    began = time.process_time()
    t_end, rtol = (5.0 if given.quick else 30.0), 1e-6
    rows = chain_rows(t_end, rtol)
    chain = chain_table(rows)
    print(chain, flush=True)
    names = given.classes or [*CLASSES]
    found: dict[str, dict[tuple[str, str], dict[str, Any]]] = {}
    with ProcessPoolExecutor(given.processes, get_context("spawn")) if given.processes > 1 else nullcontext() as pool:
        studies = (pool.map if pool else map)(
            study, names, *([each] * len(names) for each in (given.quick, given.limit))
        )
        for name, entries in zip(names, studies, strict=True):
            found[name] = entries
            print(f"{name}: {time.process_time() - began:.0f} s", flush=True)
    how = "`--quick`: tolerances 1e-5, 1e-7, 1e-9, each timed once" if given.quick else "seven tolerances, timed thrice"
    stamp = f"Measured by `benchmarks/which.py` ({how}): {machine()}."
    forms = both_tables(stamp, found, 0, "the best solver for the form")
    solvers = both_tables(stamp, found, 1, "the best form for the solver")
    solvers += f"\n\nPairs that do not reach the error:\n\n{failures(found)}"
    print(forms, solvers, f"{time.process_time() - began:.0f} s of processor time", sep="\n\n")
    if given.write:
        put("which-formulation.md", "chain", f"{stamp}\n\n{chain}")
        put("which-formulation.md", "forms", forms)
        put("which-solver.md", "solvers", solvers)
        picture(rows, ROOT / "docs/pictures/five-bars.png")


if __name__ == "__main__":
    main()
