"""
The Jacobian by blocks
======================

The unknowns of a problem are positions q, velocities v and multipliers la, a block for each body and joint. The
pattern of the iteration matrix, dF/dy + c dF/dyd, is known before a run: here that of a chain at index 2.
"""

import matplotlib.pyplot as plt

import rbdae

problem = rbdae.formulate(rbdae.models.chain(3), "index-2")
pattern = problem.sparsity.tocoo()
blocks = {name: getattr(problem.layout, name) for name in ("q", "v", "la")}

figure, axis = plt.subplots(figsize=(6.5, 6), layout="constrained")
axis.plot(pattern.col, pattern.row, "s", ms=3.5)
for part in blocks.values():
    axis.axhline(part.start - 0.5, color="0.6", lw=0.8)
    axis.axvline(part.start - 0.5, color="0.6", lw=0.8)
middles = [(part.start + part.stop - 1) / 2 for part in blocks.values()]
axis.set_xticks(middles, ["positions q", "velocities v", "multipliers"])
axis.set_yticks(middles, ["kinematics", "dynamics", "joints"], rotation=90, va="center")
axis.set(xlim=(-1, problem.n), ylim=(problem.n, -1), aspect="equal")
axis.set_title(f"chain of three links: {pattern.nnz} of {problem.n**2} entries")
