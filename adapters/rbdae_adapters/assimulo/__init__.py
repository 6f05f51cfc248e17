"""Assimulo: Hairer and Wanner's Fortran codes, ODASSL for overdetermined systems, LSODAR and the Euler methods.

- Radau5ODE, Dopri5, RodasODE, LSODAR and the Euler methods run through Assimulo's classes (`_classes`). Our Jacobian is
  called by Radau5ODE, RodasODE, LSODAR and ImplicitEuler.
- Radau5DAE: Assimulo's class drops the user's Jacobian and doubles all unknowns, (y, y'), with index classes 1 and 2;
  so it gives up at index 3, and at index 2 with tight tolerances. Here the same compiled RADAU5 gets the equations in
  another form (`_radau5_dae`). Options keep Assimulo's names.
- ODASSL is called step by step without Assimulo's loop, which has no dense output (`_odassl`). It never calls a user's
  Jacobian: it takes finite differences of the residual. It tests no errors of multipliers (`algvar` 0 in the native
  object). Index 3 is not offered: it works on the heavy top, but its corrector fails at the start of stiffer models.

A projected state goes back into all of them without a restart: into the one-step methods through the Fortran
code's own array, with Dopri5's first stage evaluated again; into ODASSL and LSODAR as the zeroth difference of their
history, which moves the recent history along, as CVODE's own projection does. With LSODAR errors become a third
of those without projection on the average; at one tolerance they may be larger (docs/decisions.md, "Projection with
multistep codes").

Not offered: RungeKutta34, which rejects no steps, GLIMDA, and Assimulo's SUNDIALS solvers (see scikits.odes).
"""

from rbdae_adapters.assimulo._adapter import ADAPTER as ADAPTER
from rbdae_adapters.assimulo._adapter import AssimuloAdapter as AssimuloAdapter

__all__ = ["ADAPTER", "AssimuloAdapter"]
