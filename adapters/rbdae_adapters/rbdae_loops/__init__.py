"""Solvers of this package itself: one-step methods whose loops are machine code.

A run in which nothing is asked of Python stays in machine code from its start to its end (`toolkit.free_loop`), with
projection and switches where there is code of the model for them. Events and a progress function are asked after every
accepted step (`toolkit.stepwise_loop`), and so are other projections and switches, by the tools that all adapters
share. Both take the same steps.
"""

from rbdae_adapters.rbdae_loops._adapter import ADAPTER as ADAPTER
from rbdae_adapters.rbdae_loops._adapter import LoopsAdapter as LoopsAdapter

__all__ = ["ADAPTER", "LoopsAdapter"]
