"""``rbdae compare``: one mechanism through formulations, rotations, velocities and solvers."""

from __future__ import annotations

import argparse
import multiprocessing
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

from rbdae import study
from rbdae.cli.outputs import check_outputs, write_all, write_picture
from rbdae.cli.parser import hold_of, of, option_of
from rbdae.cli.target import end_of, target


def run_compare(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if no run reached its end, or 130 after Ctrl-C: the files are then of the finished runs."""
    options: dict[str, dict[str, Any]] = {}
    for text in given.option:
        name, value = option_of(text, "scipy:DOP853:max_step=0.01")
        solver, _, option = name.rpartition(":")
        if ":" not in solver:
            raise ValueError(
                f"--option must be like scipy:DOP853:max_step=0.01, got {text!r}; put the solver before it"
            )
        options.setdefault(solver, {})[option] = value
    check_outputs(given)
    if given.processes < 1:
        raise ValueError(f"--processes must be at least 1, got {given.processes}; 1 runs in this process")
    found = target(given.model)
    given.t_end = end_of(found, given.t_end)
    cases = study.cases(**of(given, study.cases) | {"hold": hold_of(given), "options": options})
    print(f"{found.summary}: {len(cases)} cases", flush=True)
    interrupted = False
    try:
        with _executor(given.processes) as executor:
            how = of(given, study.compare_cases)
            compared = study.compare_cases(found.system, chosen=cases, executor=executor, **how)
    except KeyboardInterrupt as error:
        so_far = getattr(error, "comparison", None)
        if not isinstance(so_far, study.Comparison) or not so_far.rows:
            raise
        compared, interrupted = so_far, True
    if compared.resumed:
        print(f"{compared.resumed} runs were in {given.resume}")
    print(compared)
    reached = any(row.errors is not None for row in compared.rows)
    if given.plot is not None and not reached:
        print("rbdae: no picture, because no run reached its end", file=sys.stderr)
    write_all(
        {
            "table": (given.csv, compared.to_csv),
            "results": (given.json, compared.to_json),
            "report": (given.report, compared.report),
            "picture": (given.plot if reached else None, lambda path: write_picture(compared.plot(), path)),
        }
    )
    if interrupted:
        again = f"; type the same again to continue with {given.resume}" if given.resume else ""
        print(f"rbdae: interrupted after {len(compared.rows)} runs{again}", file=sys.stderr)
        return 130
    return 0 if reached else 1


@contextmanager
def _executor(processes: int) -> Iterator[Executor | None]:
    """A pool of processes, or None for this one."""
    if processes == 1:
        yield None
        return
    # a fork of a process that has compiled kernels is not safe everywhere; a new one loads them from the cache
    pool = ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)
