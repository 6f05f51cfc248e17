"""Alias of `rbdae_papers.kinematics`."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("rbdae_papers.kinematics")
