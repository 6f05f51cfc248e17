"""
The orders of conserving schemes
================================

Schemes with steps of one size turn the free body of [BS09]; the legend has their observed orders. For a body alone the
energy-momentum scheme is the mid-point rule, and their curves coincide. Composed steps are of order four.
"""

import rbdae
from rbdae.study import cases

STEPS = [1e-2, 5e-3, 2.5e-3, 1.25e-3]
SCHEMES = (
    ("hamiltonian-eliminated", "momentum", "rbdae:variational", {}),
    ("hamiltonian-eliminated", "momentum", "rbdae:energy-momentum", {}),
    ("index-0", "angular", "rbdae:midpoint", {}),
    ("hamiltonian-eliminated", "momentum", "rbdae:energy-momentum", {"order": 4}),
)
chosen = [
    case
    for form, velocity, solver, options in SCHEMES
    for case in cases([form], ["quaternion"], [velocity], [solver], steps=STEPS, options={solver: options})
]
found = rbdae.compare(rbdae.models.free_body(), 0.5, chosen, repeats=1)
figure = found.plot([case.curve for case in chosen], over=["step"])
