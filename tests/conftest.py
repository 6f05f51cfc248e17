"""Makes the helpers beside the tests importable, wherever pytest was started; a generator for each test."""

from __future__ import annotations

import os
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

for folder in ("models", "laws", "support"):
    sys.path.insert(0, str(Path(__file__).parent / folder))

if "PYTEST_XDIST_WORKER" in os.environ:
    # the workers keep the cores busy by themselves
    os.environ.setdefault("RBDAE_COMPILE_PROCESSES", "1")


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Seeded by the test's own name: the same numbers in any order and selection."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
