"""Many independent tasks, in this process or in others, with a progress bar."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, as_completed
from typing import Any, TypeVar

T = TypeVar("T")


def run_all(
    tasks: Sequence[tuple[Callable[..., T], tuple[Any, ...]]],
    executor: Executor | None,
    description: str,
    finished: Callable[[T], object] = lambda result: None,
) -> Iterator[T]:
    """Results of all tasks, in their order; a bar if there is a description and tqdm is installed.

    `finished` is called in this process with each result as soon as it is there, in any order. Tasks that have not
    begun are cancelled if anything raises.
    """
    with progress_bar(len(tasks), description) as advance:
        if executor is None:
            for function, arguments in tasks:
                result = function(*arguments)
                finished(result)
                advance()
                yield result
            return
        futures: list[Future[T]] = []
        try:
            for function, arguments in tasks:
                futures.append(executor.submit(function, *arguments))
            for future in as_completed(futures):
                finished(future.result())
                advance()
        except BaseException:
            for future in futures:
                future.cancel()
            raise
        for future in futures:
            yield future.result()


@contextlib.contextmanager
def progress_bar(total: int, description: str) -> Iterator[Callable[[], object]]:
    """A function to call after each of `total` tasks; it does nothing without a description or without tqdm."""
    try:
        from tqdm.auto import tqdm
    except ImportError:
        description = ""
    if not description:
        yield lambda: None
        return
    with tqdm(total=total, desc=description, mininterval=1.0) as bar:
        yield bar.update


__all__ = ["progress_bar", "run_all"]
