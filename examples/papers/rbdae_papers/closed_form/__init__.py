"""Motions in closed form, for tests and for users: the free rigid body, and limits of the heavy symmetric top."""

from rbdae_papers.closed_form.free_body import FreeBody as FreeBody
from rbdae_papers.closed_form.symmetric_top import Integrals as Integrals
from rbdae_papers.closed_form.symmetric_top import Precession as Precession
from rbdae_papers.closed_form.symmetric_top import SymmetricTop as SymmetricTop

__all__ = ["FreeBody", "Integrals", "Precession", "SymmetricTop"]
