"""SUNDIALS' IDA and CVODE without Python between their steps.

The shared libraries are those that are there: of scikit-sundae's wheel, or of the system (`_library`).
Callbacks are machine functions (`_shims`), IDA's linear solver is our factors (`rbdae.machine.factors`), the loop is
that of `rbdae.machine.loops`. A run stays in machine code from its start to its end. It comes back where an event
changes its sign and where a switch may be due; a progress function is called after every step. The steps are the same
in all cases.

A projected state goes back without a restart: within the steps of CVODE's BDF, by its own function for this; with the
others into the zeroth column of their history, which moves the recent history along (`_integrator`).
"""

from rbdae_adapters.sundials._adapter import ADAPTER as ADAPTER
from rbdae_adapters.sundials._adapter import SundialsAdapter as SundialsAdapter

__all__ = ["ADAPTER", "SundialsAdapter"]
