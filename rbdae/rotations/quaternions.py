"""Alias of `rbdae_papers.quaternions`."""

import sys
from importlib import import_module

sys.modules[__name__] = import_module("rbdae_papers.quaternions")
