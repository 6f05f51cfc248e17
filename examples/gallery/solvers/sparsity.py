"""
The Jacobian by blocks
======================

The unknowns of a problem are positions q, velocities v and multipliers la, a block for each body and joint. The
pattern of the iteration matrix, dF/dy + c dF/dyd, is known before a run: here that of a chain at index 2.
"""

import rbdae

problem = rbdae.formulate(rbdae.models.chain(3), "index-2")
figure = problem.plot_sparsity()
figure.axes[0].set_title("a chain of three links at index 2")
