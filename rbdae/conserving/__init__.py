"""Integration schemes that keep energy and momentum: kernels of one Newton iteration and of the end of a step."""

from rbdae.conserving.schemes import SCHEMES as SCHEMES
from rbdae.conserving.schemes import Scheme as Scheme
from rbdae.kernels.conserving.steps import predict as predict

__all__ = ["SCHEMES", "Scheme", "predict"]
