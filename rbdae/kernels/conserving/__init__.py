"""Kernels of steps that keep energy and momentum: bodies, joints, and the elimination of the Newton iteration."""
