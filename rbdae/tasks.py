"""Many independent tasks, here or in other processes, with a bar; compiling all kernels is the first use."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from typing import Any, TypeVar

from rbdae.formulations import FORMULATIONS
from rbdae.kernels import outputs
from rbdae.kernels._jit import Entry
from rbdae.kernels.project import project

T = TypeVar("T")


def compile_kernels(executor: Executor | None = None, *, progress: bool = False) -> None:
    """Compile, or load from the cache, every kernel; worth it before a study by several processes."""
    tasks = [(_compile, (k,)) for k in range(len(entries()))]
    for _ in run_all(tasks, executor, "kernels" if progress else ""):
        pass


def entries() -> list[Entry]:
    """All kernels that Python calls. The longest one first: others can be compiled beside it."""
    table = [f for f in FORMULATIONS.values() if f.kind == "dae"]
    table += [f for f in FORMULATIONS.values() if f.kind != "dae"]
    found = [f.jacobian for f in table[:1]]
    found += [project, outputs.natural, outputs.constraints, *(f.rhs for f in table)]
    found += [f.residual for f in table]
    found += [f.jacobian for f in table]
    found += [f.rhs_jacobian for f in table if f.rhs_jacobian is not None]
    return list(dict.fromkeys(found))


def _compile(k: int) -> None:
    entries()[k].compiled()


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
