"""Kinds of rotational velocity, as numbers for the kernels."""

from __future__ import annotations

ANGULAR = 0
"""The material angular velocity Omega."""

QUATERNION_RATE = 1
"""pdot."""

DIRECTOR_RATE = 2
"""(d1dot, d2dot, d3dot)."""
