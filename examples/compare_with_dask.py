"""A study on a Dask cluster: `rbdae.compare` takes any `concurrent.futures.Executor`, such as a Dask client's.

    python examples/compare_with_dask.py

starts a small cluster on this machine. For a real one give its scheduler's address to `Client`. Finished runs are
written to results/dask.jsonl at once: started again, the study continues with the missing ones.
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
    results = Path("results")
    results.mkdir(exist_ok=True)
    # one thread per worker: runs in one process would share its core, which would distort their times
    with LocalCluster(n_workers=2, threads_per_worker=1) as cluster, Client(cluster) as client:
        print(compare(client.get_executor(), results / "dask.jsonl"))


if __name__ == "__main__":
    main()
