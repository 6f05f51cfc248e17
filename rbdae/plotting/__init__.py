"""Pictures of trajectories, and mechanisms in motion as lines in space."""

from rbdae.plotting.animation import Animation as Animation
from rbdae.plotting.animation import animate as animate
from rbdae.plotting.pictures import plot_solution as plot_solution
from rbdae.plotting.plane_view import PlaneChoice as PlaneChoice
from rbdae.plotting.quantities import QUANTITIES as QUANTITIES
from rbdae.plotting.quantities import Trajectory as Trajectory
from rbdae.plotting.quantities import continuous_quaternions as continuous_quaternions
from rbdae.plotting.scene import Line as Line
from rbdae.plotting.scene import Scene as Scene
from rbdae.plotting.scene import scene as scene

__all__ = [
    "QUANTITIES",
    "Animation",
    "Line",
    "PlaneChoice",
    "Scene",
    "Trajectory",
    "animate",
    "continuous_quaternions",
    "plot_solution",
    "scene",
]
