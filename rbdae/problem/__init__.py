"""Equations of a system and what their unknowns mean."""

from rbdae.multibody.choices.layout import Layout as Layout
from rbdae.problem.callbacks import Callbacks as Callbacks
from rbdae.problem.problem import Problem as Problem
