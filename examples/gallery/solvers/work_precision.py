"""
Work and precision of forms and solvers
=======================================

Two bodies on a ball joint, Example C of [NS]: error at the end beside evaluations, for tolerances from 1e-4 to 1e-10.
DOP853 needs as many in minimal velocities (null space) as with eliminated multipliers (index 0); IDA, of lower order,
needs more and more as the tolerance falls, and most for the DAE of index 2.
"""

import rbdae
from rbdae.study import cases

chosen = cases(
    formulations=["null-space", "index-0", "index-2"],
    rotations=["quaternion"],
    velocities=["angular"],
    solvers=["rbdae:dop853", "sundials:ida"],
    tolerances=[1e-4, 1e-6, 1e-8, 1e-10],
)
found = rbdae.compare(rbdae.models.linked_bodies(), 0.2, chosen, repeats=1)
figure = found.plot([case.curve for case in chosen], over=["evaluations"])
