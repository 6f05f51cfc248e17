"""A study on a Dask cluster: `rbdae.compare` takes any `concurrent.futures.Executor`, and a Dask client has one.

    python examples/compare_with_dask.py

starts a small cluster on this machine. For a real one give its scheduler's address to `Client`. Finished runs are
written to results/dask.jsonl at once: started again, the study continues with those that are missing.
"""

from __future__ import annotations

from concurrent.futures import Executor
from pathlib import Path

from distributed import Client, LocalCluster

import rbdae
from rbdae import study


def compare(executor: Executor, resume: Path | None = None, t_end: float = 0.2) -> study.Comparison:
    """Three forms of the two linked bodies with two solvers."""
    return rbdae.compare(
        rbdae.models.linked_bodies(),
        t_end,
        formulations=["index-2", "index-0", "null-space"],
        rotations=["quaternion"],
        velocities=["angular"],
        solvers=["scipy:DOP853", "sksundae:ida"],
        tolerances=[1e-5, 1e-7],
        executor=executor,
        resume=resume,
    )


def main() -> None:
    """Print the study."""
    results = Path("results")
    results.mkdir(exist_ok=True)
    # one thread a worker: runs that share a process would share its core, and their times would say so
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        print(compare(client.get_executor(), results / "dask.jsonl"))


if __name__ == "__main__":
    main()
