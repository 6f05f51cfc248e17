"""Many independent tasks, here or in other processes, with a bar; compiling all kernels is the first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from typing import Any, TypeVar

from rbdae.compiler.ahead import wait_for
from rbdae.compiler.jit import Entry
from rbdae.formulations import FORMULATIONS, GAUGED
from rbdae.kernels import outputs
from rbdae.kernels.projection import project

T = TypeVar("T")


def compile_kernels(*, progress: bool = False) -> None:
    """Have every kernel in the cache on disk, compiled on all cores; worth it before a study by several processes."""
    missing = list(dict.fromkeys(name for entry in entries() for name in entry.missing(None)))
    with _bar(len(missing), "kernels" if progress else "") as advance:
        wait_for(missing, advance)
    for entry in entries():
        if entry.missing(None):
            entry.compiled()


def entries() -> list[Entry]:
    """All kernels that Python calls."""
    found = [project, outputs.natural, outputs.constraints]
    for form in (*FORMULATIONS.values(), *GAUGED.values()):
        found += [form.rhs, form.residual, form.jacobian]
        if form.rhs_jacobian is not None:
            found.append(form.rhs_jacobian)
    return list(dict.fromkeys(found))


def run_all(
    tasks: Sequence[tuple[Callable[..., T], tuple[Any, ...]]], executor: Executor | None, title: str
) -> Iterator[T]:
    """Results of all tasks, in their order; a bar where there is a title and tqdm."""
    with _bar(len(tasks), title) as advance:
        if executor is None:
            for function, arguments in tasks:
                yield function(*arguments)
                advance()
            return
        futures = [executor.submit(function, *arguments) for function, arguments in tasks]
        for _ in as_completed(futures):
            advance()
        for future in futures:
            yield future.result()


@contextlib.contextmanager
def _bar(total: int, title: str) -> Iterator[Callable[[], object]]:
    try:
        from tqdm.auto import tqdm
    except ImportError:
        title = ""
    if not title:
        yield lambda: None
        return
    with tqdm(total=total, desc=title, mininterval=1.0) as bar:
        yield bar.update


__all__ = ["compile_kernels", "entries", "run_all"]
