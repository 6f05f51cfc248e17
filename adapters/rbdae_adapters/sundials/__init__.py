"""SUNDIALS' IDA and CVODE without Python between their steps.

The shared libraries are those that are there: of scikit-sundae's wheel, of sundials4py's, of the system (`_library`).
Callbacks are machine functions (`_shims`), IDA's linear solver is our factors (`rbdae.machine.factors`), the loop is
that of `rbdae.machine.loops`. A run in which nothing is asked of Python stays in machine code from its start to its
end; events, a progress function and restarts after a projection are asked for after every step, and the steps are the
same.
"""

from rbdae_adapters.sundials._adapter import ADAPTER as ADAPTER
from rbdae_adapters.sundials._adapter import SundialsAdapter as SundialsAdapter

__all__ = ["ADAPTER", "SundialsAdapter"]
