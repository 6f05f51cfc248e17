"""How many random cases a test draws: few in every run, many before a release (`tools/long`)."""

from __future__ import annotations

import os

LONG = os.environ.get("RBDAE_LONG", "") not in ("", "0")
"""Whether this is the long run."""


def count(usual: int, long: int) -> int:
    """The number of cases of a test marked ``sampled``; case k is the same in both runs."""
    return long if LONG else usual
