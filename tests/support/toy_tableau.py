"""A method that rbdae does not have: Bogacki & Shampine's of order 3(2), with the cubic as dense output."""

from rbdae.machine.loops.methods import Tableau

BS32 = Tableau(
    name="bs32",
    summary="Bogacki-Shampine 3(2)",
    order=3,
    c=(1 / 2, 3 / 4),
    a=((1 / 2,), (0.0, 3 / 4)),
    b=(2 / 9, 1 / 3, 4 / 9),
    error=(2 / 9 - 7 / 24, 1 / 3 - 1 / 4, 4 / 9 - 1 / 3, -1 / 8),
)
