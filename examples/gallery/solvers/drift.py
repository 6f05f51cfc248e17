"""
Drift by the index of the form
==============================

A joint can be an equation of positions (index 3), of velocities (index 2) or of accelerations (index 1): what is
differentiated drifts. GGL [GGL85] keeps both positions and velocities. Example C of [NS]: index 3 keeps positions best
and velocities worst, and index 1 the other way round.
"""

import rbdae
from rbdae.study import plot_runs

runs = {}
for form in ("index-3", "index-2", "index-1", "ggl"):
    problem = rbdae.formulate(rbdae.models.linked_bodies(), form)
    runs[form] = rbdae.solve(problem, (0.0, 0.5), solver="assimulo:Radau5DAE", rtol=1e-6, atol=1e-6)
figure = plot_runs(runs)
