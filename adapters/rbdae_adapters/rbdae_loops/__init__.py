"""Solvers of this package itself: one-step methods whose loops are machine code.

A run in which nothing is asked of Python stays in machine code from its start to its end (`_free`); events, a progress
function, projection and switches are asked after every accepted step (`_stepwise`), by the tools that all adapters
share. Both take the same steps.
"""

from rbdae_adapters.rbdae_loops._adapter import ADAPTER as ADAPTER
from rbdae_adapters.rbdae_loops._adapter import LoopsAdapter as LoopsAdapter

__all__ = ["ADAPTER", "LoopsAdapter"]
