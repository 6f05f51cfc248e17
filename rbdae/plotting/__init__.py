"""Pictures of trajectories."""

from rbdae.plotting.pictures import Trajectory as Trajectory
from rbdae.plotting.pictures import continuous_quaternions as continuous_quaternions
from rbdae.plotting.pictures import plot_solution as plot_solution
