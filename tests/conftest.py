"""Makes the helpers beside the tests importable, wherever pytest was started; a generator for each test."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import sys
import zlib
from collections.abc import Generator
from pathlib import Path

import numpy as np
import pytest

for folder in ("models", "laws", "support"):
    sys.path.insert(0, str(Path(__file__).parent / folder))

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # started in the background of a shell; Ctrl-C has its tests
    signal.signal(signal.SIGINT, signal.default_int_handler)

for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
    # of workers, and of processes that tests start: threads that have nothing to do wait in a loop
    os.environ.setdefault(threads, "1")

if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # tests start hundreds of processes, and each would compile every module again
    sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """What has been collected stays to the end: the collector need not look at it again and again, which took a
    fourteenth of the time of short tests."""
    gc.collect()
    gc.freeze()


def pytest_configure(config: pytest.Config) -> None:
    """With ``-m nightly`` tests have all their cases."""
    if config.option.markexpr.strip() == "nightly":
        os.environ["RBDAE_NIGHTLY"] = "1"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Marks what is left to the night (`support/codes.py`). There, tests of random cases and of whole registries run
    again, with all that they have. A test that is named is run."""
    import codes
    from cases import NIGHTLY, takes_turns

    late = codes.late(items)
    whole = not any("::" in argument for argument in config.args)
    for item in items:
        values = item.callspec.params.values() if hasattr(item, "callspec") else ()
        if NIGHTLY:
            more = item.get_closest_marker("sampled") is not None or any(map(takes_turns, values))
        else:
            more = whole and item.nodeid in late
        if more:
            item.add_marker("nightly")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A solver whose package is not there is no failure but in CI."""
    report = yield
    error = call.excinfo.value if call.excinfo is not None else None
    if type(error).__name__ == "MissingSolver" and "CI" not in os.environ:
        report.outcome = "skipped"
        report.longrepr = (str(item.path), item.location[1] or 0, str(error))
    return report


def _spent() -> float:
    """User and system time of this process and of all its children that have ended, s."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


_BEFORE = _spent()
"""A shell hands its process on to its last command: what it has installed before is no test's."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Says what the tests cost."""
    with contextlib.suppress(ChildProcessError, AttributeError):  # those that compiled kernels are not waited for yet
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    terminalreporter.write_line(f"{_spent() - _BEFORE:.0f} core-seconds (user and system time of all processes)")


@pytest.fixture(autouse=True)
def _code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gives tests marked ``plain`` plain Python, and others but those about code what LLVM makes at once."""
    import codes

    if not codes.is_thorough(request.node.nodeid):
        monkeypatch.setenv("RBDAE_LLVM", "quick")
    if request.node.get_closest_marker("plain") is not None:
        monkeypatch.setenv("RBDAE_LLVM", "none")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Seeded by the test's own name: the same numbers in any order and selection."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))


@pytest.fixture(params=["plain", "auto"])
def code(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Runs a test as plain Python and with machine code: problems that it formulates, and processes that it starts,
    take this one. What a module keeps between tests must not depend on it."""
    name: str = request.param
    if name == "plain":
        monkeypatch.setenv("RBDAE_LLVM", "none")
    return name
