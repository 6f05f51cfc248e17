"""DOPRI5: Dormand & Prince's explicit Runge-Kutta method of order 5(4), with dense output of order 4.

[HNW93] table II.5.2, (6.12) of section II.6 (with Shampine's coefficients, as the code), and the code ``dopri5.f``.
"""

from __future__ import annotations

from rbdae.machine.loops.tableau import Tableau

# fmt: off
DOPRI5 = Tableau(
    name="dopri5",
    summary="DOPRI5 (Dormand-Prince 5(4))",
    order=5,
    c=(1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0),
    a=(
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    ),
    b=(35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    error=(71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40),
    dense=((
        -12715105075 / 11282082432, 0.0, 87487479700 / 32700410799, -10690763975 / 1880347072,
        701980252875 / 199316789632, -1453857185 / 822651844, 69997945 / 29380423,
    ),),
    beta=0.04,
    beta_in_exponent=0.75,
    shrinks=0.2,
    grows=10.0,
    chain=6,
)
# fmt: on
