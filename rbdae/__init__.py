"""Rigid-body formulations with analytic Jacobians for the DAE and ODE solvers of Python."""

from rbdae import drives as drives
from rbdae import forces as forces
from rbdae import joints as joints
from rbdae import models as models
from rbdae.assembly import Assembly as Assembly
from rbdae.assembly import assemble as assemble
from rbdae.formulate import formulate as formulate
from rbdae.formulate import pairings as pairings
from rbdae.problem import Problem as Problem
from rbdae.projection import Projection as Projection
from rbdae.projection import ProjectionError as ProjectionError
from rbdae.projection import Projector as Projector
from rbdae.solution import Solution as Solution
from rbdae.solution import load as load
from rbdae.solving import solve as solve
from rbdae.solving import solvers as solvers
from rbdae.system import System as System

__version__ = "0.1.0"
