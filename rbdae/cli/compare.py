"""``rbdae compare``: one mechanism through formulations, rotations, velocities and solvers."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from typing import Any

import rbdae
from rbdae import study
from rbdae.cli.formulated import again_with, may_be_left_out
from rbdae.cli.outputs import check_outputs, write_all, write_picture
from rbdae.cli.parser import hold_of, option_of
from rbdae.cli.target import end_of, target
from rbdae.cli.told import INTERRUPTED


def run_compare(given: argparse.Namespace) -> int:
    """The command; 0, or 1 if no run reached its end, or 130 after Ctrl-C: the files are then of the finished runs."""
    options = _options(given.option)
    files = {"--plot": given.plot, "--csv": given.csv, "--json": given.json, "--resume": given.resume}
    files |= {"--report": given.report}
    check_outputs(files, given.model, progress=given.progress)
    if given.processes < 1:
        raise ValueError(f"--processes must be at least 1, got {given.processes}; 1 runs in this process")
    found = target(given.model)
    t_end = end_of(found, given.t_end)
    cases = study.cases(
        given.formulations,
        given.rotations,
        given.velocities,
        given.solvers,
        given.tolerances,
        redundant=given.redundant,
        hold=hold_of(given),
        projection=given.projection,
        options=options,
        on_singularity=given.on_singularity,
        steps=given.steps,
    )
    print(f"{found.summary}: {len(cases)} cases", flush=True)
    interrupted = False
    try:
        with _executor(given.processes) as executor:
            compared = _compared(given, found.system, t_end, cases, executor)
    except KeyboardInterrupt as error:
        so_far = getattr(error, "comparison", None)
        if so_far is None or not so_far.rows:
            raise
        compared, interrupted = so_far, True
    if compared.resumed:
        print(f"{compared.resumed} runs were in {given.resume}")
    print(compared)
    _write(compared, given)
    if interrupted:
        print(f"rbdae: interrupted after {len(compared.rows)} runs", file=sys.stderr)
        return INTERRUPTED
    return 0 if any(row.errors is not None for row in compared.rows) else 1


def _compared(
    given: argparse.Namespace, system: rbdae.System, t_end: float, cases: list[study.Case], executor: Executor | None
) -> study.Comparison:
    try:
        return study.compare_cases(
            system,
            t_end,
            cases,
            executor=executor,
            resume=given.resume,
            progress=given.progress,
            limit=given.limit,
            repeats=given.repeats,
        )
    except KeyboardInterrupt:
        if given.resume is not None:
            print(f"rbdae: finished runs are in {given.resume}; type the same again to continue", file=sys.stderr)
        raise
    except ValueError as error:
        if given.redundant != "error" or not may_be_left_out(error):
            raise
        raise ValueError(f"{error}. {again_with(given, '--redundant', 'minimum-norm')}") from error


def _options(given: list[str]) -> dict[str, dict[str, Any]]:
    """The options by solver."""
    out: dict[str, dict[str, Any]] = {}
    example = "scipy:DOP853:max_step=0.01"
    for text in given:
        name, value = option_of(text, example)
        solver, colon, option = name.rpartition(":")
        if not colon or not solver or not option:
            raise ValueError(f"--option must be like {example}, got {text!r}; put the solver before the name")
        out.setdefault(solver, {})[option] = value
    return out


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


def _write(compared: study.Comparison, given: argparse.Namespace) -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")
    picture = given.plot
    if picture is not None and not any(row.errors is not None for row in compared.rows):
        print("rbdae: no picture, because no run reached its end", file=sys.stderr)
        picture = None
    write_all(
        {
            "table": (given.csv, compared.to_csv),
            "results": (given.json, compared.to_json),
            "report": (given.report, compared.report),
            "picture": (picture, lambda path: write_picture(compared.plot(), path)),
        }
    )


__all__ = ["run_compare"]
