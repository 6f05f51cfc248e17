"""
Andrews' squeezing mechanism
============================

Seven bodies in three plane loops, a motor and a spring: the test problem of multibody codes, [HW96], section VI.9.
The crank makes two and a half turns in 30 ms. The dot is the reference value of the test set [IVP].
"""

import matplotlib.pyplot as plt
import numpy as np

import rbdae

problem = rbdae.formulate(rbdae.models.andrews(), "index-0")
t = np.linspace(0.0, 0.03, 600)
solution = rbdae.solve(problem, (0.0, 0.03), rtol=1e-8, atol=1e-8, projection=True, t_eval=t)

beta = solution.joints["O"].angle
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(1e3 * t, beta - beta[0] - 0.06171389001427645)  # that of the start
left.plot(30.0, 15.81077119629904, "o", color="black")
left.set(xlabel="t in ms", ylabel="angle of the crank in rad")
right.plot(1e3 * t, np.linalg.norm(solution.reactions["O"]["K1"].force, axis=1))
right.set(xlabel="t in ms", ylabel="force in the crank's bearing in N")

film = solution.animate(duration=3.0, fps=10, size=(6, 4.2), dpi=72, traces=["K2", "K3", "K6"])
