"""`rbdae.show` by an older name."""

from rbdae.problem.observables import continuous_quaternions as continuous_quaternions
from rbdae.show import QUANTITIES as QUANTITIES
from rbdae.show import Animation as Animation
from rbdae.show import Line as Line
from rbdae.show import PlaneChoice as PlaneChoice
from rbdae.show import Scene as Scene
from rbdae.show import animate as animate
from rbdae.show import plot_solution as plot_solution
from rbdae.show import scene as scene
