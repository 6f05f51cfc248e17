"""Right-hand sides by recorded code are functions of the state: the same bits in every order, thread and process."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import rbdae

ENDS = {"n_four_bar": 1.7, "andrews": 0.01, "flyball_governor": 0.01}
"""Of runs: four bars come to a singular position and go on along another branch, with other independent velocities."""

ELSEWHERE = """
import sys
import numpy as np
import rbdae

found = np.load(sys.argv[1])
problem = rbdae.formulate(getattr(rbdae.models, sys.argv[2])(), "null-space", redundant="minimum-norm")
print(b"".join(problem.rhs(t, y).tobytes() for t, y in zip(found["t"], found["y"])).hex())
"""


@pytest.mark.parametrize("model", ENDS)
def test_the_same_bits_in_any_order(model, rng, tmp_path):
    problem = rbdae.formulate(getattr(rbdae.models, model)(), "null-space", redundant="minimum-norm")
    solution = rbdae.solve(problem, (0.0, ENDS[model]), solver="rbdae:dop853", rtol=1e-7, atol=1e-7)
    assert solution.success and solution.stats.fallbacks == 0
    states = np.unique(np.linspace(0, len(solution.t) - 1, 300).astype(int))
    t, y = solution.t[states], solution.y[states]

    def rates(order) -> list[bytes]:
        out = {k: problem.rhs(t[k], y[k]).tobytes() for k in order}
        return [out[k] for k in range(len(t))]

    wanted = rates(range(len(t)))
    assert rates(reversed(range(len(t)))) == wanted and rates(rng.permutation(len(t)).tolist()) == wanted
    with ThreadPoolExecutor(2) as threads:
        assert list(threads.map(rates, [range(len(t)), rng.permutation(len(t)).tolist()])) == [wanted, wanted]
    np.savez(tmp_path / "states.npz", t=t, y=y)
    command = [sys.executable, "-c", ELSEWHERE, str(tmp_path / "states.npz"), model]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert bytes.fromhex(done.stdout) == b"".join(wanted)
    assert problem.callbacks._fallbacks == 0
