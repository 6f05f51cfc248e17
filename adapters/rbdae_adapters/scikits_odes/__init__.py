"""scikits.odes 3.0: IDA and CVODE of SUNDIALS 6, and DASPK, driven one internal step at a time.

- Unknowns of higher index leave the error test by `exclude_algvar_from_error`; velocities of index 3 are declared
  algebraic for this purpose. They leave Newton's convergence test by large tolerances (`rbdae_adapters._sundials`).
- The package has no sparse direct solver, and drops a Jacobian for the band ones. IDA runs constraints of more than
  `KRYLOV_FROM` unknowns with "spgmr" and our sparse factorisation (see `_krylov`), and others with dense Jacobians.
- `nonlin_conv_coef` is cut to an integer by the package (0.33 becomes 0, which SUNDIALS ignores): refused.
- DASPK has its own module (`_daspk`).
- Exceptions of callbacks are stored and raised after the step, because IDA's wrapper would drop them.

DASPK takes a projected state as the zeroth column of its history, in its work array, which moves the recent history
along. IDA and CVODE have no way to take it back here: with a projection they restart at order 1 when the drift exceeds
some ten tolerances (`rbdae_adapters._sundials.Restarts`). A restart costs 20 to 40 steps: on a swinging pendulum at
rtol = 1e-8 they double the steps. Recorded states are projected anyway.
"""

from rbdae_adapters.scikits_odes._adapter import ADAPTER as ADAPTER
from rbdae_adapters.scikits_odes._adapter import ScikitsOdesAdapter as ScikitsOdesAdapter
from rbdae_adapters.scikits_odes._native import KRYLOV_FROM as KRYLOV_FROM

__all__ = ["ADAPTER", "KRYLOV_FROM", "ScikitsOdesAdapter"]
