"""DOP853: Dormand & Prince's explicit Runge-Kutta method of order 8(5,3), with dense output of order 7.

[HNW93] section II.5, II.6 and the code ``dop853.f``. Stages 14 to 16 are evaluated where dense output is asked for.
"""

from __future__ import annotations

from rbdae.machine.loops import dop853_tableau
from rbdae.machine.loops.tableau import Tableau, row

_NAMES = vars(dop853_tableau)
_B = row(_NAMES, "B", 12)

DOP853 = Tableau(
    name="dop853",
    summary="DOP853 (Dormand-Prince 8(5,3))",
    order=8,
    c=(*row(_NAMES, "C", 11)[1:], 1.0),
    a=tuple(row(_NAMES, f"A{i}_", i - 1) for i in range(2, 13)),
    b=_B,
    error=row(_NAMES, "E", 12),
    correction=(_B, tuple(-weight for weight in row(_NAMES, "F", 12))),
    later_c=row(_NAMES, "C", 16)[13:],
    later_a=tuple(row(_NAMES, f"A{i}_", i - 1) for i in (14, 15, 16)),
    dense=tuple(row(_NAMES, f"D{k}_", 16) for k in (4, 5, 6, 7)),
    beta=0.0,
    beta_in_exponent=0.2,
    shrinks=0.333,
    grows=6.0,
)
